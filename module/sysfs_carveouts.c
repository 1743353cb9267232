// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the graphics carve-outs to gpu/carveouts/, a directory each, and the
 * sums of those inside MemTotal and outside. docs/ABI/testing has every file.
 */
#include <linux/errno.h>
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "carveouts.h"
#include "sysfs.h"
#include "target.h"

/**
 * struct carveout_file - a file of a carve-out
 * @attr: name, mode and how it is shown
 * @carveout: whose value it has
 */
struct carveout_file {
	struct kobj_attribute attr;
	const struct memledger_carveout *carveout;
};

static const struct memledger_carveout *
attr_carveout(struct kobj_attribute *attr)
{
	return container_of(attr, struct carveout_file, attr)->carveout;
}

static ssize_t size_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%llu\n", attr_carveout(attr)->size);
}

static ssize_t reusable_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%d\n", attr_carveout(attr)->reusable);
}

static ssize_t owner_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	const char *owner = attr_carveout(attr)->owner;

	if (!memledger_access_allowed())
		return -EPERM;
	return owner ? sysfs_emit(buf, "%s\n", owner) : -ENODATA;
}

static const struct kobj_attribute carveout_attrs[] = {
	__ATTR_RO_MODE(size, 0400),
	__ATTR_RO_MODE(reusable, 0400),
	__ATTR_RO_MODE(owner, 0400),
};

/**
 * struct carveout_dir - the directory of a carve-out
 * @files: its files, and a place for
 * @attrs: their list, NULL at the end
 */
struct carveout_dir {
	struct carveout_file files[ARRAY_SIZE(carveout_attrs)];
	struct attribute *attrs[ARRAY_SIZE(carveout_attrs) + 1];
};

static struct kobject *carveouts;
static struct carveout_dir *dirs;

static ssize_t sum_show(bool reusable, char *buf)
{
	u64 bytes = 0;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	ret = memledger_carveouts_sum(reusable, &bytes);
	return ret ?: sysfs_emit(buf, "%llu\n", bytes);
}

static ssize_t sum_static_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return sum_show(false, buf);
}

static ssize_t sum_reusable_show(struct kobject *kobj,
				 struct kobj_attribute *attr, char *buf)
{
	return sum_show(true, buf);
}

static struct kobj_attribute sum_static_attr =
	__ATTR(static, 0400, sum_static_show, NULL);
static struct kobj_attribute sum_reusable_attr =
	__ATTR(reusable, 0400, sum_reusable_show, NULL);

static struct attribute *sum_attrs[] = {
	&sum_static_attr.attr,
	&sum_reusable_attr.attr,
	NULL
};

static const struct attribute_group sum_group = { .attrs = sum_attrs };

static ssize_t feature_carveouts_show(struct kobject *kobj,
				      struct kobj_attribute *attr, char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%d\n", memledger_carveouts_known());
}

struct kobj_attribute memledger_sysfs_feature_carveouts =
	__ATTR(carveouts, 0400, feature_carveouts_show, NULL);

static int add_dir(struct carveout_dir *dir,
		   const struct memledger_carveout *carveout)
{
	const struct attribute_group group = {
		.name = carveout->name,
		.attrs = dir->attrs,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(carveout_attrs); i++) {
		dir->files[i].attr = carveout_attrs[i];
		dir->files[i].carveout = carveout;
		sysfs_attr_init(&dir->files[i].attr.attr);
		dir->attrs[i] = &dir->files[i].attr.attr;
	}
	return sysfs_create_group(carveouts, &group);
}

static int add_dirs(void)
{
	const struct memledger_carveout *carveout;
	unsigned int i, nr = 0;
	int ret;

	while (memledger_carveout_get(nr))
		nr++;
	if (!nr)
		return 0;
	dirs = kcalloc(nr, sizeof(*dirs), GFP_KERNEL);
	if (!dirs)
		return -ENOMEM;
	for (i = 0; (carveout = memledger_carveout_get(i)); i++) {
		ret = add_dir(&dirs[i], carveout);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * memledger_sysfs_add_carveouts - make carveouts/
 * @gpu: the directory to make it in
 *
 * Return: 0 or a negative errno, and then nothing is there.
 */
int __init memledger_sysfs_add_carveouts(struct kobject *gpu)
{
	int ret;

	carveouts = kobject_create_and_add("carveouts", gpu);
	if (!carveouts)
		return -ENOMEM;
	ret = sysfs_create_group(carveouts, &sum_group);
	if (!ret)
		ret = add_dirs();
	if (ret)
		memledger_sysfs_remove_carveouts();
	return ret;
}

/**
 * memledger_sysfs_remove_carveouts - remove carveouts/
 *
 * Context: waits for the readers of its files.
 */
void memledger_sysfs_remove_carveouts(void)
{
	kobject_del(carveouts);
	kobject_put(carveouts);
	kfree(dirs);
	carveouts = NULL;
	dirs = NULL;
}
