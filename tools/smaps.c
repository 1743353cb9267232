// SPDX-License-Identifier: GPL-2.0-only
/*
 * A saved /proc/PID/smaps text in, the rows of dumpsys meminfo out, one
 * mapping at a time.
 *
 * Texts of any kernel are read: fields that are not needed are skipped, and
 * fields that only newer kernels have are unavailable where they are missing.
 * What no kernel prints is an error, with its line: the sums of a damaged text
 * would look just as good as those of a sound one.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include <memledger/account.h>
#include <memledger/classify.h>

#include "smaps.h"

/* The fields of a mapping, by their place in MEMLEDGER_VMA_FIELDS. */
enum field {
#define X(field, label, shift) FIELD_##field,
	MEMLEDGER_VMA_FIELDS(X)
#undef X
	NR_FIELDS
};

#define BIT(field)		(1U << FIELD_##field)

/* No kernel that Android ever ran on lacks these. */
#define REQUIRED_FIELDS							\
	(BIT(rss) | BIT(pss) | BIT(shared_clean) | BIT(shared_dirty) |	\
	 BIT(private_clean) | BIT(private_dirty) | BIT(swap))

/* These may be missing, but then in all mappings. */
#define OPTIONAL_FIELDS							\
	(BIT(size) | BIT(swap_pss) | BIT(shared_hugetlb) |		\
	 BIT(private_hugetlb))

static const struct {
	const char *label;
	size_t offset;
	unsigned int shift;
} fields[NR_FIELDS] = {
#define X(field, label, shift) \
	{ label, offsetof(struct memledger_vma_usage, field), shift },
	MEMLEDGER_VMA_FIELDS(X)
#undef X
};

/* Sums beyond these are no memory of this world, and would overflow. */
#define MAX_KB			((u64)1 << 50)
#define MAX_FIXED_POINT_KB	((u64)1 << 41)

/* The text, and how far we are. */
struct reader {
	FILE *file;
	const char *name;
	struct memledger_error *error;
	char *line;
	size_t room;		/* what getline() has allocated for line */
	size_t len;		/* of line, without its end */
	unsigned long number;	/* of line, from 1 */

	struct memledger_classifier classifier;
	struct memledger_totals *totals;
	struct memledger_vmas *vmas;	/* NULL: no list is wanted */
	u64 sum_kb[NR_FIELDS];
	u32 common;		/* fields of the first mapping */
	u64 page_kb;		/* smallest page size, 0 if none was seen */
	bool anon_names;

	/* The mapping that is being read. */
	unsigned long mapping_number;	/* its first line, 0 before any */
	u32 seen;
	struct memledger_vma vma;	/* its name only where there is a list */
};

