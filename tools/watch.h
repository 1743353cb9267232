/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process, watched round after round, with a verdict.
 */
#ifndef _MEMLEDGER_TOOLS_WATCH_H
#define _MEMLEDGER_TOOLS_WATCH_H

#include "mark.h"
#include "verdict.h"

/* Of more the oldest are forgotten. */
#define MEMLEDGER_WATCH_MOST	4096

/**
 * struct memledger_watch_wanted - what to watch, and for how long
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @process: number or name; a name is looked up again when the process exits
 * @every_ms: between two rounds
 * @lines: a round is for each line of standard input instead
 * @rounds: how many, 0 for no end
 * @names: how many of the largest names to look at
 * @until: until the verdict is that; NR_MEMLEDGER_TRENDS for any
 * @mark_key: key, or first letter of a line, that takes a mark
 * @batch: a line for each round, and nothing that only a terminal understands
 * @json: what is printed in the end is JSON
 */
struct memledger_watch_wanted {
	const char *sysfs;
	const char *proc;
	const char *process;
	u64 every_ms;
	bool lines;
	u32 rounds;
	u32 names;
	enum memledger_trend_kind until;
	char mark_key;
	bool batch;
	bool json;
};

int memledger_watch_run(const struct memledger_watch_wanted *wanted,
			struct memledger_error *error);

#endif
