// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values of GPUs and processes in, tables out: gpu_values.c against what must
 * come of each sequence, and, of long random ones, against a plain array.
 */
#include <kunit/test.h>

#include "../module/gpu_values.c"

/* Values are numbered: the number is their time. */
static u64 now;

/* As the probe does it. */
static int set(struct memledger_gpu_values *table, u32 gpu, u32 tgid, u64 size)
{
	const struct memledger_gpu_value value = {
		.gpu = gpu,
		.tgid = tgid,
		.size = size,
		.when_ns = ++now,
	};
	struct memledger_gpu_values_entry *spare = NULL, *dropped;
	int ret;

	ret = memledger_gpu_values_set(table, &value, &spare, &dropped);
	if (ret == -ENOENT) {
		spare = kmalloc(sizeof(*spare), GFP_KERNEL);
		if (!spare)
			return -ENOMEM;
		ret = memledger_gpu_values_set(table, &value, &spare, &dropped);
		kfree(spare);
	}
	kfree(dropped);
	return ret;
}

/* The value, or -1. */
static s64 get(struct memledger_gpu_values *table, u32 gpu, u32 tgid)
{
	struct memledger_gpu_value value;

	if (!memledger_gpu_values_find(table, gpu, tgid, &value))
		return -1;
	return value.size;
}

#define E	U32_MAX

/* What is set one after the other, and what is then there in order. */
static const struct values_case {
	const char *name;
	struct memledger_gpu_value set[8];
	unsigned int nr_set;
	struct memledger_gpu_value have[8];
	unsigned int nr_have;
	unsigned int nr_zeros;
} values_cases[] = {
	{ "nothing" },
	{ "one", { { 0, 7, 100 } }, 1, { { 0, 7, 100, 1 } }, 1, 0 },
	{ "the last counts", { { 0, 7, 100 }, { 0, 7, 300 }, { 0, 7, 200 } }, 3,
	  { { 0, 7, 200, 3 } }, 1, 0 },
	{ "by process", { { 0, 9, 1 }, { 0, 7, 2 }, { 0, 8, 3 }, { 0, 0, 4 } },
	  4, { { 0, 0, 4, 4 }, { 0, 7, 2, 2 }, { 0, 8, 3, 3 }, { 0, 9, 1, 1 } },
	  4, 0 },
	{ "by GPU first", { { 1, 1, 1 }, { 0, 2, 2 }, { 1, 0, 3 }, { 0, 1, 4 } },
	  4, { { 0, 1, 4, 4 }, { 0, 2, 2, 2 }, { 1, 0, 3, 3 }, { 1, 1, 1, 1 } },
	  4, 0 },
	{ "unsigned", { { E, E, 1 }, { 0, E, 2 }, { E, 0, 3 }, { 0, 1U << 31, 4 } },
	  4, { { 0, 1U << 31, 4, 4 }, { 0, E, 2, 2 }, { E, 0, 3, 3 },
	       { E, E, 1, 1 } }, 4, 0 },
	{ "the largest size", { { 0, 7, U64_MAX } }, 1,
	  { { 0, 7, U64_MAX, 1 } }, 1, 0 },
	{ "zero is a value", { { 0, 7, 0 } }, 1, { { 0, 7, 0, 1 } }, 1, 1 },
	{ "zero again", { { 0, 7, 0 }, { 0, 7, 0 } }, 2, { { 0, 7, 0, 2 } }, 1,
	  1 },
	{ "to zero", { { 0, 7, 5 }, { 0, 7, 0 } }, 2, { { 0, 7, 0, 2 } }, 1, 1 },
	{ "from zero", { { 0, 7, 0 }, { 0, 7, 5 } }, 2, { { 0, 7, 5, 2 } }, 1,
	  0 },
	{ "all together at zero", { { 0, 0, 0 }, { 1, 0, 0 } }, 2,
	  { { 0, 0, 0, 1 }, { 1, 0, 0, 2 } }, 2, 0 },
	{ "of each GPU", { { 0, 7, 0 }, { 1, 7, 0 }, { 1, 7, 9 } }, 3,
	  { { 0, 7, 0, 1 }, { 1, 7, 9, 3 } }, 2, 1 },
};

