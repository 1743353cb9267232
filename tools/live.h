/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A running process, through /sys/kernel/memledger, into a report.
 */
#ifndef _MEMLEDGER_TOOLS_LIVE_H
#define _MEMLEDGER_TOOLS_LIVE_H

#include <sys/types.h>

#include "error.h"
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

int memledger_live_read(const char *sysfs, pid_t pid, const char *profile,
			const char *file, struct memledger_live *live,
			struct memledger_error *error);

#endif
