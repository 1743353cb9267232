// SPDX-License-Identifier: GPL-2.0-only
/*
 * References to DMA-BUFs in, buffers, holders and shares out: lib/dmabuf.c,
 * against tables of cases and against a sum made in another way.
 */
#include <kunit/test.h>

#include <memledger/dmabuf.h>

/* How many allocations succeed before one fails; -1: all. */
static int allocations = -1;

static void *dmabuf_test_alloc(size_t size)
{
	if (!allocations)
		return NULL;
	if (allocations > 0)
		allocations--;
	return kvzalloc(size, GFP_KERNEL);
}

#undef memledger_alloc
#define memledger_alloc(size)	dmabuf_test_alloc(size)

#include "../module/lib/dmabuf.c"

#define KB	1024ULL
#define MB	(1024 * KB)
#define PSS(b)	((u64)(b) << MEMLEDGER_PSS_SHIFT)

/* One reference or, without a process, one buffer. */
struct dmabuf_step {
	u64 ino;
	s32 tgid;
	u32 kind;
	u64 mapped;
	u64 smaps_rss;
	u64 smaps_pss;
	u64 size;
	const char *exporter;
	u32 listed;
};

#define BUFFER(i, s, ...)	{ .ino = i, .size = s, .exporter = "e", ##__VA_ARGS__ }
#define FD(i, t)		{ .ino = i, .tgid = t, .kind = MEMLEDGER_DMABUF_FD }
#define MAP(i, t, m, r, p)						\
	{ .ino = i, .tgid = t, .kind = MEMLEDGER_DMABUF_MAP, .mapped = m, \
	  .smaps_rss = r, .smaps_pss = p }
#define IMPORT(i, t)							\
	{ .ino = i, .tgid = t, .kind = MEMLEDGER_DMABUF_IMPORT }

#define MAX_STEPS	12
#define MAX_SHARES	4

/*
 * @tgid: whose share; the rest is what it has to be, @stopped: whether one of
 * its sums is too large. 0 ends the list.
 */
struct dmabuf_want {
	s32 tgid;
	u64 count;
	u64 rss;
	u64 pss;
	u64 smaps_rss;
	u64 smaps_pss;
	u64 memtrack;
	bool stopped;
};

