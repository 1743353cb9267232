// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows with a name each in; a table, in kB, or members of a JSON object, in
 * bytes, out. The first row of either is the sum of all.
 */
#include <stdlib.h>

#include "escape.h"
#include "json.h"
#include "listing.h"

/* A longer name moves the numbers of its own row. */
#define MAX_WIDTH	48

static const struct column {
	const char *above;
	const char *below;
	size_t offset;
	unsigned int shift;	/* to kB */
	bool brief;
	bool swap_pss;
} columns[] = {
#define COLUMN(field, ...) { __VA_ARGS__, \
	.offset = offsetof(struct memledger_usage, field) }
	COLUMN(pss, "Pss", "Total", .shift = MEMLEDGER_PSS_SHIFT + 10,
	       .brief = true),
	COLUMN(swappable_pss, "Pss", "Clean", .shift = 10),
	COLUMN(rss, "Rss", "Total", .shift = 10, .brief = true),
	COLUMN(private_dirty, "Private", "Dirty", .shift = 10, .brief = true),
	COLUMN(shared_dirty, "Shared", "Dirty", .shift = 10),
	COLUMN(private_clean, "Private", "Clean", .shift = 10),
	COLUMN(shared_clean, "Shared", "Clean", .shift = 10),
	COLUMN(swap, "Swap", "Dirty", .shift = 10),
	COLUMN(swap_pss, "SwapPss", "Dirty", .shift = MEMLEDGER_PSS_SHIFT + 10,
	       .brief = true, .swap_pss = true),
	/* Below is what the listing calls it. */
	COLUMN(vmas, "", NULL, .brief = true),
#undef COLUMN
};

/**
 * memledger_listing_add - add a row that has its numbers already
 * @names: the table, not sorted yet
 * @text: its name
 * @class: as for memledger_names_add()
 * @usage: its numbers
 *
 * Return: 0 or -ENOMEM; -EEXIST if there is such a row.
 */
int memledger_listing_add(struct memledger_names *names, const char *text,
			  u32 class, const struct memledger_usage *usage)
{
	static const struct memledger_vma_usage nothing;
	u32 nr = names->nr;
	int ret;

	ret = memledger_names_add(names, text, strlen(text), class, &nothing,
				  false);
	if (ret)
		return ret;
	if (names->nr == nr)
		return -EEXIST;
	names->rows[nr].usage = *usage;
	return 0;
}

static u32 nr_printed(const struct memledger_listing *listing)
{
	u32 nr = listing->names->nr;

	return listing->top && listing->top < nr ? listing->top : nr;
}

static struct memledger_usage sum_from(const struct memledger_names *names,
				       u32 i)
{
	struct memledger_usage sum = {};

	for (; i < names->nr; i++)
		memledger_usage_merge(&sum, &names->rows[i].usage);
	return sum;
}

static const char *row_label(const struct memledger_listing *listing,
			     const struct memledger_name *row)
{
	return listing->label ? listing->label(row) : row->text;
}

static bool is_available(const struct memledger_listing *listing,
			 const struct memledger_name *row)
{
	return !listing->available || listing->available(row, listing->data);
}

/* usage is NULL for a row that nobody can fill. */
static void print_row(FILE *out, const struct memledger_listing *listing,
		      int width, const char *label,
		      const struct memledger_usage *usage)
{
	const char *start = (const char *)usage;
	unsigned int i;

	fprintf(out, "%-*s", width, label);
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		const struct column *column = &columns[i];

		if (listing->brief && !column->brief)
			continue;
		if (!usage || (column->swap_pss && !listing->swap_pss))
			fprintf(out, " %8s", "-");
		else
			fprintf(out, " %8llu",
				*(const u64 *)(start + column->offset) >>
				column->shift);
	}
}

static void print_headings(FILE *out, const struct memledger_listing *listing,
			   int width)
{
	bool tail = listing->heading;
	unsigned int i;

	fprintf(out, "%-*s", width, "");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (!listing->brief || columns[i].brief)
			fprintf(out, " %8s", columns[i].above);
	fprintf(out, "\n%-*s", width, "item name");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (!listing->brief || columns[i].brief)
			fprintf(out, " %8s", columns[i].below ?
				columns[i].below : listing->count);
	fprintf(out, "%s%s\n", tail ? "  " : "", tail ? listing->heading : "");
}

/**
 * memledger_listing_print - print rows as a table
 * @out: where to
 * @listing: the rows
 *
 * Names are made harmless for a terminal.
 */
