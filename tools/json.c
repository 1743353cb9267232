// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as JSON: the names of the ABI, bytes, null for what is unavailable.
 */
#include "escape.h"
#include "json.h"

static const struct {
	const char *name;
	size_t offset;
} summary_fields[] = {
#define X(field) { #field, offsetof(struct memledger_summary, field) },
	MEMLEDGER_SUMMARY_FIELDS(X)
#undef X
};

/**
 * memledger_json_key - begin a member of an object
 * @out: where to
 * @first: whether it is the first of its object; false afterwards
 * @key: its name, any bytes
 */
void memledger_json_key(FILE *out, bool *first, const char *key)
{
	if (!*first)
		putc(',', out);
	memledger_escape_json(out, key);
	putc(':', out);
	*first = false;
}

/**
 * memledger_json_number - print a member that is a number
 * @out: where to
 * @first: as for memledger_json_key()
 * @key: its name
 * @number: its value
 * @available: false prints null instead
 */
void memledger_json_number(FILE *out, bool *first, const char *key, u64 number,
			   bool available)
{
	memledger_json_key(out, first, key);
	if (available)
		fprintf(out, "%llu", number);
	else
		fputs("null", out);
}

/**
 * memledger_json_bool - print a member that is true or false
 * @out: where to
 * @first: as for memledger_json_key()
 * @key: its name
 * @truth: which
 */
void memledger_json_bool(FILE *out, bool *first, const char *key, bool truth)
{
	memledger_json_key(out, first, key);
	fputs(truth ? "true" : "false", out);
}

/**
 * memledger_json_string - print a member that is a string
 * @out: where to
 * @first: as for memledger_json_key()
 * @key: its name
 * @string: any bytes, or NULL for null
 */
void memledger_json_string(FILE *out, bool *first, const char *key,
			   const char *string)
{
	memledger_json_key(out, first, key);
	if (string)
		memledger_escape_json(out, string);
	else
		fputs("null", out);
}

/**
 * memledger_json_usage - print the nine numbers of a row
 * @out: where to
 * @first: as for memledger_json_key()
 * @row: the row
 * @available: false prints null instead of each number
 * @swap_pss: whether SwapPss is available
 */
void memledger_json_usage(FILE *out, bool *first,
			  const struct memledger_usage *row, bool available,
			  bool swap_pss)
{
	const unsigned int shift = MEMLEDGER_PSS_SHIFT;

	memledger_json_number(out, first, "pss", row->pss >> shift, available);
	memledger_json_number(out, first, "swappable_pss", row->swappable_pss,
			      available);
	memledger_json_number(out, first, "rss", row->rss, available);
	memledger_json_number(out, first, "private_dirty", row->private_dirty,
			      available);
	memledger_json_number(out, first, "shared_dirty", row->shared_dirty,
			      available);
	memledger_json_number(out, first, "private_clean", row->private_clean,
			      available);
	memledger_json_number(out, first, "shared_clean", row->shared_clean,
			      available);
	memledger_json_number(out, first, "swap", row->swap, available);
	memledger_json_number(out, first, "swap_pss", row->swap_pss >> shift,
			      swap_pss && available);
}

/* All of a row, without the braces: the total has more. */
static void print_usage(FILE *out, bool *first,
			const struct memledger_usage *row, bool available,
			bool swap_pss)
{
	memledger_json_usage(out, first, row, available, swap_pss);
	memledger_json_number(out, first, "uss", memledger_usage_uss(row),
			      available);
	memledger_json_number(out, first, "vss", row->vss, available);
	memledger_json_number(out, first, "vmas", row->vmas, available);
	memledger_json_number(out, first, "pss_floor", row->pss_floor,
			      available);
	memledger_json_number(out, first, "swap_pss_floor",
			      row->swap_pss_floor, swap_pss && available);
}

static void print_row(FILE *out, bool *first, const char *name,
		      const struct memledger_usage *row, bool available,
		      bool swap_pss)
{
	bool first_field = true;

	memledger_json_key(out, first, name);
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

		memledger_json_key(out, &first, summary_fields[i].name);
		if (!swap_pss &&
		    offset == offsetof(struct memledger_summary, total_swap_pss))
			fputs("null", out);
		else
			fprintf(out, "%lld", *(const s64 *)(start + offset));
	}
	putc('}', out);
}