static const struct dmabuf_case {
	const char *name;
	struct dmabuf_step steps[MAX_STEPS];
	struct dmabuf_want want[MAX_SHARES];
	bool incomplete;
} dmabuf_cases[] = {
	{
		.name = "three holders, however many references",
		.steps = {
			BUFFER(1, 6 * MB), FD(1, 10),
			MAP(1, 20, 4 * KB, 0, 0),
			FD(1, 30), FD(1, 30), FD(1, 30),
		},
		.want = {
			{ 10, 1, 6 * MB, 2 * MB, 0, 0, 0 },
			{ 20, 1, 6 * MB, 2 * MB, 0, 0, 6 * MB },
			{ 30, 1, 6 * MB, 2 * MB, 0, 0, 0 },
		},
	}, {
		.name = "references of a process apart from each other",
		.steps = {
			BUFFER(1, 100), BUFFER(2, 50),
			FD(1, 30), FD(2, 10), FD(1, 10), FD(2, 30), FD(1, 30),
			FD(2, 20), FD(1, 10),
		},
		.want = {
			{ 10, 2, 150, 50 + 16, 0, 0, 0 },
			{ 20, 1, 50, 16, 0, 0, 0 },
			{ 30, 2, 150, 50 + 16, 0, 0, 0 },
		},
	}, {
		.name = "described after the reference",
		.steps = { FD(7, 1), BUFFER(7, 9 * KB), BUFFER(7, 1 * KB) },
		.want = { { 1, 1, 9 * KB, 9 * KB, 0, 0, 0 } },
	}, {
		.name = "what an importer says gives way",
		.steps = {
			{ .ino = 7, .size = 5 * KB }, IMPORT(7, 1),
			{ .ino = 7, .size = 6 * KB }, BUFFER(7, 4 * KB),
			{ .ino = 8, .size = 3 * KB }, IMPORT(8, 1),
			{ .ino = 8, .size = 2 * KB },
		},
		.want = { { 1, 2, 7 * KB, 7 * KB, 0, 0, 7 * KB } },
	}, {
		.name = "memtrack: mapped and imported is once",
		.steps = {
			BUFFER(1, 12 * KB),
			FD(1, 1), MAP(1, 1, 12 * KB, 0, 0), IMPORT(1, 1),
			IMPORT(1, 1), IMPORT(1, 2), FD(1, 3),
		},
		.want = {
			{ 1, 1, 12 * KB, 4 * KB, 0, 0, 6 * KB },
			{ 2, 1, 12 * KB, 4 * KB, 0, 0, 6 * KB },
			{ 3, 1, 12 * KB, 4 * KB, 0, 0, 0 },
		},
	}, {
		.name = "memtrack: less what smaps has",
		.steps = {
			BUFFER(1, 12 * KB), BUFFER(2, 8 * KB),
			MAP(1, 1, 12 * KB, 12 * KB, PSS(12 * KB)),
			MAP(2, 1, 4 * KB, 4 * KB, PSS(4 * KB)),
			BUFFER(3, 20 * KB), MAP(3, 1, 20 * KB, 0, 0),
		},
		.want = {
			{ 1, 3, 40 * KB, 40 * KB, 16 * KB, 16 * KB, 24 * KB },
		},
	}, {
		.name = "memtrack: not below 0, buffer by buffer",
		.steps = {
			BUFFER(1, 8 * KB), BUFFER(2, 8 * KB),
			/* Mapped twice: smaps divides by more than processes. */
			MAP(1, 1, 8 * KB, 8 * KB, PSS(8 * KB)),
			MAP(1, 2, 4 * KB, 4 * KB, PSS(2 * KB)),
			MAP(2, 1, 8 * KB, 0, 0),
		},
		.want = {
			{ 1, 2, 16 * KB, 12 * KB, 8 * KB, 8 * KB, 8 * KB },
			{ 2, 1, 8 * KB, 4 * KB, 4 * KB, 2 * KB, 2 * KB },
		},
	}, {
		.name = "fractions of smaps's PSS add up",
		.steps = {
			BUFFER(1, 12 * KB), BUFFER(2, 12 * KB),
			MAP(1, 1, 4 * KB, 4 * KB, PSS(100) + PSS(1) / 2),
			MAP(2, 1, 4 * KB, 4 * KB, PSS(100) + PSS(1) / 2),
		},
		.want = {
			{ 1, 2, 24 * KB, 24 * KB, 8 * KB, 201,
			  24 * KB - 200 },
		},
	}, {
		.name = "PSS rounds down, buffer by buffer",
		.steps = {
			BUFFER(1, 8), BUFFER(2, 8),
			FD(1, 1), FD(2, 1), FD(1, 2), FD(2, 2), FD(1, 3),
			FD(2, 3),
		},
		.want = { { 1, 2, 16, 4 }, { 2, 2, 16, 4 }, { 3, 2, 16, 4 } },
	}, {
		.name = "sums stop at the largest number",
		.steps = {
			BUFFER(1, U64_MAX), BUFFER(2, U64_MAX),
			MAP(1, 1, U64_MAX, U64_MAX, U64_MAX),
			MAP(1, 1, U64_MAX, U64_MAX, U64_MAX),
			MAP(2, 1, 1, 1, 1),
		},
		.want = {
			{ 1, 2, U64_MAX, U64_MAX, U64_MAX,
			  U64_MAX >> MEMLEDGER_PSS_SHIFT, U64_MAX,
			  .stopped = true },
		},
		.incomplete = true,
	}, {
		.name = "the largest number itself is not too large",
		.steps = {
			BUFFER(1, U64_MAX - 1), BUFFER(2, 1),
			MAP(1, 1, U64_MAX - 1, U64_MAX - 1, 0),
			MAP(1, 1, 1, 1, 0), FD(2, 1),
		},
		.want = { { 1, 2, U64_MAX, U64_MAX, U64_MAX, 0, U64_MAX - 1 } },
	}, {
		.name = "too large for a process, and not for a buffer",
		.steps = {
			BUFFER(1, 8), BUFFER(2, 8),
			MAP(1, 1, 8, U64_MAX, 0), MAP(2, 1, 8, 1, 0),
			MAP(1, 2, 8, U64_MAX, 0),
		},
		.want = {
			{ 1, 2, 16, 12, U64_MAX, 0, 12, .stopped = true },
			{ 2, 1, 8, 4, U64_MAX, 0, 4 },
		},
	}, {
		.name = "too large for a mapping, in any order",
		.steps = {
			BUFFER(1, 8), MAP(1, 1, U64_MAX, 0, 0),
			MAP(1, 2, 1, 0, 0), MAP(1, 1, 1, 0, 0),
		},
		.want = { { 1, 1, 8, 4, 0, 0, 4 }, { 2, 1, 8, 4, 0, 0, 4 } },
		.incomplete = true,
	}, {
		.name = "too large for all buffers",
		.steps = {
			BUFFER(1, U64_MAX), BUFFER(2, 1), FD(1, 1), FD(2, 2),
		},
		.want = { { 1, 1, U64_MAX, U64_MAX }, { 2, 1, 1, 1 } },
		.incomplete = true,
	}, {
		.name = "a process that is not there has nothing",
		.steps = { BUFFER(1, 8), FD(1, 5) },
		.want = { { 4 }, { 6 }, { -1 }, { 5, 1, 8, 8 } },
	},
};

