/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All processes as of one pass, from the module's snapshot file.
 */
#ifndef _MEMLEDGER_TOOLS_SYSTEM_H
#define _MEMLEDGER_TOOLS_SYSTEM_H

#include <sys/types.h>

#include <memledger/classify.h>

#include "error.h"

/* X(field): the numbers of a process, as the columns are called; of a category
 * those from rss to swap_pss_floor.
 */
#define MEMLEDGER_SYSTEM_FIELDS(X)					\
	X(vmas)								\
	X(vss)								\
	X(rss)								\
	X(pss)								\
	X(uss)								\
	X(swap)								\
	X(swap_pss)							\
	X(pss_floor)							\
	X(swap_pss_floor)						\
	X(private_dirty)						\
	X(shared_dirty)							\
	X(private_clean)						\
	X(shared_clean)							\
	X(swappable_pss)

/**
 * struct memledger_system_row - numbers of a process, or of a part of it
 * @known: false where they are unavailable, and 0
 *
 * Bytes, but for vmas, which is a count. What is not known of a row is 0.
 */
struct memledger_system_row {
	bool known;
#define X(field) u64 field;
	MEMLEDGER_SYSTEM_FIELDS(X)
#undef X
};

/* Whose oom_score_adj could not be read. */
#define MEMLEDGER_NO_ADJ	2000

/**
 * struct memledger_system_process - a process
 * @pid: its number
 * @shares: 0, or the process that its memory is counted with
 * @complete: whether the walk saw all of it
 * @adj: its oom_score_adj, or MEMLEDGER_NO_ADJ
 * @comm: its name
 * @name: the first of its arguments, or @comm where it has none
 * @total: its numbers; not known if @shares
 * @category: by enum memledger_category
 */
struct memledger_system_process {
	pid_t pid;
	pid_t shares;
	bool complete;
	int adj;
	const char *comm;
	char *name;
	struct memledger_system_row total;
	struct memledger_system_row category[NR_MEMLEDGER_CATEGORIES];
};

/**
 * struct memledger_pass_info - what a file says of its pass
 * @start_ns: when it began, CLOCK_BOOTTIME
 * @end_ns: when it ended
 * @walk_ns: how long the kernel worked
 * @nr: how many processes the file has
 * @nr_shared: how many of them are counted with another
 * @complete: whether nothing was missed
 * @page_size: bytes
 * @swap_pss: whether SwapPss is available
 * @anon_names: whether names of anonymous memory are
 * @pss_method: how a page's PSS is made
 * @foreign: proc is that of another pid namespace, so that names and OOM
 *	adjustments are not known; not from the file
 * @profile: whose rules placed the mappings
 */
struct memledger_pass_info {
	u64 start_ns;
	u64 end_ns;
	u64 walk_ns;
	u64 nr;
	u64 nr_shared;
	bool complete;
	u64 page_size;
	bool swap_pss;
	bool anon_names;
	const char *pss_method;
	bool foreign;
	const struct memledger_profile *profile;
};

/**
 * struct memledger_system - all processes
 * @info: the pass
 * @process: by ascending number
 * @nr: how many
 * @total: the sum of all
 * @category: the same by category; known if it is of any process
 *
 * All zero is an empty one. Strings are part of the text that was parsed.
 */
struct memledger_system {
	struct memledger_pass_info info;
	struct memledger_system_process *process;
	size_t nr;
	struct memledger_system_row total;
	struct memledger_system_row category[NR_MEMLEDGER_CATEGORIES];
};

bool memledger_pass_parse_begin(struct memledger_pass_info *info, char *line);
bool memledger_pass_parse_end(struct memledger_pass_info *info, char *line);
int memledger_system_parse(struct memledger_system *system, char *text,
			   struct memledger_error *error);
void memledger_system_row_add(struct memledger_system_row *sum,
			      const struct memledger_system_row *row);
int memledger_system_add_names(struct memledger_system *system,
			       const char *proc, struct memledger_error *error);
void memledger_system_free(struct memledger_system *system);

#endif
