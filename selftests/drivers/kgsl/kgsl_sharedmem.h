/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in the flags of the stand-in's memory, under the names that KGSL has
 * for it, and what the stand-in's files call of each other.
 */
#ifndef _KGSL_SHAREDMEM_H
#define _KGSL_SHAREDMEM_H

#include "kgsl_device.h"

struct seq_file;

static inline unsigned int
kgsl_memdesc_usermem_type(const struct kgsl_memdesc *memdesc)
{
	return FIELD_GET(KGSL_MEMFLAGS_USERMEM_MASK, READ_ONCE(memdesc->flags));
}

static inline unsigned int
kgsl_memdesc_get_memtype(const struct kgsl_memdesc *memdesc)
{
	return FIELD_GET(KGSL_MEMTYPE_MASK, READ_ONCE(memdesc->flags));
}

static inline int kgsl_memdesc_get_align(const struct kgsl_memdesc *memdesc)
{
	return FIELD_GET(KGSL_MEMALIGN_MASK, memdesc->flags);
}

static inline int kgsl_memdesc_get_cachemode(const struct kgsl_memdesc *memdesc)
{
	return FIELD_GET(KGSL_CACHEMODE_MASK, memdesc->flags);
}

static inline bool kgsl_memdesc_is_global(const struct kgsl_memdesc *memdesc)
{
	return memdesc->priv & KGSL_MEMDESC_GLOBAL;
}

static inline bool kgsl_memdesc_is_secured(const struct kgsl_memdesc *memdesc)
{
	return memdesc->priv & KGSL_MEMDESC_SECURE;
}

static inline bool kgsl_memdesc_use_cpu_map(const struct kgsl_memdesc *memdesc)
{
	return memdesc->flags & KGSL_MEMFLAGS_USE_CPU_MAP;
}

/* What a mapping of all of it is long, the guard page included. */
static inline u64 kgsl_memdesc_footprint(const struct kgsl_memdesc *memdesc)
{
	if (!(memdesc->priv & KGSL_MEMDESC_GUARD_PAGE))
		return memdesc->size;
	return memdesc->size + PAGE_SIZE;
}

/* kgsl_sharedmem.c */
void kgsl_memdesc_init(struct kgsl_memdesc *memdesc, u64 flags);
int kgsl_allocate_user(struct kgsl_memdesc *memdesc, u64 size, u64 flags);
int kgsl_pin_user(struct kgsl_memdesc *memdesc, unsigned long addr, u64 size);
void kgsl_sharedmem_free(struct kgsl_memdesc *memdesc);
void kgsl_unmap_and_put_gpuaddr(struct kgsl_memdesc *memdesc);
void kgsl_process_reclaim(struct kgsl_process_private *private);
void kgsl_process_restore(struct kgsl_process_private *private);

/* kgsl_mmu.c */
void kgsl_mmu_init(struct kgsl_pagetable *pagetable, unsigned int name);
u64 kgsl_mmu_va_size(u64 flags);
int kgsl_mmu_get_gpuaddr(struct kgsl_pagetable *pagetable,
			 struct kgsl_memdesc *memdesc);
int kgsl_mmu_set_gpuaddr(struct kgsl_pagetable *pagetable,
			 struct kgsl_memdesc *memdesc, u64 gpuaddr);
void kgsl_mmu_put_gpuaddr(struct kgsl_memdesc *memdesc);
void kgsl_mmu_map(struct kgsl_memdesc *memdesc);
void kgsl_mmu_unmap(struct kgsl_memdesc *memdesc);
void kgsl_trace_gpu_mem_total(struct kgsl_device *device, s64 delta);

/* kgsl_entry.c */
extern const struct vm_operations_struct kgsl_gpumem_vm_ops;
struct kgsl_mem_entry *kgsl_mem_entry_create(void);
int kgsl_entry_pin(struct kgsl_mem_entry *entry);
int kgsl_mem_entry_attach(struct kgsl_process_private *process,
			  struct kgsl_mem_entry *entry);
void kgsl_mem_entry_commit(struct kgsl_mem_entry *entry);
bool kgsl_mem_entry_set_pend(struct kgsl_mem_entry *entry);
struct kgsl_mem_entry *kgsl_mem_entry_next(struct kgsl_process_private *private,
					   int *id);
int kgsl_mmap(struct file *file, struct vm_area_struct *vma);

/* kgsl_dmabuf.c */
struct kgsl_dmabuf_counts {
	int surfaces;
	int images;
	int total;
	struct kgsl_process_private *first;
};

int kgsl_import_dmabuf(struct kgsl_mem_entry *entry, int fd);
void kgsl_dmabuf_count(struct kgsl_mem_entry *entry,
		       struct kgsl_dmabuf_counts *counts);

/* kgsl_vbo.c */
int kgsl_allocate_vbo(struct kgsl_memdesc *memdesc, u64 size, u64 flags);
long kgsl_vbo_bind(struct kgsl_process_private *private,
		   struct kgsl_mem_entry *target,
		   const struct kgsl_gpumem_bind_range *range);
void kgsl_vbo_print(struct seq_file *seq, struct kgsl_mem_entry *entry,
		    unsigned int id);

/* kgsl_ioctl.c */
long kgsl_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* kgsl_sysfs.c */
extern const struct attribute_group *kgsl_driver_groups[];
extern const struct kobj_type kgsl_process_ktype;
void kgsl_get_memory_usage(char *name, size_t size, u64 flags);
void kgsl_process_release(struct kobject *kobj);

/* kgsl_debugfs.c */
void kgsl_process_init_debugfs(struct kgsl_process_private *private);

#endif
