/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of KUnit as the suites about account.c, graphics.c and dmabuf.c of
 * module/lib use, so that they run on the host, too, where the sanitizers watch
 * and gcov counts. Prints what is wrong; run.py makes a test of each suite.
 */
#ifndef _MEMLEDGER_TESTS_KUNIT_TEST_H
#define _MEMLEDGER_TESTS_KUNIT_TEST_H

#include <stdarg.h>
#include <time.h>

#include <memledger/env.h>

/* What the suites take from the kernel by way of <kunit/test.h>. */
#define BIT(nr)			(1U << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define U32_MAX			(~0U)
#define kvzalloc(size, gfp)	calloc(1, size)
#define ktime_get_ns()		((u64)clock() * (1000000000 / CLOCKS_PER_SEC))
#define div_u64(a, b)		((a) / (b))

static inline void strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

#define KUNIT_PARAM_DESC_SIZE	128

struct kunit {
	const void *param_value;
	char desc[KUNIT_PARAM_DESC_SIZE];
	void *allocated[4];
	unsigned int nr;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	const struct kunit_case *test_cases;
};

#define KUNIT_CASE(test)		{ .run_case = test }
#define KUNIT_CASE_PARAM(test, params)	\
	{ .run_case = test, .generate_params = params }

#define KUNIT_ARRAY_PARAM(name, array, describe)			\
static const void *name##_gen_params(const void *prev, char *desc)	\
{									\
	typeof(&(array)[0]) next = prev;				\
									\
	next = next ? next + 1 : (array);				\
	if (next == (array) + ARRAY_SIZE(array))			\
		return NULL;						\
	describe(next, desc);						\
	return next;							\
}

static int kunit_failures;

static inline __attribute__((format(printf, 5, 6))) void
kunit_check(const struct kunit *test, bool good, int line, const char *what,
	    const char *format, ...)
{
	va_list args;

	if (good)
		return;
	kunit_failures++;
	printf("line %d, %s: %s: ", line, test->desc, what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

#define KUNIT_EXPECT_TRUE_MSG(test, good, ...) \
	kunit_check(test, good, __LINE__, #good, __VA_ARGS__)
#define KUNIT_EXPECT_TRUE(test, good) \
	KUNIT_EXPECT_TRUE_MSG(test, good, "not so")
#define KUNIT_EXPECT_FALSE(test, bad)	KUNIT_EXPECT_TRUE(test, !(bad))
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...) \
	KUNIT_EXPECT_TRUE_MSG(test, (a) == (b), __VA_ARGS__)
#define KUNIT_EXPECT_EQ(test, a, b)	KUNIT_EXPECT_TRUE(test, (a) == (b))
#define KUNIT_EXPECT_PTR_EQ		KUNIT_EXPECT_EQ
#define KUNIT_EXPECT_GE(test, a, b)	KUNIT_EXPECT_TRUE(test, (a) >= (b))
#define KUNIT_EXPECT_GT(test, a, b)	KUNIT_EXPECT_TRUE(test, (a) > (b))
#define KUNIT_EXPECT_LE(test, a, b)	KUNIT_EXPECT_TRUE(test, (a) <= (b))
#define KUNIT_EXPECT_LT(test, a, b)	KUNIT_EXPECT_TRUE(test, (a) < (b))
#define KUNIT_EXPECT_NOT_NULL(test, p)	KUNIT_EXPECT_TRUE(test, (p) != NULL)
#define KUNIT_EXPECT_STREQ(test, a, b)	KUNIT_EXPECT_TRUE(test, !strcmp(a, b))

/* What comes behind needs it: there is no going on. */
#define KUNIT_ASSERT_EQ_MSG(test, a, b, ...)				\
	do {								\
		KUNIT_EXPECT_EQ_MSG(test, a, b, __VA_ARGS__);		\
		if (kunit_failures)					\
			exit(1);					\
	} while (0)
#define KUNIT_ASSERT_EQ(test, a, b) \
	KUNIT_ASSERT_EQ_MSG(test, a, b, "no going on")
#define KUNIT_ASSERT_NOT_NULL(test, p) \
	KUNIT_ASSERT_EQ(test, (p) != NULL, true)

#define kunit_info(test, ...)	printf(__VA_ARGS__)

/* Freed when the test is over. */
static inline void *kunit_keep(struct kunit *test, void *memory)
{
	if (test->nr == ARRAY_SIZE(test->allocated))
		abort();
	test->allocated[test->nr++] = memory;
	return memory;
}

#define kunit_kzalloc(test, size, gfp)	kunit_keep(test, calloc(1, size))

static inline void kunit_run(const struct kunit_case *c)
{
	struct kunit test = {};

	do {
		if (c->generate_params)
			test.param_value =
				c->generate_params(test.param_value, test.desc);
		if (c->generate_params && !test.param_value)
			return;
		c->run_case(&test);
		while (test.nr)
			free(test.allocated[--test.nr]);
	} while (c->generate_params);
}

extern const struct kunit_suite *const kunit_this_suite;

#define kunit_test_suite(suite) \
	const struct kunit_suite *const kunit_this_suite = &(suite)

int main(void)
{
	const struct kunit_case *c;

	for (c = kunit_this_suite->test_cases; c->run_case; c++)
		kunit_run(c);
	return !!kunit_failures;
}

#endif
