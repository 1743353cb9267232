// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the snapshot of all DMA-BUFs to /sys/kernel/memledger/dmabuf, one value
 * a file. docs/ABI/testing/sysfs-kernel-memledger-dmabuf has every file.
 */
#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "dmabuf.h"
#include "target.h"

static ssize_t max_age_ms_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(memledger_dmabuf_max_age_ms));
}

static ssize_t max_age_ms_store(struct kobject *kobj,
				struct kobj_attribute *attr, const char *buf,
				size_t len)
{
	unsigned int value;

	if (!memledger_access_allowed())
		return -EPERM;
	if (kstrtouint(buf, 10, &value) || value > MEMLEDGER_MAX_AGE_MS_LIMIT)
		return -EINVAL;
	WRITE_ONCE(memledger_dmabuf_max_age_ms, value);
	return len;
}

static struct kobj_attribute max_age_ms_attr =
	__ATTR_RW_MODE(max_age_ms, 0600);

static ssize_t refresh_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t len)
{
	struct memledger_dmabuf_snapshot *snapshot;

	if (!memledger_access_allowed())
		return -EPERM;
	if (!sysfs_streq(buf, "1"))
		return -EINVAL;
	snapshot = memledger_dmabuf_snapshot_get(0, MEMLEDGER_SNAPSHOT_NEW,
						 NULL);
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	memledger_dmabuf_snapshot_put(snapshot);
	return len;
}

static struct kobj_attribute refresh_attr = __ATTR_WO(refresh);

static ssize_t generation_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	struct memledger_dmabuf_snapshot *snapshot;
	u64 generation = 0;

	if (!memledger_access_allowed())
		return -EPERM;
	snapshot = memledger_dmabuf_snapshot_get(0, MEMLEDGER_SNAPSHOT_LAST,
						 NULL);
	if (!IS_ERR(snapshot)) {
		generation = snapshot->generation;
		memledger_dmabuf_snapshot_put(snapshot);
	}
	return sysfs_emit(buf, "%llu\n", generation);
}

static struct kobj_attribute generation_attr =
	__ATTR_RO_MODE(generation, 0400);

/* A number of a snapshot of the given mode. */
#define VALUE_ATTR(name, mode, value)					\
static ssize_t name##_show(struct kobject *kobj,			\
			   struct kobj_attribute *attr, char *buf)	\
{									\
	struct memledger_dmabuf_snapshot *snapshot;			\
	u64 number;							\
									\
	if (!memledger_access_allowed())				\
		return -EPERM;						\
	snapshot = memledger_dmabuf_snapshot_get(0, mode, NULL);	\
	if (IS_ERR(snapshot))						\
		return PTR_ERR(snapshot);				\
	number = value;							\
	memledger_dmabuf_snapshot_put(snapshot);			\
	return sysfs_emit(buf, "%llu\n", number);			\
}									\
static struct kobj_attribute name##_attr = __ATTR_RO_MODE(name, 0400)

/* About the snapshot: these never take one. */
VALUE_ATTR(timestamp_ns, MEMLEDGER_SNAPSHOT_LAST, snapshot->timestamp_ns);
VALUE_ATTR(walk_ns, MEMLEDGER_SNAPSHOT_LAST, snapshot->walk_ns);
VALUE_ATTR(complete, MEMLEDGER_SNAPSHOT_LAST, snapshot->complete);

VALUE_ATTR(count, MEMLEDGER_SNAPSHOT_FRESH, snapshot->table.nr_buffers);
VALUE_ATTR(size, MEMLEDGER_SNAPSHOT_FRESH, snapshot->table.size);
VALUE_ATTR(holders, MEMLEDGER_SNAPSHOT_FRESH, snapshot->table.nr_processes);

/* Only the kernel's list has buffers that no process holds. */
static ssize_t show_unattributed(char *buf, bool want_size)
{
	struct memledger_dmabuf_snapshot *snapshot;
	bool listed;
	u64 number;

	if (!memledger_access_allowed())
		return -EPERM;
	if (!memledger_dmabuf_has_list())
		return -EOPNOTSUPP;
	snapshot = memledger_dmabuf_snapshot_get(0, MEMLEDGER_SNAPSHOT_FRESH,
						 NULL);
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	listed = snapshot->listed;
	number = want_size ? snapshot->table.unattributed_size :
		 snapshot->table.unattributed_count;
	memledger_dmabuf_snapshot_put(snapshot);
	return listed ? sysfs_emit(buf, "%llu\n", number) : -ENODATA;
}

static ssize_t unattributed_count_show(struct kobject *kobj,
				       struct kobj_attribute *attr, char *buf)
{
	return show_unattributed(buf, false);
}

static struct kobj_attribute unattributed_count_attr =
	__ATTR_RO_MODE(unattributed_count, 0400);

static ssize_t unattributed_size_show(struct kobject *kobj,
				      struct kobj_attribute *attr, char *buf)
{
	return show_unattributed(buf, true);
}

static struct kobj_attribute unattributed_size_attr =
	__ATTR_RO_MODE(unattributed_size, 0400);

static struct attribute *dmabuf_attrs[] = {
	&max_age_ms_attr.attr,
	&refresh_attr.attr,
	&generation_attr.attr,
	&timestamp_ns_attr.attr,
	&walk_ns_attr.attr,
	&complete_attr.attr,
	&count_attr.attr,
	&size_attr.attr,
	&holders_attr.attr,
	&unattributed_count_attr.attr,
	&unattributed_size_attr.attr,
	NULL
};

/* /sys/kernel/memledger/dmabuf */
const struct attribute_group memledger_sysfs_dmabuf_group = {
	.name = "dmabuf",
	.attrs = dmabuf_attrs,
};
