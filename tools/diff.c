// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two states in; what has changed, the largest first, out.
 */
#include <stdlib.h>

#include "array.h"
#include "diff.h"
#include "escape.h"
#include "json.h"
#include "sizes.h"

/* In the order of printing; @count is NULL where nothing is counted. */
static const struct section {
	enum memledger_part_kind kind;
	const char *key;
	const char *count_key;
	const char *title;
	const char *count;
} sections[] = {
	{ MEMLEDGER_PART_TOTAL, "total", "vmas", NULL, "VMA" },
	{ MEMLEDGER_PART_CATEGORY, "category", "vmas", "By category", "VMA" },
	{ MEMLEDGER_PART_UNKNOWN, "unknown", "vmas", "Of Unknown, by class",
	  "VMA" },
	{ MEMLEDGER_PART_NAME, "name", "vmas", "By name of the mapping",
	  "VMA" },
	{ MEMLEDGER_PART_DMABUF, "dmabuf", "buffers", "DMA-BUFs, in full",
	  "buffer" },
	{ MEMLEDGER_PART_EXPORTER, "exporter", "buffers",
	  "DMA-BUFs by exporter", "buffer" },
	{ MEMLEDGER_PART_GPU, "gpu", "entries", "GPU memory by usage",
	  "entry" },
};

static s64 growth(const struct memledger_change *change)
{
	return change->after - change->before;
}

static s64 count_growth(const struct memledger_change *change)
{
	return change->count_after - change->count_before;
}

static u64 magnitude(s64 number)
{
	return number < 0 ? -(u64)number : (u64)number;
}

