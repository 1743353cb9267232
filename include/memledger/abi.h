/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The binary form of a snapshot: what processes/TGID/record holds.
 *
 * A read at offset 0 takes a new snapshot where the last one is too old; reads
 * further on never do. kernfs gives at most a page a read, so a reader that
 * finds @generation and @generation_end different, or a short file, starts
 * again from offset 0.
 */
#ifndef _MEMLEDGER_ABI_H
#define _MEMLEDGER_ABI_H

#include <memledger/classify.h>
#include <memledger/graphics.h>
#include <memledger/usage.h>

#define MEMLEDGER_ABI_VERSION		1
#define MEMLEDGER_RECORD_MAGIC		0x4c4d454d	/* "MEML" in memory */

/**
 * struct memledger_record - a snapshot, in the byte order of the machine
 * @magic: MEMLEDGER_RECORD_MAGIC
 * @version: MEMLEDGER_ABI_VERSION; another one is another layout
 * @size: of the whole struct, bytes
 * @nr_categories: elements of totals.category
 * @nr_subcategories: elements of totals.subcategory
 * @nr_unknown: elements of totals.unknown
 * @nr_gpu_usages: elements of graphics.usage
 * @imported_rule: enum memledger_imported_rule
 * @pad: 0
 * @page_size: bytes
 * @generation: counts the snapshots of this target, from 1
 * @timestamp_ns: when the snapshot was finished, CLOCK_BOOTTIME
 * @walk_ns: how long it took
 * @lock_hold_max_ns: the longest time the mmap lock was held
 * @tgid: in the initial pid namespace
 * @complete: 1, or 0 if the walk had to stop early
 * @unavailable: MEMLEDGER_UNAVAILABLE_* of <memledger/classify.h>
 * @comm: of the thread group leader, NUL-terminated
 * @profile: the rules that were applied, NUL-terminated
 * @totals: the numbers of its mappings and, where they are available, of the
 *	mtrack rows
 * @graphics: what the GPU driver says; 0 where the mtrack rows are unavailable
 * @device_rss: bytes that the process maps of other GPU drivers' device files
 * @device_pss: the same in proportion, bytes << MEMLEDGER_PSS_SHIFT
 * @generation_end: the same as @generation
 */
struct memledger_record {
	u32 magic;
	u32 version;
	u32 size;
	u16 nr_categories;
	u16 nr_subcategories;
	u16 nr_unknown;
	u16 nr_gpu_usages;
	u16 imported_rule;
	u16 pad;
	u32 page_size;
	s32 tgid;
	u64 generation;
	u64 timestamp_ns;
	u64 walk_ns;
	u64 lock_hold_max_ns;
	u32 complete;
	u32 unavailable;
	char comm[16];
	char profile[16];
	struct memledger_totals totals;
	struct memledger_graphics graphics;
	u64 device_rss;
	u64 device_pss;
	u64 generation_end;
};

#endif