static int add_step(struct memledger_dmabuf_table *table,
		    const struct dmabuf_step *step)
{
	const struct memledger_dmabuf_desc desc = {
		.ino = step->ino,
		.size = step->size,
		.exporter = step->exporter,
		.listed = step->listed,
	};
	const struct memledger_dmabuf_ref ref = {
		.ino = step->ino,
		.tgid = step->tgid,
		.kind = step->kind,
		.mapped = step->mapped,
		.smaps_rss = step->smaps_rss,
		.smaps_pss = step->smaps_pss,
		.comm = "test",
	};

	return step->tgid ? memledger_dmabuf_add_ref(table, &ref) :
	       memledger_dmabuf_add_buffer(table, &desc);
}

static void expect_share(struct kunit *test, const char *name,
			 const struct memledger_dmabuf_table *table,
			 const struct dmabuf_want *want)
{
	struct memledger_dmabuf_share share;

	memset(&share, 0xa5, sizeof(share));
	KUNIT_EXPECT_EQ_MSG(test, want->stopped,
			    !memledger_dmabuf_sum_share(table, want->tgid,
							&share),
			    "%s: sums of %d", name, want->tgid);
#define X(field)							\
	KUNIT_EXPECT_EQ_MSG(test, share.dmabuf_##field, want->field,	\
			    "%s: %s of %d", name, #field, want->tgid);
	X(count)
	X(rss)
	X(pss)
	X(smaps_rss)
	X(smaps_pss)
	X(memtrack)
#undef X
}

static void share_test(struct kunit *test)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(dmabuf_cases); i++) {
		const struct dmabuf_case *c = &dmabuf_cases[i];
		struct memledger_dmabuf_table table = {};

		for (k = 0; k < MAX_STEPS && c->steps[k].ino; k++)
			KUNIT_EXPECT_EQ(test, add_step(&table, &c->steps[k]),
					0);
		memledger_dmabuf_finish(&table);
		KUNIT_EXPECT_EQ_MSG(test, table.incomplete, c->incomplete,
				    "%s", c->name);
		for (k = 0; k < MAX_SHARES && c->want[k].tgid; k++)
			expect_share(test, c->name, &table, &c->want[k]);
		memledger_dmabuf_free(&table);
	}
}

