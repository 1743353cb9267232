/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A running process, through /sys/kernel/memledger, into a report.
 */
#ifndef _MEMLEDGER_TOOLS_LIVE_H
#define _MEMLEDGER_TOOLS_LIVE_H

#include "module.h"
#include "report.h"

/**
 * struct memledger_live - a snapshot of a running process
 * @report: the numbers; its strings are those below
 * @record: as the module gave it
 * @source: the file it came from
 * @kernel: release of the running kernel
 * @details: text of the file in debugfs that was asked for; NULL if none was.
 *	To be freed
 */
struct memledger_live {
	struct memledger_report report;
	struct memledger_record record;
	char source[512];
	char kernel[128];
	char *details;
};

/**
 * struct memledger_live_wanted - what to read of a process
 * @profile: the rules to apply, or NULL for those that the module applies
 * @file: a file of the process's directory in debugfs to read as well, or NULL;
 *	the report then says that it is of that
 * @more: NULL, or reads more of the process while it is tracked, once the
 *	record of @live has been read; returns enum memledger_outcome, or -1 with
 *	the error set. It may be called again, and then begins afresh
 * @data: for @more
 */
struct memledger_live_wanted {
	const char *profile;
	const char *file;
	int (*more)(const struct memledger_module *module,
		    const struct memledger_live *live, void *data);
	void *data;
};

int memledger_live_read_record(const struct memledger_module *module,
			       pid_t pid, const char *profile,
			       struct memledger_record *record);
int memledger_live_read(const char *sysfs, pid_t pid,
			const struct memledger_live_wanted *wanted,
			struct memledger_live *live,
			struct memledger_error *error);

#endif
