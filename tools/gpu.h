/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process's graphics memory: numbers, entries of its GPU driver, and DRM
 * clients.
 */
#ifndef _MEMLEDGER_TOOLS_GPU_H
#define _MEMLEDGER_TOOLS_GPU_H

#include "drm.h"
#include "gpu_entries.h"
#include "gpu_numbers.h"

/**
 * struct memledger_gpu - all that is known of a process's graphics memory
 * @numbers: from sysfs, of the snapshot of @live
 * @details: text of the module's gpu file; NULL where it could not be read
 * @why: why it could not
 * @entries: what is in @details
 * @drm: the DRM clients
 * @live: the snapshot
 */
struct memledger_gpu {
	struct memledger_gpu_numbers numbers;
	char *details;
	char why[512];
	struct memledger_gpu_entries entries;
	struct memledger_drm drm;
	struct memledger_live live;
};

int memledger_gpu_read(struct memledger_gpu *gpu, const char *sysfs,
		       const char *proc, pid_t pid,
		       struct memledger_error *error);
bool memledger_gpu_complete(const struct memledger_gpu *gpu);
void memledger_gpu_print(FILE *out, const struct memledger_gpu *gpu,
			 bool entries);
void memledger_gpu_print_json(FILE *out, const struct memledger_gpu *gpu);
void memledger_gpu_free(struct memledger_gpu *gpu);

#endif
