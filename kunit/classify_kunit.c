// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names in, rows out: classify.c with the tables of rules.c, against
 * classify_cases.h, and the tables against themselves.
 */
#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/module.h>

#include <kunit/test.h>

#include "../module/lib/rules.c"
#include "../module/lib/classify.c"

#include "classify_cases.h"

static const enum memledger_category subcategory_parents[] = {
#define X(id, name, label, category) MEMLEDGER_CAT_##category,
	MEMLEDGER_SUBCATEGORIES(X)
#undef X
};

static bool has_rule(const struct memledger_profile *profile,
		     const struct memledger_rule *rule)
{
	return rule->profiles & profile->bit;
}

static const struct memledger_profile *
case_profile(struct kunit *test, const struct memledger_classify_case *c,
	     unsigned int i)
{
	const struct memledger_profile *profile;

	if (!(c->profiles & BIT(i)))
		return NULL;
	profile = memledger_profile_find(memledger_classify_case_profiles[i]);
	KUNIT_ASSERT_NOT_NULL(test, profile);
	return profile;
}

static void case_desc(const struct memledger_classify_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s (0x%x)", c->desc,
		 c->profiles);
}

KUNIT_ARRAY_PARAM(cases, memledger_classify_cases, case_desc);

static void classify_case_test(struct kunit *test)
{
	const struct memledger_classify_case *c = test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(memledger_classify_case_profiles); i++) {
		const struct memledger_profile *profile =
			case_profile(test, c, i);
		struct memledger_verdict verdict;
		char *name;

		if (!profile)
			continue;
		/* Without a NUL, so that KASAN sees a read behind the end. */
		name = kunit_kmalloc(test, strlen(c->name) ?: 1, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, name);
		memcpy(name, c->name, strlen(c->name));

		verdict = memledger_classify_case_run(c, profile, name);
		KUNIT_ASSERT_NOT_NULL(test, verdict.rule);
		KUNIT_EXPECT_TRUE_MSG(test, has_rule(profile, verdict.rule),
				      "%s: \"%.80s\" by rule %s",
				      profile->name, c->name,
				      verdict.rule->name);
		KUNIT_EXPECT_EQ_MSG(test, verdict.category, c->category,
				    "%s: \"%.80s\" by rule %s", profile->name,
				    c->name, verdict.rule->name);
		KUNIT_EXPECT_EQ_MSG(test, verdict.subcategory, c->subcategory,
				    "%s: \"%.80s\" by rule %s", profile->name,
				    c->name, verdict.rule->name);
		KUNIT_EXPECT_EQ_MSG(test, verdict.swappable, c->swappable,
				    "%s: \"%.80s\" by rule %s", profile->name,
				    c->name, verdict.rule->name);
	}
}

/* Where the end of a path is enough, it is placed as the path is. */
static void classify_tail_case_test(struct kunit *test)
{
	const struct memledger_classify_case *c = test->param_value;
	const char *slash = strrchr(c->name, '/');
	unsigned int i;
	size_t len;
	char *tail;

	if (c->name[0] != '/')
		return;
	/* Without a NUL, as above. */
	len = strlen(slash + 1);
	tail = kunit_kmalloc(test, len ?: 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tail);
	memcpy(tail, slash + 1, len);
	for (i = 0; i < ARRAY_SIZE(memledger_classify_case_profiles); i++) {
		const struct memledger_profile *profile =
			case_profile(test, c, i);
		struct memledger_verdict verdict = {};

		if (!profile)
			continue;
		if (!memledger_classify_tail(profile, tail, len, c->deleted,
					     &verdict)) {
			KUNIT_EXPECT_NULL(test, verdict.rule);
			continue;
		}
		KUNIT_EXPECT_PTR_EQ_MSG(test, verdict.rule,
					memledger_classify_case_run(c, profile,
								    c->name).rule,
					"%s: \"%.80s\"", profile->name,
					c->name);
		KUNIT_EXPECT_EQ(test, verdict.category, c->category);
		KUNIT_EXPECT_EQ(test, verdict.subcategory, c->subcategory);
		KUNIT_EXPECT_EQ(test, verdict.unknown,
				MEMLEDGER_UNKNOWN_NONE);
		KUNIT_EXPECT_EQ(test, verdict.swappable, c->swappable);
	}
}

struct tail_case {
	const char *tail;
	bool deleted;
	s16 category;
};

#define NOT_ENOUGH	(-1)

