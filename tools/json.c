// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as JSON: the names of the ABI, bytes, null for what is unavailable.
 */
#include "escape.h"
#include "report.h"

static const struct {
	const char *name;
	size_t offset;
} summary_fields[] = {
#define X(field) { #field, offsetof(struct memledger_summary, field) },
	MEMLEDGER_SUMMARY_FIELDS(X)
#undef X
};

/* "key": , with a comma before all but the first of an object. */
static void print_key(FILE *out, bool *first, const char *key)
{
	fprintf(out, "%s\"%s\":", *first ? "" : ",", key);
	*first = false;
}

static void print_number(FILE *out, bool *first, const char *key, u64 number,
			 bool available)
{
	print_key(out, first, key);
	if (available)
		fprintf(out, "%llu", number);
	else
		fputs("null", out);
}

static void print_string(FILE *out, bool *first, const char *key,
			 const char *string)
{
	print_key(out, first, key);
	if (string)
		memledger_escape_json(out, string);
	else
		fputs("null", out);
}

/* The fields of a row, without the braces: the total has more of them. */
static void print_usage(FILE *out, bool *first,
			const struct memledger_usage *row, bool available,
			bool swap_pss)
{
	const unsigned int shift = MEMLEDGER_PSS_SHIFT;

	swap_pss = swap_pss && available;
	print_number(out, first, "pss", row->pss >> shift, available);
	print_number(out, first, "swappable_pss", row->swappable_pss,
		     available);
	print_number(out, first, "rss", row->rss, available);
	print_number(out, first, "private_dirty", row->private_dirty,
		     available);
	print_number(out, first, "shared_dirty", row->shared_dirty, available);
	print_number(out, first, "private_clean", row->private_clean,
		     available);
	print_number(out, first, "shared_clean", row->shared_clean, available);
	print_number(out, first, "swap", row->swap, available);
	print_number(out, first, "swap_pss", row->swap_pss >> shift, swap_pss);
	print_number(out, first, "uss", memledger_usage_uss(row), available);
	print_number(out, first, "vss", row->vss, available);
	print_number(out, first, "vmas", row->vmas, available);
	print_number(out, first, "pss_floor", row->pss_floor, available);
	print_number(out, first, "swap_pss_floor", row->swap_pss_floor,
		     swap_pss);
}

static void print_row(FILE *out, bool *first, const char *name,
		      const struct memledger_usage *row, bool available,
		      bool swap_pss)
{
	bool first_field = true;

	print_key(out, first, name);
	putc('{', out);
	print_usage(out, &first_field, row, available, swap_pss);
	putc('}', out);
}

static void print_summary(FILE *out, const struct memledger_report *report,
			  bool swap_pss)
{
	struct memledger_summary summary;
	const char *start = (const char *)&summary;
	bool first = true;
	unsigned int i;

	memledger_summary_compute(&summary, &report->totals, report->profile);
	putc('{', out);
	for (i = 0; i < ARRAY_SIZE(summary_fields); i++) {
		size_t offset = summary_fields[i].offset;

		print_key(out, &first, summary_fields[i].name);
		if (!swap_pss &&
		    offset == offsetof(struct memledger_summary, total_swap_pss))
			fputs("null", out);
		else
			fprintf(out, "%lld", *(const s64 *)(start + offset));
	}
	putc('}', out);
}

/**
 * memledger_report_print_json - print a report as one JSON object
 * @out: where to
 * @report: the report
 */
void memledger_report_print_json(FILE *out,
				 const struct memledger_report *report)
{
	const struct memledger_totals *totals = &report->totals;
	const struct memledger_profile *profile = report->profile;
	bool swap_pss = !(report->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS);
	bool first = true;
	const char *name;
	bool first_row;
	unsigned int i;

	putc('{', out);
	print_number(out, &first, "pid", report->pid, report->pid >= 0);
	print_string(out, &first, "comm", report->comm);
	print_string(out, &first, "profile", profile->name);
	print_number(out, &first, "generation", report->generation,
		     report->generation);
	print_key(out, &first, "complete");
	fputs(report->complete ? "true" : "false", out);
	print_string(out, &first, "unit", "bytes");

	print_string(out, &first, "source", report->source);
	print_string(out, &first, "kernel", report->kernel);
	print_number(out, &first, "page_size", report->page_size,
		     report->page_size);
	print_number(out, &first, "timestamp_ns", report->timestamp_ns,
		     report->timestamp_ns);

	print_key(out, &first, "total");
	putc('{', out);
	first_row = true;
	print_usage(out, &first_row, &totals->total, true, swap_pss);
	print_number(out, &first_row, "shared_hugetlb",
		     totals->total.shared_hugetlb,
		     !(report->unavailable &
		       MEMLEDGER_REPORT_NO_SHARED_HUGETLB));
	print_number(out, &first_row, "private_hugetlb",
		     totals->total.private_hugetlb,
		     !(report->unavailable &
		       MEMLEDGER_REPORT_NO_PRIVATE_HUGETLB));
	putc('}', out);

	print_key(out, &first, "category");
	putc('{', out);
	first_row = true;
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
		if (profile->categories & (1U << i))
			print_row(out, &first_row, memledger_category_names[i],
				  &totals->category[i],
				  memledger_report_has_row(report, i),
				  swap_pss);
	putc('}', out);

	print_key(out, &first, "subcategory");
	putc('{', out);
	first_row = true;
	for (i = 0; i < NR_MEMLEDGER_SUBCATEGORIES; i++)
		if (profile->subcategories & (1U << i))
			print_row(out, &first_row,
				  memledger_subcategory_names[i],
				  &totals->subcategory[i], true, swap_pss);
	putc('}', out);

	print_key(out, &first, "unknown");
	putc('{', out);
	first_row = true;
	for (i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++)
		print_row(out, &first_row, memledger_unknown_names[i],
			  &totals->unknown[i], true, swap_pss);
	putc('}', out);

	print_key(out, &first, "summary");
	print_summary(out, report, swap_pss);

	/* The allocator's own figures, which only the process itself knows. */
	print_key(out, &first, "heap");
	fputs("{\"size\":null,\"alloc\":null,\"free\":null}", out);

	print_key(out, &first, "unavailable");
	putc('[', out);
	for (i = 0; (name = memledger_report_unavailable(report, i)); i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", name);
	fputs("]}\n", out);
}
