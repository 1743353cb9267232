// SPDX-License-Identifier: GPL-2.0-only
/*
 * From values as they come to a table of the last one of each GPU and process.
 *
 * Nothing here sleeps, allocates or frees, since callers hold a lock under which
 * none of that can be done; only memledger_gpu_values_free() is not for them.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "gpu_values.h"

static u64 value_key(const struct memledger_gpu_value *value)
{
	return (u64)value->gpu << 32 | value->tgid;
}

static struct memledger_gpu_values_entry *node_entry(struct rb_node *node)
{
	return rb_entry_safe(node, struct memledger_gpu_values_entry, node);
}

/* The first entry that is not below @key. */
static struct memledger_gpu_values_entry *
find_from(const struct memledger_gpu_values *table, u64 key)
{
	struct memledger_gpu_values_entry *entry, *found = NULL;
	struct rb_node *node = table->root.rb_node;

	while (node) {
		entry = node_entry(node);
		if (value_key(&entry->value) < key) {
			node = node->rb_right;
		} else {
			found = entry;
			node = node->rb_left;
		}
	}
	return found;
}

static struct memledger_gpu_values_entry *
find_entry(const struct memledger_gpu_values *table, u64 key)
{
	struct memledger_gpu_values_entry *entry = find_from(table, key);

	return entry && value_key(&entry->value) == key ? entry : NULL;
}

static void insert_entry(struct memledger_gpu_values *table,
			 struct memledger_gpu_values_entry *entry)
{
	struct rb_node **link = &table->root.rb_node, *parent = NULL;
	u64 key = value_key(&entry->value);

	while (*link) {
		parent = *link;
		if (key < value_key(&node_entry(parent)->value))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&entry->node, parent, link);
	rb_insert_color(&entry->node, &table->root);
	INIT_LIST_HEAD(&entry->zero);
	table->nr++;
}

static void remove_zero(struct memledger_gpu_values *table,
			struct memledger_gpu_values_entry *entry)
{
	if (list_empty(&entry->zero))
		return;
	list_del_init(&entry->zero);
	table->nr_zeros--;
}

/* There are no more sums of all processes than GPUs: these are kept. */
static void add_zero(struct memledger_gpu_values *table,
		     struct memledger_gpu_values_entry *entry)
{
	if (entry->value.size || !entry->value.tgid)
		return;
	list_add_tail(&entry->zero, &table->zeros);
	table->nr_zeros++;
}

static struct memledger_gpu_values_entry *
forget_oldest_zero(struct memledger_gpu_values *table)
{
	struct memledger_gpu_values_entry *entry =
		list_first_entry(&table->zeros,
				 struct memledger_gpu_values_entry, zero);

	remove_zero(table, entry);
	rb_erase(&entry->node, &table->root);
	table->nr--;
	table->forgotten++;
	return entry;
}

/**
 * memledger_gpu_values_init - make an empty table
 * @table: the table
 */
void memledger_gpu_values_init(struct memledger_gpu_values *table)
{
	*table = (struct memledger_gpu_values) { .root = RB_ROOT };
	INIT_LIST_HEAD(&table->zeros);
}

/**
 * memledger_gpu_values_free - free all entries
 * @table: the table, empty afterwards
 *
 * Context: process context; may sleep. Nobody else uses the table.
 */
void memledger_gpu_values_free(struct memledger_gpu_values *table)
{
	struct memledger_gpu_values_entry *entry, *next;

	rbtree_postorder_for_each_entry_safe(entry, next, &table->root, node) {
		kfree(entry);
		cond_resched();
	}
	memledger_gpu_values_init(table);
}

/**
 * memledger_gpu_values_set - note a value
 * @table: the table
 * @value: the value
 * @spare: memory for an entry from kmalloc(), or NULL; set to NULL if it was
 *	needed
 * @dropped: gets an entry that was forgotten, for kfree(), or NULL
 *
 * Context: any; does not sleep. The caller keeps others away from @table.
 * Return: 0; if there is no entry yet: -ENOENT without *@spare, -ENOSPC if the
 * table is full. Then nothing has changed.
 */
int memledger_gpu_values_set(struct memledger_gpu_values *table,
			     const struct memledger_gpu_value *value,
			     struct memledger_gpu_values_entry **spare,
			     struct memledger_gpu_values_entry **dropped)
{
	struct memledger_gpu_values_entry *entry;

	*dropped = NULL;
	entry = find_entry(table, value_key(value));
	if (!entry) {
		if (table->nr == MEMLEDGER_GPU_VALUES_MAX)
			return -ENOSPC;
		if (!*spare)
			return -ENOENT;
		entry = *spare;
		*spare = NULL;
		entry->value = *value;
		insert_entry(table, entry);
	}
	/* Whoever had to get memory first may come with an older one. */
	if (value->when_ns < entry->value.when_ns)
		return 0;
	remove_zero(table, entry);
	entry->value = *value;
	add_zero(table, entry);
	if (table->nr_zeros > MEMLEDGER_GPU_VALUES_ZEROS_MAX)
		*dropped = forget_oldest_zero(table);
	return 0;
}

/**
 * memledger_gpu_values_find - look a value up
 * @table: the table
 * @gpu: of which GPU
 * @tgid: of which process
 * @value: gets it
 *
 * Context: any; does not sleep. The caller keeps others away from @table.
 * Return: false if there is none.
 */
bool memledger_gpu_values_find(const struct memledger_gpu_values *table,
			       u32 gpu, u32 tgid,
			       struct memledger_gpu_value *value)
{
	const struct memledger_gpu_value key = { .gpu = gpu, .tgid = tgid };
	struct memledger_gpu_values_entry *entry;

	entry = find_entry(table, value_key(&key));
	if (entry)
		*value = entry->value;
	return entry;
}

/**
 * memledger_gpu_values_copy - get values in order, some at a time
 * @table: the table
 * @after: the last value that was got, or NULL for the first
 * @values: gets values
 * @max: how many at the most
 *
 * Context: any; does not sleep. The caller keeps others away from @table.
 * Return: how many; fewer than @max at the end.
 */
unsigned int
memledger_gpu_values_copy(const struct memledger_gpu_values *table,
			  const struct memledger_gpu_value *after,
			  struct memledger_gpu_value *values, unsigned int max)
{
	struct memledger_gpu_values_entry *entry;
	unsigned int nr = 0;

	/* Nothing comes after the last key, to which 1 cannot be added. */
	if (after && value_key(after) == U64_MAX)
		return 0;
	entry = find_from(table, after ? value_key(after) + 1 : 0);
	while (entry && nr < max) {
		values[nr++] = entry->value;
		entry = node_entry(rb_next(&entry->node));
	}
	return nr;
}