/* What a tail tells, whatever the directory may be called. */
static void classify_tail_test(struct kunit *test)
{
	static const struct tail_case cases[] = {
		{ "libc.so", false, MEMLEDGER_CAT_SO_MMAP },
		{ "libc.so", true, MEMLEDGER_CAT_SO_MMAP },
		{ "libc.so (deleted)", false, MEMLEDGER_CAT_SO_MMAP },
		{ "libc.so (deleted)", true, NOT_ENOUGH },
		{ "a.jar", false, MEMLEDGER_CAT_JAR_MMAP },
		{ "base.apk", false, MEMLEDGER_CAT_APK_MMAP },
		{ "Roboto.ttf", false, MEMLEDGER_CAT_TTF_MMAP },
		{ "base.odex", false, MEMLEDGER_CAT_DEX_MMAP },
		{ "classes.dex", false, MEMLEDGER_CAT_DEX_MMAP },
		{ "classes.dex.so", false, MEMLEDGER_CAT_SO_MMAP },
		{ "[anon:mt:x.so+1]", false, NOT_ENOUGH },
		{ "[heap]", false, NOT_ENOUGH },
		{ "[anon:scudo:primary].so", false, MEMLEDGER_CAT_SO_MMAP },
		/* "/x.dex/base.vdex" and "/base.vdex" differ; so do others. */
		{ "base.vdex", false, NOT_ENOUGH },
		{ "@boot.art", false, NOT_ENOUGH },
		{ "boot.oat", false, NOT_ENOUGH },
		{ "kgsl-3d0", false, NOT_ENOUGH },
		{ "so", false, NOT_ENOUGH },
		{ ".so", false, MEMLEDGER_CAT_SO_MMAP },
		{ "", false, NOT_ENOUGH },
		{ " (deleted)", false, NOT_ENOUGH },
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct tail_case *c = &cases[i];

		for (j = 0; j < nr_memledger_profiles; j++) {
			struct memledger_verdict verdict = {};
			bool enough;

			enough = memledger_classify_tail(&memledger_profiles[j],
							 c->tail,
							 strlen(c->tail),
							 c->deleted, &verdict);
			KUNIT_EXPECT_EQ_MSG(test, enough,
					    c->category != NOT_ENOUGH,
					    "\"%s\"", c->tail);
			if (enough)
				KUNIT_EXPECT_EQ_MSG(test, verdict.category,
						    c->category, "\"%s\"",
						    c->tail);
		}
	}
}

static bool case_hits(const struct memledger_classify_case *c,
		      const struct memledger_profile *profile,
		      const struct memledger_rule *rule)
{
	return memledger_classify_case_run(c, profile, c->name).rule == rule;
}

/* Each rule of each profile is there for some case. */
static void classify_coverage_test(struct kunit *test)
{
	unsigned int i, j, k;

	KUNIT_ASSERT_EQ(test, (size_t)nr_memledger_profiles,
			ARRAY_SIZE(memledger_classify_case_profiles));
	for (i = 0; i < nr_memledger_profiles; i++) {
		const struct memledger_profile *profile =
			&memledger_profiles[i];

		KUNIT_ASSERT_STREQ(test, profile->name,
				   memledger_classify_case_profiles[i]);
		for (j = 0; j < profile->nr_rules; j++) {
			const struct memledger_rule *rule = &profile->rules[j];
			bool hit = !has_rule(profile, rule);

			for (k = 0; !hit &&
			     k < ARRAY_SIZE(memledger_classify_cases); k++)
				hit = (memledger_classify_cases[k].profiles & BIT(i)) &&
				      case_hits(&memledger_classify_cases[k],
						profile, rule);
			KUNIT_EXPECT_TRUE_MSG(test, hit,
					      "no case for rule %s of %s",
					      rule->name, profile->name);
		}
	}
}

/* Names are printed between blanks, and say which rule it was. */
static void rule_names_test(struct kunit *test)
{
	unsigned int i, j, k;
	const char *p;

	for (i = 0; i < nr_memledger_profiles; i++) {
		const struct memledger_profile *profile =
			&memledger_profiles[i];

		for (j = 0; j < profile->nr_rules; j++) {
			const char *name = profile->rules[j].name;

			KUNIT_EXPECT_NE(test, name[0], '\0');
			for (p = name; *p; p++)
				KUNIT_EXPECT_TRUE_MSG(test, isgraph(*p),
						      "\"%s\"", name);
			for (k = 0; k < j; k++)
				KUNIT_EXPECT_STRNEQ(test, name,
						    profile->rules[k].name);
		}
	}
}

