/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A saved /proc/PID/smaps text, mapping by mapping, into the rows of dumpsys
 * meminfo, and into a list.
 */
#ifndef _MEMLEDGER_TOOLS_SMAPS_H
#define _MEMLEDGER_TOOLS_SMAPS_H

#include "error.h"
#include "report.h"
#include "vmas.h"

int memledger_smaps_read(FILE *file, const char *name,
			 const struct memledger_profile *profile,
			 struct memledger_report *report,
			 struct memledger_vmas *vmas,
			 struct memledger_error *error);

#endif
