// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of the module's gpu file in; the entries, and their sums by what
 * they are used for, out.
 */
#include <stdlib.h>

#include "array.h"
#include "dmabuf.h"
#include "gpu_entries.h"
#include "json.h"
#include "words.h"

static const char heading[] =
	"id kind usage size mapped flags surfaces images importers imported inode";

static const char legend[] =
"flags: v virtual, s secure, r reclaimed, i imported, m in RSS where mapped,\n"
"       a allocated by this process\n";

static const struct {
	char letter;
	u32 flag;
	const char *name;
} flags[] = {
	{ 'v', MEMLEDGER_GPU_VIRTUAL, "virtual" },
	{ 's', MEMLEDGER_GPU_SECURE, "secure" },
	{ 'r', MEMLEDGER_GPU_RECLAIMED, "reclaimed" },
	{ 'i', MEMLEDGER_GPU_IMPORTED, "imported" },
	{ 'm', MEMLEDGER_GPU_IN_RSS, "in_rss" },
	{ 'a', MEMLEDGER_GPU_ALLOCATOR, "allocator" },
};

/* Sums over the entries of one usage. */
struct sums {
	const char *usage;
	u64 entries;
	u64 size;
	u64 mapped;
	u64 imported;
	bool has_imported;	/* there are imports, and each has its share */
	bool lacks_imported;
};

static bool parse_head(struct memledger_gpu_entries *entries, char *line)
{
	if (!line || !memledger_words_expect(&line, "#") ||
	    !memledger_words_expect(&line, "provider"))
		return false;
	entries->provider = memledger_words_next(&line);
	if (!entries->provider || !memledger_words_expect(&line, "rule"))
		return false;
	entries->rule = memledger_words_next(&line);
	return entries->rule && memledger_words_expect(&line, "complete") &&
	       memledger_words_bool(&line, &entries->complete) && !line;
}

/* Which of @names is @word? */
static bool parse_word(const char *word, const char *const *names,
		       unsigned int nr, u16 *which)
{
	unsigned int i;

	for (i = 0; word && i < nr; i++) {
		if (!strcmp(word, names[i])) {
			*which = i;
			return true;
		}
	}
	return false;
}

static bool parse_flags(const char *word, u32 *bits)
{
	unsigned int i;

	if (!word)
		return false;
	for (; *word; word++) {
		/* In the place of a letter, or of all. */
		if (*word == '-')
			continue;
		for (i = 0; i < ARRAY_SIZE(flags); i++)
			if (*word == flags[i].letter)
				break;
		if (i == ARRAY_SIZE(flags) || *bits & flags[i].flag)
			return false;
		*bits |= flags[i].flag;
	}
	return true;
}

static bool parse_count(char **line, u32 *count)
{
	u64 number;

	if (!memledger_words_optional(line, &number) || number > UINT32_MAX)
		return false;
	*count = number;
	return true;
}

static bool parse_line(char *line, struct memledger_gpu_line *to)
{
	struct memledger_gpu_entry *entry = &to->entry;

	return memledger_words_number(&line, &entry->id) &&
	       parse_word(memledger_words_next(&line),
			  memledger_gpu_kind_names, NR_MEMLEDGER_GPU_KINDS,
			  &entry->kind) &&
	       parse_word(memledger_words_next(&line),
			  memledger_gpu_usage_names, NR_MEMLEDGER_GPU_USAGES,
			  &entry->usage) &&
	       memledger_words_number(&line, &entry->size) &&
	       memledger_words_number(&line, &entry->mapped) &&
	       parse_flags(memledger_words_next(&line), &entry->flags) &&
	       parse_count(&line, &entry->surfaces) &&
	       parse_count(&line, &entry->images) &&
	       parse_count(&line, &entry->importers) &&
	       memledger_words_maybe(&line, &to->imported,
				     &to->has_imported) &&
	       memledger_words_optional(&line, &entry->dmabuf_ino) && !line &&
	       memledger_gpu_entry_valid(entry);
}

