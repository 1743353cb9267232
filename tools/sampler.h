/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A running process, sampled again and again: it stays tracked meanwhile, and
 * a sample is one read of its record, if no more is asked for.
 */
#ifndef _MEMLEDGER_TOOLS_SAMPLER_H
#define _MEMLEDGER_TOOLS_SAMPLER_H

#include "module.h"
#include "sample.h"

/**
 * struct memledger_sampler - what to sample, and how
 * @module: the module's files
 * @proc: where proc is mounted
 * @pid: the process, by its number in the initial pid namespace
 * @names: how many of its largest names to take down with each sample, 0 for
 *	none: they cost a walk of their own and a text to be read
 * @buffers: whether to take down the DMA-BUFs that it holds: they cost a pass
 *	over all processes, at most one in dmabuf/max_age_ms
 * @tracked: whether it is tracked because of us
 * @start_ticks: of the process that is tracked
 * @record: the last one read, for whoever wants more of it than the sample has
 */
struct memledger_sampler {
	struct memledger_module module;
	const char *proc;
	pid_t pid;
	size_t names;
	bool buffers;
	bool tracked;
	u64 start_ticks;
	struct memledger_record record;
};

/**
 * enum memledger_sampled - what came of it, beside -1 with the error set
 * @MEMLEDGER_SAMPLED: a sample
 * @MEMLEDGER_SAMPLER_EXITED: the process has exited
 */
enum memledger_sampled {
	MEMLEDGER_SAMPLED,
	MEMLEDGER_SAMPLER_EXITED,
};

int memledger_sampler_open(struct memledger_sampler *sampler);
int memledger_sampler_read(struct memledger_sampler *sampler,
			   struct memledger_sample *sample);
void memledger_sampler_close(struct memledger_sampler *sampler);

#endif
