/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What exporters may ask for: the numbers of a target as of one walk, and its
 * VMAs one by one.
 */
#ifndef _MEMLEDGER_SNAPSHOT_H
#define _MEMLEDGER_SNAPSHOT_H

#include <linux/types.h>

#include <memledger/abi.h>
#include <memledger/classify.h>
#include <memledger/provider.h>

#include "capture.h"
#include "process.h"
#include "stats.h"

struct memledger_known;
struct memledger_names;
struct memledger_target;
struct memledger_vma_cursor;
struct mm_struct;
struct pid;

#define MEMLEDGER_MAX_AGE_MS_DEFAULT	1000
#define MEMLEDGER_MAX_AGE_MS_LIMIT	3600000
#define MEMLEDGER_SLICE_DEFAULT		2048
#define MEMLEDGER_SLICE_LIMIT		1048576
/* A process that execs under us is walked again, but not for ever. */
#define MEMLEDGER_WALK_TRIES		3

/**
 * memledger_walk_again - whether a walk came to its end since the process execs
 * @ret: what the walk returned
 * @pid: of the process
 * @tries: how often that was so, 0 at first; MEMLEDGER_WALK_TRIES: it does so
 *	again and again, and this returned false
 *
 * Return: true to walk afresh.
 */
static inline bool memledger_walk_again(int ret, struct pid *pid,
					unsigned int *tries)
{
	return ret == -ESRCH && memledger_process_is_alive(pid) &&
	       ++*tries < MEMLEDGER_WALK_TRIES;
}

/**
 * struct memledger_settings - what the user can set about snapshots
 * @max_age_ms: a snapshot older than that is replaced on reading; 0: never
 * @slice_entries: page-table entries that a walk looks at under one lock
 * @profile: whose rules place mappings
 * @imported_rule: how imported buffers are divided
 *
 * Read and written with READ_ONCE() and WRITE_ONCE(), each for itself.
 */
struct memledger_settings {
	unsigned int max_age_ms;
	unsigned int slice_entries;
	const struct memledger_profile *profile;
	enum memledger_imported_rule imported_rule;
};

extern struct memledger_settings memledger_settings;

/**
 * enum memledger_snapshot_mode - which snapshot a reader wants
 * @MEMLEDGER_SNAPSHOT_LAST: the last, however old, also of a dead process
 * @MEMLEDGER_SNAPSHOT_FRESH: one that is not too old
 * @MEMLEDGER_SNAPSHOT_NEW: a new one
 */
enum memledger_snapshot_mode {
	MEMLEDGER_SNAPSHOT_LAST,
	MEMLEDGER_SNAPSHOT_FRESH,
	MEMLEDGER_SNAPSHOT_NEW,
};

int memledger_snapshot_lock(struct memledger_target *target,
			    enum memledger_snapshot_mode mode);
void memledger_snapshot_unlock(struct memledger_target *target);
int memledger_snapshot_process(struct pid *pid, const bool *stop,
			       struct memledger_known **known,
			       struct memledger_record *record,
			       struct mm_struct **walked);
void memledger_known_free(struct memledger_known *known);

/**
 * struct memledger_vma_line - a VMA, and where it is counted
 * @start: first address
 * @end: first address behind it
 * @perms: as in maps, NUL-terminated
 * @offset: in the file, bytes
 * @major: of the file's device
 * @minor: of the file's device
 * @ino: the file's inode number
 * @name: as in maps, without a deleted mark
 * @deleted: whether the file is gone
 * @usage: what its page tables hold
 * @verdict: where it is counted
 * @nr_pcs: how many addresses of who mapped it are known
 * @pcs: these, the innermost first
 */
struct memledger_vma_line {
	unsigned long start;
	unsigned long end;
	char perms[5];
	u64 offset;
	unsigned int major;
	unsigned int minor;
	unsigned long ino;
	const char *name;
	bool deleted;
	struct memledger_vma_usage usage;
	struct memledger_verdict verdict;
	unsigned int nr_pcs;
	unsigned long pcs[MEMLEDGER_CAPTURE_PCS];
};

struct memledger_vma_cursor *
memledger_vma_cursor_open(struct memledger_target *target, bool by_owner);
struct memledger_vma_cursor *
memledger_vma_cursor_open_pid(struct pid *pid, const bool *stop, bool by_owner);
struct mm_struct *
memledger_vma_cursor_mm(const struct memledger_vma_cursor *cursor);
int memledger_vma_cursor_next(struct memledger_vma_cursor *cursor,
			      struct memledger_vma_line *line);
void memledger_vma_cursor_close(struct memledger_vma_cursor *cursor);

int memledger_snapshot_unknown(struct memledger_target *target,
			       struct memledger_names *names);

/**
 * struct memledger_gpu_table - a process's GPU memory, entry by entry
 * @entries: in the driver's order; kvfree() by memledger_gpu_table_free()
 * @nr: how many there are
 * @size: how many there is room for
 * @rule: how imported buffers are divided
 * @provider: name of the driver
 * @complete: false if the driver failed on the way
 */
struct memledger_gpu_table {
	struct memledger_gpu_entry *entries;
	unsigned int nr;
	unsigned int size;
	enum memledger_imported_rule rule;
	char provider[MEMLEDGER_PROVIDER_NAME_SIZE];
	bool complete;
};

int memledger_snapshot_gpu(struct memledger_target *target,
			   struct memledger_gpu_table *table);
void memledger_gpu_table_free(struct memledger_gpu_table *table);

/* owners.c */
int memledger_owners_read(struct memledger_target *target,
			  struct memledger_names *owners);

bool memledger_snapshot_has_swap_pss(void);
bool memledger_snapshot_has_anon_names(void);
const char *memledger_snapshot_pss_method(void);
int memledger_snapshot_init(void);

#endif
