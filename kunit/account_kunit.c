// SPDX-License-Identifier: GPL-2.0-only
/*
 * Facts about pages in, the fields of smaps and the rows of meminfo out:
 * account.c, with all expectations worked out by hand.
 */
#include <kunit/test.h>

#include "../module/lib/account.c"

#include "expect.h"

#define KB		1024ULL
#define PAGE		(4 * KB)
#define SHIFT		MEMLEDGER_PSS_SHIFT

#define DIRTY		MEMLEDGER_ENTRY_DIRTY
#define PRIVATE		MEMLEDGER_ENTRY_PRIVATE
#define LOCKED		MEMLEDGER_ENTRY_LOCKED
#define ANON		MEMLEDGER_ENTRY_ANON
#define LAZYFREE	MEMLEDGER_ENTRY_LAZYFREE
#define KSM		MEMLEDGER_ENTRY_KSM

static void expect_usage_eq(struct kunit *test, const char *what,
			    const struct memledger_usage *have,
			    const struct memledger_usage *want)
{
#define X(field)							\
	KUNIT_EXPECT_EQ_MSG(test, have->field, want->field, "%s: %s",	\
			    what, #field);
	MEMLEDGER_USAGE_FIELDS(X)
	X(pss_floor)
	X(swap_pss_floor)
	X(vss)
	X(vmas)
	X(shared_hugetlb)
	X(private_hugetlb)
#undef X
}

struct resident_case {
	const char *desc;
	struct memledger_entry entry;
	struct memledger_vma_usage want;
};

/* A share of a page: rounded down to 1/4096 byte once a page. */
#define THIRD		5592405ULL	/* 2^24 / 3 */
#define SEVENTH		2396745ULL	/* 2^24 / 7 */

static const struct resident_case resident_cases[] = {
	{
		"shared clean, mapcount 0",
		{ PAGE, 1, 0, 0 },
		{ .rss = PAGE, .pss = PAGE << SHIFT, .shared_clean = PAGE },
	}, {
		"shared clean, mapcount 1",
		{ PAGE, 1, 1, 0 },
		{ .rss = PAGE, .pss = PAGE << SHIFT, .shared_clean = PAGE },
	}, {
		"shared clean, mapcount 2",
		{ PAGE, 1, 2, 0 },
		{ .rss = PAGE, .pss = 2 * KB << SHIFT, .shared_clean = PAGE },
	}, {
		"shared clean, mapcount 3",
		{ PAGE, 1, 3, 0 },
		{ .rss = PAGE, .pss = THIRD, .shared_clean = PAGE },
	}, {
		"shared clean, mapcount 7",
		{ PAGE, 1, 7, 0 },
		{ .rss = PAGE, .pss = SEVENTH, .shared_clean = PAGE },
	}, {
		"shared clean, mapcount 2^24: the last one with a share",
		{ PAGE, 1, 1 << 24, 0 },
		{ .rss = PAGE, .pss = 1, .shared_clean = PAGE },
	}, {
		"shared clean, mapcount 2^24 + 1",
		{ PAGE, 1, (1 << 24) + 1, 0 },
		{ .rss = PAGE, .pss = 0, .shared_clean = PAGE },
	}, {
		"shared clean, largest mapcount",
		{ PAGE, 1, U32_MAX, 0 },
		{ .rss = PAGE, .pss = 0, .shared_clean = PAGE },
	}, {
		"shared dirty",
		{ PAGE, 1, 3, DIRTY },
		{ .rss = PAGE, .pss = THIRD, .pss_dirty = THIRD,
		  .shared_dirty = PAGE },
	}, {
		"private clean",
		{ PAGE, 1, 1, PRIVATE },
		{ .rss = PAGE, .pss = PAGE << SHIFT, .private_clean = PAGE },
	}, {
		"private dirty",
		{ PAGE, 1, 1, PRIVATE | DIRTY },
		{ .rss = PAGE, .pss = PAGE << SHIFT,
		  .pss_dirty = PAGE << SHIFT, .private_dirty = PAGE },
	}, {
		"private, but divided: the two are separate facts",
		{ PAGE, 1, 2, PRIVATE | DIRTY },
		{ .rss = PAGE, .pss = 2 * KB << SHIFT,
		  .pss_dirty = 2 * KB << SHIFT, .private_dirty = PAGE },
	}, {
		"anonymous",
		{ PAGE, 1, 1, PRIVATE | DIRTY | ANON },
		{ .rss = PAGE, .pss = PAGE << SHIFT,
		  .pss_dirty = PAGE << SHIFT, .private_dirty = PAGE,
		  .anonymous = PAGE },
	}, {
		"anonymous, shared after fork",
		{ PAGE, 1, 2, DIRTY | ANON },
		{ .rss = PAGE, .pss = 2 * KB << SHIFT,
		  .pss_dirty = 2 * KB << SHIFT, .shared_dirty = PAGE,
		  .anonymous = PAGE },
	}, {
		"lazyfree",
		{ PAGE, 1, 1, PRIVATE | ANON | LAZYFREE },
		{ .rss = PAGE, .pss = PAGE << SHIFT, .private_clean = PAGE,
		  .anonymous = PAGE, .lazyfree = PAGE },
	}, {
		"KSM",
		{ PAGE, 1, 7, ANON | KSM },
		{ .rss = PAGE, .pss = SEVENTH, .shared_clean = PAGE,
		  .anonymous = PAGE, .ksm = PAGE },
	}, {
		"locked, private",
		{ PAGE, 1, 1, PRIVATE | LOCKED },
		{ .rss = PAGE, .pss = PAGE << SHIFT, .private_clean = PAGE,
		  .locked = PAGE << SHIFT },
	}, {
		"locked counts the share, not the page",
		{ PAGE, 1, 3, DIRTY | LOCKED },
		{ .rss = PAGE, .pss = THIRD, .pss_dirty = THIRD,
		  .shared_dirty = PAGE, .locked = THIRD },
	}, {
		"everything at once",
		{ PAGE, 1, 3, LOCKED | ANON | LAZYFREE | KSM },
		{ .rss = PAGE, .pss = THIRD, .shared_clean = PAGE,
		  .anonymous = PAGE, .lazyfree = PAGE, .ksm = PAGE,
		  .locked = THIRD },
	}, {
		"a batch divides page by page",
		{ PAGE, 512, 3, DIRTY | ANON | LOCKED },
		{ .rss = 512 * PAGE, .pss = 512 * THIRD,
		  .pss_dirty = 512 * THIRD, .shared_dirty = 512 * PAGE,
		  .anonymous = 512 * PAGE, .locked = 512 * THIRD },
	}, {
		"a large page divides as a whole",
		{ 512 * PAGE, 1, 3, 0 },
		{ .rss = 512 * PAGE, .pss = (512 * PAGE << SHIFT) / 3,
		  .shared_clean = 512 * PAGE },
	}, {
		"16 kB pages",
		{ 16 * KB, 3, 7, 0 },
		{ .rss = 48 * KB, .pss = 3 * 9586980ULL,
		  .shared_clean = 48 * KB },
	}, {
		"more than 4 GB",
		{ 1ULL << 30, 6, 2, DIRTY },
		{ .rss = 6ULL << 30, .pss = (3ULL << 30) << SHIFT,
		  .pss_dirty = (3ULL << 30) << SHIFT,
		  .shared_dirty = 6ULL << 30 },
	}, {
		"no pages",
		{ PAGE, 0, 3, DIRTY | ANON | LOCKED | KSM },
		{ .rss = 0 },
	},
};

static void resident_desc(const struct resident_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(resident, resident_cases, resident_desc);

static void resident_test(struct kunit *test)
{
	const struct resident_case *c = test->param_value;
	struct memledger_vma_usage usage = {};

	memledger_account_resident(&usage, &c->entry);
	memledger_expect_vma(test, c->desc, &usage, &c->want);
}

/* Facts about nr pages are as good as nr times the facts about one. */
static void batch_test(struct kunit *test)
{
	static const u32 mapcounts[] = { 0, 1, 2, 3, 7, 1000, 1 << 23 };
	struct memledger_entry entry = { .bytes = PAGE };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(mapcounts); i++) {
		for (entry.flags = 0; entry.flags < 0x40; entry.flags++) {
			struct memledger_vma_usage batch = {}, single = {};

			entry.mapcount = mapcounts[i];
			entry.nr = 37;
			memledger_account_resident(&batch, &entry);
			entry.nr = 1;
			for (j = 0; j < 37; j++)
				memledger_account_resident(&single, &entry);
			KUNIT_ASSERT_EQ_MSG(test, batch.rss, 37 * PAGE,
					    "mapcount %u, flags 0x%x",
					    entry.mapcount, entry.flags);
			memledger_expect_vma(test, "batch", &batch, &single);
		}
	}
}

/* To count pages first and add them up later is the same as to add each. */
static void tally_test(struct kunit *test)
{
	static const u32 mapcounts[] = { 1, 2, 3, 7, 1000, 1 << 23, U32_MAX };
	static const u32 common[] = { 0, LOCKED };
	struct memledger_tally *tally;
	unsigned int i, j, k;
	u32 facts;

	tally = kunit_kzalloc(test, sizeof(*tally), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tally);
	for (k = 0; k < ARRAY_SIZE(common); k++) {
		struct memledger_vma_usage counted = {}, added = {};

		for (facts = 0; facts < MEMLEDGER_NR_TALLIES; facts++) {
			for (i = 0; i < ARRAY_SIZE(mapcounts); i++) {
				struct memledger_entry entry = {
					.bytes = PAGE,
					.nr = facts % 5 + i,
					.mapcount = mapcounts[i],
					.flags = facts | common[k],
				};
				u64 others = (PAGE << SHIFT) -
					     (PAGE << SHIFT) / mapcounts[i];

				memledger_account_resident(&added, &entry);
				for (j = 0; j < entry.nr; j++)
					memledger_tally_pages(tally, facts, 1,
							      others);
				/* None of them is none. */
				memledger_tally_pages(tally, facts, 0, 0);
			}
		}
		memledger_account_tally(&counted, tally, PAGE, common[k]);
		memledger_expect_vma(test, "counted", &counted, &added);

		/* It is empty now. */
		memledger_account_tally(&counted, tally, PAGE, common[k]);
		memledger_expect_vma(test, "again", &counted, &added);
	}
}

/* All sharers together lose less than 1/4096 byte a page and sharer. */
static void pss_error_test(struct kunit *test)
{
	static const u32 mapcounts[] = { 1, 2, 3, 7, 11, 255, 4099, 65537 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mapcounts); i++) {
		const struct memledger_entry entry = {
			PAGE, 1000, mapcounts[i], 0,
		};
		struct memledger_vma_usage usage = {};
		u64 all;

		memledger_account_resident(&usage, &entry);
		all = usage.pss * mapcounts[i];
		KUNIT_EXPECT_LE(test, all, 1000 * PAGE << SHIFT);
		KUNIT_EXPECT_GT(test, all + 1000ULL * mapcounts[i],
				1000 * PAGE << SHIFT);
	}
}

