/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was there at a mark, should have been released since, and is still
 * there; and who holds it.
 */
#ifndef _MEMLEDGER_TOOLS_RETAINED_H
#define _MEMLEDGER_TOOLS_RETAINED_H

#include "mark.h"

/**
 * struct memledger_expected - what should be released
 * @place: the process
 * @mark: what it had: all of that
 * @before: but not what it had earlier; or NULL
 */
struct memledger_expected {
	const struct memledger_mark_place *place;
	const struct memledger_state *mark;
	const struct memledger_state *before;
};

/**
 * struct memledger_retained_list - what has not been
 * @item: those, by kind, and of each the largest first
 * @nr: how many
 * @expected: how many objects should have been released
 * @unsure: of these, by kind, what was not found where not all could be seen
 * @exited: the process has exited; its mappings and GPU memory have gone with
 *	it
 */
struct memledger_retained_list {
	struct memledger_retained *item;
	size_t nr;
	size_t expected;
	size_t unsure[NR_MEMLEDGER_RETAINED];
	bool exited;
};

int memledger_retained_find(struct memledger_retained_list *list,
			    struct memledger_state *now,
			    const struct memledger_expected *expected,
			    struct memledger_error *error);
void memledger_retained_print(FILE *out,
			      const struct memledger_retained_list *list,
			      u32 top);
void
memledger_retained_print_json(FILE *out, bool *first,
			      const struct memledger_retained_list *list);
int memledger_retained_record(const struct memledger_retained_list *list,
			      const struct memledger_expected *expected,
			      const char *path, struct memledger_error *error);
void memledger_retained_free(struct memledger_retained_list *list);

#endif
