/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own list of DMA-BUFs, dma_buf/bufinfo in debugfs.
 */
#ifndef _MEMLEDGER_TOOLS_BUFINFO_H
#define _MEMLEDGER_TOOLS_BUFINFO_H

#include <memledger/env.h>

/**
 * struct memledger_bufinfo_dmabuf - a buffer that the kernel lists
 * @inode: its inode number
 * @size: bytes
 * @devices: who has attached to it, a line each; empty where nobody has
 */
struct memledger_bufinfo_dmabuf {
	u64 inode;
	u64 size;
	char *devices;
};

/**
 * struct memledger_bufinfo - the list
 * @buffer: in the order of the kernel
 * @nr: how many
 *
 * All zero is an empty one.
 */
struct memledger_bufinfo {
	struct memledger_bufinfo_dmabuf *buffer;
	size_t nr;
};

int memledger_bufinfo_parse(struct memledger_bufinfo *bufinfo, char *text);
const struct memledger_bufinfo_dmabuf *
memledger_bufinfo_find(const struct memledger_bufinfo *bufinfo, u64 inode);
void memledger_bufinfo_free(struct memledger_bufinfo *bufinfo);

#endif
