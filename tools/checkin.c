// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as one line of dumpsys meminfo --checkin, version 4: kB, each value
 * followed by a comma. The fields are in groups: native, dalvik, other, total.
 */
#include <stdlib.h>

#include "escape.h"
#include "report.h"

#define CHECKIN_VERSION		4

/* A column of the groups and of the rows, in kB. */
enum column {
	PSS,
	SWAPPABLE_PSS,
	SHARED_DIRTY,
	SHARED_CLEAN,
	PRIVATE_DIRTY,
	PRIVATE_CLEAN,
	SWAP,
	SWAP_PSS,
	NR_COLUMNS
};

static u64 column_bytes(const struct memledger_usage *row, enum column column)
{
	switch (column) {
	case PSS:
		return row->pss_floor;
	case SWAPPABLE_PSS:
		return row->swappable_pss;
	case SHARED_DIRTY:
		return row->shared_dirty;
	case SHARED_CLEAN:
		return row->shared_clean;
	case PRIVATE_DIRTY:
		return row->private_dirty;
	case PRIVATE_CLEAN:
		return row->private_clean;
	case SWAP:
		return row->swap;
	default:
		return row->swap_pss_floor;
	}
}

static void print_kb(FILE *out, u64 bytes, bool available)
{
	if (available)
		fprintf(out, "%llu,", bytes / 1024);
	else
		fputs("N/A,", out);
}

static void print_group(FILE *out, const struct memledger_report *report,
			enum column column, bool available)
{
	const struct memledger_totals *totals = &report->totals;
	u64 native = column_bytes(&totals->category[MEMLEDGER_CAT_NATIVE_HEAP],
				  column);
	u64 dalvik = column_bytes(&totals->category[MEMLEDGER_CAT_DALVIK_HEAP],
				  column);
	u64 total = column_bytes(&totals->total, column);
	u64 swap_pss = column == PSS ? totals->total.swap_pss_floor : 0;

	print_kb(out, native, available);
	print_kb(out, dalvik, available);
	print_kb(out, total - native - dalvik, available);
	/* As in the table, only the total's PSS includes SwapPss. */
	print_kb(out, total + swap_pss, available);
}

static void print_row(FILE *out, const struct memledger_report *report,
		      enum memledger_category category, bool has_swap_pss)
{
	const struct memledger_usage *row = &report->totals.category[category];
	bool available = memledger_profile_has_category(report->profile, category,
							report->unavailable);
	unsigned int i;

	fprintf(out, "%s,", memledger_category_labels[category]);
	for (i = 0; i < NR_COLUMNS; i++)
		print_kb(out, column_bytes(row, i),
			 available && (i != SWAP_PSS || has_swap_pss));
}

/**
 * memledger_report_print_checkin - print a report for machines
 * @out: where to
 * @report: the report
 *
 * N/A is what dumpsys prints where it has no SwapPss; here it also stands for
 * the process number of a saved text and for rows that only a GPU driver could
 * have filled. The heap sizes are 0, as there for native processes.
 */
void memledger_report_print_checkin(FILE *out,
				    const struct memledger_report *report)
{
	const char *name = report->comm ? report->comm : report->source;
	char *text = memledger_escape_text(name, ",");
	bool has_swap_pss = report->totals.total.swap_pss_floor;
	unsigned int i;

	fprintf(out, "%d,", CHECKIN_VERSION);
	if (report->pid < 0)
		fputs("N/A,", out);
	else
		fprintf(out, "%d,", report->pid);
	fprintf(out, "%s,", text ? text : "");
	free(text);

	/* Size, allocated, free: of native, dalvik, other, total. */
	for (i = 0; i < 3; i++)
		fputs("0,0,N/A,0,", out);
	for (i = 0; i < NR_COLUMNS; i++)
		print_group(out, report, i, i != SWAP_PSS || has_swap_pss);
	for (i = MEMLEDGER_CAT_DALVIK_OTHER; i < NR_MEMLEDGER_CATEGORIES; i++)
		if (report->profile->categories & (1U << i))
			print_row(out, report, i, has_swap_pss);
	putc('\n', out);
}
