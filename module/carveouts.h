/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The graphics carve-outs that a device tree tells of. Private to the module.
 */
#ifndef _MEMLEDGER_CARVEOUTS_H
#define _MEMLEDGER_CARVEOUTS_H

#include <linux/types.h>

/**
 * struct memledger_carveout - a region of memory that graphics hardware owns
 * @name: what the device tree calls it; a file name, and no other's
 * @owner: the path of the device that owns it; NULL if none is told
 * @start: physical address
 * @size: bytes
 * @reusable: whether the kernel uses it while the owner does not: it is inside
 *	MemTotal then, and else outside
 * @no_map: whether the kernel has no mapping of it
 */
struct memledger_carveout {
	const char *name;
	const char *owner;
	u64 start;
	u64 size;
	bool reusable;
	bool no_map;
};

int memledger_carveouts_init(void);
void memledger_carveouts_exit(void);
bool memledger_carveouts_known(void);
const struct memledger_carveout *memledger_carveout_get(unsigned int i);
int memledger_carveouts_sum(bool reusable, u64 *bytes);
u64 memledger_carveouts_mem_total(void);

#endif
