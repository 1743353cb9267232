// SPDX-License-Identifier: GPL-2.0-only
/*
 * From snapshots to /sys/kernel/memledger, one value a file; and from what is
 * written there to settings and targets. docs/ABI/testing has every file.
 *
 * A target has five kobjects (itself, category, subcategory, unknown, graphics),
 * and the rows below them are named attribute groups, so that all targets share the one
 * table of attributes that memledger_sysfs_init() fills in.
 */
#include <linux/kobject.h>
#include <linux/kref.h>
#include <linux/kstrtox.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include <memledger/summary.h>

#include "capture.h"
#include "compat.h"
#include "dmabuf.h"
#include "gpu_totals.h"
#include "snapshot.h"
#include "sysfs.h"
#include "target.h"

/*
 * The values of a row. The first nine are the usage fields; a row of category/
 * has all up to NR_CATEGORY_FIELDS, total/ has all.
 */
enum row_field {
#define X(name) FIELD_##name,
	MEMLEDGER_USAGE_FIELDS(X)
#undef X
	FIELD_uss,
	FIELD_vss,
	FIELD_vmas,
	FIELD_pss_floor,
	FIELD_swap_pss_floor,
	NR_CATEGORY_FIELDS,
	FIELD_shared_hugetlb = NR_CATEGORY_FIELDS,
	FIELD_private_hugetlb,
	NR_ROW_FIELDS
};

static const char *const row_field_names[NR_ROW_FIELDS] = {
#define X(name) \
	[FIELD_##name] = #name,
	MEMLEDGER_USAGE_FIELDS(X)
	X(uss)
	X(vss)
	X(vmas)
	X(pss_floor)
	X(swap_pss_floor)
	X(shared_hugetlb)
	X(private_hugetlb)
#undef X
};

/* What the rows of subcategory/ and unknown/ have. */
static const u8 detail_fields[] = {
	FIELD_pss, FIELD_rss, FIELD_private_dirty, FIELD_swap_pss,
};

#define NR_DETAIL_FIELDS	ARRAY_SIZE(detail_fields)

enum summary_field {
#define X(name) SUMMARY_##name,
	MEMLEDGER_SUMMARY_FIELDS(X)
#undef X
	NR_SUMMARY_FIELDS
};

static const char *const summary_field_names[NR_SUMMARY_FIELDS] = {
#define X(name) \
	[SUMMARY_##name] = #name,
	MEMLEDGER_SUMMARY_FIELDS(X)
#undef X
};

/* The numbers of graphics/ that are in the record. */
static const struct record_field {
	const char *name;
	u16 offset;
	u8 shift;
	u32 needs;
} graphics_fields[] = {
#define X(field) {							\
	.name = #field,							\
	.offset = offsetof(struct memledger_record, graphics.field),	\
	.needs = MEMLEDGER_UNAVAILABLE_MTRACK |				\
		 (offsetof(struct memledger_graphics, field) ==		\
		  offsetof(struct memledger_graphics, imported_mem) ?	\
		  MEMLEDGER_UNAVAILABLE_IMPORTED : 0),			\
},
	MEMLEDGER_GRAPHICS_FIELDS(X)
#undef X
	{
		.name = "device_rss",
		.offset = offsetof(struct memledger_record, device_rss),
	},
	{
		.name = "device_pss",
		.offset = offsetof(struct memledger_record, device_pss),
		.shift = MEMLEDGER_PSS_SHIFT,
	},
};

/* Those that are of the DMA-BUFs. */
static const struct {
	const char *name;
	u16 offset;
} dmabuf_fields[] = {
#define X(field) {							\
	.name = #field,							\
	.offset = offsetof(struct memledger_dmabuf_share, field),	\
},
	MEMLEDGER_DMABUF_SHARE_FIELDS(X)
#undef X
};

enum row_kind {
	ROW_TOTAL,
	ROW_CATEGORY,
	ROW_SUBCATEGORY,
	ROW_UNKNOWN,
};

/**
 * struct target_attribute - a file of a target
 * @attr: name and mode
 * @show: gives the value; NULL if it cannot be read
 * @store: takes a written text; NULL if it cannot be written
 * @kind: for a number of a row: enum row_kind
 * @row: which row of that kind
 * @field: which of its values: enum row_field, enum summary_field, of
 *	graphics_fields or dmabuf_fields, or enum memledger_gpu_usage
 * @offset: for what is about the snapshot: of a u64 in struct memledger_record
 */
struct target_attribute {
	struct attribute attr;
	ssize_t (*show)(struct memledger_target *target,
			const struct target_attribute *attr, char *buf);
	ssize_t (*store)(struct memledger_target *target, const char *buf,
			 size_t len);
	u8 kind;
	u8 row;
	u8 field;
	u16 offset;
};

enum target_node {
	NODE_TARGET,
	NODE_CATEGORY,
	NODE_SUBCATEGORY,
	NODE_UNKNOWN,
	NODE_GRAPHICS,
	NR_TARGET_NODES
};

