/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is counted: the fields of one VMA as smaps has them, and what they add
 * up to in a row of the meminfo table.
 */
#ifndef _MEMLEDGER_USAGE_H
#define _MEMLEDGER_USAGE_H

#include <memledger/category.h>
#include <memledger/unknown.h>

/*
 * Proportional sizes are kept in bytes << MEMLEDGER_PSS_SHIFT, the fixed point
 * that smaps uses, so that dividing page by page loses under 1/4096 byte a
 * page and both sums below come out as they should.
 */
#define MEMLEDGER_PSS_SHIFT	12

/* X(field, label in smaps, fixed-point shift of the field). */
#define MEMLEDGER_VMA_FIELDS(X)						\
	X(size,			"Size",			0)		\
	X(rss,			"Rss",			0)		\
	X(pss,			"Pss",			MEMLEDGER_PSS_SHIFT) \
	X(pss_dirty,		"Pss_Dirty",		MEMLEDGER_PSS_SHIFT) \
	X(shared_clean,		"Shared_Clean",		0)		\
	X(shared_dirty,		"Shared_Dirty",		0)		\
	X(private_clean,	"Private_Clean",	0)		\
	X(private_dirty,	"Private_Dirty",	0)		\
	X(anonymous,		"Anonymous",		0)		\
	X(ksm,			"KSM",			0)		\
	X(lazyfree,		"LazyFree",		0)		\
	X(anon_huge,		"AnonHugePages",	0)		\
	X(shmem_pmd_mapped,	"ShmemPmdMapped",	0)		\
	X(file_pmd_mapped,	"FilePmdMapped",	0)		\
	X(shared_hugetlb,	"Shared_Hugetlb",	0)		\
	X(private_hugetlb,	"Private_Hugetlb",	0)		\
	X(swap,			"Swap",			0)		\
	X(swap_pss,		"SwapPss",		MEMLEDGER_PSS_SHIFT) \
	X(locked,		"Locked",		MEMLEDGER_PSS_SHIFT)

/**
 * struct memledger_vma_usage - one VMA, field by field as in smaps
 *
 * Bytes; pss, pss_dirty, swap_pss and locked in bytes << MEMLEDGER_PSS_SHIFT.
 * swap_pss stays 0 where the kernel at hand cannot tell it.
 */
struct memledger_vma_usage {
#define X(field, label, shift) u64 field;
	MEMLEDGER_VMA_FIELDS(X)
#undef X
};

/**
 * memledger_vma_usage_is_empty - whether a VMA has no page
 * @usage: its numbers
 *
 * Return: true if all of them are 0, whatever @size is: each that is not comes
 * with one of these.
 */
static inline bool
memledger_vma_usage_is_empty(const struct memledger_vma_usage *usage)
{
	return !(usage->rss | usage->swap | usage->shared_hugetlb |
		 usage->private_hugetlb);
}

/* The nine numbers of a row, in the order used everywhere. */
#define MEMLEDGER_USAGE_FIELDS(X)					\
	X(pss)								\
	X(swappable_pss)						\
	X(rss)								\
	X(private_dirty)						\
	X(shared_dirty)							\
	X(private_clean)						\
	X(shared_clean)							\
	X(swap)								\
	X(swap_pss)

/**
 * struct memledger_usage - a row: what its VMAs add up to
 * @pss: bytes << MEMLEDGER_PSS_SHIFT, nothing lost between VMAs
 * @swappable_pss: bytes; Android's figure, kB arithmetic and all
 * @rss: bytes
 * @private_dirty: bytes
 * @shared_dirty: bytes
 * @private_clean: bytes
 * @shared_clean: bytes
 * @swap: bytes
 * @swap_pss: bytes << MEMLEDGER_PSS_SHIFT
 * @pss_floor: bytes; each VMA's PSS rounded down to a kB first, as smaps
 *	prints it and dumpsys adds it
 * @swap_pss_floor: bytes; the same of SwapPss
 * @vss: bytes of address space
 * @vmas: how many VMAs
 * @shared_hugetlb: bytes, outside rss and pss
 * @private_hugetlb: bytes, outside rss and pss
 *
 * All u64: the struct is part of the binary record in <memledger/abi.h>.
 */
struct memledger_usage {
#define X(field) u64 field;
	MEMLEDGER_USAGE_FIELDS(X)
#undef X
	u64 pss_floor;
	u64 swap_pss_floor;
	u64 vss;
	u64 vmas;
	u64 shared_hugetlb;
	u64 private_hugetlb;
};

/**
 * struct memledger_totals - every row of one process
 * @total: of all its VMAs
 * @category: by category; their sum is @total
 * @subcategory: by sub-category; only of VMAs that have one
 * @unknown: what the category Unknown is made of; their sum is that row
 *
 * It is all rows, and memledger_row() is the place of one among them.
 */
struct memledger_totals {
	struct memledger_usage total;
	struct memledger_usage category[NR_MEMLEDGER_CATEGORIES];
	struct memledger_usage subcategory[NR_MEMLEDGER_SUBCATEGORIES];
	struct memledger_usage unknown[NR_MEMLEDGER_UNKNOWN_CLASSES];
};

/* A proportional size, as smaps prints it, but in bytes. */
static inline u64 memledger_pss_floor(u64 pss)
{
	return pss >> (MEMLEDGER_PSS_SHIFT + 10) << 10;
}

/* Unique set size: what only this process maps, in bytes. */
static inline u64 memledger_usage_uss(const struct memledger_usage *usage)
{
	return usage->private_dirty + usage->private_clean;
}

#endif
