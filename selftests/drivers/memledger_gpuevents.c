// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/memledger_gpuevents: from lines that a test writes to gpu_mem_total
 * events, as GPU drivers fire them:
 *
 *   GPU PID SIZE			one event
 *   off GPU PID SIZE			one with interrupts off
 *   irq GPU PID SIZE			one in an interrupt
 *   burst GPU THREADS PIDS EVENTS	EVENTS from each of THREADS at once
 *   storm THREADS			until the file is closed; one at a time
 *
 * Thread t of a burst has the pids from (t + 1) << 20 on to itself: its event
 * number i is of the pid i % PIDS behind that, and of size i + 1. By turns
 * threads fire with interrupts off, in an interrupt, and with bottom halves
 * off. Reading tells "attached A emitted E": whether anybody listens to the
 * tracepoint, and how many events there were.
 */
#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <trace/events/gpu_mem.h>

#define MAX_THREADS	8
#define MAX_WRITE	1048576

/* How many events a storm fires before others have their turn. */
#define STORM_ROUND	64

/* Of so many processes on each of four GPUs, with numbers that no process has. */
#define STORM_PIDS	3000
#define STORM_FIRST_PID	5000000

enum context {
	CONTEXT_OFF,
	CONTEXT_IRQ,
	CONTEXT_BH,
	NR_CONTEXTS
};

struct event {
	struct irq_work work;
	u32 gpu;
	u32 pid;
	u64 size;
};

struct emitter {
	struct work_struct work;
	unsigned int index;
	u32 gpu;
	u32 pids;
	u32 events;
};

/* One writer at a time. */
static DEFINE_MUTEX(writer_lock);
static struct emitter bursts[MAX_THREADS], storms[MAX_THREADS];
static struct workqueue_struct *emitters;
/* Of the storm, or NULL. */
static struct file *storm_file;
static bool storming;
static atomic64_t emitted;

static void emit(u32 gpu, u32 pid, u64 size)
{
	atomic64_inc(&emitted);
	trace_gpu_mem_total(gpu, pid, size);
}

static void emit_off(u32 gpu, u32 pid, u64 size)
{
	unsigned long flags;

	local_irq_save(flags);
	emit(gpu, pid, size);
	local_irq_restore(flags);
}

static void emit_event(struct irq_work *work)
{
	struct event *event = container_of(work, struct event, work);

	emit(event->gpu, event->pid, event->size);
}

static void emit_irq(u32 gpu, u32 pid, u64 size)
{
	struct event event = {
		.work = IRQ_WORK_INIT_HARD(emit_event),
		.gpu = gpu,
		.pid = pid,
		.size = size,
	};

	irq_work_queue(&event.work);
	irq_work_sync(&event.work);
}

static void emit_bh(u32 gpu, u32 pid, u64 size)
{
	local_bh_disable();
	emit(gpu, pid, size);
	local_bh_enable();
}

static void (*const emit_in[NR_CONTEXTS])(u32 gpu, u32 pid, u64 size) = {
	[CONTEXT_OFF] = emit_off,
	[CONTEXT_IRQ] = emit_irq,
	[CONTEXT_BH] = emit_bh,
};

static void run_burst(struct work_struct *work)
{
	struct emitter *burst = container_of(work, struct emitter, work);
	u32 first = (burst->index + 1) << 20, i;

	for (i = 0; i < burst->events; i++) {
		emit_in[burst->index % NR_CONTEXTS](burst->gpu,
						    first + i % burst->pids,
						    i + 1ULL);
		cond_resched();
	}
}

/* Processes that come and go: half of what is said of them is a zero. */
static void run_storm(struct work_struct *work)
{
	struct emitter *storm = container_of(work, struct emitter, work);
	u32 random = storm->index, pid, i;

	while (READ_ONCE(storming)) {
		for (i = 0; i < STORM_ROUND; i++) {
			random = random * 1664525 + 1013904223;
			pid = (random >> 8) % STORM_PIDS;
			emit_off(random >> 30, pid ? STORM_FIRST_PID + pid : 0,
				 random & 0x80 ? random : 0);
		}
		cond_resched();
	}
}

