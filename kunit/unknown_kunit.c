// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names in, classes of Unknown, owners and the table of names out: unknown.c
 * and names.c against unknown_cases.h, the table against itself, and its hash
 * against the kernel's.
 */
#include <linux/ctype.h>
#include <linux/siphash.h>

#include <kunit/test.h>

#include "../module/lib/unknown.c"
#include "../module/lib/names.c"
#include "../module/lib/hash.c"

#include "unknown_cases.h"

/* Without a NUL, so that KASAN sees a read behind the end. */
static char *copy_name(struct kunit *test, const char *name)
{
	char *copy = kunit_kmalloc(test, strlen(name) ?: 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, name, strlen(name));
	return copy;
}

static void class_test(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(memledger_unknown_cases); i++) {
		const struct memledger_unknown_case *c =
			&memledger_unknown_cases[i];
		char *name = copy_name(test, c->name);
		enum memledger_unknown_class class =
			memledger_unknown_classify(name, strlen(c->name),
						   c->prot);

		KUNIT_EXPECT_STREQ_MSG(test, memledger_unknown_names[class],
				       memledger_unknown_names[c->class],
				       "\"%s\", 0x%x", c->name, c->prot);
		kunit_kfree(test, name);
	}
}

/* The cases say by their names which classes are of such. */
static void class_needs_name_test(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(memledger_unknown_cases); i++) {
		const struct memledger_unknown_case *c =
			&memledger_unknown_cases[i];

		KUNIT_EXPECT_EQ_MSG(test,
				    memledger_unknown_needs_name(c->class),
				    *c->name != '\0', "\"%s\"", c->name);
	}
}

/* The name ends where its length says; what lies behind is not looked at. */
static void class_length_test(struct kunit *test)
{
	static const char name[] = "[anon:v8]x";

	KUNIT_EXPECT_EQ(test, (int)memledger_unknown_classify(name, 9, 0),
			(int)MEMLEDGER_UNKNOWN_ALLOCATORS);
	KUNIT_EXPECT_EQ(test, (int)memledger_unknown_classify(name, 8, 0),
			(int)MEMLEDGER_UNKNOWN_NAMED_OTHER);
	KUNIT_EXPECT_EQ(test, (int)memledger_unknown_classify(name, 10, 0),
			(int)MEMLEDGER_UNKNOWN_NAMED_OTHER);
}

static bool row_is_for(const struct unknown_name *row,
		       const struct memledger_unknown_case *c)
{
	size_t len = strlen(c->name);

	if (!is_anon_name(c->name, len) || c->class != row->class)
		return false;
	len -= ANON_PREFIX_LEN + 1;
	return (row->prefix ? len >= row->len : len == row->len) &&
	       !memcmp(c->name + ANON_PREFIX_LEN, row->text, row->len);
}

/* Each row is there for some case, and each class has one. */
static void class_coverage_test(struct kunit *test)
{
	u32 classes = 0;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(known_names); i++) {
		bool hit = false;

		for (j = 0; j < ARRAY_SIZE(memledger_unknown_cases); j++)
			hit |= row_is_for(&known_names[i],
					  &memledger_unknown_cases[j]);
		KUNIT_EXPECT_TRUE_MSG(test, hit, "no case for \"%s\"",
				      known_names[i].text);
		/* A row behind one that takes its names is of no use. */
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_FALSE_MSG(test,
					       known_names[j].len <= known_names[i].len &&
					       (known_names[j].prefix ||
						known_names[j].len == known_names[i].len) &&
					       !memcmp(known_names[j].text,
						       known_names[i].text,
						       known_names[j].len),
					       "\"%s\" is behind \"%s\"",
					       known_names[i].text,
					       known_names[j].text);
	}
	for (i = 0; i < ARRAY_SIZE(memledger_unknown_cases); i++)
		classes |= BIT(memledger_unknown_cases[i].class);
	KUNIT_EXPECT_EQ(test, classes,
			(u32)BIT(NR_MEMLEDGER_UNKNOWN_CLASSES) - 1);
}

