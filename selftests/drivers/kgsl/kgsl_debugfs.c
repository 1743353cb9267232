// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process's entries as text, in the form of KGSL's files in debugfs: all in
 * "mem", the ranges of virtual objects in "vbos".
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "kgsl_sharedmem.h"

static const char *type_name(unsigned int type)
{
	switch (type) {
	case KGSL_MEM_ENTRY_KERNEL:
		return "gpumem";
	case KGSL_MEM_ENTRY_USER:
		return "usermem";
	case KGSL_MEM_ENTRY_ION:
		return "ion";
	}
	return "unknown";
}

static char align_flag(const struct kgsl_memdesc *memdesc)
{
	u64 align = BIT_ULL(kgsl_memdesc_get_align(memdesc));

	if (align >= SZ_1M)
		return 'L';
	return align >= SZ_64K ? 'l' : '-';
}

static void entry_print(struct seq_file *seq, struct kgsl_mem_entry *entry,
			unsigned int id)
{
	static const char cache_flags[] = "-utb";
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	unsigned int type = kgsl_memdesc_usermem_type(memdesc);
	char metadata[sizeof(entry->metadata)];
	struct kgsl_dmabuf_counts counts = {};
	u64 memflags = READ_ONCE(memdesc->flags);
	char usage[16], flags[11];

	flags[0] = kgsl_memdesc_is_global(memdesc) ? 'g' : '-';
	flags[1] = '-';
	flags[2] = memflags & KGSL_MEMFLAGS_GPUREADONLY ? '-' : 'w';
	flags[3] = align_flag(memdesc);
	flags[4] = cache_flags[kgsl_memdesc_get_cachemode(memdesc)];
	flags[5] = kgsl_memdesc_use_cpu_map(memdesc) ? 'p' : '-';
	flags[6] = atomic_read(&entry->map_count) ? 'Y' : 'N';
	flags[7] = kgsl_memdesc_is_secured(memdesc) ? 's' : '-';
	flags[8] = '-';
	flags[9] = memflags & KGSL_MEMFLAGS_VBO ? 'v' : '-';
	flags[10] = '\0';
	kgsl_get_memory_usage(usage, sizeof(usage), memflags);
	if (type == KGSL_MEM_ENTRY_ION)
		kgsl_dmabuf_count(entry, &counts);

	seq_printf(seq, "%pK %pK %16llu %5u %10s %10s %16s %5d %10d %6d %6d %10lu",
		   (void *)(uintptr_t)memdesc->gpuaddr, NULL, memdesc->size, id,
		   flags, type_name(type), usage,
		   memdesc->sgt ? memdesc->sgt->nents : 0,
		   atomic_read(&entry->map_count), counts.surfaces,
		   counts.images, kgsl_get_dmabuf_inode_number(entry));
	spin_lock(&entry->priv->mem_lock);
	memcpy(metadata, entry->metadata, sizeof(metadata));
	spin_unlock(&entry->priv->mem_lock);
	if (metadata[0])
		seq_printf(seq, " %s", metadata);
	seq_putc(seq, '\n');
}

/*
 * A reader keeps the file, and so the process, from being removed: the last
 * reference must not be its.
 */
static int mem_show(struct seq_file *seq, void *unused)
{
	struct kgsl_process_private *private = seq->private;
	struct kgsl_mem_entry *entry;
	int id = 0;

	seq_printf(seq, "%16s %16s %16s %5s %10s %10s %16s %5s %10s %6s %6s %10s\n",
		   "gpuaddr", "useraddr", "size", "id", "flags", "type",
		   "usage", "sglen", "mapcnt", "eglsrf", "eglimg", "inode");
	while ((entry = kgsl_mem_entry_next(private, &id))) {
		entry_print(seq, entry, id - 1);
		kgsl_mem_entry_put_deferred(entry);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(mem);

static int vbos_show(struct seq_file *seq, void *unused)
{
	struct kgsl_process_private *private = seq->private;
	struct kgsl_mem_entry *entry;
	int id = 0;

	while ((entry = kgsl_mem_entry_next(private, &id))) {
		if (entry->memdesc.flags & KGSL_MEMFLAGS_VBO)
			kgsl_vbo_print(seq, entry, id - 1);
		kgsl_mem_entry_put_deferred(entry);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vbos);

void kgsl_process_init_debugfs(struct kgsl_process_private *private)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", pid_nr(private->pid));
	private->debug_root = debugfs_create_dir(name, kgsl_driver.debugfs_proc);
	debugfs_create_file("mem", 0444, private->debug_root, private,
			    &mem_fops);
	debugfs_create_file("vbos", 0444, private->debug_root, private,
			    &vbos_fops);
}