static int start_burst(u32 gpu, u32 threads, u32 pids, u32 events)
{
	u32 i;

	if (!threads || threads > MAX_THREADS || !pids || pids > 1U << 20)
		return -EINVAL;
	for (i = 0; i < threads; i++) {
		bursts[i].gpu = gpu;
		bursts[i].pids = pids;
		bursts[i].events = events;
		queue_work(emitters, &bursts[i].work);
	}
	for (i = 0; i < threads; i++)
		flush_work(&bursts[i].work);
	return 0;
}

static void end_storm(struct file *file)
{
	u32 i;

	if (storm_file != file)
		return;
	storm_file = NULL;
	WRITE_ONCE(storming, false);
	for (i = 0; i < MAX_THREADS; i++)
		flush_work(&storms[i].work);
}

static int start_storm(struct file *file, u32 threads)
{
	u32 i;

	if (!threads || threads > MAX_THREADS)
		return -EINVAL;
	if (storm_file)
		return -EBUSY;
	storm_file = file;
	WRITE_ONCE(storming, true);
	for (i = 0; i < threads; i++)
		queue_work(emitters, &storms[i].work);
	return 0;
}

static int run_line(struct file *file, const char *line)
{
	u32 gpu, threads, pids, events;
	u64 size;

	if (sscanf(line, "%u %u %llu", &gpu, &pids, &size) == 3)
		emit(gpu, pids, size);
	else if (sscanf(line, "off %u %u %llu", &gpu, &pids, &size) == 3)
		emit_off(gpu, pids, size);
	else if (sscanf(line, "irq %u %u %llu", &gpu, &pids, &size) == 3)
		emit_irq(gpu, pids, size);
	else if (sscanf(line, "burst %u %u %u %u", &gpu, &threads, &pids,
			&events) == 4)
		return start_burst(gpu, threads, pids, events);
	else if (sscanf(line, "storm %u", &threads) == 1)
		return start_storm(file, threads);
	else
		return -EINVAL;
	return 0;
}

static ssize_t gpuevents_write(struct file *file, const char __user *buf,
			       size_t size, loff_t *pos)
{
	char *text, *rest, *line;
	int ret = 0;

	if (size > MAX_WRITE)
		return -E2BIG;
	text = memdup_user_nul(buf, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	mutex_lock(&writer_lock);
	while (!ret && (line = strsep(&rest, "\n"))) {
		if (*line)
			ret = run_line(file, line);
	}
	mutex_unlock(&writer_lock);
	kfree(text);
	return ret ?: size;
}

static ssize_t gpuevents_read(struct file *file, char __user *buf, size_t size,
			      loff_t *pos)
{
	char text[64];
	int len;

	len = scnprintf(text, sizeof(text), "attached %d emitted %llu\n",
			trace_gpu_mem_total_enabled(),
			(u64)atomic64_read(&emitted));
	return simple_read_from_buffer(buf, size, pos, text, len);
}

static int gpuevents_release(struct inode *inode, struct file *file)
{
	mutex_lock(&writer_lock);
	end_storm(file);
	mutex_unlock(&writer_lock);
	return 0;
}

static const struct file_operations gpuevents_fops = {
	.owner = THIS_MODULE,
	.release = gpuevents_release,
	.read = gpuevents_read,
	.write = gpuevents_write,
};

static struct miscdevice gpuevents_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memledger_gpuevents",
	.fops = &gpuevents_fops,
	.mode = 0600,
};

static int __init gpuevents_init(void)
{
	unsigned int i;
	int ret;

	emitters = alloc_workqueue("memledger_gpuevents", WQ_UNBOUND,
				   2 * MAX_THREADS);
	if (!emitters)
		return -ENOMEM;
	for (i = 0; i < MAX_THREADS; i++) {
		bursts[i].index = i;
		INIT_WORK(&bursts[i].work, run_burst);
		storms[i].index = i;
		INIT_WORK(&storms[i].work, run_storm);
	}
	ret = misc_register(&gpuevents_device);
	if (ret)
		destroy_workqueue(emitters);
	return ret;
}

static void __exit gpuevents_exit(void)
{
	misc_deregister(&gpuevents_device);
	destroy_workqueue(emitters);
}

module_init(gpuevents_init);
module_exit(gpuevents_exit);

MODULE_DESCRIPTION("Events of GPU memory for memledger's tests");
MODULE_LICENSE("GPL");
