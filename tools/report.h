/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One process, ready to be printed: the rows and where they come from. The
 * live and the offline command fill it; every output reads it.
 */
#ifndef _MEMLEDGER_TOOLS_REPORT_H
#define _MEMLEDGER_TOOLS_REPORT_H

#include <memledger/abi.h>
#include <memledger/summary.h>

/* Beside MEMLEDGER_UNAVAILABLE_*: what an old kernel's smaps lacks. */
#define MEMLEDGER_REPORT_NO_SHARED_HUGETLB	0x10000
#define MEMLEDGER_REPORT_NO_PRIVATE_HUGETLB	0x20000

/**
 * struct memledger_report - the rows of a process and where they come from
 * @totals: the rows
 * @profile: the rules that made them
 * @pid: the process, or -1 for a saved text, which does not say
 * @comm: its name; NULL for a saved text
 * @generation: which snapshot; 0 for a saved text
 * @timestamp_ns: when it was taken, CLOCK_BOOTTIME; 0 for a saved text
 * @complete: whether the walk saw all of the process
 * @unavailable: MEMLEDGER_UNAVAILABLE_* and MEMLEDGER_REPORT_*
 * @page_size: bytes; 0 if unknown
 * @kernel: release of the kernel that counted; NULL if unknown
 * @source: the file that was read
 */
struct memledger_report {
	struct memledger_totals totals;
	const struct memledger_profile *profile;
	s32 pid;
	const char *comm;
	u64 generation;
	u64 timestamp_ns;
	bool complete;
	u32 unavailable;
	u32 page_size;
	const char *kernel;
	const char *source;
};

const char *
memledger_report_unavailable(const struct memledger_report *report,
			     unsigned int nth);

bool memledger_report_has_class(const struct memledger_report *report,
				enum memledger_unknown_class class);
void memledger_report_print_source(FILE *out,
				   const struct memledger_report *report);
void memledger_report_print_table(FILE *out,
				  const struct memledger_report *report,
				  unsigned int flags);
void memledger_report_print_checkin(FILE *out,
				    const struct memledger_report *report);
void memledger_report_print_json(FILE *out,
				 const struct memledger_report *report);

#endif
