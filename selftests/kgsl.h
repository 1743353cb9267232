/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process's side of the KGSL stand-in: loading it, its system calls, and
 * what its files in sysfs and debugfs say; and DMA-BUFs to import there.
 *
 * Functions that can fail return a negative errno.
 */
#ifndef KGSL_H
#define KGSL_H

#include <sys/types.h>

#include <memledger/env.h>

#include "drivers/kgsl/msm_kgsl.h"

#define KGSL_DEVICE	"/dev/kgsl-3d0"
#define KGSL_NODES	"/sys/class/kgsl/kgsl/"
#define KGSL_DETAILS	"/sys/kernel/debug/kgsl/proc/"
#define KGSL_PARAMETERS	"/sys/module/kgsl_standin/parameters/"

/* The kernel's own; user space's EOPNOTSUPP is another. */
#define KGSL_ENOTSUPP	524

/* Flags that say what memory is used for, or how it is cached. */
#define KGSL_TYPE(type)		((u64)KGSL_MEMTYPE_##type << KGSL_MEMTYPE_SHIFT)
#define KGSL_TYPE_NR(nr)	((u64)(nr) << KGSL_MEMTYPE_SHIFT)
#define KGSL_CACHE(mode)	((u64)KGSL_CACHEMODE_##mode << \
				 KGSL_CACHEMODE_SHIFT)

/**
 * struct kgsl_row - a line of debugfs's "mem"
 * @size: bytes
 * @id: of the entry
 * @flags: ten letters or dashes
 * @type: "gpumem", "usermem" or "ion"
 * @usage: the first 15 bytes of the name of its memory type
 * @sglen: pieces
 * @mapcnt: mappings
 * @surfaces: imports of the same buffer as EGL surfaces
 * @images: as EGL images
 * @inode: of the DMA-BUF
 * @metadata: text, or ""
 */
struct kgsl_row {
	u64 size;
	unsigned int id;
	char flags[16];
	char type[16];
	char usage[24];
	int sglen;
	int mapcnt;
	int surfaces;
	int images;
	u64 inode;
	char metadata[72];
};

const char *kgsl_load(const char *module, const char *parameters);

int kgsl_open(void);
int kgsl_ioctl(int fd, unsigned long cmd, void *data);
int kgsl_alloc(int fd, u64 size, u64 flags);
int kgsl_import_dmabuf(int fd, int dmabuf, u64 flags);
int kgsl_import_addr(int fd, void *addr, u64 len, u64 flags);
int kgsl_free(int fd, unsigned int id);
int kgsl_info(int fd, unsigned int id, struct kgsl_gpuobj_info *info);
int kgsl_set_type(int fd, unsigned int id, unsigned int type);
int kgsl_bind(int fd, unsigned int vbo, u64 start, unsigned int child,
	      u64 offset, u64 len);
int kgsl_unbind(int fd, unsigned int vbo, u64 start, u64 len);
void *kgsl_map(int fd, unsigned int id, size_t len);

long long kgsl_read(pid_t tgid, const char *file);
long long kgsl_read_global(const char *file);
long long kgsl_wait(pid_t tgid, const char *file, long long value);
int kgsl_rows(pid_t tgid, struct kgsl_row *rows, int max);
int kgsl_row(pid_t tgid, unsigned int id, struct kgsl_row *row);

const char *dmabuf_missing(void);
int dmabuf_from_heap(size_t size);
int dmabuf_from_memfd(size_t size);
u64 dmabuf_inode(int fd);

#endif
