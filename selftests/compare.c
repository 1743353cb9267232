// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a tracked process's numbers with /proc/TGID/smaps: each field of
 * each mapping, and the sums in every row that is exported; and what the tool
 * makes of that smaps. No tolerance: a reading counts only if smaps is the same
 * before and after.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <memledger/abi.h>

#include "compare.h"
#include "testlib.h"

#define NAMES(id, name, ...)	#name,
static const char *const category_names[] = { MEMLEDGER_CATEGORIES(NAMES) };
static const char *const subcategory_names[] = {
	MEMLEDGER_SUBCATEGORIES(NAMES)
};

static const char *const class_names[] = { MEMLEDGER_UNKNOWN_CLASSES(NAMES) };

/* Printed and counted; a long list of the same helps nobody. */
#define MAX_PRINTED	20

static unsigned int nr_differences;

static void __printf(1, 2) differs(const char *fmt, ...)
{
	va_list args;

	if (nr_differences++ >= MAX_PRINTED)
		return;
	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
}

static void compare_vma(const struct vma *ours, const struct vma *smaps,
			bool have_swap_pss)
{
	char name[8192];

	if (ours->start != smaps->start || ours->end != smaps->end) {
		differs("memledger has %llx-%llx %s, smaps %llx-%llx %s",
			ours->start, ours->end, ours->name, smaps->start,
			smaps->end, smaps->name);
		return;
	}
	snprintf(name, sizeof(name), "%s%s", ours->name,
		 ours->deleted ? " (deleted)" : "");
	if (strcmp(name, smaps->name))
		differs("%llx: name: memledger \"%s\", smaps \"%s\"",
			smaps->start, name, smaps->name);
	if (strcmp(ours->perms, smaps->perms) ||
	    ours->offset != smaps->offset || ours->inode != smaps->inode ||
	    ours->major != smaps->major || ours->minor != smaps->minor)
		differs("%llx %s: memledger %s %llx %x:%x %llu, smaps %s %llx %x:%x %llu",
			smaps->start, name, ours->perms, ours->offset,
			ours->major, ours->minor, ours->inode, smaps->perms,
			smaps->offset, smaps->major, smaps->minor,
			smaps->inode);

	for (int i = 0; i < NR_FIELDS; i++) {
		u32 bit = 1U << i;

		if (!(smaps->have & bit))
			continue;	/* not printed by this kernel */
		if (!(ours->have & bit)) {
			if (i != FIELD_swap_pss || have_swap_pss)
				differs("%llx %s: %s: memledger has none",
					smaps->start, name, field_labels[i]);
			continue;
		}
		if (ours->value[i] >> 10 != smaps->value[i])
			differs("%llx-%llx %s %s: %s: memledger %llu kB (%llu), smaps %llu kB",
				smaps->start, smaps->end, smaps->perms, name,
				field_labels[i], ours->value[i] >> 10,
				ours->value[i], smaps->value[i]);
	}
}

/* Whose mappings make up a row; what is NULL does not matter. */
struct whose {
	const char *category;
	const char *subcategory;
	const struct name_row *name;
};

static const char *unnamed_class(const char *perms)
{
	return perms[2] == 'x' ? "unnamed_code" :
	       perms[1] == 'w' ? "unnamed_data" :
	       perms[0] == 'r' ? "unnamed_readonly" : "unnamed_reserve";
}

/* A name has brackets; what is without one is described by its class. */
static bool has_name(const struct vma *vma, const struct name_row *name)
{
	if (*name->name == '[')
		return !strcmp(vma->name, name->name);
	return !*vma->name && !strcmp(unnamed_class(vma->perms), name->class);
}

static bool is_in_row(const struct vma *vma, const struct whose *whose)
{
	return (!whose->category || !strcmp(vma->category, whose->category)) &&
	       (!whose->subcategory ||
		!strcmp(vma->subcategory, whose->subcategory)) &&
	       (!whose->name || has_name(vma, whose->name));
}