/**
 * struct memledger_sysfs_dir - processes/TGID
 * @target: the process; the directory holds a reference
 * @nodes: its kobjects
 * @ref: one of the target's, and one of each kobject until it is released
 */
struct memledger_sysfs_dir {
	struct memledger_target *target;
	struct target_kobject {
		struct kobject kobj;
		struct memledger_sysfs_dir *dir;
	} nodes[NR_TARGET_NODES];
	struct kref ref;
};

static struct kset *root;
static struct kobject *processes;

static struct memledger_target *kobj_target(struct kobject *kobj)
{
	return container_of(kobj, struct target_kobject, kobj)->dir->target;
}

/**
 * memledger_sysfs_parse_switch - 0 or 1, and nothing else that might be meant
 * @buf: what was written
 * @on: gets which
 *
 * Return: 0 or -EINVAL.
 */
int memledger_sysfs_parse_switch(const char *buf, bool *on)
{
	if (!sysfs_streq(buf, "0") && !sysfs_streq(buf, "1"))
		return -EINVAL;
	*on = *buf == '1';
	return 0;
}

/*
 * The numbers of a target
 */

static ssize_t usage_show(const struct memledger_record *record,
			  const struct memledger_usage *usage,
			  enum row_field field, char *buf)
{
	u64 value = 0;

	switch (field) {
	case FIELD_swap_pss:
	case FIELD_swap_pss_floor:
		if (record->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS)
			return -EOPNOTSUPP;
		value = field == FIELD_swap_pss ?
			usage->swap_pss >> MEMLEDGER_PSS_SHIFT :
			usage->swap_pss_floor;
		break;
	case FIELD_pss:
		value = usage->pss >> MEMLEDGER_PSS_SHIFT;
		break;
	case FIELD_uss:
		value = memledger_usage_uss(usage);
		break;
#define X(name)						\
	case FIELD_##name:				\
		value = usage->name;			\
		break;
	X(swappable_pss)
	X(rss)
	X(private_dirty)
	X(shared_dirty)
	X(private_clean)
	X(shared_clean)
	X(swap)
	X(vss)
	X(vmas)
	X(pss_floor)
	X(shared_hugetlb)
	X(private_hugetlb)
#undef X
	case NR_ROW_FIELDS:
		return -EINVAL;
	}
	return sysfs_emit(buf, "%llu\n", value);
}

/* Rows that this kernel or profile does not have are not 0. */
static bool row_is_available(const struct memledger_record *record,
			     const struct target_attribute *attr)
{
	const struct memledger_profile *profile =
		memledger_profile_find(record->profile);

	if (!profile)
		return false;
	switch (attr->kind) {
	case ROW_CATEGORY:
		return memledger_profile_has_category(profile, attr->row,
						      record->unavailable);
	case ROW_SUBCATEGORY:
		return memledger_profile_has_subcategory(profile, attr->row,
							 record->unavailable);
	case ROW_UNKNOWN:
		return !(record->unavailable &
			 MEMLEDGER_UNAVAILABLE_ANON_NAMES) ||
		       !memledger_unknown_needs_name(attr->row);
	default:
		return true;
	}
}

static const struct memledger_usage *
attr_usage(const struct memledger_totals *totals,
	   const struct target_attribute *attr)
{
	switch (attr->kind) {
	case ROW_CATEGORY:
		return &totals->category[attr->row];
	case ROW_SUBCATEGORY:
		return &totals->subcategory[attr->row];
	case ROW_UNKNOWN:
		return &totals->unknown[attr->row];
	default:
		return &totals->total;
	}
}

static ssize_t row_show(struct memledger_target *target,
			const struct target_attribute *attr, char *buf)
{
	const struct memledger_record *record = &target->record;
	ssize_t ret;

	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_FRESH);
	if (ret)
		return ret;
	ret = -EOPNOTSUPP;
	if (row_is_available(record, attr))
		ret = usage_show(record, attr_usage(&record->totals, attr),
				 attr->field, buf);
	memledger_snapshot_unlock(target);
	return ret;
}

static ssize_t summary_show(struct memledger_target *target,
			    const struct target_attribute *attr, char *buf)
{
	const struct memledger_record *record = &target->record;
	struct memledger_summary summary;
	s64 value = 0;
	int ret;

	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_FRESH);
	if (ret)
		return ret;
	memledger_summary_compute(&summary, &record->totals,
				  memledger_profile_find(record->profile));
	if (attr->field == SUMMARY_total_swap_pss &&
	    record->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS)
		ret = -EOPNOTSUPP;
	memledger_snapshot_unlock(target);
	if (ret)
		return ret;

	switch (attr->field) {
#define X(name)						\
	case SUMMARY_##name:				\
		value = summary.name;			\
		break;
	MEMLEDGER_SUMMARY_FIELDS(X)
#undef X
	}
	return sysfs_emit(buf, "%lld\n", value);
}

