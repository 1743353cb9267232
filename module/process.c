// SPDX-License-Identifier: GPL-2.0-only
/*
 * From process numbers to processes, without the lock of the task list, which
 * modules cannot take: the table of numbers is looked at under RCU, and a
 * number that is taken leads to a process that is pinned by its struct pid.
 */
#include <linux/error-injection.h>
#include <linux/idr.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "process.h"

static struct mm_struct *task_grab_mm(struct task_struct *task)
{
	struct mm_struct *mm;

	task_lock(task);
	mm = task->flags & PF_KTHREAD ? NULL : task->mm;
	if (mm)
		mmgrab(mm);
	task_unlock(task);
	return mm;
}

/**
 * memledger_process_mm - the memory that a process uses now
 * @pid: of its thread group leader
 *
 * Any thread's will do: a leader that has exited has none, though the others
 * go on.
 *
 * Context: does not sleep.
 * Return: an mm with an mmgrab() reference, or NULL if the process has exited
 * or is a kernel thread.
 */
struct mm_struct *memledger_process_mm(struct pid *pid)
{
	struct task_struct *leader, *task;
	struct mm_struct *mm = NULL;

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, task) {
			mm = task_grab_mm(task);
			if (mm)
				break;
		}
	}
	rcu_read_unlock();
	return mm;
}

/**
 * memledger_process_is_alive - whether a process still has memory
 * @pid: of its thread group leader
 *
 * Context: does not sleep.
 * Return: false once it has exited, also while it is a zombie, and for a kernel
 * thread.
 */
bool memledger_process_is_alive(struct pid *pid)
{
	struct mm_struct *mm = memledger_process_mm(pid);

	if (!mm)
		return false;
	mmdrop(mm);
	return true;
}

/**
 * memledger_process_comm - what a process is called now
 * @pid: of its thread group leader
 * @buf: gets the leader's name
 * @size: of @buf, at least TASK_COMM_LEN
 *
 * Context: does not sleep.
 * Return: 0; -ESRCH if the process has exited or is a kernel thread.
 */
int memledger_process_comm(struct pid *pid, char *buf, size_t size)
{
	struct task_struct *task;
	char comm[TASK_COMM_LEN];

	/* A zombie still has a name, but has exited. */
	if (!memledger_process_is_alive(pid))
		return -ESRCH;
	task = get_pid_task(pid, PIDTYPE_TGID);
	if (!task)
		return -ESRCH;
	get_task_comm(comm, task);
	put_task_struct(task);
	strscpy_pad(buf, comm, size);
	return 0;
}
ALLOW_ERROR_INJECTION(memledger_process_comm, ERRNO);

/* How many numbers are looked at before others may run. */
#define NUMBERS_AT_ONCE	1024

/**
 * memledger_process_next - the process with the next number
 * @nr: the first number to look at; gets the process's, in the initial pid
 *	namespace
 *
 * A caller that starts at 1 and goes on at @nr + 1 sees each process once that
 * lives throughout; others it may miss. Kernel threads are processes as well.
 *
 * Threads have numbers, too, and a process may have as many of them as there are:
 * others get their turn meanwhile.
 *
 * Context: process context; may sleep.
 * Return: the struct pid of a thread group leader, to be put by the caller, or
 * NULL if there are no more.
 */
struct pid *memledger_process_next(pid_t *nr)
{
	unsigned int looked = 0;
	struct pid *pid;

	rcu_read_lock();
	for (;; ++*nr) {
		pid = idr_get_next(&init_pid_ns.idr, nr);
		if (!pid || pid_task(pid, PIDTYPE_TGID))
			break;
		if (++looked % NUMBERS_AT_ONCE)
			continue;
		rcu_read_unlock();
		cond_resched();
		rcu_read_lock();
	}
	get_pid(pid);
	rcu_read_unlock();
	return pid;
}
