/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording in forms that other programs read.
 */
#ifndef _MEMLEDGER_TOOLS_EXPORT_H
#define _MEMLEDGER_TOOLS_EXPORT_H

#include <stdio.h>

#include "journal.h"

void memledger_export_csv(FILE *out,
			  const struct memledger_recording *recording);
void memledger_export_csv_names(FILE *out,
				const struct memledger_recording *recording);
void memledger_export_chrome(FILE *out,
			     const struct memledger_recording *recording);
const char *memledger_export_comm(const struct memledger_recording *recording,
				  s32 tgid, size_t *len);

#endif
