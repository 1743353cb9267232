/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of dumpsys meminfo: what a mapping can be counted as.
 *
 * The lists are X-macros so that the enum, the ABI names (directories in
 * sysfs, keys in JSON) and the labels of the table cannot drift apart.
 */
#ifndef _MEMLEDGER_CATEGORY_H
#define _MEMLEDGER_CATEGORY_H

#include <memledger/env.h>

/* X(ID, ABI name, label in the table); the order is the ABI's. */
#define MEMLEDGER_CATEGORIES(X)						\
	X(UNKNOWN,	unknown,	"Unknown")			\
	X(DALVIK_HEAP,	dalvik_heap,	"Dalvik Heap")			\
	X(NATIVE_HEAP,	native_heap,	"Native Heap")			\
	X(DALVIK_OTHER,	dalvik_other,	"Dalvik Other")			\
	X(STACK,	stack,		"Stack")			\
	X(CURSOR,	cursor,		"Cursor")			\
	X(ASHMEM,	ashmem,		"Ashmem")			\
	X(GFX_DEV,	gfx_dev,	"Gfx dev")			\
	X(OTHER_DEV,	other_dev,	"Other dev")			\
	X(SO_MMAP,	so_mmap,	".so mmap")			\
	X(JAR_MMAP,	jar_mmap,	".jar mmap")			\
	X(APK_MMAP,	apk_mmap,	".apk mmap")			\
	X(TTF_MMAP,	ttf_mmap,	".ttf mmap")			\
	X(DEX_MMAP,	dex_mmap,	".dex mmap")			\
	X(OAT_MMAP,	oat_mmap,	".oat mmap")			\
	X(ART_MMAP,	art_mmap,	".art mmap")			\
	X(OTHER_MMAP,	other_mmap,	"Other mmap")			\
	X(EGL_MTRACK,	egl_mtrack,	"EGL mtrack")			\
	X(GL_MTRACK,	gl_mtrack,	"GL mtrack")			\
	X(OTHER_MTRACK,	other_mtrack,	"Other mtrack")			\
	X(MEMFD,	memfd,		"Memfd")

/* X(ID, ABI name, label, the category it details). */
#define MEMLEDGER_SUBCATEGORIES(X)					\
	X(HEAP,		heap,		".Heap",	DALVIK_HEAP)	\
	X(LOS,		los,		".LOS",		DALVIK_HEAP)	\
	X(ZYGOTE,	zygote,		".Zygote",	DALVIK_HEAP)	\
	X(NON_MOVING,	non_moving,	".NonMoving",	DALVIK_HEAP)	\
	X(LINEAR_ALLOC,	linear_alloc,	".LinearAlloc",	DALVIK_OTHER)	\
	X(GC,		gc,		".GC",		DALVIK_OTHER)	\
	X(ZYGOTE_JIT,	zygote_jit,	".ZygoteJIT",	DALVIK_OTHER)	\
	X(APP_JIT,	app_jit,	".AppJIT",	DALVIK_OTHER)	\
	X(COMPILER_METADATA, compiler_metadata, ".CompilerMetadata", DALVIK_OTHER) \
	X(INDIRECT_REF,	indirect_ref,	".IndirectRef",	DALVIK_OTHER)	\
	X(BOOT_VDEX,	boot_vdex,	".Boot vdex",	DEX_MMAP)	\
	X(APP_DEX,	app_dex,	".App dex",	DEX_MMAP)	\
	X(APP_VDEX,	app_vdex,	".App vdex",	DEX_MMAP)	\
	X(APP_ART,	app_art,	".App art",	ART_MMAP)	\
	X(BOOT_ART,	boot_art,	".Boot art",	ART_MMAP)

/**
 * enum memledger_category - a row of the meminfo table
 * @NR_MEMLEDGER_CATEGORIES: how many there are
 *
 * The MTRACK rows are never the category of a mapping: a GPU driver fills them.
 */
enum memledger_category {
#define X(id, name, label) MEMLEDGER_CAT_##id,
	MEMLEDGER_CATEGORIES(X)
#undef X
	NR_MEMLEDGER_CATEGORIES
};

/**
 * enum memledger_subcategory - a row of "Dalvik Details"
 * @NR_MEMLEDGER_SUBCATEGORIES: how many there are
 * @MEMLEDGER_SUB_NONE: the mapping has none
 */
enum memledger_subcategory {
#define X(id, name, label, category) MEMLEDGER_SUB_##id,
	MEMLEDGER_SUBCATEGORIES(X)
#undef X
	NR_MEMLEDGER_SUBCATEGORIES,
	MEMLEDGER_SUB_NONE = NR_MEMLEDGER_SUBCATEGORIES
};

/* Indexed by the enums; defined in rules.c. */
extern const char *const memledger_category_names[NR_MEMLEDGER_CATEGORIES];
extern const char *const memledger_category_labels[NR_MEMLEDGER_CATEGORIES];
extern const char *const memledger_subcategory_names[NR_MEMLEDGER_SUBCATEGORIES];
extern const char *const memledger_subcategory_labels[NR_MEMLEDGER_SUBCATEGORIES];

#endif