#undef E

static void expect_value(struct kunit *test, const char *name,
			 const struct memledger_gpu_value *have,
			 const struct memledger_gpu_value *want)
{
	KUNIT_EXPECT_EQ_MSG(test, have->gpu, want->gpu, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, have->tgid, want->tgid, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, have->size, want->size, "%s", name);
	KUNIT_EXPECT_EQ_MSG(test, have->when_ns, want->when_ns, "%s", name);
}

/* Batches of any size lead to the same values. */
static void expect_copies(struct kunit *test, struct memledger_gpu_values *table,
			  const struct values_case *c, unsigned int batch)
{
	struct memledger_gpu_value have[8];
	unsigned int nr, got = 0;

	do {
		nr = memledger_gpu_values_copy(table,
					       got ? &have[got - 1] : NULL,
					       &have[got],
					       min_t(unsigned int, batch,
						     ARRAY_SIZE(have) - got));
		got += nr;
	} while (nr && nr == batch && got < ARRAY_SIZE(have));
	KUNIT_ASSERT_EQ_MSG(test, got, c->nr_have, "%s", c->name);
	for (nr = 0; nr < got; nr++)
		expect_value(test, c->name, &have[nr], &c->have[nr]);
}

static void values_test(struct kunit *test)
{
	struct memledger_gpu_values table;
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(values_cases); i++) {
		const struct values_case *c = &values_cases[i];

		memledger_gpu_values_init(&table);
		now = 0;
		for (n = 0; n < c->nr_set; n++)
			KUNIT_EXPECT_EQ(test,
					set(&table, c->set[n].gpu,
					    c->set[n].tgid, c->set[n].size), 0);
		KUNIT_EXPECT_EQ_MSG(test, table.nr, c->nr_have, "%s", c->name);
		KUNIT_EXPECT_EQ_MSG(test, table.nr_zeros, c->nr_zeros, "%s",
				    c->name);
		KUNIT_EXPECT_EQ_MSG(test, table.forgotten, 0ULL, "%s", c->name);
		for (n = 1; n <= 5; n++)
			expect_copies(test, &table, c, n);
		memledger_gpu_values_free(&table);
		KUNIT_EXPECT_EQ(test, table.nr, 0U);
	}
}

/* Without memory only new values fail, and leave all as it is. */
static void spare_test(struct kunit *test)
{
	const struct memledger_gpu_value old = { 0, 7, 2, 2 }, new = { 0, 8, 3, 3 };
	struct memledger_gpu_values_entry *spare = NULL, *mine, *dropped;
	struct memledger_gpu_values table;

	now = 0;
	memledger_gpu_values_init(&table);
	KUNIT_ASSERT_EQ(test, set(&table, 0, 7, 1), 0);
	KUNIT_EXPECT_EQ(test, memledger_gpu_values_set(&table, &old, &spare,
						       &dropped), 0);
	KUNIT_EXPECT_EQ(test, memledger_gpu_values_set(&table, &new, &spare,
						       &dropped), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, dropped, NULL);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 7), 2LL);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 8), -1LL);
	KUNIT_EXPECT_EQ(test, table.nr, 1U);

	/* Nobody needs it for a value that is there: it stays the caller's. */
	mine = kmalloc(sizeof(*mine), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mine);
	spare = mine;
	KUNIT_EXPECT_EQ(test, memledger_gpu_values_set(&table, &old, &spare,
						       &dropped), 0);
	KUNIT_EXPECT_PTR_EQ(test, spare, mine);
	KUNIT_EXPECT_EQ(test, memledger_gpu_values_set(&table, &new, &spare,
						       &dropped), 0);
	KUNIT_EXPECT_PTR_EQ(test, spare, NULL);
	KUNIT_EXPECT_EQ(test, table.nr, 2U);
	memledger_gpu_values_free(&table);
}