#define reader_fail(reader, format, ...)				\
	memledger_error_set((reader)->error, "%s:%lu: " format,		\
			    (reader)->name, (reader)->number, ##__VA_ARGS__)

/* Return: 1 for a line, 0 at the end of the text, -1 for an error. */
static int read_line(struct reader *reader)
{
	ssize_t len;

	errno = 0;
	len = getline(&reader->line, &reader->room, reader->file);
	reader->number++;
	if (len < 0) {
		if (feof(reader->file) && !ferror(reader->file))
			return 0;
		return reader_fail(reader, "cannot read on: %s",
				   strerror(errno));
	}
	if (len && reader->line[len - 1] == '\n')
		len--;
	if (len && reader->line[len - 1] == '\r')
		len--;
	reader->line[len] = '\0';
	reader->len = len;
	if (memchr(reader->line, '\0', len))
		return reader_fail(reader, "a NUL byte: this is not a text");
	return 1;
}

static void skip_blanks(const char **p)
{
	while (**p == ' ' || **p == '\t')
		(*p)++;
}

/* Digits of base 10 or 16; no sign, no prefix. */
static bool parse_number(const char **p, unsigned int base, u64 *number)
{
	const char *start = *p;

	*number = 0;
	for (;; (*p)++) {
		unsigned char c = **p;
		unsigned int digit;

		if (isdigit(c))
			digit = c - '0';
		else if (base == 16 && c >= 'a' && c <= 'f')
			digit = c - 'a' + 10;
		else
			break;
		if (__builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return *p != start;
}

static bool parse_char(const char **p, const char *allowed)
{
	if (!**p || !strchr(allowed, **p))
		return false;
	(*p)++;
	return true;
}

/* "7f00-7f10 r-xp 00000000 fe:00 3165   NAME"; NAME may be missing. */
static bool parse_header(const char *line, struct memledger_vma *vma,
			 const char **name)
{
	const char *p = line, *perms;
	u64 ignored;

	if (!parse_number(&p, 16, &vma->start) || !parse_char(&p, "-") ||
	    !parse_number(&p, 16, &vma->end) || !parse_char(&p, " "))
		return false;
	perms = p;
	if (!parse_char(&p, "r-") || !parse_char(&p, "w-") ||
	    !parse_char(&p, "x-") || !parse_char(&p, "ps") ||
	    !parse_char(&p, " ") ||
	    !parse_number(&p, 16, &vma->offset) || !parse_char(&p, " ") ||
	    !parse_number(&p, 16, &ignored) || !parse_char(&p, ":") ||
	    !parse_number(&p, 16, &ignored) || !parse_char(&p, " ") ||
	    !parse_number(&p, 10, &vma->inode) || (*p && *p != ' '))
		return false;
	memcpy(vma->perms, perms, sizeof(vma->perms) - 1);
	while (*p == ' ')
		p++;
	*name = p;
	return true;
}

/* The mapping's last line has been read: count it. */
static int finish_mapping(struct reader *reader)
{
	u32 seen = reader->seen & (REQUIRED_FIELDS | OPTIONAL_FIELDS);
	struct memledger_vma *vma = &reader->vma;
	u32 differ;

	if (!reader->mapping_number)
		return 0;

	if (!reader->common)
		reader->common = seen | REQUIRED_FIELDS;
	differ = seen ^ reader->common;
	if (differ) {
		unsigned int field = __builtin_ctz(differ);

		if (seen & (1U << field))
			return reader_fail(reader,
					   "the mapping that begins in line %lu has %s, the ones before it had none",
					   reader->mapping_number,
					   fields[field].label);
		return reader_fail(reader,
				   "the mapping that begins in line %lu has no %s: the text is cut off, or not that of /proc/PID/smaps",
				   reader->mapping_number,
				   fields[field].label);
	}
	if (!(seen & BIT(size)))
		vma->usage.size = vma->end - vma->start;

	memledger_usage_add(memledger_totals_row(reader->totals, &vma->verdict),
			    &vma->usage, vma->verdict.swappable);
	if (!reader->vmas)
		return 0;
	if (memledger_vmas_add(reader->vmas, vma))
		return reader_fail(reader, "no memory");
	vma->name = NULL;	/* it is the list's now */
	return 0;
}

static int begin_mapping(struct reader *reader)
{
	struct memledger_mapping mapping = {};
	struct memledger_vma vma = {};
	const char *name;

	if (!parse_header(reader->line, &vma, &name))
		return reader_fail(reader,
				   "neither the first line of a mapping nor a field of one");
	if (!strcmp(name, "[rollup]"))
		return reader_fail(reader,
				   "this is /proc/PID/smaps_rollup, which has sums and no mappings: save smaps");
	if (vma.end <= vma.start)
		return reader_fail(reader, "the mapping ends before it begins");
	if (vma.start < reader->vma.end)
		return reader_fail(reader,
				   "the mapping begins below the end of the one before it: is this the text of more than one process?");
	if (finish_mapping(reader))
		return -1;

	mapping.start = vma.start;
	mapping.end = vma.end;
	mapping.prot = memledger_vma_prot(&vma);
	mapping.name = name;
	mapping.len = reader->line + reader->len - name;
	if (!strncmp(name, "[anon:", 6))
		reader->anon_names = true;

	reader->mapping_number = reader->number;
	reader->seen = 0;
	reader->vma = vma;
	reader->vma.verdict = memledger_classifier_next(&reader->classifier,
							&mapping);
	if (!reader->vmas)
		return 0;
	reader->vma.name = strdup(name);
	if (!reader->vma.name)
		return reader_fail(reader, "no memory");
	return 0;
}

static int find_field(const char *label, size_t len)
{
	unsigned int i;

	for (i = 0; i < NR_FIELDS; i++)
		if (strlen(fields[i].label) == len &&
		    !memcmp(fields[i].label, label, len))
			return i;
	return -1;
}

static int add_field(struct reader *reader, unsigned int field, u64 kb)
{
	unsigned int shift = fields[field].shift;
	u64 max = shift ? MAX_FIXED_POINT_KB : MAX_KB;
	char *usage = (char *)&reader->vma.usage;

	if (reader->seen & (1U << field))
		return reader_fail(reader, "a second %s of the same mapping",
				   fields[field].label);
	if (kb > max || reader->sum_kb[field] > max - kb)
		return reader_fail(reader, "%s is too large, here or in sum",
				   fields[field].label);
	reader->seen |= 1U << field;
	reader->sum_kb[field] += kb;
	*(u64 *)(usage + fields[field].offset) = kb << 10 << shift;
	return 0;
}

/* "Rss:      2048 kB", a field that is not needed, or a new mapping. */
static int read_one(struct reader *reader)
{
	const char *colon = reader->line;
	const char *p;
	size_t len;
	int field;
	bool kb;
	u64 number;

	while (isalnum((unsigned char)*colon) || *colon == '_')
		colon++;
	len = colon - reader->line;
	/* Addresses begin with a digit or a small letter, fields do not. */
	if (!isupper((unsigned char)reader->line[0]) || *colon != ':')
		return begin_mapping(reader);
	if (!reader->mapping_number)
		return reader_fail(reader, "a field before any mapping");

	/* Old Android kernels repeat the name of an anonymous mapping. */
	if (!strncmp(reader->line, "VmFlags:", 8) ||
	    !strncmp(reader->line, "Name:", 5))
		return 0;

	p = colon + 1;
	skip_blanks(&p);
	if (!isdigit((unsigned char)*p))
		return reader_fail(reader, "no number after %.*s:", (int)len,
				   reader->line);
	if (!parse_number(&p, 10, &number))
		return reader_fail(reader, "the number is too large");
	skip_blanks(&p);
	kb = !strncmp(p, "kB", 2);
	if (kb)
		p += 2;
	skip_blanks(&p);
	if (*p)
		return reader_fail(reader, "something after the number");

	field = find_field(reader->line, len);
	if (field >= 0) {
		if (!kb)
			return reader_fail(reader, "%s is not in kB",
					   fields[field].label);
		return add_field(reader, field, number);
	}
	if (!strncmp(reader->line, "KernelPageSize:", 15) && kb &&
	    (!reader->page_kb || number < reader->page_kb))
		reader->page_kb = number;
	return 0;
}

static u32 unavailable(const struct reader *reader)
{
	/* smaps knows nothing of GPU drivers. */
	u32 bits = MEMLEDGER_UNAVAILABLE_MTRACK;

	if (!(reader->common & BIT(swap_pss)))
		bits |= MEMLEDGER_UNAVAILABLE_SWAP_PSS;
	if (!(reader->common & BIT(shared_hugetlb)))
		bits |= MEMLEDGER_REPORT_NO_SHARED_HUGETLB;
	if (!(reader->common & BIT(private_hugetlb)))
		bits |= MEMLEDGER_REPORT_NO_PRIVATE_HUGETLB;
	if (!reader->anon_names)
		bits |= MEMLEDGER_UNAVAILABLE_ANON_NAMES;
	return bits;
}

static int read_text(struct reader *reader)
{
	int ret;

	while ((ret = read_line(reader)) > 0)
		if (read_one(reader))
			return -1;
	if (ret < 0)
		return -1;
	if (!reader->mapping_number)
		return reader_fail(reader,
				   "no mapping: a kernel thread or an exited process has none, and an unreadable smaps is empty too");
	return finish_mapping(reader);
}

/**
 * memledger_smaps_read - read the saved smaps text of one process
 * @file: the text; read to its end or to the first error
 * @name: what to call it in messages, harmless for a terminal
 * @profile: the rules to apply
 * @report: what to fill, all but @source
 * @vmas: NULL, or an empty list that gets the mappings; the caller frees it,
 *	also where this fails
 * @error: what went wrong, with name and line
 *
 * Mappings have to be in ascending order and apart from each other, as the
 * kernel prints them, since a rule looks at the mapping below. The profile's
 * rules see the names as they are in the text. page_size is the smallest one
 * that a mapping has; names of anonymous mappings count as unavailable where
 * not one of them is named.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_smaps_read(FILE *file, const char *name,
			 const struct memledger_profile *profile,
			 struct memledger_report *report,
			 struct memledger_vmas *vmas,
			 struct memledger_error *error)
{
	struct reader reader = {
		.file = file,
		.name = name,
		.error = error,
		.totals = &report->totals,
		.vmas = vmas,
	};
	int ret;

	*report = (struct memledger_report){
		.profile = profile,
		.pid = -1,
		.complete = true,
	};
	memledger_classifier_init(&reader.classifier, profile);
	ret = read_text(&reader);
	memledger_totals_sum(&report->totals);
	report->unavailable = unavailable(&reader);
	if (reader.page_kb <= UINT32_MAX / 1024)
		report->page_size = reader.page_kb * 1024;
	free(reader.vma.name);
	free(reader.line);
	return ret;
}
