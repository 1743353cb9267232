// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a DMA-BUF's fd to an entry that imports it, and from an entry to all
 * imports of the same buffer, in any process: what it is divided by.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "kgsl_sharedmem.h"

/* What MODULE_IMPORT_NS() makes, whose argument became a string in 6.13. */
MODULE_INFO(import_ns, "DMA_BUF");

/* Protects the list and all in it. */
static DEFINE_SPINLOCK(kgsl_dmabuf_lock);
static LIST_HEAD(kgsl_dmabuf_list);

/* A buffer, known by its first page, and its imports, the oldest first. */
struct dmabuf_list_entry {
	struct page *firstpage;
	struct list_head node;
	struct list_head imports;
};

struct kgsl_dma_buf_meta {
	struct kgsl_mem_entry *entry;
	struct dma_buf_attachment *attach;
	struct dma_buf *dmabuf;
	struct sg_table *table;
	struct dmabuf_list_entry *dle;
	struct list_head node;
};

static int add_import(struct kgsl_dma_buf_meta *meta)
{
	struct page *page = sg_page(meta->table->sgl);
	struct dmabuf_list_entry *dle, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	spin_lock(&kgsl_dmabuf_lock);
	list_for_each_entry(dle, &kgsl_dmabuf_list, node)
		if (dle->firstpage == page)
			goto found;
	dle = new;
	new = NULL;
	dle->firstpage = page;
	INIT_LIST_HEAD(&dle->imports);
	list_add(&dle->node, &kgsl_dmabuf_list);
	/* As KGSL does it: with a spinlock held. */
	kgsl_trace_gpu_mem_total(kgsl_driver.devp[0],
				 meta->entry->memdesc.size);
found:
	meta->dle = dle;
	list_add_tail(&meta->node, &dle->imports);
	spin_unlock(&kgsl_dmabuf_lock);
	kfree(new);
	return 0;
}

static void remove_import(struct kgsl_dma_buf_meta *meta)
{
	struct dmabuf_list_entry *dle = meta->dle;

	spin_lock(&kgsl_dmabuf_lock);
	list_del(&meta->node);
	if (list_empty(&dle->imports)) {
		list_del(&dle->node);
		kfree(dle);
		kgsl_trace_gpu_mem_total(kgsl_driver.devp[0],
					 -(s64)meta->entry->memdesc.size);
	}
	spin_unlock(&kgsl_dmabuf_lock);
}

/* With the lock, which newer kernels want to be held and older ones allow. */
static struct sg_table *map_attachment(struct dma_buf_attachment *attach)
{
	struct sg_table *table;

	dma_resv_lock(attach->dmabuf->resv, NULL);
	table = dma_buf_map_attachment(attach, DMA_BIDIRECTIONAL);
	dma_resv_unlock(attach->dmabuf->resv);
	return table ?: ERR_PTR(-ENOMEM);
}

static void unmap_attachment(struct kgsl_dma_buf_meta *meta)
{
	dma_resv_lock(meta->dmabuf->resv, NULL);
	dma_buf_unmap_attachment(meta->attach, meta->table, DMA_BIDIRECTIONAL);
	dma_resv_unlock(meta->dmabuf->resv);
}

static void dmabuf_free(struct kgsl_memdesc *memdesc)
{
	struct kgsl_mem_entry *entry =
		container_of(memdesc, struct kgsl_mem_entry, memdesc);
	struct kgsl_dma_buf_meta *meta = entry->priv_data;

	remove_import(meta);
	unmap_attachment(meta);
	dma_buf_detach(meta->dmabuf, meta->attach);
	dma_buf_put(meta->dmabuf);
	kfree(meta);
	memdesc->sgt = NULL;
	entry->priv_data = NULL;
}

static const struct kgsl_memdesc_ops dmabuf_ops = {
	.free = dmabuf_free,
	.put_gpuaddr = kgsl_unmap_and_put_gpuaddr,
};

