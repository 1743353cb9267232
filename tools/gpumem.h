/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tracepoint gpu_mem_total told of each GPU and process, from the
 * module's gpumem file.
 */
#ifndef _MEMLEDGER_TOOLS_GPUMEM_H
#define _MEMLEDGER_TOOLS_GPUMEM_H

#include <memledger/env.h>

#include "error.h"
#include "module.h"

int memledger_gpumem_read_text(const struct memledger_module *module,
			       char **text);
int memledger_gpumem_print(FILE *out, char *text, const char *source,
			   const char *kernel, bool json,
			   struct memledger_error *error);

#endif
