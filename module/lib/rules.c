// SPDX-License-Identifier: GPL-2.0-only
/*
 * Android's rules as data: which name belongs in which row of dumpsys
 * meminfo. One list serves all releases; a row says which ones have it. The
 * first row of a release that matches wins, so the order is part of the
 * rules. classify.c is the engine.
 *
 * The names of the rules are for people, and for the vmas file, whose fields
 * are separated by blanks: a blank of the pattern is an underscore in them.
 */
#include <memledger/classify.h>

const char *const memledger_category_names[NR_MEMLEDGER_CATEGORIES] = {
#define X(id, name, label) #name,
	MEMLEDGER_CATEGORIES(X)
#undef X
};

const char *const memledger_category_labels[NR_MEMLEDGER_CATEGORIES] = {
#define X(id, name, label) label,
	MEMLEDGER_CATEGORIES(X)
#undef X
};

const char *const memledger_subcategory_names[NR_MEMLEDGER_SUBCATEGORIES] = {
#define X(id, name, label, category) #name,
	MEMLEDGER_SUBCATEGORIES(X)
#undef X
};

const char *const memledger_subcategory_labels[NR_MEMLEDGER_SUBCATEGORIES] = {
#define X(id, name, label, category) label,
	MEMLEDGER_SUBCATEGORIES(X)
#undef X
};

/* The releases that have a row. */
#define SINCE_10	0xf
#define SINCE_11	0xe
#define SINCE_16	0xc
#define SINCE_17	0x8
#define UNTIL_15	0x3

#define PATTERN(_pattern)						\
	.pattern = _pattern,						\
	.len = sizeof(_pattern) - 1,					\
	.last = _pattern[sizeof(_pattern) - 2]

#define PREFIX_NAMED(_profiles, _name, _pattern, _cat, _sub)		\
	{								\
		.name = "prefix:" _name,				\
		PATTERN(_pattern),					\
		.match = MEMLEDGER_MATCH_PREFIX,			\
		.category = MEMLEDGER_CAT_##_cat,			\
		.subcategory = MEMLEDGER_SUB_##_sub,			\
		.profiles = _profiles,					\
	}

#define PREFIX(_profiles, _pattern, _cat, _sub) \
	PREFIX_NAMED(_profiles, _pattern, _pattern, _cat, _sub)

/* Files: what is clean in them can be dropped and read again. */
#define FILE_ALSO(_profiles, _name, _pattern, _also, _cat, _sub)	\
	{								\
		.name = "suffix:" _name,				\
		PATTERN(_pattern),					\
		.also = _also,						\
		.match = MEMLEDGER_MATCH_SUFFIX,			\
		.category = MEMLEDGER_CAT_##_cat,			\
		.subcategory = MEMLEDGER_SUB_##_sub,			\
		.profiles = _profiles,					\
		.swappable = true,					\
	}

/* Files of the boot image, told from an app's by something in the path. */
#define BOOT_FILE(_profiles, _pattern, _also, _cat, _sub) \
	FILE_ALSO(_profiles, _pattern "+" _also, _pattern, _also, _cat, _sub)

#define FILE_SUFFIX(_profiles, _pattern, _cat, _sub) \
	FILE_ALSO(_profiles, _pattern, _pattern, NULL, _cat, _sub)

