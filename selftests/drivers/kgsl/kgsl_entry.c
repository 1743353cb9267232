// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of an entry: it gets an address and a slot, is committed to the
 * slot, mapped, freed by user space, and destroyed with its last reference.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "../../../module/compat.h"
#include "kgsl_sharedmem.h"

static bool hold_commit;
static DECLARE_WAIT_QUEUE_HEAD(commit_queue);

static int hold_commit_set(const char *val, const struct kernel_param *param)
{
	int ret = param_set_bool(val, param);

	wake_up_all(&commit_queue);
	return ret;
}

static const struct kernel_param_ops hold_commit_ops = {
	.set = hold_commit_set,
	.get = param_get_bool,
};

module_param_cb(hold_commit, &hold_commit_ops, &hold_commit, 0600);
MODULE_PARM_DESC(hold_commit, "while 1, new entries stay uncommitted: the moment between having a slot and being in it");

struct kgsl_mem_entry *kgsl_mem_entry_create(void)
{
	struct kgsl_mem_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return NULL;
	kref_init(&entry->refcount);
	/* User space's, beside that of the system call at work. */
	kref_get(&entry->refcount);
	return entry;
}

static const struct file_operations pin_fops = {
	.owner = THIS_MODULE,
};

/*
 * A mapping of a shmem file does not hold the module whose operations it has.
 * The file system lets go of a file that does, and not before we are done.
 */
int kgsl_entry_pin(struct kgsl_mem_entry *entry)
{
	struct file *pin = anon_inode_getfile("[kgsl]", &pin_fops, NULL, 0);

	if (IS_ERR(pin))
		return PTR_ERR(pin);
	entry->pin = pin;
	return 0;
}

static void add_stats(struct kgsl_process_private *process, unsigned int type,
		      u64 size)
{
	u64 now;

	spin_lock(&process->mem_lock);
	now = atomic64_add_return(size, &process->stats[type].cur);
	WRITE_ONCE(process->stats[type].max,
		   max(now, process->stats[type].max));
	spin_unlock(&process->mem_lock);
}

/*
 * An address and an empty slot for @entry, and its size in the statistics.
 * Where it fails, @entry still is the caller's.
 */
int kgsl_mem_entry_attach(struct kgsl_process_private *process,
			  struct kgsl_mem_entry *entry)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	unsigned int type = kgsl_memdesc_usermem_type(memdesc);
	struct kgsl_pagetable *pagetable = process->pagetable;
	int ret;

	if (!kgsl_process_private_get(process))
		return -EBADF;
	if (kgsl_memdesc_is_secured(memdesc))
		pagetable = &kgsl_driver.devp[0]->securepagetable;
	/* That where the process will have it waits for mmap(). */
	if (!kgsl_memdesc_use_cpu_map(memdesc)) {
		ret = kgsl_mmu_get_gpuaddr(pagetable, memdesc);
		if (ret)
			goto put;
	}

	idr_preload(GFP_KERNEL);
	spin_lock(&process->mem_lock);
	ret = idr_alloc(&process->mem_idr, NULL, 1, 0, GFP_NOWAIT);
	spin_unlock(&process->mem_lock);
	idr_preload_end();
	if (ret < 0)
		goto put;
	entry->id = ret;
	entry->priv = process;

	if (memdesc->gpuaddr)
		kgsl_mmu_map(memdesc);
	if (!(memdesc->flags & KGSL_MEMFLAGS_VBO))
		add_stats(process, type, memdesc->size);
	if (type != KGSL_MEM_ENTRY_KERNEL)
		KGSL_STATS_ADD(memdesc->size, &kgsl_driver.stats.mapped,
			       &kgsl_driver.stats.mapped_max);
	return 0;

put:
	kgsl_unmap_and_put_gpuaddr(memdesc);
	kgsl_process_private_put(process);
	return ret;
}

/* From here on others find the entry. */
void kgsl_mem_entry_commit(struct kgsl_mem_entry *entry)
{
	/* Who is killed meanwhile has waited enough. */
	if (wait_event_killable(commit_queue, !READ_ONCE(hold_commit)))
		pr_debug("not held any longer\n");
	spin_lock(&entry->priv->mem_lock);
	idr_replace(&entry->priv->mem_idr, entry, entry->id);
	spin_unlock(&entry->priv->mem_lock);
}

