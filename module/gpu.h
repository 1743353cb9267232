/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the bound GPU driver can be asked. Private to the module.
 */
#ifndef _MEMLEDGER_GPU_H
#define _MEMLEDGER_GPU_H

#include <memledger/provider.h>

/* No driver has more entries a process than this; one that goes on is ill. */
#define MEMLEDGER_GPU_ENTRIES_MAX	0x100000U

int memledger_gpu_init(void);
void memledger_gpu_exit(void);
bool memledger_gpu_name(char *name);
int memledger_gpu_total(u64 *bytes);
int memledger_gpu_entries(struct pid *pid, memledger_gpu_entry_fn fn,
			  void *arg);

#endif
