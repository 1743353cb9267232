// SPDX-License-Identifier: GPL-2.0-only
/*
 * From all processes to all DMA-BUFs: descriptors, mappings and the GPU
 * driver's imports of each process go into one table, which is finished,
 * published and from then on only read.
 *
 * Of each process descriptors come first, then mappings, then imports: what is
 * mapped or imported from a descriptor that is closed right afterwards is seen
 * at one place or the other.
 */
#include <linux/capability.h>
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <uapi/linux/dma-buf.h>

#include "compat.h"
#include "dmabuf.h"
#include "gpu.h"
#include "process.h"
#include "walk.h"

MEMLEDGER_IMPORT_DMABUF_LIST_NS;

unsigned int memledger_dmabuf_max_age_ms = MEMLEDGER_MAX_AGE_MS_DEFAULT;

/* Held while a snapshot is taken, so that readers who wait get that one. */
static DEFINE_MUTEX(scan_lock);
/* Woken when it is dropped. */
static DECLARE_WAIT_QUEUE_HEAD(scan_over);
/* Who waits for it looks that often whether to stop, which wakes nobody. */
#define STOP_POLL	msecs_to_jiffies(20)
/* Guards the pointer; a reader leaves with a reference. */
static DEFINE_SPINLOCK(latest_lock);
static struct memledger_dmabuf_snapshot *latest;
static bool stopping;

/* Descriptors looked at while a task is locked, mappings noted in one go. */
#define FD_BATCH	256
#define MAP_BATCH	64
/* Threads looked at in one RCU section, and tables looked at of a process. */
#define THREAD_BATCH	256
#define MAX_TABLES	256
/* How often the thread that we go by may exit, or exchange its table. */
#define MAX_RESTARTS	16

/**
 * struct fd_batch - some descriptors of a table
 * @next: where to begin
 * @looked: how many descriptors were looked at
 * @nr: how many of them are DMA-BUFs
 * @files: these, with references
 */
struct fd_batch {
	unsigned int next;
	unsigned int looked;
	unsigned int nr;
	struct file *files[FD_BATCH];
};

/**
 * struct map_batch - some mappings
 * @nr: how many
 * @maps: each with a reference to its file, and what smaps has of it
 */
struct map_batch {
	unsigned int nr;
	struct {
		struct file *file;
		u64 size;
		u64 rss;
		u64 pss;
	} maps[MAP_BATCH];
};

/**
 * struct seen_table - a table of descriptors that was looked at
 * @files: where it is; the pointer is compared, and not followed
 * @task: a thread that had it, with a reference
 */
struct seen_table {
	const struct files_struct *files;
	struct task_struct *task;
};

enum provider_state {
	PROVIDER_UNKNOWN,
	PROVIDER_ABSENT,
	PROVIDER_PRESENT,
};

/**
 * struct scan - a pass over all processes
 * @table: what is filled
 * @stop: NULL, or set by others when whoever wants the table is to give up
 * @pid: the process at hand
 * @tgid: its number
 * @comm: what it is called
 * @seen: its tables of descriptors that were looked at
 * @nr_seen: how many
 * @restarts: how often its threads were gone through from the beginning again
 * @fds: descriptors on their way into the table
 * @maps: mappings on their way into the table
 * @provider: whether there is a GPU driver
 * @incomplete: something could not be seen
 */
struct scan {
	struct memledger_dmabuf_table *table;
	const bool *stop;
	struct pid *pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	struct seen_table seen[MAX_TABLES];
	unsigned int nr_seen;
	unsigned int restarts;
	struct fd_batch fds;
	struct map_batch maps;
	enum provider_state provider;
	bool incomplete;
};

