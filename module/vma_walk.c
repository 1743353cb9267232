// SPDX-License-Identifier: GPL-2.0-only
/*
 * From an mm to its VMAs, slice by slice.
 *
 * A slice holds the mmap lock for a bounded number of page-table entries, with
 * preemption off, so that a reader of low priority never keeps the lock while
 * it waits for a CPU. Between slices nothing is held but the mm_struct, so the
 * process may map, unmap, exec or exit:
 *
 *   +------+------+-----------+
 *   | VMA1 | VMA2 | VMA3      |
 *   +------+------+-----------+
 *   |      |   ^  |           |
 *  4k     8k   |  16k        400k
 *             addr = 12k, where the slice ended
 *
 * All below addr has been counted and is not looked at again, so what stays
 * mapped throughout is counted exactly once, but for the swap of shmem that is
 * found where a VMA ends, see shmem_swap(): it is not where the VMA ended before
 * that (3 and 4). When the lock is held again,
 * find_vma(addr) gives one of:
 *
 * 1) VMA2, as it was: go on in it.
 * 2) VMA2, but grown, shrunk or merged with a neighbour like it: go on in it;
 *    it ends where it ends now.
 * 3) Something else at addr (VMA2 was unmapped and its place taken, or split
 *    and its upper part given other permissions or another name): the lower
 *    part of VMA2 is finished as it was counted, [8k, 12k), and the new
 *    mapping begins at addr.
 * 4) VMA3 or nothing: VMA2 is finished in the same way.
 *
 * Whether it is still the same is told by what /proc/PID/maps would print of
 * it, names included, since pointers may have been freed and used again.
 */
#include <linux/delay.h>
#include <linux/error-injection.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/magic.h>
#include <linux/slab.h>

#include "compat.h"
#include "walk.h"

/* On a realtime kernel page-table locks sleep, and preemption stays on. */
static void slice_preempt_disable(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
}

static void slice_preempt_enable(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
}

/* What maps prints of the file of @vma from @addr on, but for its name. */
static void describe_file(struct vm_area_struct *vma, unsigned long addr,
			  struct memledger_vma *out)
{
	const struct inode *inode;

	if (!vma->vm_file) {
		out->dev = 0;
		out->ino = 0;
		out->offset = 0;
		return;
	}
	inode = memledger_file_inode(vma->vm_file);
	out->dev = inode->i_sb->s_dev;
	out->ino = inode->i_ino;
	out->offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) +
		      (addr - vma->vm_start);
}

#define PRINTED_FLAGS	(VM_READ | VM_WRITE | VM_EXEC | VM_MAYSHARE)

/* Whether @vma, found at walk->addr, goes on where the open VMA was left. */
static bool same_vma(const struct memledger_walk *walk,
		     struct vm_area_struct *vma)
{
	const struct memledger_vma *was = &walk->vma;
	u64 done = walk->addr - was->start;
	struct memledger_vma now;

	if (vma->vm_start > walk->addr)
		return false;
	describe_file(vma, walk->addr, &now);
	if ((vma->vm_flags ^ was->flags) & PRINTED_FLAGS || now.dev != was->dev ||
	    now.ino != was->ino ||
	    (now.ino && now.offset != was->offset + done))
		return false;
	/* names[0] is the open one's. */
	memledger_vma_name(vma, walk->names[1], MEMLEDGER_NAME_SIZE, &now);
	return now.deleted == was->deleted && now.len == was->len &&
	       !memcmp(now.name, was->name, was->len);
}

/* The open VMA is no longer; its file may have been the last reference. */
static void close_vma(struct memledger_walk *walk)
{
	walk->open = false;
	if (!walk->vma.file)
		return;
	fput(walk->vma.file);
	walk->vma.file = NULL;
}

/*
 * The pages of most VMAs are alike: where only sums are asked for these need
 * not be made numbers of the VMA first. NULL if they had to be.
 */
static const struct memledger_alike *pages_alike(struct memledger_walk *walk)
{
	struct memledger_page_walk *pages = &walk->pages;

	if (walk->slots && !pages->tally.used &&
	    memledger_vma_usage_is_empty(&walk->vma.usage))
		return &pages->alike;
	memledger_page_walk_flush(pages);
	return NULL;
}

/* Once a VMA: it is part of the loop. */
static __always_inline int finish_vma(struct memledger_walk *walk,
				      memledger_vma_fn fn, void *arg)
{
	struct memledger_vma *vma = &walk->vma;
	int ret;

	vma->usage.size = vma->end - vma->start;
	walk->stats.vmas++;
	vma->alike = pages_alike(walk);
	ret = fn(vma, arg);
	memledger_alike_clear(&walk->pages.alike);
	close_vma(walk);
	return ret;
}

