// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a size and flags to pages, by where they come from: single pages, one
 * contiguous piece, a shmem file, protected memory, or the process's own.
 */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/swap.h>

#include "../../../module/compat.h"
#include "kgsl_sharedmem.h"

static bool use_shmem;
module_param_named(shmem, use_shmem, bool, 0600);
MODULE_PARM_DESC(shmem, "take pages from shmem files, and map these");

static unsigned int max_alloc_mb;
module_param(max_alloc_mb, uint, 0600);
MODULE_PARM_DESC(max_alloc_mb, "larger allocations fail; 0: those of more than half the memory that is available");

/* KGSL knows no larger alignment. */
#define MAX_ALIGN_SHIFT	25

void kgsl_memdesc_init(struct kgsl_memdesc *memdesc, u64 flags)
{
	u64 align = FIELD_GET(KGSL_MEMALIGN_MASK, flags);

	memset(memdesc, 0, sizeof(*memdesc));
	if (flags & KGSL_MEMFLAGS_SECURE) {
		flags &= ~KGSL_MEMFLAGS_USE_CPU_MAP;
		memdesc->priv |= KGSL_MEMDESC_SECURE;
	}
	if (flags & KGSL_MEMFLAGS_GUARD_PAGE)
		memdesc->priv |= KGSL_MEMDESC_GUARD_PAGE;
	align = clamp_t(u64, align, PAGE_SHIFT, MAX_ALIGN_SHIFT);
	flags &= ~KGSL_MEMALIGN_MASK;
	memdesc->flags = flags | FIELD_PREP(KGSL_MEMALIGN_MASK, align);
	mutex_init(&memdesc->lock);
	mutex_init(&memdesc->ranges_lock);
	INIT_LIST_HEAD(&memdesc->ranges);
}

void kgsl_unmap_and_put_gpuaddr(struct kgsl_memdesc *memdesc)
{
	if (!memdesc->gpuaddr)
		return;
	kgsl_mmu_unmap(memdesc);
	kgsl_mmu_put_gpuaddr(memdesc);
}

void kgsl_sharedmem_free(struct kgsl_memdesc *memdesc)
{
	if (!memdesc->ops)
		return;
	if (memdesc->ops->put_gpuaddr)
		memdesc->ops->put_gpuaddr(memdesc);
	if (memdesc->ops->free)
		memdesc->ops->free(memdesc);
}

/*
 * Pages
 */

static void put_pages(struct kgsl_memdesc *memdesc)
{
	unsigned int i;

	for (i = 0; memdesc->pages && i < memdesc->page_count; i++)
		if (memdesc->pages[i])
			put_page(memdesc->pages[i]);
	kvfree(memdesc->pages);
	memdesc->pages = NULL;
}

static void free_page_array(struct kgsl_memdesc *memdesc)
{
	put_pages(memdesc);
	if (memdesc->shmem_filp)
		fput(memdesc->shmem_filp);
	memdesc->shmem_filp = NULL;
}

static struct page *paged_page(struct kgsl_memdesc *memdesc, unsigned int i)
{
	struct page *page;

	if (fatal_signal_pending(current))
		return ERR_PTR(-EINTR);
	if (memdesc->shmem_filp)
		return shmem_read_mapping_page(memdesc->shmem_filp->f_mapping,
					       i);
	page = alloc_page(GFP_HIGHUSER | __GFP_ZERO | __GFP_NORETRY |
			  __GFP_NOWARN);
	return page ?: ERR_PTR(-ENOMEM);
}

/* Whatever is there on failure is freed by free_page_array(). */
static int fill_page_array(struct kgsl_memdesc *memdesc)
{
	struct page *page;
	unsigned int i;

	memdesc->pages = kvcalloc(memdesc->page_count, sizeof(page),
				  GFP_KERNEL | __GFP_NOWARN);
	if (!memdesc->pages)
		return -ENOMEM;
	for (i = 0; i < memdesc->page_count; i++) {
		page = paged_page(memdesc, i);
		if (IS_ERR(page))
			return PTR_ERR(page);
		memdesc->pages[i] = page;
		cond_resched();
	}
	return 0;
}