static const struct memledger_rule rules[] = {
	PREFIX(SINCE_10, "[heap]", NATIVE_HEAP, NONE),
	PREFIX(SINCE_10, "[anon:libc_malloc]", NATIVE_HEAP, NONE),
	PREFIX(SINCE_11, "[anon:scudo:", NATIVE_HEAP, NONE),
	PREFIX(SINCE_11, "[anon:GWP-ASan", NATIVE_HEAP, NONE),
	PREFIX(SINCE_10, "[stack", STACK, NONE),
	PREFIX(SINCE_10, "[anon:stack_and_tls:", STACK, NONE),

	FILE_SUFFIX(SINCE_10, ".so", SO_MMAP, NONE),
	FILE_SUFFIX(SINCE_10, ".jar", JAR_MMAP, NONE),
	FILE_SUFFIX(SINCE_10, ".apk", APK_MMAP, NONE),
	FILE_SUFFIX(SINCE_10, ".ttf", TTF_MMAP, NONE),
	FILE_SUFFIX(SINCE_10, ".odex", DEX_MMAP, APP_DEX),
	{
		.name = "contains:.dex",
		PATTERN(".dex"),
		.min_len = 5,
		.match = MEMLEDGER_MATCH_CONTAINS,
		.category = MEMLEDGER_CAT_DEX_MMAP,
		.subcategory = MEMLEDGER_SUB_APP_DEX,
		.profiles = SINCE_10,
		.swappable = true,
	},
	BOOT_FILE(SINCE_10, ".vdex", "@boot", DEX_MMAP, BOOT_VDEX),
	BOOT_FILE(SINCE_10, ".vdex", "/boot", DEX_MMAP, BOOT_VDEX),
	BOOT_FILE(SINCE_11, ".vdex", "/apex", DEX_MMAP, BOOT_VDEX),
	FILE_SUFFIX(SINCE_10, ".vdex", DEX_MMAP, APP_VDEX),
	FILE_SUFFIX(SINCE_10, ".oat", OAT_MMAP, NONE),
	BOOT_FILE(SINCE_10, ".art", "@boot", ART_MMAP, BOOT_ART),
	BOOT_FILE(SINCE_10, ".art", "/boot", ART_MMAP, BOOT_ART),
	BOOT_FILE(SINCE_11, ".art", "/apex", ART_MMAP, BOOT_ART),
	FILE_SUFFIX(SINCE_10, ".art", ART_MMAP, APP_ART),
	BOOT_FILE(SINCE_10, ".art]", "@boot", ART_MMAP, BOOT_ART),
	BOOT_FILE(SINCE_10, ".art]", "/boot", ART_MMAP, BOOT_ART),
	BOOT_FILE(SINCE_11, ".art]", "/apex", ART_MMAP, BOOT_ART),
	FILE_SUFFIX(SINCE_10, ".art]", ART_MMAP, APP_ART),

	/* With kernels from 6.6 on the mappings may be called /kgsl-3d0. */
	{
		.name = "contains:kgsl-3d0",
		PATTERN("kgsl-3d0"),
		.match = MEMLEDGER_MATCH_CONTAINS,
		.category = MEMLEDGER_CAT_GFX_DEV,
		.subcategory = MEMLEDGER_SUB_NONE,
		.profiles = SINCE_16,
	},
	PREFIX(UNTIL_15, "/dev/kgsl-3d0", GFX_DEV, NONE),
	PREFIX(SINCE_10, "/dev/ashmem/CursorWindow", CURSOR, NONE),
	PREFIX(SINCE_11, "/dev/ashmem/jit-zygote-cache",
	       DALVIK_OTHER, ZYGOTE_JIT),
	PREFIX(SINCE_10, "/dev/ashmem", ASHMEM, NONE),
	PREFIX(SINCE_10, "/dev/", OTHER_DEV, NONE),
	PREFIX(SINCE_11, "/memfd:jit-cache", DALVIK_OTHER, APP_JIT),
	PREFIX(SINCE_11, "/memfd:jit-zygote-cache", DALVIK_OTHER, ZYGOTE_JIT),
	PREFIX(SINCE_17, "/memfd:CursorWindow", CURSOR, NONE),
	PREFIX(SINCE_17, "/memfd:", MEMFD, NONE),

	PREFIX(SINCE_10, "[anon:dalvik-LinearAlloc",
	       DALVIK_OTHER, LINEAR_ALLOC),
	PREFIX_NAMED(SINCE_10, "[anon:dalvik-alloc_space",
		     "[anon:dalvik-alloc space", DALVIK_HEAP, HEAP),
	PREFIX_NAMED(SINCE_10, "[anon:dalvik-main_space",
		     "[anon:dalvik-main space", DALVIK_HEAP, HEAP),
	PREFIX_NAMED(SINCE_10, "[anon:dalvik-large_object_space",
		     "[anon:dalvik-large object space", DALVIK_HEAP, LOS),
	PREFIX_NAMED(SINCE_10, "[anon:dalvik-free_list_large_object_space",
		     "[anon:dalvik-free list large object space",
		     DALVIK_HEAP, LOS),
	PREFIX_NAMED(SINCE_10, "[anon:dalvik-non_moving_space",
		     "[anon:dalvik-non moving space", DALVIK_HEAP, NON_MOVING),
	PREFIX_NAMED(SINCE_10, "[anon:dalvik-zygote_space",
		     "[anon:dalvik-zygote space", DALVIK_HEAP, ZYGOTE),
	PREFIX_NAMED(SINCE_10, "[anon:dalvik-indirect_ref",
		     "[anon:dalvik-indirect ref", DALVIK_OTHER, INDIRECT_REF),
	PREFIX(SINCE_10, "[anon:dalvik-jit-code-cache", DALVIK_OTHER, APP_JIT),
	PREFIX(SINCE_10, "[anon:dalvik-data-code-cache",
	       DALVIK_OTHER, APP_JIT),
	PREFIX(SINCE_10, "[anon:dalvik-CompilerMetadata",
	       DALVIK_OTHER, COMPILER_METADATA),
	PREFIX(SINCE_10, "[anon:dalvik-", DALVIK_OTHER, GC),
	PREFIX(SINCE_10, "[anon:", UNKNOWN, NONE),

	/* A library's .bss, which no file backs, lies right behind it. */
	{
		.name = "after:.so",
		.match = MEMLEDGER_MATCH_AFTER_SO,
		.category = MEMLEDGER_CAT_SO_MMAP,
		.subcategory = MEMLEDGER_SUB_NONE,
		.profiles = SINCE_10,
	},
	{
		.name = "named",
		.match = MEMLEDGER_MATCH_NAMED,
		.category = MEMLEDGER_CAT_OTHER_MMAP,
		.subcategory = MEMLEDGER_SUB_NONE,
		.profiles = SINCE_10,
	},
	{
		.name = "unnamed",
		.match = MEMLEDGER_MATCH_UNNAMED,
		.category = MEMLEDGER_CAT_UNKNOWN,
		.subcategory = MEMLEDGER_SUB_NONE,
		.profiles = SINCE_10,
	},
};