static ssize_t graphics_value_show(struct memledger_target *target,
				   const struct record_field *field, char *buf)
{
	const struct memledger_record *record = &target->record;
	ssize_t ret;

	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_FRESH);
	if (ret)
		return ret;
	ret = -EOPNOTSUPP;
	if (!(record->unavailable & field->needs))
		ret = sysfs_emit(buf, "%llu\n",
				 *(u64 *)((void *)record + field->offset) >>
				 field->shift);
	memledger_snapshot_unlock(target);
	return ret;
}

static ssize_t graphics_show(struct memledger_target *target,
			     const struct target_attribute *attr, char *buf)
{
	return graphics_value_show(target, &graphics_fields[attr->field], buf);
}

static ssize_t gpu_usage_show(struct memledger_target *target,
			      const struct target_attribute *attr, char *buf)
{
	const struct record_field field = {
		.offset = offsetof(struct memledger_record, graphics.usage) +
			  attr->field * sizeof(u64),
		.needs = MEMLEDGER_UNAVAILABLE_MTRACK,
	};

	return graphics_value_show(target, &field, buf);
}

/*
 * The process's share of all DMA-BUFs, whose snapshot is another and goes by
 * numbers: that was the target's throughout if the target is alive afterwards.
 */
static int share_get(struct memledger_target *target,
		     struct memledger_dmabuf_share *share)
{
	int ret;

	ret = memledger_dmabuf_share_get(target->nr, MEMLEDGER_SNAPSHOT_FRESH,
					 &target->dying, share);
	if (!ret && !memledger_target_is_alive(target))
		ret = -ESRCH;
	return ret;
}

static ssize_t dmabuf_share_show(struct memledger_target *target,
				 const struct target_attribute *attr, char *buf)
{
	struct memledger_dmabuf_share share;
	int ret;

	ret = share_get(target, &share);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n",
			  *(u64 *)((void *)&share +
				   dmabuf_fields[attr->field].offset));
}

static ssize_t gpu_mem_total_show(struct memledger_target *target,
				  const struct target_attribute *attr,
				  char *buf)
{
	u64 size;
	int ret;

	ret = memledger_gpu_totals_get(target->nr, &size);
	if (!memledger_target_is_alive(target))
		ret = -ESRCH;
	return ret ?: sysfs_emit(buf, "%llu\n", size);
}

static struct target_attribute gpu_mem_total_attr = {
	.attr = { .name = "gpu_mem_total", .mode = 0400 },
	.show = gpu_mem_total_show,
};

/* Each byte once: what is in two of the sources is taken from one. */
static ssize_t graphics_total_show(struct memledger_target *target,
				   const struct target_attribute *attr,
				   char *buf)
{
	const struct memledger_record *record = &target->record;
	struct memledger_dmabuf_share share;
	u64 total = 0;
	int ret;

	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_FRESH);
	if (ret)
		return ret;
	if (record->unavailable & MEMLEDGER_UNAVAILABLE_MTRACK)
		ret = -EOPNOTSUPP;
	else
		total = memledger_graphics_total(&record->totals,
						 &record->graphics,
						 record->device_pss);
	memledger_snapshot_unlock(target);
	ret = ret ?: share_get(target, &share);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%zu\n", size_add(total, share.dmabuf_pss));
}

static struct target_attribute graphics_total_attr = {
	.attr = { .name = "total", .mode = 0400 },
	.show = graphics_total_show,
};

static struct attribute *graphics_other_attrs[] = {
	&gpu_mem_total_attr.attr,
	&graphics_total_attr.attr,
	NULL
};

/* About the snapshot: never takes one. */
static ssize_t last_show(struct memledger_target *target,
			 const struct target_attribute *attr, char *buf)
{
	u64 value, generation;
	int ret;

	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_LAST);
	if (ret)
		return ret;
	generation = target->record.generation;
	value = *(u64 *)((void *)&target->record + attr->offset);
	memledger_snapshot_unlock(target);
	if (!generation && attr->offset != offsetof(struct memledger_record,
						    generation))
		return -ENODATA;
	return sysfs_emit(buf, "%llu\n", value);
}

#define LAST_ATTR(member)						\
static struct target_attribute member##_attr = {			\
	.attr = { .name = #member, .mode = 0400 },			\
	.show = last_show,						\
	.offset = offsetof(struct memledger_record, member),		\
}

LAST_ATTR(generation);
LAST_ATTR(timestamp_ns);
LAST_ATTR(walk_ns);
LAST_ATTR(lock_hold_max_ns);

static ssize_t complete_show(struct memledger_target *target,
			     const struct target_attribute *attr, char *buf)
{
	bool taken, complete;
	int ret;

	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_LAST);
	if (ret)
		return ret;
	taken = target->record.generation;
	complete = target->record.complete;
	memledger_snapshot_unlock(target);
	return taken ? sysfs_emit(buf, "%d\n", complete) : -ENODATA;
}

