/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes: one after the other, and the memory of one. Private to the module.
 */
#ifndef _MEMLEDGER_PROCESS_H
#define _MEMLEDGER_PROCESS_H

#include <linux/types.h>

struct mm_struct;
struct pid;

struct mm_struct *memledger_process_mm(struct pid *pid);
bool memledger_process_is_alive(struct pid *pid);
int memledger_process_comm(struct pid *pid, char *buf, size_t size);
struct pid *memledger_process_next(pid_t *nr);

#endif