static void open_vma(struct memledger_walk *walk, struct vm_area_struct *vma)
{
	/* Below addr all is counted, whatever has grown there since. */
	walk->addr = max(walk->addr, vma->vm_start);
	walk->vmas_left--;
	walk->vma.start = walk->addr;
	walk->vma.end = vma->vm_end;
	walk->vma.flags = vma->vm_flags;
	/* With the last one's pages alike it has stayed empty. */
	if (!walk->vma.alike)
		memset(&walk->vma.usage, 0, sizeof(walk->vma.usage));
	if (walk->slots) {
		memledger_vma_slot(vma, walk->slots, &walk->vma);
	} else {
		describe_file(vma, walk->addr, &walk->vma);
		memledger_vma_name(vma, walk->names[0], MEMLEDGER_NAME_SIZE,
				   &walk->vma);
		if (walk->dmabufs_only)
			walk->vma.file = get_file(vma->vm_file);
	}
	walk->open = true;
}

/*
 * A slice ends in @vma. Nothing that is counted stays behind in walk->pages, and
 * whether the next slice finds @vma as it was can be told only by what was not
 * needed so far.
 */
static void leave_open(struct memledger_walk *walk, struct vm_area_struct *vma)
{
	memledger_page_walk_flush(&walk->pages);
	if (!walk->slots)
		return;
	describe_file(vma, walk->vma.start, &walk->vma);
	if (!walk->vma.name)
		memledger_vma_name(vma, walk->names[0], MEMLEDGER_NAME_SIZE,
				   &walk->vma);
}

/*
 * A VMA is open since the last slice: ends it at walk->addr, unless @vma goes on
 * with it. NULL: there are no more VMAs.
 * Returns what the callback said; then nothing is open.
 */
static int resume_vma(struct memledger_walk *walk, struct vm_area_struct *vma,
		      memledger_vma_fn fn, void *arg)
{
	if (vma && same_vma(walk, vma)) {
		walk->vma.end = vma->vm_end;
		return 0;
	}
	walk->vma.end = walk->addr;
	return finish_vma(walk, fn, arg);
}

static bool is_dmabuf(const struct vm_area_struct *vma)
{
	return vma->vm_file && memledger_file_inode(vma->vm_file)
			       ->i_sb->s_magic == DMA_BUF_MAGIC;
}

/*
 * Leaves @vma out, neither named nor looked at. Returns what the callback said
 * of the one before; then @vma comes again.
 */
static int pass_over(struct memledger_walk *walk, struct vm_area_struct *vma,
		     memledger_vma_fn fn, void *arg)
{
	int ret = walk->open ? resume_vma(walk, NULL, fn, arg) : 0;

	if (ret)
		return ret;
	walk->addr = max(walk->addr, vma->vm_end);
	walk->vmas_left--;
	return 0;
}

static bool is_shmem(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return inode->i_sb->s_magic == TMPFS_MAGIC && S_ISREG(inode->i_mode);
}

enum shmem_swap {
	SHMEM_SWAP_NONE,
	SHMEM_SWAP_HOLES,
	SHMEM_SWAP_WHOLE,
};

/*
 * How smaps finds what a mapping of shmem has in swap:
 *
 *   nothing of the object is in swap     there is nothing to find
 *   private and writable                 page by page, where nothing is mapped
 *   otherwise                            all of the part that is mapped
 */
static enum shmem_swap shmem_swap(const struct vm_area_struct *vma)
{
	if (!IS_ENABLED(CONFIG_SHMEM) || !vma->vm_file ||
	    !is_shmem(vma->vm_file) ||
	    !READ_ONCE(SHMEM_I(file_inode(vma->vm_file))->swapped))
		return SHMEM_SWAP_NONE;
	if ((vma->vm_flags & (VM_SHARED | VM_WRITE)) == VM_WRITE)
		return SHMEM_SWAP_HOLES;
	return SHMEM_SWAP_WHOLE;
}

/*
 * Where the object is mapped whole, its own count will do. Else it has to be
 * scanned, which may take long: that is left for when the mmap lock is
 * dropped, with the file held.
 */
static void add_whole_swap(struct memledger_walk *walk,
			   struct vm_area_struct *vma)
{
	struct inode *inode = file_inode(vma->vm_file);