static struct target_attribute complete_attr = {
	.attr = { .name = "complete", .mode = 0400 },
	.show = complete_show,
};

static ssize_t comm_show(struct memledger_target *target,
			 const struct target_attribute *attr, char *buf)
{
	char comm[TASK_COMM_LEN], text[MEMLEDGER_COMM_TEXT_LEN];
	int ret;

	ret = memledger_target_comm(target, comm, sizeof(comm));
	if (ret)
		return ret;
	memledger_comm_escape(comm, text, sizeof(text));
	return sysfs_emit(buf, "%s\n", text);
}

static struct target_attribute comm_attr = {
	.attr = { .name = "comm", .mode = 0400 },
	.show = comm_show,
};

static ssize_t refresh_store(struct memledger_target *target, const char *buf,
			     size_t len)
{
	int ret;

	if (!sysfs_streq(buf, "1"))
		return -EINVAL;
	ret = memledger_snapshot_lock(target, MEMLEDGER_SNAPSHOT_NEW);
	if (ret)
		return ret;
	memledger_snapshot_unlock(target);
	return len;
}

static struct target_attribute refresh_attr = {
	.attr = { .name = "refresh", .mode = 0200 },
	.store = refresh_store,
};

static ssize_t capture_show(struct memledger_target *target,
			    const struct target_attribute *attr, char *buf)
{
	struct memledger_capture_info info;

	return sysfs_emit(buf, "%d\n",
			  memledger_capture_info(target->pid, &info));
}

static ssize_t capture_store(struct memledger_target *target, const char *buf,
			     size_t len)
{
	bool on;
	int ret;

	ret = memledger_sysfs_parse_switch(buf, &on);
	if (ret)
		return ret;
	if (on)
		ret = memledger_capture_start(target->pid);
	else
		memledger_capture_stop(target->pid);
	return ret ?: len;
}

static struct target_attribute capture_attr = {
	.attr = { .name = "capture", .mode = 0600 },
	.show = capture_show,
	.store = capture_store,
};

static struct attribute *target_attrs[] = {
	&comm_attr.attr,
	&generation_attr.attr,
	&timestamp_ns_attr.attr,
	&walk_ns_attr.attr,
	&lock_hold_max_ns_attr.attr,
	&complete_attr.attr,
	&refresh_attr.attr,
	&capture_attr.attr,
	NULL
};

static ssize_t record_read(struct file *file, struct kobject *kobj,
			   memledger_bin_attribute *attr, char *buf,
			   loff_t offset, size_t size)
{
	struct memledger_target *target = kobj_target(kobj);
	ssize_t ret;

	if (!memledger_access_allowed())
		return -EPERM;
	ret = memledger_snapshot_lock(target, offset ?
				      MEMLEDGER_SNAPSHOT_LAST :
				      MEMLEDGER_SNAPSHOT_FRESH);
	if (ret)
		return ret;
	ret = -ENODATA;
	if (target->record.generation)
		ret = memory_read_from_buffer(buf, size, &offset,
					      &target->record,
					      sizeof(target->record));
	memledger_snapshot_unlock(target);
	return ret;
}

static struct bin_attribute record_attr = {
	.attr = { .name = "record", .mode = 0400 },
	.size = sizeof(struct memledger_record),
	.read = record_read,
};

/*
 * The table of attributes: all alike but for row and field
 */

#define ROW_ATTRS(nr)			\
	struct target_attribute attr[nr];	\
	struct attribute *ptr[(nr) + 1];	\
	struct attribute_group group

static struct { ROW_ATTRS(NR_ROW_FIELDS); } total_row;
static struct { ROW_ATTRS(NR_SUMMARY_FIELDS); } summary_row;
static struct { ROW_ATTRS(NR_CATEGORY_FIELDS); }
	category_rows[NR_MEMLEDGER_CATEGORIES];
static struct { ROW_ATTRS(NR_DETAIL_FIELDS); }
	subcategory_rows[NR_MEMLEDGER_SUBCATEGORIES];
static struct { ROW_ATTRS(NR_DETAIL_FIELDS); }
	unknown_rows[NR_MEMLEDGER_UNKNOWN_CLASSES];

static struct { ROW_ATTRS(ARRAY_SIZE(graphics_fields)); } graphics_row;
static struct { ROW_ATTRS(ARRAY_SIZE(dmabuf_fields)); } dmabuf_row;
static struct { ROW_ATTRS(NR_MEMLEDGER_GPU_USAGES); } gpu_usage_row;

static const struct attribute_group target_group = { .attrs = target_attrs };

static const struct attribute_group *target_groups[] = {
	&target_group,
	&total_row.group,
	&summary_row.group,
	NULL
};

static const struct attribute_group *
	category_groups[NR_MEMLEDGER_CATEGORIES + 1];
static const struct attribute_group *
	subcategory_groups[NR_MEMLEDGER_SUBCATEGORIES + 1];