/* What a list alone has counts if it was there all the time. */
static void unattributed_test(struct kunit *test)
{
	static const struct dmabuf_step steps[] = {
		BUFFER(1, 1, .listed = MEMLEDGER_DMABUF_LISTED_BEFORE),
		BUFFER(2, 2, .listed = MEMLEDGER_DMABUF_LISTED_BEFORE),
		BUFFER(3, 4, .listed = MEMLEDGER_DMABUF_LISTED_BEFORE),
		FD(3, 7), FD(5, 7), BUFFER(5, 16),
		BUFFER(2, 2, .listed = MEMLEDGER_DMABUF_LISTED_AFTER),
		BUFFER(3, 4, .listed = MEMLEDGER_DMABUF_LISTED_AFTER),
		BUFFER(4, 8, .listed = MEMLEDGER_DMABUF_LISTED_AFTER),
	};
	static const u64 there[] = { 2, 3, 5 };
	struct memledger_dmabuf_table table = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		KUNIT_EXPECT_EQ(test, add_step(&table, &steps[i]), 0);
	memledger_dmabuf_finish(&table);
	KUNIT_ASSERT_EQ(test, table.nr_buffers, (u32)ARRAY_SIZE(there));
	for (i = 0; i < ARRAY_SIZE(there); i++)
		KUNIT_EXPECT_EQ(test, table.buffers[i].ino, there[i]);
	KUNIT_EXPECT_EQ(test, table.unattributed_count, 1ULL);
	KUNIT_EXPECT_EQ(test, table.unattributed_size, 2ULL);
	KUNIT_EXPECT_EQ(test, table.size, 22ULL);
	memledger_dmabuf_free(&table);
}

static void exporters_test(struct kunit *test)
{
	static const struct dmabuf_step steps[] = {
		{ .ino = 1, .size = 5, .exporter = "b", .listed = 3 },
		{ .ino = 2, .size = 7, .exporter = "a", .listed = 3 },
		{ .ino = 3, .size = 2, .exporter = "a", .listed = 3 },
		{ .ino = 4, .size = 9, .exporter = "c", .listed = 3 },
		{ .ino = 5, .size = 9, .listed = 3 },
		/* That of this one turns out later: nothing is left of it. */
		{ .ino = 6, .size = 1, .exporter = "gone", .listed = 1 },
	};
	static const struct memledger_dmabuf_exporter want[] = {
		{ "a", 2, 9 }, { "c", 1, 9 }, { NULL, 1, 9 }, { "b", 1, 5 },
	};
	struct memledger_dmabuf_table table = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		KUNIT_EXPECT_EQ(test, add_step(&table, &steps[i]), 0);
	memledger_dmabuf_finish(&table);
	KUNIT_ASSERT_EQ(test, table.nr_exporters, (u32)ARRAY_SIZE(want));
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		KUNIT_EXPECT_STREQ(test, table.exporters[i].name ?: "-",
				   want[i].name ?: "-");
		KUNIT_EXPECT_EQ(test, table.exporters[i].count, want[i].count);
		KUNIT_EXPECT_EQ(test, table.exporters[i].size, want[i].size);
	}
	memledger_dmabuf_free(&table);
}

static void names_test(struct kunit *test)
{
	static const char *const texts[] = {
		"", "x", "0123456789012345678901234567890",
		"0123456789012345678901234567890123456789",
	};
	struct memledger_dmabuf_table table = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct memledger_dmabuf_desc desc = {
			.ino = i + 1,
			.exporter = texts[i],
			.name = texts[i],
		};
		const struct memledger_dmabuf_ref ref = {
			.ino = i + 1,
			.tgid = i + 1,
			.comm = texts[i],
		};

		memledger_dmabuf_add_buffer(&table, &desc);
		memledger_dmabuf_add_ref(&table, &ref);
	}
	memledger_dmabuf_finish(&table);
	KUNIT_ASSERT_EQ(test, table.nr_buffers, (u32)ARRAY_SIZE(texts));
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		char text[MEMLEDGER_DMABUF_NAME_SIZE];

		KUNIT_EXPECT_STREQ(test, table.buffers[i].exporter, texts[i]);
		strscpy(text, texts[i], MEMLEDGER_DMABUF_NAME_SIZE);
		KUNIT_EXPECT_STREQ(test, table.buffers[i].name, text);
		strscpy(text, texts[i], MEMLEDGER_DMABUF_COMM_SIZE);
		KUNIT_EXPECT_STREQ(test, table.processes[i].comm, text);
	}
	memledger_dmabuf_free(&table);
}

