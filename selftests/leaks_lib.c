// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library as large as some apps bring: 8 MB of code, 31 MB of constants, and
 * 1 MB of data, which it fills in when it is opened.
 */
#include <stddef.h>

#define MB	(1024 * 1024)

char leaks_data[MB] = { 1 };
const char leaks_constants[31 * MB] = { 1 };

asm(".pushsection .text; .fill 8 * 1024 * 1024 / 4, 4, 0; .popsection");

/* There are no smaller pages. */
static void __attribute__((constructor)) fill_in(void)
{
	for (size_t at = 0; at < sizeof(leaks_data); at += 4096)
		*(volatile char *)&leaks_data[at] = 2;
}
