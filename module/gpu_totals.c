// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the tracepoint gpu_mem_total, which GPU drivers fire at each change, to
 * the last value of each GPU and process; only while gpu_totals is 1.
 *
 * The tracepoint is found by its name: kernels without it have no symbol to
 * link with. What a process had allocated before is unknown until its next
 * event.
 */
#include <linux/atomic.h>
#include <linux/hardirq.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

#include <trace/events/gpu_mem.h>

#include "gpu_totals.h"

/* How many values are copied with interrupts off: some microseconds. */
#define COPY_BATCH	128

/* Switching and reading; never held in the probe. */
static DEFINE_MUTEX(totals_lock);
static bool enabled;
static u64 since_ns;

/* Guards the table against the probe. */
static DEFINE_RAW_SPINLOCK(table_lock);
static struct memledger_gpu_values table;
static atomic64_t nr_events, nr_lost;

static int note_value(const struct memledger_gpu_value *value,
		      struct memledger_gpu_values_entry **spare)
{
	struct memledger_gpu_values_entry *dropped;
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&table_lock, flags);
	ret = memledger_gpu_values_set(&table, value, spare, &dropped);
	raw_spin_unlock_irqrestore(&table_lock, flags);
	kfree(dropped);
	return ret;
}

/*
 * Runs wherever a driver fires the event, interrupts off or not, so that it
 * may neither sleep nor wait for memory. Memory comes and goes outside the
 * lock, which is the innermost there is. What interrupts even that lock's
 * holder cannot note anything.
 */
