/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes by name.
 */
#ifndef _MEMLEDGER_TOOLS_PROCESS_H
#define _MEMLEDGER_TOOLS_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

void memledger_process_read(const char *proc, pid_t pid, const char *file,
			    char *text, size_t size);
bool memledger_process_has_numbers(const char *proc);
int memledger_process_find(const char *name, const char *proc, pid_t *pid,
			   struct memledger_error *error);

#endif