/* Rather fail than make the kernel kill somebody. */
static bool too_large(u64 size)
{
	u64 max = (u64)READ_ONCE(max_alloc_mb) << 20;

	if (!max)
		max = (u64)max(si_mem_available(), 0L) << PAGE_SHIFT >> 1;
	return size > max;
}

static int alloc_page_array(struct kgsl_memdesc *memdesc, u64 size, bool shmem)
{
	struct file *file;
	int ret;

	memdesc->size = size;
	memdesc->page_count = size >> PAGE_SHIFT;
	if (too_large(size))
		return -ENOMEM;
	if (shmem) {
		file = memledger_shmem_file_setup("kgsl-3d0", size);
		if (IS_ERR(file))
			return PTR_ERR(file);
		mapping_set_unevictable(file->f_mapping);
		memdesc->shmem_filp = file;
	}
	ret = fill_page_array(memdesc);
	if (ret)
		free_page_array(memdesc);
	return ret;
}

/* Gets the pages that were reclaimed. Under memdesc->lock. */
static int restore_entry(struct kgsl_mem_entry *entry)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	int ret;

	if (!(memdesc->priv & KGSL_MEMDESC_RECLAIMED))
		return 0;
	mapping_set_unevictable(memdesc->shmem_filp->f_mapping);
	ret = fill_page_array(memdesc);
	if (ret) {
		put_pages(memdesc);
		mapping_clear_unevictable(memdesc->shmem_filp->f_mapping);
		return ret;
	}
	memdesc->priv &= ~KGSL_MEMDESC_RECLAIMED;
	atomic_sub(memdesc->page_count, &entry->priv->unpinned_page_count);
	if (memdesc->gpuaddr)
		kgsl_mmu_map(memdesc);
	return 0;
}

static void reclaim_entry(struct kgsl_mem_entry *entry)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	unsigned int i;

	mutex_lock(&memdesc->lock);
	if (memdesc->shmem_filp && memdesc->pages &&
	    !atomic_read(&entry->map_count)) {
		kgsl_mmu_unmap(memdesc);
		/* The GPU may have written to them. */
		for (i = 0; i < memdesc->page_count; i++)
			set_page_dirty_lock(memdesc->pages[i]);
		put_pages(memdesc);
		mapping_clear_unevictable(memdesc->shmem_filp->f_mapping);
		memdesc->priv |= KGSL_MEMDESC_RECLAIMED;
		atomic_add(memdesc->page_count,
			   &entry->priv->unpinned_page_count);
	}
	mutex_unlock(&memdesc->lock);
}

/* Lets the kernel swap what is in shmem files and not mapped. */
void kgsl_process_reclaim(struct kgsl_process_private *private)
{
	struct kgsl_mem_entry *entry;
	int id = 0;

	while ((entry = kgsl_mem_entry_next(private, &id))) {
		reclaim_entry(entry);
		kgsl_mem_entry_put_deferred(entry);
	}
}

void kgsl_process_restore(struct kgsl_process_private *private)
{
	struct kgsl_mem_entry *entry;
	int id = 0;

	while ((entry = kgsl_mem_entry_next(private, &id))) {
		mutex_lock(&entry->memdesc.lock);
		/* What does not fit now is restored where it is used. */
		restore_entry(entry);
		mutex_unlock(&entry->memdesc.lock);
		kgsl_mem_entry_put_deferred(entry);
	}
}

static vm_fault_t paged_vmfault(struct kgsl_memdesc *memdesc,
				struct vm_area_struct *vma,
				struct vm_fault *vmf)
{
	struct kgsl_mem_entry *entry = vma->vm_private_data;
	struct page *page;
	vm_fault_t ret;