static const struct attribute_group *
	unknown_groups[NR_MEMLEDGER_UNKNOWN_CLASSES + 1];
static const struct attribute_group graphics_other_group = {
	.attrs = graphics_other_attrs,
};

static const struct attribute_group *graphics_groups[] = {
	&graphics_row.group,
	&dmabuf_row.group,
	&graphics_other_group,
	&gpu_usage_row.group,
	NULL
};

/* @fields: which of the values are there; NULL: the first @nr. */
static void __init init_row(struct target_attribute *attr,
			    struct attribute **ptr,
			    struct attribute_group *group, const char *name,
			    enum row_kind kind, unsigned int row,
			    const u8 *fields, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		u8 field = fields ? fields[i] : i;

		attr[i] = (struct target_attribute) {
			.attr = { .name = row_field_names[field], .mode = 0400 },
			.show = row_show,
			.kind = kind,
			.row = row,
			.field = field,
		};
		ptr[i] = &attr[i].attr;
	}
	group->name = name;
	group->attrs = ptr;
}

#define INIT_ROW(r, name, kind, row, fields) \
	init_row((r).attr, (r).ptr, &(r).group, name, kind, row, fields, \
		 ARRAY_SIZE((r).attr))

/* A file whose value is number @field of those that @show knows. */
static void __init init_attr(struct target_attribute *attr,
			     struct attribute **ptr, const char *name,
			     unsigned int field,
			     ssize_t (*show)(struct memledger_target *target,
					     const struct target_attribute *attr,
					     char *buf))
{
	*attr = (struct target_attribute) {
		.attr = { .name = name, .mode = 0400 },
		.show = show,
		.field = field,
	};
	*ptr = &attr->attr;
}

/* @value_name: what value number i is called. */
#define INIT_VALUES(r, value_name, group_name, show)			\
do {									\
	unsigned int i;							\
									\
	for (i = 0; i < ARRAY_SIZE((r).attr); i++)			\
		init_attr(&(r).attr[i], &(r).ptr[i], value_name, i,	\
			  show);					\
	(r).group.name = group_name;					\
	(r).group.attrs = (r).ptr;					\
} while (0)

static void __init init_values(void)
{
	INIT_VALUES(summary_row, summary_field_names[i], "summary",
		    summary_show);
	INIT_VALUES(graphics_row, graphics_fields[i].name, NULL,
		    graphics_show);
	INIT_VALUES(dmabuf_row, dmabuf_fields[i].name, NULL,
		    dmabuf_share_show);
	INIT_VALUES(gpu_usage_row, memledger_gpu_usage_names[i], "usage",
		    gpu_usage_show);
}

static void __init init_rows(void)
{
	unsigned int row;

	INIT_ROW(total_row, "total", ROW_TOTAL, 0, NULL);
	init_values();
	for (row = 0; row < NR_MEMLEDGER_CATEGORIES; row++) {
		INIT_ROW(category_rows[row], memledger_category_names[row],
			 ROW_CATEGORY, row, NULL);
		category_groups[row] = &category_rows[row].group;
	}
	for (row = 0; row < NR_MEMLEDGER_SUBCATEGORIES; row++) {
		INIT_ROW(subcategory_rows[row],
			 memledger_subcategory_names[row], ROW_SUBCATEGORY,
			 row, detail_fields);
		subcategory_groups[row] = &subcategory_rows[row].group;
	}
	for (row = 0; row < NR_MEMLEDGER_UNKNOWN_CLASSES; row++) {
		INIT_ROW(unknown_rows[row], memledger_unknown_names[row],
			 ROW_UNKNOWN, row, detail_fields);
		unknown_groups[row] = &unknown_rows[row].group;
	}
}

/*
 * A target's kobjects
 */

static ssize_t target_attr_show(struct kobject *kobj, struct attribute *attr,
				char *buf)
{
	struct target_attribute *target_attr =
		container_of(attr, struct target_attribute, attr);

	if (!memledger_access_allowed())
		return -EPERM;
	if (!target_attr->show)
		return -EIO;
	return target_attr->show(kobj_target(kobj), target_attr, buf);
}

static ssize_t target_attr_store(struct kobject *kobj, struct attribute *attr,
				 const char *buf, size_t len)
{
	struct target_attribute *target_attr =
		container_of(attr, struct target_attribute, attr);

	if (!memledger_access_allowed())
		return -EPERM;
	if (!target_attr->store)
		return -EIO;
	return target_attr->store(kobj_target(kobj), buf, len);
}

static const struct sysfs_ops target_sysfs_ops = {
	.show = target_attr_show,
	.store = target_attr_store,
};

static void release_dir(struct kref *ref)
{
	struct memledger_sysfs_dir *dir =
		container_of(ref, struct memledger_sysfs_dir, ref);
	struct memledger_target *target = dir->target;

	kfree(dir);
	memledger_target_put(target);
}