/**
 * memledger_json_report - print where a report comes from
 * @out: where to
 * @first: as for memledger_json_key()
 * @report: the report; its numbers are not printed
 */
void memledger_json_report(FILE *out, bool *first,
			   const struct memledger_report *report)
{
	memledger_json_number(out, first, "pid", report->pid,
			      report->pid >= 0);
	memledger_json_string(out, first, "comm", report->comm);
	memledger_json_string(out, first, "profile", report->profile->name);
	memledger_json_number(out, first, "generation", report->generation,
			      report->generation);
	memledger_json_bool(out, first, "complete", report->complete);
	memledger_json_string(out, first, "unit", "bytes");

	memledger_json_string(out, first, "source", report->source);
	memledger_json_string(out, first, "kernel", report->kernel);
	memledger_json_number(out, first, "page_size", report->page_size,
			      report->page_size);
	memledger_json_number(out, first, "timestamp_ns", report->timestamp_ns,
			      report->timestamp_ns);
}

/**
 * memledger_json_unavailable - print what a report cannot tell
 * @out: where to
 * @first: as for memledger_json_key()
 * @report: the report
 */
void memledger_json_unavailable(FILE *out, bool *first,
				const struct memledger_report *report)
{
	const char *name;
	unsigned int i;

	memledger_json_key(out, first, "unavailable");
	putc('[', out);
	for (i = 0; (name = memledger_report_unavailable(report, i)); i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", name);
	putc(']', out);
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
	u32 missing = report->unavailable;
	bool swap_pss = !(missing & MEMLEDGER_UNAVAILABLE_SWAP_PSS);
	bool first = true;
	bool first_row, available;
	unsigned int i;

	putc('{', out);
	memledger_json_report(out, &first, report);

	memledger_json_key(out, &first, "total");
	putc('{', out);
	first_row = true;
	print_usage(out, &first_row, &totals->total, true, swap_pss);
	memledger_json_number(out, &first_row, "shared_hugetlb",
			      totals->total.shared_hugetlb,
			      !(report->unavailable &
				MEMLEDGER_REPORT_NO_SHARED_HUGETLB));
	memledger_json_number(out, &first_row, "private_hugetlb",
			      totals->total.private_hugetlb,
			      !(report->unavailable &
				MEMLEDGER_REPORT_NO_PRIVATE_HUGETLB));
	putc('}', out);

	memledger_json_key(out, &first, "category");
	putc('{', out);
	first_row = true;
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		if (!(profile->categories & (1U << i)))
			continue;
		available = memledger_profile_has_category(profile, i, missing);
		print_row(out, &first_row, memledger_category_names[i],
			  &totals->category[i], available, swap_pss);
	}
	putc('}', out);

	memledger_json_key(out, &first, "subcategory");
	putc('{', out);
	first_row = true;
	for (i = 0; i < NR_MEMLEDGER_SUBCATEGORIES; i++) {
		if (!(profile->subcategories & (1U << i)))
			continue;
		available = memledger_profile_has_subcategory(profile, i,
							      missing);
		print_row(out, &first_row, memledger_subcategory_names[i],
			  &totals->subcategory[i], available, swap_pss);
	}
	putc('}', out);

	memledger_json_key(out, &first, "unknown");
	putc('{', out);
	first_row = true;
	for (i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++)
		print_row(out, &first_row, memledger_unknown_names[i],
			  &totals->unknown[i],
			  memledger_report_has_class(report, i), swap_pss);
	putc('}', out);

	memledger_json_key(out, &first, "summary");
	print_summary(out, report, swap_pss);

	/* The allocator's own figures, which only the process itself knows. */
	memledger_json_key(out, &first, "heap");
	fputs("{\"size\":null,\"alloc\":null,\"free\":null}", out);

	memledger_json_unavailable(out, &first, report);
	fputs("}\n", out);
}