static void empty_test(struct kunit *test)
{
	struct memledger_dmabuf_table table = {};
	static const struct dmabuf_want nothing = { .tgid = 1 };

	memledger_dmabuf_finish(&table);
	KUNIT_EXPECT_EQ(test, table.nr_buffers, 0U);
	KUNIT_EXPECT_PTR_EQ(test, memledger_dmabuf_find_buffer(&table, 1),
			    (const struct memledger_dmabuf_buffer *)NULL);
	expect_share(test, "empty", &table, &nothing);
	memledger_dmabuf_free(&table);
}

#define MANY_BUFFERS	10000
#define MANY_PROCESSES	25
#define MANY_REFS	(4 * MANY_BUFFERS)

/* Which processes hold a buffer: 1 to 4 of them, in a row, around the end. */
static s32 nth_holder(u32 buffer, u32 n)
{
	return 1 + (buffer * 7 + n) % MANY_PROCESSES;
}

static u32 many_holders(u32 buffer)
{
	return 1 + buffer % 4;
}

static bool many_holds(u32 buffer, s32 tgid)
{
	u32 n;

	for (n = 0; n < many_holders(buffer); n++) {
		if (nth_holder(buffer, n) == tgid)
			return true;
	}
	return false;
}

/*
 * 10,000 buffers, 100,000 references: process after process as in a pass, or
 * buffer after buffer with processes in any order. Both give the same.
 */
static void fill_many(struct memledger_dmabuf_table *table, bool by_process)
{
	u32 outer, inner, n, nr_outer = by_process ? MANY_PROCESSES :
			  MANY_BUFFERS;

	for (outer = 0; outer < nr_outer; outer++) {
		u32 nr_inner = by_process ? MANY_BUFFERS : MANY_PROCESSES;

		for (inner = 0; inner < nr_inner; inner++) {
			/* Numbers up and down, so that nothing is in order. */
			u32 buffer = by_process ? inner * 7919 % MANY_BUFFERS :
				     outer;
			s32 tgid = 1 + (by_process ? outer :
					inner * 7 % MANY_PROCESSES);
			struct dmabuf_step step = BUFFER(buffer + 1,
							 (buffer + 1) * KB);

			if (!many_holds(buffer, tgid))
				continue;
			add_step(table, &step);
			step.tgid = tgid;
			for (n = 0; n < 4; n++)
				add_step(table, &step);
		}
	}
}

static void many_test(struct kunit *test)
{
	u64 rss[MANY_PROCESSES + 1], pss[MANY_PROCESSES + 1];
	u32 round, i, n, holders = 0;

	memset(rss, 0, sizeof(rss));
	memset(pss, 0, sizeof(pss));
	for (i = 0; i < MANY_BUFFERS; i++) {
		for (n = 0; n < many_holders(i); n++) {
			rss[nth_holder(i, n)] += (i + 1) * KB;
			pss[nth_holder(i, n)] += (i + 1) * KB /
						 many_holders(i);
			holders++;
		}
	}
	KUNIT_ASSERT_EQ(test, 4 * holders, 100000U);
	for (round = 0; round < 2; round++) {
		struct memledger_dmabuf_table table = {};
		u64 start = ktime_get_ns();

		fill_many(&table, round);
		memledger_dmabuf_finish(&table);
		kunit_info(test, "%llu us\n",
			   div_u64(ktime_get_ns() - start, 1000));
		KUNIT_EXPECT_EQ(test, table.nr_buffers, (u32)MANY_BUFFERS);
		KUNIT_EXPECT_EQ(test, table.nr_holders, holders);
		KUNIT_EXPECT_EQ(test, table.nr_processes,
				(u32)MANY_PROCESSES);
		for (i = 0; i < table.nr_holders; i++)
			KUNIT_EXPECT_EQ(test, table.holders[i].fds, 4U);
		for (i = 1; i <= MANY_PROCESSES; i++) {
			struct memledger_dmabuf_share share;

			memledger_dmabuf_sum_share(&table, i, &share);
			KUNIT_EXPECT_EQ(test, share.dmabuf_rss, rss[i]);
			KUNIT_EXPECT_EQ(test, share.dmabuf_pss, pss[i]);
		}
		memledger_dmabuf_free(&table);
	}
}