static int add_line(struct memledger_gpu_entries *entries,
		    const struct memledger_gpu_line *line)
{
	struct memledger_gpu_line *lines =
		memledger_array_grow(entries->lines, entries->nr,
				     sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	entries->lines = lines;
	lines[entries->nr++] = *line;
	return 0;
}

/**
 * memledger_gpu_entries_parse - read the module's gpu file
 * @entries: an empty list; the caller frees it, also where this fails
 * @text: the file's, which is cut up, and has to stay
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_gpu_entries_parse(struct memledger_gpu_entries *entries,
				char *text, struct memledger_error *error)
{
	bool good = parse_head(entries, memledger_words_line(&text));
	char *line;

	line = good ? memledger_words_line(&text) : NULL;
	good = line && !strcmp(line, heading);
	while (good && (line = memledger_words_line(&text))) {
		struct memledger_gpu_line entry = {};

		if (*line == '#')
			continue;
		good = parse_line(line, &entry);
		if (good && add_line(entries, &entry))
			return memledger_error_set(error, "no memory");
	}
	if (!good)
		return memledger_error_set(error,
					   "the module's gpu file is not as expected: use the tool that was built with the module");
	if (*text)
		return memledger_error_set(error,
					   "the module's gpu file is cut off: try again");
	return 0;
}

/**
 * memledger_gpu_entries_free - free what a list holds
 * @entries: empty afterwards; the text is not freed
 */
void memledger_gpu_entries_free(struct memledger_gpu_entries *entries)
{
	free(entries->lines);
	*entries = (struct memledger_gpu_entries){};
}

static void add_entry(struct sums *sums, const struct memledger_gpu_line *line)
{
	sums->entries++;
	sums->size = memledger_saturating_add(sums->size, line->entry.size);
	sums->mapped = memledger_saturating_add(sums->mapped,
						line->entry.mapped);
	if (line->entry.kind != MEMLEDGER_GPU_DMABUF)
		return;
	sums->imported = memledger_saturating_add(sums->imported,
						  line->imported);
	sums->has_imported |= line->has_imported;
	sums->lacks_imported |= !line->has_imported;
}

static void print_sums(FILE *out, const struct sums *sums)
{
	fprintf(out, "%20s %8llu %12llu %12llu", sums->usage, sums->entries,
		sums->size >> 10, sums->mapped >> 10);
	if (sums->lacks_imported || !sums->has_imported)
		fprintf(out, " %12s\n", "-");
	else
		fprintf(out, " %12llu\n", sums->imported >> 10);
}

/* The largest first; a name is there once. */
static int compare_sums(const void *a, const void *b)
{
	const struct sums *one = a, *other = b;

	if (one->size != other->size)
		return one->size > other->size ? -1 : 1;
	return strcmp(one->usage, other->usage);
}

/**
 * memledger_gpu_entries_print_usage - print sums by what memory is used for
 * @out: where to
 * @entries: the entries
 */
void
memledger_gpu_entries_print_usage(FILE *out,
				  const struct memledger_gpu_entries *entries)
{
	struct sums sums[NR_MEMLEDGER_GPU_USAGES] = {};
	struct sums all = { .usage = "all" };
	size_t i, virtual = 0;

	for (i = 0; i < entries->nr; i++) {
		const struct memledger_gpu_line *line = &entries->lines[i];

		/* Address space is no memory. */
		if (line->entry.flags & MEMLEDGER_GPU_VIRTUAL) {
			virtual++;
			continue;
		}
		add_entry(&sums[line->entry.usage], line);
		add_entry(&all, line);
	}
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++)
		sums[i].usage = memledger_gpu_usage_names[i];
	memledger_sort(sums, NR_MEMLEDGER_GPU_USAGES, sizeof(*sums),
		       compare_sums);

	fprintf(out, "%20s %8s %12s %12s %12s\n", "usage", "entries", "size",
		"mapped", "imported");
	print_sums(out, &all);
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++)
		if (sums[i].entries)
			print_sums(out, &sums[i]);
	if (virtual)
		fprintf(out,
			"Not counted: %zu virtual entries, which have no pages.\n",
			virtual);
}

