/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place that knows where the shared code is compiled: in the kernel
 * (module and KUnit) or in user space (tool and host tests).
 *
 * Shared code uses the kernel's type names and the two output names below,
 * and includes nothing but <memledger/...>.
 */
#ifndef _MEMLEDGER_ENV_H
#define _MEMLEDGER_ENV_H

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/types.h>

/* Where the tables are printed to, and how. */
#define memledger_out			seq_file
#define memledger_print(out, ...)	seq_printf(out, __VA_ARGS__)

/* Zeroed memory, where sleeping is allowed; NULL if there is none. */
#define memledger_alloc(size)		kvzalloc(size, GFP_KERNEL_ACCOUNT)
#define memledger_free(p)		kvfree(p)

/*
 * What a table of names may hold, and bytes of them: more than a process has that
 * may have as many mappings as is usual, 65,530. Processes choose names, and those
 * who read pay for the memory, which is in no process's RSS.
 */
#define MEMLEDGER_MAX_NAMES		131072
#define MEMLEDGER_MAX_NAMES_TEXT	(32U << 20)

/*
 * Where @compare calls memledger_rest() a long one keeps nobody waiting: nothing
 * is held meanwhile.
 */
#define memledger_sort(base, nr, size, compare) \
	sort(base, nr, size, compare, NULL)
/* Bytes that nobody can guess. */
#define memledger_random(to, len)	get_random_bytes(to, len)
/* In long loops, where sleeping is allowed: lets others run. */
#define memledger_rest()		cond_resched()

#else /* user space */

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
/* Not uint64_t: the kernel's u64 is long long everywhere, and so is %llu. */
typedef unsigned long long u64;
typedef long long s64;

#define memledger_out			_IO_FILE
#define memledger_print(out, ...)	fprintf(out, __VA_ARGS__)

#define memledger_alloc(size)		calloc(1, size)
#define memledger_free(p)		free(p)

/* The tool's memory is its own. */
#define MEMLEDGER_MAX_NAMES		UINT32_MAX
#define MEMLEDGER_MAX_NAMES_TEXT	UINT32_MAX

#define memledger_sort(base, nr, size, compare) \
	((nr) ? qsort(base, nr, size, compare) : (void)0)
/* The 16 that the kernel has given to this program at its start. */
#define memledger_random(to, len) \
	memcpy(to, (const void *)getauxval(AT_RANDOM), len)
#define memledger_rest()		((void)0)

#define U64_MAX				(~0ULL)
#define fallthrough			__attribute__((__fallthrough__))
#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))
#define div64_u64(a, b)			((a) / (b))

#endif

#endif
