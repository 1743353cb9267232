/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes by what they have in RAM, again and again.
 */
#ifndef _MEMLEDGER_TOOLS_TOP_H
#define _MEMLEDGER_TOOLS_TOP_H

#include "system_live.h"

/**
 * struct memledger_top_wanted - what to show
 * @order: of the processes
 * @delay_ms: between two pictures
 * @pictures: how many, 0 for no end
 * @lines: how many processes, 0 for all that there is room for
 * @batch: one picture below the other, without anything that only a terminal
 *	understands
 */
struct memledger_top_wanted {
	struct memledger_system_order order;
	unsigned int delay_ms;
	unsigned int pictures;
	size_t lines;
	bool batch;
};

int memledger_top_run(const char *sysfs, const char *proc,
		      const struct memledger_top_wanted *wanted,
		      struct memledger_error *error);

#endif