/* Who had to get memory first comes after who did not. */
static void late_test(struct kunit *test)
{
	const struct memledger_gpu_value late = { 0, 7, 100, 1 };
	struct memledger_gpu_values_entry *spare = NULL, *dropped;
	struct memledger_gpu_values table;

	now = 1;
	memledger_gpu_values_init(&table);
	KUNIT_ASSERT_EQ(test, set(&table, 0, 7, 0), 0);
	KUNIT_EXPECT_EQ(test, memledger_gpu_values_set(&table, &late, &spare,
						       &dropped), 0);
	KUNIT_EXPECT_PTR_EQ(test, dropped, NULL);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 7), 0LL);
	KUNIT_EXPECT_EQ(test, table.nr_zeros, 1U);
	memledger_gpu_values_free(&table);
}

#define ZEROS	MEMLEDGER_GPU_VALUES_ZEROS_MAX

/* Zeros give way in the order in which they were last set. */
static void zeros_test(struct kunit *test)
{
	struct memledger_gpu_values table;
	u32 i;

	memledger_gpu_values_init(&table);
	KUNIT_ASSERT_EQ(test, set(&table, 0, 0, 0), 0);
	for (i = 1; i <= ZEROS; i++)
		KUNIT_ASSERT_EQ(test, set(&table, 0, i, 0), 0);
	KUNIT_EXPECT_EQ(test, table.nr_zeros, ZEROS);
	KUNIT_EXPECT_EQ(test, table.forgotten, 0ULL);

	/* 1 is the newest again, 2 is none any more, 3 is the oldest. */
	KUNIT_ASSERT_EQ(test, set(&table, 0, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, set(&table, 0, 2, 5), 0);
	KUNIT_EXPECT_EQ(test, table.nr_zeros, ZEROS - 1);
	KUNIT_ASSERT_EQ(test, set(&table, 0, ZEROS + 1, 0), 0);
	KUNIT_EXPECT_EQ(test, table.forgotten, 0ULL);
	KUNIT_ASSERT_EQ(test, set(&table, 0, ZEROS + 2, 0), 0);
	KUNIT_EXPECT_EQ(test, table.forgotten, 1ULL);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 3), -1LL);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 4), 0LL);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 1), 0LL);

	/* A value that becomes a zero makes the oldest go as well. */
	KUNIT_ASSERT_EQ(test, set(&table, 0, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 4), -1LL);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 2), 0LL);
	KUNIT_EXPECT_EQ(test, table.forgotten, 2ULL);
	KUNIT_EXPECT_EQ(test, table.nr_zeros, ZEROS);

	/* What was forgotten may come back, and the sum is never forgotten. */
	for (i = 1; i <= 2 * ZEROS; i++)
		KUNIT_ASSERT_EQ(test, set(&table, 1, i, 0), 0);
	KUNIT_EXPECT_EQ(test, table.nr_zeros, ZEROS);
	KUNIT_EXPECT_EQ(test, table.nr, ZEROS + 1);
	KUNIT_EXPECT_EQ(test, table.forgotten, 2ULL + 2 * ZEROS);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 0), 0LL);
	KUNIT_ASSERT_EQ(test, set(&table, 0, 3, 9), 0);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 3), 9LL);
	memledger_gpu_values_free(&table);
}

#define MISSING	(MEMLEDGER_GPU_VALUES_MAX - 3)

/*
 * No driver that invents processes takes all memory. Those that are missing are
 * only counted: a debug kernel would take minutes for them.
 */
