/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command may do, beside what any process may. */
#ifndef _MEMLEDGER_TOOLS_PRIVILEGES_H
#define _MEMLEDGER_TOOLS_PRIVILEGES_H

void memledger_privileges_drop(void);

#endif