struct swap_case {
	const char *desc;
	u64 bytes;
	u32 swapcount;
	u64 swap_pss;
};

static const struct swap_case swap_cases[] = {
	{ "share not known", PAGE, 0, 0 },
	{ "one user", PAGE, 1, PAGE << SHIFT },
	{ "two users", PAGE, 2, 2 * KB << SHIFT },
	{ "three users", PAGE, 3, THIRD },
	{ "seven users", PAGE, 7, SEVENTH },
	{ "most users", PAGE, U32_MAX, 0 },
	{ "large, one user", 512 * PAGE, 1, 512 * PAGE << SHIFT },
};

static void swap_desc(const struct swap_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(swap, swap_cases, swap_desc);

static void swap_test(struct kunit *test)
{
	const struct swap_case *c = test->param_value;
	const struct memledger_vma_usage want = {
		.swap = c->bytes, .swap_pss = c->swap_pss,
	};
	const struct memledger_vma_usage twice = {
		.swap = 2 * c->bytes, .swap_pss = 2 * c->swap_pss,
	};
	struct memledger_vma_usage usage = {};

	memledger_account_swap(&usage, c->bytes, c->swapcount);
	memledger_expect_vma(test, c->desc, &usage, &want);
	memledger_account_swap(&usage, c->bytes, c->swapcount);
	memledger_expect_vma(test, c->desc, &usage, &twice);
}

/* A VMA in which no two fields are alike. */
static const struct memledger_vma_usage distinct = {
	.size = 1009 * KB,
	.rss = 101 * KB,
	.pss = (97 * KB << SHIFT) + 5,
	.pss_dirty = 89 * KB << SHIFT,
	.shared_clean = 83 * KB,
	.shared_dirty = 79 * KB,
	.private_clean = 11 * KB,
	.private_dirty = 7 * KB,
	.anonymous = 73 * KB,
	.ksm = 71 * KB,
	.lazyfree = 67 * KB,
	.anon_huge = 61 * KB,
	.shmem_pmd_mapped = 59 * KB,
	.file_pmd_mapped = 53 * KB,
	.shared_hugetlb = 47 * KB,
	.private_hugetlb = 43 * KB,
	.swap = 41 * KB,
	.swap_pss = (37 * KB << SHIFT) + (KB << SHIFT) - 1,
	.locked = 31 * KB << SHIFT,
};

/* The row of @distinct, @swappable_pss aside. */
static const struct memledger_usage distinct_row = {
	.pss = (97 * KB << SHIFT) + 5,
	.rss = 101 * KB,
	.private_dirty = 7 * KB,
	.shared_dirty = 79 * KB,
	.private_clean = 11 * KB,
	.shared_clean = 83 * KB,
	.swap = 41 * KB,
	.swap_pss = (38 * KB << SHIFT) - 1,
	.pss_floor = 97 * KB,
	.swap_pss_floor = 37 * KB,
	.vss = 1009 * KB,
	.vmas = 1,
	.shared_hugetlb = 47 * KB,
	.private_hugetlb = 43 * KB,
};

static void usage_add_test(struct kunit *test)
{
	struct memledger_usage want = distinct_row;
	struct memledger_usage usage = {};

	memledger_usage_add(&usage, &distinct, false);
	expect_usage_eq(test, "not swappable", &usage, &want);
	KUNIT_EXPECT_EQ(test, memledger_usage_uss(&usage), 18 * KB);

	/* (97 - 18) / (83 + 79) is 0, so that only what is private counts. */
	memset(&usage, 0, sizeof(usage));
	want.swappable_pss = 11 * KB;
	memledger_usage_add(&usage, &distinct, true);
	expect_usage_eq(test, "swappable", &usage, &want);

	/* Twice: pss keeps the fraction, and each floor loses its own. */
	memledger_usage_add(&usage, &distinct, true);
	want = (struct memledger_usage) {
		.pss = (194 * KB << SHIFT) + 10,
		.swappable_pss = 22 * KB,
		.rss = 202 * KB,
		.private_dirty = 14 * KB,
		.shared_dirty = 158 * KB,
		.private_clean = 22 * KB,
		.shared_clean = 166 * KB,
		.swap = 82 * KB,
		.swap_pss = (76 * KB << SHIFT) - 2,
		.pss_floor = 194 * KB,
		.swap_pss_floor = 74 * KB,
		.vss = 2018 * KB,
		.vmas = 2,
		.shared_hugetlb = 94 * KB,
		.private_hugetlb = 86 * KB,
	};
	expect_usage_eq(test, "twice", &usage, &want);
}

struct floor_case {
	u64 pss;
	u64 floor;
};

static void floor_test(struct kunit *test)
{
	static const struct floor_case cases[] = {
		{ 0, 0 },
		{ 1, 0 },
		{ (KB << SHIFT) - 1, 0 },
		{ KB << SHIFT, KB },
		{ (KB << SHIFT) + 1, KB },
		{ (2 * KB << SHIFT) - 1, KB },
		{ THIRD, KB },
		{ SEVENTH, 0 },
		{ ((1ULL << 40) << SHIFT) - 1, (1ULL << 40) - KB },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct memledger_vma_usage pss = { .pss = cases[i].pss };
		const struct memledger_vma_usage swap = {
			.swap_pss = cases[i].pss,
		};
		struct memledger_usage usage = {};

		memledger_usage_add(&usage, &pss, false);
		KUNIT_EXPECT_EQ(test, usage.pss, cases[i].pss);
		KUNIT_EXPECT_EQ(test, usage.pss_floor, cases[i].floor);
		memledger_usage_add(&usage, &swap, false);
		KUNIT_EXPECT_EQ(test, usage.pss_floor, cases[i].floor);
		KUNIT_EXPECT_EQ(test, usage.swap_pss, cases[i].pss);
		KUNIT_EXPECT_EQ(test, usage.swap_pss_floor, cases[i].floor);
	}
}

/* What adding smaps' kB loses, and we do not: 1142 kB, of which it sees 0. */
static void many_small_vmas_test(struct kunit *test)
{
	const struct memledger_entry entry = { PAGE, 1, 7, 0 };
	struct memledger_vma_usage vma = { .size = PAGE };
	struct memledger_usage usage = {};
	unsigned int i;

	memledger_account_resident(&vma, &entry);
	for (i = 0; i < 2000; i++)
		memledger_usage_add(&usage, &vma, false);
	KUNIT_EXPECT_EQ(test, usage.vmas, 2000ULL);
	KUNIT_EXPECT_EQ(test, usage.rss, 8000 * KB);
	KUNIT_EXPECT_EQ(test, usage.pss, 2000 * SEVENTH);
	KUNIT_EXPECT_EQ(test, usage.pss >> SHIFT >> 10, 1142ULL);
	KUNIT_EXPECT_EQ(test, usage.pss_floor, 0ULL);
}

struct swappable_case {
	const char *desc;
	u64 pss;		/* bytes << SHIFT */
	u64 shared_clean;
	u64 shared_dirty;
	u64 private_clean;
	u64 private_dirty;
	u64 swappable_pss;
};

#define PSS(kb)		((kb) * KB << SHIFT)

static const struct swappable_case swappable_cases[] = {
	{ "nothing", 0, 0, 0, 0, 0, 0 },
	{ "private only", PSS(12), 0, 0, 8 * KB, 4 * KB, 8 * KB },
	{ "private dirty only", PSS(12), 0, 0, 0, 12 * KB, 0 },
	{ "half shared", PSS(6), 4 * KB, 0, 4 * KB, 0, 4 * KB },
	{ "shared clean only", PSS(2), 4 * KB, 0, 0, 0, 0 },
	{ "just under the whole", PSS(4) - 1, 4 * KB, 0, 0, 0, 0 },
	{ "shared, but all ours", PSS(4), 4 * KB, 0, 0, 0, 4 * KB },
	{ "shared, all ours, and private", PSS(9), 4 * KB, 0, 3 * KB, 2 * KB,
	  7 * KB },
	{ "shared dirty, all ours", PSS(8), 4 * KB, 4 * KB, 0, 0, 4 * KB },
	{ "not all of shared dirty ours", PSS(7), 4 * KB, 4 * KB, 0, 0, 0 },
	{ "twice what is shared", PSS(8), 4 * KB, 0, 0, 0, 8 * KB },
	{ "two and a half times", PSS(10), 4 * KB, 0, 0, 0, 8 * KB },
	{ "no whole kB of PSS", PSS(1) - 1, 4 * KB, 0, 4 * KB, 0, 0 },
	{ "PSS of the smallest whole kB", PSS(1), 4 * KB, 0, 0, 0, 0 },
};

static void swappable_desc(const struct swappable_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(swappable, swappable_cases, swappable_desc);

static void swappable_test(struct kunit *test)
{
	const struct swappable_case *c = test->param_value;
	const struct memledger_vma_usage vma = {
		.pss = c->pss,
		.shared_clean = c->shared_clean,
		.shared_dirty = c->shared_dirty,
		.private_clean = c->private_clean,
		.private_dirty = c->private_dirty,
	};
	struct memledger_usage usage = {};

	memledger_usage_add(&usage, &vma, true);
	KUNIT_EXPECT_EQ(test, usage.swappable_pss, c->swappable_pss);

	memset(&usage, 0, sizeof(usage));
	memledger_usage_add(&usage, &vma, false);
	KUNIT_EXPECT_EQ(test, usage.swappable_pss, 0ULL);
}

/*
 * A text whose PSS is less than what is private (none of the kernel's is)
 * must not become an enormous figure.
 */
static void swappable_doctored_test(struct kunit *test)
{
	const struct memledger_vma_usage vma = {
		.pss = PSS(2652),
		.shared_clean = 840 * KB,
		.shared_dirty = 40 * KB,
		.private_clean = 84 * KB,
		.private_dirty = 2652 * KB,
	};
	struct memledger_usage usage = {};

	memledger_usage_add(&usage, &vma, true);
	KUNIT_EXPECT_EQ(test, usage.swappable_pss, 84 * KB);
}

struct alike_case {
	u32 nr_private;
	u32 nr_shared;
	u32 mapcount;
};

static void expect_alike(struct kunit *test, const struct alike_case *c,
			 u32 facts, bool swappable)
{
	u64 private = c->nr_private * PAGE, shared = c->nr_shared * PAGE;
	u64 share = (PAGE << SHIFT) / c->mapcount;
	const struct memledger_alike alike = {
		.facts = facts,
		.nr_private = c->nr_private,
		.nr_shared = c->nr_shared,
		.others = c->nr_shared * ((PAGE << SHIFT) - share),
	};
	struct memledger_vma_usage vma = { .size = 9 * PAGE };
	struct memledger_usage usage = {}, want = {};

	memledger_account_alike(&vma, private, private << SHIFT,
				facts | PRIVATE);
	memledger_account_alike(&vma, shared, c->nr_shared * share,
				facts & ~PRIVATE);
	memledger_usage_add(&want, &vma, swappable);
	memledger_usage_add_alike(&usage, &alike, PAGE, 9 * PAGE, swappable);
	expect_usage_eq(test, "alike", &usage, &want);
}

/* Pages that are alike need not be added to the VMA's numbers first. */
static void alike_test(struct kunit *test)
{
	static const struct alike_case cases[] = {
		{ 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 0, 1, 2 },
		{ 0, 1, 7 }, { 2, 1, 3 }, { 1, 2, 1 }, { 1000, 1, 4096 },
		{ 0, 1000, 5000 }, { 3, 1000, 1 << 25 }, { 0, 3, 1 << 25 },
	};
	unsigned int i;
	u32 facts;

	for (facts = 0; facts < MEMLEDGER_NR_TALLIES; facts++) {
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			expect_alike(test, &cases[i], facts, false);
			expect_alike(test, &cases[i], facts, true);
		}
	}
}

struct totals_case {
	u8 category;
	u8 subcategory;
	u8 unknown;
	bool swappable;
};

#define NO_CLASS	MEMLEDGER_UNKNOWN_NONE

/*
 * A VMA adds to the total, its category, and its sub-category or class of
 * Unknown, nowhere else.
 */
static void totals_test(struct kunit *test)
{
	static const struct totals_case cases[] = {
		{ MEMLEDGER_CAT_UNKNOWN, MEMLEDGER_SUB_NONE,
		  MEMLEDGER_UNKNOWN_LINKER, false },
		{ MEMLEDGER_CAT_UNKNOWN, MEMLEDGER_SUB_NONE,
		  MEMLEDGER_UNKNOWN_NAMED_OTHER, true },
		{ MEMLEDGER_CAT_DALVIK_HEAP, MEMLEDGER_SUB_HEAP, NO_CLASS,
		  false },
		{ MEMLEDGER_CAT_ART_MMAP, MEMLEDGER_SUB_BOOT_ART, NO_CLASS,
		  true },
		{ MEMLEDGER_CAT_SO_MMAP, MEMLEDGER_SUB_NONE, NO_CLASS, true },
		{ MEMLEDGER_CAT_SO_MMAP, MEMLEDGER_SUB_NONE, NO_CLASS, false },
		{ MEMLEDGER_CAT_MEMFD, MEMLEDGER_SUB_NONE, NO_CLASS, false },
	};
	struct memledger_totals *totals, *want;
	unsigned int i, j;

	totals = kunit_kzalloc(test, sizeof(*totals), GFP_KERNEL);
	want = kunit_kzalloc(test, sizeof(*want), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, totals);
	KUNIT_ASSERT_NOT_NULL(test, want);

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct totals_case *c = &cases[i];
		const struct memledger_verdict verdict = {
			.category = c->category,
			.subcategory = c->subcategory,
			.unknown = c->unknown,
			.swappable = c->swappable,
			.row = memledger_row(c->category, c->subcategory,
					     c->unknown),
		};
		struct memledger_usage *row = &want->category[c->category];

		memledger_usage_add(memledger_totals_row(totals, &verdict),
				    &distinct, c->swappable);

		memledger_usage_add(&want->total, &distinct, c->swappable);
		memledger_usage_add(row, &distinct, c->swappable);
		if (c->subcategory != MEMLEDGER_SUB_NONE) {
			row = &want->subcategory[c->subcategory];
			memledger_usage_add(row, &distinct, c->swappable);
		}
		if (c->unknown != NO_CLASS) {
			row = &want->unknown[c->unknown];
			memledger_usage_add(row, &distinct, c->swappable);
		}
	}

	memledger_totals_sum(totals);
	expect_usage_eq(test, "total", &totals->total, &want->total);
	KUNIT_EXPECT_EQ(test, totals->total.vmas, 7ULL);
	KUNIT_EXPECT_EQ(test, totals->total.rss, 707 * KB);
	KUNIT_EXPECT_EQ(test, totals->total.swappable_pss, 33 * KB);
	for (j = 0; j < NR_MEMLEDGER_CATEGORIES; j++)
		expect_usage_eq(test, "category", &totals->category[j],
				&want->category[j]);
	for (j = 0; j < NR_MEMLEDGER_SUBCATEGORIES; j++)
		expect_usage_eq(test, "subcategory", &totals->subcategory[j],
				&want->subcategory[j]);
	for (j = 0; j < NR_MEMLEDGER_UNKNOWN_CLASSES; j++)
		expect_usage_eq(test, "unknown", &totals->unknown[j],
				&want->unknown[j]);
}

static struct kunit_case account_tests[] = {
	KUNIT_CASE_PARAM(resident_test, resident_gen_params),
	KUNIT_CASE(batch_test),
	KUNIT_CASE(tally_test),
	KUNIT_CASE(pss_error_test),
	KUNIT_CASE_PARAM(swap_test, swap_gen_params),
	KUNIT_CASE(usage_add_test),
	KUNIT_CASE(floor_test),
	KUNIT_CASE(many_small_vmas_test),
	KUNIT_CASE_PARAM(swappable_test, swappable_gen_params),
	KUNIT_CASE(swappable_doctored_test),
	KUNIT_CASE(alike_test),
	KUNIT_CASE(totals_test),
	{}
};

static struct kunit_suite account_suite = {
	.name = "memledger_account",
	.test_cases = account_tests,
};

kunit_test_suite(account_suite);
