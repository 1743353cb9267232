/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings of a process, as showmap prints them.
 */
#ifndef _MEMLEDGER_TOOLS_SHOWMAP_H
#define _MEMLEDGER_TOOLS_SHOWMAP_H

#include "subject.h"

#define MEMLEDGER_SHOWMAP_ADDRESSES	0x1	/* -a: by address, one by one */
#define MEMLEDGER_SHOWMAP_VERBOSE	0x2	/* -v: one by one, with flags */
#define MEMLEDGER_SHOWMAP_TERSE		0x4	/* -t: only with private pages */

int memledger_showmap_print(FILE *out, struct memledger_subject *subject,
			    unsigned int flags, bool json,
			    struct memledger_error *error);

#endif
