/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stand-in's GPU, the processes that use it, and the GPU's page tables,
 * under the names that KGSL has for them.
 */
#ifndef _KGSL_DEVICE_H
#define _KGSL_DEVICE_H

#include <linux/idr.h>
#include <linux/kobject.h>
#include <linux/pid.h>
#include <linux/platform_device.h>
#include <linux/sched.h>

#include "kgsl.h"

/* Names of page tables that are no process's. */
#define KGSL_MMU_GLOBAL_PT	0
#define KGSL_MMU_SECURE_PT	1

/**
 * struct kgsl_pagetable - which of the GPU's addresses are taken
 * @name: number of the process, or KGSL_MMU_*_PT
 * @lock: protects @regions
 * @regions: of struct kgsl_memdesc, by address
 * @mapped: bytes, guard pages included; what the tracepoint says
 */
struct kgsl_pagetable {
	unsigned int name;
	struct mutex lock;
	struct list_head regions;
	atomic_long_t mapped;
};

/**
 * struct kgsl_device - the GPU
 * @dev: its platform device, which imports DMA-BUFs
 * @chrdev: "kgsl-3d0"
 * @securepagetable: where all secure memory is
 * @memstore: memory of the driver itself
 * @total_mapped: bytes, as the tracepoint says for process 0
 */
struct kgsl_device {
	struct device *dev;
	struct device *chrdev;
	struct kgsl_pagetable securepagetable;
	struct kgsl_memdesc memstore;
	atomic64_t total_mapped;
};

/**
 * struct kgsl_process_private - what a process has
 * @pid: of its thread group leader
 * @comm: its name
 * @mem_lock: protects @mem_idr, and pending_free of the entries
 * @refcount: one each open file, one each entry
 * @mem_idr: its entries, from 1; a slot is NULL until its entry is complete
 * @pagetable: the GPU's
 * @list: in kgsl_driver.process_list
 * @kobj: its directory in sysfs; frees this struct
 * @debug_root: its directory in debugfs
 * @stats: bytes by type of entry, now and at most
 * @gpumem_mapped: bytes of entries that are mapped, each counted once
 * @fd_count: how many files it has opened; under @private_mutex
 * @private_mutex: held while the last file is closed
 * @unpinned_page_count: pages that were reclaimed
 * @background: its memory is being reclaimed
 */
struct kgsl_process_private {
	struct pid *pid;
	char comm[TASK_COMM_LEN];
	spinlock_t mem_lock;
	struct kref refcount;
	struct idr mem_idr;
	struct kgsl_pagetable *pagetable;
	struct list_head list;
	struct kobject kobj;
	struct dentry *debug_root;
	struct {
		atomic64_t cur;
		u64 max;
	} stats[KGSL_MEM_ENTRY_MAX];
	atomic64_t gpumem_mapped;
	int fd_count;
	struct mutex private_mutex;
	atomic_t unpinned_page_count;
	bool background;
};

struct kgsl_device_private {
	struct kgsl_device *device;
	struct kgsl_process_private *process_priv;
};

/* 0: its last reference has gone already. */
static inline int kgsl_process_private_get(struct kgsl_process_private *process)
{
	return process ? kref_get_unless_zero(&process->refcount) : 0;
}

/* May sleep, and remove the process's files: not from one of these. */
void kgsl_process_private_put(struct kgsl_process_private *private);

#endif
