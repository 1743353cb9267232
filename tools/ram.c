// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel says of its memory, and what processes have, in; where all
 * RAM has gone, by the formulas of dumpsys meminfo, out.
 *
 * Two things are not as there, lest bytes be counted twice: what smaps counts
 * of a DMA-BUF is in PSS already, and a buffer of udmabuf is made of a memfd's
 * pages, which are in Shmem.
 */
#include <glob.h>
#include <stdlib.h>

#include "json.h"
#include "module.h"
#include "ram.h"
#include "sizes.h"

enum source {
	SOURCE_MEMINFO,
	SOURCE_ZRAM,
	SOURCE_KSM,
	SOURCE_DMABUF,
	SOURCE_DMA_HEAP,
	SOURCE_GPU,
	SOURCE_SNAPSHOT,
};

static const struct {
	const char *name;
	enum source source;
	const char *text;
} terms[] = {
#define X(name, source, text) { #name, SOURCE_##source, text },
	MEMLEDGER_RAM_TERMS(X)
#undef X
};

static const struct {
	const char *name;
	const char *label;
	const char *text;
} results[] = {
#define X(name, label, text) { #name, label, text },
	MEMLEDGER_RAM_RESULTS(X)
#undef X
};

static void set(struct memledger_ram *ram, enum memledger_ram_term term,
		u64 bytes)
{
	ram->term[term] = bytes;
	ram->known[term] = true;
}

/* The file that a term is from. */
static void print_source(FILE *out, const struct memledger_ram *ram,
			 enum memledger_ram_term term)
{
	switch (terms[term].source) {
	case SOURCE_MEMINFO:
		if (term == MEMLEDGER_RAM_vmalloc_used && ram->vmallocinfo)
			fprintf(out, "%s/vmallocinfo pages", ram->proc);
		else
			fprintf(out, "%s/meminfo %s", ram->proc,
				terms[term].text);
		return;
	case SOURCE_ZRAM:
		fprintf(out, "%s/block/zram*/", ram->sysfs);
		break;
	case SOURCE_KSM:
		fprintf(out, "%s/kernel/mm/ksm/", ram->sysfs);
		break;
	case SOURCE_DMABUF:
		fprintf(out, "%s/kernel/debug/memledger/dmabuf ", ram->sysfs);
		break;
	case SOURCE_DMA_HEAP:
		fprintf(out, "%s/kernel/dma_heap/", ram->sysfs);
		break;
	case SOURCE_GPU:
		fprintf(out, "%s/kernel/memledger/gpu/", ram->sysfs);
		break;
	case SOURCE_SNAPSHOT:
		fprintf(out, "%s/kernel/debug/memledger/snapshot ",
			ram->sysfs);
		break;
	}
	fputs(terms[term].text, out);
}

static void set_meminfo(struct memledger_ram *ram, const char *name, size_t len,
			u64 kb)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (terms[i].source == SOURCE_MEMINFO &&
		    strlen(terms[i].text) == len &&
		    !memcmp(terms[i].text, name, len))
			set(ram, i, kb << 10);
}

static int read_meminfo(struct memledger_ram *ram,
			struct memledger_error *error)
{
	char path[512], line[256];
	u64 kb;
	FILE *file;

	snprintf(path, sizeof(path), "%s/meminfo", ram->proc);
	file = fopen(path, "re");
	if (!file)
		return memledger_error_set(error, "%s: %s", path,
					   strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		size_t len = strcspn(line, ":");

		if (line[len] && sscanf(line + len + 1, "%llu", &kb) == 1)
			set_meminfo(ram, line, len, kb);
	}
	fclose(file);
	if (!ram->known[MEMLEDGER_RAM_mem_total])
		return memledger_error_set(error, "%s does not say MemTotal",
					   path);
	return 0;
}

/* Kernels that do not add it up have 0 in meminfo. */
static void read_vmallocinfo(struct memledger_ram *ram, u64 page_size)
{
	char path[512], line[512];
	u64 pages, sum = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/vmallocinfo", ram->proc);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, " pages=");

		if (at && sscanf(at, " pages=%llu", &pages) == 1)
			sum += pages;
	}
	fclose(file);
	ram->vmallocinfo = true;
	set(ram, MEMLEDGER_RAM_vmalloc_used, sum * page_size);
}

/* Return: whether there is such a number. */
static bool read_number(const char *path, const char *format, u64 *number)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (!file)
		return false;
	good = fscanf(file, format, number) == 1;
	fclose(file);
	return good;
}

