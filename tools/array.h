/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays that grow by one element at a time.
 */
#ifndef _MEMLEDGER_TOOLS_ARRAY_H
#define _MEMLEDGER_TOOLS_ARRAY_H

#include <stdlib.h>

/**
 * memledger_array_grow - make room for one more element
 * @elements: the array, NULL if it is empty
 * @nr: how many elements it has; it must have grown by this function only
 * @size: of one, bytes
 *
 * There is room for a power of two, doubled when that is taken.
 *
 * Return: the array, which may have moved; NULL without memory, and then it is
 * as before.
 */
static inline void *memledger_array_grow(void *elements, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return elements;
	return reallocarray(elements, nr ? 2 * nr : 1, size);
}

#endif
