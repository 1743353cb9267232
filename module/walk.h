/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an mm to its VMAs, one after the other, each with its name and what
 * its page tables hold. Private to the walk and to snapshot.c.
 */
#ifndef _MEMLEDGER_WALK_H
#define _MEMLEDGER_WALK_H

#include <linux/bits.h>
#include <linux/mm_types.h>

#include <memledger/account.h>

#include "stats.h"

struct address_space;
struct file;

/* Room for a name. Of a longer path there are this, a slash and its last part. */
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
 * @name: as /proc/PID/maps prints it, without a deleted mark; NUL-terminated.
 *	NULL where the walk has &memledger_walk.slots: who needs to know it has
 *	learnt it for @slot
 * @len: length of @name, or of what was learnt; 0 without either
 * @deleted: the kernel says that the file is gone; means nothing without @name
 * @slot: below MEMLEDGER_NAME_SLOTS; where the walk remembers names
 * @file: in a walk of DMA-BUFs only: the file, which the walk holds; who wants
 *	it behind the callback takes a reference there. Else NULL
 * @usage: what the page tables hold
 * @alike: NULL, or all pages that there are: then @usage has the size and no
 *	more. Only where the walk has &memledger_walk.slots
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
	u16 slot;
	struct file *file;
	struct memledger_vma_usage usage;
	const struct memledger_alike *alike;
};

/* vma_name.c */

/*
 * Slots of names. Those without a name have one for themselves; so have all
 * names that are not worth remembering, or cannot be.
 */
#define MEMLEDGER_NAMELESS_SLOT		0
#define MEMLEDGER_OTHER_SLOT		1
#define MEMLEDGER_TEXT_SLOTS		2
#define MEMLEDGER_TEXT_SLOTS_SHIFT	7
#define MEMLEDGER_NR_TEXT_SLOTS		BIT(MEMLEDGER_TEXT_SLOTS_SHIFT)
#define MEMLEDGER_FILE_SLOTS		(MEMLEDGER_TEXT_SLOTS + \
					 MEMLEDGER_NR_TEXT_SLOTS)
#define MEMLEDGER_FILE_SLOTS_SHIFT	8
#define MEMLEDGER_NR_FILE_SLOTS		BIT(MEMLEDGER_FILE_SLOTS_SHIFT)
#define MEMLEDGER_NAME_SLOTS		(MEMLEDGER_FILE_SLOTS + \
					 MEMLEDGER_NR_FILE_SLOTS)

/* The kernel's bound for names of anonymous memory, without the final NUL. */
#define MEMLEDGER_TEXT_SLOT_SIZE	79

/* What a name without a directory is that of. */
enum memledger_text {
	MEMLEDGER_TEXT_ANON,
	MEMLEDGER_TEXT_SHMEM,
	MEMLEDGER_TEXT_SPECIAL,
};

/**
 * struct memledger_text_slot - a name without a directory in it
 * @hash_len: hash and length of @text; U64_MAX for a free slot
 * @kind: enum memledger_text
 * @text: without what maps prints around it; no NUL behind it
 */
struct memledger_text_slot {
	u64 hash_len;
	u8 kind;
	char text[MEMLEDGER_TEXT_SLOT_SIZE];
};

/**
 * struct memledger_file_slot - all that the name of a file depends on
 * @dentry: NULL for a free slot
 * @mnt: where the file system is mounted
 * @parent: the directory
 * @hash_len: of the last part of the name
 * @inode: of the file
 * @ino: its number
 * @generation: tells it from a later file with the same number
 * @unlinked: it has no name any more
 *
 * No reference is held, so that what a pointer points to may be something else
 * by now, but for what is mapped at the moment. It still takes the same file
 * (inode, number and generation) in a directory at the same address to be taken
 * for what was there: at the worst a file that was moved has the name that it
 * had when the walk, or the pass over all processes, came to it first.
 */
struct memledger_file_slot {
	const struct dentry *dentry;
	const struct vfsmount *mnt;
	const struct dentry *parent;
	u64 hash_len;
	const struct inode *inode;
	unsigned long ino;
	u32 generation;
	bool unlinked;
};

struct memledger_name_slots;

/**
 * typedef memledger_learn_fn - told of a name that has got a slot
 * @slots: where; part of something larger, if the caller has to find that
 * @slot: which
 * @name: as in &struct memledger_vma
 * @len: length of @name
 * @deleted: as there
 * @tail: @name is but the last part of a path, which is nothing special
 *
 * Context: the mmap lock is held, and with @tail a dentry's lock; preemption is
 * disabled.
 * Return: false where @tail does not tell enough: the name in full follows.
 */
typedef bool (*memledger_learn_fn)(struct memledger_name_slots *slots,
				   unsigned int slot, const char *name,
				   size_t len, bool deleted, bool tail);

/**
 * struct memledger_name_slots - names that were seen in a walk
 * @learn: told of each when it gets its slot
 * @buf: room for a name; set it before a VMA is looked at, and @size
 * @size: of @buf
 * @file: of the last VMA with a name of a file; only a value to compare with, and
 *	only in the same slice. NULL if @slot may have another name by now
 * @slot: that VMA's
 * @texts: by hash of the text, or next to it
 * @files: by hash of the dentry
 */
struct memledger_name_slots {
	memledger_learn_fn learn;
	char *buf;
	size_t size;
	const struct file *file;
	u16 slot;
	struct memledger_text_slot texts[MEMLEDGER_NR_TEXT_SLOTS];
	struct memledger_file_slot files[MEMLEDGER_NR_FILE_SLOTS];
};

void memledger_name_slots_init(struct memledger_name_slots *slots,
			       memledger_learn_fn learn);