static void read_zram(struct memledger_ram *ram)
{
	char pattern[512];
	u64 number, sum = 0;
	bool known = false;
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/block/zram*/mm_stat",
		 ram->sysfs);
	if (glob(pattern, 0, NULL, &found)) {
		memledger_reasons_add(&ram->reasons, "zram",
				      "there is no %s", pattern);
		return;
	}
	for (i = 0; i < found.gl_pathc; i++) {
		if (read_number(found.gl_pathv[i], "%*u %*u %llu", &number)) {
			sum += number;
			known = true;
		}
	}
	globfree(&found);
	if (known)
		set(ram, MEMLEDGER_RAM_zram, sum);
	else
		memledger_reasons_add(&ram->reasons, "zram",
				      "%s cannot be read", pattern);
}

static void read_file(struct memledger_ram *ram, enum memledger_ram_term term,
		      const char *directory, const char *name, u64 unit)
{
	char path[512];
	u64 number;

	snprintf(path, sizeof(path), "%s/kernel/%s/%s", ram->sysfs, directory,
		 name);
	if (read_number(path, "%llu", &number))
		set(ram, term, number * unit);
	else
		memledger_reasons_add(&ram->reasons, terms[term].name,
				      "%s cannot be read", path);
}

static void read_ksm(struct memledger_ram *ram, u64 page_size)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (terms[i].source == SOURCE_KSM)
			read_file(ram, i, "mm/ksm", terms[i].text, page_size);
}

static void read_gpu(struct memledger_ram *ram, enum memledger_ram_term term,
		     const char *file)
{
	const struct memledger_module module = { .sysfs = ram->sysfs };
	u64 number;
	int ret = memledger_module_read_number(&module, file, &number);

	switch (ret) {
	case 0:
		set(ram, term, number);
		break;
	case -EOPNOTSUPP:
		memledger_reasons_add(&ram->reasons, terms[term].name,
				      term == MEMLEDGER_RAM_gpu_total ?
				      "no GPU driver has registered with the kernel module" :
				      term == MEMLEDGER_RAM_gpu_mem_total ?
				      "gpu_totals is 0: write 1 to %s/kernel/memledger/gpu_totals" :
				      "the device tree does not tell of graphics carve-outs",
				      ram->sysfs);
		break;
	case -ENODATA:
		memledger_reasons_add(&ram->reasons, terms[term].name,
				      "the GPU driver has not said anything yet");
		break;
	default:
		memledger_reasons_add(&ram->reasons, terms[term].name,
				      "%s/kernel/memledger/%s: %s", ram->sysfs,
				      file, strerror(-ret));
	}
}

/**
 * memledger_ram_read_meminfo - read what the kernel says of its memory
 * @ram: what to fill
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_ram_read_meminfo(struct memledger_ram *ram, const char *sysfs,
			       const char *proc,
			       struct memledger_error *error)
{
	*ram = (struct memledger_ram){ .sysfs = sysfs, .proc = proc };
	if (read_meminfo(ram, error))
		return -1;
	read_zram(ram);
	return 0;
}

/**
 * memledger_ram_add_dmabufs - add what DMA-BUFs take
 * @ram: what has been read of meminfo
 * @dmabufs: all of them
 */
void memledger_ram_add_dmabufs(struct memledger_ram *ram,
			       const struct memledger_dmabufs *dmabufs)
{
	u64 size = 0, mapped = 0, in_pss = 0, shmem = 0, mapped_shmem = 0;
	size_t i, h;

	for (i = 0; i < dmabufs->nr_buffers; i++) {
		const struct memledger_dmabuf *buffer = &dmabufs->buffers[i];
		bool in_shmem = buffer->exporter &&
				!strcmp(buffer->exporter, "udmabuf");
		bool is_mapped = false;

		for (h = 0; h < buffer->nr_listed; h++) {
			const struct memledger_dmabuf_holder *holder =
				&dmabufs->holders[buffer->first + h];

			is_mapped |= holder->maps > 0;
			in_pss += holder->smaps_pss;
		}
		size += buffer->size;
		mapped += is_mapped ? buffer->size : 0;
		shmem += in_shmem ? buffer->size : 0;
		mapped_shmem += is_mapped && in_shmem ? buffer->size : 0;
	}
	ram->incomplete = !dmabufs->complete;
	set(ram, MEMLEDGER_RAM_dmabuf_size, size);
	set(ram, MEMLEDGER_RAM_dmabuf_mapped, mapped);
	set(ram, MEMLEDGER_RAM_dmabuf_in_pss, in_pss);
	set(ram, MEMLEDGER_RAM_dmabuf_in_shmem, shmem);
	set(ram, MEMLEDGER_RAM_dmabuf_mapped_in_shmem, mapped_shmem);
}

