/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people stumble over in dumpsys meminfo, by row and by name.
 */
#ifndef _MEMLEDGER_TOOLS_NOTES_H
#define _MEMLEDGER_TOOLS_NOTES_H

#include <memledger/classify.h>

const char *memledger_note_of_row(enum memledger_category category);
const char *memledger_note_of_name(const char *name,
				   const struct memledger_rule *rule);

#endif
