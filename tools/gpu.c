// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process in; what the module, its GPU driver and DRM drivers tell of its
 * graphics memory, each apart from the others, out.
 */
#include <stdlib.h>

#include "gpu.h"
#include "json.h"
#include "listing.h"

static const char incomplete[] =
"Incomplete: the GPU driver did not tell all of its entries: the numbers are too\n"
"small.\n";

static const char dmabufs_incomplete[] =
"Incomplete: not every process and DMA-BUF was seen: counts and sizes of DMA-BUFs\n"
"are too small, shares may be too large.\n";

/* The numbers do without debugfs; why there are no entries is said. */
static int read_entries(struct memledger_gpu *gpu,
			const struct memledger_module *module, pid_t pid)
{
	char file[64];
	int ret;

	snprintf(file, sizeof(file), "processes/%d/gpu", pid);
	ret = memledger_module_read_table(module, file, &gpu->details);
	switch (ret) {
	case 0:
		return MEMLEDGER_GOT;
	case -EOPNOTSUPP:
		snprintf(gpu->why, sizeof(gpu->why),
			 "no GPU driver has registered with memledger");
		return MEMLEDGER_GOT;
	case -ENODATA:
	case -EIO:
		snprintf(gpu->why, sizeof(gpu->why),
			 "%s cannot be read: %s", file, strerror(-ret));
		return MEMLEDGER_GOT;
	}
	ret = memledger_module_fail_table(module, file, ret);
	if (ret < 0)
		snprintf(gpu->why, sizeof(gpu->why), "%.500s",
			 module->error->text);
	return ret < 0 ? MEMLEDGER_GOT : ret;
}

static int read_more(const struct memledger_module *module,
		     const struct memledger_live *live, void *data)
{
	struct memledger_gpu *gpu = data;
	int ret;

	free(gpu->details);
	gpu->details = NULL;
	*gpu->why = '\0';
	ret = memledger_gpu_numbers_read(&gpu->numbers, module, live);
	if (ret != MEMLEDGER_GOT)
		return ret;
	return read_entries(gpu, module, live->record.tgid);
}

/**
 * memledger_gpu_read - find out about a process's graphics memory
 * @gpu: what to fill; to be freed, also where this fails
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @pid: the process, by its number in the initial pid namespace
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_gpu_read(struct memledger_gpu *gpu, const char *sysfs,
		       const char *proc, pid_t pid,
		       struct memledger_error *error)
{
	const struct memledger_live_wanted wanted = {
		.more = read_more,
		.data = gpu,
	};

	memset(gpu, 0, sizeof(*gpu));
	if (memledger_live_read(sysfs, pid, &wanted, &gpu->live, error))
		return -1;
	if (gpu->details &&
	    memledger_gpu_entries_parse(&gpu->entries, gpu->details, error))
		return -1;
	if (memledger_drm_read(&gpu->drm, proc, pid))
		return memledger_error_set(error, "no memory");
	if (!gpu->details)
		memledger_reasons_add(&gpu->numbers.reasons, "gpu_entries",
				      "%s", gpu->why);
	if (*gpu->drm.reason)
		memledger_reasons_add(&gpu->numbers.reasons, "drm", "%s",
				      gpu->drm.reason);
	return 0;
}

/**
 * memledger_gpu_complete - whether nothing is missing
 * @gpu: as read
 *
 * Return: false where the module, in the process or among DMA-BUFs, or the GPU
 * driver had to stop early.
 */
bool memledger_gpu_complete(const struct memledger_gpu *gpu)
{
	return gpu->live.report.complete && gpu->numbers.dmabufs_complete &&
	       (!gpu->details || gpu->entries.complete);
}

/* Without debugfs there are the sizes alone. */
static void print_usage(FILE *out, const struct memledger_gpu *gpu)
{
	unsigned int i;
	bool any = false;

	if (gpu->details) {
		fputs("By usage\n", out);
		memledger_gpu_entries_print_usage(out, &gpu->entries);
		return;
	}
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++) {
		const struct memledger_gpu_number *usage =
			&gpu->numbers.usage[i];

		if (!usage->known || !usage->value)
			continue;
		if (!any)
			fprintf(out, "By usage\n%20s %12s\n", "usage", "size");
		any = true;
		fprintf(out, "%20s %12llu\n", memledger_gpu_usage_names[i],
			usage->value >> 10);
	}
}

/**
 * memledger_gpu_print - print a process's graphics memory as text
 * @out: where to
 * @gpu: as read
 * @entries: entry by entry as well
 */
void memledger_gpu_print(FILE *out, const struct memledger_gpu *gpu,
			 bool entries)
{
	const struct memledger_gpu_numbers *numbers = &gpu->numbers;
	struct memledger_report report = gpu->live.report;

	/* What the table of meminfo lacks is not asked for here. */
	report.unavailable = 0;
	memledger_listing_print_banner(out, "GRAPHICS", &gpu->live.report);
	fputs("kB, or a count\n", out);
	memledger_gpu_numbers_print(out, numbers);
	print_usage(out, gpu);
	if (entries) {
		fputs("Entries\n", out);
		memledger_gpu_entries_print(out, &gpu->entries);
	}
	memledger_drm_print(out, &gpu->drm);

	memledger_report_print_source(out, &report);
	fprintf(out, "Imported rule: %s\n", numbers->rule);
	memledger_reasons_print(out, &numbers->reasons);
	if (gpu->details && !gpu->entries.complete)
		fputs(incomplete, out);
	if (!numbers->dmabufs_complete)
		fputs(dmabufs_incomplete, out);
}

/**
 * memledger_gpu_print_json - print a process's graphics memory as JSON
 * @out: where to
 * @gpu: as read
 */
void memledger_gpu_print_json(FILE *out, const struct memledger_gpu *gpu)
{
	struct memledger_report report = gpu->live.report;
	bool first = true;

	report.complete = memledger_gpu_complete(gpu);
	putc('{', out);
	memledger_json_report(out, &first, &report);
	memledger_gpu_numbers_print_json(out, &first, &gpu->numbers);
	memledger_gpu_entries_print_json(out, &first, gpu->details ?
					 &gpu->entries : NULL);
	memledger_drm_print_json(out, &first, &gpu->drm);
	memledger_reasons_print_json(out, &first, &gpu->numbers.reasons);
	fputs("}\n", out);
}

/**
 * memledger_gpu_free - free what has been read
 * @gpu: of no use afterwards
 */
void memledger_gpu_free(struct memledger_gpu *gpu)
{
	memledger_gpu_entries_free(&gpu->entries);
	memledger_drm_free(&gpu->drm);
	free(gpu->details);
}