/**
 * memledger_ram_no_dmabufs - note that nothing is known of DMA-BUFs
 * @ram: what has been read of meminfo
 * @why: the reason
 */
void memledger_ram_no_dmabufs(struct memledger_ram *ram, const char *why)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (terms[i].source == SOURCE_DMABUF)
			memledger_reasons_add(&ram->reasons, terms[i].name,
					      "%s", why);
}

static u64 pss_of(const struct memledger_system_row *row)
{
	return row->pss_floor + row->swap_pss_floor;
}

static void add_category(struct memledger_ram *ram,
			 enum memledger_ram_term term,
			 const struct memledger_system *system,
			 enum memledger_category category)
{
	const struct memledger_system_row *row = &system->category[category];

	if (row->known)
		set(ram, term, row->pss_floor);
	else
		memledger_reasons_add(&ram->reasons, terms[term].name,
				      "no GPU driver tells of it");
}

static void add_processes(struct memledger_ram *ram,
			  const struct memledger_system *system)
{
	u64 cached = 0;
	size_t i;

	for (i = 0; i < system->nr; i++) {
		const struct memledger_system_process *process =
			&system->process[i];

		if (process->adj >= 900 && process->adj != MEMLEDGER_NO_ADJ)
			cached += pss_of(&process->total);
	}
	set(ram, MEMLEDGER_RAM_pss, pss_of(&system->total));
	if (system->info.foreign)
		memledger_reasons_add(&ram->reasons, "cached_pss",
				      "%s is that of another pid namespace",
				      ram->proc);
	else
		set(ram, MEMLEDGER_RAM_cached_pss, cached);
	if (system->info.swap_pss)
		set(ram, MEMLEDGER_RAM_swap_pss,
		    system->total.swap_pss_floor);
	else
		memledger_reasons_add(&ram->reasons, "swap_pss",
				      "this kernel does not tell who shares swap");
	add_category(ram, MEMLEDGER_RAM_gfx_dev, system,
		     MEMLEDGER_CAT_GFX_DEV);
	add_category(ram, MEMLEDGER_RAM_egl_mtrack, system,
		     MEMLEDGER_CAT_EGL_MTRACK);
	add_category(ram, MEMLEDGER_RAM_gl_mtrack, system,
		     MEMLEDGER_CAT_GL_MTRACK);
}

/* Terms and results by their names: modulo 2^64, as they wrap around. */
#define T(name)	(ram->term[MEMLEDGER_RAM_##name])
#define R(name)	(ram->result[MEMLEDGER_RAM_RESULT_##name])

/* MEMLEDGER_RAM_RESULTS says the same in words. */
static void compute(struct memledger_ram *ram)
{
	/* Android's older kernels have no KReclaimable. */
	u64 reclaimable = ram->known[MEMLEDGER_RAM_kreclaimable] ?
			  T(kreclaimable) : T(sreclaimable);

	R(dmabuf_unmapped) = T(dmabuf_size) - T(dmabuf_mapped) -
			     T(dmabuf_in_shmem) + T(dmabuf_mapped_in_shmem);
	R(gpu_private) = T(gl_mtrack);
	if (ram->known[MEMLEDGER_RAM_gpu_total])
		R(gpu_private) = T(gpu_total) > T(gfx_dev) ?
				 T(gpu_total) - T(gfx_dev) : 0;
	R(all_pss) = T(pss) - T(gl_mtrack) + T(dmabuf_mapped) -
		     T(dmabuf_in_pss) - T(dmabuf_mapped_in_shmem);
	/* EGL mtrack is the share of such buffers, if they are known. */
	if (ram->known[MEMLEDGER_RAM_dmabuf_size])
		R(all_pss) -= T(egl_mtrack);
	R(used_pss) = R(all_pss) - T(cached_pss);
	R(cached_kernel) = T(buffers) + reclaimable + T(cached) +
			   T(swap_cached) - T(mapped);
	/* On Android vmalloc_used has kernel_stack (CONFIG_VMAP_STACK). */
	R(used_kernel) = T(shmem) + T(sunreclaim) + T(vmalloc_used) +
			 T(page_tables) + R(dmabuf_unmapped) + R(gpu_private);
	R(total_ram) = T(mem_total);
	R(free_ram) = T(cached_pss) + R(cached_kernel) + T(mem_free);
	R(used_ram) = R(used_pss) + R(used_kernel);
	R(lost_ram) = T(mem_total) - (R(all_pss) - T(swap_pss)) -
		      T(mem_free) - R(cached_kernel) - R(used_kernel) -
		      T(zram);
	R(unaccounted) = T(mem_total) - T(mem_free) - T(active) -
			 T(inactive) - T(unevictable) - reclaimable -
			 T(sunreclaim) - T(vmalloc_used) - T(page_tables) -
			 T(sec_page_tables) - T(percpu) - T(hugetlb) -
			 T(zram) - T(dmabuf_size) + T(dmabuf_in_shmem) -
			 T(gpu_total);
}

