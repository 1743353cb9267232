// SPDX-License-Identifier: GPL-2.0-only
/*
 * An app of two libraries that map memory. Stops before, so that they can be
 * watched, and after.
 */
#include <signal.h>

#include "owners_lib.h"

int main(void)
{
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