static void print_flags(FILE *out, u32 bits)
{
	char text[ARRAY_SIZE(flags) + 1] = "-";
	unsigned int i, len = 0;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (bits & flags[i].flag)
			text[len++] = flags[i].letter;
	fprintf(out, " %-6s", text);
}

/**
 * memledger_gpu_entries_print - print entries, a line each
 * @out: where to
 * @entries: the entries
 */
void memledger_gpu_entries_print(FILE *out,
				 const struct memledger_gpu_entries *entries)
{
	size_t i;

	fprintf(out,
		"%10s %-6s %-18s %12s %12s %-6s %8s %8s %9s %12s %10s\n",
		"id", "kind", "usage", "size", "mapped", "flags", "surfaces",
		"images", "importers", "imported", "inode");
	for (i = 0; i < entries->nr; i++) {
		const struct memledger_gpu_line *line = &entries->lines[i];
		const struct memledger_gpu_entry *entry = &line->entry;

		fprintf(out, "%10llu %-6s %-18s %12llu %12llu", entry->id,
			memledger_gpu_kind_names[entry->kind],
			memledger_gpu_usage_names[entry->usage],
			entry->size >> 10, entry->mapped >> 10);
		print_flags(out, entry->flags);
		if (entry->kind == MEMLEDGER_GPU_DMABUF)
			fprintf(out, " %8u %8u", entry->surfaces,
				entry->images);
		else
			fprintf(out, " %8s %8s", "-", "-");
		if (entry->importers)
			fprintf(out, " %9u", entry->importers);
		else
			fprintf(out, " %9s", "-");
		if (line->has_imported)
			fprintf(out, " %12llu", line->imported >> 10);
		else
			fprintf(out, " %12s", "-");
		if (entry->dmabuf_ino)
			fprintf(out, " %10llu\n", entry->dmabuf_ino);
		else
			fprintf(out, " %10s\n", "-");
	}
	fputs(legend, out);
}

static void print_json_line(FILE *out, const struct memledger_gpu_line *line)
{
	const struct memledger_gpu_entry *entry = &line->entry;
	const char *comma = "";
	bool first = true;
	unsigned int i;

	putc('{', out);
	memledger_json_number(out, &first, "id", entry->id, true);
	memledger_json_string(out, &first, "kind",
			      memledger_gpu_kind_names[entry->kind]);
	memledger_json_string(out, &first, "usage",
			      memledger_gpu_usage_names[entry->usage]);
	memledger_json_number(out, &first, "size", entry->size, true);
	memledger_json_number(out, &first, "mapped", entry->mapped, true);
	memledger_json_key(out, &first, "flags");
	putc('[', out);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!(entry->flags & flags[i].flag))
			continue;
		fprintf(out, "%s\"%s\"", comma, flags[i].name);
		comma = ",";
	}
	putc(']', out);
	memledger_json_number(out, &first, "surfaces", entry->surfaces,
			      entry->kind == MEMLEDGER_GPU_DMABUF);
	memledger_json_number(out, &first, "images", entry->images,
			      entry->kind == MEMLEDGER_GPU_DMABUF);
	memledger_json_number(out, &first, "importers", entry->importers,
			      entry->importers);
	memledger_json_number(out, &first, "imported", line->imported,
			      line->has_imported);
	memledger_json_number(out, &first, "inode", entry->dmabuf_ino,
			      entry->dmabuf_ino);
	putc('}', out);
}

/**
 * memledger_gpu_entries_print_json - print entries as a member of an object
 * @out: where to
 * @first: as for memledger_json_key()
 * @entries: the entries; NULL prints null
 */
void
memledger_gpu_entries_print_json(FILE *out, bool *first,
				 const struct memledger_gpu_entries *entries)
{
	size_t i;

	memledger_json_key(out, first, "gpu_entries");
	if (!entries) {
		fputs("null", out);
		return;
	}
	putc('[', out);
	for (i = 0; i < entries->nr; i++) {
		if (i)
			putc(',', out);
		print_json_line(out, &entries->lines[i]);
	}
	putc(']', out);
}