/**
 * memledger_ram_finish - add what processes have, and make the results
 * @ram: with meminfo, and DMA-BUFs where they are known
 * @system: all processes
 */
void memledger_ram_finish(struct memledger_ram *ram,
			  const struct memledger_system *system)
{
	unsigned int i;

	if (!T(vmalloc_used))
		read_vmallocinfo(ram, system->info.page_size);
	read_ksm(ram, system->info.page_size);
	read_file(ram, MEMLEDGER_RAM_dma_heap_pools, "dma_heap",
		  "total_pools_kb", 1024);
	read_gpu(ram, MEMLEDGER_RAM_gpu_mem_total, "gpu/mem_total");
	read_gpu(ram, MEMLEDGER_RAM_gpu_total, "gpu/total");
	read_gpu(ram, MEMLEDGER_RAM_carveouts_static, "gpu/carveouts/static");
	read_gpu(ram, MEMLEDGER_RAM_carveouts_reusable,
		 "gpu/carveouts/reusable");
	add_processes(ram, system);
	compute(ram);
	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (!ram->known[i] && terms[i].source == SOURCE_MEMINFO)
			memledger_reasons_add(&ram->reasons, terms[i].name,
					      "this kernel's %s/meminfo has no %s",
					      ram->proc, terms[i].text);
}

/* Whether a result is made of something, and not only of what is unknown. */
static bool is_known(const struct memledger_ram *ram,
		     enum memledger_ram_result result)
{
	switch (result) {
	case MEMLEDGER_RAM_RESULT_dmabuf_unmapped:
		return ram->known[MEMLEDGER_RAM_dmabuf_size];
	case MEMLEDGER_RAM_RESULT_gpu_private:
		return ram->known[MEMLEDGER_RAM_gpu_total] ||
		       ram->known[MEMLEDGER_RAM_gl_mtrack];
	default:
		return true;
	}
}

static void print_size(FILE *out, const char *before, u64 bytes, bool known,
		       const char *after)
{
	char text[MEMLEDGER_SIZE_TEXT_LEN];

	fprintf(out, "%s%10s%s", before,
		known ? memledger_size_text(bytes, text) : "-", after);
}

static void print_dmabufs(FILE *out, const struct memledger_ram *ram)
{
	bool known = ram->known[MEMLEDGER_RAM_dmabuf_size];

	print_size(out, "  DMA-BUF: ", T(dmabuf_size), known, " (");
	print_size(out, "", T(dmabuf_mapped), known, " mapped + ");
	print_size(out, "", T(dmabuf_size) - T(dmabuf_mapped), known,
		   " unmapped)\n");
	print_size(out, "DMA-BUF Heaps pool: ", T(dma_heap_pools),
		   ram->known[MEMLEDGER_RAM_dma_heap_pools], "\n");
}

static void print_gpu(FILE *out, const struct memledger_ram *ram)
{
	bool total = ram->known[MEMLEDGER_RAM_gpu_mem_total];
	bool private = is_known(ram, MEMLEDGER_RAM_RESULT_gpu_private);

	print_size(out, "      GPU: ", T(gpu_mem_total), total, " (");
	print_size(out, "", T(gpu_mem_total) - R(gpu_private),
		   total && private, " dmabuf + ");
	print_size(out, "", R(gpu_private), private, " private)\n");
}

/**
 * memledger_ram_print - print the last lines of dumpsys meminfo
 * @out: where to
 * @ram: the numbers
 */
