// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the table of process numbers to the numbers of each process, one process
 * after the other, with nothing held in between.
 *
 * Memory that several processes share (CLONE_VM without CLONE_THREAD, or vfork
 * before exec) is counted with the first of them. So the pass remembers what it
 * has walked, and keeps the struct of each, though not the memory: while it
 * does nothing else can come to lie there and be taken for it.
 */
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <memledger/names.h>

#include "process.h"
#include "snapshot.h"
#include "system.h"

/* Whoever reads keeps the module: there is nobody who could tell it to stop. */
static const bool never;

/**
 * struct seen_mm - memory that was walked
 * @node: in the pass's table
 * @mm: the memory, with an mmgrab() reference
 * @tgid: the process that it is counted with
 */
struct seen_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	pid_t tgid;
};

/* Return: the process that @mm is counted with, or 0. */
static pid_t find_seen(struct memledger_pass *pass, const struct mm_struct *mm)
{
	struct seen_mm *seen;

	hash_for_each_possible(pass->seen, seen, node, (unsigned long)mm) {
		if (seen->mm == mm)
			return seen->tgid;
	}
	return 0;
}

/* Takes the reference with it, also where this fails. */
static int remember(struct memledger_pass *pass, struct mm_struct *mm)
{
	struct seen_mm *seen;

	/* It may have become another process's since the pass came to it. */
	pass->shares = find_seen(pass, mm);
	if (pass->shares) {
		mmdrop(mm);
		return 0;
	}
	seen = kmalloc(sizeof(*seen), GFP_KERNEL_ACCOUNT);
	if (!seen) {
		mmdrop(mm);
		return -ENOMEM;
	}
	seen->mm = mm;
	seen->tgid = pass->tgid;
	hash_add(pass->seen, &seen->node, (unsigned long)mm);
	return 0;
}

/**
 * memledger_pass_begin - get ready for a pass
 * @pass: what to set up; to be ended by memledger_pass_end()
 */
void memledger_pass_begin(struct memledger_pass *pass)
{
	memset(pass, 0, sizeof(*pass));
	pass->next = 1;
	pass->begin_ns = ktime_get_boottime_ns();
	hash_init(pass->seen);
}

/* Return: whether it is one with memory, and not only with a number. */
static bool take_process(struct memledger_pass *pass)
{
	struct mm_struct *mm = memledger_process_mm(pass->pid);

	if (!mm)
		return false;
	pass->shares = find_seen(pass, mm);
	mmdrop(mm);
	return !memledger_process_comm(pass->pid, pass->comm,
				       sizeof(pass->comm));
}

/**
 * memledger_pass_next - go on to the next process that has memory
 * @pass: the pass
 *
 * By ascending number. A process that lives throughout comes once; one that is
 * created meanwhile may be missed. Kernel threads and zombies do not come.
 *
 * Context: process context; may sleep.
 * Return: 1; 0 if there are no more; -EINTR on a fatal signal.
 */
int memledger_pass_next(struct memledger_pass *pass)
{
	do {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		put_pid(pass->pid);
		pass->pid = memledger_process_next(&pass->next);
		if (!pass->pid)
			return 0;
		pass->tgid = pass->next++;
	} while (!take_process(pass));
	return 1;
}

/**
 * memledger_pass_record - the numbers of the process at hand
 * @pass: the pass; its shares may change from 0 if the process has come to
 *	share memory, and then the numbers are another process's
 * @record: gets them
 *
 * Context: process context; may sleep, and holds nothing in between.
 * Return: 0; -ESRCH if the process has exited, -EINTR or -ENOMEM.
 */
int memledger_pass_record(struct memledger_pass *pass,
			  struct memledger_record *record)
{
	struct mm_struct *mm;
	int ret;

	ret = memledger_snapshot_process(pass->pid, &never, &pass->known,
					 record, &mm);
	if (ret || !mm)
		return ret;
	return remember(pass, mm);
}

static u32 row_class(const struct memledger_vma_line *line)
{
	return (line->perms[0] == 'r' ? MEMLEDGER_PASS_READ : 0) |
	       (line->perms[1] == 'w' ? MEMLEDGER_PASS_WRITE : 0) |
	       (line->perms[2] == 'x' ? MEMLEDGER_PASS_EXEC : 0) |
	       (line->perms[3] == 's' ? MEMLEDGER_PASS_SHARED : 0) |
	       (line->deleted ? MEMLEDGER_PASS_DELETED : 0);
}

static int add_names(struct memledger_vma_cursor *cursor,
		     struct memledger_names *names)
{
	struct memledger_vma_line line;
	int ret;

	while ((ret = memledger_vma_cursor_next(cursor, &line)) > 0) {
		ret = memledger_names_add(names, line.name, strlen(line.name),
					  row_class(&line), &line.usage,
					  line.verdict.swappable);
		if (ret)
			break;
	}
	return ret;
}

/* One walk from begin to end, as for a record; afresh, whatever is in @names. */
static int walk_names(struct memledger_pass *pass,
		      struct memledger_names *names)
{
	struct memledger_vma_cursor *cursor;
	struct mm_struct *mm;
	int ret;

	memledger_names_free(names);
	cursor = memledger_vma_cursor_open_pid(pass->pid, &never, false);
	if (IS_ERR(cursor))
		return PTR_ERR(cursor);
	mm = memledger_vma_cursor_mm(cursor);
	mmgrab(mm);
	ret = add_names(cursor, names);
	memledger_vma_cursor_close(cursor);
	/* Who shares it has as many names. */
	if (!ret || ret == -EOVERFLOW)
		return remember(pass, mm) ?: ret;
	mmdrop(mm);
	return ret;
}

/**
 * memledger_pass_names - the mappings of the process at hand, by name
 * @pass: the pass; its shares as for memledger_pass_record()
 * @names: an empty table; gets a row a name and MEMLEDGER_PASS_*, the largest
 *	first. The caller frees it, also where this fails
 * @complete: false if the process began other programs again and again, has more
 *	names than there is room for, maps faster than it is walked, or keeps a
 *	lock for 5 s, and the rows are a part of it
 *
 * The names of files are as the caller's root directory has them.
 *
 * Context: process context; may sleep.
 * Return: 0; -ESRCH if the process has exited, -EINTR or -ENOMEM.
 */
int memledger_pass_names(struct memledger_pass *pass,
			 struct memledger_names *names, bool *complete)
{
	unsigned int tries = 0;
	int ret;

	do {
		ret = walk_names(pass, names);
	} while (memledger_walk_again(ret, pass->pid, &tries));
	*complete = !ret;
	if (ret && ret != -EOVERFLOW && tries < MEMLEDGER_WALK_TRIES)
		return ret;
	memledger_names_sort(names);
	return 0;
}

/**
 * memledger_pass_end - let go of all that a pass holds
 * @pass: has seen nothing and is at no process afterwards; to end it again
 *	does no harm
 *
 * Context: process context; may sleep.
 */
void memledger_pass_end(struct memledger_pass *pass)
{
	struct hlist_node *next;
	struct seen_mm *seen;
	int bucket;

	put_pid(pass->pid);
	pass->pid = NULL;
	memledger_known_free(pass->known);
	pass->known = NULL;
	hash_for_each_safe(pass->seen, bucket, next, seen, node) {
		hash_del(&seen->node);
		/* Frees much of a process that has exited since. */
		mmdrop(seen->mm);
		kfree(seen);
		cond_resched();
	}
}
