/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What GPU drivers say through the tracepoint gpu_mem_total, on request.
 */
#ifndef _MEMLEDGER_GPU_TOTALS_H
#define _MEMLEDGER_GPU_TOTALS_H

#include "gpu_values.h"

/**
 * struct memledger_gpu_totals_info - what there is to say of the events
 * @since_ns: when they were switched on, CLOCK_BOOTTIME
 * @events: how many there have been since
 * @lost: those of them whose value could not be noted
 * @forgotten: processes with a value of 0 that gave way to newer ones
 */
struct memledger_gpu_totals_info {
	u64 since_ns;
	u64 events;
	u64 lost;
	u64 forgotten;
};

/**
 * struct memledger_gpu_totals - a copy of the last values
 * @info: about the events, up to the last of @values
 * @values: by GPU, then by process
 * @nr: how many
 */
struct memledger_gpu_totals {
	struct memledger_gpu_totals_info info;
	struct memledger_gpu_value *values;
	unsigned int nr;
};

bool memledger_gpu_totals_supported(void);
bool memledger_gpu_totals_enabled(void);
int memledger_gpu_totals_enable(bool on);
void memledger_gpu_totals_exit(void);

int memledger_gpu_totals_info(struct memledger_gpu_totals_info *info);
int memledger_gpu_totals_get(pid_t tgid, u64 *size);
int memledger_gpu_totals_read(struct memledger_gpu_totals *totals);
void memledger_gpu_totals_free(struct memledger_gpu_totals *totals);
bool memledger_gpu_value_is_stale(const struct memledger_gpu_value *value);

#endif
