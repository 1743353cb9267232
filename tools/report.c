// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as text: the table of dumpsys meminfo, and the lines after it that
 * say where the numbers come from and what is not among them.
 */
#include <stdlib.h>

#include "escape.h"
#include "report.h"

/* Which bits of the report take which names away. */
static const struct {
	u32 bits;
	const char *name;
} unavailable_names[] = {
	{ MEMLEDGER_UNAVAILABLE_SWAP_PSS, "swap_pss" },
	{ MEMLEDGER_UNAVAILABLE_MTRACK | MEMLEDGER_UNAVAILABLE_IMPORTED,
	  "egl_mtrack" },
	{ MEMLEDGER_UNAVAILABLE_MTRACK, "gl_mtrack" },
	{ MEMLEDGER_UNAVAILABLE_MTRACK, "other_mtrack" },
	{ MEMLEDGER_UNAVAILABLE_ANON_NAMES, "anon_names" },
	{ MEMLEDGER_REPORT_NO_SHARED_HUGETLB, "shared_hugetlb" },
	{ MEMLEDGER_REPORT_NO_PRIVATE_HUGETLB, "private_hugetlb" },
};

/**
 * memledger_report_unavailable - name what a report cannot tell
 * @report: the report
 * @nth: counts from 0
 *
 * Return: the ABI name of the nth unavailable thing, NULL after the last.
 */
const char *
memledger_report_unavailable(const struct memledger_report *report,
			     unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unavailable_names); i++)
		if (report->unavailable & unavailable_names[i].bits && !nth--)
			return unavailable_names[i].name;
	return NULL;
}

/**
 * memledger_report_has_class - tell a class of zeroes from one nobody can fill
 * @report: the report
 * @class: part of Unknown
 *
 * Return: false where only a name leads to the class, and there are none.
 */
bool memledger_report_has_class(const struct memledger_report *report,
				enum memledger_unknown_class class)
{
	return !(report->unavailable & MEMLEDGER_UNAVAILABLE_ANON_NAMES) ||
	       !memledger_unknown_needs_name(class);
}

static const char heap_note[] =
"Heap Size, Alloc and Free are known to the process alone: 0, as dumpsys has it\n"
"for native processes.\n";

/**
 * memledger_report_print_source - print where a report comes from
 * @out: where to
 * @report: the report; its numbers are not printed
 */
void memledger_report_print_source(FILE *out,
				   const struct memledger_report *report)
{
	char *source = memledger_escape_text(report->source, "");
	const char *name;
	unsigned int i;

	fprintf(out, "\nSource: %s", source ? source : "(out of memory)");
	free(source);
	if (report->kernel)
		fprintf(out, ", kernel %s", report->kernel);
	if (report->page_size)
		fprintf(out, ", page size %u", report->page_size);
	fprintf(out, ", profile %s", report->profile->name);
	if (report->generation)
		fprintf(out, ", snapshot %llu, taken %llu.%09llu s after boot",
			report->generation, report->timestamp_ns / 1000000000,
			report->timestamp_ns % 1000000000);
	putc('\n', out);
	if (report->unavailable) {
		fputs("Unavailable:", out);
		for (i = 0; (name = memledger_report_unavailable(report, i));
		     i++)
			fprintf(out, " %s", name);
		putc('\n', out);
	}
	if (!report->complete)
		fputs("Incomplete: the walk had to stop early; the numbers are too small.\n",
		      out);
}

/**
 * memledger_report_print_table - print a report as dumpsys meminfo does
 * @out: where to
 * @report: the report
 * @flags: MEMLEDGER_TABLE_*
 */
void memledger_report_print_table(FILE *out,
				  const struct memledger_report *report,
				  unsigned int flags)
{
	const char *name = report->comm ? report->comm : report->source;
	char *text = memledger_escape_text(name, "");

	memledger_table_print(out, &report->totals, report->profile,
			      report->pid, text ? text : "(out of memory)",
			      flags);
	free(text);
	memledger_report_print_source(out, report);
	if (!(flags & MEMLEDGER_TABLE_SUMMARY_ONLY))
		fputs(heap_note, out);
}