/* What a row of the table should hold, from the list of mappings. */
static struct memledger_usage row_sum(const struct vma_list *ours,
				      const struct vma_list *smaps,
				      const struct whose *whose)
{
	struct memledger_usage sum = {};

	for (size_t i = 0; i < ours->nr; i++) {
		const struct vma *vma = &ours->vma[i];

		if (!is_in_row(vma, whose))
			continue;
		sum.pss += vma->value[FIELD_pss];
		sum.rss += vma->value[FIELD_rss];
		sum.private_dirty += vma->value[FIELD_private_dirty];
		sum.shared_dirty += vma->value[FIELD_shared_dirty];
		sum.private_clean += vma->value[FIELD_private_clean];
		sum.shared_clean += vma->value[FIELD_shared_clean];
		sum.swap += vma->value[FIELD_swap];
		sum.swap_pss += vma->value[FIELD_swap_pss];
		sum.shared_hugetlb += vma->value[FIELD_shared_hugetlb];
		sum.private_hugetlb += vma->value[FIELD_private_hugetlb];
		sum.vss += vma->end - vma->start;
		sum.vmas++;
		/* The two that Android adds up are in smaps' own kB. */
		sum.pss_floor += smaps->vma[i].value[FIELD_pss] << 10;
		sum.swap_pss_floor += smaps->vma[i].value[FIELD_swap_pss] << 10;
	}
	return sum;
}

static void same(const char *row, const char *field, u64 is, u64 should)
{
	if (is != should)
		differs("%s: %s: %llu, sum over its mappings %llu", row, field,
			is, should);
}

/*
 * The row's fixed-point number against the sum of whole bytes: each mapping
 * has lost less than a byte in the list, so the row is the sum or more, and
 * more by less than the number of mappings. Not a tolerance: all that a list
 * in bytes can tell. That the fractions are kept is in record_adds_up().
 */
static void same_proportional(const char *row, const char *field, u64 is,
			      u64 sum, u64 nr)
{
	is >>= MEMLEDGER_PSS_SHIFT;
	if (is < sum || is - sum > (nr ? nr - 1 : 0))
		differs("%s: %s: %llu, sum over its %llu mappings %llu", row,
			field, is, nr, sum);
}

/* What a row of any kind has, but for swappable_pss. */
static void compare_numbers(const char *row, const struct memledger_usage *is,
			    const struct memledger_usage *sum,
			    bool have_swap_pss)
{
	same(row, "rss", is->rss, sum->rss);
	same(row, "private_dirty", is->private_dirty, sum->private_dirty);
	same(row, "shared_dirty", is->shared_dirty, sum->shared_dirty);
	same(row, "private_clean", is->private_clean, sum->private_clean);
	same(row, "shared_clean", is->shared_clean, sum->shared_clean);
	same(row, "swap", is->swap, sum->swap);
	same(row, "vmas", is->vmas, sum->vmas);
	same_proportional(row, "pss", is->pss, sum->pss, sum->vmas);
	if (have_swap_pss)
		same_proportional(row, "swap_pss", is->swap_pss,
				  sum->swap_pss, sum->vmas);
}

static void compare_row(const char *row, const struct memledger_usage *is,
			const struct memledger_usage *sum, bool have_swap_pss)
{
	compare_numbers(row, is, sum, have_swap_pss);
	same(row, "vss", is->vss, sum->vss);
	same(row, "shared_hugetlb", is->shared_hugetlb, sum->shared_hugetlb);
	same(row, "private_hugetlb", is->private_hugetlb,
	     sum->private_hugetlb);
	same(row, "pss_floor", is->pss_floor, sum->pss_floor);
	if (have_swap_pss)
		same(row, "swap_pss_floor", is->swap_pss_floor,
		     sum->swap_pss_floor);
}

/* Which directories have which of a row's files. */
#define IN_TOTAL	0x1
#define IN_CATEGORY	0x2
#define IN_DETAIL	0x4	/* subcategory, unknown */
#define IN_ALL		(IN_TOTAL | IN_CATEGORY | IN_DETAIL)

struct row_file {
	const char *name;
	size_t offset;
	unsigned int shift;
	unsigned int where;
	bool swap_pss;
};

#define FILE_OF(field, ...) { #field, \
	offsetof(struct memledger_usage, field), __VA_ARGS__ }

