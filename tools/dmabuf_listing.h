/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DMA-BUFs summed up by process, and what is known of those that no process
 * holds: all that the outputs need.
 */
#ifndef _MEMLEDGER_TOOLS_DMABUF_LISTING_H
#define _MEMLEDGER_TOOLS_DMABUF_LISTING_H

#include "dmabuf.h"
#include "reasons.h"

/**
 * enum memledger_dmabuf_by - what a list of DMA-BUFs is ordered by
 * @MEMLEDGER_DMABUF_BY_PROCESS: each process's buffers
 * @MEMLEDGER_DMABUF_BY_BUFFER: buffers, then exporters
 * @MEMLEDGER_DMABUF_BY_EXPORTER: exporters
 * @MEMLEDGER_DMABUF_GRID: buffers down, processes across
 */
enum memledger_dmabuf_by {
	MEMLEDGER_DMABUF_BY_PROCESS,
	MEMLEDGER_DMABUF_BY_BUFFER,
	MEMLEDGER_DMABUF_BY_EXPORTER,
	MEMLEDGER_DMABUF_GRID,
};

/**
 * struct memledger_dmabuf_process - what a process holds
 * @pid: the process
 * @comm: its name
 * @holders: its buffers, by ascending inode number
 * @nr: how many
 * @rss: bytes of these
 * @pss: its share of them, bytes
 * @smaps_rss: bytes of them that the RSS in smaps has
 * @smaps_pss: bytes of them that the PSS in smaps has
 */
struct memledger_dmabuf_process {
	u64 pid;
	const char *comm;
	const struct memledger_dmabuf_holder **holders;
	size_t nr;
	u64 rss;
	u64 pss;
	u64 smaps_rss;
	u64 smaps_pss;
};

/**
 * struct memledger_dmabuf_totals - sums over all buffers and processes
 * @count: buffers
 * @size: bytes of these
 * @held_size: bytes of those that a process holds
 * @free_count: buffers that the module lists and no process holds
 * @free_size: bytes of these
 * @rss: of all processes: a buffer counts once for each that holds it
 * @pss: of all processes
 */
struct memledger_dmabuf_totals {
	u64 count;
	u64 size;
	u64 held_size;
	u64 free_count;
	u64 free_size;
	u64 rss;
	u64 pss;
};

/**
 * struct memledger_dmabuf_listing - DMA-BUFs, and all that is said of them
 * @dmabufs: the snapshot
 * @pid: whose buffers they are, or -1 for those of all processes
 * @comm: its name; NULL for all processes
 * @source: the file they came from
 * @kernel: release of the running kernel
 * @processes: by ascending pid
 * @nr_processes: how many
 * @holders: what their holders are part of
 * @totals: the sums
 * @stats: /sys/kernel/dmabuf/buffers, or where it would be
 * @has_stats: whether it is there
 * @stats_count: buffers in it that are not in @dmabufs
 * @stats_size: bytes of these
 * @reasons: why numbers are unavailable
 */
struct memledger_dmabuf_listing {
	struct memledger_dmabufs dmabufs;
	s32 pid;
	const char *comm;
	const char *source;
	const char *kernel;
	struct memledger_dmabuf_process *processes;
	size_t nr_processes;
	const struct memledger_dmabuf_holder **holders;
	struct memledger_dmabuf_totals totals;
	char stats[512];
	bool has_stats;
	u64 stats_count;
	u64 stats_size;
	struct memledger_reasons reasons;
};

bool memledger_dmabuf_by_parse(const char *text,
			       enum memledger_dmabuf_by *by);
int memledger_dmabuf_listing_make(struct memledger_dmabuf_listing *listing,
				  char *text, const char *sysfs,
				  struct memledger_error *error);
void memledger_dmabuf_listing_free(struct memledger_dmabuf_listing *listing);
void memledger_dmabuf_print(FILE *out,
			    const struct memledger_dmabuf_listing *listing,
			    enum memledger_dmabuf_by by, bool csv);
void
memledger_dmabuf_print_json(FILE *out,
			    const struct memledger_dmabuf_listing *listing);

#endif
