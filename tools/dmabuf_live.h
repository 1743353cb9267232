/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The DMA-BUFs of the running system, or of one of its processes.
 */
#ifndef _MEMLEDGER_TOOLS_DMABUF_LIVE_H
#define _MEMLEDGER_TOOLS_DMABUF_LIVE_H

#include "dmabuf_listing.h"
#include "live.h"

/**
 * struct memledger_dmabuf_live - DMA-BUFs as the module had them
 * @listing: the DMA-BUFs; its strings are those below
 * @live: the process's record; of one process only
 * @text: of the module's file
 * @source: that file
 * @kernel: release of the running kernel
 */
struct memledger_dmabuf_live {
	struct memledger_dmabuf_listing listing;
	struct memledger_live live;
	char *text;
	char source[512];
	char kernel[128];
};

int memledger_dmabuf_live_read(struct memledger_dmabuf_live *dmabuf,
			       const char *sysfs, pid_t pid,
			       struct memledger_error *error);
void memledger_dmabuf_live_free(struct memledger_dmabuf_live *dmabuf);

#endif
