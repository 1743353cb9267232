/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the memory of one process may be had. Each is a way::run of measure.h,
 * with a pid_t.
 */
#ifndef WAYS_H
#define WAYS_H

#include <memledger/abi.h>

void read_smaps(void *pid);
void parse_smaps(void *pid);
void read_rollup(void *pid);
void read_rollup_if_any(void *pid);
void parse_smaps_if_any(void *pid);
void take_snapshot(void *pid);
const struct memledger_record *last_record(void);

#endif
