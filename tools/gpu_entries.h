/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a GPU driver has of a process, entry by entry, from the module's gpu
 * file.
 */
#ifndef _MEMLEDGER_TOOLS_GPU_ENTRIES_H
#define _MEMLEDGER_TOOLS_GPU_ENTRIES_H

#include <memledger/graphics.h>

#include "error.h"

/**
 * struct memledger_gpu_line - an entry
 * @entry: as the module had it from the driver
 * @imported: the process's share by the rule, bytes
 * @has_imported: false where it is no import, or the share is unknown
 */
struct memledger_gpu_line {
	struct memledger_gpu_entry entry;
	u64 imported;
	bool has_imported;
};

/**
 * struct memledger_gpu_entries - the entries of a process
 * @lines: the entries, as the driver had them
 * @nr: how many
 * @provider: the driver; part of the text that was parsed
 * @rule: how imported buffers are divided; part of that text
 * @complete: whether these are all
 *
 * All zero is an empty list.
 */
struct memledger_gpu_entries {
	struct memledger_gpu_line *lines;
	size_t nr;
	const char *provider;
	const char *rule;
	bool complete;
};

int memledger_gpu_entries_parse(struct memledger_gpu_entries *entries,
				char *text, struct memledger_error *error);
void
memledger_gpu_entries_print_usage(FILE *out,
				  const struct memledger_gpu_entries *entries);
void memledger_gpu_entries_print(FILE *out,
				 const struct memledger_gpu_entries *entries);
void
memledger_gpu_entries_print_json(FILE *out, bool *first,
				 const struct memledger_gpu_entries *entries);
void memledger_gpu_entries_free(struct memledger_gpu_entries *entries);

#endif
