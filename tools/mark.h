/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks: all that a process has at this moment, saved for later.
 */
#ifndef _MEMLEDGER_TOOLS_MARK_H
#define _MEMLEDGER_TOOLS_MARK_H

#include "state.h"

/**
 * struct memledger_mark_place - what to mark, and where things are
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @pid: the process, by its number in the initial pid namespace
 */
struct memledger_mark_place {
	const char *sysfs;
	const char *proc;
	pid_t pid;
};

int memledger_mark_take(const struct memledger_mark_place *place, char **text,
			size_t *len, struct memledger_error *error);
int memledger_mark_save(const char *path, const char *text, size_t len,
			struct memledger_error *error);
int memledger_mark_default(pid_t pid, char *path, size_t size,
			   struct memledger_error *error);

#endif
