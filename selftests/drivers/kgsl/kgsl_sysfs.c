// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's own files in sysfs, under KGSL's names: what a test compares
 * with, and what Qualcomm's memtrack HAL reads. Values are bytes.
 */
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "kgsl_sharedmem.h"

/*
 * Processes
 */

struct process_attribute {
	struct attribute attr;
	ssize_t (*show)(struct kgsl_process_private *private, int type,
			char *buf);
	ssize_t (*store)(struct kgsl_process_private *private, const char *buf,
			 size_t count);
	int type;
};

static ssize_t entry_show(struct kgsl_process_private *private, int type,
			  char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&private->stats[type].cur));
}

static ssize_t entry_max_show(struct kgsl_process_private *private, int type,
			      char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(private->stats[type].max));
}

enum imported_rule {
	RULE_SURFACE_FULL,
	RULE_SHARED,
	RULE_PIXEL,
};

static const char *const rule_names[] = {
	[RULE_SURFACE_FULL] = "surface-full",
	[RULE_SHARED] = "shared",
	[RULE_PIXEL] = "pixel",
};

static int imported_rule;

static int imported_rule_set(const char *val, const struct kernel_param *param)
{
	int rule = sysfs_match_string(rule_names, val);

	if (rule < 0)
		return rule;
	WRITE_ONCE(imported_rule, rule);
	return 0;
}

static int imported_rule_get(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%s\n", rule_names[READ_ONCE(imported_rule)]);
}

static const struct kernel_param_ops imported_rule_ops = {
	.set = imported_rule_set,
	.get = imported_rule_get,
};

module_param_cb(imported_rule, &imported_rule_ops, NULL, 0600);
MODULE_PARM_DESC(imported_rule, "how imported_mem divides a buffer: surface-full (KGSL up to 6.6), shared (6.12), pixel (Google's)");

static u64 share_pixel(struct kgsl_process_private *private,
		       struct kgsl_mem_entry *entry,
		       const struct kgsl_dmabuf_counts *counts)
{
	unsigned int memtype = kgsl_memdesc_get_memtype(&entry->memdesc);
	u64 size = entry->memdesc.size;

	if (memtype == KGSL_MEMTYPE_EGL_SURFACE)
		return div_u64(size, max(counts->surfaces, 1));
	if (counts->surfaces)
		return 0;
	/* Who allocates for others does not pay. */
	if (counts->total > 1 && counts->total != counts->images &&
	    memtype == KGSL_MEMTYPE_OBJECTANY)
		return counts->first == private ? 0 :
		       div_u64(size, counts->total - 1);
	return div_u64(size, max(counts->total, 1));
}

static u64 imported_share(struct kgsl_process_private *private,
			  struct kgsl_mem_entry *entry)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	struct kgsl_dmabuf_counts counts;

	kgsl_dmabuf_count(entry, &counts);
	switch (READ_ONCE(imported_rule)) {
	case RULE_SHARED:
		return div_u64(memdesc->size,
			       max(counts.surfaces + counts.images, 1));
	case RULE_PIXEL:
		return share_pixel(private, entry, &counts);
	}
	if (kgsl_memdesc_get_memtype(memdesc) == KGSL_MEMTYPE_EGL_SURFACE)
		return memdesc->size;
	if (counts.surfaces)
		return 0;
	return div_u64(memdesc->size, max(counts.images, 1));
}

static ssize_t imported_mem_show(struct kgsl_process_private *private, int type,
				 char *buf)
{
	struct kgsl_mem_entry *entry;
	u64 size = 0;
	int id = 0;

	while ((entry = kgsl_mem_entry_next(private, &id))) {
		if (kgsl_memdesc_usermem_type(&entry->memdesc) ==
		    KGSL_MEM_ENTRY_ION)
			size += imported_share(private, entry);
		kgsl_mem_entry_put_deferred(entry);
	}
	return sysfs_emit(buf, "%llu\n", size);
}

static ssize_t gpumem_mapped_show(struct kgsl_process_private *private,
				  int type, char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&private->gpumem_mapped));
}

static ssize_t gpumem_unmapped_show(struct kgsl_process_private *private,
				    int type, char *buf)
{
	u64 total = atomic64_read(&private->stats[type].cur);
	u64 mapped = atomic64_read(&private->gpumem_mapped);

	if (mapped > total)
		return -EIO;
	return sysfs_emit(buf, "%llu\n", total - mapped);
}

static ssize_t gpumem_reclaimed_show(struct kgsl_process_private *private,
				     int type, char *buf)
{
	u64 pages = atomic_read(&private->unpinned_page_count);

	return sysfs_emit(buf, "%llu\n", pages << PAGE_SHIFT);
}

static ssize_t state_show(struct kgsl_process_private *private, int type,
			  char *buf)
{
	return sysfs_emit(buf, "%s\n", READ_ONCE(private->background) ?
			  "background" : "foreground");
}

