/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last value of each (GPU, process), in that order. Private to the module
 * and free of locks, so that KUnit can do to it what no GPU driver would.
 */
#ifndef _MEMLEDGER_GPU_VALUES_H
#define _MEMLEDGER_GPU_VALUES_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

/* What all processes of several GPUs need together; 16 MB of entries. */
#define MEMLEDGER_GPU_VALUES_MAX		262144U

/*
 * A process that has freed everything, or exited, is told by a zero, which
 * nobody takes back: so many are kept, and then the oldest is forgotten.
 */
#define MEMLEDGER_GPU_VALUES_ZEROS_MAX	4096U

/**
 * struct memledger_gpu_value - what a GPU driver said last
 * @gpu: of which GPU
 * @tgid: of which process, in the initial pid namespace; 0: of all together
 * @size: bytes
 * @when_ns: CLOCK_BOOTTIME
 */
struct memledger_gpu_value {
	u32 gpu;
	u32 tgid;
	u64 size;
	u64 when_ns;
};

/**
 * struct memledger_gpu_values_entry - a value in the table
 * @node: in the tree, by GPU and process
 * @zero: in the list of zeros, or empty
 * @value: the value
 */
struct memledger_gpu_values_entry {
	struct rb_node node;
	struct list_head zero;
	struct memledger_gpu_value value;
};

/**
 * struct memledger_gpu_values - the table
 * @root: all entries
 * @zeros: those of processes whose value is 0, the oldest first
 * @nr: how many entries there are
 * @nr_zeros: how many of them are in @zeros
 * @forgotten: how many zeros were dropped for newer ones
 */
struct memledger_gpu_values {
	struct rb_root root;
	struct list_head zeros;
	unsigned int nr;
	unsigned int nr_zeros;
	u64 forgotten;
};

void memledger_gpu_values_init(struct memledger_gpu_values *table);
void memledger_gpu_values_free(struct memledger_gpu_values *table);
int memledger_gpu_values_set(struct memledger_gpu_values *table,
			     const struct memledger_gpu_value *value,
			     struct memledger_gpu_values_entry **spare,
			     struct memledger_gpu_values_entry **dropped);
bool memledger_gpu_values_find(const struct memledger_gpu_values *table,
			       u32 gpu, u32 tgid,
			       struct memledger_gpu_value *value);
unsigned int
memledger_gpu_values_copy(const struct memledger_gpu_values *table,
			  const struct memledger_gpu_value *after,
			  struct memledger_gpu_value *values, unsigned int max);

#endif
