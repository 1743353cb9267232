/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From references to DMA-BUFs, found one after the other, to a table of
 * buffers, each with the processes that hold it, and to the share that a
 * process has of them.
 *
 * A buffer belongs to no process: its PSS needs every holder, and so the
 * references of all processes. A holder counts once, however many file
 * descriptors, mappings and imports it has.
 */
#ifndef _MEMLEDGER_DMABUF_H
#define _MEMLEDGER_DMABUF_H

#include <memledger/account.h>
#include <memledger/hash.h>

/* Bytes of a buffer's name and of a process's, the NUL included. */
#define MEMLEDGER_DMABUF_NAME_SIZE	32
#define MEMLEDGER_DMABUF_COMM_SIZE	16

/*
 * No table has more buffers or more holders than this: 92 MB of buffers with
 * their slots, 63 MB of holders. Finishing one takes seconds.
 */
#define MEMLEDGER_DMABUF_MAX		1048576

/**
 * enum memledger_dmabuf_ref_kind - by what a process holds a buffer
 * @MEMLEDGER_DMABUF_FD: a file descriptor
 * @MEMLEDGER_DMABUF_MAP: a mapping
 * @MEMLEDGER_DMABUF_IMPORT: an entry of the GPU driver's
 */
enum memledger_dmabuf_ref_kind {
	MEMLEDGER_DMABUF_FD,
	MEMLEDGER_DMABUF_MAP,
	MEMLEDGER_DMABUF_IMPORT,
};

/**
 * struct memledger_dmabuf_ref - one reference
 * @ino: the buffer's inode number
 * @mapped: bytes that the mapping is long; 0 for other kinds
 * @smaps_rss: bytes that smaps has in Rss of that mapping
 * @smaps_pss: the same in Pss, bytes << MEMLEDGER_PSS_SHIFT
 * @comm: what the process is called, NUL-terminated
 * @tgid: the process
 * @kind: enum memledger_dmabuf_ref_kind
 */
struct memledger_dmabuf_ref {
	u64 ino;
	u64 mapped;
	u64 smaps_rss;
	u64 smaps_pss;
	const char *comm;
	s32 tgid;
	u32 kind;
};

/* Where a list of all buffers had it: before references were looked for... */
#define MEMLEDGER_DMABUF_LISTED_BEFORE	0x1
/* ... and afterwards. */
#define MEMLEDGER_DMABUF_LISTED_AFTER	0x2
#define MEMLEDGER_DMABUF_LISTED		0x3

/**
 * struct memledger_dmabuf_desc - what a buffer says of itself
 * @ino: its inode number, which no other buffer had or will have
 * @size: bytes
 * @exporter: which driver made it, NUL-terminated; NULL: not known, and then
 *	@size is what an importer says
 * @name: NUL-terminated, or NULL
 * @listed: MEMLEDGER_DMABUF_LISTED_*
 */
struct memledger_dmabuf_desc {
	u64 ino;
	u64 size;
	const char *exporter;
	const char *name;
	u32 listed;
};

/**
 * struct memledger_dmabuf_exporter - all buffers of an exporter
 * @name: what it is called; NULL: that of buffers whose exporter is not known
 * @count: how many buffers
 * @size: their bytes
 */
struct memledger_dmabuf_exporter {
	char *name;
	u64 count;
	u64 size;
};

/**
 * struct memledger_dmabuf_buffer - a buffer
 * @ino: its inode number
 * @size: bytes
 * @exporter: which driver made it; NULL: not known
 * @name: empty if it has none
 * @listed: MEMLEDGER_DMABUF_LISTED_*
 * @first: index of its first holder
 * @nr_holders: how many processes hold it
 * @nr_mappers: how many of these map it, by CPU or GPU
 * @last: while the table is filled: its latest holder's index plus 1
 */
struct memledger_dmabuf_buffer {
	u64 ino;
	u64 size;
	const char *exporter;
	char name[MEMLEDGER_DMABUF_NAME_SIZE];
	u32 listed;
	u32 first;
	u32 nr_holders;
	u32 nr_mappers;
	u32 last;
};

/**
 * struct memledger_dmabuf_holder - a process that holds a buffer
 * @ino: the buffer
 * @mapped: bytes of its mappings
 * @smaps_rss: bytes that smaps has of them in Rss
 * @smaps_pss: the same in Pss, bytes << MEMLEDGER_PSS_SHIFT
 * @tgid: the process
 * @fds: how many file descriptors
 * @maps: how many mappings
 * @imports: how many entries of the GPU driver's
 * @place: where it goes when the table is sorted
 */
struct memledger_dmabuf_holder {
	u64 ino;
	u64 mapped;
	u64 smaps_rss;
	u64 smaps_pss;
	s32 tgid;
	u32 fds;
	u32 maps;
	u32 imports;
	u32 place;
};

