/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the names and accesses that Unknown is made of, and those that nearly
 * are such, to the class of each; from names that tell an owner to its address;
 * from mappings to the table of their names.
 *
 * Plain data on <memledger/...> types, for KUnit and for tests on the host.
 */
#ifndef _MEMLEDGER_UNKNOWN_CASES_H
#define _MEMLEDGER_UNKNOWN_CASES_H

#include <memledger/names.h>
#include <memledger/unknown.h>

#define R	MEMLEDGER_PROT_READ
#define W	MEMLEDGER_PROT_WRITE
#define X_	MEMLEDGER_PROT_EXEC

/**
 * struct memledger_unknown_case - a mapping that is Unknown, and its class
 * @name: as in struct memledger_mapping, but NUL-terminated
 * @prot: MEMLEDGER_PROT_*
 * @class: expected
 */
struct memledger_unknown_case {
	const char *name;
	u8 prot;
	u8 class;
};

/* 79 bytes. */
#define LONGEST_NAME \
	"[anon:0123456789012345678901234567890123456789012345678901234567890123456789012345678]"

#define CASE(_name, _prot, _class) \
	{ _name, _prot, MEMLEDGER_UNKNOWN_##_class }

static const struct memledger_unknown_case memledger_unknown_cases[] = {
	/* no name */
	CASE("", 0, UNNAMED_RESERVE),
	CASE("", R, UNNAMED_READONLY),
	CASE("", W, UNNAMED_DATA),
	CASE("", R | W, UNNAMED_DATA),
	CASE("", X_, UNNAMED_CODE),
	CASE("", R | X_, UNNAMED_CODE),
	CASE("", W | X_, UNNAMED_CODE),
	CASE("", R | W | X_, UNNAMED_CODE),

	/* the dynamic loader */
	CASE("[anon:.bss]", R | W, LINKER),
	CASE("[anon:.bss]", R | X_, LINKER),
	CASE("[anon:.bss]", 0, LINKER),
	CASE("[anon:.bss ]", R | W, NAMED_OTHER),
	CASE("[anon: .bss]", R | W, NAMED_OTHER),
	CASE("[anon:.BSS]", R | W, NAMED_OTHER),
	CASE("[anon:.bs]", R | W, NAMED_OTHER),
	CASE("[anon:bss]", R | W, NAMED_OTHER),
	CASE("[anon:linker_alloc]", R | W, LINKER),
	CASE("[anon:linker_alloc_small_objects]", R | W, LINKER),
	CASE("[anon:linker_alloc_lob]", R | W, LINKER),
	CASE("[anon:linker alloc]", R | W, NAMED_OTHER),
	CASE("[anon:linker_allo]", R | W, NAMED_OTHER),
	CASE("[anon:cfi shadow]", R, LINKER),
	CASE("[anon:cfi shadow ]", R, NAMED_OTHER),
	CASE("[anon:cfi_shadow]", R, NAMED_OTHER),

	/* libc */
	CASE("[anon:bionic_alloc_small_objects]", R | W, LIBC_ALLOC),
	CASE("[anon:bionic_alloc_lob]", R | W, LIBC_ALLOC),
	CASE("[anon:bionic_alloc_]", R | W, LIBC_ALLOC),
	CASE("[anon:bionic_alloc]", R | W, NAMED_OTHER),
	CASE("[anon:arc4random data]", R | W, LIBC_OTHER),
	CASE("[anon:arc4random]", R | W, NAMED_OTHER),
	CASE("[anon:thread signal stack]", R | W, LIBC_OTHER),
	CASE("[anon:thread signal stack guard]", 0, LIBC_OTHER),
	CASE("[anon:thread signal]", R | W, NAMED_OTHER),
	CASE("[anon:thread stack guard]", 0, LIBC_OTHER),
	CASE("[anon:thread stack]", R | W, NAMED_OTHER),
	CASE("[anon:atexit handlers]", R, LIBC_OTHER),
	CASE("[anon:atexit handler]", R, NAMED_OTHER),
	CASE("[anon:System property context nodes]", R | W, LIBC_OTHER),
	CASE("[anon:system property context nodes]", R | W, NAMED_OTHER),
	CASE("[anon:abort message]", R | W, LIBC_OTHER),
	CASE("[anon:abort messages]", R | W, NAMED_OTHER),
	CASE("[anon:bionic TLS]", R | W, LIBC_OTHER),
	CASE("[anon:bionic TLS guard]", 0, LIBC_OTHER),
	CASE("[anon:bionic tls]", R | W, NAMED_OTHER),
	CASE("[anon:bionic_tls]", R | W, LIBC_OTHER),
	CASE("[anon:static_tls-1]", R | W, LIBC_OTHER),

	/* WebView */
	CASE("[anon:libwebview reservation]", 0, WEBVIEW),
	CASE("[anon:libwebview reservation]", R | W, WEBVIEW),
	CASE("[anon:libwebview reservations]", 0, NAMED_OTHER),

	/* allocators */
	CASE("[anon:partition_alloc]", R | W, ALLOCATORS),
	CASE("[anon:partition_alloc 1]", R | W, NAMED_OTHER),
	CASE("[anon:v8]", R | W, ALLOCATORS),
	CASE("[anon:V8]", R | W, NAMED_OTHER),
	CASE("[anon:v88]", R | W, NAMED_OTHER),
	CASE("[anon:blink_gc]", R | W, ALLOCATORS),
	CASE("[anon:chromium]", R | W, ALLOCATORS),
	CASE("[anon:tls-mmap-allocator]", R | W, ALLOCATORS),
	CASE("[anon:InternalMmapVector]", R | W, ALLOCATORS),
	CASE("[anon:InternalMmapVector2]", R | W, NAMED_OTHER),
	CASE("[anon:scudo]", R | W, ALLOCATORS),
	CASE("[anon:scudo primary]", R | W, NAMED_OTHER),
	CASE("[anon:hwasan]", R | W, ALLOCATORS),
	CASE("[anon:hwasan threads]", R | W, ALLOCATORS),
	CASE("[anon:asan]", R | W, ALLOCATORS),
	CASE("[anon:low shadow]", R | W, ALLOCATORS),
	CASE("[anon:high shadow]", R | W, ALLOCATORS),
	CASE("[anon:shadow gap]", 0, ALLOCATORS),
	CASE("[anon: glibc: malloc arena]", R | W, ALLOCATORS),
	CASE("[anon: glibc: loader malloc]", R | W, ALLOCATORS),
	CASE("[anon:glibc: malloc]", R | W, ALLOCATORS),
	CASE("[anon: glibc:malloc]", R | W, NAMED_OTHER),
	CASE("[anon:  glibc: malloc]", R | W, NAMED_OTHER),
	CASE("[anon:jemalloc_pg]", R | W, ALLOCATORS),

	/* leak detectors, hooks */
	CASE("[anon:leak_detector_malloc]", R | W, LEAK_TOOLS),
	CASE("[anon:leak_detector]", R | W, NAMED_OTHER),
	CASE("[anon:libmemunreachable stack]", R | W, LEAK_TOOLS),
	CASE("[anon:ReadFileToBuffer]", R | W, LEAK_TOOLS),
	CASE("[anon:Allocate]", R | W, LEAK_TOOLS),
	CASE("[anon:Allocated]", R | W, NAMED_OTHER),
	CASE("[anon:allocate]", R | W, NAMED_OTHER),
	CASE("[anon:bytehook-stack]", R | W, HOOKS),
	CASE("[anon:bytehook-plt-trampolines]", R | X_, HOOKS),
	CASE("[anon:bytehook]", R | W, NAMED_OTHER),

	/* owners, readable or not */
	CASE("[anon:mappingowner0x7b2c001234]", R | W, MAPPING_OWNER),
	CASE("[anon:mappingowner]", R | W, MAPPING_OWNER),
	CASE("[anon:mappingowners]", R | W, MAPPING_OWNER),
	CASE("[anon:mapping owner 1]", R | W, NAMED_OTHER),
	CASE("[anon:Mappingowner 1]", R | W, NAMED_OTHER),

	/* any other name */
	CASE("[anon:x]", R | W, NAMED_OTHER),
	CASE("[anon:]", R | W, NAMED_OTHER),
	CASE("[anon:", R | W, NAMED_OTHER),
	CASE("[anon:.bss", R | W, NAMED_OTHER),
	CASE("[anon:.bss] ", R | W, NAMED_OTHER),
	CASE("[anon:%s%n]", R | W, NAMED_OTHER),
	CASE("[anon:\x01\x7f\"]", R | W, NAMED_OTHER),
	CASE(LONGEST_NAME, R | W, NAMED_OTHER),
	CASE(".bss", R | W, NAMED_OTHER),
	CASE("]", R | W, NAMED_OTHER),
};

#undef CASE
#undef LONGEST_NAME
#undef R
#undef W
#undef X_

/**
 * struct memledger_owner_case - a name and the address in it
 * @name: NUL-terminated
 * @found: whether there is one
 * @addr: it
 */
struct memledger_owner_case {
	const char *name;
	bool found;
	u64 addr;
};

static const struct memledger_owner_case memledger_owner_cases[] = {
	{ "[anon:mappingowner0x7b2c001234]", true, 0x7b2c001234 },
	{ "[anon:mappingowner7b2c001234]", true, 0x7b2c001234 },
	{ "[anon:mappingowner 7B2C001234]", true, 0x7b2c001234 },
	{ "[anon:mappingowner:0X7b2c001234]", true, 0x7b2c001234 },
	{ "[anon:mappingowner_7b2c001234]", true, 0x7b2c001234 },
	{ "[anon:mappingowner=0x7b2c001234]", true, 0x7b2c001234 },
	{ "[anon:mappingowner@ 0x7b2c001234]", true, 0x7b2c001234 },
	{ "[anon:mappingowner: 0x0]", true, 0 },
	{ "[anon:mappingowner0]", true, 0 },
	{ "[anon:mappingowner ffffffffffffffff]", true, 0xffffffffffffffff },
	{ "[anon:mappingowner0xfedcba9876543210]", true, 0xfedcba9876543210 },
	{ "[anon:mappingowner0000000000000001]", true, 1 },

	/* too long, cut off, or something else */
	{ "[anon:mappingowner00000000000000001]", false, 0 },
	{ "[anon:mappingowner 1ffffffffffffffff]", false, 0 },
	{ "[anon:mappingowner0x7b2c00", false, 0 },
	{ "[anon:mappingowner0x]", false, 0 },
	{ "[anon:mappingowner]", false, 0 },
	{ "[anon:mappingowner ]", false, 0 },
	{ "[anon:mappingowner", false, 0 },
	{ "[anon:mappingowner0x7b2c001234+8]", false, 0 },
	{ "[anon:mappingowner0x7b2c001234 libfoo.so]", false, 0 },
	{ "[anon:mappingowner 0x12 ]", false, 0 },
	{ "[anon:mappingowner-1]", false, 0 },
	{ "[anon:mappingowner0x0x1]", false, 0 },
	{ "[anon:mappingowner%p]", false, 0 },
	{ "[anon:mappingownerjunk]", false, 0 },
	{ "[anon:mappingowne0x12]", false, 0 },
	{ "[anon:Mappingowner0x12]", false, 0 },
	{ "mappingowner0x12", false, 0 },
	{ "[anon:]", false, 0 },
	{ "]", false, 0 },
	{ "", false, 0 },
};

/**
 * struct memledger_names_case - a mapping for the table of names
 * @name: its name
 * @class: enum memledger_unknown_class
 * @kb: its RSS, PSS and private dirty; twice this is its size
 */
struct memledger_names_case {
	const char *name;
	u8 class;
	u32 kb;
};

#define CASE(_name, _class, _kb) \
	{ _name, MEMLEDGER_UNKNOWN_##_class, _kb }

/* In the order of addresses. */
static const struct memledger_names_case memledger_names_cases[] = {
	CASE("[anon:b]", NAMED_OTHER, 4),
	CASE("", UNNAMED_DATA, 100),
	CASE("[anon:.bss]", LINKER, 8),
	CASE("", UNNAMED_CODE, 60),
	CASE("[anon:b]", NAMED_OTHER, 40),
	CASE("[anon:a]", NAMED_OTHER, 44),
	CASE("", UNNAMED_DATA, 1),
	CASE("[anon:%s \"]", NAMED_OTHER, 0),
	CASE("[anon:.bs]", NAMED_OTHER, 8),
	CASE("[anon:.bss]", LINKER, 16),
	CASE("", UNNAMED_RESERVE, 0),
};

/* What the table has to be of them: the largest first, then by class, name. */
static const struct memledger_names_result {
	struct memledger_names_case row;
	u32 vmas;
} memledger_names_results[] = {
	{ CASE("", UNNAMED_DATA, 101), 2 },
	{ CASE("", UNNAMED_CODE, 60), 1 },
	{ CASE("[anon:a]", NAMED_OTHER, 44), 1 },
	{ CASE("[anon:b]", NAMED_OTHER, 44), 2 },
	{ CASE("[anon:.bss]", LINKER, 24), 2 },
	{ CASE("[anon:.bs]", NAMED_OTHER, 8), 1 },
	{ CASE("", UNNAMED_RESERVE, 0), 1 },
	{ CASE("[anon:%s \"]", NAMED_OTHER, 0), 1 },
};

#undef CASE

/* Paths of so many bytes "/abc/abc...", and with how many an owner is told. */
static const struct memledger_path_case {
	size_t len;
	size_t told;
} memledger_path_cases[] = {
	{ 1, 1 },
	{ 100, 100 },
	{ 511, 511 },
	/* "..." and 508 bytes, or fewer: those from a slash on. */
	{ 512, 3 + 508 },
	{ 513, 3 + 505 },
	{ 514, 3 + 506 },
	{ 8190, 3 + 506 },
};

/* Fills in @path, of 8192 bytes; returns whether it is told as it should be. */
static inline bool memledger_path_case_is(const struct memledger_path_case *c,
					  char *path)
{
	const char *told, *dots;
	size_t i;

	for (i = 0; i < c->len; i++)
		path[i] = "/abc"[i % 4];
	path[c->len] = '\0';
	told = memledger_owner_path(path, &dots);
	if (c->told == c->len)
		return told == path && !*dots;
	return !strcmp(dots, "...") && *told == '/' &&
	       told + strlen(told) == path + c->len &&
	       strlen(dots) + strlen(told) == c->told;
}

/* So many names that the table has to grow, and grow again. */
#define MEMLEDGER_NAMES_CASE_MANY	300

/**
 * memledger_names_case_add() - add a mapping to a table
 * @names: the table
 * @c: the mapping
 *
 * Return: as memledger_names_add().
 */
static inline int memledger_names_case_add(struct memledger_names *names,
					   const struct memledger_names_case *c)
{
	const struct memledger_vma_usage vma = {
		.size = (u64)c->kb << 11,
		.rss = (u64)c->kb << 10,
		.pss = (u64)c->kb << 10 << MEMLEDGER_PSS_SHIFT,
		.private_dirty = (u64)c->kb << 10,
	};

	return memledger_names_add(names, c->name, strlen(c->name), c->class,
				   &vma, false);
}

/**
 * memledger_names_case_is() - compare a row with what it should be
 * @row: the row
 * @want: what it should be
 *
 * Return: whether it is, in each of its numbers.
 */
static inline bool
memledger_names_case_is(const struct memledger_name *row,
			const struct memledger_names_result *want)
{
	const u64 bytes = (u64)want->row.kb << 10;
	const struct memledger_usage usage = {
		.pss = bytes << MEMLEDGER_PSS_SHIFT,
		.rss = bytes,
		.private_dirty = bytes,
		.pss_floor = bytes,
		.vss = 2 * bytes,
		.vmas = want->vmas,
	};

	return !strcmp(row->text, want->row.name) &&
	       row->len == strlen(want->row.name) &&
	       row->class == want->row.class &&
	       !memcmp(&row->usage, &usage, sizeof(usage));
}

#endif
