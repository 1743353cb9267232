// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mappings of a process in; a line each, or one a name, in the columns of
 * showmap out.
 */
#include <stdlib.h>

#include "escape.h"
#include "json.h"
#include "showmap.h"

static const struct column {
	const char *above;
	const char *below;
	const char *key;
	size_t offset;
	unsigned int shift;	/* to bytes */
} columns[] = {
#define COLUMN(above, below, field, shift)				\
	{ above, below, #field,						\
	  offsetof(struct memledger_vma_usage, field), shift }
	COLUMN("virtual", "size", size, 0),
	COLUMN("", "RSS", rss, 0),
	COLUMN("", "PSS", pss, MEMLEDGER_PSS_SHIFT),
	COLUMN("shared", "clean", shared_clean, 0),
	COLUMN("shared", "dirty", shared_dirty, 0),
	COLUMN("private", "clean", private_clean, 0),
	COLUMN("private", "dirty", private_dirty, 0),
	COLUMN("", "swap", swap, 0),
	COLUMN("", "swapPSS", swap_pss, MEMLEDGER_PSS_SHIFT),
	COLUMN("Anon", "HugePgs", anon_huge, 0),
	COLUMN("Shmem", "PmdMap", shmem_pmd_mapped, 0),
	COLUMN("File", "PmdMap", file_pmd_mapped, 0),
	COLUMN("Shared", "Hugetlb", shared_hugetlb, 0),
	COLUMN("Private", "Hugetlb", private_hugetlb, 0),
	COLUMN("", "Locked", locked, MEMLEDGER_PSS_SHIFT),
#undef COLUMN
};

/**
 * struct object - what is on a line
 * @vma: the mapping; its numbers are the sum of all, in bytes and, where the
 *	columns are in kB, of each mapping's whole kB
 * @name: what it is called here
 * @bss: it has no name, and lies behind a library that has this one
 * @count: how many mappings
 */
struct object {
	struct memledger_vma vma;
	const char *name;
	bool bss;
	size_t count;
};

struct objects {
	struct object *object;
	size_t nr;
	struct object total;
};

static u64 *number(struct memledger_vma_usage *usage, size_t offset)
{
	return (u64 *)((char *)usage + offset);
}

/* From fixed point to bytes of whole kB, as smaps prints them. */
static void round_usage(struct memledger_vma_usage *usage)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		u64 *field = number(usage, columns[i].offset);

		*field = *field >> (columns[i].shift + 10) << 10;
	}
}

static void add_usage(struct memledger_vma_usage *sum,
		      struct memledger_vma_usage *usage)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		*number(sum, columns[i].offset) +=
			*number(usage, columns[i].offset);
}

static bool is_library(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && *name == '/' && !strcmp(name + len - 3, ".so");
}

/* Whatever has no name and lies right behind a library is the library's. */
static void name_objects(struct objects *objects)
{
	const struct object *last = NULL;
	size_t i;

	for (i = 0; i < objects->nr; i++) {
		struct object *object = &objects->object[i];

		object->name = object->vma.name;
		if (!*object->name) {
			object->bss = last &&
				      last->vma.end == object->vma.start &&
				      is_library(last->name);
			object->name = object->bss ? last->name : "[anon]";
		}
		last = object;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct object *x = a, *y = b;
	int ret = strcmp(x->name, y->name);

	return ret ? ret : x->vma.start < y->vma.start ? -1 : 1;
}

static void merge_names(struct objects *objects)
{
	size_t i, nr = 0;

	for (i = 0; i < objects->nr; i++) {
		struct object *object = &objects->object[i];
		struct object *last = nr ? &objects->object[nr - 1] : NULL;

		if (!last || strcmp(last->name, object->name)) {
			objects->object[nr++] = *object;
			continue;
		}
		add_usage(&last->vma.usage, &object->vma.usage);
		last->bss &= object->bss;
		last->count++;
	}
	objects->nr = nr;
}

static int make(struct objects *objects, const struct memledger_vmas *vmas,
		unsigned int flags)
{
	struct object *object;
	size_t i;

	objects->object = calloc(vmas->nr + 1, sizeof(*objects->object));
	if (!objects->object)
		return -1;
	objects->nr = vmas->nr;
	for (i = 0; i < vmas->nr; i++) {
		object = &objects->object[i];
		object->vma = vmas->vma[i];
		object->count = 1;
		round_usage(&object->vma.usage);
		add_usage(&objects->total.vma.usage, &object->vma.usage);
	}
	objects->total.count = vmas->nr;
	objects->total.name = "TOTAL";
	name_objects(objects);
	if (flags & MEMLEDGER_SHOWMAP_ADDRESSES)
		return 0;
	qsort(objects->object, objects->nr, sizeof(*objects->object),
	      compare_names);
	if (!(flags & MEMLEDGER_SHOWMAP_VERBOSE))
		merge_names(objects);
	return 0;
}

static bool is_shown(const struct object *object, unsigned int flags)
{
	return !(flags & MEMLEDGER_SHOWMAP_TERSE) ||
	       object->vma.usage.private_clean ||
	       object->vma.usage.private_dirty;
}

static bool is_merged(unsigned int flags)
{
	return !(flags & (MEMLEDGER_SHOWMAP_ADDRESSES |
			  MEMLEDGER_SHOWMAP_VERBOSE));
}

static bool is_available(const struct column *column,
			 const struct memledger_report *report)
{
	switch (column->offset) {
	case offsetof(struct memledger_vma_usage, swap_pss):
		return !(report->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS);
	case offsetof(struct memledger_vma_usage, shared_hugetlb):
		return !(report->unavailable &
			 MEMLEDGER_REPORT_NO_SHARED_HUGETLB);
	case offsetof(struct memledger_vma_usage, private_hugetlb):
		return !(report->unavailable &
			 MEMLEDGER_REPORT_NO_PRIVATE_HUGETLB);
	default:
		return true;
	}
}

static void print_divider(FILE *out, unsigned int flags)
{
	unsigned int i;

	if (flags & MEMLEDGER_SHOWMAP_ADDRESSES)
		fputs("---------------- ---------------- ", out);
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		fputs("-------- ", out);
	if (is_merged(flags))
		fputs("---- ", out);
	if (flags & MEMLEDGER_SHOWMAP_VERBOSE)
		fputs("------ ", out);
	fputs("------------------------------\n", out);
}

static void print_heading(FILE *out, unsigned int flags)
{
	unsigned int i;

	if (flags & MEMLEDGER_SHOWMAP_ADDRESSES)
		fprintf(out, "%16s %16s ", "start", "end");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, "%8s ", columns[i].above);
	putc('\n', out);
	if (flags & MEMLEDGER_SHOWMAP_ADDRESSES)
		fprintf(out, "%16s %16s ", "addr", "addr");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, "%8s ", columns[i].below);
	if (is_merged(flags))
		fprintf(out, "%4s ", "#");
	if (flags & MEMLEDGER_SHOWMAP_VERBOSE)
		fprintf(out, "%6s ", "flags");
	fputs("object\n", out);
}

