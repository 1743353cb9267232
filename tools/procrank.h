/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of each process is in RAM and in swap, as procrank prints it, and as
 * dumpsys meminfo without a process does.
 */
#ifndef _MEMLEDGER_TOOLS_PROCRANK_H
#define _MEMLEDGER_TOOLS_PROCRANK_H

#include "ram.h"
#include "system_live.h"

void memledger_procrank_print(FILE *out,
			      const struct memledger_system_live *live,
			      const struct memledger_ram *ram, bool oom,
			      size_t top);
void memledger_system_print(FILE *out, struct memledger_system_live *live,
			    const struct memledger_ram *ram);

#endif