/* Class names are directories, and a text is no name of a mapping. */
static void class_names_test(struct kunit *test)
{
	unsigned int i, j;
	const char *p;

	for (i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++) {
		KUNIT_ASSERT_NOT_NULL(test, memledger_unknown_names[i]);
		KUNIT_ASSERT_NOT_NULL(test, memledger_unknown_texts[i]);
		KUNIT_EXPECT_GT(test, strlen(memledger_unknown_texts[i]), 0UL);
		KUNIT_EXPECT_NE(test, memledger_unknown_texts[i][0], '[');
		KUNIT_EXPECT_GT(test, strlen(memledger_unknown_names[i]), 0UL);
		for (p = memledger_unknown_names[i]; *p; p++)
			KUNIT_EXPECT_TRUE_MSG(test, islower(*p) || *p == '_',
					      "%s",
					      memledger_unknown_names[i]);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, memledger_unknown_names[i],
					    memledger_unknown_names[j]);
	}
}

static void owner_test(struct kunit *test)
{
	const u64 untouched = 0x1234567890abcdef;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(memledger_owner_cases); i++) {
		const struct memledger_owner_case *c =
			&memledger_owner_cases[i];
		char *name = copy_name(test, c->name);
		u64 addr = untouched;

		KUNIT_EXPECT_EQ_MSG(test,
				    memledger_unknown_owner(name,
							    strlen(c->name),
							    &addr),
				    c->found, "\"%s\"", c->name);
		KUNIT_EXPECT_EQ_MSG(test, addr,
				    c->found ? c->addr : untouched, "\"%s\"",
				    c->name);
		kunit_kfree(test, name);
	}
}

static void path_test(struct kunit *test)
{
	char *path = kunit_kmalloc(test, 8192, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, path);
	for (i = 0; i < ARRAY_SIZE(memledger_path_cases); i++)
		KUNIT_EXPECT_TRUE_MSG(test,
				      memledger_path_case_is(&memledger_path_cases[i],
							     path),
				      "%zu bytes", memledger_path_cases[i].len);
}

static void names_test(struct kunit *test)
{
	struct memledger_names names = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(memledger_names_cases); i++)
		KUNIT_EXPECT_EQ(test,
				memledger_names_case_add(&names,
							 &memledger_names_cases[i]),
				0);
	memledger_names_sort(&names);
	KUNIT_EXPECT_EQ(test, (size_t)names.nr,
			ARRAY_SIZE(memledger_names_results));
	for (i = 0; i < names.nr && i < ARRAY_SIZE(memledger_names_results);
	     i++)
		KUNIT_EXPECT_TRUE_MSG(test,
				      memledger_names_case_is(&names.rows[i],
							      &memledger_names_results[i]),
				      "row %u is \"%s\", not \"%s\"", i,
				      names.rows[i].text,
				      memledger_names_results[i].row.name);
	memledger_names_free(&names);
	KUNIT_EXPECT_EQ(test, names.nr, 0U);
	KUNIT_EXPECT_NULL(test, names.rows);
}

/* All rows are found again whenever the table has grown. */
static void names_growth_test(struct kunit *test)
{
	struct memledger_names names = {};
	unsigned int i, round;
	u64 vmas = 0;
	char text[16];

	for (round = 0; round < 2; round++) {
		for (i = 0; i < MEMLEDGER_NAMES_CASE_MANY; i++) {
			const struct memledger_names_case c = {
				.name = text,
				.class = i % NR_MEMLEDGER_UNKNOWN_CLASSES,
				.kb = i,
			};

			snprintf(text, sizeof(text), "[anon:%u]", i);
			KUNIT_EXPECT_EQ(test,
					memledger_names_case_add(&names, &c),
					0);
		}
		KUNIT_EXPECT_EQ(test, names.nr,
				(u32)MEMLEDGER_NAMES_CASE_MANY);
	}
	memledger_names_sort(&names);
	for (i = 0; i < names.nr; i++) {
		unsigned int nr = MEMLEDGER_NAMES_CASE_MANY - 1 - i;

		snprintf(text, sizeof(text), "[anon:%u]", nr);
		KUNIT_EXPECT_STREQ(test, names.rows[i].text, text);
		KUNIT_EXPECT_EQ(test, names.rows[i].usage.rss,
				(u64)nr << 11);
		vmas += names.rows[i].usage.vmas;
	}
	KUNIT_EXPECT_EQ(test, vmas, 2ULL * MEMLEDGER_NAMES_CASE_MANY);
	memledger_names_free(&names);
}

