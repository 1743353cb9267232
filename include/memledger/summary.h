/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the rows of a process to Android's App Summary, and to the text that
 * dumpsys meminfo prints.
 */
#ifndef _MEMLEDGER_SUMMARY_H
#define _MEMLEDGER_SUMMARY_H

#include <memledger/classify.h>
#include <memledger/usage.h>

#define MEMLEDGER_SUMMARY_FIELDS(X)					\
	X(java_heap)							\
	X(native_heap)							\
	X(code)								\
	X(stack)							\
	X(graphics)							\
	X(private_other)						\
	X(system)							\
	X(total_pss)							\
	X(total_rss)							\
	X(total_swap)							\
	X(total_swap_pss)						\
	X(java_heap_rss)						\
	X(native_heap_rss)						\
	X(code_rss)							\
	X(stack_rss)							\
	X(graphics_rss)							\
	X(unknown_rss)

/**
 * struct memledger_summary - Debug.MemoryInfo's App Summary
 *
 * Bytes, from the sums that dumpsys makes (the floors), so that each number
 * is what dumpsys prints times 1024. total_pss includes total_swap_pss, and so
 * does system, as there. Signed, since private_other and system are
 * differences, and a doctored smaps text can make them negative.
 */
struct memledger_summary {
#define X(field) s64 field;
	MEMLEDGER_SUMMARY_FIELDS(X)
#undef X
};

void memledger_summary_compute(struct memledger_summary *summary,
			       const struct memledger_totals *totals,
			       const struct memledger_profile *profile);

/* What dumpsys meminfo's -a, -d and -s add or leave out. */
#define MEMLEDGER_TABLE_FULL		0x1
#define MEMLEDGER_TABLE_DALVIK		0x2
#define MEMLEDGER_TABLE_SUMMARY_ONLY	0x4

void memledger_table_print(struct memledger_out *out,
			   const struct memledger_totals *totals,
			   const struct memledger_profile *profile,
			   s32 pid, const char *comm, unsigned int flags);

#endif
