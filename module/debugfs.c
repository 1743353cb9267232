// SPDX-License-Identifier: GPL-2.0-only
/*
 * From snapshots to the tables under /sys/kernel/debug/memledger.
 * docs/ABI/testing has every file.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/utsname.h>

#include <memledger/names.h>
#include <memledger/summary.h>

#include "dmabuf.h"
#include "snapshot.h"
#include "target.h"

static struct dentry *root, *processes;

/**
 * memledger_debugfs_read - read a file of seq_file's, if one may
 * @file: the file
 * @buf: the reader's
 * @size: of @buf
 * @pos: where to read
 *
 * Every read is asked for its right, also one that only gets what is left in
 * seq_file's buffer. Opening asks too, so that nobody waits for a walk first.
 *
 * Return: as seq_read(); -EPERM without the right.
 */
ssize_t memledger_debugfs_read(struct file *file, char __user *buf, size_t size,
			       loff_t *pos)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return seq_read(file, buf, size, pos);
}

/**
 * memledger_debugfs_llseek - seq_lseek() for who may read
 * @file: the file
 * @offset: as for lseek(2)
 * @whence: as for lseek(2)
 *
 * What lies before @offset is made, and so looked at, also where nobody reads
 * it.
 *
 * Return: as seq_lseek(); -EPERM without the right.
 */
loff_t memledger_debugfs_llseek(struct file *file, loff_t offset, int whence)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return seq_lseek(file, offset, whence);
}

/*
 * meminfo: the table of dumpsys
 */

static void print_source(struct seq_file *m,
			 const struct memledger_record *record)
{
	seq_printf(m, "\n Source: memledger %d in Linux %s, %u byte pages, PSS by %s\n",
		   record->version, init_uts_ns.name.release,
		   record->page_size, memledger_snapshot_pss_method());
	seq_printf(m, " Snapshot %llu at %llu.%03llu s, %s, rules of %s\n",
		   record->generation,
		   div_u64(record->timestamp_ns, NSEC_PER_SEC),
		   div_u64(record->timestamp_ns, NSEC_PER_MSEC) % 1000,
		   record->complete ? "complete" : "INCOMPLETE",
		   record->profile);
	if (record->unavailable & MEMLEDGER_UNAVAILABLE_MTRACK)
		seq_puts(m, " Unavailable: EGL, GL and Other mtrack (no GPU driver reports them)\n");
	if (record->unavailable & MEMLEDGER_UNAVAILABLE_IMPORTED)
		seq_puts(m, " Unavailable: EGL mtrack (the GPU driver does not tell who imports a buffer)\n");
	if (record->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS)
		seq_puts(m, " Unavailable: SwapPss (this kernel does not tell who shares swap)\n");
	if (record->unavailable & MEMLEDGER_UNAVAILABLE_ANON_NAMES)
		seq_puts(m, " Unavailable: names of anonymous memory (no CONFIG_ANON_VMA_NAME); it is in Unknown\n");
}

static int meminfo_show(struct seq_file *m, void *v)
{
	struct memledger_target *target = m->private;
	const struct memledger_record *record = &target->record;
	char comm[MEMLEDGER_COMM_TEXT_LEN];
	int ret;

	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_FRESH);
	if (ret)
		return ret;
	memledger_comm_escape(record->comm, comm, sizeof(comm));
	memledger_table_print(m, &record->totals,
			      memledger_profile_find(record->profile),
			      record->tgid, comm,
			      MEMLEDGER_TABLE_FULL | MEMLEDGER_TABLE_DALVIK);
	print_source(m, record);
	memledger_snapshot_unlock(target);
	return 0;
}

/* The file may outlive its directory, and the target with it. */
static int meminfo_open(struct inode *inode, struct file *file)
{
	struct memledger_target *target = inode->i_private;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	/* Room for all of it: too little would mean a second walk. */
	ret = single_open_size(file, meminfo_show, target, 2 * PAGE_SIZE);
	if (!ret)
		memledger_target_get(target);
	return ret;
}

