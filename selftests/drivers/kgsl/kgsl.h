/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stand-in's memory objects, under the names that KGSL has for them, so
 * that providers/memledger_kgsl.c compiles here as it does there. What is
 * protected by what, and who may free what when, is KGSL's as well.
 */
#ifndef _KGSL_H
#define _KGSL_H

#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "msm_kgsl.h"

struct kgsl_device;
struct kgsl_memdesc;
struct kgsl_pagetable;
struct kgsl_process_private;

/**
 * struct kgsl_driver - what there is one of
 * @class: "kgsl"
 * @virtdev: the device "kgsl", which has the driver's own files
 * @prockobj: its directory "proc", with one directory a process
 * @debugfs: the directory "kgsl"
 * @debugfs_proc: its directory "proc"
 * @devp: the GPU
 * @process_list: of struct kgsl_process_private; from the first open to the
 *	last reference
 * @process_mutex: held while a process comes or goes
 * @proclist_lock: protects @process_list
 * @stats: bytes, now and at most
 * @full_cache_threshold: only shown
 * @lockless_workqueue: where entries go whose last user may not sleep
 */
struct kgsl_driver {
	struct class *class;
	struct device *virtdev;
	struct kobject *prockobj;
	struct dentry *debugfs;
	struct dentry *debugfs_proc;
	struct kgsl_device *devp[1];
	struct list_head process_list;
	struct mutex process_mutex;
	rwlock_t proclist_lock;
	struct {
		atomic_long_t vmalloc;
		atomic_long_t vmalloc_max;
		atomic_long_t page_alloc;
		atomic_long_t page_alloc_max;
		atomic_long_t coherent;
		atomic_long_t coherent_max;
		atomic_long_t secure;
		atomic_long_t secure_max;
		atomic_long_t mapped;
		atomic_long_t mapped_max;
	} stats;
	unsigned int full_cache_threshold;
	struct workqueue_struct *lockless_workqueue;
};

extern struct kgsl_driver kgsl_driver;

static inline void KGSL_STATS_ADD(u64 size, atomic_long_t *stat,
				  atomic_long_t *max)
{
	long now = atomic_long_add_return(size, stat);
	long was = atomic_long_read(max);

	while (now > was && !atomic_long_try_cmpxchg(max, &was, now))
		;
}

/**
 * struct kgsl_memdesc_ops - what differs by where memory comes from
 * @vmflags: of a VMA that maps it; 0: it cannot be mapped
 * @vmfault: maps the page at the faulting address
 * @free: lets go of the memory; @put_gpuaddr has run
 * @put_gpuaddr: takes it from the GPU's page table
 */
struct kgsl_memdesc_ops {
	unsigned int vmflags;
	vm_fault_t (*vmfault)(struct kgsl_memdesc *memdesc,
			      struct vm_area_struct *vma,
			      struct vm_fault *vmf);
	void (*free)(struct kgsl_memdesc *memdesc);
	void (*put_gpuaddr)(struct kgsl_memdesc *memdesc);
};

/* Bits of kgsl_memdesc.priv. */
#define KGSL_MEMDESC_GUARD_PAGE	BIT(0)
#define KGSL_MEMDESC_GLOBAL	BIT(1)
#define KGSL_MEMDESC_MAPPED	BIT(3)
#define KGSL_MEMDESC_SECURE	BIT(4)
#define KGSL_MEMDESC_RECLAIMED	BIT(11)

/**
 * struct kgsl_memdesc - a piece of memory that the GPU can reach
 * @pagetable: the GPU's, that it is in
 * @hostptr: where the kernel has it, if it is contiguous
 * @gpuaddr: where the GPU has it; 0: nowhere
 * @physaddr: of contiguous memory
 * @size: bytes, without the guard page
 * @priv: KGSL_MEMDESC_*
 * @sgt: of imported and of secure memory
 * @ops: by where the memory comes from
 * @flags: KGSL_MEMFLAGS_*
 * @pages: of paged memory; NULL while reclaimed
 * @page_count: how many there are
 * @lock: protects @gpuaddr of memory that is mapped where the CPU has it, and
 *	@pages of memory that can be reclaimed
 * @shmem_filp: the file that has @pages, in the shmem variant
 * @node: in the page table's list, by address
 * @ranges: of a virtual object: struct kgsl_range
 * @ranges_lock: protects @ranges
 */
