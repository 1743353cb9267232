/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where all RAM has gone: the last lines of dumpsys meminfo, and what they are
 * made of.
 */
#ifndef _MEMLEDGER_TOOLS_RAM_H
#define _MEMLEDGER_TOOLS_RAM_H

#include "dmabuf.h"
#include "reasons.h"
#include "system.h"

/*
 * X(name, source, what it is in the source): what is read, in the order in
 * which it is printed.
 */
#define MEMLEDGER_RAM_TERMS(X)						\
	X(mem_total,	MEMINFO, "MemTotal")				\
	X(mem_free,	MEMINFO, "MemFree")				\
	X(buffers,	MEMINFO, "Buffers")				\
	X(cached,	MEMINFO, "Cached")				\
	X(swap_cached,	MEMINFO, "SwapCached")				\
	X(active,	MEMINFO, "Active")				\
	X(inactive,	MEMINFO, "Inactive")				\
	X(unevictable,	MEMINFO, "Unevictable")				\
	X(mapped,	MEMINFO, "Mapped")				\
	X(shmem,	MEMINFO, "Shmem")				\
	X(kreclaimable,	MEMINFO, "KReclaimable")			\
	X(slab,		MEMINFO, "Slab")				\
	X(sreclaimable,	MEMINFO, "SReclaimable")			\
	X(sunreclaim,	MEMINFO, "SUnreclaim")				\
	X(kernel_stack,	MEMINFO, "KernelStack")				\
	X(page_tables,	MEMINFO, "PageTables")				\
	X(sec_page_tables, MEMINFO, "SecPageTables")			\
	X(percpu,	MEMINFO, "Percpu")				\
	X(hugetlb,	MEMINFO, "Hugetlb")				\
	X(swap_total,	MEMINFO, "SwapTotal")				\
	X(swap_free,	MEMINFO, "SwapFree")				\
	X(vmalloc_used,	MEMINFO, "VmallocUsed")				\
	X(zram,		ZRAM, "mm_stat, mem_used_total")		\
	X(ksm_sharing,	KSM, "pages_sharing")				\
	X(ksm_shared,	KSM, "pages_shared")				\
	X(ksm_unshared,	KSM, "pages_unshared")				\
	X(ksm_volatile,	KSM, "pages_volatile")				\
	X(dmabuf_size,	DMABUF, "all buffers")				\
	X(dmabuf_mapped, DMABUF, "those that a process maps")		\
	X(dmabuf_in_pss, DMABUF, "what smaps counts of them")		\
	X(dmabuf_in_shmem, DMABUF, "buffers of udmabuf: in Shmem")	\
	X(dmabuf_mapped_in_shmem, DMABUF, "those of udmabuf that are mapped") \
	X(dma_heap_pools, DMA_HEAP, "total_pools_kb: in KReclaimable")	\
	X(gpu_mem_total, GPU, "mem_total: of the tracepoint, imports included") \
	X(gpu_total,	GPU, "total: of the driver")			\
	X(carveouts_static, GPU, "carveouts/static: outside MemTotal")	\
	X(carveouts_reusable, GPU, "carveouts/reusable: inside MemTotal") \
	X(pss,		SNAPSHOT, "pss_floor and swap_pss_floor")	\
	X(swap_pss,	SNAPSHOT, "swap_pss_floor")			\
	X(cached_pss,	SNAPSHOT, "as pss, where oom_score_adj is 900 or more") \
	X(gfx_dev,	SNAPSHOT, "gfx_dev.pss_floor")			\
	X(egl_mtrack,	SNAPSHOT, "egl_mtrack.pss_floor")		\
	X(gl_mtrack,	SNAPSHOT, "gl_mtrack.pss_floor")