	if (!vma->vm_pgoff && walk->vma.start == vma->vm_start &&
	    walk->vma.end == vma->vm_end &&
	    vma->vm_end - vma->vm_start >= inode->i_size) {
		walk->vma.usage.swap +=
			(u64)READ_ONCE(SHMEM_I(inode)->swapped) << PAGE_SHIFT;
		return;
	}
	walk->swap_file = get_file(vma->vm_file);
	/* What was below may have gone since. */
	walk->swap_start = memledger_page_index(vma, max(walk->vma.start,
							 vma->vm_start));
	walk->swap_end = memledger_page_index(vma, walk->vma.end);
}

/*
 * A page table may be shared with another process, and go away with its
 * mapping while that holds the file's lock for writing. Whoever does may take
 * long: we do not wait for it with the mmap lock held. Returns whether the
 * entries could be looked at.
 */
static bool walk_hugetlb(struct memledger_walk *walk,
			 struct memledger_page_walk *pages)
{
	struct address_space *mapping = pages->vma->vm_file->f_mapping;

	if (!down_read_trylock(&mapping->i_mmap_rwsem))
		return false;
	walk->addr = memledger_page_walk_hugetlb(pages, walk->addr,
						 pages->vma->vm_end);
	up_read(&mapping->i_mmap_rwsem);
	return true;
}

/*
 * What a VMA costs that is passed over, in entries: none of them is looked at,
 * but the VMA, its file, inode and superblock are, which are rarely cached.
 */
#define PASSED_OVER_COST	8

/*
 * What a VMA costs beside its entries, and what it costs to make and place a
 * name that has not been seen before. Measured in instructions, an entry has
 * about 40.
 */
#define VMA_COST		12
#define NAME_COST(len)		(24 + (len) / 2)

static long vma_cost(const struct memledger_vma *vma)
{
	return VMA_COST + (vma->len ? NAME_COST(vma->len) : 0);
}

/*
 * No page of anonymous memory, in memory or in swap, is without an anon_vma: what
 * has none was never touched, or only read, and the zero page does not count.
 */
static bool is_untouched(const struct vm_area_struct *vma)
{
	return vma_is_anonymous((struct vm_area_struct *)vma) &&
	       !READ_ONCE(vma->anon_vma);
}

/* Where the piece of @vma at walk->addr ends: at a cut, or with the VMA. */
static unsigned long piece_end(const struct memledger_walk *walk,
			       struct vm_area_struct *vma)
{
	/* hugetlb pages are not for cutting. */
	if (!walk->cut || is_vm_hugetlb_page(vma))
		return vma->vm_end;
	return min(vma->vm_end, walk->cut(walk->cut_arg, walk->addr));
}

#define SLICE_MORE	(-EAGAIN)

/*
 * Walks VMAs until @budget entries have been looked at. The mmap lock is held.
 * Returns 0 at the end of the mm, SLICE_MORE, what the callback said or an
 * error.
 */
static int walk_locked(struct memledger_walk *walk, long budget,
		       memledger_vma_fn fn, void *arg)
{
	VMA_ITERATOR(vmi, walk->mm, walk->addr);
	struct memledger_page_walk *pages = &walk->pages;
	struct vm_area_struct *vma;
	int ret;

	memledger_page_walk_begin(pages, budget);
	pages->usage = &walk->vma.usage;
	if (walk->slots) {
		walk->slots->file = NULL;
		walk->slots->buf = walk->names[0];
		walk->slots->size = MEMLEDGER_NAME_SIZE;
	}
	vma = vma_next(&vmi);
	while (vma) {
		enum shmem_swap swap;
		unsigned long end;

		ret = -EOVERFLOW;
		if (walk->vmas_left <= 0)
			goto out;
		if (walk->dmabufs_only && !is_dmabuf(vma)) {
			ret = pass_over(walk, vma, fn, arg);
			if (ret)
				goto out;
			pages->budget -= PASSED_OVER_COST;
			end = vma->vm_end;
			goto next;
		}
		swap = shmem_swap(vma);
		ret = walk->open ? resume_vma(walk, vma, fn, arg) : 0;
		if (ret)
			goto out;
		if (!walk->open)
			open_vma(walk, vma);

		end = piece_end(walk, vma);
		pages->vma = vma;
		ret = SLICE_MORE;
		if (is_vm_hugetlb_page(vma)) {
			if (!walk_hugetlb(walk, pages)) {
				walk->back_off = true;
				goto out;
			}
		} else if (is_untouched(vma)) {
			walk->addr = end;
		} else {
			pages->holes = swap == SHMEM_SWAP_HOLES ?
				      vma->vm_file->f_mapping : NULL;
			walk->addr = memledger_page_walk_range(pages,
							       walk->addr, end);
		}
		/* The VMA itself, charged last: every slice gets on. */
		pages->budget -= vma_cost(&walk->vma);
		if (walk->addr < end)
			goto out;

		walk->vma.end = end;
		if (swap == SHMEM_SWAP_WHOLE)
			add_whole_swap(walk, vma);
		if (walk->swap_file)
			goto out;
		ret = finish_vma(walk, fn, arg);
		if (ret)
			goto out;
next:
		/* Whoever waits may as well wait for half a slice. */
		if (pages->budget <= 0 ||
		    (pages->budget < budget / 2 &&
		     mmap_lock_is_contended(walk->mm))) {
			ret = SLICE_MORE;
			goto out;
		}
		if (end == vma->vm_end)
			vma = vma_next(&vmi);
	}
	ret = walk->open ? resume_vma(walk, NULL, fn, arg) : 0;
out:
	if (walk->open && vma)
		leave_open(walk, vma);
	walk->stats.entries += budget - pages->budget;
	return ret;
}