static int meminfo_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	memledger_target_put(m->private);
	return single_release(inode, file);
}

static const struct file_operations meminfo_fops = {
	.owner = THIS_MODULE,
	.open = meminfo_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = meminfo_release,
};

/*
 * vmas: one line each
 */

enum vmas_state {
	VMAS_HEADING,
	VMAS_LINE,
	VMAS_END,
	VMAS_DONE,
};

/**
 * struct vmas_reader - where a reader of vmas is
 * @target: the process; the reader holds a reference
 * @cursor: the walk, from the first VMA on
 * @line: the VMA at hand
 * @state: what is at hand
 * @pos: its number
 * @error: why the list ended early, or 0
 *
 * seq_file asks for the same element again when its buffer was too small, and
 * for the next one at the next read: both find it here. Only a reader that
 * seeks makes the walk begin again.
 */
struct vmas_reader {
	struct memledger_target *target;
	struct memledger_vma_cursor *cursor;
	struct memledger_vma_line line;
	enum vmas_state state;
	loff_t pos;
	int error;
};

static void vmas_close_cursor(struct vmas_reader *reader)
{
	if (!reader->cursor)
		return;
	memledger_vma_cursor_close(reader->cursor);
	reader->cursor = NULL;
}

static int vmas_rewind(struct vmas_reader *reader)
{
	struct memledger_vma_cursor *cursor;

	vmas_close_cursor(reader);
	cursor = memledger_vma_cursor_open(reader->target, false);
	if (IS_ERR(cursor))
		return PTR_ERR(cursor);
	reader->cursor = cursor;
	reader->state = VMAS_HEADING;
	reader->pos = 0;
	reader->error = 0;
	return 0;
}

static void vmas_advance(struct vmas_reader *reader)
{
	int ret;

	reader->pos++;
	if (reader->state >= VMAS_END) {
		reader->state = VMAS_DONE;
		return;
	}
	ret = memledger_vma_cursor_next(reader->cursor, &reader->line);
	reader->state = ret > 0 ? VMAS_LINE : VMAS_END;
	if (ret < 0)
		reader->error = ret;
}

static void *vmas_element(struct vmas_reader *reader)
{
	return reader->state == VMAS_DONE ? NULL : reader;
}

static void *vmas_start(struct seq_file *m, loff_t *pos)
{
	struct vmas_reader *reader = m->private;
	int ret;

	if (!reader->cursor || *pos < reader->pos || !*pos) {
		ret = vmas_rewind(reader);
		if (ret)
			return ERR_PTR(ret);
	}
	while (reader->pos < *pos && reader->state != VMAS_DONE)
		vmas_advance(reader);
	return vmas_element(reader);
}

static void *vmas_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct vmas_reader *reader = v;

	vmas_advance(reader);
	*pos = reader->pos;
	return vmas_element(reader);
}

static void vmas_stop(struct seq_file *m, void *v)
{
}

static void print_line(struct seq_file *m, const struct memledger_vma_line *line)
{
	const struct memledger_vma_usage *usage = &line->usage;
	const struct memledger_verdict *verdict = &line->verdict;

	seq_printf(m, "%08lx-%08lx %s %08llx %02x:%02x %lu", line->start,
		   line->end, line->perms, line->offset, line->major,
		   line->minor, line->ino);
#define X(field, label, shift)						\
	if (offsetof(struct memledger_vma_usage, field) ==		\
		    offsetof(struct memledger_vma_usage, swap_pss) &&	\
	    !memledger_snapshot_has_swap_pss())				\
		seq_puts(m, " -");					\
	else								\
		seq_printf(m, " %llu", usage->field >> (shift));
	MEMLEDGER_VMA_FIELDS(X)
#undef X
	seq_printf(m, " %s %s %s %s %s\n",
		   memledger_category_names[verdict->category],
		   verdict->subcategory == MEMLEDGER_SUB_NONE ? "-" :
		   memledger_subcategory_names[verdict->subcategory],
		   verdict->rule->name, line->deleted ? "deleted" : "-",
		   line->name);
}