	/* The guard page has no page. */
	if (vmf->pgoff >= memdesc->page_count)
		return VM_FAULT_SIGBUS;
	mutex_lock(&memdesc->lock);
	if (restore_entry(entry)) {
		mutex_unlock(&memdesc->lock);
		return VM_FAULT_SIGBUS;
	}
	page = memdesc->pages[vmf->pgoff];
	get_page(page);
	mutex_unlock(&memdesc->lock);
	ret = vmf_insert_page(vma, vmf->address, page);
	put_page(page);
	return ret;
}

static void paged_free(struct kgsl_memdesc *memdesc)
{
	atomic_long_sub(memdesc->size, &kgsl_driver.stats.page_alloc);
	free_page_array(memdesc);
}

static const struct kgsl_memdesc_ops paged_ops = {
	.vmflags = VM_DONTDUMP | VM_DONTEXPAND | VM_DONTCOPY | VM_MIXEDMAP,
	.vmfault = paged_vmfault,
	.free = paged_free,
	.put_gpuaddr = kgsl_unmap_and_put_gpuaddr,
};

static int alloc_paged(struct kgsl_memdesc *memdesc, u64 size)
{
	int ret = alloc_page_array(memdesc, size, READ_ONCE(use_shmem));

	if (ret)
		return ret;
	KGSL_STATS_ADD(size, &kgsl_driver.stats.page_alloc,
		       &kgsl_driver.stats.page_alloc_max);
	memdesc->ops = &paged_ops;
	return 0;
}

/*
 * One piece
 */

static vm_fault_t contiguous_vmfault(struct kgsl_memdesc *memdesc,
				     struct vm_area_struct *vma,
				     struct vm_fault *vmf)
{
	if (vmf->pgoff >= memdesc->size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vma, vmf->address,
			      PHYS_PFN(memdesc->physaddr) + vmf->pgoff);
}

static void contiguous_free(struct kgsl_memdesc *memdesc)
{
	atomic_long_sub(memdesc->size, &kgsl_driver.stats.coherent);
	free_pages_exact(memdesc->hostptr, memdesc->size);
	memdesc->hostptr = NULL;
}

static const struct kgsl_memdesc_ops contiguous_ops = {
	.vmflags = VM_DONTDUMP | VM_PFNMAP | VM_DONTEXPAND | VM_DONTCOPY,
	.vmfault = contiguous_vmfault,
	.free = contiguous_free,
	.put_gpuaddr = kgsl_unmap_and_put_gpuaddr,
};

static int alloc_contiguous(struct kgsl_memdesc *memdesc, u64 size)
{
	memdesc->hostptr = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO |
					     __GFP_NORETRY | __GFP_NOWARN);
	if (!memdesc->hostptr)
		return -ENOMEM;
	memdesc->size = size;
	memdesc->physaddr = virt_to_phys(memdesc->hostptr);
	KGSL_STATS_ADD(size, &kgsl_driver.stats.coherent,
		       &kgsl_driver.stats.coherent_max);
	memdesc->ops = &contiguous_ops;
	return 0;
}

/*
 * Protected memory: pages that nothing maps.
 */

static void secure_free(struct kgsl_memdesc *memdesc)
{
	atomic_long_sub(memdesc->size, &kgsl_driver.stats.secure);
	sg_free_table(memdesc->sgt);
	kfree(memdesc->sgt);
	memdesc->sgt = NULL;
	free_page_array(memdesc);
}

static const struct kgsl_memdesc_ops secure_ops = {
	.free = secure_free,
	.put_gpuaddr = kgsl_unmap_and_put_gpuaddr,
};

static int alloc_secure(struct kgsl_memdesc *memdesc, u64 size)
{
	int ret = alloc_page_array(memdesc, size, false);

	if (ret)
		return ret;
	memdesc->sgt = kzalloc(sizeof(*memdesc->sgt), GFP_KERNEL);
	ret = memdesc->sgt ?
	      sg_alloc_table_from_pages(memdesc->sgt, memdesc->pages,
					memdesc->page_count, 0, size,
					GFP_KERNEL) : -ENOMEM;
	if (ret) {
		kfree(memdesc->sgt);
		memdesc->sgt = NULL;
		free_page_array(memdesc);
		return ret;
	}
	KGSL_STATS_ADD(size, &kgsl_driver.stats.secure,
		       &kgsl_driver.stats.secure_max);
	memdesc->ops = &secure_ops;
	return 0;
}

