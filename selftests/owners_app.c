// SPDX-License-Identifier: GPL-2.0-only
/*
 * An app of two libraries that map memory. Stops before, so that they can be
 * watched, and after.
 */
#include <signal.h>

#include "owners_lib.h"

/*
 * Libraries need not lie next to each other, least of all on arm64, where they
 * begin on 64 kB boundaries. What is mapped right behind one passes for its .bss:
 * take these places first. New mappings come from above, until none is left and
 * each lies below the one before.
 */
static void fill_gaps(void)
{
	size_t page = pages_to_bytes(1);
	char *last = NULL;
	int in_order = 0;

	while (in_order < 64) {
		char *p = mmap(NULL, page, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			abort();
		in_order = p + page == last ? in_order + 1 : 0;
		last = p;
	}
}

int main(void)
{
	fill_gaps();
	raise(SIGSTOP);
	a_map(7, 3);
	b_map(5, 2);
	b_through_a(4, 4);
	a_system_call(3, 5);
	a_malloc(2, 1 << 20);
	a_through_runtime(6, 6);
	raise(SIGSTOP);
	return 0;
}
