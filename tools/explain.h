/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in each row of the meminfo table, and why.
 */
#ifndef _MEMLEDGER_TOOLS_EXPLAIN_H
#define _MEMLEDGER_TOOLS_EXPLAIN_H

#include "subject.h"

/* For @category: all of them. */
#define MEMLEDGER_EXPLAIN_ALL	NR_MEMLEDGER_CATEGORIES

bool memledger_explain_parse_row(const char *text,
				 enum memledger_category *category);
int memledger_explain_print(FILE *out, struct memledger_subject *subject,
			    enum memledger_category category, u32 top,
			    bool json, struct memledger_error *error);

#endif
