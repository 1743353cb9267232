// SPDX-License-Identifier: GPL-2.0-only
/*
 * From KGSL's memory entries to memledger's records. This file becomes a part
 * of Qualcomm's msm_kgsl: it is compiled there, against the headers of that
 * very driver, so that no struct is looked into by guess. docs/providers.rst
 * has the lines to add.
 *
 * With MEMLEDGER_KGSL_COUNTS_IMPORTERS defined it expects the
 * kgsl_get_egl_counts() of Google's trees, which counts all imports too.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>

#include <memledger/provider.h>

#include "kgsl_device.h"
#include "kgsl_sharedmem.h"
#include "memledger_kgsl.h"

static struct platform_device *memledger_kgsl_device;

static int memledger_kgsl_total(u64 *bytes)
{
	*bytes = (u64)atomic_long_read(&kgsl_driver.stats.page_alloc) +
		 atomic_long_read(&kgsl_driver.stats.coherent) +
		 atomic_long_read(&kgsl_driver.stats.secure);
	return 0;
}

/* That of @pid with a reference; NULL if it does not use the GPU. */
static struct kgsl_process_private *memledger_kgsl_find(struct pid *pid)
{
	struct kgsl_process_private *p, *private = NULL;

	read_lock(&kgsl_driver.proclist_lock);
	list_for_each_entry(p, &kgsl_driver.process_list, list) {
		/* One that is going may still be in the list. */
		if (p->pid == pid && kgsl_process_private_get(p)) {
			private = p;
			break;
		}
	}
	read_unlock(&kgsl_driver.proclist_lock);
	return private;
}

/* The first entry from *@id on, with a reference; *@id becomes its. */
static struct kgsl_mem_entry *
memledger_kgsl_next(struct kgsl_process_private *private, int *id)
{
	struct kgsl_mem_entry *entry;

	spin_lock(&private->mem_lock);
	/* Slots without an entry yet are passed over; so must be dying ones. */
	while ((entry = idr_get_next(&private->mem_idr, id)) &&
	       !kgsl_mem_entry_get(entry))
		(*id)++;
	spin_unlock(&private->mem_lock);
	return entry;
}

static u16 memledger_kgsl_usage(unsigned int memtype)
{
	if (memtype <= KGSL_MEMTYPE_MULTISAMPLE)
		return memtype;
	return memtype == KGSL_MEMTYPE_KERNEL ? MEMLEDGER_GPU_KERNEL :
	       MEMLEDGER_GPU_OTHER;
}

/* Who else has imported the DMA-BUF of @entry. */
static void memledger_kgsl_count(struct kgsl_process_private *private,
				 struct kgsl_mem_entry *entry,
				 struct memledger_gpu_entry *record)
{
	int surfaces = 0, images = 0;
#ifdef MEMLEDGER_KGSL_COUNTS_IMPORTERS
	int importers = 0;

	kgsl_get_egl_counts(entry, &surfaces, &images, &importers);
	record->importers = importers;
	if (kgsl_find_dmabuf_allocator(entry) == private)
		record->flags |= MEMLEDGER_GPU_ALLOCATOR;
#else
	kgsl_get_egl_counts(entry, &surfaces, &images);
#endif
	record->surfaces = surfaces;
	record->images = images;
	record->dmabuf_ino = kgsl_get_dmabuf_inode_number(entry);
}

static void memledger_kgsl_record(struct kgsl_process_private *private,
				  struct kgsl_mem_entry *entry, int id,
				  struct memledger_gpu_entry *record)
{
	const struct kgsl_memdesc *memdesc = &entry->memdesc;
	/* User space may set the type, and KGSL reclaim, at any moment. */
	unsigned int priv = READ_ONCE(memdesc->priv);
	u64 flags = READ_ONCE(memdesc->flags);

	*record = (struct memledger_gpu_entry){
		.id = id,
		.size = memdesc->size,
		.usage = memledger_kgsl_usage(kgsl_memdesc_get_memtype(memdesc)),
	};
	if (flags & KGSL_MEMFLAGS_VBO)
		record->flags |= MEMLEDGER_GPU_VIRTUAL;
	if (priv & KGSL_MEMDESC_SECURE)
		record->flags |= MEMLEDGER_GPU_SECURE;
	if (priv & KGSL_MEMDESC_RECLAIMED)
		record->flags |= MEMLEDGER_GPU_RECLAIMED;
	/* The count is of mappings, and each is of all of it. */
	if (atomic_read(&entry->map_count) > 0)
		record->mapped = memdesc->size;

	switch (kgsl_memdesc_usermem_type(memdesc)) {
	case KGSL_MEM_ENTRY_KERNEL:
		record->kind = MEMLEDGER_GPU_DRIVER;
		/* Pages are mapped as such, contiguous memory as page frames. */
		if (memdesc->ops && memdesc->ops->vmflags & VM_MIXEDMAP)
			record->flags |= MEMLEDGER_GPU_IN_RSS;
		break;
	case KGSL_MEM_ENTRY_ION:
		record->kind = MEMLEDGER_GPU_DMABUF;
		record->flags |= MEMLEDGER_GPU_IMPORTED;
		memledger_kgsl_count(private, entry, record);
		break;
	default:
		record->kind = MEMLEDGER_GPU_USER;
		record->flags |= MEMLEDGER_GPU_IMPORTED | MEMLEDGER_GPU_IN_RSS;
		break;
	}
}

/*
 * No lock is held where @fn is called and where an entry is put, which may
 * destroy it, and sleeps then. The process outlives its entries here, so that
 * its files are removed by the very last line.
 */
static int memledger_kgsl_entries(struct pid *pid, memledger_gpu_entry_fn fn,
				  void *arg)
{
	struct kgsl_process_private *private = memledger_kgsl_find(pid);
	struct memledger_gpu_entry record;
	struct kgsl_mem_entry *entry;
	int ret = 0;
	int id;

	if (!private)
		return 0;
	for (id = 1; (entry = memledger_kgsl_next(private, &id)); id++) {
		memledger_kgsl_record(private, entry, id, &record);
		kgsl_mem_entry_put(entry);
		ret = fn(arg, &record);
		if (ret)
			break;
	}
	kgsl_process_private_put(private);
	return ret;
}

/**
 * memledger_kgsl_register - let memledger ask, now or when it is loaded
 * @parent: the device to be the parent of the one that memledger binds to, or
 *	NULL
 *
 * Context: process context, once KGSL's lists and locks are ready.
 * Return: 0; -ENOMEM, or another errno of platform_device_register().
 */
int memledger_kgsl_register(struct device *parent)
{
	static const struct memledger_provider_ops ops = {
		.version = MEMLEDGER_PROVIDER_VERSION,
		.size = sizeof(ops),
		.name = "kgsl",
		.total = memledger_kgsl_total,
		.entries = memledger_kgsl_entries,
	};
	struct platform_device *pdev;

	pdev = platform_device_register_data(parent, MEMLEDGER_PROVIDER_DEVICE,
					     PLATFORM_DEVID_AUTO, &ops,
					     sizeof(ops));
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	memledger_kgsl_device = pdev;
	return 0;
}

/**
 * memledger_kgsl_unregister - stop memledger from asking
 *
 * When it returns nobody is in this file, nor will be. It may be called where
 * memledger_kgsl_register() has failed or was never called.
 *
 * Context: process context, with no lock held that destroying an entry or a
 * process takes.
 */
void memledger_kgsl_unregister(void)
{
	platform_device_unregister(memledger_kgsl_device);
	memledger_kgsl_device = NULL;
}