void memledger_ram_print(FILE *out, const struct memledger_ram *ram)
{
	print_size(out, "Total RAM: ", R(total_ram), true, "\n");
	print_size(out, " Free RAM: ", R(free_ram), true, " (");
	print_size(out, "", T(cached_pss),
		   ram->known[MEMLEDGER_RAM_cached_pss], " cached pss + ");
	print_size(out, "", R(cached_kernel), true, " cached kernel + ");
	print_size(out, "", T(mem_free), true, " free)\n");
	print_dmabufs(out, ram);
	print_gpu(out, ram);
	print_size(out, " Used RAM: ", R(used_ram), true, " (");
	print_size(out, "", R(used_pss), true, " used pss + ");
	print_size(out, "", R(used_kernel), true, " kernel)\n");
	print_size(out, " Lost RAM: ", R(lost_ram), true, "\n");
	print_size(out, "     ZRAM: ", T(zram),
		   ram->known[MEMLEDGER_RAM_zram], " physical used for ");
	print_size(out, "", T(swap_total) - T(swap_free), true, " in swap (");
	print_size(out, "", T(swap_total), true, " total swap)\n");
	if (T(ksm_sharing) | T(ksm_shared) | T(ksm_unshared) |
	    T(ksm_volatile)) {
		print_size(out, "      KSM: ", T(ksm_sharing), true,
			   " saved from shared ");
		print_size(out, "", T(ksm_shared), true, "; ");
		print_size(out, "", T(ksm_unshared), true, " unshared; ");
		print_size(out, "", T(ksm_volatile), true, " volatile\n");
	}
	if (ram->known[MEMLEDGER_RAM_carveouts_static]) {
		print_size(out, "Carve-outs: ", T(carveouts_static), true,
			   " beside total RAM; ");
		print_size(out, "", T(carveouts_reusable), true,
			   " inside, and in lost RAM where in use\n");
	}
	print_size(out, "Unaccounted: ", R(unaccounted), true,
		   " that is in none of the kernel's counters\n");
}

/**
 * memledger_ram_print_terms - print what the results are made of
 * @out: where to
 * @ram: the numbers
 */
void memledger_ram_print_terms(FILE *out, const struct memledger_ram *ram)
{
	char text[MEMLEDGER_SIZE_TEXT_LEN];
	unsigned int i;

	fputs("What that is made of:\n", out);
	for (i = 0; i < ARRAY_SIZE(terms); i++) {
		fprintf(out, "%24s %12s  ", terms[i].name,
			ram->known[i] ?
			memledger_size_text(ram->term[i], text) : "-");
		print_source(out, ram, i);
		putc('\n', out);
	}
	for (i = 0; i < ARRAY_SIZE(results); i++)
		fprintf(out, "%24s %12s  = %s\n", results[i].name,
			is_known(ram, i) ?
			memledger_size_text(ram->result[i], text) : "-",
			results[i].text);
	memledger_reasons_print(out, &ram->reasons);
	if (ram->incomplete)
		fputs("Incomplete: not all DMA-BUFs could be seen.\n", out);
}

/**
 * memledger_ram_print_json - print all of it as members of a JSON object
 * @out: where to
 * @first: as for memledger_json_key()
 * @ram: the numbers
 */
void memledger_ram_print_json(FILE *out, bool *first,
			      const struct memledger_ram *ram)
{
	bool first_member = true;
	unsigned int i;

	memledger_json_bool(out, first, "complete", !ram->incomplete);
	for (i = 0; i < ARRAY_SIZE(results); i++) {
		memledger_json_key(out, first, results[i].name);
		if (is_known(ram, i))
			fprintf(out, "%lld", (s64)ram->result[i]);
		else
			fputs("null", out);
	}
	memledger_json_key(out, first, "terms");
	putc('{', out);
	for (i = 0; i < ARRAY_SIZE(terms); i++) {
		bool first_part = true;
		char source[1024];
		FILE *text;

		source[0] = '\0';
		text = fmemopen(source, sizeof(source), "w");
		if (text) {
			print_source(text, ram, i);
			fclose(text);
		}
		memledger_json_key(out, &first_member, terms[i].name);
		putc('{', out);
		memledger_json_number(out, &first_part, "bytes", ram->term[i],
				      ram->known[i]);
		memledger_json_string(out, &first_part, "source", source);
		putc('}', out);
	}
	putc('}', out);
	memledger_reasons_print_json(out, first, &ram->reasons);
}
