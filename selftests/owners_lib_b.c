// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library that maps memory itself and through library a; see owners_lib.h.
 */
#include "owners_lib.h"

void b_map(unsigned int nr, size_t pages)
{
	while (nr--)
		use_pages(mmap(NULL, pages_to_bytes(pages),
			       PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), pages);
}

void b_through_a(unsigned int nr, size_t pages)
{
	while (nr--)
		*(volatile char *)a_map_for_others(pages) = 2;
}
