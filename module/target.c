// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a process number to a pinned process that is tracked.
 *
 * A target holds a struct pid: it keeps neither the task nor its memory, and
 * a number that is used again is another struct pid.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

#include "capture.h"
#include "process.h"
#include "target.h"

/*
 * Held while a target comes or goes, its directories included. Of the files
 * that are removed meanwhile none takes it: only track and untrack do, and
 * these go last.
 */
static DEFINE_MUTEX(track_lock);
static LIST_HEAD(targets);
static unsigned int nr_targets;

/* Objects that still are in memory, tracked or not: unloading waits for them. */
static atomic_t nr_alive = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(none_alive);

/* How many may be tracked at once; a setting. */
unsigned int memledger_target_max = MEMLEDGER_MAX_TRACKED_DEFAULT;

/**
 * memledger_target_get - hold a target
 * @target: a target that cannot go away at this moment
 */
void memledger_target_get(struct memledger_target *target)
{
	kref_get(&target->ref);
}

static void target_release(struct kref *ref)
{
	struct memledger_target *target =
		container_of(ref, struct memledger_target, ref);

	put_pid(target->pid);
	sysfs_put(target->polled);
	mutex_destroy(&target->lock);
	kvfree(target);
	/*
	 * Unloading waits for RCU readers, and so for the end of this. What is
	 * left then is a few returns; with CONFIG_DEBUG_KOBJECT_RELEASE they
	 * may be those of a worker, for which nobody waits.
	 */
	rcu_read_lock();
	if (atomic_dec_and_test(&nr_alive))
		wake_up(&none_alive);
	rcu_read_unlock();
}

/**
 * memledger_target_put - let go of a target
 * @target: not to be used afterwards
 *
 * Context: may sleep.
 */
void memledger_target_put(struct memledger_target *target)
{
	kref_put(&target->ref, target_release);
}

/**
 * memledger_target_is_alive - whether a process still has memory
 * @target: the process
 *
 * Return: false once it has exited, also while it is a zombie.
 */
bool memledger_target_is_alive(struct memledger_target *target)
{
	return memledger_process_is_alive(target->pid);
}

/**
 * memledger_target_comm - what the process is called now
 * @target: the process
 * @buf: gets the name of the thread group's leader
 * @size: of @buf, at least TASK_COMM_LEN
 *
 * Return: 0 or -ESRCH.
 */
int memledger_target_comm(struct memledger_target *target, char *buf,
			  size_t size)
{
	return memledger_process_comm(target->pid, buf, size);
}

/**
 * memledger_comm_escape - make a process's name harmless to print
 * @comm: NUL-terminated
 * @text: gets it with control characters, backslashes and what is not ASCII as
 *	octal escapes
 * @size: of @text; MEMLEDGER_COMM_TEXT_LEN is enough for any name
 *
 * string_escape_mem() does as much, but Android's kernels do not list it.
 */
void memledger_comm_escape(const char *comm, char *text, size_t size)
{
	const char *end = text + size - 1;
	size_t len;

	for (; *comm; comm++, text += len) {
		unsigned char c = *comm;

		/* What is not escaped, of ASCII. */
		len = c >= ' ' && c <= '~' && c != '\\' ? 1 : 4;
		if (end - text < len)
			break;
		if (len == 1)
			*text = c;
		else
			sprintf(text, "\\%03o", c);
	}
	*text = '\0';
}

static struct memledger_target *find_target(pid_t nr)
{
	struct memledger_target *target;

	lockdep_assert_held(&track_lock);
	list_for_each_entry(target, &targets, node) {
		if (target->nr == nr)
			return target;
	}
	return NULL;
}

/* Takes the list's reference with it. */
static void remove_target(struct memledger_target *target)
{
	lockdep_assert_held(&track_lock);
	list_del(&target->node);
	nr_targets--;
	/* Readers inside a walk leave at their next slice. */
	WRITE_ONCE(target->dying, true);
	memledger_exit_unwatch(target);
	memledger_debugfs_remove(target);
	memledger_sysfs_remove(target);
	/* Now that nobody can start it again. */
	memledger_capture_stop(target->pid);
	memledger_target_put(target);
}

