/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who mapped what is Unknown: from names that tell it, or from what the module
 * has captured.
 */
#ifndef _MEMLEDGER_TOOLS_OWNERS_H
#define _MEMLEDGER_TOOLS_OWNERS_H

#include <memledger/names.h>

#include "error.h"
#include "report.h"
#include "vmas.h"

/**
 * struct memledger_owners - a row for each owner and way of access
 * @names: the rows
 * @comments: what the module says of the capture, line by line without the
 *	"#"; part of the text that was parsed. NULL for a saved text
 * @report: of which process
 * @vmas: its mappings, where they are known
 */
struct memledger_owners {
	struct memledger_names names;
	char *comments;
	const struct memledger_report *report;
	const struct memledger_vmas *vmas;
};

int memledger_owners_find(struct memledger_owners *owners);
int memledger_owners_parse(struct memledger_owners *owners, char *text,
			   struct memledger_error *error);
void memledger_owners_print(FILE *out, struct memledger_owners *owners,
			    u32 top);
void memledger_owners_print_json(FILE *out, bool *first,
				 struct memledger_owners *owners, u32 top);

#endif
