/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that the user asked to track.
 */
#ifndef _MEMLEDGER_TARGET_H
#define _MEMLEDGER_TARGET_H

#include <linux/capability.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <memledger/abi.h>

struct dentry;
struct kernfs_node;
struct memledger_sysfs_dir;

/**
 * struct memledger_exit_watch - waits for a process to exit
 * @entry: in the queue of the target's struct pid
 * @work: looks whether it has exited, and tells
 * @told: it has been told; for @work alone
 */
struct memledger_exit_watch {
	struct wait_queue_entry entry;
	struct work_struct work;
	bool told;
};

/**
 * struct memledger_target - a tracked process
 * @ref: held by the list, by its directories and by open files
 * @node: in the list of tracked processes
 * @pid: the process; pins neither task nor memory
 * @nr: its number in the initial pid namespace
 * @dying: it is being untracked; walks stop at their next slice
 * @lock: guards @record and @scratch
 * @record: the last snapshot; generation 0 if there is none yet
 * @scratch: the next one, while it is made
 * @sysfs: its directory in sysfs
 * @polled: the file in it that is polled for new snapshots; NULL while it is
 *	being made
 * @exit_watch: tells when the process has exited
 * @debugfs: its directory in debugfs
 */
struct memledger_target {
	struct kref ref;
	struct list_head node;
	struct pid *pid;
	pid_t nr;
	bool dying;
	struct mutex lock;
	struct memledger_record record;
	struct memledger_record scratch;
	struct memledger_sysfs_dir *sysfs;
	struct kernfs_node *polled;
	struct memledger_exit_watch exit_watch;
	struct dentry *debugfs;
};

/* Asked at every read and write, whatever the file's mode let through. */
static inline bool memledger_access_allowed(void)
{
	return capable(CAP_SYS_PTRACE);
}

#define MEMLEDGER_MAX_TRACKED_DEFAULT	128
#define MEMLEDGER_MAX_TRACKED_LIMIT	4096

extern unsigned int memledger_target_max;

int memledger_target_track(pid_t nr);
int memledger_target_untrack(pid_t nr);
void memledger_target_untrack_all(void);

void memledger_target_get(struct memledger_target *target);
void memledger_target_put(struct memledger_target *target);
bool memledger_target_is_alive(struct memledger_target *target);
int memledger_target_comm(struct memledger_target *target, char *buf,
			  size_t size);

/* exit_watch.c */
void memledger_exit_watch(struct memledger_target *target);
void memledger_exit_unwatch(struct memledger_target *target);

/* Four bytes for each of a name's, which TASK_COMM_LEN bounds. */
#define MEMLEDGER_COMM_TEXT_LEN		(4 * 16)

void memledger_comm_escape(const char *comm, char *text, size_t size);

/* What each exporter makes of a target; in sysfs.c and debugfs.c. */
int memledger_sysfs_add(struct memledger_target *target);
void memledger_sysfs_remove(struct memledger_target *target);
void memledger_sysfs_notify(struct memledger_target *target);
void memledger_sysfs_tell_exit(struct memledger_target *target);
void memledger_debugfs_add(struct memledger_target *target);
void memledger_debugfs_remove(struct memledger_target *target);

int memledger_sysfs_init(void);
void memledger_sysfs_close(void);
void memledger_sysfs_exit(void);
ssize_t memledger_debugfs_read(struct file *file, char __user *buf, size_t size,
			       loff_t *pos);
loff_t memledger_debugfs_llseek(struct file *file, loff_t offset, int whence);
void memledger_debugfs_init(void);
void memledger_debugfs_add_files(void);
void memledger_debugfs_add_gpumem(struct dentry *root);
void memledger_debugfs_add_carveouts(struct dentry *root);
void memledger_debugfs_system_init(struct dentry *root);
void memledger_debugfs_exit(void);

#endif