static void entry_destroy(struct kgsl_mem_entry *entry)
{
	struct kgsl_process_private *process = entry->priv;
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	unsigned int type = kgsl_memdesc_usermem_type(memdesc);

	if (!(memdesc->flags & KGSL_MEMFLAGS_VBO))
		atomic64_sub(memdesc->size, &process->stats[type].cur);

	spin_lock(&process->mem_lock);
	idr_remove(&process->mem_idr, entry->id);
	entry->id = 0;
	spin_unlock(&process->mem_lock);

	if (type != KGSL_MEM_ENTRY_KERNEL)
		atomic_long_sub(memdesc->size, &kgsl_driver.stats.mapped);
	if (memdesc->priv & KGSL_MEMDESC_RECLAIMED)
		atomic_sub(memdesc->page_count, &process->unpinned_page_count);
	kgsl_sharedmem_free(memdesc);
	kgsl_process_private_put(process);
	if (entry->pin)
		fput(entry->pin);
	kfree(entry);
}

void kgsl_mem_entry_destroy(struct kref *kref)
{
	entry_destroy(container_of(kref, struct kgsl_mem_entry, refcount));
}

static void destroy_work(struct work_struct *work)
{
	entry_destroy(container_of(work, struct kgsl_mem_entry, work));
}

void kgsl_mem_entry_destroy_deferred(struct kref *kref)
{
	struct kgsl_mem_entry *entry =
		container_of(kref, struct kgsl_mem_entry, refcount);

	INIT_WORK(&entry->work, destroy_work);
	queue_work(kgsl_driver.lockless_workqueue, &entry->work);
}

/* True for the one who may give user space's reference back. */
bool kgsl_mem_entry_set_pend(struct kgsl_mem_entry *entry)
{
	bool first;

	spin_lock(&entry->priv->mem_lock);
	first = !entry->pending_free;
	entry->pending_free = 1;
	spin_unlock(&entry->priv->mem_lock);
	return first;
}

struct kgsl_mem_entry *kgsl_sharedmem_find(struct kgsl_process_private *private,
					   u64 gpuaddr)
{
	struct kgsl_mem_entry *entry, *found = NULL;
	int id;

	spin_lock(&private->mem_lock);
	idr_for_each_entry(&private->mem_idr, entry, id) {
		u64 start = entry->memdesc.gpuaddr;

		if (!start || gpuaddr < start ||
		    gpuaddr - start >= entry->memdesc.size)
			continue;
		if (!entry->pending_free) {
			found = kgsl_mem_entry_get(entry);
			if (found)
				break;
		}
	}
	spin_unlock(&private->mem_lock);
	return found;
}

struct kgsl_mem_entry *
kgsl_sharedmem_find_id(struct kgsl_process_private *process, unsigned int id)
{
	struct kgsl_mem_entry *entry;

	spin_lock(&process->mem_lock);
	entry = idr_find(&process->mem_idr, id);
	if (entry && entry->pending_free)
		entry = NULL;
	entry = kgsl_mem_entry_get(entry);
	spin_unlock(&process->mem_lock);
	return entry;
}

/*
 * The first entry from *@id on, with a reference, and *@id behind it. To be
 * put by kgsl_mem_entry_put_deferred() where a file of the process is read:
 * the last reference removes these.
 */
struct kgsl_mem_entry *kgsl_mem_entry_next(struct kgsl_process_private *private,
					   int *id)
{
	struct kgsl_mem_entry *entry;

	spin_lock(&private->mem_lock);
	do {
		entry = idr_get_next(&private->mem_idr, id);
		(*id)++;
	} while (entry && !kgsl_mem_entry_get(entry));
	spin_unlock(&private->mem_lock);
	return entry;
}

/*
 * Mappings
 */

static void gpumem_vm_open(struct vm_area_struct *vma)
{
	struct kgsl_mem_entry *entry = vma->vm_private_data;

	kref_get(&entry->refcount);
	atomic_inc(&entry->map_count);
}

/*
 * Under the mmap lock, which may not be held while directories are removed: a
 * reader of one holds its lock and may need the mmap lock for its buffer.
 */
