// SPDX-License-Identifier: GPL-2.0-only
/*
 * From mmap, munmap, mremap and brk of chosen processes to a map from address
 * ranges to the code that asked for them.
 *
 * The probes are return probes on the functions of the system calls, there
 * only while owner_capture is 1. Handlers run with preemption off: they may
 * not sleep, so that they note raw addresses in ranges allocated beforehand,
 * and everything else is left for when the map is read.
 *
 * Who forgets and who notes, and when:
 *
 *   munmap  forgets on entry, before the range can be anybody else's: on
 *           return another thread may have mapped it again already
 *   mmap    notes on return, when the address is known, over what was there;
 *           of code when it came, so that callers in what was there before
 *           are not taken for callers in it
 *   mremap  takes the range's owner along: forgets on entry, notes on return
 *   brk     forgets on entry what it cuts off, notes on return what it adds
 *
 * A child of fork is another process. exec forgets all, which shows in the mm
 * and in self_exec_id: the mm may be at an old one's address.
 */
#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include "capture.h"
#include "compat.h"
#include "user_stack.h"

/* So many mappings a process; about 2 MB. */
#define MAX_RANGES	16384

/**
 * struct owner - who asked for memory
 * @seq: when: what is mapped later has more
 * @nr: how many of @pcs are known; 0 of 32-bit tasks, and of code
 * @pcs: the innermost first
 */
struct owner {
	u64 seq;
	u32 nr;
	unsigned long pcs[MEMLEDGER_CAPTURE_PCS];
};

/**
 * struct owned_range - memory with an owner; ranges do not overlap
 * @node: in the tree, by address
 * @next_free: of a range that is in no tree
 * @start: first address
 * @end: first address behind it
 * @owner: who asked for it
 */
struct owned_range {
	union {
		struct rb_node node;
		struct owned_range *next_free;
	};
	unsigned long start;
	unsigned long end;
	struct owner owner;
};

/**
 * struct memledger_capture - the map of one process
 * @hash: in the table of processes that are watched
 * @next_gone: the next of those that are no more in it, or NULL
 * @pid: the process; holds a reference
 * @lock: guards all below; taken in probes
 * @mm: whose ranges these are; only compared, never followed
 * @exec_id: and of which program
 * @seq: of what was mapped last
 * @root: the ranges
 * @nr: how many
 * @pool: room for MAX_RANGES
 * @pool_used: how many of @pool have been used at all
 * @free: those that are free again
 * @dropped: how many could not be noted
 */
struct memledger_capture {
	struct hlist_node hash;
	struct memledger_capture *next_gone;
	struct pid *pid;
	raw_spinlock_t lock;
	const struct mm_struct *mm;
	u64 exec_id;
	u64 seq;
	struct rb_root root;
	u32 nr;
	struct owned_range *pool;
	u32 pool_used;
	struct owned_range *free;
	u64 dropped;
};

/* Writers hold capture_lock, probes are RCU readers. */
static DEFINE_HASHTABLE(captures, 6);
static DEFINE_MUTEX(capture_lock);
static bool enabled;

/*
 * The map
 */

static void forget_all(struct memledger_capture *capture)
{
	capture->root = RB_ROOT;
	capture->nr = 0;
	capture->pool_used = 0;
	capture->free = NULL;
}

static struct owned_range *alloc_range(struct memledger_capture *capture)
{
	struct owned_range *range = capture->free;

	if (range) {
		capture->free = range->next_free;
	} else if (capture->pool_used < MAX_RANGES) {
		range = &capture->pool[capture->pool_used++];
	} else {
		capture->dropped++;
		return NULL;
	}
	capture->nr++;
	return range;
}

static void remove_range(struct memledger_capture *capture,
			 struct owned_range *range)
{
	rb_erase(&range->node, &capture->root);
	range->next_free = capture->free;
	capture->free = range;
	capture->nr--;
}