struct kgsl_memdesc {
	struct kgsl_pagetable *pagetable;
	void *hostptr;
	u64 gpuaddr;
	phys_addr_t physaddr;
	u64 size;
	unsigned int priv;
	struct sg_table *sgt;
	const struct kgsl_memdesc_ops *ops;
	u64 flags;
	struct page **pages;
	unsigned int page_count;
	struct mutex lock;
	struct file *shmem_filp;
	struct list_head node;
	struct list_head ranges;
	struct mutex ranges_lock;
};

/* Types of entries. */
#define KGSL_MEM_ENTRY_KERNEL	0
#define KGSL_MEM_ENTRY_USER	(KGSL_USER_MEM_TYPE_ADDR + 1)
#define KGSL_MEM_ENTRY_ION	(KGSL_USER_MEM_TYPE_ION + 1)
#define KGSL_MEM_ENTRY_MAX	(KGSL_USER_MEM_TYPE_MAX + 1)

/**
 * struct kgsl_mem_entry - a process's piece of memory
 * @refcount: one is user space's, until it frees the entry; one each mapping's
 * @memdesc: the memory
 * @priv_data: of an imported DMA-BUF: struct kgsl_dma_buf_meta
 * @id: in @priv's mem_idr; 0: no longer there
 * @priv: whose it is; a reference
 * @pending_free: user space has given its reference back; under mem_lock
 * @metadata: text from user space
 * @work: destroys the entry
 * @map_count: how many VMAs map it
 * @vbo_count: how many ranges of virtual objects it is bound to
 * @pin: keeps the module while memory may be mapped by a file not its own
 */
struct kgsl_mem_entry {
	struct kref refcount;
	struct kgsl_memdesc memdesc;
	void *priv_data;
	unsigned int id;
	struct kgsl_process_private *priv;
	int pending_free;
	char metadata[KGSL_GPUOBJ_ALLOC_METADATA_MAX + 1];
	struct work_struct work;
	atomic_t map_count;
	atomic_t vbo_count;
	struct file *pin;
};

void kgsl_mem_entry_destroy(struct kref *kref);
void kgsl_mem_entry_destroy_deferred(struct kref *kref);

/*
 * Google's trees have a third count. Both forms are compiled; see pixel.c.
 */
#ifdef MEMLEDGER_KGSL_COUNTS_IMPORTERS
void kgsl_get_egl_counts(struct kgsl_mem_entry *entry, int *egl_surface_count,
			 int *egl_image_count, int *total_count);
struct kgsl_process_private *
kgsl_find_dmabuf_allocator(struct kgsl_mem_entry *entry);
#else
void kgsl_get_egl_counts(struct kgsl_mem_entry *entry, int *egl_surface_count,
			 int *egl_image_count);
#endif
unsigned long kgsl_get_dmabuf_inode_number(struct kgsl_mem_entry *entry);

struct kgsl_mem_entry *kgsl_sharedmem_find(struct kgsl_process_private *private,
					   u64 gpuaddr);
struct kgsl_mem_entry *
kgsl_sharedmem_find_id(struct kgsl_process_private *process, unsigned int id);

/* NULL where the last reference has gone already. */
static inline struct kgsl_mem_entry *
kgsl_mem_entry_get(struct kgsl_mem_entry *entry)
{
	if (!IS_ERR_OR_NULL(entry) && kref_get_unless_zero(&entry->refcount))
		return entry;
	return NULL;
}

/* May sleep, and may remove the process's files: not from one of these. */
static inline void kgsl_mem_entry_put(struct kgsl_mem_entry *entry)
{
	if (!IS_ERR_OR_NULL(entry))
		kref_put(&entry->refcount, kgsl_mem_entry_destroy);
}

/* From anywhere. */
static inline void kgsl_mem_entry_put_deferred(struct kgsl_mem_entry *entry)
{
	if (entry)
		kref_put(&entry->refcount, kgsl_mem_entry_destroy_deferred);
}

#endif