static void last_rules_test(struct kunit *test)
{
	static const enum memledger_match matches[] = {
		MEMLEDGER_MATCH_UNNAMED, MEMLEDGER_MATCH_NAMED,
	};
	unsigned int i, j;

	for (i = 0; i < nr_memledger_profiles; i++) {
		const struct memledger_profile *profile =
			&memledger_profiles[i];

		KUNIT_ASSERT_GE(test, profile->nr_rules, 2U);
		for (j = 0; j < ARRAY_SIZE(matches); j++) {
			const struct memledger_rule *rule =
				&profile->rules[profile->nr_rules - 1 - j];

			KUNIT_EXPECT_EQ(test, (int)rule->match,
					(int)matches[j]);
			KUNIT_EXPECT_TRUE(test, has_rule(profile, rule));
			KUNIT_EXPECT_NULL(test, rule->also);
			KUNIT_EXPECT_EQ(test, (int)rule->min_len, 0);
		}
	}
}

/* A profile has the rows that its rules fill, and a driver's, and no other. */
static void profile_masks_test(struct kunit *test)
{
	const u32 driver = BIT(MEMLEDGER_CAT_EGL_MTRACK) |
			   BIT(MEMLEDGER_CAT_GL_MTRACK) |
			   BIT(MEMLEDGER_CAT_OTHER_MTRACK);
	unsigned int i, j;

	for (i = 0; i < nr_memledger_profiles; i++) {
		const struct memledger_profile *profile =
			&memledger_profiles[i];
		u32 categories = 0, subcategories = 0;

		for (j = 0; j < profile->nr_rules; j++) {
			const struct memledger_rule *rule = &profile->rules[j];

			if (!has_rule(profile, rule))
				continue;
			KUNIT_ASSERT_LT(test, (int)rule->category,
					(int)NR_MEMLEDGER_CATEGORIES);
			categories |= BIT(rule->category);
			if (rule->subcategory == MEMLEDGER_SUB_NONE)
				continue;
			KUNIT_ASSERT_LT(test, (int)rule->subcategory,
					(int)NR_MEMLEDGER_SUBCATEGORIES);
			subcategories |= BIT(rule->subcategory);
			KUNIT_EXPECT_EQ_MSG(test, (int)rule->category,
					    (int)subcategory_parents[rule->subcategory],
					    "rule %s of %s", rule->name,
					    profile->name);
		}
		KUNIT_EXPECT_EQ_MSG(test, categories & driver, 0U, "%s",
				    profile->name);
		KUNIT_EXPECT_EQ_MSG(test, categories | driver,
				    profile->categories, "%s", profile->name);
		KUNIT_EXPECT_EQ_MSG(test, subcategories,
				    profile->subcategories, "%s",
				    profile->name);
	}
}

struct profile_case {
	const char *name;
	bool mte_globals;
	bool jit_is_code;
	bool memfd;
	bool zygote_jit;
	const char *app_jit_label;
};

static const struct profile_case profile_cases[] = {
	{ "android10", false, false, false, false, ".JITCache" },
	{ "android11", false, true, false, true, ".AppJIT" },
	{ "android16", true, true, false, true, ".AppJIT" },
	{ "android17", true, true, true, true, ".AppJIT" },
};