static int vmas_show(struct seq_file *m, void *v)
{
	struct vmas_reader *reader = v;

	switch (reader->state) {
	case VMAS_HEADING:
		seq_puts(m, "Range Perms Offset Device Inode");
#define X(field, label, shift) seq_puts(m, " " label);
		MEMLEDGER_VMA_FIELDS(X)
#undef X
		seq_puts(m, " Category Subcategory Rule Deleted Name\n");
		break;
	case VMAS_LINE:
		print_line(m, &reader->line);
		break;
	case VMAS_END:
		seq_printf(m, "# %s\n",
			   reader->error ? "incomplete" : "complete");
		break;
	case VMAS_DONE:
		break;
	}
	return 0;
}

static const struct seq_operations vmas_seq_ops = {
	.start = vmas_start,
	.next = vmas_next,
	.stop = vmas_stop,
	.show = vmas_show,
};

static int vmas_open(struct inode *inode, struct file *file)
{
	struct vmas_reader *reader;

	if (!memledger_access_allowed())
		return -EPERM;
	reader = __seq_open_private(file, &vmas_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->target = inode->i_private;
	memledger_target_get(reader->target);
	return 0;
}

static int vmas_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct vmas_reader *reader = m->private;

	vmas_close_cursor(reader);
	memledger_target_put(reader->target);
	return seq_release_private(inode, file);
}

static const struct file_operations vmas_fops = {
	.owner = THIS_MODULE,
	.open = vmas_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = vmas_release,
};

/*
 * unknown and owners: tables that are made when the file is opened
 */

/**
 * struct names_reader - what a reader was given
 * @target: the process; the reader holds a reference
 * @names: the table
 */
struct names_reader {
	struct memledger_target *target;
	struct memledger_names names;
};

static int names_open(struct inode *inode, struct file *file,
		      int (*read)(struct memledger_target *target,
				  struct memledger_names *names),
		      int (*show)(struct seq_file *m, void *v))
{
	struct names_reader *reader;
	unsigned int tries = 0;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	if (!reader)
		return -ENOMEM;
	reader->target = inode->i_private;
	do {
		memledger_names_free(&reader->names);
		ret = read(reader->target, &reader->names);
	} while (memledger_walk_again(ret, reader->target->pid, &tries));
	/* It lives, but has not been the same program for long enough. */
	if (tries == MEMLEDGER_WALK_TRIES)
		ret = -EAGAIN;
	if (ret)
		goto err_free;
	ret = single_open(file, show, reader);
	if (ret)
		goto err_free;
	memledger_target_get(reader->target);
	return 0;

err_free:
	memledger_names_free(&reader->names);
	kfree(reader);
	return ret;
}

static int names_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct names_reader *reader = m->private;

	memledger_target_put(reader->target);
	memledger_names_free(&reader->names);
	kfree(reader);
	return single_release(inode, file);
}

static int unknown_show(struct seq_file *m, void *v)
{
	struct names_reader *reader = m->private;

	memledger_names_print(m, &reader->names,
			      memledger_snapshot_has_swap_pss());
	return 0;
}

static int unknown_open(struct inode *inode, struct file *file)
{
	return names_open(inode, file, memledger_snapshot_unknown,
			  unknown_show);
}

static const struct file_operations unknown_fops = {
	.owner = THIS_MODULE,
	.open = unknown_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = names_release,
};

static void print_capture(struct seq_file *m, struct pid *pid)
{
	struct memledger_capture_info info;

	if (memledger_capture_info(pid, &info))
		seq_printf(m, "# capture: on, %llu ranges, %llu dropped\n",
			   info.ranges, info.dropped);
	else
		seq_puts(m, "# capture: off\n");
}