static const struct row_file row_files[] = {
	FILE_OF(pss, MEMLEDGER_PSS_SHIFT, IN_ALL, false),
	FILE_OF(swappable_pss, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(rss, 0, IN_ALL, false),
	FILE_OF(private_dirty, 0, IN_ALL, false),
	FILE_OF(shared_dirty, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(private_clean, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(shared_clean, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(swap, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(swap_pss, MEMLEDGER_PSS_SHIFT, IN_ALL, true),
	FILE_OF(vss, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(vmas, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(pss_floor, 0, IN_TOTAL | IN_CATEGORY, false),
	FILE_OF(swap_pss_floor, 0, IN_TOTAL | IN_CATEGORY, true),
	FILE_OF(shared_hugetlb, 0, IN_TOTAL, false),
	FILE_OF(private_hugetlb, 0, IN_TOTAL, false),
};

static void same_file(pid_t tgid, const char *row, const char *file,
		      long long should)
{
	long long is = node_read("processes/%d/%s/%s", tgid, row, file);

	if (is != should)
		differs("%s/%s: reads %lld, record has %lld", row, file, is,
			should);
}

/* Set where the 500 files are looked at too, and not only the record. */
static bool compare_all_files;

/* Each file of a row against the record; -EOPNOTSUPP where it has no number. */
static void compare_files(pid_t tgid, const char *row, unsigned int where,
			  const struct memledger_usage *usage, bool have_row,
			  bool have_swap_pss)
{
	if (!compare_all_files)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(row_files); i++) {
		const struct row_file *file = &row_files[i];
		u64 value = *(u64 *)((char *)usage + file->offset);
		bool have = have_row && (have_swap_pss || !file->swap_pss);

		if (file->where & where)
			same_file(tgid, row, file->name,
				  have ? (long long)(value >> file->shift) :
					 -EOPNOTSUPP);
	}
	if (where & (IN_TOTAL | IN_CATEGORY))
		same_file(tgid, row, "uss",
			  have_row ? (long long)memledger_usage_uss(usage) :
				     -EOPNOTSUPP);
}

/* Whether what rows only a name of anonymous memory leads to can be told. */
static bool have_anon_names;

static bool category_exists(enum memledger_category category,
			    const char *profile)
{
	switch (category) {
	case MEMLEDGER_CAT_DALVIK_HEAP:
		return have_anon_names;
	case MEMLEDGER_CAT_DALVIK_OTHER:
		return have_anon_names || strcmp(profile, "android10");
	case MEMLEDGER_CAT_EGL_MTRACK:
	case MEMLEDGER_CAT_GL_MTRACK:
	case MEMLEDGER_CAT_OTHER_MTRACK:
		return false;
	case MEMLEDGER_CAT_MEMFD:
		return !strcmp(profile, "android17");
	default:
		return true;
	}
}

static bool subcategory_exists(enum memledger_subcategory subcategory,
			       const char *profile)
{
	bool android10 = !strcmp(profile, "android10");

	switch (subcategory) {
	case MEMLEDGER_SUB_ZYGOTE_JIT:
		return !android10;
	case MEMLEDGER_SUB_APP_JIT:
		return have_anon_names || !android10;
	case MEMLEDGER_SUB_BOOT_VDEX:
	case MEMLEDGER_SUB_APP_DEX:
	case MEMLEDGER_SUB_APP_VDEX:
	case MEMLEDGER_SUB_APP_ART:
	case MEMLEDGER_SUB_BOOT_ART:
		return true;
	default:
		return have_anon_names;
	}
}

static bool class_exists(const char *name)
{
	return have_anon_names || !strncmp(name, "unnamed_", 8);
}

/**
 * record_read() - a target's record
 * @record: gets it
 * @tgid: the target
 * Return: 0, or a negative errno: EAGAIN if others took a snapshot meanwhile,
 *	EBADMSG if it is no record
 */
int record_read(struct memledger_record *record, pid_t tgid)
{
	char path[128], buf[sizeof(*record) + 2];
	ssize_t len;

	snprintf(path, sizeof(path), NODES "processes/%d/record", tgid);
	len = file_read(path, buf, sizeof(buf));
	if (len < 0)
		return len;
	memcpy(record, buf, sizeof(*record));
	if (record->magic != MEMLEDGER_RECORD_MAGIC ||
	    record->size != sizeof(*record))
		return -EBADMSG;
	if (len != sizeof(*record) ||
	    record->generation != record->generation_end)
		return -EAGAIN;
	return 0;
}

/* Number by number, fractions too. */
static bool adds_up(const struct memledger_usage *total,
		    const struct memledger_usage *rows, int nr)
{
	struct memledger_usage sum = {};
	u64 *to = (u64 *)&sum;

	for (int i = 0; i < nr; i++) {
		const u64 *from = (const u64 *)&rows[i];

		for (size_t k = 0; k < sizeof(sum) / sizeof(u64); k++)
			to[k] += from[k];
	}
	return !memcmp(&sum, total, sizeof(sum));
}

/* The categories to the total, and the classes to Unknown. */
bool record_adds_up(const struct memledger_record *record)
{
	const struct memledger_totals *totals = &record->totals;

	return adds_up(&totals->total, totals->category,
		       NR_MEMLEDGER_CATEGORIES) &&
	       adds_up(&totals->category[MEMLEDGER_CAT_UNKNOWN],
		       totals->unknown, NR_MEMLEDGER_UNKNOWN_CLASSES);
}

static void add_name(struct memledger_usage *sum, const struct name_row *name)
{
#define X(field) sum->field += name->usage.field;
	MEMLEDGER_USAGE_FIELDS(X)
	X(vmas)
#undef X
	/* What same_proportional() takes is in bytes. */
	sum->pss -= name->usage.pss - (name->usage.pss >> MEMLEDGER_PSS_SHIFT);
	sum->swap_pss -= name->usage.swap_pss -
			 (name->usage.swap_pss >> MEMLEDGER_PSS_SHIFT);
}

/* The file's first row is Unknown itself, to the byte. */
static void compare_names_total(const struct memledger_usage *is,
				const struct memledger_usage *should)
{
	const unsigned int shift = MEMLEDGER_PSS_SHIFT;
	const char *row = "unknown: Total";

	same(row, "pss", is->pss >> shift, should->pss >> shift);
	same(row, "swappable_pss", is->swappable_pss, should->swappable_pss);
	same(row, "rss", is->rss, should->rss);
	same(row, "private_dirty", is->private_dirty, should->private_dirty);
	same(row, "shared_dirty", is->shared_dirty, should->shared_dirty);
	same(row, "private_clean", is->private_clean, should->private_clean);
	same(row, "shared_clean", is->shared_clean, should->shared_clean);
	same(row, "swap", is->swap, should->swap);
	same(row, "swap_pss", is->swap_pss >> shift,
	     should->swap_pss >> shift);
	same(row, "vmas", is->vmas, should->vmas);
}

/* Each name against its mappings, each class against its names. */
static void compare_unknown(pid_t tgid, const struct memledger_totals *totals,
			    const struct vma_list *ours,
			    const struct vma_list *smaps,
			    const struct name_list *names, bool have_swap_pss)
{
	struct memledger_usage of_class[NR_MEMLEDGER_UNKNOWN_CLASSES] = {};
	char row[256];

	compare_names_total(&names->total.usage,
			    &totals->category[MEMLEDGER_CAT_UNKNOWN]);
	for (size_t n = 0; n < names->nr; n++) {
		const struct name_row *name = &names->row[n];
		struct memledger_usage sum;
		int class = 0;

		snprintf(row, sizeof(row), "unknown: %.200s", name->name);
		sum = row_sum(ours, smaps,
			      &(struct whose){ "unknown", NULL, name });
		compare_numbers(row, &name->usage, &sum, have_swap_pss);
		while (class < NR_MEMLEDGER_UNKNOWN_CLASSES &&
		       strcmp(name->class, class_names[class]))
			class++;
		if (class == NR_MEMLEDGER_UNKNOWN_CLASSES)
			differs("%s: there is no class %s", row, name->class);
		else
			add_name(&of_class[class], name);
	}
	for (int i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++) {
		snprintf(row, sizeof(row), "unknown/%s", class_names[i]);
		compare_numbers(row, &totals->unknown[i], &of_class[i],
				have_swap_pss);
		compare_files(tgid, row, IN_DETAIL, &totals->unknown[i],
			      class_exists(class_names[i]), have_swap_pss);
	}
}

/* The App Summary's totals, which are sums that dumpsys makes. */
static void compare_summary(pid_t tgid, const struct memledger_usage *total,
			    bool have_swap_pss)
{
	if (!compare_all_files)
		return;
	same_file(tgid, "summary", "total_rss", total->rss);
	same_file(tgid, "summary", "total_swap", total->swap);
	same_file(tgid, "summary", "total_swap_pss", have_swap_pss ?
		  (long long)total->swap_pss_floor : -EOPNOTSUPP);
	if (have_swap_pss)
		same_file(tgid, "summary", "total_pss",
			  total->pss_floor + total->swap_pss_floor);
}

static void compare_totals(pid_t tgid, const struct memledger_record *record,
			   const struct vma_list *ours,
			   const struct vma_list *smaps, bool have_swap_pss)
{
	const struct memledger_totals *totals = &record->totals;
	struct memledger_usage sum;
	char row[64];

	if (!record->complete)
		differs("record: not complete");
	if (!record_adds_up(record))
		differs("record: the rows do not add up");

	sum = row_sum(ours, smaps, &(struct whose){});
	compare_row("total", &totals->total, &sum, have_swap_pss);
	compare_files(tgid, "total", IN_TOTAL, &totals->total, true,
		      have_swap_pss);

	compare_summary(tgid, &totals->total, have_swap_pss);

	for (int i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		const struct memledger_usage *is = &totals->category[i];

		snprintf(row, sizeof(row), "category/%s", category_names[i]);
		sum = row_sum(ours, smaps,
			      &(struct whose){ .category = category_names[i] });
		compare_row(row, is, &sum, have_swap_pss);
		compare_files(tgid, row, IN_CATEGORY, is,
			      category_exists(i, record->profile),
			      have_swap_pss);
	}
	for (int i = 0; i < NR_MEMLEDGER_SUBCATEGORIES; i++) {
		const struct memledger_usage *is = &totals->subcategory[i];

		snprintf(row, sizeof(row), "subcategory/%s",
			 subcategory_names[i]);
		sum = row_sum(ours, smaps,
			      &(struct whose){ .subcategory =
					       subcategory_names[i] });
		compare_row(row, is, &sum, have_swap_pss);
		compare_files(tgid, row, IN_DETAIL, is,
			      subcategory_exists(i, record->profile),
			      have_swap_pss);
	}
}

/*
 * One reading of everything, or -EAGAIN if anything changed meanwhile: the
 * snapshot lies between two readings of vmas, which show each byte, and those
 * between two of smaps.
 */
static int read_all(pid_t tgid, struct memledger_record *record,
		    struct name_list *names, struct vma_list *ours,
		    struct vma_list *smaps)
{
	struct vma_list ours_after = {}, smaps_after = {};
	int err;

	err = vmas_read_smaps(smaps, tgid);
	if (!err)
		err = vmas_read_node(ours, tgid);
	if (!err)
		err = node_refresh(tgid);
	if (!err)
		err = record_read(record, tgid);
	if (!err)
		err = names_read_node(names, tgid);
	if (!err)
		err = vmas_read_node(&ours_after, tgid);
	if (!err)
		err = vmas_read_smaps(&smaps_after, tgid);
	if (!err && !(vmas_same(smaps, &smaps_after) &&
		      vmas_same(ours, &ours_after)))
		err = -EAGAIN;
	vmas_free(&ours_after);
	vmas_free(&smaps_after);
	return err;
}

/**
 * compare_process() - whether memledger and smaps agree on a process
 * @tgid: a tracked process that holds still
 * @with_files: look at every file of the snapshot, and not only at the record
 * @smaps: gets what the kernel said, for vmas_free(); unset on failure
 *
 * Expects max_age_ms to be 0, so that no reading here takes a new snapshot.
 * Each difference is printed as a line that begins with "# ".
 * Return: how many differences there are, or a negative errno: EAGAIN for a
 *	process that does not hold still
 */
int compare_process(pid_t tgid, bool with_files, struct vma_list *smaps)
{
	bool have_swap_pss = node_read("features/swap_pss") == 1;
	struct memledger_record record;
	struct name_list names;
	struct vma_list ours;
	int err;

	have_anon_names = node_read("features/anon_names") == 1;
	/* Whatever shares pages with it may need a moment to settle. */
	for (int try = 0;; try++) {
		memset(&ours, 0, sizeof(ours));
		memset(&names, 0, sizeof(names));
		memset(smaps, 0, sizeof(*smaps));
		err = read_all(tgid, &record, &names, &ours, smaps);
		if (!err)
			break;
		names_free(&names);
		vmas_free(&ours);
		vmas_free(smaps);
		if (err != -EAGAIN || try == 50)
			return err;
		usleep(20000);
	}

	nr_differences = 0;
	compare_all_files = with_files;
	if (!ours.complete)
		differs("vmas: incomplete");
	if (ours.nr != smaps->nr)
		differs("memledger has %zu mappings, smaps %zu", ours.nr,
			smaps->nr);
	for (size_t i = 0; i < ours.nr && i < smaps->nr; i++)
		compare_vma(&ours.vma[i], &smaps->vma[i], have_swap_pss);
	if (ours.nr == smaps->nr) {
		compare_totals(tgid, &record, &ours, smaps, have_swap_pss);
		compare_unknown(tgid, &record.totals, &ours, smaps, &names,
				have_swap_pss);
	}
	names_free(&names);
	vmas_free(&ours);
	return nr_differences;
}

/* Whether the tool can be run. */
bool compare_has_tool(void)
{
	return !system("memledger --version > /dev/null 2>&1");
}

static void trim(char *line)
{
	size_t len = strlen(line);

	while (len && line[len - 1] == ' ')
		line[--len] = '\0';
}

static char *last_word(char *line)
{
	char *blank;

	trim(line);
	blank = strrchr(line, ' ');
	if (!blank)
		return NULL;
	*blank = '\0';
	return blank + 1;
}

/* "[anon:a name]   1 2 3 4 5 6 7 8 9 10  class": from its end, in kB. */
static bool parse_tool_row(char *line, struct name_row *row)
{
	u64 *const numbers[] = {
#define X(field) &row->usage.field,
		MEMLEDGER_USAGE_FIELDS(X)
		X(vmas)
#undef X
	};
	char *word, *end;

	memset(row, 0, sizeof(*row));
	row->class = last_word(line);
	if (!row->class)
		return false;
	for (int i = ARRAY_SIZE(numbers) - 1; i >= 0; i--) {
		word = last_word(line);
		if (!word)
			return false;
		*numbers[i] = strtoull(word, &end, 10);
		if (*end && strcmp(word, "-"))
			return false;
	}
	trim(line);
	row->name = line;
	return true;
}

/* smaps is in kB, and so is the tool's table of it. */
static void compare_tool_row(const struct name_row *row,
			     const struct memledger_usage *sum)
{
	char name[256];

	snprintf(name, sizeof(name), "tool: %.200s", row->name);
	same(name, "pss", row->usage.pss, sum->pss_floor >> 10);
	same(name, "swap_pss", row->usage.swap_pss, sum->swap_pss_floor >> 10);
	same(name, "vmas", row->usage.vmas, sum->vmas);
#define X(field) same(name, #field, row->usage.field, sum->field >> 10);
	X(rss)
	X(private_dirty)
	X(shared_dirty)
	X(private_clean)
	X(shared_clean)
	X(swap)
#undef X
}

/* The rows of the tool's table against the mappings. */
static void compare_table(char *text, const struct vma_list *ours,
			  const struct vma_list *smaps)
{
	bool in_table = false;
	u64 vmas = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		struct memledger_usage sum;
		struct name_row row;

		if (!in_table || !*line) {
			/* The rows are between the total and a blank line. */
			in_table = !strncmp(line, "Total ", 6);
			continue;
		}
		if (!parse_tool_row(line, &row)) {
			differs("tool: cannot read \"%s\"", line);
			continue;
		}
		sum = row_sum(ours, smaps,
			      &(struct whose){ "unknown", NULL, &row });
		compare_tool_row(&row, &sum);
		vmas += row.usage.vmas;
	}
	same("tool", "vmas", vmas,
	     row_sum(ours, smaps, &(struct whose){ "unknown" }).vmas);
}

/* Return: what a command prints, for free(), or NULL if it fails. */
static char *output_of(const char *command)
{
	FILE *pipe = popen(command, "r");
	size_t room = 0, len = 0;
	char *text = NULL;

	if (!pipe)
		return NULL;
	len = getdelim(&text, &room, '\0', pipe);
	if (!pclose(pipe) && (ssize_t)len > 0)
		return text;
	free(text);
	return NULL;
}

/**
 * compare_tool() - whether the tool makes of a text what memledger has
 * @tgid: a tracked process that holds still
 *
 * The row Unknown by name, of the process's smaps taken as a text.
 * Return: as compare_process()
 */
int compare_tool(pid_t tgid)
{
	struct vma_list ours = {}, smaps = {}, after = {};
	char command[128];
	char *text = NULL;
	int err;

	snprintf(command, sizeof(command),
		 "memledger unknown /proc/%d/smaps --by name", tgid);
	/* We may have had pages in common with it, before we ran the tool. */
	for (int try = 0; try < 50; try++) {
		err = vmas_read_smaps(&smaps, tgid);
		if (!err)
			err = vmas_read_node(&ours, tgid);
		if (!err) {
			text = output_of(command);
			err = text ? vmas_read_smaps(&after, tgid) : -EIO;
		}
		if (!err && (!vmas_same(&smaps, &after) ||
			     ours.nr != smaps.nr))
			err = -EAGAIN;
		vmas_free(&after);
		if (err != -EAGAIN)
			break;
		free(text);
		text = NULL;
		vmas_free(&ours);
		vmas_free(&smaps);
	}

	nr_differences = 0;
	if (!err)
		compare_table(text, &ours, &smaps);
	free(text);
	vmas_free(&ours);
	vmas_free(&smaps);
	return err ? err : (int)nr_differences;
}
