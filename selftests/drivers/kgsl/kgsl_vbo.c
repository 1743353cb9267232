// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual objects: addresses of the GPU without memory, to whose ranges
 * entries are bound. A bound entry stays until it is unbound.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "kgsl_sharedmem.h"

/* Bytes from @start to before @end are those of @child, from @offset on. */
struct kgsl_range {
	u64 start;
	u64 end;
	u64 offset;
	struct kgsl_mem_entry *child;
	struct list_head node;
};

static struct kgsl_range *new_range(void)
{
	return kzalloc(sizeof(struct kgsl_range), GFP_KERNEL);
}

/* The child goes with the reference of whoever has it last. */
static void drop_range(struct kgsl_range *range)
{
	list_del(&range->node);
	atomic_dec(&range->child->vbo_count);
	kgsl_mem_entry_put_deferred(range->child);
	kfree(range);
}

static void hold_child(struct kgsl_range *range)
{
	kref_get(&range->child->refcount);
	atomic_inc(&range->child->vbo_count);
}

static void vbo_free(struct kgsl_memdesc *memdesc)
{
	struct kgsl_range *range, *next;

	list_for_each_entry_safe(range, next, &memdesc->ranges, node)
		drop_range(range);
}

static const struct kgsl_memdesc_ops vbo_ops = {
	.free = vbo_free,
	.put_gpuaddr = kgsl_unmap_and_put_gpuaddr,
};

int kgsl_allocate_vbo(struct kgsl_memdesc *memdesc, u64 size, u64 flags)
{
	kgsl_memdesc_init(memdesc, flags);
	memdesc->size = size;
	memdesc->ops = &vbo_ops;
	return 0;
}

/*
 * Unbinds what is between @start and @end, of @child only if there is one. A
 * range that has both ends outside becomes two: *@spare is the second.
 */
static void remove_ranges(struct kgsl_memdesc *memdesc, u64 start, u64 end,
			  struct kgsl_mem_entry *child,
			  struct kgsl_range **spare)
{
	struct kgsl_range *range, *next;

	list_for_each_entry_safe(range, next, &memdesc->ranges, node) {
		if (range->end <= start || range->start >= end ||
		    (child && range->child != child))
			continue;
		if (range->start < start && range->end > end) {
			**spare = *range;
			(*spare)->offset += end - range->start;
			(*spare)->start = end;
			hold_child(*spare);
			list_add(&(*spare)->node, &range->node);
			*spare = NULL;
			range->end = start;
		} else if (range->start < start) {
			range->end = start;
		} else if (range->end > end) {
			range->offset += end - range->start;
			range->start = end;
		} else {
			drop_range(range);
		}
	}
}

static bool range_fits(u64 offset, u64 length, const struct kgsl_memdesc *memdesc)
{
	return PAGE_ALIGNED(offset) && PAGE_ALIGNED(length) && length &&
	       length <= memdesc->size && offset <= memdesc->size - length;
}

static long bind(struct kgsl_memdesc *target, struct kgsl_mem_entry *child,
		 const struct kgsl_gpumem_bind_range *param)
{
	u64 end = param->target_offset + param->length;
	struct kgsl_range *range = NULL, *spare = new_range();

	if (param->op == KGSL_GPUMEM_RANGE_OP_BIND)
		range = new_range();
	if (!spare || (param->op == KGSL_GPUMEM_RANGE_OP_BIND && !range)) {
		kfree(spare);
		kfree(range);
		return -ENOMEM;
	}
	mutex_lock(&target->ranges_lock);
	remove_ranges(target, param->target_offset, end,
		      range ? NULL : child, &spare);
	if (range) {
		range->start = param->target_offset;
		range->end = end;
		range->offset = param->child_offset;
		range->child = child;
		hold_child(range);
		list_add(&range->node, &target->ranges);
	}
	mutex_unlock(&target->ranges_lock);
	kfree(spare);
	return 0;
}

/*
 * -EINVAL: no virtual object, no such entry, a range that is not within both,
 * or another operation. Without child_id, whatever is there is unbound.
 */
long kgsl_vbo_bind(struct kgsl_process_private *private,
		   struct kgsl_mem_entry *target,
		   const struct kgsl_gpumem_bind_range *param)
{
	bool unbind = param->op == KGSL_GPUMEM_RANGE_OP_UNBIND;
	struct kgsl_mem_entry *child = NULL;
	long ret = -EINVAL;

	if (!(target->memdesc.flags & KGSL_MEMFLAGS_VBO) ||
	    (!unbind && param->op != KGSL_GPUMEM_RANGE_OP_BIND) ||
	    !range_fits(param->target_offset, param->length, &target->memdesc))
		return -EINVAL;
	if (!unbind || param->child_id) {
		child = kgsl_sharedmem_find_id(private, param->child_id);
		if (!child)
			return -EINVAL;
	}
	if (unbind ||
	    (!(child->memdesc.flags & KGSL_MEMFLAGS_VBO) &&
	     kgsl_memdesc_is_secured(&child->memdesc) ==
	     kgsl_memdesc_is_secured(&target->memdesc) &&
	     range_fits(param->child_offset, param->length, &child->memdesc)))
		ret = bind(&target->memdesc, child, param);
	kgsl_mem_entry_put(child);
	return ret;
}

void kgsl_vbo_print(struct seq_file *seq, struct kgsl_mem_entry *entry,
		    unsigned int id)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	struct kgsl_range *range;

	seq_printf(seq, "vbo %u size %llu\n", id, memdesc->size);
	mutex_lock(&memdesc->ranges_lock);
	list_for_each_entry(range, &memdesc->ranges, node)
		seq_printf(seq, "  start %llu end %llu child %u offset %llu\n",
			   range->start, range->end, range->child->id,
			   range->offset);
	mutex_unlock(&memdesc->ranges_lock);
}
