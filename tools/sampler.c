// SPDX-License-Identifier: GPL-2.0-only
/*
 * A running process in; samples of it, one each time somebody asks, out.
 */
#include <memledger/names.h>

#include "dmabuf.h"
#include "live.h"
#include "process.h"
#include "sampler.h"
#include "vmas.h"

/**
 * memledger_sampler_open - begin to sample a process
 * @sampler: with module, proc, pid, names and buffers set, and the rest 0
 *
 * The process is tracked until memledger_sampler_close(), which has to be
 * called unless this fails, also where the program ends by a signal.
 *
 * Return: 0, or -1 with the error set.
 */
int memledger_sampler_open(struct memledger_sampler *sampler)
{
	int ret;

	if (memledger_module_check(&sampler->module))
		return -1;
	ret = memledger_module_begin(&sampler->module, sampler->pid);
	if (ret < 0)
		return -1;
	sampler->tracked = ret;
	sampler->start_ticks = memledger_process_start_ticks(sampler->proc,
							     sampler->pid);
	return 0;
}

/*
 * Somebody else may have untracked it: then we do track it. Return: 0, or as
 * memledger_module_begin().
 */
static int track_again(struct memledger_sampler *sampler)
{
	int ret = memledger_module_begin(&sampler->module, sampler->pid);

	if (ret < 0)
		return ret;
	sampler->tracked |= ret;
	sampler->start_ticks = memledger_process_start_ticks(sampler->proc,
							     sampler->pid);
	return 0;
}

/* However young the last snapshot is: each sample is one of its own. */
static int take_snapshot(const struct memledger_sampler *sampler)
{
	char file[64];
	int ret;

	snprintf(file, sizeof(file), "processes/%d/refresh", sampler->pid);
	ret = memledger_module_write(&sampler->module, file, "1");
	return ret ? memledger_module_outcome(&sampler->module,
					      "taking a snapshot", ret) :
		     MEMLEDGER_GOT;
}

static int read_record(struct memledger_sampler *sampler)
{
	int ret, i;

	for (i = 0; i < MEMLEDGER_MODULE_TRIES; i++) {
		ret = take_snapshot(sampler);
		if (ret == MEMLEDGER_GOT)
			ret = memledger_live_read_record(&sampler->module,
							 sampler->pid, NULL,
							 &sampler->record);
		if (ret <= MEMLEDGER_GOT)
			return ret;
		if (ret == MEMLEDGER_NOT_TRACKED)
			ret = track_again(sampler);
		if (ret < 0)
			return ret;
	}
	return memledger_error_set(sampler->module.error,
				   "process %d is untracked, or its snapshot lost, again and again: is something else using the module? Try again",
				   sampler->pid);
}

/*
 * Names with their numbers into a sample; of mappings the class is the category.
 */
static int add_names(struct memledger_sample *sample,
		     const struct memledger_names *names,
		     enum memledger_sample_names what)
{
	struct memledger_sample_row row;
	u64 bytes;
	u32 i;

	for (i = 0; i < names->nr; i++) {
		const struct memledger_name *name = &names->rows[i];

		memledger_sample_set_row(&row, &name->usage);
		bytes = what == MEMLEDGER_SAMPLE_EXPORTERS ? row.pss :
			memledger_sample_held(&row, name->class,
					      sample->unavailable);
		if (memledger_sample_add_name(sample, what, name->class,
					      name->text, bytes, row.vmas))
			return -ENOMEM;
	}
	return 0;
}

static int add_mappings(struct memledger_sample *sample, char *text,
			const struct memledger_profile *profile,
			struct memledger_error *error)
{
	struct memledger_names names = {};
	struct memledger_error ignored;
	struct memledger_vmas vmas = {};
	size_t i;
	int ret = 0;

	/* By somebody's other profile, or cut off: as if there were none. */
	if (memledger_vmas_parse(&vmas, text, profile, &ignored))
		memledger_vmas_free(&vmas);
	for (i = 0; i < vmas.nr && !ret; i++) {
		const struct memledger_vma *vma = &vmas.vma[i];

		if (memledger_names_add(&names, vma->name, strlen(vma->name),
					vma->verdict.category, &vma->usage,
					vma->verdict.swappable))
			ret = memledger_error_set(error, "no memory");
	}
	if (!ret && add_names(sample, &names, MEMLEDGER_SAMPLE_MAPPINGS))
		ret = memledger_error_set(error, "no memory");
	if (!ret && vmas.complete)
		sample->unavailable &= ~MEMLEDGER_SAMPLE_NO_NAMES;
	memledger_names_free(&names);
	memledger_vmas_free(&vmas);
	return ret;
}