/* X(name, label, how it is made): in the words of the terms. */
#define MEMLEDGER_RAM_RESULTS(X)					\
	X(total_ram, "Total RAM", "mem_total")				\
	X(free_ram, "Free RAM", "cached_pss + cached_kernel + mem_free") \
	X(used_ram, "Used RAM", "used_pss + used_kernel")		\
	X(lost_ram, "Lost RAM",						\
	  "mem_total - (all_pss - swap_pss) - mem_free - "		\
	  "cached_kernel - used_kernel - zram")				\
	X(unaccounted, "Unaccounted",					\
	  "mem_total - mem_free - active - inactive - unevictable - "	\
	  "kreclaimable - sunreclaim - vmalloc_used - page_tables - "	\
	  "sec_page_tables - percpu - hugetlb - zram - dmabuf_size + "	\
	  "dmabuf_in_shmem - gpu_total")				\
	X(all_pss, "All PSS",						\
	  "pss - egl_mtrack - gl_mtrack + dmabuf_mapped - "		\
	  "dmabuf_in_pss - dmabuf_mapped_in_shmem")			\
	X(used_pss, "Used PSS", "all_pss - cached_pss")			\
	X(cached_kernel, "Cached kernel",				\
	  "buffers + kreclaimable + cached + swap_cached - mapped")	\
	X(used_kernel, "Used kernel",					\
	  "shmem + sunreclaim + vmalloc_used + page_tables + "		\
	  "dmabuf_unmapped + gpu_private")				\
	X(dmabuf_unmapped, "DMA-BUF unmapped",				\
	  "dmabuf_size - dmabuf_mapped - dmabuf_in_shmem + "		\
	  "dmabuf_mapped_in_shmem")					\
	X(gpu_private, "GPU private",					\
	  "gpu_total - gfx_dev; without a driver's total gl_mtrack")

/**
 * enum memledger_ram_term - what is read
 * @NR_MEMLEDGER_RAM_TERMS: how many there are
 */
enum memledger_ram_term {
#define X(name, source, text) MEMLEDGER_RAM_##name,
	MEMLEDGER_RAM_TERMS(X)
#undef X
	NR_MEMLEDGER_RAM_TERMS
};

/**
 * enum memledger_ram_result - what is made of it
 * @NR_MEMLEDGER_RAM_RESULTS: how many there are
 */
enum memledger_ram_result {
#define X(name, label, text) MEMLEDGER_RAM_RESULT_##name,
	MEMLEDGER_RAM_RESULTS(X)
#undef X
	NR_MEMLEDGER_RAM_RESULTS
};

/**
 * struct memledger_ram - where all RAM has gone
 * @term: bytes, by enum memledger_ram_term; 0 where it is not known
 * @known: whether it is
 * @result: bytes, by enum memledger_ram_result; differences may be below 0, and
 *	are so if read as s64
 * @incomplete: not all DMA-BUFs could be seen
 * @vmallocinfo: VmallocUsed was 0, and has been added up from there
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @reasons: why terms are not known
 */
struct memledger_ram {
	u64 term[NR_MEMLEDGER_RAM_TERMS];
	bool known[NR_MEMLEDGER_RAM_TERMS];
	u64 result[NR_MEMLEDGER_RAM_RESULTS];
	bool incomplete;
	bool vmallocinfo;
	const char *sysfs;
	const char *proc;
	struct memledger_reasons reasons;
};

int memledger_ram_read_meminfo(struct memledger_ram *ram, const char *sysfs,
			       const char *proc,
			       struct memledger_error *error);
void memledger_ram_add_dmabufs(struct memledger_ram *ram,
			       const struct memledger_dmabufs *dmabufs);
void memledger_ram_no_dmabufs(struct memledger_ram *ram, const char *why);
void memledger_ram_finish(struct memledger_ram *ram,
			  const struct memledger_system *system);
void memledger_ram_print(FILE *out, const struct memledger_ram *ram);
void memledger_ram_print_terms(FILE *out, const struct memledger_ram *ram);
void memledger_ram_print_json(FILE *out, bool *first,
			      const struct memledger_ram *ram);

#endif
