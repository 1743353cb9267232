// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the graphics carve-outs to `carveouts`, a line each. docs/ABI/testing
 * has the file.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "carveouts.h"
#include "target.h"

static void print_carveouts(struct seq_file *m)
{
	const struct memledger_carveout *carveout;
	unsigned int i;

	seq_puts(m, "# carveout start size kind map owner\n");
	for (i = 0; (carveout = memledger_carveout_get(i)); i++)
		seq_printf(m, "carveout %s 0x%llx %llu %s %s %s\n",
			   carveout->name, carveout->start, carveout->size,
			   carveout->reusable ? "reusable" : "static",
			   carveout->no_map ? "no-map" : "map",
			   carveout->owner ?: "-");
	seq_printf(m, "# MemTotal %llu, without what is static\n",
		   memledger_carveouts_mem_total());
}

static int carveouts_show(struct seq_file *m, void *v)
{
	print_carveouts(m);
	return 0;
}

static int carveouts_open(struct inode *inode, struct file *file)
{
	if (!memledger_access_allowed())
		return -EPERM;
	if (!memledger_carveouts_known())
		return -EOPNOTSUPP;
	return single_open(file, carveouts_show, NULL);
}

static const struct file_operations carveouts_fops = {
	.owner = THIS_MODULE,
	.open = carveouts_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = single_release,
};

/**
 * memledger_debugfs_add_carveouts - make carveouts
 * @root: the directory to make it in
 */
void __init memledger_debugfs_add_carveouts(struct dentry *root)
{
	debugfs_create_file("carveouts", 0400, root, NULL, &carveouts_fops);
}