static void target_kobject_release(struct kobject *kobj)
{
	kref_put(&container_of(kobj, struct target_kobject, kobj)->dir->ref,
		 release_dir);
}

static const struct kobj_type target_ktype = {
	.sysfs_ops = &target_sysfs_ops,
	.release = target_kobject_release,
};

/* On failure the kobject has been, or will be, released. */
static int add_node(struct memledger_sysfs_dir *dir, enum target_node node,
		    struct kobject *parent,
		    const struct attribute_group **groups, const char *name)
{
	struct kobject *kobj = &dir->nodes[node].kobj;
	int ret;

	dir->nodes[node].dir = dir;
	kref_get(&dir->ref);
	ret = kobject_init_and_add(kobj, &target_ktype, parent, "%s", name);
	if (ret)
		goto err_put;
	ret = sysfs_create_groups(kobj, groups);
	if (ret)
		goto err_del;
	return 0;

	/* What was not added has left its kset already, or never joined it. */
err_del:
	kobject_del(kobj);
err_put:
	kobject_put(kobj);
	return ret;
}

static void remove_node(struct memledger_sysfs_dir *dir, enum target_node node)
{
	kobject_del(&dir->nodes[node].kobj);
	kobject_put(&dir->nodes[node].kobj);
}

/**
 * memledger_sysfs_add - make processes/TGID
 * @target: the process
 *
 * Return: 0 or what sysfs said, -ENOMEM as a rule; then nothing is there.
 */
int memledger_sysfs_add(struct memledger_target *target)
{
	struct memledger_sysfs_dir *dir;
	struct kernfs_node *polled;
	struct kobject *kobj;
	char name[16];
	int ret;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return -ENOMEM;
	kref_init(&dir->ref);
	memledger_target_get(target);
	dir->target = target;
	kobj = &dir->nodes[NODE_TARGET].kobj;
	/* Whose events user space gets. */
	kobj->kset = root;

	snprintf(name, sizeof(name), "%d", target->nr);
	ret = add_node(dir, NODE_TARGET, processes, target_groups, name);
	if (ret)
		goto err_put;
	ret = sysfs_create_bin_file(kobj, &record_attr);
	if (ret)
		goto err_target;
	ret = add_node(dir, NODE_CATEGORY, kobj, category_groups, "category");
	if (ret)
		goto err_target;
	ret = add_node(dir, NODE_SUBCATEGORY, kobj, subcategory_groups,
		       "subcategory");
	if (ret)
		goto err_category;
	ret = add_node(dir, NODE_UNKNOWN, kobj, unknown_groups, "unknown");
	if (ret)
		goto err_subcategory;
	ret = add_node(dir, NODE_GRAPHICS, kobj, graphics_groups, "graphics");
	if (ret)
		goto err_unknown;
	target->sysfs = dir;
	polled = sysfs_get_dirent(kobj->sd, "generation");
	WRITE_ONCE(target->polled, polled);
	/* Users are in already: there may have been a snapshot. */
	memledger_sysfs_notify(target);
	return 0;

err_unknown:
	remove_node(dir, NODE_UNKNOWN);
err_subcategory:
	remove_node(dir, NODE_SUBCATEGORY);
err_category:
	remove_node(dir, NODE_CATEGORY);
err_target:
	remove_node(dir, NODE_TARGET);
err_put:
	kref_put(&dir->ref, release_dir);
	return ret;
}

/**
 * memledger_sysfs_remove - remove processes/TGID
 * @target: the process
 *
 * Context: waits for the readers of its files; no lock that they take may be
 * held.
 */
void memledger_sysfs_remove(struct memledger_target *target)
{
	struct memledger_sysfs_dir *dir = target->sysfs;

	target->sysfs = NULL;
	remove_node(dir, NODE_GRAPHICS);
	remove_node(dir, NODE_UNKNOWN);
	remove_node(dir, NODE_SUBCATEGORY);
	remove_node(dir, NODE_CATEGORY);
	remove_node(dir, NODE_TARGET);
	/* Who sleeps in poll() is not woken by that: there is nothing to come. */
	memledger_sysfs_notify(target);
	kref_put(&dir->ref, release_dir);
}

/**
 * memledger_sysfs_notify - wake those who poll for new snapshots
 * @target: the process; its directory may be gone, or not there yet
 */
void memledger_sysfs_notify(struct memledger_target *target)
{
	struct kernfs_node *polled = READ_ONCE(target->polled);

	if (polled)
		sysfs_notify_dirent(polled);
}

/**
 * memledger_sysfs_tell_exit - tell user space that a process has exited
 * @target: the process; its directory is there, and stays meanwhile
 *
 * Everybody gets uevents, so that it has no more than the number, which is that
 * of a directory everybody sees. Nobody is told where there is no memory for
 * that.
 *
 * Context: process context; may sleep.
 */
