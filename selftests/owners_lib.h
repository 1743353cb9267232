/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who maps in the app that the test of owners starts: two libraries, and a
 * third that is taken for a part of libc by its name.
 */
#ifndef OWNERS_LIB_H
#define OWNERS_LIB_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Maps @nr times @pages pages of memory without a name. The call of mmap() is
 * never the last thing that a function does, or there would be no call of it.
 */
void a_map(unsigned int nr, size_t pages);
void a_system_call(unsigned int nr, size_t pages);
void a_malloc(unsigned int nr, size_t size);
void a_through_runtime(unsigned int nr, size_t pages);
void b_map(unsigned int nr, size_t pages);
void b_through_a(unsigned int nr, size_t pages);

/* These map for others. */
char *a_map_for_others(size_t pages);
char *runtime_map(size_t pages);

/* Writes to every page but the last. */
static inline void use_pages(char *p, size_t pages)
{
	long size = sysconf(_SC_PAGESIZE);

	if (p == MAP_FAILED)
		abort();
	for (size_t i = 0; i + 1 < pages; i++)
		p[i * size] = 1;
}

static inline size_t pages_to_bytes(size_t pages)
{
	return pages * sysconf(_SC_PAGESIZE);
}

#endif