static bool told_to_stop(const struct memledger_walk *walk)
{
	return READ_ONCE(*walk->stop) ||
	       (walk->stop_too && READ_ONCE(*walk->stop_too));
}

static void note_hold(struct memledger_walk_stats *stats, u64 ns)
{
	unsigned int i = fls64(ns >> MEMLEDGER_HOLD_SHIFT);

	stats->slices++;
	stats->lock_hold_max_ns = max(stats->lock_hold_max_ns, ns);
	stats->holds[min_t(unsigned int, i, MEMLEDGER_NR_HOLDS - 1)]++;
}

/*
 * One slice: takes the mmap lock and drops it again, all of it with preemption
 * off. It only asks for the lock: who has it may wait for somebody else with it,
 * for as long as that one likes (a mapping of a file waits for the server of
 * FUSE), and we could not be told to stop meanwhile.
 */
static int walk_slice(struct memledger_walk *walk, long budget,
		      memledger_vma_fn fn, void *arg)
{
	struct mm_struct *mm = walk->mm;
	u64 start;
	int ret;

	if (told_to_stop(walk))
		return -ENODEV;
	if (fatal_signal_pending(current))
		return -EINTR;
	if (!mmget_not_zero(mm))
		return -ESRCH;
	/* Only we are left: the process is gone, and must not wait for us. */
	ret = -ESRCH;
	if (atomic_read(&mm->mm_users) == 1)
		goto out_put;
	ret = SLICE_MORE;
	slice_preempt_disable();
	if (!mmap_read_trylock(mm)) {
		walk->back_off = true;
		goto out_enable;
	}
	start = ktime_get_ns();
	rcu_read_lock();
	ret = walk_locked(walk, budget, fn, arg);
	rcu_read_unlock();
	note_hold(&walk->stats, ktime_get_ns() - start);
	mmap_read_unlock(mm);
out_enable:
	slice_preempt_enable();
out_put:
	memledger_mmput(mm);
	return ret;
}

/* Finishes a VMA whose swap was left to be counted without the mmap lock. */
static int count_swap_file(struct memledger_walk *walk, long budget,
			   memledger_vma_fn fn, void *arg)
{
	struct address_space *mapping = walk->swap_file->f_mapping;
	int ret = 0;

	while (walk->swap_start < walk->swap_end) {
		long left = budget;

		walk->vma.usage.swap += memledger_shmem_swap(mapping,
							     &walk->swap_start,
							     walk->swap_end,
							     &left);
		walk->stats.entries += budget - left;
		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
		if (told_to_stop(walk)) {
			ret = -ENODEV;
			break;
		}
		cond_resched();
	}
	fput(walk->swap_file);
	walk->swap_file = NULL;
	return ret ?: finish_vma(walk, fn, arg);
}

/*
 * A process may well map while it is walked, but who has mapped that many more
 * and as many again as there were runs away from the walk. VMAs that are told in
 * pieces count as many: 16,384 noted ranges are cut at both ends.
 */
#define MORE_VMAS	32768

/**
 * memledger_walk_begin - prepare to walk an mm
 * @walk: what to prepare
 * @mm: the mm; the caller's mmgrab() reference becomes the walk's, also where
 *	this fails
 * @stop: the walk ends with -ENODEV when this becomes true
 *
 * Return: 0 or -ENOMEM.
 */
