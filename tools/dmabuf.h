/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DMA-BUFs and the processes that hold them, from the module's dmabuf files.
 */
#ifndef _MEMLEDGER_TOOLS_DMABUF_H
#define _MEMLEDGER_TOOLS_DMABUF_H

#include <memledger/env.h>

#include "error.h"

/**
 * struct memledger_dmabuf - a buffer
 * @inode: its inode number, which names it
 * @size: bytes
 * @nr_holders: processes that hold it, whether listed or not
 * @exporter: its exporter's name; NULL if unknown
 * @name: its own name; NULL if it has none
 * @first: of the listed holders, the first one of this buffer
 * @nr_listed: how many of its holders are listed
 */
struct memledger_dmabuf {
	u64 inode;
	u64 size;
	u64 nr_holders;
	const char *exporter;
	const char *name;
	size_t first;
	size_t nr_listed;
};

/**
 * struct memledger_dmabuf_holder - a process that holds a buffer
 * @buffer: which one, by its place in the list
 * @pid: the process
 * @fds: its file descriptors of the buffer
 * @maps: its mappings of it
 * @imports: how often its GPU driver imported it for the process
 * @mapped: bytes of these mappings
 * @smaps_rss: bytes of the buffer that the RSS in smaps has
 * @smaps_pss: bytes of the buffer that the PSS in smaps has
 * @pss: the process's share of the buffer, bytes
 * @comm: its name
 */
struct memledger_dmabuf_holder {
	size_t buffer;
	u64 pid;
	u64 fds;
	u64 maps;
	u64 imports;
	u64 mapped;
	u64 smaps_rss;
	u64 smaps_pss;
	u64 pss;
	const char *comm;
};

/**
 * struct memledger_dmabuf_exporter - what an exporter has exported
 * @count: buffers
 * @size: bytes of these
 * @name: its name; NULL if unknown
 */
struct memledger_dmabuf_exporter {
	u64 count;
	u64 size;
	const char *name;
};

/**
 * struct memledger_dmabufs - a snapshot of DMA-BUFs
 * @generation: which snapshot
 * @timestamp_ns: when it was taken, CLOCK_BOOTTIME
 * @walk_ns: how long that took
 * @complete: whether all processes and all of their buffers were seen
 * @list: whether buffers that no process holds are among them
 * @buffers: by ascending inode number
 * @nr_buffers: how many
 * @holders: in the order of the buffers, then by ascending pid
 * @nr_holders: how many
 * @exporters: those of the buffers, the largest first
 * @nr_exporters: how many
 *
 * All zero is an empty one. Strings are part of the text that was parsed.
 */
struct memledger_dmabufs {
	u64 generation;
	u64 timestamp_ns;
	u64 walk_ns;
	bool complete;
	bool list;
	struct memledger_dmabuf *buffers;
	size_t nr_buffers;
	struct memledger_dmabuf_holder *holders;
	size_t nr_holders;
	struct memledger_dmabuf_exporter *exporters;
	size_t nr_exporters;
};

u64 memledger_saturating_add(u64 a, u64 b);
int memledger_dmabufs_parse(struct memledger_dmabufs *dmabufs, char *text,
			    bool whole, struct memledger_error *error);
const struct memledger_dmabuf *
memledger_dmabufs_find(const struct memledger_dmabufs *dmabufs, u64 inode);
void memledger_dmabufs_free(struct memledger_dmabufs *dmabufs);

#endif