static void print_owner(struct seq_file *m, const struct memledger_name *row)
{
	const struct memledger_usage *usage = &row->usage;

	seq_printf(m, "%llu %llu %llu ", usage->pss >> MEMLEDGER_PSS_SHIFT,
		   usage->rss, usage->private_dirty);
	if (memledger_snapshot_has_swap_pss())
		seq_printf(m, "%llu",
			   usage->swap_pss >> MEMLEDGER_PSS_SHIFT);
	else
		seq_puts(m, "-");
	seq_printf(m, " %llu %s\n", usage->vmas, row->text);
}

static int owners_show(struct seq_file *m, void *v)
{
	struct names_reader *reader = m->private;
	unsigned int i;

	print_capture(m, reader->target->pid);
	seq_puts(m, "pss rss private_dirty swap_pss regions perms source owner\n");
	for (i = 0; i < reader->names.nr; i++) {
		print_owner(m, &reader->names.rows[i]);
		cond_resched();
	}
	return 0;
}

static int owners_open(struct inode *inode, struct file *file)
{
	return names_open(inode, file, memledger_owners_read, owners_show);
}

static const struct file_operations owners_fops = {
	.owner = THIS_MODULE,
	.open = owners_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = names_release,
};

/*
 * gpu: the driver's entries, taken when the file is opened
 */

/**
 * struct gpu_reader - what a reader was given
 * @target: the process; the reader holds a reference
 * @table: its entries
 */
struct gpu_reader {
	struct memledger_target *target;
	struct memledger_gpu_table table;
};

static void *gpu_start(struct seq_file *m, loff_t *pos)
{
	const struct gpu_reader *reader = m->private;

	/* The heading is line 0. */
	if (!*pos)
		return SEQ_START_TOKEN;
	return *pos <= reader->table.nr ? &reader->table.entries[*pos - 1] :
	       NULL;
}

static void *gpu_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return gpu_start(m, pos);
}

static void gpu_stop(struct seq_file *m, void *v)
{
}

/* The letters of an entry's flags, each at its place. */
static void print_gpu_flags(struct seq_file *m, u32 flags)
{
	static const char letters[] = "vsrima";
	unsigned int i;

	for (i = 0; i < strlen(letters); i++)
		seq_putc(m, flags & BIT(i) ? letters[i] : '-');
}

static int gpu_show(struct seq_file *m, void *v)
{
	const struct gpu_reader *reader = m->private;
	const struct memledger_gpu_table *table = &reader->table;
	const struct memledger_gpu_entry *entry = v;
	u64 share;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "# provider %s rule %s complete %d\n",
			   table->provider,
			   memledger_imported_rule_names[table->rule],
			   table->complete);
		seq_puts(m, "id kind usage size mapped flags surfaces images importers imported inode\n");
		return 0;
	}
	seq_printf(m, "%llu %s %s %llu %llu ", entry->id,
		   memledger_gpu_kind_names[entry->kind],
		   memledger_gpu_usage_names[entry->usage], entry->size,
		   entry->mapped);
	print_gpu_flags(m, entry->flags);
	if (entry->kind != MEMLEDGER_GPU_DMABUF) {
		seq_puts(m, " - - - - -\n");
		return 0;
	}
	seq_printf(m, " %u %u", entry->surfaces, entry->images);
	if (entry->importers)
		seq_printf(m, " %u", entry->importers);
	else
		seq_puts(m, " -");
	if (memledger_imported_share(table->rule, entry, &share))
		seq_printf(m, " %llu", share);
	else
		seq_puts(m, " -");
	if (entry->dmabuf_ino)
		seq_printf(m, " %llu\n", entry->dmabuf_ino);
	else
		seq_puts(m, " -\n");
	return 0;
}

