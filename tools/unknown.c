// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process in; what its row Unknown is made of, by class, by name or by
 * owner, out.
 */
#include <stdlib.h>

#include "json.h"
#include "listing.h"
#include "owners.h"
#include "unknown.h"
#include "words.h"

/* By enum memledger_unknown_by; file is the one in debugfs. */
static const struct {
	const char *name;
	const char *file;
	const char *banner;
} ways[] = {
	{ "class", NULL, "UNKNOWN by class" },
	{ "name", "unknown", "UNKNOWN by name" },
	{ "owner", "owners", "UNKNOWN by owner" },
};

static const char heading[] =
#define X(field) #field " "
	MEMLEDGER_USAGE_FIELDS(X)
#undef X
	"vmas class name";

/* The row Unknown, taken apart. */
struct parts {
	struct memledger_owners owners;
	struct memledger_names names;
	struct memledger_usage total;
};

/**
 * memledger_unknown_by_parse - look up a way to take the row apart
 * @text: "class", "name" or "owner"
 * @by: which of these
 *
 * Return: whether it is one.
 */
bool memledger_unknown_by_parse(const char *text,
				enum memledger_unknown_by *by)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!strcmp(text, ways[i].name)) {
			*by = i;
			return true;
		}
	}
	return false;
}

/**
 * memledger_unknown_file - say what has to be read of a running process
 * @by: how the row is to be taken apart
 *
 * Return: the name of a file in debugfs, NULL if the record does.
 */
const char *memledger_unknown_file(enum memledger_unknown_by by)
{
	return ways[by].file;
}

static int add_classes(struct parts *parts,
		       const struct memledger_totals *totals)
{
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++)
		if (memledger_listing_add(&parts->names,
					  memledger_unknown_names[i], i,
					  &totals->unknown[i]))
			return -ENOMEM;
	memledger_names_sort(&parts->names);
	parts->total = totals->category[MEMLEDGER_CAT_UNKNOWN];
	return 0;
}

static int add_mappings(struct parts *parts, const struct memledger_vmas *vmas)
{
	size_t i;

	for (i = 0; i < vmas->nr; i++) {
		const struct memledger_vma *vma = &vmas->vma[i];
		const struct memledger_verdict *verdict = &vma->verdict;

		if (verdict->unknown == MEMLEDGER_UNKNOWN_NONE)
			continue;
		if (memledger_names_add(&parts->names, vma->name,
					strlen(vma->name), verdict->unknown,
					&vma->usage, verdict->swappable))
			return -ENOMEM;
	}
	memledger_names_sort(&parts->names);
	for (i = 0; i < parts->names.nr; i++)
		memledger_usage_merge(&parts->total,
				      &parts->names.rows[i].usage);
	return 0;
}

static bool parse_usage(char **line, struct memledger_usage *usage)
{
	bool good = true;

#define X(field) good = good && memledger_words_optional(line, &usage->field);
	MEMLEDGER_USAGE_FIELDS(X)
	X(vmas)
#undef X
	usage->pss <<= MEMLEDGER_PSS_SHIFT;
	usage->swap_pss <<= MEMLEDGER_PSS_SHIFT;
	return good;
}

static int parse_class(const char *word)
{
	int i;

	for (i = 0; word && i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++)
		if (!strcmp(word, memledger_unknown_names[i]))
			return i;
	return -EINVAL;
}

/* Return: 0, -EINVAL for no row of a name, or -errno. */
static int parse_row(struct parts *parts, char *line)
{
	struct memledger_usage usage = {};
	int class;

	if (!parse_usage(&line, &usage))
		return -EINVAL;
	class = parse_class(memledger_words_next(&line));
	if (class < 0 || !line)
		return -EINVAL;
	/* Names have brackets, so this is none. */
	if (!strcmp(line, memledger_unknown_texts[class]))
		line += strlen(line);
	return memledger_listing_add(&parts->names, line, class, &usage);
}

static int parse_total(struct parts *parts, char *line)
{
	if (!line || !parse_usage(&line, &parts->total) || !line ||
	    strcmp(line, "- Total"))
		return -EINVAL;
	return 0;
}

static int parse_names(struct parts *parts, char *text,
		       struct memledger_error *error)
{
	char *line = memledger_words_line(&text);
	int ret;

	ret = !line || strcmp(line, heading) ? -EINVAL :
	      parse_total(parts, memledger_words_line(&text));
	while (!ret && (line = memledger_words_line(&text)))
		ret = parse_row(parts, line);
	if (ret == -ENOMEM)
		return memledger_error_set(error, "no memory");
	if (ret || *text)
		return memledger_error_set(error,
					   "the module's unknown file is not as expected: use the tool that was built with the module");
	memledger_names_sort(&parts->names);
	return 0;
}