static int compare_numbers(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* The largest change first, then the largest number of parts. */
static int compare_changes(const void *a, const void *b)
{
	const struct memledger_change *left = a, *right = b;
	int ret = compare_numbers(left->kind, right->kind);

	if (!ret)
		ret = compare_numbers(magnitude(growth(right)),
				      magnitude(growth(left)));
	if (!ret)
		ret = compare_numbers(magnitude(count_growth(right)),
				      magnitude(count_growth(left)));
	return ret ? ret : strcmp(left->name, right->name);
}

static int add_change(struct memledger_diff *diff,
		      const struct memledger_state_row *before,
		      const struct memledger_state_row *after)
{
	static const struct memledger_state_row nothing = { .known = true };
	const struct memledger_state_row *row = before ? before : after;
	struct memledger_change *change;

	if (!before)
		before = &nothing;
	if (!after)
		after = &nothing;
	if (!diff->has[row->kind] ||
	    (row->kind == MEMLEDGER_PART_NAME && !row->unknown &&
	     (diff->before->only_unknown || diff->after->only_unknown)) ||
	    (before->known == after->known && before->bytes == after->bytes &&
	     before->count == after->count))
		return 0;
	change = memledger_array_grow(diff->change, diff->nr, sizeof(*change));
	if (!change)
		return -ENOMEM;
	diff->change = change;
	change[diff->nr++] = (struct memledger_change){
		.kind = row->kind,
		.name = row->name,
		.known = before->known && after->known,
		.before = before->bytes,
		.after = after->bytes,
		.count_before = before->count,
		.count_after = after->count,
	};
	return 0;
}

static int compare_rows(const struct memledger_state_row *a,
			const struct memledger_state_row *b)
{
	int ret = compare_numbers(a->kind, b->kind);

	if (!ret)
		ret = compare_numbers(a->unknown, b->unknown);
	return ret ? ret : strcmp(a->name, b->name);
}

/**
 * memledger_diff_make - compare two states
 * @diff: what to fill; to be freed, also where this fails
 * @before: the one; it must stay
 * @after: the other; likewise
 *
 * What only one of them has is not compared.
 *
 * Return: 0 or -ENOMEM.
 */
int memledger_diff_make(struct memledger_diff *diff,
			const struct memledger_state *before,
			const struct memledger_state *after)
{
	size_t i = 0, j = 0;
	unsigned int kind;
	int ret = 0;

	*diff = (struct memledger_diff){ .before = before, .after = after };
	for (kind = 0; kind < NR_MEMLEDGER_PARTS; kind++)
		diff->has[kind] = before->has[kind] && after->has[kind];
	/* Both are sorted. */
	while (!ret && (i < before->nr_rows || j < after->nr_rows)) {
		const struct memledger_state_row *left =
			i < before->nr_rows ? &before->row[i] : NULL;
		const struct memledger_state_row *right =
			j < after->nr_rows ? &after->row[j] : NULL;
		int order = !left ? 1 : !right ? -1 :
			    compare_rows(left, right);

		ret = add_change(diff, order <= 0 ? left : NULL,
				 order >= 0 ? right : NULL);
		i += order <= 0;
		j += order >= 0;
	}
	if (diff->nr)
		qsort(diff->change, diff->nr, sizeof(*diff->change),
		      compare_changes);
	return ret;
}

/* "1,204": as a size, without its unit. */
static const char *count_text(u64 count, char text[MEMLEDGER_SIZE_TEXT_LEN])
{
	memledger_size_text(count << 10, text);
	text[strlen(text) - 1] = '\0';
	return text;
}

/* ABI names are for machines. */
static const char *label_of(const struct memledger_change *change)
{
	unsigned int i;

	if (change->kind == MEMLEDGER_PART_TOTAL)
		return "Total";
	if (change->kind == MEMLEDGER_PART_DMABUF)
		return "all DMA-BUFs";
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
		if (change->kind == MEMLEDGER_PART_CATEGORY &&
		    !strcmp(change->name, memledger_category_names[i]))
			return memledger_category_labels[i];
	return change->name;
}

static void print_what(FILE *out, const struct memledger_change *change,
		       const struct section *section)
{
	char *name = memledger_escape_text(label_of(change), "");
	u64 count = magnitude(count_growth(change));
	char number[MEMLEDGER_SIZE_TEXT_LEN];
	const char *plural = !strcmp(section->count, "entry") ? "entries" :
			     !strcmp(section->count, "buffer") ? "buffers" :
			     "VMAs";

	if (count)
		fprintf(out, "%s %s %s of ", count_text(count, number),
			count_growth(change) > 0 ? "new" : "fewer",
			count == 1 ? section->count : plural);
	fprintf(out, "%s\n", name ? name : "(out of memory)");
	free(name);
}

static void print_change(FILE *out, const struct memledger_change *change,
			 const struct section *section)
{
	char text[MEMLEDGER_SIZE_TEXT_LEN];
	s64 grown = growth(change);

	if (!change->known) {
		fprintf(out, "%14s %13s %13s  ", "unavailable", "-", "-");
	} else {
		char sign[MEMLEDGER_SIZE_TEXT_LEN + 1];

		snprintf(sign, sizeof(sign), "%s%s", grown >= 1024 ? "+" : "",
			 memledger_size_text(grown, text));
		fprintf(out, "%14s", sign);
		fprintf(out, " %13s", memledger_size_text(change->before,
							  text));
		fprintf(out, " %13s  ", memledger_size_text(change->after,
							    text));
	}
	print_what(out, change, section);
}

static void print_section(FILE *out, const struct memledger_diff *diff,
			  const struct section *section, u32 top)
{
	size_t i, nr = 0;

	for (i = 0; i < diff->nr; i++) {
		if (diff->change[i].kind != section->kind)
			continue;
		if (!nr++ && section->title)
			fprintf(out, "%s\n", section->title);
		if (!top || nr <= top)
			print_change(out, &diff->change[i], section);
	}
	if (top && nr > top)
		fprintf(out, "%14s %13s %13s  (%zu more, smaller)\n", "", "",
			"", nr - top);
	if (!nr && diff->has[section->kind] && section->title)
		fprintf(out, "%s: as before\n", section->title);
}

static void print_moment(FILE *out, const char *which,
			 const struct memledger_state *state)
{
	char *source = memledger_escape_text(state->source, "");
	char *comm = memledger_escape_text(state->comm ? state->comm : "", "");

	fprintf(out, "%s %s", which, source ? source : "");
	if (state->pid)
		fprintf(out, ", pid %llu [%s]", state->pid, comm ? comm : "");
	if (state->time_ns)
		fprintf(out, ", %llu.%03llu s after boot",
			state->time_ns / 1000000000,
			state->time_ns / 1000000 % 1000);
	fputs(state->complete ? "\n" : ", NOT COMPLETE\n", out);
	free(source);
	free(comm);
}

/**
 * memledger_diff_print - print what has changed as text, in kB
 * @out: where to
 * @diff: the changes
 * @top: how many of a kind, 0 for all
 */
void memledger_diff_print(FILE *out, const struct memledger_diff *diff, u32 top)
{
	bool swap_pss = diff->before->swap_pss && diff->after->swap_pss;
	unsigned int i;

	print_moment(out, "Before:", diff->before);
	print_moment(out, "After: ", diff->after);
	fprintf(out, "%14s %13s %13s  Pss and %s\n", "Change", "Before",
		"After", swap_pss ? "SwapPss" : "Swap (SwapPss is unavailable)");
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		print_section(out, diff, &sections[i], top);
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (!diff->has[sections[i].kind] && sections[i].title)
			fprintf(out, "%s: not compared, %s\n",
				sections[i].title,
				!diff->before->has[sections[i].kind] ?
				"the first has none" : "the second has none");
}

static void print_json_change(FILE *out, const struct memledger_change *change,
			      const struct section *section)
{
	bool first = true;

	putc('{', out);
	memledger_json_string(out, &first, "name", change->name);
	memledger_json_key(out, &first, "change");
	if (change->known)
		fprintf(out, "%lld", growth(change));
	else
		fputs("null", out);
	memledger_json_number(out, &first, "before", change->before,
			      change->known);
	memledger_json_number(out, &first, "after", change->after,
			      change->known);
	memledger_json_key(out, &first, section->count_key);
	fprintf(out, "%lld}", count_growth(change));
}

/**
 * memledger_diff_print_json - print what has changed as members of an object
 * @out: where to
 * @first: as for memledger_json_key()
 * @diff: the changes
 *
 * Each kind is an array, or null where it is not compared.
 */
void memledger_diff_print_json(FILE *out, bool *first,
			       const struct memledger_diff *diff)
{
	unsigned int i;
	size_t j;

	memledger_json_bool(out, first, "complete", diff->before->complete &&
			    diff->after->complete);
	memledger_json_string(out, first, "unit", "bytes");
	memledger_json_bool(out, first, "swap_pss", diff->before->swap_pss &&
			    diff->after->swap_pss);
	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		const char *comma = "";

		memledger_json_key(out, first, sections[i].key);
		if (!diff->has[sections[i].kind]) {
			fputs("null", out);
			continue;
		}
		putc('[', out);
		for (j = 0; j < diff->nr; j++) {
			if (diff->change[j].kind != sections[i].kind)
				continue;
			fputs(comma, out);
			print_json_change(out, &diff->change[j], &sections[i]);
			comma = ",";
		}
		putc(']', out);
	}
}

/**
 * memledger_diff_free - free what a comparison holds, but not the states
 * @diff: of no use afterwards
 */
void memledger_diff_free(struct memledger_diff *diff)
{
	free(diff->change);
}