static const struct seq_operations gpu_seq_ops = {
	.start = gpu_start,
	.next = gpu_next,
	.stop = gpu_stop,
	.show = gpu_show,
};

static int gpu_open(struct inode *inode, struct file *file)
{
	struct gpu_reader *reader;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	reader = __seq_open_private(file, &gpu_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->target = inode->i_private;
	ret = memledger_snapshot_gpu(reader->target, &reader->table);
	if (ret) {
		memledger_gpu_table_free(&reader->table);
		seq_release_private(inode, file);
		return ret;
	}
	memledger_target_get(reader->target);
	return 0;
}

static int gpu_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct gpu_reader *reader = m->private;

	memledger_gpu_table_free(&reader->table);
	memledger_target_put(reader->target);
	return seq_release_private(inode, file);
}

static const struct file_operations gpu_fops = {
	.owner = THIS_MODULE,
	.open = gpu_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = gpu_release,
};

/*
 * stats
 */

static int stats_show(struct seq_file *m, void *v)
{
	struct memledger_stats stats;
	unsigned int i;

	memledger_stats_read(&stats);
#define X(name) seq_printf(m, #name " %llu\n", stats.name);
	MEMLEDGER_STATS(X)
#undef X
	for (i = 0; i < MEMLEDGER_NR_HOLDS - 1; i++)
		seq_printf(m, "lock_holds_below_%lu_ns %llu\n",
			   BIT(MEMLEDGER_HOLD_SHIFT + i), stats.holds[i]);
	seq_printf(m, "lock_holds_longer %llu\n", stats.holds[i]);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return memledger_access_allowed() ? single_open(file, stats_show, NULL) : -EPERM;
}

static const struct file_operations stats_fops = {
	.owner = THIS_MODULE,
	.open = stats_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = single_release,
};

/**
 * memledger_debugfs_add - make processes/TGID
 * @target: the process
 *
 * Fails silently: debugfs may be off, and nothing depends on it.
 */
void memledger_debugfs_add(struct memledger_target *target)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", target->nr);
	target->debugfs = debugfs_create_dir(name, processes);
	debugfs_create_file("meminfo", 0400, target->debugfs, target,
			    &meminfo_fops);
	debugfs_create_file("vmas", 0400, target->debugfs, target, &vmas_fops);
	debugfs_create_file("unknown", 0400, target->debugfs, target,
			    &unknown_fops);
	debugfs_create_file("owners", 0400, target->debugfs, target,
			    &owners_fops);
	memledger_debugfs_dmabuf_add(target);
	debugfs_create_file("gpu", 0400, target->debugfs, target, &gpu_fops);
}

/**
 * memledger_debugfs_remove - remove processes/TGID
 * @target: the process
 *
 * Context: waits for readers inside its files; no lock that they take may be
 * held.
 */
void memledger_debugfs_remove(struct memledger_target *target)
{
	debugfs_remove(target->debugfs);
}

/**
 * memledger_debugfs_init - make /sys/kernel/debug/memledger
 *
 * Without files: somebody might have one open when loading fails, and would
 * close it after the module's text is gone. debugfs does not wait for that.
 */
void __init memledger_debugfs_init(void)
{
	root = debugfs_create_dir("memledger", NULL);
	processes = debugfs_create_dir("processes", root);
}

/**
 * memledger_debugfs_add_files - make the files there
 *
 * Context: nothing may fail afterwards that makes loading fail.
 */
void __init memledger_debugfs_add_files(void)
{
	debugfs_create_file("stats", 0400, root, NULL, &stats_fops);
	memledger_debugfs_add_gpumem(root);
	memledger_debugfs_add_carveouts(root);
	memledger_debugfs_dmabuf_init(root);
	memledger_debugfs_system_init(root);
}

/**
 * memledger_debugfs_exit - remove it
 */
void memledger_debugfs_exit(void)
{
	debugfs_remove(root);
}
