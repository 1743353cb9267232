/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel module's files, in sysfs and debugfs, and what to do where one of
 * them does not say what was asked for.
 */
#ifndef _MEMLEDGER_TOOLS_MODULE_H
#define _MEMLEDGER_TOOLS_MODULE_H

#include <sys/types.h>

#include <memledger/env.h>

#include "error.h"

/* So often can somebody else be in the way: replace the snapshot, or untrack. */
#define MEMLEDGER_MODULE_TRIES	16

/**
 * enum memledger_outcome - what can come of reading a process's file, beside
 *	-1 with the error set
 * @MEMLEDGER_EXITED: the process has exited; the error says so, too
 * @MEMLEDGER_GOT: what was asked for
 * @MEMLEDGER_NO_SNAPSHOT: there is none, and reading does not make one
 * @MEMLEDGER_NOT_TRACKED: the process is not tracked any more
 * @MEMLEDGER_NEW_SNAPSHOT: what was read belongs to two of them
 */
enum memledger_outcome {
	MEMLEDGER_EXITED = -2,
	MEMLEDGER_GOT = 0,
	MEMLEDGER_NO_SNAPSHOT,
	MEMLEDGER_NOT_TRACKED,
	MEMLEDGER_NEW_SNAPSHOT,
};

/**
 * struct memledger_module - the module's files
 * @sysfs: where sysfs is mounted
 * @error: whom to tell what went wrong with one
 */
struct memledger_module {
	const char *sysfs;
	struct memledger_error *error;
};

int memledger_module_check(const struct memledger_module *module);
int memledger_module_open(const struct memledger_module *module,
			  const char *file, int flags);
int memledger_module_read(const struct memledger_module *module,
			  const char *file, char *value, size_t size);
int memledger_module_read_number(const struct memledger_module *module,
				 const char *file, u64 *number);
int memledger_module_write(const struct memledger_module *module,
			   const char *file, const char *value);
int memledger_module_read_table(const struct memledger_module *module,
				const char *file, char **text);
int memledger_module_fail(const struct memledger_module *module,
			  const char *what, int err);
int memledger_module_fail_table(const struct memledger_module *module,
				const char *file, int err);
int memledger_module_outcome(const struct memledger_module *module,
			     const char *what, int err);
int memledger_module_begin(const struct memledger_module *module, pid_t pid);
void memledger_module_end(const struct memledger_module *module, pid_t pid);
int memledger_module_track(const struct memledger_module *module, pid_t pid,
			   int (*read)(const struct memledger_module *module,
				       pid_t pid, void *data), void *data);

#endif