static void insert_range(struct memledger_capture *capture,
			 struct owned_range *range)
{
	struct rb_node **link = &capture->root.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = range->start < rb_entry(parent, struct owned_range,
					       node)->start ?
		       &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&range->node, parent, link);
	rb_insert_color(&range->node, &capture->root);
}

/* The first range that ends above @addr. */
static struct owned_range *find_range(struct memledger_capture *capture,
				      unsigned long addr)
{
	struct rb_node *node = capture->root.rb_node;
	struct owned_range *found = NULL;

	while (node) {
		struct owned_range *range =
			rb_entry(node, struct owned_range, node);

		if (range->end > addr) {
			found = range;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

static struct owned_range *next_range(struct owned_range *range)
{
	struct rb_node *node = rb_next(&range->node);

	return node ? rb_entry(node, struct owned_range, node) : NULL;
}

static void forget(struct memledger_capture *capture, unsigned long start,
		   unsigned long end)
{
	struct owned_range *range = find_range(capture, start), *upper;

	/* An mremap() of nothing would only cut the range in two. */
	if (start >= end)
		return;
	while (range && range->start < end) {
		struct owned_range *next = next_range(range);

		if (range->start < start && range->end > end) {
			/* A hole in the middle: what is above becomes another. */
			upper = alloc_range(capture);
			if (upper) {
				upper->start = end;
				upper->end = range->end;
				upper->owner = range->owner;
			}
			range->end = start;
			if (upper)
				insert_range(capture, upper);
			return;
		}
		if (range->start < start)
			range->end = start;
		else if (range->end > end)
			range->start = end;
		else
			remove_range(capture, range);
		range = next;
	}
}

static void note(struct memledger_capture *capture, unsigned long start,
		 unsigned long end, const struct owner *owner)
{
	struct owned_range *range, *next;

	if (start >= end)
		return;
	forget(capture, start, end);
	range = find_range(capture, start - 1);
	if (range && range->end == start && range->owner.seq == owner->seq) {
		/* A part of one mapping that mremap() left, or moved back. */
		range->end = end;
	} else {
		range = alloc_range(capture);
		if (!range)
			return;
		range->start = start;
		range->end = end;
		range->owner = *owner;
		insert_range(capture, range);
	}
	next = next_range(range);
	if (next && next->start == end && next->owner.seq == owner->seq) {
		range->end = next->end;
		remove_range(capture, next);
	}
}

static void note_new(struct memledger_capture *capture, unsigned long start,
		     unsigned long end, struct owner *owner)
{
	owner->seq = ++capture->seq;
	note(capture, start, end, owner);
}

/*
 * How many of the addresses still mean what they meant: where code has been
 * mapped since, another library took the place of the caller.
 */
static unsigned int nr_valid_pcs(struct memledger_capture *capture,
				 const struct owner *owner)
{
	struct owned_range *range;
	unsigned int i;

	for (i = 0; i < owner->nr; i++) {
		range = find_range(capture, owner->pcs[i] - 1);
		if (range && range->start < owner->pcs[i] &&
		    range->owner.seq > owner->seq)
			break;
	}
	return i;
}

/*
 * The probes
 */

/*
 * A probe that is a breakpoint counts as an NMI, and lockdep takes a lock for
 * misused that is held both in one and elsewhere. Nobody who holds this one is
 * hit by a breakpoint of ours: interrupts are off, and nothing that is called
 * has a probe. It is taken last, too.
 */
static unsigned long lock_map(struct memledger_capture *capture)
	__acquires(&capture->lock)
{
	unsigned long flags;

	lockdep_off();
	raw_spin_lock_irqsave(&capture->lock, flags);
	lockdep_on();
	return flags;
}

static void unlock_map(struct memledger_capture *capture, unsigned long flags)
	__releases(&capture->lock)
{
	lockdep_off();
	raw_spin_unlock_irqrestore(&capture->lock, flags);
	lockdep_on();
}

/* Under RCU, as probes are, or capture_lock. */
static struct memledger_capture *find_capture(const struct pid *pid)
{
	struct memledger_capture *capture;

	hash_for_each_possible_rcu(captures, capture, hash,
				   (unsigned long)pid,
				   lockdep_is_held(&capture_lock)) {
		if (capture->pid == pid)
			return capture;
	}
	return NULL;
}

/* With the lock held: what is in the map must be of the program at hand. */
static void follow_exec(struct memledger_capture *capture)
{
	if (capture->mm == current->mm &&
	    capture->exec_id == current->self_exec_id)
		return;
	forget_all(capture);
	capture->mm = current->mm;
	capture->exec_id = current->self_exec_id;
}

/*
 * Whether the process still runs the program whose ranges these are. Under
 * RCU. All threads have the same number, the leader even when it has exited.
 */
static bool runs_noted_program(const struct memledger_capture *capture)
{
	const struct task_struct *task = pid_task(capture->pid, PIDTYPE_TGID);

	return task && READ_ONCE(task->self_exec_id) == capture->exec_id;
}

static struct memledger_capture *current_capture(void)
{
	return find_capture(task_tgid(current));
}

/**
 * struct call - what a system call was asked for
 * @addr: where; the old place for mremap, the new end for brk
 * @len: how much; the old size for mremap, the old end for brk
 * @new_len: the new size for mremap
 * @prot: PROT_* for mmap
 * @flags: MAP_* or MREMAP_*
 * @known: what mremap moves is in the map; else a file's, or older than it
 * @owner: and this is its owner
 */
struct call {
	unsigned long addr;
	unsigned long len;
	unsigned long new_len;
	unsigned long prot;
	unsigned long flags;
	bool known;
	struct owner owner;
};

static unsigned long range_end(unsigned long start, unsigned long len)
{
	unsigned long end = start + PAGE_ALIGN(len);

	return end < start ? ULONG_MAX & PAGE_MASK : end;
}

static int mmap_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;

	if (!current_capture())
		return 1;
	call->len = memledger_syscall_arg(regs, 1);
	call->prot = memledger_syscall_arg(regs, 2);
	call->flags = memledger_syscall_arg(regs, 3);
	return 0;
}

#ifdef CONFIG_IA32_EMULATION
/* The oldest mmap has its arguments in memory. */
static int old_mmap_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	u32 args[4];
	unsigned long left;

	if (!current_capture())
		return 1;
	pagefault_disable();
	left = __copy_from_user_inatomic(args, (void __user *)
					 memledger_syscall_arg(regs, 0),
					 sizeof(args));
	pagefault_enable();
	if (left)
		return 1;
	call->len = args[1];
	call->prot = args[2];
	call->flags = args[3];
	return 0;
}
#endif

static int mmap_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	unsigned long addr = regs_return_value(regs), end, flags;
	bool anonymous = call->flags & MAP_ANONYMOUS;
	struct memledger_capture *capture;
	struct owner owner = {};

	if (IS_ERR_VALUE(addr))
		return 0;
	end = range_end(addr, call->len);
	if (anonymous)
		owner.nr = memledger_user_stack(owner.pcs,
						ARRAY_SIZE(owner.pcs));
	capture = current_capture();
	if (!capture)
		return 0;
	flags = lock_map(capture);
	follow_exec(capture);
	/*
	 * Files have names of their own, and lie over what was there. When a
	 * library came matters to who its addresses belong to.
	 */
	if (anonymous || call->prot & PROT_EXEC)
		note_new(capture, addr, end, &owner);
	else
		forget(capture, addr, end);
	unlock_map(capture, flags);
	return 0;
}