/* Of @memdesc nothing is left where it fails. */
int kgsl_allocate_user(struct kgsl_memdesc *memdesc, u64 size, u64 flags)
{
	kgsl_memdesc_init(memdesc, flags);
	if (flags & KGSL_MEMFLAGS_SECURE)
		return alloc_secure(memdesc, size);
	if (flags & KGSL_MEMFLAGS_STANDIN_CONTIGUOUS)
		return alloc_contiguous(memdesc, size);
	return alloc_paged(memdesc, size);
}

/*
 * The process's own memory
 */

/* What is mapped from here must not come back as the process's own. */
static bool is_foreign(unsigned long addr, u64 size)
{
	unsigned long end = addr + size;
	struct vm_area_struct *vma;
	bool foreign = true;

	mmap_read_lock(current->mm);
	while (addr < end && foreign) {
		vma = find_vma(current->mm, addr);
		foreign = vma && vma->vm_start <= addr &&
			  vma->vm_ops != &kgsl_gpumem_vm_ops;
		if (foreign)
			addr = vma->vm_end;
	}
	mmap_read_unlock(current->mm);
	return foreign;
}

static void user_free(struct kgsl_memdesc *memdesc)
{
	sg_free_table(memdesc->sgt);
	kfree(memdesc->sgt);
	memdesc->sgt = NULL;
	unpin_user_pages_dirty_lock(memdesc->pages, memdesc->page_count,
				    !(memdesc->flags &
				      KGSL_MEMFLAGS_GPUREADONLY));
	kvfree(memdesc->pages);
	memdesc->pages = NULL;
}

static const struct kgsl_memdesc_ops user_ops = {
	.free = user_free,
	.put_gpuaddr = kgsl_unmap_and_put_gpuaddr,
};

static int pin_pages(struct kgsl_memdesc *memdesc, unsigned long addr)
{
	unsigned int flags = FOLL_LONGTERM;
	int n;

	if (!(memdesc->flags & KGSL_MEMFLAGS_GPUREADONLY))
		flags |= FOLL_WRITE;
	n = pin_user_pages_fast(addr, memdesc->page_count, flags,
				memdesc->pages);
	if (n == memdesc->page_count)
		return 0;
	if (n > 0)
		unpin_user_pages(memdesc->pages, n);
	return n < 0 ? n : -EINVAL;
}

/* @memdesc is initialized. */
int kgsl_pin_user(struct kgsl_memdesc *memdesc, unsigned long addr, u64 size)
{
	int ret;

	if (!addr || !PAGE_ALIGNED(addr) || !size || !PAGE_ALIGNED(size) ||
	    size > UINT_MAX || addr + size < addr)
		return -EINVAL;
	if (!is_foreign(addr, size))
		return -EFAULT;
	memdesc->size = size;
	memdesc->page_count = size >> PAGE_SHIFT;
	memdesc->flags |= KGSL_MEMFLAGS_USERMEM_ADDR;
	memdesc->pages = kvcalloc(memdesc->page_count, sizeof(struct page *),
				  GFP_KERNEL | __GFP_NOWARN);
	memdesc->sgt = kzalloc(sizeof(*memdesc->sgt), GFP_KERNEL);
	if (!memdesc->pages || !memdesc->sgt) {
		ret = -ENOMEM;
		goto free;
	}
	ret = pin_pages(memdesc, addr);
	if (ret)
		goto free;
	ret = sg_alloc_table_from_pages(memdesc->sgt, memdesc->pages,
					memdesc->page_count, 0, size,
					GFP_KERNEL);
	if (ret) {
		unpin_user_pages(memdesc->pages, memdesc->page_count);
		goto free;
	}
	memdesc->ops = &user_ops;
	return 0;

free:
	kfree(memdesc->sgt);
	kvfree(memdesc->pages);
	return ret;
}