static int interrupted(const bool *stop)
{
	if (READ_ONCE(stopping) || (stop && READ_ONCE(*stop)))
		return -ENODEV;
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static int scan_interrupted(const struct scan *scan)
{
	return interrupted(scan->stop);
}

/*
 * Buffers
 */

static bool is_dmabuf_file(const struct file *file)
{
	return file_inode(file)->i_sb->s_magic == DMA_BUF_MAGIC;
}

/**
 * struct copied_desc - what a buffer says of itself, copied
 * @ino: its inode number
 * @size: bytes
 * @exporter: the driver's text, cut where it is too long, and gone with it
 * @name: empty if it has none
 */
struct copied_desc {
	u64 ino;
	u64 size;
	char exporter[64];
	char name[DMA_BUF_NAME_LEN];
};

/*
 * The buffer of a file. Not ->private_data: what was opened with O_PATH has none,
 * though it keeps the buffer, which goes with its dentry, as any file does.
 */
static const struct dma_buf *buffer_of(const struct file *file)
{
	return file->f_path.dentry->d_fsdata;
}

/*
 * Does not sleep, and takes no reference. @ino is the number of its inode:
 * ->file is gone where the last descriptor was opened with O_PATH.
 */
static void copy_desc(const struct dma_buf *dmabuf, u64 ino,
		      struct copied_desc *copy)
{
	/* The lock is not part of what the list shows read-only. */
	spinlock_t *name_lock = (spinlock_t *)&dmabuf->name_lock;

	copy->ino = ino;
	copy->size = dmabuf->size;
	strscpy(copy->exporter, dmabuf->exp_name ?: "", sizeof(copy->exporter));
	*copy->name = '\0';
	spin_lock(name_lock);
	if (dmabuf->name)
		strscpy(copy->name, dmabuf->name, sizeof(copy->name));
	spin_unlock(name_lock);
}

/* Not enough memory is noted in the table. */
static void add_desc(struct memledger_dmabuf_table *table,
		     const struct copied_desc *copy, u32 listed)
{
	const struct memledger_dmabuf_desc desc = {
		.ino = copy->ino,
		.size = copy->size,
		.exporter = copy->exporter,
		.name = copy->name,
		.listed = listed,
	};

	BUILD_BUG_ON(DMA_BUF_NAME_LEN > MEMLEDGER_DMABUF_NAME_SIZE);
	memledger_dmabuf_add_buffer(table, &desc);
}

static void add_file(struct scan *scan, const struct file *file,
		     struct memledger_dmabuf_ref *ref)
{
	ref->ino = file_inode(file)->i_ino;
	ref->tgid = scan->tgid;
	ref->comm = scan->comm;
	if (!memledger_dmabuf_is_described(scan->table, ref->ino)) {
		struct copied_desc copy;

		copy_desc(buffer_of(file), ref->ino, &copy);
		add_desc(scan->table, &copy, 0);
	}
	memledger_dmabuf_add_ref(scan->table, ref);
}

/*
 * Descriptors
 *
 * Threads mostly share a table of descriptors, but need not, and a table may be
 * shared by processes. iterate_fd() goes through one with a spinlock held, so
 * only some are looked at each time, and neither task nor table is locked in
 * between. It passes empty slots over by itself: a table that was large once,
 * with few descriptors left, is gone through in one go, 8 bytes a slot.
 *
 * Meanwhile a thread may take another table (unshare, exec) or none (exit), and
 * others may go on with the old one:
 *
 *	thread 1  ->  table A (0...255 done)      A, or B, or none
 *	thread 2  ->  table A or X                A, or C, or none
 *
 * 1) Somebody in the process still has A: go on in it where we stopped, by way
 *    of that thread.
 * 2) Nobody has: what A had is gone, or in tables that are new, and what was
 *    seen is neither the one nor the other.
 *
 * A table is told by where it lies, and a new one may come to lie where A was:
 * thread 1 lets go of A, and C, the copy that thread 2 makes of X, gets A's
 * place. It would be taken for A, and so for seen, or be gone on with in the
 * middle, though it has what X had all the time. While thread 1 has A nothing
 * else can lie there. So the thread by which a table was found is remembered,
 * and asked once more when the process is done: if it has another one, or none,
 * the snapshot is not complete, in 2) and also in 1), where most likely all was
 * seen. Only two exchanges by thread 1, back to the same place, pass unnoticed.
 *
 * B and C were copied from A: what is in them and not in A came meanwhile. They
 * get their turn if their thread still does. A descriptor that keeps its number
 * throughout is counted exactly once in each table.
 */

static int collect_fd(const void *arg, struct file *file, unsigned int fd)
{
	struct fd_batch *batch = (struct fd_batch *)arg;

	batch->next = fd + 1;
	if (is_dmabuf_file(file))
		batch->files[batch->nr++] = get_file(file);
	return ++batch->looked == FD_BATCH;
}

/* A reference that is the last one is dropped when we return to user space. */
static void add_fds(struct scan *scan)
{
	struct fd_batch *batch = &scan->fds;
	unsigned int i;

	for (i = 0; i < batch->nr; i++) {
		struct memledger_dmabuf_ref ref = {
			.kind = MEMLEDGER_DMABUF_FD,
		};

		add_file(scan, batch->files[i], &ref);
		fput(batch->files[i]);
	}
	batch->nr = 0;
}

static bool was_seen(const struct scan *scan, const struct files_struct *files)
{
	unsigned int i;

	for (i = scan->nr_seen; i; i--) {
		if (scan->seen[i - 1].files == files)
			return true;
	}
	return false;
}

static struct task_struct *next_thread_of(struct task_struct *task,
					  struct list_head *after)
{
	return list_next_or_null_rcu(&task->signal->thread_head, after,
				     struct task_struct, thread_node);
}

/*
 * Where to go on behind @from, so that a process of many threads is not gone
 * through again for each table: new threads come last. NULL, or a thread that
 * has exited, and leads nowhere: from the beginning, but not for ever, however
 * quickly threads come and go.
 */
static struct task_struct *first_thread(struct scan *scan,
					struct task_struct *leader,
					struct task_struct *from)
{
	if (from && pid_alive(from))
		return next_thread_of(from, &from->thread_node);
	if (from && ++scan->restarts > MAX_RESTARTS) {
		scan->incomplete = true;
		return NULL;
	}
	return next_thread_of(leader, &leader->signal->thread_head);
}

static const struct files_struct *files_of(struct task_struct *task)
{
	const struct files_struct *files;

	task_lock(task);
	files = task->files;
	task_unlock(task);
	return files;
}

/*
 * Looks at some threads behind *@at, which is NULL or has a reference, for one
 * that has the table @files; NULL: one that was not seen, which @files then
 * gets. Returns whether there is one. *@at gets it, or else the thread to go on
 * behind, in either case with a reference, or NULL at the end.
 */
static bool look_at_threads(struct scan *scan, struct task_struct **at,
			    const struct files_struct **files)
{
	const struct files_struct *wanted = *files, *has;
	struct task_struct *leader, *task = NULL, *from = *at;
	unsigned int nr = 0;
	bool found = false;

	rcu_read_lock();
	leader = pid_task(scan->pid, PIDTYPE_TGID);
	if (leader && !(leader->flags & PF_KTHREAD))
		task = first_thread(scan, leader, from);
	for (; task; task = next_thread_of(task, &task->thread_node)) {
		has = files_of(task);
		found = has && (wanted ? has == wanted : !was_seen(scan, has));
		if (found || ++nr == THREAD_BATCH)
			break;
	}
	if (found)
		*files = has;
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (from)
		put_task_struct(from);
	*at = task;
	return found;
}

/*
 * The same, behind @from, whose reference it takes, until there is one or there
 * are no more threads. Returns the thread with a reference, or NULL.
 */
static struct task_struct *find_thread(struct scan *scan,
				       struct task_struct *from,
				       const struct files_struct **files)
{
	while (!look_at_threads(scan, &from, files)) {
		if (!from)
			return NULL;
		cond_resched();
	}
	return from;
}

/*
 * It takes a descriptor of a number above the usual limits, 1,048,576 at the most,
 * to have a larger one; and one like this is looked at within milliseconds.
 */
#define MAX_FDS		(2 * 1024 * 1024)

static bool table_is_huge(struct files_struct *files)
{
	bool huge;

	rcu_read_lock();
	huge = files_fdtable(files)->max_fds > MAX_FDS;
	rcu_read_unlock();
	return huge;
}

/*
 * Returns 1 if there is more, 0 at the end, -ESRCH if the task has it no more,
 * -E2BIG if that would keep the table's lock for too long.
 */
static int collect_fds(struct scan *scan, struct task_struct *task,
		       const struct files_struct *files)
{
	struct fd_batch *batch = &scan->fds;
	int ret = -ESRCH;

	batch->looked = 0;
	task_lock(task);
	if (task->files == files)
		ret = table_is_huge(task->files) ? -E2BIG :
		      iterate_fd(task->files, batch->next, collect_fd, batch);
	task_unlock(task);
	return ret;
}

static int scan_table(struct scan *scan, struct task_struct *task,
		      const struct files_struct *files)
{
	int more, ret = 0;

	get_task_struct(task);
	scan->fds.next = 0;
	while (task) {
		more = collect_fds(scan, task, files);
		add_fds(scan);
		cond_resched();
		ret = scan_interrupted(scan);
		if (more == -E2BIG)
			scan->incomplete = true;
		if (!more || more == -E2BIG || ret)
			break;
		if (more < 0) {
			put_task_struct(task);
			task = ++scan->restarts > MAX_RESTARTS ? NULL :
			       find_thread(scan, NULL, &files);
		}
	}
	if (!task)
		scan->incomplete = true;
	else
		put_task_struct(task);
	return ret;
}

/* Lets go of the tables' threads, having asked whether they still have them. */
static void forget_tables(struct scan *scan)
{
	unsigned int i;

	for (i = 0; i < scan->nr_seen; i++) {
		if (files_of(scan->seen[i].task) != scan->seen[i].files)
			scan->incomplete = true;
		put_task_struct(scan->seen[i].task);
	}
}

/*
 * Each table is compared with all those before it, and a process may make new
 * ones all the time: after MAX_TABLES the rest is left out.
 */
static int scan_tables(struct scan *scan)
{
	struct task_struct *task = NULL;
	const struct files_struct *files;
	int ret = 0;

	while (!ret) {
		files = NULL;
		task = find_thread(scan, task, &files);
		if (!task)
			return 0;
		if (scan->nr_seen == MAX_TABLES) {
			scan->incomplete = true;
			break;
		}
		get_task_struct(task);
		scan->seen[scan->nr_seen++] = (struct seen_table) {
			.files = files,
			.task = task,
		};
		ret = scan_table(scan, task, files);
	}
	put_task_struct(task);
	return ret;
}

static int scan_fds(struct scan *scan)
{
	int ret;

	scan->nr_seen = 0;
	scan->restarts = 0;
	ret = scan_tables(scan);
	forget_tables(scan);
	return ret;
}

/*
 * Mappings
 */

static int collect_map(const struct memledger_vma *vma, void *arg)
{
	struct map_batch *batch = arg;
	unsigned int i = batch->nr++;

	batch->maps[i].file = get_file(vma->file);
	batch->maps[i].size = vma->usage.size;
	batch->maps[i].rss = vma->usage.rss;
	batch->maps[i].pss = vma->usage.pss;
	return batch->nr == MAP_BATCH;
}
ALLOW_ERROR_INJECTION(collect_map, ERRNO);

static void add_maps(struct scan *scan)
{
	struct map_batch *batch = &scan->maps;
	unsigned int i;

	for (i = 0; i < batch->nr; i++) {
		struct memledger_dmabuf_ref ref = {
			.kind = MEMLEDGER_DMABUF_MAP,
			.mapped = batch->maps[i].size,
			.smaps_rss = batch->maps[i].rss,
			.smaps_pss = batch->maps[i].pss,
		};

		add_file(scan, batch->maps[i].file, &ref);
		fput(batch->maps[i].file);
	}
	batch->nr = 0;
}

static int scan_maps(struct scan *scan)
{
	unsigned int slice = READ_ONCE(memledger_settings.slice_entries);
	struct mm_struct *mm = memledger_process_mm(scan->pid);
	struct memledger_walk walk;
	int ret;

	if (!mm) {
		/* It is about to exit, and had tables of descriptors yet. */
		scan->incomplete |= scan->nr_seen;
		return 0;
	}
	ret = memledger_walk_begin(&walk, mm, &stopping);
	if (!ret) {
		walk.stop_too = scan->stop;
		walk.dmabufs_only = true;
		do {
			ret = memledger_walk_run(&walk, slice, collect_map,
						 &scan->maps);
			add_maps(scan);
		} while (ret > 0);
		memledger_walk_end(&walk);
	}
	/* It has exited, or runs another program, or away: that was a part of it. */
	if (ret == -ESRCH || ret == -ENOMEM || ret == -EOVERFLOW) {
		scan->incomplete = true;
		ret = 0;
	}
	return ret;
}

/*
 * Imports
 */

static int add_import(void *arg, const struct memledger_gpu_entry *entry)
{
	struct scan *scan = arg;
	const struct memledger_dmabuf_desc desc = {
		.ino = entry->dmabuf_ino,
		.size = entry->size,
	};
	const struct memledger_dmabuf_ref ref = {
		.kind = MEMLEDGER_DMABUF_IMPORT,
		.ino = entry->dmabuf_ino,
		.tgid = scan->tgid,
		.comm = scan->comm,
	};

	if (entry->kind != MEMLEDGER_GPU_DMABUF || !entry->dmabuf_ino)
		return scan_interrupted(scan);
	memledger_dmabuf_add_buffer(scan->table, &desc);
	memledger_dmabuf_add_ref(scan->table, &ref);
	return scan_interrupted(scan);
}
ALLOW_ERROR_INJECTION(add_import, ERRNO);

static int scan_imports(struct scan *scan)
{
	enum provider_state now;
	int ret;

	ret = memledger_gpu_entries(scan->pid, add_import, scan);
	now = ret == -EOPNOTSUPP ? PROVIDER_ABSENT : PROVIDER_PRESENT;
	/* It came or went meanwhile: some processes were not asked about. */
	if (scan->provider != PROVIDER_UNKNOWN && scan->provider != now)
		scan->incomplete = true;
	scan->provider = now;
	if (ret && ret != -EOPNOTSUPP)
		scan->incomplete = true;
	return scan_interrupted(scan);
}

/*
 * All of it
 */

static int scan_process(struct scan *scan)
{
	struct task_struct *task = get_pid_task(scan->pid, PIDTYPE_TGID);
	int ret;

	if (!task)
		return 0;
	get_task_comm(scan->comm, task);
	put_task_struct(task);
	ret = scan_fds(scan);
	if (!ret)
		ret = scan_maps(scan);
	if (!ret)
		ret = scan_imports(scan);
	return ret;
}

static int scan_processes(struct scan *scan)
{
	pid_t nr;
	int ret;

	for (nr = 1; (scan->pid = memledger_process_next(&nr)); nr++) {
		scan->tgid = nr;
		ret = scan_process(scan);
		put_pid(scan->pid);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/* Buffers may come while memory for them is got; more than so often: give up. */
#define LIST_TRIES	8

/**
 * struct list_reader - the kernel's list on its way into a table
 * @scan: the pass
 * @copies: what was read
 * @max: for how many there is room
 * @nr: how many there are in the list, also where that is more than @max
 */
struct list_reader {
	const struct scan *scan;
	struct copied_desc *copies;
	u32 max;
	u32 nr;
};

/* Under the lock of the list, which every buffer that comes or goes takes. */
static int copy_listed(const struct dma_buf *dmabuf, void *arg)
{
	struct list_reader *reader = arg;

	if (reader->nr < reader->max)
		copy_desc(dmabuf, file_inode(dmabuf->file)->i_ino,
			  &reader->copies[reader->nr]);
	reader->nr++;
	return scan_interrupted(reader->scan);
}

/* Room for all that there were, and some more. */
static int grow_copies(struct list_reader *reader)
{
	u32 max = reader->nr + reader->nr / 8 + 64;

	if (reader->nr > MEMLEDGER_DMABUF_MAX)
		return -ENOMEM;
	kvfree(reader->copies);
	reader->max = 0;
	reader->copies = kvmalloc_array(max, sizeof(*reader->copies),
					GFP_KERNEL_ACCOUNT);
	if (!reader->copies)
		return -ENOMEM;
	reader->max = max;
	return 0;
}

/*
 * The list is gone through again for each time that there was no room for all
 * of it, and at first there is none: memory is got without the list's lock.
 */
static int copy_list(struct list_reader *reader)
{
	unsigned int tries;
	int ret;

	for (tries = 0; tries < LIST_TRIES; tries++) {
		reader->nr = 0;
		ret = memledger_dmabuf_each(copy_listed, reader);
		if (ret || reader->nr <= reader->max)
			return ret;
		ret = grow_copies(reader);
		if (ret)
			return ret;
	}
	return -EAGAIN;
}

/*
 * The kernel's list is read before the processes and again afterwards: a buffer
 * is held by no process only if it was there all the time.
 */
static int read_list(struct memledger_dmabuf_snapshot *snapshot,
		     const struct scan *scan, u32 listed)
{
	struct list_reader reader = { .scan = scan };
	u32 i;
	int ret;

	if (!MEMLEDGER_HAS_DMABUF_LIST)
		return 0;
	ret = copy_list(&reader);
	for (i = 0; !ret && i < reader.nr; i++) {
		add_desc(&snapshot->table, &reader.copies[i], listed);
		cond_resched();
		ret = scan_interrupted(scan);
	}
	kvfree(reader.copies);
	/*
	 * Whatever signal comes: 6.1 waits for the list's lock like that. It is
	 * this reader's, and no reason to give others a snapshot without list.
	 */
	if (!ret || ret == -EINTR)
		return ret;
	snapshot->listed = false;
	return scan_interrupted(scan);
}

static int fill_snapshot(struct memledger_dmabuf_snapshot *snapshot,
			 struct scan *scan)
{
	int ret;

	scan->table = &snapshot->table;
	snapshot->listed = MEMLEDGER_HAS_DMABUF_LIST;
	ret = read_list(snapshot, scan, MEMLEDGER_DMABUF_LISTED_BEFORE);
	if (!ret)
		ret = scan_processes(scan);
	if (!ret)
		ret = read_list(snapshot, scan,
				MEMLEDGER_DMABUF_LISTED_AFTER);
	if (ret)
		return ret;
	memledger_dmabuf_finish(&snapshot->table);
	snapshot->complete = !scan->incomplete && !snapshot->table.incomplete &&
			     snapshot->listed == MEMLEDGER_HAS_DMABUF_LIST;
	return 0;
}

static void snapshot_release(struct kref *ref)
{
	struct memledger_dmabuf_snapshot *snapshot =
		container_of(ref, struct memledger_dmabuf_snapshot, ref);

	memledger_dmabuf_free(&snapshot->table);
	kfree(snapshot);
}

/**
 * memledger_dmabuf_snapshot_put - let go of a snapshot
 * @snapshot: not to be used afterwards
 *
 * Context: may sleep.
 */
void memledger_dmabuf_snapshot_put(struct memledger_dmabuf_snapshot *snapshot)
{
	kref_put(&snapshot->ref, snapshot_release);
}

/* A new one, with a reference for the caller. */
static struct memledger_dmabuf_snapshot *make_snapshot(const bool *stop)
{
	struct memledger_dmabuf_snapshot *snapshot;
	u64 start = ktime_get_ns();
	struct scan *scan;
	int ret = -ENOMEM;

	snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);
	scan = kvzalloc(sizeof(*scan), GFP_KERNEL);
	if (!snapshot || !scan)
		goto err_free;
	kref_init(&snapshot->ref);
	scan->stop = stop;
	snapshot->begin_ns = ktime_get_boottime_ns();
	ret = fill_snapshot(snapshot, scan);
	if (ret)
		goto err_free;
	kvfree(scan);
	snapshot->timestamp_ns = ktime_get_boottime_ns();
	snapshot->walk_ns = ktime_get_ns() - start;
	return snapshot;

err_free:
	if (snapshot)
		memledger_dmabuf_free(&snapshot->table);
	kfree(snapshot);
	kvfree(scan);
	return ERR_PTR(ret);
}

static struct memledger_dmabuf_snapshot *get_latest(void)
{
	struct memledger_dmabuf_snapshot *snapshot;

	spin_lock(&latest_lock);
	snapshot = latest;
	if (snapshot)
		kref_get(&snapshot->ref);
	spin_unlock(&latest_lock);
	return snapshot;
}

static void set_latest(struct memledger_dmabuf_snapshot *snapshot)
{
	struct memledger_dmabuf_snapshot *old;

	if (snapshot)
		kref_get(&snapshot->ref);
	spin_lock(&latest_lock);
	old = latest;
	latest = snapshot;
	spin_unlock(&latest_lock);
	if (old)
		memledger_dmabuf_snapshot_put(old);
}

/* When the process came to be, CLOCK_BOOTTIME. Returns whether there is one. */
static bool process_start(pid_t tgid, u64 *start)
{
	struct task_struct *leader;

	rcu_read_lock();
	leader = pid_task(find_pid_ns(tgid, &init_pid_ns), PIDTYPE_TGID);
	if (leader)
		*start = leader->start_boottime;
	rcu_read_unlock();
	return leader;
}

static bool is_fresh(const struct memledger_dmabuf_snapshot *snapshot,
		     bool any_age)
{
	u64 max_age = (u64)READ_ONCE(memledger_dmabuf_max_age_ms) *
		      NSEC_PER_MSEC;

	return any_age || !max_age ||
	       ktime_get_boottime_ns() - snapshot->timestamp_ns <= max_age;
}

/*
 * The latest one, with a reference, if it began at @not_before or later and is
 * young enough or may be of any age; else NULL.
 */
static struct memledger_dmabuf_snapshot *get_fresh(u64 not_before,
						   bool any_age)
{
	struct memledger_dmabuf_snapshot *snapshot = get_latest();

	if (!snapshot || (snapshot->begin_ns >= not_before &&
			  is_fresh(snapshot, any_age)))
		return snapshot;
	memledger_dmabuf_snapshot_put(snapshot);
	return NULL;
}

/*
 * Begins to wait for the pass of somebody else, for a moment. Untracking waits
 * for a reader of the process's files, so that one must see @stop. Returns
 * whether we have the lock, or an error.
 */
static int try_scan_lock(const bool *stop)
{
	bool locked;

	wait_event_killable_timeout(scan_over,
				    (locked = mutex_trylock(&scan_lock)),
				    STOP_POLL);
	return locked ? 1 : interrupted(stop);
}

static void drop_scan_lock(void)
{
	mutex_unlock(&scan_lock);
	wake_up(&scan_over);
}

static struct memledger_dmabuf_snapshot *take_snapshot(const bool *stop)
{
	static u64 generation;
	struct memledger_dmabuf_snapshot *snapshot;

	lockdep_assert_held(&scan_lock);
	snapshot = make_snapshot(stop);
	if (!IS_ERR(snapshot)) {
		snapshot->generation = ++generation;
		set_latest(snapshot);
	}
	return snapshot;
}

/*
 * @renew: whether a fresh one is not good enough, if it began before this. One
 * of somebody else that began later will do: the lock goes to whoever comes
 * first, and this way nobody waits for more than two passes.
 */
static struct memledger_dmabuf_snapshot *
replace_latest(u64 not_before, bool renew, const bool *stop)
{
	struct memledger_dmabuf_snapshot *snapshot;
	int ret;

	if (renew)
		not_before = ktime_get_boottime_ns();
	do {
		ret = try_scan_lock(stop);
		if (ret < 0)
			return ERR_PTR(ret);
		snapshot = get_fresh(not_before, renew);
		if (!snapshot && ret)
			snapshot = take_snapshot(stop);
		if (ret)
			drop_scan_lock();
	} while (!snapshot);
	return snapshot;
}

/**
 * memledger_dmabuf_has_list - whether buffers that no process holds are known
 *
 * Return: true if this kernel lets modules see its list of buffers.
 */
bool memledger_dmabuf_has_list(void)
{
	return MEMLEDGER_HAS_DMABUF_LIST;
}

/**
 * memledger_dmabuf_snapshot_get - get at the table of all DMA-BUFs
 * @tgid: a process that must be in it if it holds any: a snapshot that began
 *	before that process did does not count; 0: no process in particular
 * @mode: which snapshot
 * @stop: NULL, or set by others when the caller is to give up
 *
 * Context: process context; may sleep for as long as a pass takes.
 * Return: the snapshot, with a reference for memledger_dmabuf_snapshot_put(), or
 * ERR_PTR() of: -ESRCH if there is no such process, but not for
 * MEMLEDGER_SNAPSHOT_LAST; -ENODATA if there is no such snapshot and only an
 * order would take one; -EINTR, -ENOMEM, or -ENODEV if told to stop, or the
 * module is being unloaded. Where a new one fails the last stays as it was.
 */
struct memledger_dmabuf_snapshot *
memledger_dmabuf_snapshot_get(pid_t tgid, enum memledger_snapshot_mode mode,
			      const bool *stop)
{
	struct memledger_dmabuf_snapshot *snapshot;
	u64 not_before = 0;

	if (tgid && !process_start(tgid, &not_before) &&
	    mode != MEMLEDGER_SNAPSHOT_LAST)
		return ERR_PTR(-ESRCH);
	switch (mode) {
	case MEMLEDGER_SNAPSHOT_NEW:
		return replace_latest(not_before, true, stop);
	case MEMLEDGER_SNAPSHOT_FRESH:
		snapshot = get_fresh(not_before, false);
		if (!snapshot && READ_ONCE(memledger_dmabuf_max_age_ms))
			return replace_latest(not_before, false, stop);
		break;
	case MEMLEDGER_SNAPSHOT_LAST:
		snapshot = get_latest();
		if (snapshot && snapshot->begin_ns < not_before) {
			memledger_dmabuf_snapshot_put(snapshot);
			snapshot = NULL;
		}
		break;
	}
	return snapshot ?: ERR_PTR(-ENODATA);
}

/**
 * memledger_dmabuf_share_get - what a process has of all DMA-BUFs
 * @tgid: its number in the initial pid namespace
 * @mode: from which snapshot
 * @stop: NULL, or set by others when the caller is to give up
 * @share: gets it
 *
 * Context: process context; may sleep for as long as a pass over all processes
 * takes.
 * Return: 0; -ESRCH if there is no such process, or in
 * MEMLEDGER_SNAPSHOT_LAST neither it nor any buffer of it; -ENODATA if there is
 * no snapshot that is younger than the process and only an order would take
 * one; -EINTR, -ENOMEM, or -ENODEV if told to stop, or the module is being
 * unloaded.
 */
int memledger_dmabuf_share_get(pid_t tgid, enum memledger_snapshot_mode mode,
			       const bool *stop,
			       struct memledger_dmabuf_share *share)
{
	struct memledger_dmabuf_snapshot *snapshot;
	u64 start;
	int ret = 0;

	snapshot = memledger_dmabuf_snapshot_get(tgid, mode, stop);
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	share->complete = memledger_dmabuf_sum_share(&snapshot->table, tgid,
						     share) &&
			  snapshot->complete;
	share->generation = snapshot->generation;
	share->timestamp_ns = snapshot->timestamp_ns;
	/* It may have been gone before: then nobody has looked at it. */
	if (!share->dmabuf_count && !process_start(tgid, &start))
		ret = -ESRCH;
	memledger_dmabuf_snapshot_put(snapshot);
	return ret;
}

/**
 * memledger_dmabuf_stop - end passes that are under way, and begin no more
 *
 * For module exit, before files are removed that wait for their readers.
 */
void memledger_dmabuf_stop(void)
{
	WRITE_ONCE(stopping, true);
}

/**
 * memledger_dmabuf_exit - forget the last snapshot, all readers being gone
 */
void memledger_dmabuf_exit(void)
{
	set_latest(NULL);
}