static int munmap_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long start = memledger_untag(memledger_syscall_arg(regs, 0));
	unsigned long end = range_end(start, memledger_syscall_arg(regs, 1));
	struct memledger_capture *capture;
	unsigned long flags;

	/* What munmap refuses unmaps nothing. */
	if (!PAGE_ALIGNED(start) || start == end)
		return 1;
	capture = current_capture();
	if (!capture)
		return 1;
	flags = lock_map(capture);
	follow_exec(capture);
	forget(capture, start, end);
	unlock_map(capture, flags);
	return 1;
}

static int mremap_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	struct memledger_capture *capture;
	struct owned_range *range;
	unsigned long flags, end;

	call->addr = memledger_untag(memledger_syscall_arg(regs, 0));
	call->len = memledger_syscall_arg(regs, 1);
	call->new_len = memledger_syscall_arg(regs, 2);
	call->flags = memledger_syscall_arg(regs, 3);
	call->owner = (struct owner){};
	/* It will be refused, and ranges are of whole pages. */
	if (!PAGE_ALIGNED(call->addr))
		return 1;
	capture = current_capture();
	if (!capture)
		return 1;
	flags = lock_map(capture);
	follow_exec(capture);
	end = range_end(call->addr, call->len);
	range = find_range(capture, call->addr);
	/* One owner all over, or nobody that we could name for all of it. */
	if (range && range->start <= call->addr && range->end >= end)
		call->owner = range->owner;
	call->known = range && range->start < end;
	if (call->known && !(call->flags & MREMAP_DONTUNMAP))
		forget(capture, call->addr, end);
	unlock_map(capture, flags);
	return 0;
}

