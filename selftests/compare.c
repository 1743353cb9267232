// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares a tracked process's numbers with /proc/TGID/smaps: each field of
 * each mapping, and the sums in every row that is exported. No tolerance: a
 * reading counts only if smaps is the same before and after.
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

/* What a row of the table should hold, from the list of mappings. */
static struct memledger_usage row_sum(const struct vma_list *ours,
				      const struct vma_list *smaps,
				      const char *category,
				      const char *subcategory)
{
	struct memledger_usage sum = {};

	for (size_t i = 0; i < ours->nr; i++) {
		const struct vma *vma = &ours->vma[i];

		if ((category && strcmp(vma->category, category)) ||
		    (subcategory && strcmp(vma->subcategory, subcategory)))
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
 * in bytes can tell. That the fractions are kept is in compare_record().
 */
static void same_proportional(const char *row, const char *field, u64 is,
			      u64 sum, u64 nr)
{
	is >>= MEMLEDGER_PSS_SHIFT;
	if (is < sum || is - sum > (nr ? nr - 1 : 0))
		differs("%s: %s: %llu, sum over its %llu mappings %llu", row,
			field, is, nr, sum);
}

static void compare_row(const char *row, const struct memledger_usage *is,
			const struct memledger_usage *sum, bool have_swap_pss)
{
	same(row, "rss", is->rss, sum->rss);
	same(row, "private_dirty", is->private_dirty, sum->private_dirty);
	same(row, "shared_dirty", is->shared_dirty, sum->shared_dirty);
	same(row, "private_clean", is->private_clean, sum->private_clean);
	same(row, "shared_clean", is->shared_clean, sum->shared_clean);
	same(row, "swap", is->swap, sum->swap);
	same(row, "vss", is->vss, sum->vss);
	same(row, "vmas", is->vmas, sum->vmas);
	same(row, "shared_hugetlb", is->shared_hugetlb, sum->shared_hugetlb);
	same(row, "private_hugetlb", is->private_hugetlb,
	     sum->private_hugetlb);
	same(row, "pss_floor", is->pss_floor, sum->pss_floor);
	same_proportional(row, "pss", is->pss, sum->pss, sum->vmas);
	if (have_swap_pss) {
		same(row, "swap_pss_floor", is->swap_pss_floor,
		     sum->swap_pss_floor);
		same_proportional(row, "swap_pss", is->swap_pss,
				  sum->swap_pss, sum->vmas);
	}
}

/* Which directories have which of a row's files. */
#define IN_TOTAL	0x1
#define IN_CATEGORY	0x2
#define IN_SUBCATEGORY	0x4
#define IN_ALL		(IN_TOTAL | IN_CATEGORY | IN_SUBCATEGORY)

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

/* Set where the 400 files are looked at too, and not only the record. */
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

static bool category_exists(enum memledger_category category,
			    const char *profile)
{
	switch (category) {
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

static int record_read(struct memledger_record *record, pid_t tgid)
{
	char path[128], buf[sizeof(*record) + 2];
	ssize_t len;

	snprintf(path, sizeof(path), NODES "processes/%d/record", tgid);
	len = file_read(path, buf, sizeof(buf));
	if (len < 0)
		return len;
	memcpy(record, buf, sizeof(*record));
	if (len != sizeof(*record) || record->magic != MEMLEDGER_RECORD_MAGIC ||
	    record->size != sizeof(*record) ||
	    record->generation != record->generation_end)
		return -EBADMSG;
	return 0;
}

/* The total is the sum of the categories, number by number, fractions too. */
static void compare_record(const struct memledger_totals *totals)
{
	struct memledger_usage sum = {};
	u64 *to = (u64 *)&sum;

	for (int i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		const u64 *from = (const u64 *)&totals->category[i];

		for (size_t k = 0; k < sizeof(sum) / sizeof(u64); k++)
			to[k] += from[k];
	}
	if (memcmp(&sum, &totals->total, sizeof(sum)))
		differs("record: the categories do not add up to the total");
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
	bool have_zygote_jit = strcmp(record->profile, "android10");
	struct memledger_usage sum;
	char row[64];

	if (!record->complete)
		differs("record: not complete");
	compare_record(totals);

	sum = row_sum(ours, smaps, NULL, NULL);
	compare_row("total", &totals->total, &sum, have_swap_pss);
	compare_files(tgid, "total", IN_TOTAL, &totals->total, true,
		      have_swap_pss);

	compare_summary(tgid, &totals->total, have_swap_pss);

	for (int i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		const struct memledger_usage *is = &totals->category[i];

		snprintf(row, sizeof(row), "category/%s", category_names[i]);
		sum = row_sum(ours, smaps, category_names[i], NULL);
		compare_row(row, is, &sum, have_swap_pss);
		compare_files(tgid, row, IN_CATEGORY, is,
			      category_exists(i, record->profile),
			      have_swap_pss);
	}
	for (int i = 0; i < NR_MEMLEDGER_SUBCATEGORIES; i++) {
		const struct memledger_usage *is = &totals->subcategory[i];

		snprintf(row, sizeof(row), "subcategory/%s",
			 subcategory_names[i]);
		sum = row_sum(ours, smaps, NULL, subcategory_names[i]);
		compare_row(row, is, &sum, have_swap_pss);
		compare_files(tgid, row, IN_SUBCATEGORY, is,
			      i != MEMLEDGER_SUB_ZYGOTE_JIT || have_zygote_jit,
			      have_swap_pss);
	}
}

/*
 * One reading of everything, or -EAGAIN if anything changed meanwhile: the
 * snapshot lies between two readings of vmas, which show each byte, and those
 * between two of smaps.
 */
static int read_all(pid_t tgid, struct memledger_record *record,
		    struct vma_list *ours, struct vma_list *smaps)
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
	struct vma_list ours;
	int err;

	/* Whatever shares pages with it may need a moment to settle. */
	for (int try = 0;; try++) {
		memset(&ours, 0, sizeof(ours));
		memset(smaps, 0, sizeof(*smaps));
		err = read_all(tgid, &record, &ours, smaps);
		if (!err)
			break;
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
	if (ours.nr == smaps->nr)
		compare_totals(tgid, &record, &ours, smaps, have_swap_pss);
	vmas_free(&ours);
	return nr_differences;
}
