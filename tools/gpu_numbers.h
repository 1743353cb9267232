/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process's graphics memory, number by number, from the module's files.
 */
#ifndef _MEMLEDGER_TOOLS_GPU_NUMBERS_H
#define _MEMLEDGER_TOOLS_GPU_NUMBERS_H

#include <memledger/graphics.h>

#include "live.h"
#include "reasons.h"

/*
 * X(name, section, unit, text): the numbers in the order in which they are
 * printed, under the names of the files of graphics/.
 */
#define MEMLEDGER_GPU_NUMBERS(X)					\
	X(gpumem_mapped, DRIVER, BYTES,					\
	  "the driver's own memory that the process maps")		\
	X(gpumem_unmapped, DRIVER, BYTES,				\
	  "the driver's own memory that it does not map: GL mtrack")	\
	X(gpumem_unaccounted, DRIVER, BYTES,				\
	  "of the driver's own memory what smaps does not count")	\
	X(gpumem_secure, DRIVER, BYTES,					\
	  "of the driver's own memory what is protected")		\
	X(gpumem_reclaimed, DRIVER, BYTES,				\
	  "of the driver's own memory what is in swap")			\
	X(usermem, DRIVER, BYTES,					\
	  "the process's own memory that the GPU uses: in its RSS")	\
	X(imported_size, DRIVER, BYTES,					\
	  "imported DMA-BUFs, each import in full")			\
	X(imported_mem, DRIVER, BYTES,					\
	  "their share by the imported rule: EGL mtrack")		\
	X(egl_surface_count, DRIVER, COUNT,				\
	  "imports that are EGL surfaces")				\
	X(egl_image_count, DRIVER, COUNT,				\
	  "imports that are EGL images")				\
	X(entries, DRIVER, COUNT,					\
	  "entries of the driver for the process")			\
	X(dmabuf_count, DMABUF, COUNT,					\
	  "DMA-BUFs that the process holds")				\
	X(dmabuf_rss, DMABUF, BYTES,					\
	  "their sizes")						\
	X(dmabuf_pss, DMABUF, BYTES,					\
	  "its share: size by number of processes that hold it")	\
	X(dmabuf_smaps_rss, DMABUF, BYTES,				\
	  "of them what the RSS in smaps counts already")		\
	X(dmabuf_smaps_pss, DMABUF, BYTES,				\
	  "of them what the PSS in smaps counts already")		\
	X(dmabuf_memtrack, DMABUF, BYTES,				\
	  "GRAPHICS by Android's definition, what smaps counts left out") \
	X(device_rss, DEVICE, BYTES,					\
	  "mappings of other GPU drivers' devices: in RSS")		\
	X(device_pss, DEVICE, BYTES,					\
	  "mappings of other GPU drivers' devices: in PSS")		\
	X(gpu_mem_total, TRACEPOINT, BYTES,				\
	  "what the driver last told by its tracepoint, imports included") \
	X(total, TOTAL, BYTES,						\
	  "all of these, every byte once")

/**
 * enum memledger_gpu_number_id - a number
 * @NR_MEMLEDGER_GPU_NUMBERS: how many there are
 */
enum memledger_gpu_number_id {
#define X(name, section, unit, text) MEMLEDGER_GPU_NUMBER_##name,
	MEMLEDGER_GPU_NUMBERS(X)
#undef X
	NR_MEMLEDGER_GPU_NUMBERS
};

/**
 * struct memledger_gpu_number - one number
 * @value: bytes, or a count
 * @known: false where it is unavailable
 */
struct memledger_gpu_number {
	u64 value;
	bool known;
};

/**
 * struct memledger_gpu_numbers - all numbers of a process's graphics memory
 * @number: by enum memledger_gpu_number_id
 * @usage: by enum memledger_gpu_usage, bytes
 * @provider: the GPU driver that told; empty where there is none
 * @dmabufs_complete: false where not every process and DMA-BUF was seen
 * @rule: how imported buffers are divided
 * @reasons: why numbers are unavailable
 */
struct memledger_gpu_numbers {
	struct memledger_gpu_number number[NR_MEMLEDGER_GPU_NUMBERS];
	struct memledger_gpu_number usage[NR_MEMLEDGER_GPU_USAGES];
	char provider[64];
	bool dmabufs_complete;
	const char *rule;
	struct memledger_reasons reasons;
};

int memledger_gpu_numbers_read(struct memledger_gpu_numbers *numbers,
			       const struct memledger_module *module,
			       const struct memledger_live *live);
void memledger_gpu_numbers_print(FILE *out,
				 const struct memledger_gpu_numbers *numbers);
void
memledger_gpu_numbers_print_json(FILE *out, bool *first,
				 const struct memledger_gpu_numbers *numbers);

#endif