static int mremap_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	unsigned long addr = regs_return_value(regs), flags;
	unsigned long len = call->new_len;
	struct memledger_capture *capture;

	/* It failed: all is as it was. */
	if (IS_ERR_VALUE(addr)) {
		addr = call->addr;
		len = call->len;
	}
	capture = current_capture();
	if (!capture)
		return 0;
	flags = lock_map(capture);
	follow_exec(capture);
	if (call->known)
		note(capture, addr, range_end(addr, len), &call->owner);
	else if (addr != call->addr)
		forget(capture, addr, range_end(addr, len));
	unlock_map(capture, flags);
	return 0;
}

static int brk_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	struct memledger_capture *capture;
	unsigned long flags;

	call->addr = PAGE_ALIGN(memledger_syscall_arg(regs, 0));
	call->len = PAGE_ALIGN(READ_ONCE(current->mm->brk));
	capture = current_capture();
	if (!capture)
		return 1;
	flags = lock_map(capture);
	follow_exec(capture);
	if (call->addr >= current->mm->start_brk && call->addr < call->len)
		forget(capture, call->addr, call->len);
	unlock_map(capture, flags);
	return 0;
}

static int brk_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct call *call = (struct call *)ri->data;
	unsigned long end = PAGE_ALIGN(regs_return_value(regs)), flags;
	struct memledger_capture *capture;
	struct owner owner;

	if (end <= call->len)
		return 0;
	owner.nr = memledger_user_stack(owner.pcs, ARRAY_SIZE(owner.pcs));
	capture = current_capture();
	if (!capture)
		return 0;
	flags = lock_map(capture);
	follow_exec(capture);
	note_new(capture, call->len, end, &owner);
	unlock_map(capture, flags);
	return 0;
}

#define PROBE(_symbol, _op, _return)			\
	{						\
		.kp.symbol_name = _symbol,		\
		.entry_handler = _op##_entry,		\
		.handler = _return,			\
		.data_size = sizeof(struct call),	\
	}

#define NR_NATIVE_PROBES	4

/* The first four must be there; the rest is 32-bit tasks', if there are any. */
static struct kretprobe probes[] = {
#if defined(CONFIG_X86_64)
	PROBE("__x64_sys_mmap", mmap, mmap_return),
	PROBE("__x64_sys_munmap", munmap, NULL),
	PROBE("__x64_sys_mremap", mremap, mremap_return),
	PROBE("__x64_sys_brk", brk, brk_return),
#ifdef CONFIG_IA32_EMULATION
	PROBE("__ia32_sys_mmap_pgoff", mmap, mmap_return),
	PROBE("__ia32_compat_sys_ia32_mmap", old_mmap, mmap_return),
	PROBE("__ia32_sys_munmap", munmap, NULL),
	PROBE("__ia32_sys_mremap", mremap, mremap_return),
	PROBE("__ia32_sys_brk", brk, brk_return),
#endif
#elif defined(CONFIG_ARM64)
	PROBE("__arm64_sys_mmap", mmap, mmap_return),
	PROBE("__arm64_sys_munmap", munmap, NULL),
	PROBE("__arm64_sys_mremap", mremap, mremap_return),
	PROBE("__arm64_sys_brk", brk, brk_return),
#ifdef CONFIG_COMPAT
	PROBE("__arm64_compat_sys_aarch32_mmap2", mmap, mmap_return),
#endif
#endif
};

