/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the text of debugfs dmabuf to buffers, holders and exporters.
 */
#ifndef DMABUFS_H
#define DMABUFS_H

#include <sys/types.h>

#include <memledger/env.h>

/* X(field): of struct dmabuf_holder, in the order of the line. */
#define DMABUF_HOLDER_FIELDS(X)						\
	X(fds)								\
	X(maps)								\
	X(imports)							\
	X(mapped)							\
	X(smaps_rss)							\
	X(smaps_pss)							\
	X(pss)

struct dmabuf_holder {
	u64 ino;
	pid_t tgid;
#define X(field) u64 field;
	DMABUF_HOLDER_FIELDS(X)
#undef X
	char comm[72];
};

struct dmabuf {
	u64 ino;
	u64 size;
	u64 holders;
	char exporter[64];
	char name[136];
};

struct dmabuf_exporter {
	u64 count;
	u64 size;
	char name[64];
};

/**
 * struct dmabuf_list - what a file called dmabuf says
 * @generation: of the snapshot
 * @complete: as in the first line
 * @list: as in the first line
 * @buffers: in the order of the file
 * @holders: in the order of the file
 * @exporters: in the order of the file
 * @nr_buffers: how many
 * @nr_holders: how many
 * @nr_exporters: how many
 */
struct dmabuf_list {
	u64 generation;
	int complete;
	int list;
	struct dmabuf *buffers;
	struct dmabuf_holder *holders;
	struct dmabuf_exporter *exporters;
	size_t nr_buffers;
	size_t nr_holders;
	size_t nr_exporters;
};

int dmabufs_parse(struct dmabuf_list *list, char *text);
int dmabufs_read(struct dmabuf_list *list, const char *path);
int dmabufs_refresh(struct dmabuf_list *list);
void dmabufs_free(struct dmabuf_list *list);
const struct dmabuf *dmabufs_find(const struct dmabuf_list *list, u64 ino);
const struct dmabuf_holder *dmabufs_holder(const struct dmabuf_list *list,
					   u64 ino, pid_t tgid);

#endif