static void profile_case_desc(const struct profile_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(profiles, profile_cases, profile_case_desc);

static void profile_test(struct kunit *test)
{
	const struct profile_case *c = test->param_value;
	const struct memledger_profile *p = memledger_profile_find(c->name);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_STREQ(test, p->name, c->name);
	KUNIT_EXPECT_EQ(test, !!(p->flags & MEMLEDGER_PROFILE_MTE_GLOBALS),
			c->mte_globals);
	KUNIT_EXPECT_EQ(test, !!(p->flags & MEMLEDGER_PROFILE_JIT_IS_CODE),
			c->jit_is_code);
	KUNIT_EXPECT_EQ(test, !!(p->categories & BIT(MEMLEDGER_CAT_MEMFD)),
			c->memfd);
	KUNIT_EXPECT_EQ(test,
			!!(p->subcategories & BIT(MEMLEDGER_SUB_ZYGOTE_JIT)),
			c->zygote_jit);
	KUNIT_EXPECT_STREQ(test, p->app_jit_label, c->app_jit_label);
}

/* Without names of anonymous memory nothing leads to these rows. */
static void profile_without_names_test(struct kunit *test)
{
	const u32 details = BIT(MEMLEDGER_SUB_HEAP) | BIT(MEMLEDGER_SUB_LOS) |
			    BIT(MEMLEDGER_SUB_ZYGOTE) |
			    BIT(MEMLEDGER_SUB_NON_MOVING) |
			    BIT(MEMLEDGER_SUB_LINEAR_ALLOC) |
			    BIT(MEMLEDGER_SUB_GC) |
			    BIT(MEMLEDGER_SUB_COMPILER_METADATA) |
			    BIT(MEMLEDGER_SUB_INDIRECT_REF);
	const u32 mtrack = BIT(MEMLEDGER_CAT_EGL_MTRACK) |
			   BIT(MEMLEDGER_CAT_GL_MTRACK) |
			   BIT(MEMLEDGER_CAT_OTHER_MTRACK);
	const u32 no_names = MEMLEDGER_UNAVAILABLE_ANON_NAMES;
	const u32 no_gpu = MEMLEDGER_UNAVAILABLE_MTRACK;
	const u32 no_rule = MEMLEDGER_UNAVAILABLE_IMPORTED;
	unsigned int i, row;

	for (i = 0; i < nr_memledger_profiles; i++) {
		const struct memledger_profile *p = &memledger_profiles[i];
		bool is_10 = !strcmp(p->name, "android10");
		u32 categories = BIT(MEMLEDGER_CAT_DALVIK_HEAP);
		u32 subcategories = details;

		/* Its JIT caches are anonymous, later ones' may be memfds. */
		if (is_10) {
			categories |= BIT(MEMLEDGER_CAT_DALVIK_OTHER);
			subcategories |= BIT(MEMLEDGER_SUB_APP_JIT);
		}
		for (row = 0; row < NR_MEMLEDGER_CATEGORIES; row++) {
			bool has = p->categories & BIT(row), is;

			is = memledger_profile_has_category(p, row, 0);
			KUNIT_EXPECT_EQ(test, has, is);
			is = memledger_profile_has_category(p, row, no_names);
			KUNIT_EXPECT_EQ(test, has && !(categories & BIT(row)),
					is);
			is = memledger_profile_has_category(p, row, no_gpu);
			KUNIT_EXPECT_EQ(test, has && !(mtrack & BIT(row)), is);
			is = memledger_profile_has_category(p, row, no_rule);
			KUNIT_EXPECT_EQ(test, has &&
					row != MEMLEDGER_CAT_EGL_MTRACK, is);
		}
		for (row = 0; row < NR_MEMLEDGER_SUBCATEGORIES; row++) {
			bool has = p->subcategories & BIT(row), is;

			is = memledger_profile_has_subcategory(p, row, 0);
			KUNIT_EXPECT_EQ(test, has, is);
			is = memledger_profile_has_subcategory(p, row,
							       no_names);
			KUNIT_EXPECT_EQ(test,
					has && !(subcategories & BIT(row)), is);
		}
	}
}

static void profile_find_test(struct kunit *test)
{
	static const char *const unknown[] = {
		"", "android", "android1", "android12", "android160",
		"Android16", " android16", "android16 ", "android16\n",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		KUNIT_EXPECT_NULL_MSG(test, memledger_profile_find(unknown[i]),
				      "\"%s\"", unknown[i]);
	KUNIT_EXPECT_NOT_NULL(test,
			      memledger_profile_find(MEMLEDGER_DEFAULT_PROFILE));
}

struct length_case {
	const char *text;
	size_t len;
	enum memledger_category category;
};

/* The name ends where its length says; what lies behind is not looked at. */
static void name_length_test(struct kunit *test)
{
	static const struct length_case cases[] = {
		{ "/x.so.6", 5, MEMLEDGER_CAT_SO_MMAP },
		{ "/x.so", 4, MEMLEDGER_CAT_OTHER_MMAP },
		{ "[heap]", 5, MEMLEDGER_CAT_OTHER_MMAP },
		{ "[anon:libc_malloc]", 17, MEMLEDGER_CAT_UNKNOWN },
		{ "/x.dex", 5, MEMLEDGER_CAT_OTHER_MMAP },
		{ "/dev/kgsl-3d0", 12, MEMLEDGER_CAT_OTHER_DEV },
		{ "/x.so (deleted)", 14, MEMLEDGER_CAT_OTHER_MMAP },
		{ "/x.so (deleted)y", 15, MEMLEDGER_CAT_SO_MMAP },
		{ "[anon:mt:/x.so+1]", 16, MEMLEDGER_CAT_UNKNOWN },
		{ "[heap]", 0, MEMLEDGER_CAT_UNKNOWN },
	};
	struct memledger_classifier classifier;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct memledger_mapping mapping = {
			.start = 0x1000,
			.end = 0x2000,
			.name = cases[i].text,
			.len = cases[i].len,
		};

		memledger_classifier_init(&classifier,
					  memledger_profile_find("android16"));
		KUNIT_EXPECT_EQ_MSG(test,
				    memledger_classifier_next(&classifier,
							      &mapping).category,
				    (u8)cases[i].category, "\"%s\", %zu",
				    cases[i].text, cases[i].len);
	}
}

/* As long as a path can be, with what decides at its end, or in its middle. */
static void long_name_test(struct kunit *test)
{
	static const struct {
		const char *text;
		size_t at;
		enum memledger_category category;
	} cases[] = {
		{ "/", 0, MEMLEDGER_CAT_OTHER_MMAP },
		{ "[anon:", 0, MEMLEDGER_CAT_UNKNOWN },
		{ ".so", PATH_MAX - 3, MEMLEDGER_CAT_SO_MMAP },
		{ ".so", PATH_MAX - 4, MEMLEDGER_CAT_OTHER_MMAP },
		{ ".dex", PATH_MAX / 2, MEMLEDGER_CAT_DEX_MMAP },
		{ "kgsl-3d0", PATH_MAX - 8, MEMLEDGER_CAT_GFX_DEV },
	};
	struct memledger_classifier classifier;
	struct memledger_mapping mapping = { .end = 1, .len = PATH_MAX };
	char *name = kunit_kmalloc(test, PATH_MAX, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, name);
	mapping.name = name;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(name, 'a', PATH_MAX);
		memcpy(name + cases[i].at, cases[i].text,
		       strlen(cases[i].text));
		memledger_classifier_init(&classifier,
					  memledger_profile_find("android16"));
		KUNIT_EXPECT_EQ_MSG(test,
				    memledger_classifier_next(&classifier,
							      &mapping).category,
				    (u8)cases[i].category, "%s at %zu",
				    cases[i].text, cases[i].at);
	}
}

