/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who maps what, and what it costs whom, as librank prints it.
 */
#ifndef _MEMLEDGER_TOOLS_LIBRANK_H
#define _MEMLEDGER_TOOLS_LIBRANK_H

#include "mappings.h"
#include "system_live.h"

/**
 * struct memledger_librank_wanted - what to list
 * @order: of the processes of a name
 * @all: also stacks, heaps, and what has no name
 * @prefix: NULL, or what names begin with
 * @perms: NULL, or "r", "w", "x" in any combination: exactly these
 * @top: how many names, 0 for all
 */
struct memledger_librank_wanted {
	struct memledger_system_order order;
	bool all;
	const char *prefix;
	const char *perms;
	size_t top;
};

int memledger_librank_print(FILE *out, struct memledger_mappings *mappings,
			    const struct memledger_librank_wanted *wanted,
			    bool json, const char *source, const char *kernel);

#endif
