// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the last values of all processes to `gpumem`, in the form of dumpsys gpu
 * --gpumem. docs/ABI/testing has the file.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "gpu.h"
#include "gpu_totals.h"
#include "target.h"

/**
 * struct gpumem_reader - what a reader was given when it opened the file
 * @totals: the values
 * @has_provider: whether a GPU driver was bound
 * @provider: its name
 * @provider_error: why it told no total, or 0
 * @provider_total: what it has allocated
 */
struct gpumem_reader {
	struct memledger_gpu_totals totals;
	bool has_provider;
	char provider[MEMLEDGER_PROVIDER_NAME_SIZE];
	int provider_error;
	u64 provider_total;
};

/* A line a value, and one more element for what stands below all of them. */
static void *gpumem_start(struct seq_file *m, loff_t *pos)
{
	struct gpumem_reader *reader = m->private;

	return *pos <= reader->totals.nr ? pos : NULL;
}

static void *gpumem_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return gpumem_start(m, pos);
}

static void gpumem_stop(struct seq_file *m, void *v)
{
}

static void print_value(struct seq_file *m,
			const struct memledger_gpu_totals *totals,
			unsigned int i)
{
	const struct memledger_gpu_value *value = &totals->values[i];

	if (!i || value[-1].gpu != value->gpu) {
		seq_printf(m, "Memory snapshot for GPU %u:\n", value->gpu);
		if (value->tgid)
			seq_puts(m, "Global total: N/A\n");
	}
	if (!value->tgid) {
		seq_printf(m, "Global total: %llu\n", value->size);
		return;
	}
	seq_printf(m, "Proc %u total: %llu\n", value->tgid, value->size);
	if (memledger_gpu_value_is_stale(value))
		seq_printf(m, "# Proc %u has exited, and another has its number\n",
			   value->tgid);
}

static void print_end(struct seq_file *m, const struct gpumem_reader *reader)
{
	const struct memledger_gpu_totals_info *info = &reader->totals.info;

	if (!reader->totals.nr)
		seq_puts(m, "# no events yet\n");
	seq_printf(m, "# since %llu, events %llu, lost %llu, forgotten %llu\n",
		   info->since_ns, info->events, info->lost, info->forgotten);
	seq_puts(m, "# what was allocated before is unknown until its process's next event\n");
	if (!reader->has_provider)
		seq_puts(m, "# no provider\n");
	else if (reader->provider_error)
		seq_printf(m, "# provider %s total unavailable\n",
			   reader->provider);
	else
		seq_printf(m, "# provider %s total %llu\n", reader->provider,
			   reader->provider_total);
}

static int gpumem_show(struct seq_file *m, void *v)
{
	struct gpumem_reader *reader = m->private;
	unsigned int i = *(loff_t *)v;

	if (i < reader->totals.nr)
		print_value(m, &reader->totals, i);
	else
		print_end(m, reader);
	return 0;
}

static const struct seq_operations gpumem_seq_ops = {
	.start = gpumem_start,
	.next = gpumem_next,
	.stop = gpumem_stop,
	.show = gpumem_show,
};

static int gpumem_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct gpumem_reader *reader = m->private;

	memledger_gpu_totals_free(&reader->totals);
	return seq_release_private(inode, file);
}

static int gpumem_open(struct inode *inode, struct file *file)
{
	struct gpumem_reader *reader;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	reader = __seq_open_private(file, &gpumem_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	ret = memledger_gpu_totals_read(&reader->totals);
	if (ret) {
		gpumem_release(inode, file);
		return ret;
	}
	reader->has_provider = memledger_gpu_name(reader->provider);
	if (reader->has_provider)
		reader->provider_error =
			memledger_gpu_total(&reader->provider_total);
	return 0;
}

static const struct file_operations gpumem_fops = {
	.owner = THIS_MODULE,
	.open = gpumem_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = gpumem_release,
};

/**
 * memledger_debugfs_add_gpumem - make gpumem
 * @root: the directory to make it in
 */
void __init memledger_debugfs_add_gpumem(struct dentry *root)
{
	debugfs_create_file("gpumem", 0400, root, NULL, &gpumem_fops);
}
