// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the exit of a tracked process to an event for user space.
 *
 * Nothing is polled or hooked: a struct pid has a queue for those who wait, by
 * a pidfd, for the process to exit. The kernel wakes it when the last thread has
 * exited, and, depending on its version, at other times as well: when another
 * thread than the leader execs, when a tracer is told of a leader, when the pid
 * is freed. So a wake-up only says to look, and the work item looks:
 *
 *   last thread          wait_pidfd.lock         work item
 *   -----------          ---------------         ---------
 *   gives up its mm
 *   wakes the queue      wake_watch()
 *                          schedules        -->  no thread has an mm: tells,
 *                                                once and for all
 *
 * Whoever wakes holds the lock of the task list, mostly with interrupts off;
 * wherefore nothing more is done there. Races:
 *
 *   exit before watching   the wake-up is missed; memledger_exit_watch() looks
 *                          for itself when it is in the queue.
 *   exit while looking     if the work item saw a thread alive, that thread's
 *                          exit is yet to wake the queue. A work item that runs
 *                          can be scheduled again, and does not run twice at the
 *                          same time.
 *   exit while unwatching  out of the queue under its lock: no wake_watch() runs
 *                          any more, or schedules. Then the work item is
 *                          cancelled or waited for; it takes no lock of ours, and
 *                          the directory that it tells by is still there.
 *
 * The queue lives as long as the struct pid, and the target holds a reference
 * to that. So, unlike those of objects that go when they like, it is never
 * gone before us, and need not tell us (POLLFREE).
 */
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "target.h"

/*
 * The queue that schedule_work() takes has another name since 6.12.117, which
 * Android's kernels of before do not list.
 */
static void start_work(struct memledger_exit_watch *watch)
{
	queue_work(system_long_wq, &watch->work);
}

/* With wait_pidfd.lock held. */
static int wake_watch(struct wait_queue_entry *entry, unsigned int mode,
		      int flags, void *key)
{
	start_work(container_of(entry, struct memledger_exit_watch, entry));
	return 0;
}

static void look_and_tell(struct work_struct *work)
{
	struct memledger_exit_watch *watch =
		container_of(work, struct memledger_exit_watch, work);
	struct memledger_target *target =
		container_of(watch, struct memledger_target, exit_watch);

	if (watch->told || memledger_target_is_alive(target))
		return;
	watch->told = true;
	memledger_sysfs_tell_exit(target);
}

/**
 * memledger_exit_watch - tell user space when a process has exited
 * @target: the process; its directory in sysfs is there
 *
 * What has exited before this is told at once.
 *
 * Context: process context; may sleep.
 */
void memledger_exit_watch(struct memledger_target *target)
{
	struct memledger_exit_watch *watch = &target->exit_watch;

	INIT_WORK(&watch->work, look_and_tell);
	init_waitqueue_func_entry(&watch->entry, wake_watch);
	add_wait_queue(&target->pid->wait_pidfd, &watch->entry);
	if (!memledger_target_is_alive(target))
		start_work(watch);
}

/**
 * memledger_exit_unwatch - stop telling
 * @target: of memledger_exit_watch(); its directory in sysfs is still there
 *
 * Context: process context; waits for an event that is being sent.
 */
void memledger_exit_unwatch(struct memledger_target *target)
{
	struct memledger_exit_watch *watch = &target->exit_watch;

	remove_wait_queue(&target->pid->wait_pidfd, &watch->entry);
	cancel_work_sync(&watch->work);
}
