/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What exporters may ask for of DMA-BUFs: a table of all of them, as of one
 * pass over all processes, and a process's share. Private to the module.
 */
#ifndef _MEMLEDGER_MODULE_DMABUF_H
#define _MEMLEDGER_MODULE_DMABUF_H

#include <linux/kref.h>

#include <memledger/dmabuf.h>

#include "snapshot.h"

struct attribute_group;
struct dentry;
struct memledger_target;

/**
 * struct memledger_dmabuf_snapshot - all DMA-BUFs, as of one pass
 * @ref: held by whoever looks at it, and by the latest one's place
 * @table: finished, and never changed again
 * @generation: counts snapshots, from 1
 * @begin_ns: when the pass began, CLOCK_BOOTTIME
 * @timestamp_ns: when it was finished
 * @walk_ns: how long it took
 * @complete: everything was seen
 * @listed: the kernel's own list of buffers was read
 */
struct memledger_dmabuf_snapshot {
	struct kref ref;
	struct memledger_dmabuf_table table;
	u64 generation;
	u64 begin_ns;
	u64 timestamp_ns;
	u64 walk_ns;
	bool complete;
	bool listed;
};

/* A snapshot older than that is replaced on reading; 0: never. A setting. */
extern unsigned int memledger_dmabuf_max_age_ms;

bool memledger_dmabuf_has_list(void);
struct memledger_dmabuf_snapshot *
memledger_dmabuf_snapshot_get(pid_t tgid, enum memledger_snapshot_mode mode,
			      const bool *stop);
void memledger_dmabuf_snapshot_put(struct memledger_dmabuf_snapshot *snapshot);
int memledger_dmabuf_share_get(pid_t tgid, enum memledger_snapshot_mode mode,
			       const bool *stop,
			       struct memledger_dmabuf_share *share);
void memledger_dmabuf_stop(void);
void memledger_dmabuf_exit(void);

/* sysfs_dmabuf.c */
extern const struct attribute_group memledger_sysfs_dmabuf_group;

/* debugfs_dmabuf.c */
void memledger_debugfs_dmabuf_init(struct dentry *root);
void memledger_debugfs_dmabuf_add(struct memledger_target *target);

#endif