static int make_parts(struct parts *parts, struct memledger_subject *subject,
		      enum memledger_unknown_by by,
		      struct memledger_error *error)
{
	int ret = 0;

	switch (by) {
	case MEMLEDGER_UNKNOWN_BY_CLASS:
		ret = add_classes(parts, &subject->report.totals);
		break;
	case MEMLEDGER_UNKNOWN_BY_NAME:
		if (subject->details)
			return parse_names(parts, subject->details, error);
		ret = add_mappings(parts, &subject->vmas);
		break;
	case MEMLEDGER_UNKNOWN_BY_OWNER:
		parts->owners.report = &subject->report;
		parts->owners.vmas = &subject->vmas;
		if (subject->details)
			return memledger_owners_parse(&parts->owners,
						      subject->details, error);
		ret = memledger_owners_find(&parts->owners);
		break;
	}
	return ret ? memledger_error_set(error, "no memory") : 0;
}

static const char *name_label(const struct memledger_name *row)
{
	return row->len ? row->text : memledger_unknown_texts[row->class];
}

static void print_class_tail(FILE *out, const struct memledger_name *row,
			     void *data)
{
	(void)data;
	fputs(memledger_unknown_texts[row->class], out);
}

static void print_name_tail(FILE *out, const struct memledger_name *row,
			    void *data)
{
	(void)data;
	fputs(memledger_unknown_names[row->class], out);
}

static void print_class_members(FILE *out, bool *first,
				const struct memledger_name *row,
				void *data)
{
	(void)data;
	memledger_json_string(out, first, "text",
			      memledger_unknown_texts[row->class]);
}

static void print_name_members(FILE *out, bool *first,
			       const struct memledger_name *row,
			       void *data)
{
	(void)data;
	memledger_json_string(out, first, "class",
			      memledger_unknown_names[row->class]);
}

static bool class_is_available(const struct memledger_name *row, void *data)
{
	return memledger_report_has_class(data, row->class);
}

static void print_parts(FILE *out, struct parts *parts,
			struct memledger_report *report,
			enum memledger_unknown_by by, u32 top, bool json)
{
	u32 unavailable = report->unavailable;
	struct memledger_listing listing = {
		.names = &parts->names,
		.total = &parts->total,
		.top = top,
		.swap_pss = !(unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS),
		.count = "vmas",
	};
	bool first = true;

	if (by == MEMLEDGER_UNKNOWN_BY_CLASS) {
		listing.key = "class";
		listing.heading = "What it is";
		listing.tail = print_class_tail;
		listing.members = print_class_members;
		listing.available = class_is_available;
		listing.data = report;
	} else {
		listing.key = "name";
		listing.heading = "Class";
		listing.label = name_label;
		listing.tail = print_name_tail;
		listing.members = print_name_members;
	}

	if (json) {
		putc('{', out);
		memledger_json_report(out, &first, report);
		memledger_json_string(out, &first, "by", ways[by].name);
		if (by == MEMLEDGER_UNKNOWN_BY_OWNER)
			memledger_owners_print_json(out, &first,
						    &parts->owners, top);
		else
			memledger_listing_print_json(out, &first, &listing);
		memledger_json_unavailable(out, &first, report);
		fputs("}\n", out);
		return;
	}
	memledger_listing_print_banner(out, ways[by].banner, report);
	if (by == MEMLEDGER_UNKNOWN_BY_OWNER)
		memledger_owners_print(out, &parts->owners, top);
	else
		memledger_listing_print(out, &listing);
	memledger_report_print_source(out, report);
}

/**
 * memledger_unknown_print - print what the row Unknown is made of
 * @out: where to
 * @subject: the process; of a running one with memledger_unknown_file()
 * @by: how the row is to be taken apart
 * @top: how many rows, 0 for all
 * @json: as JSON, in bytes, instead of text, in kB
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_unknown_print(FILE *out, struct memledger_subject *subject,
			    enum memledger_unknown_by by, u32 top, bool json,
			    struct memledger_error *error)
{
	struct parts parts = {};
	int ret;

	ret = make_parts(&parts, subject, by, error);
	if (!ret)
		print_parts(out, &parts, &subject->report, by, top, json);
	memledger_names_free(&parts.names);
	memledger_names_free(&parts.owners.names);
	return ret;
}
