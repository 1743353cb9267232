// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mapping that Android counts as Unknown in, the part of Unknown it is out.
 * Adding a name is adding a row.
 */
#include <memledger/unknown.h>

const char *const memledger_unknown_names[NR_MEMLEDGER_UNKNOWN_CLASSES] = {
#define X(id, name, text) #name,
	MEMLEDGER_UNKNOWN_CLASSES(X)
#undef X
};

const char *const memledger_unknown_texts[NR_MEMLEDGER_UNKNOWN_CLASSES] = {
#define X(id, name, text) text,
	MEMLEDGER_UNKNOWN_CLASSES(X)
#undef X
};

/**
 * struct unknown_name - a name that says what it is
 * @text: what stands in the brackets behind "anon:", or begins it
 * @len: of @text
 * @class: enum memledger_unknown_class
 * @prefix: more may follow
 */
struct unknown_name {
	const char *text;
	u8 len;
	u8 class;
	bool prefix;
};

#define NAME(_text, _class) \
	{ _text, sizeof(_text) - 1, MEMLEDGER_UNKNOWN_##_class, false }
#define NAME_STARTS(_text, _class) \
	{ _text, sizeof(_text) - 1, MEMLEDGER_UNKNOWN_##_class, true }

static const struct unknown_name known_names[] = {
	NAME(".bss", LINKER),
	NAME_STARTS("linker_alloc", LINKER),
	NAME("cfi shadow", LINKER),

	NAME_STARTS("bionic_alloc_", LIBC_ALLOC),

	NAME("arc4random data", LIBC_OTHER),
	NAME_STARTS("thread signal stack", LIBC_OTHER),
	NAME("thread stack guard", LIBC_OTHER),
	NAME("atexit handlers", LIBC_OTHER),
	NAME("System property context nodes", LIBC_OTHER),
	NAME("abort message", LIBC_OTHER),
	NAME_STARTS("bionic TLS", LIBC_OTHER),
	NAME_STARTS("bionic_tls", LIBC_OTHER),
	NAME_STARTS("static_tls", LIBC_OTHER),

	NAME("libwebview reservation", WEBVIEW),

	NAME("partition_alloc", ALLOCATORS),
	NAME("v8", ALLOCATORS),
	NAME("blink_gc", ALLOCATORS),
	NAME("chromium", ALLOCATORS),
	NAME("tls-mmap-allocator", ALLOCATORS),
	NAME("InternalMmapVector", ALLOCATORS),
	/* The sanitizers' and Scudo's own, where the name has no colon. */
	NAME("scudo", ALLOCATORS),
	NAME_STARTS("hwasan", ALLOCATORS),
	NAME_STARTS("asan", ALLOCATORS),
	NAME_STARTS("low shadow", ALLOCATORS),
	NAME_STARTS("high shadow", ALLOCATORS),
	NAME_STARTS("shadow gap", ALLOCATORS),
	/* glibc.mem.decorate_maps=1: "[anon: glibc: malloc arena]" and kin. */
	NAME_STARTS(" glibc: ", ALLOCATORS),
	NAME_STARTS("glibc: ", ALLOCATORS),
	NAME_STARTS("jemalloc", ALLOCATORS),

	NAME("leak_detector_malloc", LEAK_TOOLS),
	NAME("libmemunreachable stack", LEAK_TOOLS),
	NAME("ReadFileToBuffer", LEAK_TOOLS),
	NAME("Allocate", LEAK_TOOLS),

	NAME_STARTS("bytehook-", HOOKS),

	NAME_STARTS("mappingowner", MAPPING_OWNER),
};

#define ANON_PREFIX	"[anon:"
#define ANON_PREFIX_LEN	(sizeof(ANON_PREFIX) - 1)
#define OWNER_PREFIX	"mappingowner"

static bool is_anon_name(const char *name, size_t len)
{
	return len > ANON_PREFIX_LEN &&
	       !memcmp(name, ANON_PREFIX, ANON_PREFIX_LEN) &&
	       name[len - 1] == ']';
}

static enum memledger_unknown_class unnamed_class(unsigned int prot)
{
	if (prot & MEMLEDGER_PROT_EXEC)
		return MEMLEDGER_UNKNOWN_UNNAMED_CODE;
	if (prot & MEMLEDGER_PROT_WRITE)
		return MEMLEDGER_UNKNOWN_UNNAMED_DATA;
	if (prot & MEMLEDGER_PROT_READ)
		return MEMLEDGER_UNKNOWN_UNNAMED_READONLY;
	return MEMLEDGER_UNKNOWN_UNNAMED_RESERVE;
}

/**
 * memledger_unknown_classify - which part of Unknown a mapping is
 * @name: as the rules see it; not necessarily NUL-terminated
 * @len: length of @name; 0 is a mapping without a name
 * @prot: MEMLEDGER_PROT_*, of consequence only without a name; memory that is
 *	both writable and executable is code
 *
 * Return: the class; never MEMLEDGER_UNKNOWN_NONE.
 */
enum memledger_unknown_class
memledger_unknown_classify(const char *name, size_t len, unsigned int prot)
{
	const struct unknown_name *row;

	if (!len)
		return unnamed_class(prot);
	if (!is_anon_name(name, len))
		return MEMLEDGER_UNKNOWN_NAMED_OTHER;

	name += ANON_PREFIX_LEN;
	len -= ANON_PREFIX_LEN + 1;
	for (row = known_names;
	     row < known_names + ARRAY_SIZE(known_names); row++) {
		if (row->prefix ? len < row->len : len != row->len)
			continue;
		if (!memcmp(name, row->text, row->len))
			return row->class;
	}
	return MEMLEDGER_UNKNOWN_NAMED_OTHER;
}

/**
 * memledger_unknown_needs_name - tell a class of names from one without
 * @class: the class
 *
 * Return: whether only a name leads to it, so that it is not 0 but unavailable
 * where the kernel gives anonymous memory no names.
 */
bool memledger_unknown_needs_name(enum memledger_unknown_class class)
{
	switch (class) {
	case MEMLEDGER_UNKNOWN_UNNAMED_DATA:
	case MEMLEDGER_UNKNOWN_UNNAMED_CODE:
	case MEMLEDGER_UNKNOWN_UNNAMED_READONLY:
	case MEMLEDGER_UNKNOWN_UNNAMED_RESERVE:
		return false;
	default:
		return true;
	}
}

/**
 * memledger_unknown_has_owner - whether who mapped it is worth asking
 * @class: the class, or MEMLEDGER_UNKNOWN_NONE
 *
 * Return: true of memory without a name, and of names that tell it themselves.
 */
bool memledger_unknown_has_owner(enum memledger_unknown_class class)
{
	return class == MEMLEDGER_UNKNOWN_MAPPING_OWNER ||
	       !memledger_unknown_needs_name(class);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/**
 * memledger_unknown_owner - the address in a mappingowner name
 * @name: the whole name, "[anon:mappingowner" ... "]"
 * @len: length of @name
 * @addr: gets the address that called mmap
 *
 * Between the word and the number may be blanks, one of ":_=@", and "0x"; the
 * number is hexadecimal and ends the name. Anything else is no owner: a name
 * cut off at 80 bytes, say.
 *
 * Return: whether there is one; @addr is untouched otherwise.
 */
bool memledger_unknown_owner(const char *name, size_t len, u64 *addr)
{
	unsigned int digits = 0;
	const char *end;
	u64 value = 0;

	if (!is_anon_name(name, len) ||
	    len < ANON_PREFIX_LEN + sizeof(OWNER_PREFIX))
		return false;
	end = name + len - 1;
	name += ANON_PREFIX_LEN;
	if (memcmp(name, OWNER_PREFIX, sizeof(OWNER_PREFIX) - 1))
		return false;
	name += sizeof(OWNER_PREFIX) - 1;

	while (name < end && strchr(" :_=@", *name))
		name++;
	if (end - name > 2 && name[0] == '0' && (name[1] | 0x20) == 'x')
		name += 2;
	for (; name < end; name++, digits++) {
		int digit = hex_digit(*name);

		if (digit < 0 || digits == 16)
			return false;
		value = value << 4 | digit;
	}
	if (!digits)
		return false;
	*addr = value;
	return true;
}

/**
 * memledger_owner_path - what is told of the path to an owner's file
 * @path: the path; other names are shorter
 * @dots: gets "...", or "" where the path is told as a whole
 *
 * A process may have a row for each of its mappings, and files with paths of
 * many kB: a row has room for the last directories.
 *
 * Return: @path, or the last parts of it.
 */
const char *memledger_owner_path(const char *path, const char **dots)
{
	size_t len = strlen(path);
	const char *part;

	*dots = "";
	if (len < MEMLEDGER_OWNER_PATH_SIZE)
		return path;
	*dots = "...";
	path += len - (MEMLEDGER_OWNER_PATH_SIZE - sizeof("..."));
	part = strchr(path, '/');
	return part ? part : path;
}