static void gpumem_vm_close(struct vm_area_struct *vma)
{
	struct kgsl_mem_entry *entry = vma->vm_private_data;

	if (atomic_dec_and_test(&entry->map_count))
		atomic64_sub(entry->memdesc.size, &entry->priv->gpumem_mapped);
	kgsl_mem_entry_put_deferred(entry);
}

static vm_fault_t gpumem_vm_fault(struct vm_fault *vmf)
{
	struct kgsl_mem_entry *entry = vmf->vma->vm_private_data;

	return entry->memdesc.ops->vmfault(&entry->memdesc, vmf->vma, vmf);
}

const struct vm_operations_struct kgsl_gpumem_vm_ops = {
	.open = gpumem_vm_open,
	.close = gpumem_vm_close,
	.fault = gpumem_vm_fault,
};

static int may_mmap(struct kgsl_mem_entry *entry, struct vm_area_struct *vma)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	unsigned long len = vma->vm_end - vma->vm_start;

	if (kgsl_memdesc_is_secured(memdesc))
		return -EPERM;
	if (kgsl_memdesc_usermem_type(memdesc) == KGSL_MEM_ENTRY_USER)
		return -EBUSY;
	if (!memdesc->ops->vmflags)
		return -EINVAL;
	if (len != kgsl_memdesc_footprint(memdesc) &&
	    (kgsl_memdesc_use_cpu_map(memdesc) || len != memdesc->size))
		return -ERANGE;
	/* Page frames cannot be copied on write. */
	if (memdesc->ops->vmflags & VM_PFNMAP && !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	return 0;
}

/* The GPU has it where the process has it first. */
static int map_svm(struct kgsl_mem_entry *entry, unsigned long addr)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	int ret = -EBUSY;

	mutex_lock(&memdesc->lock);
	if (!memdesc->gpuaddr)
		ret = kgsl_mmu_set_gpuaddr(entry->priv->pagetable, memdesc,
					   addr);
	if (!ret)
		kgsl_mmu_map(memdesc);
	mutex_unlock(&memdesc->lock);
	return ret;
}

/* Cached memory is mapped at once; what fails here comes by faults. */
static void map_ahead(struct kgsl_mem_entry *entry, struct vm_area_struct *vma)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	int mode = kgsl_memdesc_get_cachemode(memdesc);
	unsigned long addr = vma->vm_start;
	unsigned int i;

	if (mode != KGSL_CACHEMODE_WRITEBACK &&
	    mode != KGSL_CACHEMODE_WRITETHROUGH)
		return;
	mutex_lock(&memdesc->lock);
	for (i = 0; memdesc->pages && i < memdesc->page_count; i++) {
		if (vm_insert_page(vma, addr, memdesc->pages[i]))
			break;
		addr += PAGE_SIZE;
	}
	mutex_unlock(&memdesc->lock);
}

int kgsl_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kgsl_device_private *dev_priv = file->private_data;
	struct kgsl_process_private *private = dev_priv->process_priv;
	struct kgsl_mem_entry *entry = NULL;
	struct kgsl_memdesc *memdesc;
	int ret;

	if (vma->vm_pgoff <= UINT_MAX)
		entry = kgsl_sharedmem_find_id(private, vma->vm_pgoff);
	if (!entry)
		entry = kgsl_sharedmem_find(private,
					    (u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!entry)
		return -EINVAL;
	memdesc = &entry->memdesc;
	ret = may_mmap(entry, vma);
	if (!ret && kgsl_memdesc_use_cpu_map(memdesc))
		ret = map_svm(entry, vma->vm_start);
	if (ret) {
		/* Not the last one, unless somebody frees it just now. */
		kgsl_mem_entry_put_deferred(entry);
		return ret;
	}

	memledger_vma_flags_set(vma, memdesc->ops->vmflags);
	vma->vm_private_data = entry;
	vma->vm_ops = &kgsl_gpumem_vm_ops;
	/* It named the entry; from here on it is the offset in that. */
	vma->vm_pgoff = 0;
	if (memdesc->shmem_filp)
		vma_set_file(vma, memdesc->shmem_filp);
	if (atomic_inc_return(&entry->map_count) == 1)
		atomic64_add(memdesc->size, &private->gpumem_mapped);
	map_ahead(entry, vma);
	return 0;
}