static int add_buffers(struct memledger_sample *sample, char *text,
		       struct memledger_error *error)
{
	struct memledger_dmabufs dmabufs = {};
	struct memledger_names names = {};
	struct memledger_error ignored;
	size_t i;
	int ret = 0;

	if (memledger_dmabufs_parse(&dmabufs, text, false, &ignored))
		memledger_dmabufs_free(&dmabufs);
	/* Of some of them there is no sum. */
	for (i = 0; dmabufs.complete && i < dmabufs.nr_holders && !ret; i++) {
		const struct memledger_dmabuf_holder *holder =
			&dmabufs.holders[i];
		const struct memledger_dmabuf *buffer =
			&dmabufs.buffers[holder->buffer];
		const char *exporter = buffer->exporter ? buffer->exporter : "";
		const struct memledger_vma_usage usage = {
			.pss = holder->pss << MEMLEDGER_PSS_SHIFT,
		};

		sample->dmabuf_count++;
		sample->dmabuf_rss += buffer->size;
		sample->dmabuf_pss += holder->pss;
		if (memledger_names_add(&names, exporter, strlen(exporter), 0,
					&usage, false))
			ret = memledger_error_set(error, "no memory");
	}
	if (!ret && add_names(sample, &names, MEMLEDGER_SAMPLE_EXPORTERS))
		ret = memledger_error_set(error, "no memory");
	if (!ret && dmabufs.complete)
		sample->unavailable &= ~MEMLEDGER_SAMPLE_NO_DMABUF;
	memledger_names_free(&names);
	memledger_dmabufs_free(&dmabufs);
	return ret;
}

/*
 * A table in debugfs. Return: NULL where it cannot be read: then, as where it
 * makes no sense, what is in it is unavailable in this sample.
 */
static char *read_table(const struct memledger_sampler *sampler,
			const char *name)
{
	char file[64];
	char *text;

	snprintf(file, sizeof(file), "processes/%d/%s", sampler->pid, name);
	if (memledger_module_read_table(&sampler->module, file, &text))
		return NULL;
	return text;
}

/* What a record does not have. */
static int add_details(struct memledger_sampler *sampler,
		       struct memledger_sample *sample)
{
	const struct memledger_profile *profile;
	struct memledger_error *error = sampler->module.error;
	char *text;
	int ret = 0;

	profile = memledger_profile_find(sampler->record.profile);
	text = sampler->names && profile ? read_table(sampler, "vmas") : NULL;
	if (text)
		ret = add_mappings(sample, text, profile, error);
	free(text);
	memledger_sample_keep_names(sample, sampler->names);
	text = sampler->buffers && !ret ? read_table(sampler, "dmabuf") : NULL;
	if (text)
		ret = add_buffers(sample, text, error);
	free(text);
	return ret;
}

/**
 * memledger_sampler_read - sample the process now
 * @sampler: as memledger_sampler_open() left it
 * @sample: what to fill; to be freed where this returns MEMLEDGER_SAMPLED
 *
 * A process that was untracked by somebody is tracked again. If it has exited
 * meanwhile and another one has its number, that is sampled, and its start says
 * so.
 *
 * Return: enum memledger_sampled, or -1 with the error set.
 */
int memledger_sampler_read(struct memledger_sampler *sampler,
			   struct memledger_sample *sample)
{
	struct memledger_record *record = &sampler->record;
	int ret = read_record(sampler);

	/* The module knows it some time before proc does. */
	if (ret == MEMLEDGER_EXITED ||
	    (ret && memledger_process_has_exited(sampler->proc, sampler->pid,
						 sampler->start_ticks)))
		return MEMLEDGER_SAMPLER_EXITED;
	if (ret)
		return -1;
	record->comm[sizeof(record->comm) - 1] = '\0';
	record->profile[sizeof(record->profile) - 1] = '\0';
	memledger_sample_set(sample, record);
	if (sampler->start_ticks) {
		sample->start_ticks = sampler->start_ticks;
		sample->unavailable &= ~MEMLEDGER_SAMPLE_NO_START;
	}
	if (add_details(sampler, sample)) {
		memledger_sample_free(sample);
		return -1;
	}
	/* Of exporters there are few. */
	memledger_sample_keep_names(sample, SIZE_MAX);
	return MEMLEDGER_SAMPLED;
}

/**
 * memledger_sampler_close - end what memledger_sampler_open() began
 * @sampler: of no use afterwards
 */
void memledger_sampler_close(struct memledger_sampler *sampler)
{
	if (sampler->tracked)
		memledger_module_end(&sampler->module, sampler->pid);
}