/* ABI names are directories: one each, small letters, digits, underscores. */
static void expect_names(struct kunit *test, const char *const *names,
			 const char *const *labels, unsigned int nr)
{
	unsigned int i, j;
	const char *p;

	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_NOT_NULL(test, names[i]);
		KUNIT_ASSERT_NOT_NULL(test, labels[i]);
		KUNIT_EXPECT_GT(test, strlen(names[i]), 0UL);
		KUNIT_EXPECT_GT(test, strlen(labels[i]), 0UL);
		for (p = names[i]; *p; p++)
			KUNIT_EXPECT_TRUE_MSG(test,
					      islower(*p) || isdigit(*p) ||
					      *p == '_', "%s", names[i]);
		for (j = 0; j < i; j++) {
			KUNIT_EXPECT_STRNEQ(test, names[i], names[j]);
			KUNIT_EXPECT_STRNEQ(test, labels[i], labels[j]);
		}
	}
}

static void abi_names_test(struct kunit *test)
{
	expect_names(test, memledger_category_names,
		     memledger_category_labels, NR_MEMLEDGER_CATEGORIES);
	expect_names(test, memledger_subcategory_names,
		     memledger_subcategory_labels,
		     NR_MEMLEDGER_SUBCATEGORIES);
	KUNIT_EXPECT_STREQ(test,
			   memledger_category_names[MEMLEDGER_CAT_EGL_MTRACK],
			   "egl_mtrack");
	KUNIT_EXPECT_STREQ(test,
			   memledger_category_labels[MEMLEDGER_CAT_SO_MMAP],
			   ".so mmap");
	KUNIT_EXPECT_STREQ(test,
			   memledger_subcategory_names[MEMLEDGER_SUB_BOOT_ART],
			   "boot_art");
	KUNIT_EXPECT_STREQ(test,
			   memledger_subcategory_labels[MEMLEDGER_SUB_LOS],
			   ".LOS");
}

static struct kunit_case classify_tests[] = {
	KUNIT_CASE_PARAM(classify_case_test, cases_gen_params),
	KUNIT_CASE_PARAM(classify_tail_case_test, cases_gen_params),
	KUNIT_CASE(classify_tail_test),
	KUNIT_CASE(classify_coverage_test),
	KUNIT_CASE(rule_names_test),
	KUNIT_CASE(last_rules_test),
	KUNIT_CASE(profile_masks_test),
	KUNIT_CASE_PARAM(profile_test, profiles_gen_params),
	KUNIT_CASE(profile_without_names_test),
	KUNIT_CASE(profile_find_test),
	KUNIT_CASE(name_length_test),
	KUNIT_CASE(long_name_test),
	KUNIT_CASE(abi_names_test),
	{}
};

static struct kunit_suite classify_suite = {
	.name = "memledger_classify",
	.test_cases = classify_tests,
};

kunit_test_suite(classify_suite);

MODULE_DESCRIPTION("KUnit tests of memledger");
MODULE_LICENSE("GPL");