static void full_test(struct kunit *test)
{
	struct memledger_gpu_values table;

	memledger_gpu_values_init(&table);
	table.nr = MISSING;
	KUNIT_EXPECT_EQ(test, set(&table, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, set(&table, 0, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, set(&table, 1, 1, 3), 0);
	KUNIT_EXPECT_EQ(test, table.nr, MEMLEDGER_GPU_VALUES_MAX);
	KUNIT_EXPECT_EQ(test, set(&table, 1, 2, 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, set(&table, 1, 2, 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test, get(&table, 1, 2), -1LL);
	KUNIT_EXPECT_EQ(test, table.nr, MEMLEDGER_GPU_VALUES_MAX);
	KUNIT_EXPECT_EQ(test, table.nr_zeros, 1U);
	/* Those that are there go on. */
	KUNIT_EXPECT_EQ(test, set(&table, 0, 1, 77), 0);
	KUNIT_EXPECT_EQ(test, get(&table, 0, 1), 77LL);
	memledger_gpu_values_free(&table);
}

#define MODEL_GPUS	3
#define MODEL_TGIDS	2500
#define MODEL_NR	(MODEL_GPUS * MODEL_TGIDS)
#define MODEL_ROUNDS	60000

/**
 * struct model - what must be in the table
 * @values: of all GPUs and processes; when_ns 0 of those that are not there
 * @zeros: how many processes have a value of 0
 * @forgotten: how many were dropped
 * @log: which value each round has set
 * @oldest: the first round that may have set a zero that is still there
 */
struct model {
	struct memledger_gpu_value values[MODEL_NR];
	unsigned int zeros;
	u64 forgotten;
	u32 log[MODEL_ROUNDS];
	unsigned int oldest;
};

static bool model_is_zero(const struct memledger_gpu_value *value)
{
	return value->when_ns && !value->size && value->tgid;
}

static void model_forget(struct model *model)
{
	struct memledger_gpu_value *value;

	do {
		value = &model->values[model->log[model->oldest++]];
	} while (!model_is_zero(value) || value->when_ns != model->oldest);
	memset(value, 0, sizeof(*value));
	model->zeros--;
	model->forgotten++;
}

static void model_set(struct model *model, unsigned int round, u32 at, u64 size)
{
	struct memledger_gpu_value *value = &model->values[at];

	model->zeros -= model_is_zero(value);
	*value = (struct memledger_gpu_value) {
		.gpu = at / MODEL_TGIDS,
		.tgid = at % MODEL_TGIDS,
		.size = size,
		.when_ns = round + 1,
	};
	model->zeros += model_is_zero(value);
	model->log[round] = at;
	if (model->zeros > ZEROS)
		model_forget(model);
}

/* Many zeros, and in every fourth stretch few. */
static void random_test(struct kunit *test)
{
	struct memledger_gpu_values table;
	struct memledger_gpu_value value;
	unsigned int i, nr = 0;
	struct model *model;
	u32 random = 4;

	model = kvzalloc(sizeof(*model), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, model);
	memledger_gpu_values_init(&table);
	now = 0;
	for (i = 0; i < MODEL_ROUNDS; i++) {
		u32 at, size;

		random = random * 1664525 + 1013904223;
		at = (random >> 8) % MODEL_NR;
		size = random >> 28 < (i & 0x6000 ? 12 : 1) ? 0 : random;
		model_set(model, i, at, size);
		KUNIT_ASSERT_EQ(test, set(&table, at / MODEL_TGIDS,
					  at % MODEL_TGIDS, size), 0);
		KUNIT_ASSERT_EQ(test, table.forgotten, model->forgotten);
		KUNIT_ASSERT_EQ(test, table.nr_zeros, model->zeros);
	}
	/* It has come to what the test is about. */
	KUNIT_EXPECT_GT(test, model->forgotten, 0ULL);

	for (i = 0; i < MODEL_NR; i++) {
		if (!model->values[i].when_ns)
			continue;
		KUNIT_ASSERT_EQ(test,
				memledger_gpu_values_copy(&table,
							  nr ? &value : NULL,
							  &value, 1), 1U);
		expect_value(test, "model", &value, &model->values[i]);
		nr++;
	}
	KUNIT_EXPECT_EQ(test, table.nr, nr);
	memledger_gpu_values_free(&table);
	kvfree(model);
}

static struct kunit_case gpu_totals_tests[] = {
	KUNIT_CASE(values_test),
	KUNIT_CASE(spare_test),
	KUNIT_CASE(late_test),
	KUNIT_CASE(zeros_test),
	KUNIT_CASE(full_test),
	KUNIT_CASE(random_test),
	{}
};

static struct kunit_suite gpu_totals_suite = {
	.name = "memledger_gpu_totals",
	.test_cases = gpu_totals_tests,
};

kunit_test_suite(gpu_totals_suite);