static int map_dmabuf(struct kgsl_mem_entry *entry,
		      struct kgsl_dma_buf_meta *meta)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	struct scatterlist *sg;
	u64 size = 0;
	int i, ret;

	meta->attach = dma_buf_attach(meta->dmabuf, kgsl_driver.devp[0]->dev);
	if (IS_ERR(meta->attach))
		return PTR_ERR(meta->attach);
	meta->table = map_attachment(meta->attach);
	if (IS_ERR(meta->table)) {
		ret = PTR_ERR(meta->table);
		goto detach;
	}
	for_each_sgtable_sg(meta->table, sg, i)
		size += sg->length;
	ret = size ? 0 : -EINVAL;
	if (ret)
		goto unmap;
	memdesc->size = PAGE_ALIGN(size);
	memdesc->sgt = meta->table;
	ret = add_import(meta);
	if (ret)
		goto unmap;
	return 0;

unmap:
	unmap_attachment(meta);
detach:
	dma_buf_detach(meta->dmabuf, meta->attach);
	return ret;
}

/* The memdesc of @entry is initialized, and has its type. */
int kgsl_import_dmabuf(struct kgsl_mem_entry *entry, int fd)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	struct kgsl_dma_buf_meta *meta;
	int ret;

	meta = kzalloc(sizeof(*meta), GFP_KERNEL);
	if (!meta)
		return -ENOMEM;
	meta->entry = entry;
	meta->dmabuf = dma_buf_get(fd);
	if (IS_ERR(meta->dmabuf)) {
		ret = PTR_ERR(meta->dmabuf);
		goto free;
	}
	memdesc->flags |= KGSL_MEMFLAGS_USERMEM_ION;
	ret = map_dmabuf(entry, meta);
	if (ret)
		goto put;
	entry->priv_data = meta;
	memdesc->ops = &dmabuf_ops;
	return 0;

put:
	dma_buf_put(meta->dmabuf);
free:
	kfree(meta);
	return ret;
}

/* What imports @entry's buffer; of an entry that is an import. */
void kgsl_dmabuf_count(struct kgsl_mem_entry *entry,
		       struct kgsl_dmabuf_counts *counts)
{
	struct kgsl_dma_buf_meta *meta = entry->priv_data, *other;

	memset(counts, 0, sizeof(*counts));
	spin_lock(&kgsl_dmabuf_lock);
	list_for_each_entry(other, &meta->dle->imports, node) {
		if (!counts->total++)
			counts->first = other->entry->priv;
		switch (kgsl_memdesc_get_memtype(&other->entry->memdesc)) {
		case KGSL_MEMTYPE_SURFACE:
		case KGSL_MEMTYPE_EGL_SURFACE:
			counts->surfaces++;
			break;
		case KGSL_MEMTYPE_EGL_IMAGE:
			counts->images++;
			break;
		}
	}
	spin_unlock(&kgsl_dmabuf_lock);
}

#ifdef MEMLEDGER_KGSL_COUNTS_IMPORTERS
void kgsl_get_egl_counts(struct kgsl_mem_entry *entry, int *egl_surface_count,
			 int *egl_image_count, int *total_count)
{
	struct kgsl_dmabuf_counts counts;

	kgsl_dmabuf_count(entry, &counts);
	*egl_surface_count += counts.surfaces;
	*egl_image_count += counts.images;
	*total_count += counts.total;
}

/* Who imported it first; only to be compared with. */
struct kgsl_process_private *
kgsl_find_dmabuf_allocator(struct kgsl_mem_entry *entry)
{
	struct kgsl_dmabuf_counts counts;

	kgsl_dmabuf_count(entry, &counts);
	return counts.first;
}
#else
void kgsl_get_egl_counts(struct kgsl_mem_entry *entry, int *egl_surface_count,
			 int *egl_image_count)
{
	struct kgsl_dmabuf_counts counts;

	kgsl_dmabuf_count(entry, &counts);
	*egl_surface_count += counts.surfaces;
	*egl_image_count += counts.images;
}
#endif

unsigned long kgsl_get_dmabuf_inode_number(struct kgsl_mem_entry *entry)
{
	struct kgsl_dma_buf_meta *meta = entry->priv_data;

	return meta ? file_inode(meta->dmabuf->file)->i_ino : 0;
}
