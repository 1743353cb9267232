/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has changed between two states of a process. No I/O but printing.
 */
#ifndef _MEMLEDGER_TOOLS_DIFF_H
#define _MEMLEDGER_TOOLS_DIFF_H

#include "state.h"

/**
 * struct memledger_change - a part that is not as before
 * @kind: enum memledger_part_kind
 * @name: which one; part of a state
 * @known: whether the numbers of both are
 * @before: bytes, 0 where it was not there
 * @after: bytes, likewise
 * @count_before: mappings, buffers or entries
 * @count_after: likewise
 */
struct memledger_change {
	enum memledger_part_kind kind;
	const char *name;
	bool known;
	u64 before;
	u64 after;
	u64 count_before;
	u64 count_after;
};

/**
 * struct memledger_diff - what has changed
 * @before: the one state
 * @after: the other
 * @has: the kinds that both have
 * @change: by kind, and of each the largest first
 * @nr: how many
 */
struct memledger_diff {
	const struct memledger_state *before;
	const struct memledger_state *after;
	bool has[NR_MEMLEDGER_PARTS];
	struct memledger_change *change;
	size_t nr;
};

int memledger_diff_make(struct memledger_diff *diff,
			const struct memledger_state *before,
			const struct memledger_state *after);
void memledger_diff_print(FILE *out, const struct memledger_diff *diff,
			  u32 top);
void memledger_diff_print_json(FILE *out, bool *first,
			       const struct memledger_diff *diff);
void memledger_diff_free(struct memledger_diff *diff);

#endif
