// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what GPU drivers tell of all processes, asked or unasked, to
 * /sys/kernel/memledger/gpu and the switch gpu_totals. docs/ABI/testing has
 * every file.
 */
#include <linux/errno.h>

#include "gpu.h"
#include "gpu_totals.h"
#include "sysfs.h"
#include "target.h"

static ssize_t gpu_totals_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%d\n", memledger_gpu_totals_enabled());
}

static ssize_t gpu_totals_store(struct kobject *kobj,
				struct kobj_attribute *attr, const char *buf,
				size_t len)
{
	bool on;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	ret = memledger_sysfs_parse_switch(buf, &on);
	if (!ret)
		ret = memledger_gpu_totals_enable(on);
	return ret ?: len;
}

struct kobj_attribute memledger_sysfs_gpu_totals =
	__ATTR_RW_MODE(gpu_totals, 0600);

/* The feature has the name of the switch. */
static ssize_t feature_gpu_totals_show(struct kobject *kobj,
				       struct kobj_attribute *attr, char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%d\n", memledger_gpu_totals_supported());
}

struct kobj_attribute memledger_sysfs_feature_gpu_totals =
	__ATTR(gpu_totals, 0400, feature_gpu_totals_show, NULL);

static ssize_t gpu_provider_show(struct kobject *kobj,
				 struct kobj_attribute *attr, char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%d\n", memledger_gpu_name(NULL));
}

struct kobj_attribute memledger_sysfs_feature_gpu_provider =
	__ATTR_RO_MODE(gpu_provider, 0400);

/*
 * gpu/
 */

static ssize_t provider_show(struct kobject *kobj, struct kobj_attribute *attr,
			     char *buf)
{
	char name[MEMLEDGER_PROVIDER_NAME_SIZE];

	if (!memledger_access_allowed())
		return -EPERM;
	if (!memledger_gpu_name(name))
		return -EOPNOTSUPP;
	return sysfs_emit(buf, "%s\n", name);
}

static struct kobj_attribute provider_attr = __ATTR_RO_MODE(provider, 0400);

static ssize_t total_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	u64 bytes = 0;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	ret = memledger_gpu_total(&bytes);
	return ret ?: sysfs_emit(buf, "%llu\n", bytes);
}

static struct kobj_attribute total_attr = __ATTR_RO_MODE(total, 0400);

static ssize_t mem_total_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	u64 bytes;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	ret = memledger_gpu_totals_get(0, &bytes);
	return ret ?: sysfs_emit(buf, "%llu\n", bytes);
}

static struct kobj_attribute mem_total_attr = __ATTR_RO_MODE(mem_total, 0400);

#define INFO_ATTR(name)							\
static ssize_t name##_show(struct kobject *kobj,			\
			   struct kobj_attribute *attr, char *buf)	\
{									\
	struct memledger_gpu_totals_info info;				\
	int ret;							\
									\
	if (!memledger_access_allowed())				\
		return -EPERM;						\
	ret = memledger_gpu_totals_info(&info);				\
	return ret ?: sysfs_emit(buf, "%llu\n", info.name);		\
}									\
static struct kobj_attribute name##_attr = __ATTR_RO_MODE(name, 0400)

INFO_ATTR(events);
INFO_ATTR(lost);
INFO_ATTR(forgotten);

static struct attribute *gpu_attrs[] = {
	&provider_attr.attr,
	&total_attr.attr,
	&mem_total_attr.attr,
	&events_attr.attr,
	&lost_attr.attr,
	&forgotten_attr.attr,
	NULL
};

static const struct attribute_group gpu_group = { .attrs = gpu_attrs };

static struct kobject *gpu;

/* Its files at once, whenever it is released. */
static void remove_gpu(void)
{
	kobject_del(gpu);
	kobject_put(gpu);
}

/**
 * memledger_sysfs_add_gpu - make gpu/
 * @root: the directory to make it in
 *
 * Return: 0 or a negative errno, and then nothing is there.
 */
int __init memledger_sysfs_add_gpu(struct kobject *root)
{
	int ret;

	gpu = kobject_create_and_add("gpu", root);
	if (!gpu)
		return -ENOMEM;
	ret = sysfs_create_group(gpu, &gpu_group);
	if (!ret)
		ret = memledger_sysfs_add_carveouts(gpu);
	if (ret)
		remove_gpu();
	return ret;
}

/**
 * memledger_sysfs_remove_gpu - remove gpu/
 *
 * Context: waits for the readers of its files.
 */
void memledger_sysfs_remove_gpu(void)
{
	memledger_sysfs_remove_carveouts();
	remove_gpu();
}