void memledger_listing_print(FILE *out, const struct memledger_listing *listing)
{
	const struct memledger_names *names = listing->names;
	u32 nr = nr_printed(listing);
	struct memledger_usage usage;
	size_t width = strlen("(4294967295 more)");
	char more[32];
	char **labels;
	u32 i;

	labels = calloc(nr + 1, sizeof(*labels));
	for (i = 0; labels && i < nr; i++) {
		size_t len;

		labels[i] = memledger_escape_text(row_label(listing,
							    &names->rows[i]),
						  "");
		len = labels[i] ? strlen(labels[i]) : 0;
		if (len > width && len <= MAX_WIDTH)
			width = len;
	}

	print_headings(out, listing, width);
	usage = listing->total ? *listing->total : sum_from(names, 0);
	print_row(out, listing, width, "Total", &usage);
	putc('\n', out);
	for (i = 0; i < nr; i++) {
		const struct memledger_name *row = &names->rows[i];
		const char *label = labels ? labels[i] : NULL;

		print_row(out, listing, width,
			  label ? label : "(out of memory)",
			  is_available(listing, row) ? &row->usage : NULL);
		if (listing->tail) {
			fputs("  ", out);
			listing->tail(out, row, listing->data);
		}
		putc('\n', out);
	}
	if (nr < names->nr) {
		snprintf(more, sizeof(more), "(%u more)", names->nr - nr);
		usage = sum_from(names, nr);
		print_row(out, listing, width, more, &usage);
		putc('\n', out);
	}
	for (i = 0; labels && i < nr; i++)
		free(labels[i]);
	free(labels);
}

static void print_json_numbers(FILE *out, bool *first,
			       const struct memledger_listing *listing,
			       const struct memledger_usage *usage,
			       bool available)
{
	const unsigned int shift = MEMLEDGER_PSS_SHIFT;

	if (listing->brief) {
		memledger_json_number(out, first, "pss", usage->pss >> shift,
				      available);
		memledger_json_number(out, first, "rss", usage->rss,
				      available);
		memledger_json_number(out, first, "private_dirty",
				      usage->private_dirty, available);
		memledger_json_number(out, first, "swap_pss",
				      usage->swap_pss >> shift,
				      listing->swap_pss && available);
	} else {
		memledger_json_usage(out, first, usage, available,
				     listing->swap_pss);
	}
	memledger_json_number(out, first, listing->count, usage->vmas,
			      available);
}

/**
 * memledger_listing_print_json - print rows as members of a JSON object
 * @out: where to
 * @first: as for memledger_json_key()
 * @listing: the rows
 *
 * They are total, rows, and rest: what --top has left out, or null.
 */
void memledger_listing_print_json(FILE *out, bool *first,
				  const struct memledger_listing *listing)
{
	const struct memledger_names *names = listing->names;
	u32 nr = nr_printed(listing);
	struct memledger_usage usage;
	bool first_member = true;
	u32 i;

	memledger_json_key(out, first, "total");
	putc('{', out);
	usage = listing->total ? *listing->total : sum_from(names, 0);
	print_json_numbers(out, &first_member, listing, &usage, true);
	putc('}', out);

	memledger_json_key(out, first, "rows");
	putc('[', out);
	for (i = 0; i < nr; i++) {
		const struct memledger_name *row = &names->rows[i];

		fputs(i ? ",{" : "{", out);
		first_member = true;
		if (listing->key)
			memledger_json_string(out, &first_member, listing->key,
					      row->len ? row->text : NULL);
		if (listing->members)
			listing->members(out, &first_member, row,
					 listing->data);
		print_json_numbers(out, &first_member, listing, &row->usage,
				   is_available(listing, row));
		putc('}', out);
	}
	putc(']', out);

	memledger_json_key(out, first, "rest");
	if (nr == names->nr) {
		fputs("null", out);
		return;
	}
	putc('{', out);
	first_member = true;
	memledger_json_number(out, &first_member, "rows", names->nr - nr,
			      true);
	usage = sum_from(names, nr);
	print_json_numbers(out, &first_member, listing, &usage, true);
	putc('}', out);
}

/**
 * memledger_listing_print_banner - print the line above a table
 * @out: where to
 * @what: what the table is, in capitals where dumpsys would have them
 * @report: of which process
 */
void memledger_listing_print_banner(FILE *out, const char *what,
				    const struct memledger_report *report)
{
	const char *name = report->comm ? report->comm : report->source;
	char *text = memledger_escape_text(name, "");

	if (report->pid < 0)
		fprintf(out, "\n** %s in %s **\n", what, text ? text : "");
	else
		fprintf(out, "\n** %s in pid %d [%s] **\n", what, report->pid,
			text ? text : "");
	free(text);
}