static void gpu_mem_total_probe(void *data, u32 gpu, u32 tgid, u64 size)
{
	struct memledger_gpu_values_entry *spare = NULL;
	struct memledger_gpu_value value = {
		.gpu = gpu,
		.tgid = tgid,
		.size = size,
	};
	int ret;

	atomic64_inc(&nr_events);
	if (in_nmi()) {
		atomic64_inc(&nr_lost);
		return;
	}
	value.when_ns = ktime_get_boottime_ns();
	ret = note_value(&value, &spare);
	if (ret == -ENOENT) {
		spare = kmalloc(sizeof(*spare), GFP_ATOMIC | __GFP_NOWARN);
		if (spare)
			ret = note_value(&value, &spare);
		kfree(spare);
	}
	if (ret)
		atomic64_inc(&nr_lost);
}

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void match_tracepoint(struct tracepoint *tp, void *priv)
{
	struct tracepoint_search *search = priv;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/* PREEMPT_RT gives no memory to whoever has preemption off. */
static struct tracepoint *find_tracepoint(void)
{
	struct tracepoint_search search = { .name = "gpu_mem_total" };

	if (!IS_ENABLED(CONFIG_TRACEPOINTS) || IS_ENABLED(CONFIG_PREEMPT_RT))
		return NULL;
	for_each_kernel_tracepoint(match_tracepoint, &search);
	return search.found;
}

/**
 * memledger_gpu_totals_supported - whether this kernel has the tracepoint
 *
 * Return: true if gpu_totals can be set.
 */
bool memledger_gpu_totals_supported(void)
{
	return find_tracepoint();
}

/**
 * memledger_gpu_totals_enabled - whether the probe is there
 *
 * Return: what gpu_totals says.
 */
bool memledger_gpu_totals_enabled(void)
{
	return READ_ONCE(enabled);
}

static int start(void)
{
	struct tracepoint *tp = find_tracepoint();
	int ret;

	lockdep_assert_held(&totals_lock);
	if (!IS_ENABLED(CONFIG_TRACEPOINTS) || !tp)
		return -EOPNOTSUPP;
	/* Indirect calls are checked for their type (kCFI): it has to be it. */
	check_trace_callback_type_gpu_mem_total(gpu_mem_total_probe);

	memledger_gpu_values_init(&table);
	atomic64_set(&nr_events, 0);
	atomic64_set(&nr_lost, 0);
	since_ns = ktime_get_boottime_ns();
	ret = tracepoint_probe_register(tp, gpu_mem_total_probe, NULL);
	if (!ret)
		WRITE_ONCE(enabled, true);
	return ret;
}

/* Once this returns no event is under way, and none will come. */
static void stop(void)
{
	struct tracepoint *tp = find_tracepoint();

	lockdep_assert_held(&totals_lock);
	WRITE_ONCE(enabled, false);
	if (IS_ENABLED(CONFIG_TRACEPOINTS))
		tracepoint_probe_unregister(tp, gpu_mem_total_probe, NULL);
	tracepoint_synchronize_unregister();
	memledger_gpu_values_free(&table);
}

/**
 * memledger_gpu_totals_enable - attach to the tracepoint, or detach
 * @on: which
 *
 * Detached, all that was known is dropped.
 *
 * Context: process context; may sleep.
 * Return: 0; -EOPNOTSUPP if this kernel has no such tracepoint, -EINTR, or
 * -ENOMEM from attaching. Then nothing has changed.
 */
int memledger_gpu_totals_enable(bool on)
{
	int ret;

	ret = mutex_lock_killable(&totals_lock);
	if (ret)
		return ret;
	if (on && !enabled)
		ret = start();
	else if (!on && enabled)
		stop();
	mutex_unlock(&totals_lock);
	return ret;
}

/**
 * memledger_gpu_totals_exit - leave no probe behind
 */
void memledger_gpu_totals_exit(void)
{
	mutex_lock(&totals_lock);
	if (enabled)
		stop();
	mutex_unlock(&totals_lock);
}

/* Holds totals_lock if it returns 0. */
static int lock_enabled(void)
{
	int ret;

	ret = mutex_lock_killable(&totals_lock);
	if (ret)
		return ret;
	if (enabled)
		return 0;
	mutex_unlock(&totals_lock);
	return -EOPNOTSUPP;
}

static void fill_info(struct memledger_gpu_totals_info *info)
{
	unsigned long flags;

	lockdep_assert_held(&totals_lock);
	info->since_ns = since_ns;
	info->events = atomic64_read(&nr_events);
	info->lost = atomic64_read(&nr_lost);
	raw_spin_lock_irqsave(&table_lock, flags);
	info->forgotten = table.forgotten;
	raw_spin_unlock_irqrestore(&table_lock, flags);
}

/**
 * memledger_gpu_totals_info - how the events have gone
 * @info: what to fill
 *
 * Context: process context; may sleep.
 * Return: 0; -EOPNOTSUPP while gpu_totals is 0, -EINTR.
 */
int memledger_gpu_totals_info(struct memledger_gpu_totals_info *info)
{
	int ret;

	ret = lock_enabled();
	if (ret)
		return ret;
	fill_info(info);
	mutex_unlock(&totals_lock);
	return 0;
}

/**
 * memledger_gpu_value_is_stale - whether a process has another one's number
 * @value: what a process of that number had
 *
 * Drivers need not say that a process has exited.
 *
 * Context: any; does not sleep.
 * Return: true if the process that has the number now came after the value.
 */
bool memledger_gpu_value_is_stale(const struct memledger_gpu_value *value)
{
	struct task_struct *task;
	bool stale = false;

	if (!value->tgid)
		return false;
	rcu_read_lock();
	task = pid_task(find_pid_ns(value->tgid, &init_pid_ns), PIDTYPE_TGID);
	if (task)
		stale = value->when_ns < task->start_boottime;
	rcu_read_unlock();
	return stale;
}

/**
 * memledger_gpu_totals_get - what GPU 0 was last said to hold
 * @tgid: for which process, in the initial pid namespace; 0: for all together
 * @size: gets bytes
 *
 * Values of several GPUs are no one number, and Android asks for the first.
 *
 * Context: process context; may sleep.
 * Return: 0; -EOPNOTSUPP while gpu_totals is 0; -ENODATA if there was no event
 * since it is 1, or only of a process that had the number before; -EINTR.
 */
int memledger_gpu_totals_get(pid_t tgid, u64 *size)
{
	struct memledger_gpu_value value;
	unsigned long flags;
	bool found;
	int ret;

	ret = lock_enabled();
	if (ret)
		return ret;
	raw_spin_lock_irqsave(&table_lock, flags);
	found = memledger_gpu_values_find(&table, 0, tgid, &value);
	raw_spin_unlock_irqrestore(&table_lock, flags);
	mutex_unlock(&totals_lock);

	if (!found || memledger_gpu_value_is_stale(&value))
		return -ENODATA;
	*size = value.size;
	return 0;
}

/* Makes room for a batch of values behind those that are there. */
static int make_room(struct memledger_gpu_totals *totals, unsigned int *room)
{
	struct memledger_gpu_value *more;
	unsigned int want;

	if (*room - totals->nr >= COPY_BATCH)
		return 0;
	want = max(2 * *room, READ_ONCE(table.nr) + 2 * COPY_BATCH);
	more = kvmalloc_array(want, sizeof(*more), GFP_KERNEL_ACCOUNT);
	if (!more)
		return -ENOMEM;
	if (totals->nr)
		memcpy(more, totals->values, totals->nr * sizeof(*more));
	kvfree(totals->values);
	totals->values = more;
	*room = want;
	return 0;
}

/* Returns how many values there were, or a negative errno. */
static int copy_batch(struct memledger_gpu_totals *totals, unsigned int *room)
{
	struct memledger_gpu_value *last;
	unsigned long flags;
	int nr;

	if (fatal_signal_pending(current))
		return -EINTR;
	nr = make_room(totals, room);
	if (nr)
		return nr;
	last = totals->nr ? &totals->values[totals->nr - 1] : NULL;
	raw_spin_lock_irqsave(&table_lock, flags);
	nr = memledger_gpu_values_copy(&table, last,
				       &totals->values[totals->nr], COPY_BATCH);
	raw_spin_unlock_irqrestore(&table_lock, flags);
	totals->nr += nr;
	cond_resched();
	return nr;
}

/**
 * memledger_gpu_totals_read - copy all values
 * @totals: gets them, for memledger_gpu_totals_free()
 *
 * Events go on meanwhile: each value is one that its process had, and a process
 * whose first event comes during the copy may be missing.
 *
 * Context: process context; may sleep.
 * Return: 0; -EOPNOTSUPP while gpu_totals is 0, -EINTR, -ENOMEM. Then there is
 * nothing to free.
 */
int memledger_gpu_totals_read(struct memledger_gpu_totals *totals)
{
	unsigned int room = 0;
	int nr;

	memset(totals, 0, sizeof(*totals));
	nr = lock_enabled();
	if (nr)
		return nr;
	do {
		nr = copy_batch(totals, &room);
	} while (nr == COPY_BATCH && totals->nr < MEMLEDGER_GPU_VALUES_MAX);
	fill_info(&totals->info);
	mutex_unlock(&totals_lock);
	if (nr < 0)
		memledger_gpu_totals_free(totals);
	return min(nr, 0);
}

/**
 * memledger_gpu_totals_free - free a copy
 * @totals: the copy, empty afterwards
 */
void memledger_gpu_totals_free(struct memledger_gpu_totals *totals)
{
	kvfree(totals->values);
	totals->values = NULL;
	totals->nr = 0;
}