/*
 * Numbers that all belonged into one slot when they were multiplied by a number
 * that everybody could know. Half of the slots being free, each is found half a
 * slot too late for most keys.
 */
static void hard_numbers_test(struct kunit *test)
{
	const u64 factor = 0x9e3779b97f4a7c15ULL;
	struct memledger_dmabuf_table table = {};
	u64 inverse = 1, misses = 0;
	u32 i, mask;

	/* Each step doubles the number of low bits that are right. */
	while (inverse * factor != 1)
		inverse *= 2 - factor * inverse;
	for (i = 1; i <= 8192; i++) {
		const struct memledger_dmabuf_desc desc = {
			.ino = i * inverse,
		};

		KUNIT_EXPECT_EQ(test,
				memledger_dmabuf_add_buffer(&table, &desc), 0);
	}
	mask = 2 * table.max_buffers - 1;
	for (i = 0; i <= mask; i++) {
		u32 slot = table.slots[i];

		if (slot)
			misses += (i - slot_of(&table,
					       table.buffers[slot - 1].ino)) &
				  mask;
	}
	KUNIT_EXPECT_LT(test, misses, 2 * 8192ULL);
	memledger_dmabuf_free(&table);
}

/* Each allocation in turn finds no memory: what is there stays consistent. */
static void no_memory_test(struct kunit *test)
{
	int fail;

	for (fail = 0;; fail++) {
		struct memledger_dmabuf_table table = {};
		u32 i, holders = 0;
		int nr = 0;

		allocations = fail;
		for (i = 0; i < 400; i++) {
			struct dmabuf_step step = BUFFER(1 + i % 200, KB);

			nr += add_step(&table, &step) == -ENOMEM;
			step.tgid = 1 + i / 2;
			nr += add_step(&table, &step) == -ENOMEM;
			/* Memory is there again: the rest can be added. */
			if (nr)
				allocations = -1;
		}
		allocations = -1;
		KUNIT_EXPECT_EQ(test, table.incomplete, nr > 0);
		memledger_dmabuf_finish(&table);
		for (i = 0; i < table.nr_buffers; i++) {
			KUNIT_EXPECT_EQ(test, table.buffers[i].first, holders);
			KUNIT_EXPECT_GT(test, table.buffers[i].nr_holders, 0U);
			holders += table.buffers[i].nr_holders;
		}
		KUNIT_EXPECT_EQ(test, table.nr_holders, holders);
		for (i = 0; i < table.nr_holders; i++) {
			const struct memledger_dmabuf_process *process;
			s32 tgid = table.holders[i].tgid;

			process = memledger_dmabuf_find_process(&table, tgid);
			KUNIT_EXPECT_NOT_NULL(test, process);
		}
		/* What failed was one reference at the most. */
		KUNIT_EXPECT_GE(test, holders, nr ? 399U : 400U);
		memledger_dmabuf_free(&table);
		if (!nr)
			break;
	}
	/* Tables of four kinds grew, each more than once. */
	KUNIT_EXPECT_GT(test, fail, 8);
}

static struct kunit_case dmabuf_tests[] = {
	KUNIT_CASE(share_test),
	KUNIT_CASE(unattributed_test),
	KUNIT_CASE(exporters_test),
	KUNIT_CASE(names_test),
	KUNIT_CASE(empty_test),
	KUNIT_CASE(many_test),
	KUNIT_CASE(hard_numbers_test),
	KUNIT_CASE(no_memory_test),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name = "memledger_dmabuf",
	.test_cases = dmabuf_tests,
};

kunit_test_suite(dmabuf_suite);