void memledger_vma_name(struct vm_area_struct *vma, char *buf, size_t size,
			struct memledger_vma *out);
void memledger_vma_slot(struct vm_area_struct *vma,
			struct memledger_name_slots *slots,
			struct memledger_vma *out);

/* page_walk.c */

/**
 * struct memledger_pfns - page frames that are all known to exist
 * @start: the first
 * @end: the first behind them
 */
struct memledger_pfns {
	unsigned long start;
	unsigned long end;
};

/**
 * struct memledger_pte_form - entries that differ in nothing but the page
 * @first: the entry of the first page; the next has the next page frame
 * @nr: how many pages
 * @page: the first
 *
 * They are present, and their page frames exist.
 */
struct memledger_pte_form {
	u64 first;
	unsigned long nr;
	struct page *page;
};

/* Few VMAs differ in how they are mapped, and memory is in few pieces. */
#define MEMLEDGER_NR_PTE_FORMS	8

/**
 * struct memledger_page_like - what the last page was like
 * @mapping: of its folio; only a value to compare with
 * @facts: MEMLEDGER_ENTRY_* of such an entry on a folio of @mapping, whatever
 *	the folio's flags are
 * @flags_mask: the flags that tell more, and PG_head
 * @flags: what these are for pages in &memledger_page_walk.alike, PG_head aside
 * @mapcount: of the last page that counted as shared
 * @others: what others have of such a page, bytes << MEMLEDGER_PSS_SHIFT
 */
struct memledger_page_like {
	const struct address_space *mapping;
	u32 facts;
	unsigned long flags_mask;
	unsigned long flags;
	u32 mapcount;
	u32 others;
};

/**
 * struct memledger_pte_table - the page table that was looked into last
 * @addr: the first address that it is for; odd for none
 * @pmd: where the entry is that points to it
 * @entry: which it was
 * @ptes: its first entry
 * @ptl: its lock
 */
struct memledger_pte_table {
	unsigned long addr;
	pmd_t *pmd;
	pmd_t entry;
	pte_t *ptes;
	spinlock_t *ptl;
};

/**
 * struct memledger_page_walk - page tables of an mm, VMA after VMA
 * @vma: the VMA
 * @holes: NULL, or the shmem object whose swap entries count where the page
 *	tables have nothing
 * @usage: where the entries are added
 * @budget: how many entries may still be looked at; may go below 0 a little
 * @alike: pages that are not yet in @usage
 * @tally: the same of those that are unlike these
 * @like: what the last page was like
 * @form: what the last entry was like, one of @forms
 * @forms: forms that have been seen
 * @next_form: which of them gives way to another one
 * @pfns: ranges of page frames that have been seen
 * @next_pfns: which of them gives way to another one
 * @table: the page table that was looked into last
 * @pmds: NULL, or the middle directory that was looked into last
 * @pmds_addr: the first address that it is for
 *
 * For one slice, see memledger_page_walk_begin().
 */
struct memledger_page_walk {
	struct vm_area_struct *vma;
	struct address_space *holes;
	struct memledger_vma_usage *usage;
	long budget;
	struct memledger_alike alike;
	struct memledger_page_like like;
	struct memledger_pte_form *form;
	struct memledger_pte_form forms[MEMLEDGER_NR_PTE_FORMS];
	unsigned int next_form;
	struct memledger_tally tally;
	struct memledger_pfns pfns[4];
	unsigned int next_pfns;
	struct memledger_pte_table table;
	pmd_t *pmds;
	unsigned long pmds_addr;
};

void memledger_page_walk_begin(struct memledger_page_walk *walk, long budget);
unsigned long memledger_page_walk_range(struct memledger_page_walk *walk,
					unsigned long addr, unsigned long end);
void memledger_page_walk_flush(struct memledger_page_walk *walk);
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
 * @walk_ns: time spent in memledger_walk_run(), not between calls
 * @lock_hold_max_ns: the longest time that it was held
 * @holds: how many were how long, by MEMLEDGER_HOLD_SHIFT
 */
struct memledger_walk_stats {
	u64 vmas;
	u64 entries;
	u64 slices;
	u64 walk_ns;
	u64 lock_hold_max_ns;
	u32 holds[MEMLEDGER_NR_HOLDS];
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
 * @vmas_left: how many VMAs more there may be; a process that maps faster than
 *	the walk goes on has no end
 * @addr: all below has been walked
 * @ended: there are no more VMAs
 * @open: @vma is half done
 * @waited: how long it has stayed away from locks, jiffies
 * @back_off: somebody has a lock, or waits for it: stay away from it for a moment
 * @vma: the mapping at hand
 * @names: two buffers for names
 * @slots: NULL, or the names that have been seen: for callers that remember
 *	what they make of a name. Set it before the walk runs
 * @swap_file: shmem file whose swap is still to be added to @vma
 * @swap_start: where in it, pages
 * @swap_end: and to where
 * @cut: NULL, or where the VMA at an address is to be told in two
 * @cut_arg: for @cut
 * @dmabufs_only: pass over all VMAs but those of DMA-BUFs; set it before the
 *	walk runs
 * @pages: the page tables of @vma
 * @stats: what it cost so far
 */
struct memledger_walk {
	struct mm_struct *mm;
	const bool *stop;
	const bool *stop_too;
	long vmas_left;
	unsigned long addr;
	unsigned long waited;
	bool ended;
	bool open;
	bool back_off;
	struct memledger_vma vma;
	char *names[2];
	struct memledger_name_slots *slots;
	struct file *swap_file;
	pgoff_t swap_start;
	pgoff_t swap_end;
	memledger_cut_fn cut;
	void *cut_arg;
	bool dmabufs_only;
	struct memledger_page_walk pages;
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