void memledger_sysfs_tell_exit(struct memledger_target *target)
{
	char tgid[24];
	char *env[3] = { "EVENT=exit", tgid, NULL };

	snprintf(tgid, sizeof(tgid), "TGID=%d", target->nr);
	kobject_uevent_env(&target->sysfs->nodes[NODE_TARGET].kobj, KOBJ_CHANGE,
			   env);
	memledger_sysfs_notify(target);
}

/*
 * Settings, and what the kernel can tell
 */

static ssize_t abi_show(struct kobject *kobj, struct kobj_attribute *attr,
			char *buf)
{
	return sysfs_emit(buf, "%d\n", MEMLEDGER_ABI_VERSION);
}

static struct kobj_attribute abi_attr = __ATTR_RO(abi);

static ssize_t profile_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	const struct memledger_profile *used =
		READ_ONCE(memledger_settings.profile);
	unsigned int i;
	int len = 0;

	if (!memledger_access_allowed())
		return -EPERM;
	for (i = 0; i < nr_memledger_profiles; i++) {
		const struct memledger_profile *profile = &memledger_profiles[i];

		len += sysfs_emit_at(buf, len, profile == used ? "[%s]" : "%s",
				     profile->name);
		len += sysfs_emit_at(buf, len,
				     i + 1 < nr_memledger_profiles ? " " : "\n");
	}
	return len;
}

static ssize_t profile_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t len)
{
	const struct memledger_profile *profile = NULL;
	unsigned int i;

	if (!memledger_access_allowed())
		return -EPERM;
	for (i = 0; i < nr_memledger_profiles && !profile; i++) {
		if (sysfs_streq(buf, memledger_profiles[i].name))
			profile = &memledger_profiles[i];
	}
	if (!profile)
		return -EINVAL;
	WRITE_ONCE(memledger_settings.profile, profile);
	return len;
}

static struct kobj_attribute profile_attr = __ATTR_RW_MODE(profile, 0600);

static ssize_t imported_rule_show(struct kobject *kobj,
				  struct kobj_attribute *attr, char *buf)
{
	enum memledger_imported_rule used =
		READ_ONCE(memledger_settings.imported_rule);
	unsigned int i;
	int len = 0;

	if (!memledger_access_allowed())
		return -EPERM;
	for (i = 0; i < NR_MEMLEDGER_IMPORTED_RULES; i++) {
		len += sysfs_emit_at(buf, len, i == used ? "[%s]" : "%s",
				     memledger_imported_rule_names[i]);
		len += sysfs_emit_at(buf, len,
				     i + 1 < NR_MEMLEDGER_IMPORTED_RULES ?
				     " " : "\n");
	}
	return len;
}

static ssize_t imported_rule_store(struct kobject *kobj,
				   struct kobj_attribute *attr,
				   const char *buf, size_t len)
{
	int rule;

	if (!memledger_access_allowed())
		return -EPERM;
	rule = __sysfs_match_string(memledger_imported_rule_names,
				    NR_MEMLEDGER_IMPORTED_RULES, buf);
	if (rule < 0)
		return -EINVAL;
	WRITE_ONCE(memledger_settings.imported_rule, rule);
	return len;
}

static struct kobj_attribute imported_rule_attr =
	__ATTR_RW_MODE(imported_rule, 0600);

static ssize_t write_tgid(const char *buf, size_t len, int (*fn)(pid_t nr))
{
	pid_t nr;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	if (kstrtoint(buf, 10, &nr))
		return -EINVAL;
	ret = fn(nr);
	return ret ?: len;
}

static ssize_t track_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t len)
{
	return write_tgid(buf, len, memledger_target_track);
}

static struct kobj_attribute track_attr = __ATTR_WO(track);

static ssize_t untrack_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t len)
{
	return write_tgid(buf, len, memledger_target_untrack);
}

static struct kobj_attribute untrack_attr = __ATTR_WO(untrack);

static ssize_t write_setting(const char *buf, size_t len,
			     unsigned int *setting, unsigned int min,
			     unsigned int max)
{
	unsigned int value;

	if (!memledger_access_allowed())
		return -EPERM;
	if (kstrtouint(buf, 10, &value) || value < min || value > max)
		return -EINVAL;
	WRITE_ONCE(*setting, value);
	return len;
}

#define SETTING_ATTR(name, variable, min, max)				\
static ssize_t name##_show(struct kobject *kobj,			\
			   struct kobj_attribute *attr, char *buf)	\
{									\
	if (!memledger_access_allowed())						\
		return -EPERM;						\
	return sysfs_emit(buf, "%u\n", READ_ONCE(variable));		\
}									\
static ssize_t name##_store(struct kobject *kobj,			\
			    struct kobj_attribute *attr,		\
			    const char *buf, size_t len)		\
{									\
	return write_setting(buf, len, &(variable), min, max);		\
}									\
static struct kobj_attribute name##_attr = __ATTR_RW_MODE(name, 0600)

