/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The peer: smaps read and added up by category in user space, as dumpsys
 * meminfo does it, by a parser that is written for speed and nothing else.
 */
#ifndef LEAN_SMAPS_H
#define LEAN_SMAPS_H

#include <sys/types.h>

#include <memledger/usage.h>

/**
 * struct lean_row - what the mappings of a category add up to, in kB
 */
struct lean_row {
#define X(field) u64 field;
	MEMLEDGER_USAGE_FIELDS(X)
#undef X
};

/**
 * struct lean_smaps - the rows of a process, by Android 16's rules
 * @row: by category
 */
struct lean_smaps {
	struct lean_row row[NR_MEMLEDGER_CATEGORIES];
};

int lean_smaps_read(pid_t pid, struct lean_smaps *sums);

#endif
