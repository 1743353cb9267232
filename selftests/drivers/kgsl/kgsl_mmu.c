// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a size to an address of the GPU, and from what is mapped there to the
 * tracepoint gpu_mem_total, as KGSL calls it: a process's number has what it
 * imported, its own pinned memory and guard pages in it, but nothing secure
 * and nothing virtual; the total has each DMA-BUF once, and what is secure.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#ifdef CONFIG_TRACE_GPU_MEM
#include <trace/events/gpu_mem.h>
#endif

#include "kgsl_sharedmem.h"

struct va_range {
	u64 start;
	u64 end;
};

/* All but the low ones are above those that a process itself may have. */
static struct va_range va_range(u64 flags)
{
	if (flags & KGSL_MEMFLAGS_SECURE)
		return (struct va_range){ BIT_ULL(53), BIT_ULL(54) };
	if (flags & KGSL_MEMFLAGS_FORCE_32BIT)
		return (struct va_range){ SZ_256M, 0xf0000000 };
	return (struct va_range){ BIT_ULL(54), BIT_ULL(56) };
}

u64 kgsl_mmu_va_size(u64 flags)
{
	struct va_range range = va_range(flags);

	return range.end - range.start;
}

void kgsl_mmu_init(struct kgsl_pagetable *pagetable, unsigned int name)
{
	pagetable->name = name;
	mutex_init(&pagetable->lock);
	INIT_LIST_HEAD(&pagetable->regions);
	atomic_long_set(&pagetable->mapped, 0);
}

/* The first gap that is large enough; the list is sorted. */
int kgsl_mmu_get_gpuaddr(struct kgsl_pagetable *pagetable,
			 struct kgsl_memdesc *memdesc)
{
	u64 align = BIT_ULL(max(kgsl_memdesc_get_align(memdesc), PAGE_SHIFT));
	struct va_range range = va_range(memdesc->flags);
	u64 addr = ALIGN(range.start, align);
	u64 size = kgsl_memdesc_footprint(memdesc);
	struct kgsl_memdesc *next;
	int ret = 0;

	mutex_lock(&pagetable->lock);
	list_for_each_entry(next, &pagetable->regions, node) {
		if (addr < next->gpuaddr && next->gpuaddr - addr >= size)
			break;
		addr = max(addr, ALIGN(next->gpuaddr +
				       kgsl_memdesc_footprint(next), align));
	}
	if (addr >= range.end || range.end - addr < size) {
		ret = -ENOMEM;
	} else {
		memdesc->gpuaddr = addr;
		memdesc->pagetable = pagetable;
		list_add_tail(&memdesc->node, &next->node);
	}
	mutex_unlock(&pagetable->lock);
	return ret;
}

/* At an address of the process's own. */
int kgsl_mmu_set_gpuaddr(struct kgsl_pagetable *pagetable,
			 struct kgsl_memdesc *memdesc, u64 gpuaddr)
{
	u64 end = gpuaddr + kgsl_memdesc_footprint(memdesc);
	struct kgsl_memdesc *next;
	int ret = 0;

	mutex_lock(&pagetable->lock);
	list_for_each_entry(next, &pagetable->regions, node) {
		if (end <= next->gpuaddr)
			break;
		if (gpuaddr < next->gpuaddr + kgsl_memdesc_footprint(next)) {
			ret = -EBUSY;
			break;
		}
	}
	if (!ret) {
		memdesc->gpuaddr = gpuaddr;
		memdesc->pagetable = pagetable;
		list_add_tail(&memdesc->node, &next->node);
	}
	mutex_unlock(&pagetable->lock);
	return ret;
}

void kgsl_mmu_put_gpuaddr(struct kgsl_memdesc *memdesc)
{
	mutex_lock(&memdesc->pagetable->lock);
	list_del(&memdesc->node);
	mutex_unlock(&memdesc->pagetable->lock);
	memdesc->gpuaddr = 0;
	memdesc->pagetable = NULL;
}

static void trace_total(unsigned int pid, u64 size)
{
#ifdef CONFIG_TRACE_GPU_MEM
	trace_gpu_mem_total(0, pid, size);
#endif
}

void kgsl_trace_gpu_mem_total(struct kgsl_device *device, s64 delta)
{
	trace_total(0, atomic64_add_return(delta, &device->total_mapped));
}

static void trace_mapped(struct kgsl_memdesc *memdesc, s64 delta)
{
	struct kgsl_pagetable *pagetable = memdesc->pagetable;
	long mapped = atomic_long_add_return(delta, &pagetable->mapped);

	if (pagetable->name != KGSL_MMU_GLOBAL_PT &&
	    pagetable->name != KGSL_MMU_SECURE_PT)
		trace_total(pagetable->name, mapped);
	/* A DMA-BUF is in the total since somebody first imported it. */
	if (!(memdesc->flags & KGSL_MEMFLAGS_USERMEM_ION))
		kgsl_trace_gpu_mem_total(kgsl_driver.devp[0], delta);
}

void kgsl_mmu_map(struct kgsl_memdesc *memdesc)
{
	if (memdesc->flags & KGSL_MEMFLAGS_VBO ||
	    memdesc->priv & KGSL_MEMDESC_MAPPED)
		return;
	memdesc->priv |= KGSL_MEMDESC_MAPPED;
	trace_mapped(memdesc, kgsl_memdesc_footprint(memdesc));
}

void kgsl_mmu_unmap(struct kgsl_memdesc *memdesc)
{
	if (!(memdesc->priv & KGSL_MEMDESC_MAPPED))
		return;
	memdesc->priv &= ~KGSL_MEMDESC_MAPPED;
	trace_mapped(memdesc, -(s64)kgsl_memdesc_footprint(memdesc));
}
