// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library that maps memory for itself and for others; see owners_lib.h.
 */
#include "owners_lib.h"
#include "raw_mmap.h"

#define PROT	(PROT_READ | PROT_WRITE)
#define FLAGS	(MAP_PRIVATE | MAP_ANONYMOUS)

void a_map(unsigned int nr, size_t pages)
{
	while (nr--)
		use_pages(mmap(NULL, pages_to_bytes(pages), PROT, FLAGS, -1, 0),
			  pages);
}

char *a_map_for_others(size_t pages)
{
	char *p = mmap(NULL, pages_to_bytes(pages), PROT, FLAGS, -1, 0);

	use_pages(p, pages);
	return p;
}

void a_system_call(unsigned int nr, size_t pages)
{
	while (nr--)
		use_pages(raw_mmap(NULL, pages_to_bytes(pages), PROT, FLAGS,
				   -1, 0), pages);
}

/* Writes to the first page and to the last. */
void a_malloc(unsigned int nr, size_t size)
{
	while (nr--) {
		volatile char *p = malloc(size);

		if (!p)
			abort();
		p[0] = 1;
		p[size - 1] = 1;
	}
}

void a_through_runtime(unsigned int nr, size_t pages)
{
	while (nr--)
		use_pages(runtime_map(pages), pages);
}
