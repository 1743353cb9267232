/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process had at one moment, in all detail that a saved file has: a
 * mark, or what --json of meminfo, unknown, dmabuf and gpu has printed.
 */
#ifndef _MEMLEDGER_TOOLS_STATE_H
#define _MEMLEDGER_TOOLS_STATE_H

#include "journal.h"
#include "json_read.h"

#define MEMLEDGER_MARK_VERSION	1

/* What a row is a part of; the indexed are those of struct memledger_part. */
#define NR_MEMLEDGER_PARTS	(MEMLEDGER_PART_EXPORTER + 1)

/**
 * struct memledger_state_row - a part of the process
 * @kind: enum memledger_part_kind
 * @order: where it stands among its kind in the file
 * @name: which one
 * @known: whether the numbers are
 * @unknown: of names: whether it is counted in the row Unknown
 * @bytes: Pss and what is in swap; of DMA-BUFs and GPU memory the size
 * @count: mappings, buffers or entries
 */
struct memledger_state_row {
	enum memledger_part_kind kind;
	unsigned int order;
	const char *name;
	bool known;
	bool unknown;
	u64 bytes;
	u64 count;
};

/**
 * struct memledger_state_object - something that can be released
 * @kind: enum memledger_retained_kind
 * @id: inode number, the GPU driver's number, or first address
 * @end: first address behind it, of mappings only
 * @size: bytes; of mappings what they have in memory and in swap
 * @what: exporter, usage or name
 */
struct memledger_state_object {
	enum memledger_retained_kind kind;
	u64 id;
	u64 end;
	u64 size;
	const char *what;
};

/**
 * struct memledger_state - a process at one moment
 * @text: the file; strings are part of it
 * @json: the same as a tree
 * @source: where it is from, in words; the caller's
 * @comm: name of the process, or NULL
 * @kernel: release of the kernel, or NULL
 * @pid: the process; 0 where the file does not say
 * @start_ticks: when it began, in clock ticks after boot; 0 where the file does
 *	not say
 * @time_ns: CLOCK_BOOTTIME; 0 where the file does not say
 * @complete: whether all was seen
 * @swap_pss: @bytes of rows have SwapPss, and not Swap
 * @only_unknown: of names it has only those in the row Unknown
 * @has: which kinds of rows the file has
 * @row: by kind, then by name
 * @nr_rows: how many
 * @has_object: which kinds of objects it has
 * @object: by kind, then by number
 * @nr_objects: how many
 *
 * All zero is an empty one.
 */
struct memledger_state {
	char *text;
	struct memledger_json_value *json;
	const char *source;
	const char *comm;
	const char *kernel;
	u64 pid;
	u64 start_ticks;
	u64 time_ns;
	bool complete;
	bool swap_pss;
	bool only_unknown;
	bool has[NR_MEMLEDGER_PARTS];
	struct memledger_state_row *row;
	size_t nr_rows;
	bool has_object[NR_MEMLEDGER_RETAINED];
	struct memledger_state_object *object;
	size_t nr_objects;
};

int memledger_state_parse(struct memledger_state *state, char *text,
			  size_t len, struct memledger_error *error);
int memledger_state_read(struct memledger_state *state, const char *path,
			 struct memledger_error *error);
const struct memledger_state_object *
memledger_state_find(const struct memledger_state *state,
		     const struct memledger_state_object *object);
void memledger_state_free(struct memledger_state *state);

#endif