/* A table has had enough: it stays as it is, and what it has is still found. */
static void names_enough_test(struct kunit *test)
{
	enum { LEN = 8000, ENOUGH = MEMLEDGER_MAX_NAMES_TEXT / LEN };
	struct memledger_names many = { .nr = MEMLEDGER_MAX_NAMES };
	struct memledger_names names = {};
	char *text = memledger_alloc(LEN + 1);
	u32 i, index;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(text, 'n', LEN);
	for (i = 0; ; i++) {
		/* The first bytes are a number that has no zeroes. */
		text[0] = 1 + i % 128;
		text[1] = 1 + i / 128;
		ret = memledger_names_intern(&names, text, LEN, 0, &index);
		if (ret || i > ENOUGH)
			break;
	}
	KUNIT_EXPECT_EQ(test, ret, -EOVERFLOW);
	KUNIT_EXPECT_EQ(test, i, (u32)ENOUGH);
	KUNIT_EXPECT_EQ(test, names.nr, (u32)ENOUGH);
	text[0] = 1;
	text[1] = 1;
	KUNIT_EXPECT_EQ(test, memledger_names_intern(&names, text, LEN, 0,
						     &index), 0);
	KUNIT_EXPECT_EQ(test, index, 0U);

	/* To make so many takes minutes on a debug kernel. */
	KUNIT_EXPECT_EQ(test, memledger_names_intern(&many, text, LEN, 0,
						     &index), -EOVERFLOW);
	KUNIT_EXPECT_EQ(test, many.nr, (u32)MEMLEDGER_MAX_NAMES);
	memledger_free(text);
	memledger_names_free(&names);
}

static void names_empty_test(struct kunit *test)
{
	struct memledger_names names = {};

	memledger_names_sort(&names);
	KUNIT_EXPECT_EQ(test, names.nr, 0U);
	memledger_names_free(&names);
}

/* Of every length, from every offset into a word. */
static void hash_test(struct kunit *test)
{
	struct memledger_hash_key key;
	hsiphash_key_t same;
	u8 data[64];
	size_t from, len;

	if (BITS_PER_LONG != 64 || IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		kunit_skip(test, "the kernel's is another one here");
	memledger_hash_key_init(&key);
	same.key[0] = key.word[0];
	same.key[1] = key.word[1];
	get_random_bytes(data, sizeof(data));
	for (from = 0; from < 8; from++) {
		for (len = 0; from + len <= sizeof(data); len++)
			KUNIT_EXPECT_EQ_MSG(test,
					    memledger_hash(&key, data + from,
							   len),
					    hsiphash(data + from, len, &same),
					    "%zu bytes from %zu", len, from);
	}
}

/* Who has found out where one table has its names knows nothing of another. */
static void names_key_test(struct kunit *test)
{
	const struct memledger_names_case c = { .name = "[anon:a]" };
	struct memledger_names a = {}, b = {};

	KUNIT_EXPECT_EQ(test, memledger_names_case_add(&a, &c), 0);
	KUNIT_EXPECT_EQ(test, memledger_names_case_add(&b, &c), 0);
	KUNIT_EXPECT_TRUE(test, memcmp(&a.key, &b.key, sizeof(a.key)));
	memledger_names_free(&a);
	memledger_names_free(&b);
}

static struct kunit_case unknown_tests[] = {
	KUNIT_CASE(class_test),
	KUNIT_CASE(class_needs_name_test),
	KUNIT_CASE(class_length_test),
	KUNIT_CASE(class_coverage_test),
	KUNIT_CASE(class_names_test),
	KUNIT_CASE(owner_test),
	KUNIT_CASE(path_test),
	KUNIT_CASE(names_test),
	KUNIT_CASE(names_growth_test),
	KUNIT_CASE(names_enough_test),
	KUNIT_CASE(names_empty_test),
	KUNIT_CASE(names_key_test),
	KUNIT_CASE(hash_test),
	{}
};

static struct kunit_suite unknown_suite = {
	.name = "memledger_unknown",
	.test_cases = unknown_tests,
};

kunit_test_suite(unknown_suite);
