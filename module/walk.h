/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an mm to its VMAs, one after the other, each with its name and what
 * its page tables hold. Private to the walk and to snapshot.c.
 */
#ifndef _MEMLEDGER_WALK_H
#define _MEMLEDGER_WALK_H

#include <linux/mm_types.h>

#include <memledger/account.h>

struct address_space;
struct file;

/* Room for a name. A longer path shows as MEMLEDGER_NAME_TOO_LONG. */
#define MEMLEDGER_NAME_SIZE		(2 * PATH_MAX)
#define MEMLEDGER_NAME_TOO_LONG		"[name too long]"

/**
 * struct memledger_vma - a mapping, or the part of one that was walked
 * @start: first address
 * @end: first address behind it
 * @flags: vm_flags
 * @offset: of @start in the file, bytes
 * @dev: device of the file, 0 without one
 * @ino: inode number of the file, 0 without one
 * @name: as /proc/PID/maps prints it, without a deleted mark; NUL-terminated
 * @len: length of @name, 0 without a name
 * @deleted: the kernel says that the file is gone
 * @file: in a walk of DMA-BUFs only: the file, which the walk holds; who wants
 *	it behind the callback takes a reference there. Else NULL
 * @usage: what the page tables hold
 */
struct memledger_vma {
	unsigned long start;
	unsigned long end;
	unsigned long flags;
	u64 offset;
	dev_t dev;
	unsigned long ino;
	const char *name;
	size_t len;
	bool deleted;
	struct file *file;
	struct memledger_vma_usage usage;
};

/* vma_name.c */
void memledger_vma_name(struct vm_area_struct *vma, char *buf, size_t size,
			struct memledger_vma *out);

/* page_walk.c */

/**
 * struct memledger_page_walk - the page tables of one VMA
 * @vma: the VMA
 * @holes: NULL, or the shmem object whose swap entries count where the page
 *	tables have nothing
 * @usage: where the entries are added
 * @budget: how many entries may still be looked at; may go below 0 a little
 */
struct memledger_page_walk {
	struct vm_area_struct *vma;
	struct address_space *holes;
	struct memledger_vma_usage *usage;
	long budget;
};

unsigned long memledger_page_walk_range(struct memledger_page_walk *walk,
					unsigned long addr, unsigned long end);
u64 memledger_shmem_swap(struct address_space *mapping, pgoff_t *index,
			 pgoff_t end, long *budget);

#ifdef CONFIG_HUGETLB_PAGE
unsigned long memledger_page_walk_hugetlb(struct memledger_page_walk *walk,
					  unsigned long addr,
					  unsigned long end);
#else
static inline unsigned long
memledger_page_walk_hugetlb(struct memledger_page_walk *walk,
			    unsigned long addr, unsigned long end)
{
	return end;
}
#endif

/* swap_count.c */
void memledger_swap_count_init(void);
bool memledger_swap_count_available(void);
u32 memledger_swap_count(swp_entry_t entry);

/* vma_walk.c */

/**
 * struct memledger_walk_stats - what a walk cost
 * @vmas: finished ones
 * @entries: page-table entries looked at
 * @slices: times the mmap lock was taken
 * @lock_hold_max_ns: the longest of these
 */
struct memledger_walk_stats {
	u64 vmas;
	u64 entries;
	u64 slices;
	u64 lock_hold_max_ns;
};

/**
 * typedef memledger_cut_fn - where a VMA is to be told in two
 * @arg: the caller's
 * @addr: an address
 *
 * Context: the mmap lock is held, preemption is disabled.
 * Return: the next cut above @addr, page-aligned; ULONG_MAX if there is none.
 */
typedef unsigned long (*memledger_cut_fn)(void *arg, unsigned long addr);

/**
 * struct memledger_walk - where a walk over an mm is
 * @mm: what is walked; a reference to the struct, not to the memory
 * @stop: set by others when the walk is to end early
 * @stop_too: another one, or NULL; set it before the walk runs
 * @addr: all below has been walked
 * @open: @vma is half done
 * @back_off: somebody waits for a lock: stay away from it for a moment
 * @vma: the mapping at hand
 * @names: two buffers for names
 * @swap_file: shmem file whose swap is still to be added to @vma
 * @swap_start: where in it, pages
 * @swap_end: and to where
 * @cut: NULL, or where the VMA at an address is to be told in two
 * @cut_arg: for @cut
 * @dmabufs_only: pass over all VMAs but those of DMA-BUFs; set it before the
 *	walk runs
 * @stats: what it cost so far
 */
struct memledger_walk {
	struct mm_struct *mm;
	const bool *stop;
	const bool *stop_too;
	unsigned long addr;
	bool open;
	bool back_off;
	struct memledger_vma vma;
	char *names[2];
	struct file *swap_file;
	pgoff_t swap_start;
	pgoff_t swap_end;
	memledger_cut_fn cut;
	void *cut_arg;
	bool dmabufs_only;
	struct memledger_walk_stats stats;
};

/**
 * typedef memledger_vma_fn - told of each finished VMA, in address order
 * @vma: valid until the walk goes on
 * @arg: the caller's
 *
 * Context: may be called with the mmap lock held and preemption disabled.
 * Return: 0 to go on; above 0 to pause the walk behind this VMA.
 */
typedef int (*memledger_vma_fn)(const struct memledger_vma *vma, void *arg);

int memledger_walk_begin(struct memledger_walk *walk, struct mm_struct *mm,
			 const bool *stop);
int memledger_walk_run(struct memledger_walk *walk, unsigned int slice_entries,
		       memledger_vma_fn fn, void *arg);
void memledger_walk_end(struct memledger_walk *walk);

#endif
