/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is what memledger says of a process what the kernel says of it?
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <memledger/abi.h>

#include "vmas.h"

int record_read(struct memledger_record *record, pid_t tgid);
bool record_adds_up(const struct memledger_record *record);
int compare_process(pid_t tgid, bool with_files, struct vma_list *smaps);
bool compare_has_tool(void);
int compare_tool(pid_t tgid);

#endif