static bool arch_is_supported(void)
{
	return ARRAY_SIZE(probes) >= NR_NATIVE_PROBES;
}

/**
 * memledger_capture_supported - whether this kernel can capture owners
 *
 * Return: true with kretprobes, on x86_64 and arm64.
 */
bool memledger_capture_supported(void)
{
	return IS_ENABLED(CONFIG_KRETPROBES) && arch_is_supported();
}

/**
 * memledger_capture_enabled - whether the probes are there
 *
 * Return: what owner_capture says.
 */
bool memledger_capture_enabled(void)
{
	return READ_ONCE(enabled);
}

/* Mappings take their time, and each under way needs an instance. */
#define MAX_ACTIVE	128

static int register_probe(struct kretprobe *probe)
{
	probe->kp.addr = NULL;
	probe->kp.flags = 0;
	probe->maxactive = MAX_ACTIVE;
	return register_kretprobe(probe);
}

static void unregister_probes(unsigned int nr)
{
	while (nr--) {
		if (probes[nr].kp.addr)
			unregister_kretprobe(&probes[nr]);
		probes[nr].kp.addr = NULL;
	}
}

static int register_probes(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = register_probe(&probes[i]);
		if (!ret)
			continue;
		probes[i].kp.addr = NULL;
		if (ret == -ENOENT && i >= NR_NATIVE_PROBES)
			continue;
		unregister_probes(i);
		return ret == -ENOENT ? -EOPNOTSUPP : ret;
	}
	return 0;
}

/* Those are gone from the table that begin with this one. */
static void free_captures(struct memledger_capture *capture)
{
	if (!capture)
		return;
	/* Probes are RCU readers. */
	synchronize_rcu();
	while (capture) {
		struct memledger_capture *next = capture->next_gone;

		put_pid(capture->pid);
		kvfree(capture->pool);
		kfree(capture);
		capture = next;
	}
}

static void disable(void)
{
	struct memledger_capture *capture, *gone = NULL;
	struct hlist_node *next;
	unsigned int bucket;

	lockdep_assert_held(&capture_lock);
	WRITE_ONCE(enabled, false);
	unregister_probes(ARRAY_SIZE(probes));
	hash_for_each_safe(captures, bucket, next, capture, hash) {
		hash_del_rcu(&capture->hash);
		capture->next_gone = gone;
		gone = capture;
	}
	free_captures(gone);
}

/**
 * memledger_capture_enable - put the probes in place, or take them away
 * @on: which
 *
 * With the probes go all maps.
 *
 * Context: process context; may sleep.
 * Return: 0; -EOPNOTSUPP if this kernel has not what it takes, -EINTR, or what
 * registering a probe failed with. Then no probe is left.
 */
int memledger_capture_enable(bool on)
{
	int ret;

	if (on && !memledger_capture_supported())
		return -EOPNOTSUPP;
	ret = mutex_lock_killable(&capture_lock);
	if (ret)
		return ret;
	if (on && !enabled) {
		ret = register_probes();
		if (!ret)
			WRITE_ONCE(enabled, true);
	} else if (!on && enabled) {
		disable();
	}
	mutex_unlock(&capture_lock);
	return ret;
}

/**
 * memledger_capture_exit - leave no probe behind
 */