static void print_object(FILE *out, struct object *object,
			 const struct memledger_report *report,
			 unsigned int flags)
{
	bool total = !object->vma.end;
	char *name = memledger_escape_text(object->name, "");
	unsigned int i;

	if (flags & MEMLEDGER_SHOWMAP_ADDRESSES && total)
		fprintf(out, "%33s ", "");
	else if (flags & MEMLEDGER_SHOWMAP_ADDRESSES)
		fprintf(out, "%16llx %16llx ", object->vma.start,
			object->vma.end);
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		if (is_available(&columns[i], report))
			fprintf(out, "%8llu ",
				*number(&object->vma.usage,
					columns[i].offset) >> 10);
		else
			fprintf(out, "%8s ", "-");
	}
	if (is_merged(flags))
		fprintf(out, "%4zu ", object->count);
	if (flags & MEMLEDGER_SHOWMAP_VERBOSE)
		fprintf(out, "%6s ", object->vma.perms);
	fprintf(out, "%s%s\n", name ? name : "(out of memory)",
		object->bss ? " [bss]" : "");
	free(name);
}

static void print(FILE *out, struct objects *objects,
		  const struct memledger_report *report, unsigned int flags)
{
	size_t i;

	print_heading(out, flags);
	print_divider(out, flags);
	for (i = 0; i < objects->nr; i++)
		if (is_shown(&objects->object[i], flags))
			print_object(out, &objects->object[i], report, flags);
	print_divider(out, flags);
	print_heading(out, flags);
	print_divider(out, flags);
	print_object(out, &objects->total, report, flags);
	memledger_report_print_source(out, report);
}

static void print_json_numbers(FILE *out, bool *first, struct object *object,
			       const struct memledger_report *report)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		memledger_json_number(out, first, columns[i].key,
				      *number(&object->vma.usage,
					      columns[i].offset),
				      is_available(&columns[i], report));
	memledger_json_number(out, first, "vmas", object->count, true);
}

static void print_json_object(FILE *out, struct object *object,
			      const struct memledger_report *report,
			      unsigned int flags)
{
	bool first = true;

	putc('{', out);
	if (!is_merged(flags)) {
		memledger_json_number(out, &first, "start", object->vma.start,
				      true);
		memledger_json_number(out, &first, "end", object->vma.end,
				      true);
		memledger_json_string(out, &first, "perms", object->vma.perms);
	}
	memledger_json_string(out, &first, "object", object->name);
	memledger_json_bool(out, &first, "bss", object->bss);
	print_json_numbers(out, &first, object, report);
	putc('}', out);
}

static void print_json(FILE *out, struct objects *objects,
		       const struct memledger_report *report,
		       unsigned int flags)
{
	bool first = true, first_total = true, any = false;
	size_t i;

	putc('{', out);
	memledger_json_report(out, &first, report);
	memledger_json_key(out, &first, "total");
	putc('{', out);
	print_json_numbers(out, &first_total, &objects->total, report);
	putc('}', out);
	memledger_json_key(out, &first, "objects");
	putc('[', out);
	for (i = 0; i < objects->nr; i++) {
		if (!is_shown(&objects->object[i], flags))
			continue;
		if (any)
			putc(',', out);
		any = true;
		print_json_object(out, &objects->object[i], report, flags);
	}
	putc(']', out);
	memledger_json_unavailable(out, &first, report);
	fputs("}\n", out);
}

/**
 * memledger_showmap_print - list the mappings of a process
 * @out: where to
 * @subject: the process, with its vmas file, or a saved text
 * @flags: MEMLEDGER_SHOWMAP_*
 * @json: as JSON, and not as showmap does
 * @error: what went wrong
 *
 * Numbers are sums of each mapping's whole kB, as smaps has them.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_showmap_print(FILE *out, struct memledger_subject *subject,
			    unsigned int flags, bool json,
			    struct memledger_error *error)
{
	struct memledger_report *report = &subject->report;
	struct objects objects = {};

	if (subject->details) {
		if (memledger_vmas_parse(&subject->vmas, subject->details,
					 report->profile, error))
			return -1;
		report->complete = subject->vmas.complete;
	}
	if (make(&objects, &subject->vmas, flags))
		return memledger_error_set(error, "no memory");
	if (json)
		print_json(out, &objects, report, flags);
	else
		print(out, &objects, report, flags);
	free(objects.object);
	return 0;
}
