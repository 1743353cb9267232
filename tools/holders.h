/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who holds a DMA-BUF: processes, by descriptor, mapping and GPU import;
 * drivers that have attached to it; or nobody, while it is in flight.
 */
#ifndef _MEMLEDGER_TOOLS_HOLDERS_H
#define _MEMLEDGER_TOOLS_HOLDERS_H

#include "bufinfo.h"
#include "dmabuf_live.h"

/**
 * struct memledger_holders - all DMA-BUFs, and who holds them
 * @live: those that a process holds, and on Android all
 * @proc: where proc is mounted
 * @text: of the kernel's own list (debugfs, dma_buf/bufinfo)
 * @bufinfo: what is in it
 * @all: whether a buffer that is in neither list is gone
 */
struct memledger_holders {
	struct memledger_dmabuf_live live;
	const char *proc;
	char *text;
	struct memledger_bufinfo bufinfo;
	bool all;
};

int memledger_holders_read(struct memledger_holders *holders, const char *sysfs,
			   const char *proc, struct memledger_error *error);
bool memledger_holders_find(const struct memledger_holders *holders, u64 inode,
			    u64 *size, char **text);
void memledger_holders_free(struct memledger_holders *holders);

#endif
