/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that use the GPU and DMA-BUFs as they are told, and what must be
 * known of them afterwards, from nothing but what they were told.
 */
#ifndef GRAPHICS_MODEL_H
#define GRAPHICS_MODEL_H

#include <sys/types.h>

#include <memledger/graphics.h>

#define MODEL_PROCESSES	6
#define MODEL_BUFFERS	10
#define MODEL_ENTRIES	160

/**
 * struct model_buffer - a DMA-BUF
 * @ino: inode number; 0: there is none here
 * @size: bytes
 */
struct model_buffer {
	u64 ino;
	u64 size;
};

/**
 * struct model_entry - an entry of the GPU driver's
 * @used: there is one here
 * @owner: index of the process
 * @id: the driver's number of it
 * @kind: enum memledger_gpu_kind
 * @usage: KGSL's memory type
 * @flags: KGSL_MEMFLAGS_*
 * @size: bytes
 * @buffer: index of the buffer that it imports
 * @order: counts imports, the oldest first
 * @freed: user space has given it back, or has let go of the GPU's file
 * @maps: how many mappings there are of it, all of its process, as they are not
 *	inherited; they keep it
 */
struct model_entry {
	bool used;
	int owner;
	int id;
	int kind;
	int usage;
	u64 flags;
	u64 size;
	int buffer;
	unsigned int order;
	bool freed;
	int maps;
};

/**
 * struct model_process - a process
 * @pid: its number; 0: there is none here
 * @sock: to talk to it
 * @gpu: it has a descriptor of the GPU's file
 * @fds: how many file descriptors it has of each buffer
 * @maps: how many mappings of each
 */
struct model_process {
	pid_t pid;
	int sock;
	bool gpu;
	int fds[MODEL_BUFFERS];
	int maps[MODEL_BUFFERS];
};

/**
 * struct model - all of them
 * @process: processes
 * @buffer: buffers
 * @entry: entries
 * @imports: how many there have been
 * @shmem: mappings of the driver's memory are of shmem files, and do not keep
 *	the GPU's file
 */
struct model {
	struct model_process process[MODEL_PROCESSES];
	struct model_buffer buffer[MODEL_BUFFERS];
	struct model_entry entry[MODEL_ENTRIES];
	unsigned int imports;
	bool shmem;
};

/**
 * struct model_numbers - what must be known of a process
 * @graphics: as the files of graphics/ have it
 * @dmabuf_count: buffers that it holds
 * @dmabuf_rss: their sizes
 * @dmabuf_pss: these, each divided by its holders
 */
struct model_numbers {
	struct memledger_graphics graphics;
	u64 dmabuf_count;
	u64 dmabuf_rss;
	u64 dmabuf_pss;
};

int model_start(struct model *model, int p);
int model_end(struct model *model, int p);
int model_fork(struct model *model, int p, int child);
int model_open_gpu(struct model *model, int p);
int model_close_gpu(struct model *model, int p);
int model_alloc(struct model *model, int p, u64 size, int usage, u64 flags);
int model_import_addr(struct model *model, int p, u64 size, int usage);
int model_import(struct model *model, int p, int b, int usage);
int model_free(struct model *model, int e);
int model_map(struct model *model, int e);
int model_unmap(struct model *model, int e);
int model_new_buffer(struct model *model, int p, u64 size, bool heap);
int model_dup(struct model *model, int p, int b);
int model_close(struct model *model, int p, int b);
int model_map_buffer(struct model *model, int p, int b, u64 len);
int model_unmap_buffer(struct model *model, int p, int b);
int model_pass(struct model *model, int from, int to, int b);

void model_expect(const struct model *model, int p,
		  enum memledger_imported_rule rule,
		  struct model_numbers *numbers);
bool model_knows_process(const struct model *model, int p);
u64 model_driver_total(const struct model *model);

#endif
