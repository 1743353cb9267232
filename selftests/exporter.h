/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What /dev/memledger_exporter takes: DMA-BUFs of any size and kind, holders of
 * them that are no process, and a GPU driver that imports them.
 */
#ifndef EXPORTER_H
#define EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXPORTER_NAME	"memledger_exporter"

/* Mapped page by page, as pages: smaps counts them. */
#define EXPORTER_PAGES		0x1
/* Mapped as page frames: smaps has nothing of them. */
#define EXPORTER_FRAMES		0x2
/* With an exporter's name that needs escaping: "a b\c", a newline, "d". */
#define EXPORTER_ODD_NAME	0x4

/**
 * struct exporter_create - a buffer to be made
 * @size: bytes; without pages of its own it may have any
 * @flags: EXPORTER_*; with neither pages nor frames it cannot be mapped
 * @fd: gets a descriptor of it, which is closed on exec
 */
struct exporter_create {
	__u64 size;
	__u32 flags;
	__s32 fd;
};

/* EINVAL for a flag that is not known, or for no size. */
#define EXPORTER_CREATE		_IOWR('m', 1, struct exporter_create)
/* The driver has a reference of its own to a buffer; to none again. */
#define EXPORTER_HOLD		_IOW('m', 2, int)
#define EXPORTER_RELEASE	_IO('m', 3)
/* The GPU driver says that this process has imported a buffer; and none. */
#define EXPORTER_IMPORT		_IOW('m', 4, int)
#define EXPORTER_UNIMPORT	_IO('m', 5)
/* There is a GPU driver, or none. */
#define EXPORTER_PROVIDER_ON	_IO('m', 6)
#define EXPORTER_PROVIDER_OFF	_IO('m', 7)
/* What the GPU driver returns behind the last entry: 0 or a negative errno. */
#define EXPORTER_PROVIDER_ERROR	_IOW('m', 8, int)

#endif