/* At once, where KGSL has a worker for it. */
static ssize_t state_store(struct kgsl_process_private *private,
			   const char *buf, size_t count)
{
	if (sysfs_streq(buf, "foreground")) {
		WRITE_ONCE(private->background, false);
		kgsl_process_restore(private);
	} else if (sysfs_streq(buf, "background")) {
		WRITE_ONCE(private->background, true);
		kgsl_process_reclaim(private);
	} else {
		return -EINVAL;
	}
	return count;
}

static ssize_t memtype_show(struct kgsl_process_private *private, int type,
			    char *buf)
{
	struct kgsl_mem_entry *entry;
	u64 size = 0;
	int id = 0;

	while ((entry = kgsl_mem_entry_next(private, &id))) {
		if (kgsl_memdesc_get_memtype(&entry->memdesc) == type)
			size += entry->memdesc.size;
		kgsl_mem_entry_put_deferred(entry);
	}
	return sysfs_emit(buf, "%llu\n", size);
}

#define PROCESS_ATTR(_id, _name, _show, _type)				\
	static struct process_attribute process_attr_##_id = {		\
		.attr = { .name = _name, .mode = 0444 },		\
		.show = _show,						\
		.type = _type,						\
	}

PROCESS_ATTR(kernel, "kernel", entry_show, KGSL_MEM_ENTRY_KERNEL);
PROCESS_ATTR(kernel_max, "kernel_max", entry_max_show, KGSL_MEM_ENTRY_KERNEL);
PROCESS_ATTR(user, "user", entry_show, KGSL_MEM_ENTRY_USER);
PROCESS_ATTR(user_max, "user_max", entry_max_show, KGSL_MEM_ENTRY_USER);
PROCESS_ATTR(ion, "ion", entry_show, KGSL_MEM_ENTRY_ION);
PROCESS_ATTR(ion_max, "ion_max", entry_max_show, KGSL_MEM_ENTRY_ION);
PROCESS_ATTR(imported_mem, "imported_mem", imported_mem_show, 0);
PROCESS_ATTR(gpumem_mapped, "gpumem_mapped", gpumem_mapped_show, 0);
PROCESS_ATTR(gpumem_unmapped, "gpumem_unmapped", gpumem_unmapped_show,
	     KGSL_MEM_ENTRY_KERNEL);
PROCESS_ATTR(gpumem_reclaimed, "gpumem_reclaimed", gpumem_reclaimed_show, 0);

static struct process_attribute process_attr_state = {
	.attr = { .name = "state", .mode = 0644 },
	.show = state_show,
	.store = state_store,
};

static struct attribute *process_attrs[] = {
	&process_attr_kernel.attr,
	&process_attr_kernel_max.attr,
	&process_attr_user.attr,
	&process_attr_user_max.attr,
	&process_attr_ion.attr,
	&process_attr_ion_max.attr,
	&process_attr_imported_mem.attr,
	&process_attr_gpumem_mapped.attr,
	&process_attr_gpumem_unmapped.attr,
	&process_attr_gpumem_reclaimed.attr,
	&process_attr_state.attr,
	NULL,
};

static const struct attribute_group process_group = {
	.attrs = process_attrs,
};

