/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command may do, beside what any process may. */
#ifndef _MEMLEDGER_TOOLS_PRIVILEGES_H
#define _MEMLEDGER_TOOLS_PRIVILEGES_H

#include <stdbool.h>

void memledger_privileges_drop(bool writes);
void memledger_privileges_write(bool may);
const char *memledger_privileges_advice(int err);

#endif