void memledger_capture_exit(void)
{
	mutex_lock(&capture_lock);
	if (enabled)
		disable();
	mutex_unlock(&capture_lock);
}

/**
 * memledger_capture_start - watch a process
 * @pid: its thread group
 *
 * Context: process context; may sleep.
 * Return: 0, also if it is watched already; -ENXIO if owner_capture is 0,
 * -ENOMEM, -EINTR.
 */
int memledger_capture_start(struct pid *pid)
{
	struct memledger_capture *capture;
	int ret;

	ret = mutex_lock_killable(&capture_lock);
	if (ret)
		return ret;
	ret = -ENXIO;
	if (!enabled)
		goto out;
	ret = 0;
	if (find_capture(pid))
		goto out;

	ret = -ENOMEM;
	capture = kzalloc(sizeof(*capture), GFP_KERNEL);
	if (!capture)
		goto out;
	capture->pool = kvcalloc(MAX_RANGES, sizeof(*capture->pool),
				 GFP_KERNEL);
	if (!capture->pool) {
		kfree(capture);
		goto out;
	}
	raw_spin_lock_init(&capture->lock);
	capture->pid = get_pid(pid);
	capture->root = RB_ROOT;
	hash_add_rcu(captures, &capture->hash, (unsigned long)pid);
	ret = 0;
out:
	mutex_unlock(&capture_lock);
	return ret;
}

/**
 * memledger_capture_stop - watch a process no more
 * @pid: its thread group
 *
 * Context: process context; may sleep.
 */
void memledger_capture_stop(struct pid *pid)
{
	struct memledger_capture *capture;

	mutex_lock(&capture_lock);
	capture = find_capture(pid);
	if (capture) {
		hash_del_rcu(&capture->hash);
		free_captures(capture);
	}
	mutex_unlock(&capture_lock);
}

/**
 * memledger_capture_info - what there is to say of a process's map
 * @pid: its thread group
 * @info: what to fill
 *
 * Return: whether it is watched; @info is zero otherwise.
 */
bool memledger_capture_info(struct pid *pid,
			    struct memledger_capture_info *info)
{
	struct memledger_capture *capture;
	unsigned long flags;
	unsigned int i;

	memset(info, 0, sizeof(*info));
	rcu_read_lock();
	capture = find_capture(pid);
	if (capture) {
		flags = lock_map(capture);
		info->ranges = runs_noted_program(capture) ? capture->nr : 0;
		info->dropped = capture->dropped;
		unlock_map(capture, flags);
		for (i = 0; i < ARRAY_SIZE(probes); i++)
			info->dropped += probes[i].nmissed;
	}
	rcu_read_unlock();
	return capture;
}

/**
 * memledger_capture_lookup - who asked for the memory at an address
 * @pid: the process's thread group
 * @mm: its memory; another program's map says nothing of it
 * @addr: the address
 * @end: gets the first address for which the answer may be another
 * @pcs: gets up to MEMLEDGER_CAPTURE_PCS addresses, the innermost first
 *
 * Context: any; does not sleep.
 * Return: how many addresses; 0 if nobody is known.
 */
unsigned int memledger_capture_lookup(struct pid *pid,
				      const struct mm_struct *mm,
				      unsigned long addr, unsigned long *end,
				      unsigned long *pcs)
{
	struct memledger_capture *capture;
	struct owned_range *range;
	unsigned long flags;
	unsigned int nr = 0;

	*end = ULONG_MAX;
	rcu_read_lock();
	capture = find_capture(pid);
	if (!capture)
		goto out;
	flags = lock_map(capture);
	range = NULL;
	if (capture->mm == mm && runs_noted_program(capture))
		range = find_range(capture, addr);
	if (range && range->start > addr) {
		*end = range->start;
	} else if (range) {
		*end = range->end;
		nr = nr_valid_pcs(capture, &range->owner);
		memcpy(pcs, range->owner.pcs, nr * sizeof(*pcs));
	}
	unlock_map(capture, flags);
out:
	rcu_read_unlock();
	return nr;
}