static int add_target(struct pid *pid, pid_t nr)
{
	struct memledger_target *target;
	int ret;

	lockdep_assert_held(&track_lock);
	target = kvzalloc(sizeof(*target), GFP_KERNEL);
	if (!target)
		return -ENOMEM;
	atomic_inc(&nr_alive);
	kref_init(&target->ref);
	mutex_init(&target->lock);
	target->pid = get_pid(pid);
	target->nr = nr;

	ret = memledger_sysfs_add(target);
	if (ret)
		goto err_put;
	memledger_debugfs_add(target);
	memledger_exit_watch(target);
	list_add_tail(&target->node, &targets);
	nr_targets++;
	return 0;

err_put:
	/* Its files were there for a while. */
	memledger_capture_stop(pid);
	memledger_target_put(target);
	return ret;
}

/* The process of that number, if it is one with memory of its own. */
static struct pid *get_process(pid_t nr)
{
	struct task_struct *task;
	struct pid *pid;
	int ret;

	rcu_read_lock();
	pid = get_pid(find_pid_ns(nr, &init_pid_ns));
	rcu_read_unlock();
	if (!pid)
		return ERR_PTR(-ESRCH);

	/* Refuses threads that are not their group's leader. */
	task = get_pid_task(pid, PIDTYPE_TGID);
	if (!task) {
		put_pid(pid);
		return ERR_PTR(-ESRCH);
	}
	ret = task->flags & PF_KTHREAD ? -EINVAL : 0;
	put_task_struct(task);
	/* A zombie has a number, but nothing to be tracked. */
	if (!ret && !memledger_process_is_alive(pid))
		ret = -ESRCH;
	if (!ret)
		return pid;
	put_pid(pid);
	return ERR_PTR(ret);
}

/**
 * memledger_target_track - start to track a process
 * @nr: its number in the initial pid namespace
 *
 * A tracked process of the same number that is dead gives way.
 *
 * Context: process context; may sleep.
 * Return: 0; -EINVAL for a number that is none or a kernel thread's, -ESRCH if
 * there is no such process, -EEXIST if it is tracked, -ENOSPC if too many are,
 * -ENOMEM, -EINTR.
 */
int memledger_target_track(pid_t nr)
{
	struct memledger_target *target;
	struct pid *pid;
	int ret;

	if (nr <= 0)
		return -EINVAL;
	ret = mutex_lock_killable(&track_lock);
	if (ret)
		return ret;
	/* Not before: whoever has the number now may be another one then. */
	pid = get_process(nr);
	if (IS_ERR(pid)) {
		ret = PTR_ERR(pid);
		goto out_unlock;
	}
	target = find_target(nr);
	if (target && target->pid == pid) {
		ret = -EEXIST;
		goto out_put;
	}
	/* Who gives way makes room, and stays where there is none. */
	ret = -ENOSPC;
	if (nr_targets - !!target >= READ_ONCE(memledger_target_max))
		goto out_put;
	if (target)
		remove_target(target);
	ret = add_target(pid, nr);
out_put:
	put_pid(pid);
out_unlock:
	mutex_unlock(&track_lock);
	return ret;
}

/**
 * memledger_target_untrack - stop to track a process
 * @nr: its number in the initial pid namespace
 *
 * Context: process context; waits for readers of the process's files.
 * Return: 0; -EINVAL for a number that is none, -ENOENT if it is not tracked,
 * -EINTR.
 */
int memledger_target_untrack(pid_t nr)
{
	struct memledger_target *target;
	int ret;

	if (nr <= 0)
		return -EINVAL;
	ret = mutex_lock_killable(&track_lock);
	if (ret)
		return ret;
	target = find_target(nr);
	if (target)
		remove_target(target);
	mutex_unlock(&track_lock);
	return target ? 0 : -ENOENT;
}

/**
 * memledger_target_untrack_all - drop all targets, and wait until none is left
 *
 * For module exit, when track can no longer be written to.
 */
void memledger_target_untrack_all(void)
{
	struct memledger_target *target, *next;

	mutex_lock(&track_lock);
	list_for_each_entry_safe(target, next, &targets, node)
		remove_target(target);
	mutex_unlock(&track_lock);
	wait_event(none_alive, !atomic_read(&nr_alive));
}