SETTING_ATTR(max_tracked, memledger_target_max, 1, MEMLEDGER_MAX_TRACKED_LIMIT);
SETTING_ATTR(max_age_ms, memledger_settings.max_age_ms, 0,
	     MEMLEDGER_MAX_AGE_MS_LIMIT);
SETTING_ATTR(slice_entries, memledger_settings.slice_entries, 1,
	     MEMLEDGER_SLICE_LIMIT);

#define KERNEL_ATTR(name, format, value)				\
static ssize_t name##_show(struct kobject *kobj,			\
			   struct kobj_attribute *attr, char *buf)	\
{									\
	return memledger_access_allowed() ? sysfs_emit(buf, format "\n", value) : -EPERM; \
}									\
static struct kobj_attribute name##_attr = __ATTR_RO_MODE(name, 0400)

KERNEL_ATTR(pss_method, "%s", memledger_snapshot_pss_method());
KERNEL_ATTR(anon_names, "%d", memledger_snapshot_has_anon_names());
KERNEL_ATTR(swap_pss, "%d", memledger_snapshot_has_swap_pss());

/* Two files of this name: the feature, and the switch below. */
static ssize_t feature_owner_capture_show(struct kobject *kobj,
					  struct kobj_attribute *attr,
					  char *buf)
{
	return memledger_access_allowed() ?
	       sysfs_emit(buf, "%d\n", memledger_capture_supported()) : -EPERM;
}

static struct kobj_attribute feature_owner_capture_attr =
	__ATTR(owner_capture, 0400, feature_owner_capture_show, NULL);

static ssize_t owner_capture_show(struct kobject *kobj,
				  struct kobj_attribute *attr, char *buf)
{
	if (!memledger_access_allowed())
		return -EPERM;
	return sysfs_emit(buf, "%d\n", memledger_capture_enabled());
}

static ssize_t owner_capture_store(struct kobject *kobj,
				   struct kobj_attribute *attr,
				   const char *buf, size_t len)
{
	bool on;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	ret = memledger_sysfs_parse_switch(buf, &on);
	if (!ret)
		ret = memledger_capture_enable(on);
	return ret ?: len;
}

static struct kobj_attribute owner_capture_attr =
	__ATTR_RW_MODE(owner_capture, 0600);

/* The last is track: once anybody can use it nothing may fail. */
static struct attribute *root_attrs[] = {
	&abi_attr.attr,
	&profile_attr.attr,
	&untrack_attr.attr,
	&max_tracked_attr.attr,
	&max_age_ms_attr.attr,
	&slice_entries_attr.attr,
	&pss_method_attr.attr,
	&imported_rule_attr.attr,
	&owner_capture_attr.attr,
	&memledger_sysfs_gpu_totals.attr,
	&track_attr.attr,
	NULL
};

KERNEL_ATTR(dmabuf_list, "%d", memledger_dmabuf_has_list());

static struct attribute *features_attrs[] = {
	&anon_names_attr.attr,
	&swap_pss_attr.attr,
	&dmabuf_list_attr.attr,
	&feature_owner_capture_attr.attr,
	&memledger_sysfs_feature_gpu_totals.attr,
	&memledger_sysfs_feature_gpu_provider.attr,
	&memledger_sysfs_feature_carveouts.attr,
	NULL
};

static const struct attribute_group root_group = { .attrs = root_attrs };
static const struct attribute_group features_group = {
	.name = "features",
	.attrs = features_attrs,
};

static const struct attribute_group *root_groups[] = {
	&features_group,
	&memledger_sysfs_dmabuf_group,
	&root_group,
	NULL
};

/**
 * memledger_sysfs_init - make /sys/kernel/memledger
 *
 * The last step of loading that may fail: from here on users are in.
 *
 * Return: 0 or a negative errno, and then nothing is there.
 */
int __init memledger_sysfs_init(void)
{
	int ret = -ENOMEM;

	init_rows();
	root = kset_create_and_add("memledger", NULL, kernel_kobj);
	if (!root)
		return ret;
	processes = kobject_create_and_add("processes", &root->kobj);
	if (!processes)
		goto err_root;
	ret = memledger_sysfs_add_gpu(&root->kobj);
	if (ret)
		goto err_processes;
	ret = sysfs_create_groups(&root->kobj, root_groups);
	if (ret)
		goto err_gpu;
	return 0;

err_gpu:
	memledger_sysfs_remove_gpu();
err_processes:
	kobject_put(processes);
err_root:
	kset_unregister(root);
	return ret;
}

/**
 * memledger_sysfs_close - let nobody track any more
 *
 * Waits for writers of settings and targets. The directories stay.
 */
void memledger_sysfs_close(void)
{
	sysfs_remove_groups(&root->kobj, root_groups);
	memledger_sysfs_remove_gpu();
}

/**
 * memledger_sysfs_exit - remove /sys/kernel/memledger, all targets being gone
 */
void memledger_sysfs_exit(void)
{
	kobject_put(processes);
	kset_unregister(root);
}
