/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All processes of the running system.
 */
#ifndef _MEMLEDGER_TOOLS_SYSTEM_LIVE_H
#define _MEMLEDGER_TOOLS_SYSTEM_LIVE_H

#include "json.h"
#include "system.h"

/**
 * enum memledger_system_key - what processes are sorted by
 * @MEMLEDGER_SORT_PSS: PSS
 * @MEMLEDGER_SORT_VSS: address space
 * @MEMLEDGER_SORT_RSS: RSS
 * @MEMLEDGER_SORT_USS: what nobody shares
 * @MEMLEDGER_SORT_SWAP: what is in swap
 * @MEMLEDGER_SORT_TOTAL: PSS and SwapPss, in dumpsys's arithmetic
 * @MEMLEDGER_SORT_OOM: oom_score_adj
 */
enum memledger_system_key {
	MEMLEDGER_SORT_PSS,
	MEMLEDGER_SORT_VSS,
	MEMLEDGER_SORT_RSS,
	MEMLEDGER_SORT_USS,
	MEMLEDGER_SORT_SWAP,
	MEMLEDGER_SORT_TOTAL,
	MEMLEDGER_SORT_OOM,
};

/**
 * struct memledger_system_order - how processes are sorted
 * @key: by which number
 * @category: of which category, or NR_MEMLEDGER_CATEGORIES for the process
 * @reverse: the smallest first
 */
struct memledger_system_order {
	enum memledger_system_key key;
	unsigned int category;
	bool reverse;
};

/**
 * struct memledger_pass_file - a file of the module about all processes
 * @text: what is in it
 * @source: where it is
 * @kernel: release of the running kernel
 */
struct memledger_pass_file {
	char *text;
	char source[512];
	char kernel[128];
};

/**
 * struct memledger_system_live - all processes, and where they come from
 * @system: the processes; their strings are in @file
 * @file: the module's
 */
struct memledger_system_live {
	struct memledger_system system;
	struct memledger_pass_file file;
};

int memledger_pass_file_read(struct memledger_pass_file *file,
			     const char *sysfs, const char *name,
			     struct memledger_error *error);
void memledger_pass_file_free(struct memledger_pass_file *file);
int memledger_system_live_read(struct memledger_system_live *live,
			       const char *sysfs, const char *proc,
			       struct memledger_error *error);
void memledger_system_live_free(struct memledger_system_live *live);
void memledger_system_sort(struct memledger_system *system,
			   const struct memledger_system_order *order);
u64 memledger_system_number(const struct memledger_system_row *row,
			    enum memledger_system_key key);
void memledger_pass_print_source(FILE *out,
				 const struct memledger_pass_info *info,
				 const char *source, const char *kernel);
void memledger_pass_print_json(FILE *out, bool *first,
			       const struct memledger_pass_info *info,
			       const char *source, const char *kernel);
void memledger_system_print_json(FILE *out, bool *first,
				 const struct memledger_system_live *live,
				 size_t top);

#endif
