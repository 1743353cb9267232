/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process's samples into a file, one after the other.
 */
#ifndef _MEMLEDGER_TOOLS_RECORDER_H
#define _MEMLEDGER_TOOLS_RECORDER_H

#include "error.h"
#include "sampler.h"

/**
 * struct memledger_recorder_wanted - what to record
 * @path: the file
 * @every_ms: from one sample to the next
 * @rounds: how many samples, 0 for no end
 * @names: as in struct memledger_sampler
 * @buffers: likewise
 */
struct memledger_recorder_wanted {
	const char *path;
	u64 every_ms;
	u64 rounds;
	size_t names;
	bool buffers;
};

int memledger_recorder_run(const char *sysfs, const char *proc, pid_t pid,
			   const struct memledger_recorder_wanted *wanted,
			   u64 *rounds, struct memledger_error *error);

#endif