#define ALL_CATEGORIES		((1U << NR_MEMLEDGER_CATEGORIES) - 1)
#define CATEGORIES_TO_16	(ALL_CATEGORIES & ~(1U << MEMLEDGER_CAT_MEMFD))
#define ALL_SUBCATEGORIES	((1U << NR_MEMLEDGER_SUBCATEGORIES) - 1)
#define SUBCATEGORIES_10 \
	(ALL_SUBCATEGORIES & ~(1U << MEMLEDGER_SUB_ZYGOTE_JIT))

const struct memledger_profile memledger_profiles[] = {
	{
		.name = "android10",
		.rules = rules,
		.nr_rules = ARRAY_SIZE(rules),
		.bit = 0x1,
		.categories = CATEGORIES_TO_16,
		.subcategories = SUBCATEGORIES_10,
		.app_jit_label = ".JITCache",
	},
	{
		.name = "android11",
		.rules = rules,
		.nr_rules = ARRAY_SIZE(rules),
		.bit = 0x2,
		.flags = MEMLEDGER_PROFILE_JIT_IS_CODE,
		.categories = CATEGORIES_TO_16,
		.subcategories = ALL_SUBCATEGORIES,
		.app_jit_label = ".AppJIT",
	},
	{
		.name = "android16",
		.rules = rules,
		.nr_rules = ARRAY_SIZE(rules),
		.bit = 0x4,
		.flags = MEMLEDGER_PROFILE_JIT_IS_CODE |
			 MEMLEDGER_PROFILE_MTE_GLOBALS,
		.categories = CATEGORIES_TO_16,
		.subcategories = ALL_SUBCATEGORIES,
		.app_jit_label = ".AppJIT",
	},
	{
		.name = "android17",
		.rules = rules,
		.nr_rules = ARRAY_SIZE(rules),
		.bit = 0x8,
		.flags = MEMLEDGER_PROFILE_JIT_IS_CODE |
			 MEMLEDGER_PROFILE_MTE_GLOBALS,
		.categories = ALL_CATEGORIES,
		.subcategories = ALL_SUBCATEGORIES,
		.app_jit_label = ".AppJIT",
	},
};

const unsigned int nr_memledger_profiles = ARRAY_SIZE(memledger_profiles);