/**
 * struct memledger_dmabuf_process - a process that holds buffers
 * @tgid: its number
 * @comm: what it is called
 * @first: index into by_process of the table: its first buffer's holder
 * @nr: how many buffers it holds
 */
struct memledger_dmabuf_process {
	s32 tgid;
	char comm[MEMLEDGER_DMABUF_COMM_SIZE];
	u32 first;
	u32 nr;
};

/**
 * struct memledger_dmabuf_table - buffers, holders, processes
 * @buffers: by inode number once the table is finished
 * @holders: by inode number, then by process
 * @by_process: indices into @holders, by process, then by inode number
 * @processes: by number
 * @exporters: the largest first
 * @slots: while the table is filled: from inode numbers to indices into
 *	@buffers plus 1
 * @nr_buffers: how many there are
 * @nr_holders: how many there are
 * @nr_processes: how many there are
 * @nr_exporters: how many there are
 * @max_buffers: for how many there is room; half the slots
 * @max_holders: for how many there is room, in @by_process, too
 * @max_processes: for how many there is room
 * @max_exporters: for how many there is room
 * @size: bytes of all buffers
 * @unattributed_count: buffers that no process holds
 * @unattributed_size: bytes of these
 * @key: for @slots; a process can keep those of many buffers whose numbers
 *	have something in common
 * @incomplete: something could not be added, or a sum is too large
 *
 * All zero is an empty table.
 */
struct memledger_dmabuf_table {
	struct memledger_dmabuf_buffer *buffers;
	struct memledger_dmabuf_holder *holders;
	u32 *by_process;
	struct memledger_dmabuf_process *processes;
	struct memledger_dmabuf_exporter *exporters;
	u32 *slots;
	u32 nr_buffers;
	u32 nr_holders;
	u32 nr_processes;
	u32 nr_exporters;
	u32 max_buffers;
	u32 max_holders;
	u32 max_processes;
	u32 max_exporters;
	u64 size;
	u64 unattributed_count;
	u64 unattributed_size;
	struct memledger_hash_key key;
	bool incomplete;
};

/* X(field): of struct memledger_dmabuf_share, as files and keys are called. */
#define MEMLEDGER_DMABUF_SHARE_FIELDS(X)				\
	X(dmabuf_count)							\
	X(dmabuf_rss)							\
	X(dmabuf_pss)							\
	X(dmabuf_smaps_rss)						\
	X(dmabuf_smaps_pss)						\
	X(dmabuf_memtrack)

/**
 * struct memledger_dmabuf_share - what a process has of all buffers
 * @dmabuf_count: how many it holds
 * @dmabuf_rss: bytes of these, each in full, however little of it is mapped
 * @dmabuf_pss: bytes of these, each divided by the number of its holders and
 *	rounded down
 * @dmabuf_smaps_rss: bytes that smaps has of them in Rss of this process. Only
 *	pages that an exporter inserts as pages are; of page frames, which the
 *	system heap maps, smaps has nothing
 * @dmabuf_smaps_pss: the same in Pss. What is in a total with smaps's Pss and
 *	@dmabuf_pss is in there twice by this much
 * @dmabuf_memtrack: what Android's memtrack HAL is to say for GRAPHICS with
 *	SMAPS_UNACCOUNTED: of the buffers that the process maps, by CPU, GPU or
 *	both, the size divided by the number of processes that do, less what
 *	smaps has of it in Pss of this process, but not below 0. Descriptors do
 *	not count here
 * @generation: which snapshot it is from
 * @timestamp_ns: when that was finished, CLOCK_BOOTTIME
 * @complete: 1, or 0 if that could not see everything, or a sum is too large
 *
 * Sums stop at the largest u64 instead of wrapping.
 */
struct memledger_dmabuf_share {
#define X(field) u64 field;
	MEMLEDGER_DMABUF_SHARE_FIELDS(X)
#undef X
	u64 generation;
	u64 timestamp_ns;
	u64 complete;
};

int memledger_dmabuf_add_buffer(struct memledger_dmabuf_table *table,
				const struct memledger_dmabuf_desc *desc);
int memledger_dmabuf_add_ref(struct memledger_dmabuf_table *table,
			     const struct memledger_dmabuf_ref *ref);
bool memledger_dmabuf_is_described(const struct memledger_dmabuf_table *table,
				   u64 ino);
void memledger_dmabuf_finish(struct memledger_dmabuf_table *table);
void memledger_dmabuf_free(struct memledger_dmabuf_table *table);

const struct memledger_dmabuf_buffer *
memledger_dmabuf_find_buffer(const struct memledger_dmabuf_table *table,
			     u64 ino);
const struct memledger_dmabuf_process *
memledger_dmabuf_find_process(const struct memledger_dmabuf_table *table,
			      s32 tgid);
u64 memledger_dmabuf_pss(const struct memledger_dmabuf_buffer *buffer);
bool memledger_dmabuf_sum_share(const struct memledger_dmabuf_table *table,
				s32 tgid,
				struct memledger_dmabuf_share *share);

#endif
