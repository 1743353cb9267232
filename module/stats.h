/* SPDX-License-Identifier: GPL-2.0-only */
/* What walks have cost since the module was loaded. */
#ifndef _MEMLEDGER_STATS_H
#define _MEMLEDGER_STATS_H

#include <linux/types.h>

/*
 * Times that the mmap lock was held, by their length: below 1,024 ns, below twice
 * that, and so on; the last are all that are longer.
 */
#define MEMLEDGER_HOLD_SHIFT	10
#define MEMLEDGER_NR_HOLDS	16

#define MEMLEDGER_STATS(X)						\
	X(walks)							\
	X(walks_incomplete)						\
	X(slices)							\
	X(vmas)								\
	X(entries)							\
	X(walk_ns)							\
	X(lock_hold_max_ns)

/**
 * struct memledger_stats - see docs/ABI/testing/debugfs-memledger
 * @holds: how many slices held the mmap lock for how long
 */
struct memledger_stats {
#define X(name) u64 name;
	MEMLEDGER_STATS(X)
#undef X
	u64 holds[MEMLEDGER_NR_HOLDS];
};

void memledger_stats_read(struct memledger_stats *out);

#endif