int memledger_walk_begin(struct memledger_walk *walk, struct mm_struct *mm,
			 const bool *stop)
{
	memset(walk, 0, sizeof(*walk));
	walk->mm = mm;
	walk->stop = stop;
	walk->vmas_left = 2L * READ_ONCE(mm->map_count) + MORE_VMAS;
	walk->names[0] = kvmalloc(2 * MEMLEDGER_NAME_SIZE, GFP_KERNEL);
	if (!walk->names[0]) {
		mmdrop(mm);
		return -ENOMEM;
	}
	walk->names[1] = walk->names[0] + MEMLEDGER_NAME_SIZE;
	return 0;
}

/*
 * How long a walk stays in one place, and how long it waits in all, for want of a
 * lock that somebody else has or that others queue for.
 */
#define PATIENCE	(5 * HZ)
#define PATIENCE_ALL	(30 * HZ)

static void back_off(struct memledger_walk *walk)
{
	unsigned long start = jiffies;

	usleep_range(20, 100);
	walk->waited += jiffies - start;
	walk->back_off = false;
}

static int walk_on(struct memledger_walk *walk, unsigned int slice_entries,
		   memledger_vma_fn fn, void *arg)
{
	unsigned long addr, until = jiffies + PATIENCE;
	int ret;

	do {
		addr = walk->addr;
		ret = walk_slice(walk, slice_entries, fn, arg);
		if (walk->swap_file) {
			ret = count_swap_file(walk, slice_entries, fn, arg);
			if (!ret)
				ret = SLICE_MORE;
		}
		if (walk->addr != addr)
			until = jiffies + PATIENCE;
		else if (ret == SLICE_MORE && time_after(jiffies, until))
			ret = -EOVERFLOW;
		cond_resched();
		if (walk->back_off)
			back_off(walk);
		if (ret == SLICE_MORE && walk->waited > PATIENCE_ALL)
			ret = -EOVERFLOW;
	} while (ret == SLICE_MORE);
	return ret;
}

/**
 * memledger_walk_run - walk on
 * @walk: prepared by memledger_walk_begin()
 * @slice_entries: how many page-table entries a slice looks at
 * @fn: told of each finished VMA
 * @arg: for @fn
 *
 * Context: process context; may sleep, and holds nothing on return.
 * Return: 0 at the end of the mm; what @fn returned, and the next call goes on
 * behind that VMA; -ESRCH if the mm is gone (the process has exited, or runs
 * another program now), -EINTR on a fatal signal, -ENODEV if told to stop,
 * -EOVERFLOW where new VMAs come faster than the walk goes on, or a lock is not
 * to be had for 5 s, or for 30 s in the whole walk.
 */
int memledger_walk_run(struct memledger_walk *walk, unsigned int slice_entries,
		       memledger_vma_fn fn, void *arg)
{
	u64 start = ktime_get_ns();
	int ret = walk_on(walk, slice_entries, fn, arg);

	walk->stats.walk_ns += ktime_get_ns() - start;
	walk->ended = !ret;
	return ret;
}
ALLOW_ERROR_INJECTION(memledger_walk_run, ERRNO);

static DEFINE_SPINLOCK(stats_lock);
static struct memledger_stats stats;

static void add_stats(const struct memledger_walk *walk)
{
	unsigned int i;

	spin_lock(&stats_lock);
	stats.walks++;
	stats.walks_incomplete += !walk->ended;
	stats.slices += walk->stats.slices;
	stats.vmas += walk->stats.vmas;
	stats.entries += walk->stats.entries;
	stats.walk_ns += walk->stats.walk_ns;
	stats.lock_hold_max_ns = max(stats.lock_hold_max_ns,
				     walk->stats.lock_hold_max_ns);
	for (i = 0; i < MEMLEDGER_NR_HOLDS; i++)
		stats.holds[i] += walk->stats.holds[i];
	spin_unlock(&stats_lock);
}

/**
 * memledger_stats_read - what all walks have cost so far
 * @out: gets a consistent copy
 */
void memledger_stats_read(struct memledger_stats *out)
{
	spin_lock(&stats_lock);
	*out = stats;
	spin_unlock(&stats_lock);
}

/**
 * memledger_walk_end - let go of what the walk holds
 * @walk: prepared by memledger_walk_begin()
 *
 * What it has cost is among the statistics then, if it was run at all.
 */
void memledger_walk_end(struct memledger_walk *walk)
{
	if (walk->stats.walk_ns)
		add_stats(walk);
	close_vma(walk);
	kvfree(walk->names[0]);
	mmdrop(walk->mm);
}