#define MEMTYPE(_id, _name, _type) \
	PROCESS_ATTR(memtype_##_id, _name, memtype_show, KGSL_MEMTYPE_##_type)

MEMTYPE(any, "any(0)", OBJECTANY);
MEMTYPE(framebuffer, "framebuffer", FRAMEBUFFER);
MEMTYPE(renderbuffer, "renderbuffer", RENDERBUFFER);
MEMTYPE(arraybuffer, "arraybuffer", ARRAYBUFFER);
MEMTYPE(elementarraybuffer, "elementarraybuffer", ELEMENTARRAYBUFFER);
MEMTYPE(vertexarraybuffer, "vertexarraybuffer", VERTEXARRAYBUFFER);
MEMTYPE(texture, "texture", TEXTURE);
MEMTYPE(surface, "surface", SURFACE);
MEMTYPE(egl_surface, "egl_surface", EGL_SURFACE);
MEMTYPE(gl, "gl", GL);
MEMTYPE(cl, "cl", CL);
MEMTYPE(cl_buffer_map, "cl_buffer_map", CL_BUFFER_MAP);
MEMTYPE(cl_buffer_nomap, "cl_buffer_nomap", CL_BUFFER_NOMAP);
MEMTYPE(cl_image_map, "cl_image_map", CL_IMAGE_MAP);
MEMTYPE(cl_image_nomap, "cl_image_nomap", CL_IMAGE_NOMAP);
MEMTYPE(cl_kernel_stack, "cl_kernel_stack", CL_KERNEL_STACK);
MEMTYPE(command, "command", COMMAND);
MEMTYPE(2d, "2d", 2D);
MEMTYPE(egl_image, "egl_image", EGL_IMAGE);
MEMTYPE(egl_shadow, "egl_shadow", EGL_SHADOW);
MEMTYPE(egl_multisample, "egl_multisample", MULTISAMPLE);
MEMTYPE(kernel, "kernel", KERNEL);

static struct attribute *memtype_attrs[] = {
	&process_attr_memtype_any.attr,
	&process_attr_memtype_framebuffer.attr,
	&process_attr_memtype_renderbuffer.attr,
	&process_attr_memtype_arraybuffer.attr,
	&process_attr_memtype_elementarraybuffer.attr,
	&process_attr_memtype_vertexarraybuffer.attr,
	&process_attr_memtype_texture.attr,
	&process_attr_memtype_surface.attr,
	&process_attr_memtype_egl_surface.attr,
	&process_attr_memtype_gl.attr,
	&process_attr_memtype_cl.attr,
	&process_attr_memtype_cl_buffer_map.attr,
	&process_attr_memtype_cl_buffer_nomap.attr,
	&process_attr_memtype_cl_image_map.attr,
	&process_attr_memtype_cl_image_nomap.attr,
	&process_attr_memtype_cl_kernel_stack.attr,
	&process_attr_memtype_command.attr,
	&process_attr_memtype_2d.attr,
	&process_attr_memtype_egl_image.attr,
	&process_attr_memtype_egl_shadow.attr,
	&process_attr_memtype_egl_multisample.attr,
	&process_attr_memtype_kernel.attr,
	NULL,
};

static const struct attribute_group memtype_group = {
	.name = "memtype",
	.attrs = memtype_attrs,
};

static const struct attribute_group *process_groups[] = {
	&process_group,
	&memtype_group,
	NULL,
};

static ssize_t process_sysfs_show(struct kobject *kobj, struct attribute *attr,
				  char *buf)
{
	struct process_attribute *pattr =
		container_of(attr, struct process_attribute, attr);

	return pattr->show(container_of(kobj, struct kgsl_process_private, kobj),
			   pattr->type, buf);
}

static ssize_t process_sysfs_store(struct kobject *kobj, struct attribute *attr,
				   const char *buf, size_t count)
{
	struct process_attribute *pattr =
		container_of(attr, struct process_attribute, attr);

	if (!pattr->store)
		return -EIO;
	return pattr->store(container_of(kobj, struct kgsl_process_private,
					 kobj), buf, count);
}

static const struct sysfs_ops process_sysfs_ops = {
	.show = process_sysfs_show,
	.store = process_sysfs_store,
};

const struct kobj_type kgsl_process_ktype = {
	.release = kgsl_process_release,
	.sysfs_ops = &process_sysfs_ops,
	.default_groups = process_groups,
};

/* The words of the debugfs file are the files' names. */
void kgsl_get_memory_usage(char *name, size_t size, u64 flags)
{
	int type = FIELD_GET(KGSL_MEMTYPE_MASK, flags);
	struct attribute **attr;

	for (attr = memtype_attrs; *attr; attr++) {
		if (container_of(*attr, struct process_attribute,
				 attr)->type != type)
			continue;
		strscpy(name, (*attr)->name, size);
		return;
	}
	snprintf(name, size, "VK/others(%3d)", type);
}

/*
 * The driver
 */

static ssize_t stat_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	struct dev_ext_attribute *stat =
		container_of(attr, struct dev_ext_attribute, attr);

	return sysfs_emit(buf, "%ld\n", atomic_long_read(stat->var));
}

#define STAT(_name)							\
	static struct dev_ext_attribute stat_##_name = {		\
		.attr = __ATTR(_name, 0444, stat_show, NULL),		\
		.var = &kgsl_driver.stats._name,			\
	}

STAT(vmalloc);
STAT(vmalloc_max);
STAT(page_alloc);
STAT(page_alloc_max);
STAT(coherent);
STAT(coherent_max);
STAT(secure);
STAT(secure_max);
STAT(mapped);
STAT(mapped_max);

static ssize_t full_cache_threshold_show(struct device *dev,
					 struct device_attribute *attr,
					 char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(kgsl_driver.full_cache_threshold));
}

static ssize_t full_cache_threshold_store(struct device *dev,
					  struct device_attribute *attr,
					  const char *buf, size_t count)
{
	unsigned int value;
	int ret = kstrtouint(buf, 0, &value);

	if (ret)
		return ret;
	WRITE_ONCE(kgsl_driver.full_cache_threshold, value);
	return count;
}

static DEVICE_ATTR_RW(full_cache_threshold);

static struct attribute *kgsl_driver_attrs[] = {
	&stat_vmalloc.attr.attr,
	&stat_vmalloc_max.attr.attr,
	&stat_page_alloc.attr.attr,
	&stat_page_alloc_max.attr.attr,
	&stat_coherent.attr.attr,
	&stat_coherent_max.attr.attr,
	&stat_secure.attr.attr,
	&stat_secure_max.attr.attr,
	&stat_mapped.attr.attr,
	&stat_mapped_max.attr.attr,
	&dev_attr_full_cache_threshold.attr,
	NULL,
};

static const struct attribute_group kgsl_driver_group = {
	.attrs = kgsl_driver_attrs,
};

const struct attribute_group *kgsl_driver_groups[] = {
	&kgsl_driver_group,
	NULL,
};
