/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is inside the row Unknown: names that Android gives no row of their
 * own, and memory without a name, told apart by who maps such.
 */
#ifndef _MEMLEDGER_UNKNOWN_H
#define _MEMLEDGER_UNKNOWN_H

#include <memledger/env.h>

/* X(ID, ABI name, what it is); the order is the ABI's. */
#define MEMLEDGER_UNKNOWN_CLASSES(X)					\
	X(LINKER,	linker,		"the dynamic loader: .bss and its tables") \
	X(LIBC_ALLOC,	libc_alloc,	"libc's allocator for itself")	\
	X(LIBC_OTHER,	libc_other,	"libc's other tables and stacks") \
	X(WEBVIEW,	webview,	"address space reserved for WebView") \
	X(ALLOCATORS,	allocators,	"allocators other than Android's") \
	X(LEAK_TOOLS,	leak_tools,	"leak detectors at work")	\
	X(HOOKS,	hooks,		"function hooks")		\
	X(MAPPING_OWNER, mapping_owner,	"names that tell who called mmap") \
	X(UNNAMED_DATA,	unnamed_data,	"no name, writable")		\
	X(UNNAMED_CODE,	unnamed_code,	"no name, executable")		\
	X(UNNAMED_READONLY, unnamed_readonly, "no name, read-only")	\
	X(UNNAMED_RESERVE, unnamed_reserve, "no name, no access")	\
	X(NAMED_OTHER,	named_other,	"any other name")

/**
 * enum memledger_unknown_class - a part of the row Unknown
 * @NR_MEMLEDGER_UNKNOWN_CLASSES: how many there are
 * @MEMLEDGER_UNKNOWN_NONE: the mapping is counted in another row
 */
enum memledger_unknown_class {
#define X(id, name, text) MEMLEDGER_UNKNOWN_##id,
	MEMLEDGER_UNKNOWN_CLASSES(X)
#undef X
	NR_MEMLEDGER_UNKNOWN_CLASSES,
	MEMLEDGER_UNKNOWN_NONE = NR_MEMLEDGER_UNKNOWN_CLASSES
};

/* What a mapping may be used for. */
#define MEMLEDGER_PROT_READ	0x1
#define MEMLEDGER_PROT_WRITE	0x2
#define MEMLEDGER_PROT_EXEC	0x4
#define MEMLEDGER_PROT_ALL	0x7

/* Indexed by the enum; defined in unknown.c. */
extern const char *const
	memledger_unknown_names[NR_MEMLEDGER_UNKNOWN_CLASSES];
extern const char *const
	memledger_unknown_texts[NR_MEMLEDGER_UNKNOWN_CLASSES];

enum memledger_unknown_class
memledger_unknown_classify(const char *name, size_t len, unsigned int prot);
bool memledger_unknown_needs_name(enum memledger_unknown_class class);
/* Bytes that an owner's path is told with, the NUL included. */
#define MEMLEDGER_OWNER_PATH_SIZE	512

bool memledger_unknown_has_owner(enum memledger_unknown_class class);
bool memledger_unknown_owner(const char *name, size_t len, u64 *addr);
const char *memledger_owner_path(const char *path, const char **dots);

#endif
