/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes by name, and what proc says of one.
 */
#ifndef _MEMLEDGER_TOOLS_PROCESS_H
#define _MEMLEDGER_TOOLS_PROCESS_H

#include <sys/types.h>

#include <memledger/env.h>

#include "error.h"

void memledger_process_read(const char *proc, pid_t pid, const char *file,
			    char *text, size_t size);
bool memledger_process_has_numbers(const char *proc);
u64 memledger_process_start_ticks(const char *proc, pid_t pid);
bool memledger_process_has_exited(const char *proc, pid_t pid,
				  u64 start_ticks);
int memledger_process_find(const char *name, const char *proc, pid_t *pid,
			   struct memledger_error *error);

#endif
