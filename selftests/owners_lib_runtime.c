// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library whose name is that of a part of libc: its callers are the owners
 * of what it maps, if frame pointers lead to them. See owners_lib.h.
 */
#include "owners_lib.h"

static __attribute__((noinline)) char *map(size_t len)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

char *runtime_map(size_t pages)
{
	char *p = map(pages_to_bytes(pages));

	p[0] = 1;
	return p;
}
