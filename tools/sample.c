// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of the module in; samples of the same moments, and single numbers of
 * them, out.
 */
#include "array.h"
#include "sample.h"

/* Rows of files: a clean page of them can be had again, and is no leak. */
static const bool is_file[NR_MEMLEDGER_CATEGORIES] = {
	[MEMLEDGER_CAT_SO_MMAP] = true,
	[MEMLEDGER_CAT_JAR_MMAP] = true,
	[MEMLEDGER_CAT_APK_MMAP] = true,
	[MEMLEDGER_CAT_TTF_MMAP] = true,
	[MEMLEDGER_CAT_DEX_MMAP] = true,
	[MEMLEDGER_CAT_OAT_MMAP] = true,
	[MEMLEDGER_CAT_ART_MMAP] = true,
	[MEMLEDGER_CAT_OTHER_MMAP] = true,
};

/* What takes a category away where it is unavailable. */
static const u32 needed[NR_MEMLEDGER_CATEGORIES] = {
	[MEMLEDGER_CAT_EGL_MTRACK] = MEMLEDGER_UNAVAILABLE_MTRACK |
				     MEMLEDGER_UNAVAILABLE_IMPORTED,
	[MEMLEDGER_CAT_GL_MTRACK] = MEMLEDGER_UNAVAILABLE_MTRACK,
	[MEMLEDGER_CAT_OTHER_MTRACK] = MEMLEDGER_UNAVAILABLE_MTRACK,
};

/**
 * memledger_sample_set_row - make a row of a sample of one of a record
 * @row: what to fill
 * @usage: as the record has it
 */
void memledger_sample_set_row(struct memledger_sample_row *row,
			      const struct memledger_usage *usage)
{
	*row = (struct memledger_sample_row){
		.pss = usage->pss >> MEMLEDGER_PSS_SHIFT,
		.swap_pss = usage->swap_pss >> MEMLEDGER_PSS_SHIFT,
		.rss = usage->rss,
		.private_dirty = usage->private_dirty,
		.private_clean = usage->private_clean,
		.shared_dirty = usage->shared_dirty,
		.shared_clean = usage->shared_clean,
		.swap = usage->swap,
		.vmas = usage->vmas,
	};
}

/**
 * memledger_sample_set - make a sample of a record
 * @sample: what to fill; without a start, DMA-BUFs and names, which a record
 *	does not have
 * @record: as the module gave it
 */
void memledger_sample_set(struct memledger_sample *sample,
			  const struct memledger_record *record)
{
	unsigned int i;

	*sample = (struct memledger_sample){
		.time_ns = record->timestamp_ns,
		.walk_ns = record->walk_ns,
		.generation = record->generation,
		.tgid = record->tgid,
		.complete = record->complete,
		.unavailable = record->unavailable |
			       MEMLEDGER_SAMPLE_NO_DMABUF |
			       MEMLEDGER_SAMPLE_NO_NAMES |
			       MEMLEDGER_SAMPLE_NO_START,
		.graphics = record->graphics,
	};
	memledger_sample_set_row(&sample->row[MEMLEDGER_SAMPLE_TOTAL],
				 &record->totals.total);
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
		memledger_sample_set_row(&sample->row[MEMLEDGER_SAMPLE_CATEGORIES +
						      i],
					 &record->totals.category[i]);
	for (i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++)
		memledger_sample_set_row(&sample->row[MEMLEDGER_SAMPLE_UNKNOWN + i],
					 &record->totals.unknown[i]);
}

/**
 * memledger_sample_add_name - add what goes by a name
 * @sample: to which; nothing of it is called so yet
 * @what: what it is the name of
 * @category: of mappings
 * @text: the name; is copied
 * @bytes: how large
 * @count: how many mappings or buffers
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_sample_add_name(struct memledger_sample *sample,
			      enum memledger_sample_names what,
			      enum memledger_category category,
			      const char *text, u64 bytes, u64 count)
{
	struct memledger_sample_name *name;
	char *copy;

	name = memledger_array_grow(sample->name, sample->nr_names,
				    sizeof(*name));
	if (!name)
		return -ENOMEM;
	sample->name = name;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	name[sample->nr_names++] = (struct memledger_sample_name){
		.text = copy,
		.what = what,
		.category = category,
		.bytes = bytes,
		.count = count,
	};
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct memledger_sample_name *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(x->text, y->text);
}

/**
 * memledger_sample_keep_names - sort names, and forget the small ones
 * @sample: whose
 * @most: how many to keep
 */
void memledger_sample_keep_names(struct memledger_sample *sample, size_t most)
{
	memledger_sort(sample->name, sample->nr_names, sizeof(*sample->name),
		       compare_names);
	while (sample->nr_names > most) {
		free(sample->name[--sample->nr_names].text);
		sample->names_cut = true;
	}
}

/**
 * memledger_sample_free - free what a sample holds
 * @sample: becomes an empty one
 */
void memledger_sample_free(struct memledger_sample *sample)
{
	while (sample->nr_names)
		free(sample->name[--sample->nr_names].text);
	free(sample->name);
	memset(sample, 0, sizeof(*sample));
}

/**
 * memledger_sample_has_row - tell a row of zeroes from one nobody can fill
 * @sample: the sample
 * @row: index of the row
 *
 * Return: whether its numbers are known; swap_pss may still not be.
 */
bool memledger_sample_has_row(const struct memledger_sample *sample,
			      unsigned int row)
{
	if (row >= MEMLEDGER_SAMPLE_UNKNOWN)
		return !(sample->unavailable &
			 MEMLEDGER_UNAVAILABLE_ANON_NAMES) ||
		       !memledger_unknown_needs_name(row -
						     MEMLEDGER_SAMPLE_UNKNOWN);
	return row < MEMLEDGER_SAMPLE_CATEGORIES ||
	       !(sample->unavailable &
		 needed[row - MEMLEDGER_SAMPLE_CATEGORIES]);
}

/* Of what is not only this process's, the part that is dirty. */
static u64 shared_dirty_pss(const struct memledger_sample_row *row)
{
	u64 private = row->private_dirty + row->private_clean;
	u64 shared = row->shared_dirty + row->shared_clean;

	if (!shared || row->pss <= private)
		return 0;
	return (double)(row->pss - private) * row->shared_dirty / shared;
}

/**
 * memledger_sample_held - what a row holds that only its process can give back
 * @row: the row
 * @category: what it is, or what it is part of
 * @unavailable: of the sample
 *
 * Pss and what is swapped out, so that swapping changes nothing. Clean pages of
 * files are left out, since the kernel takes them back when it wants to; of
 * shared pages the dirty ones count for as much of their Pss as they are of
 * their Rss. Where SwapPss is unavailable, Swap stands for it.
 *
 * Return: bytes.
 */
u64 memledger_sample_held(const struct memledger_sample_row *row,
			  enum memledger_category category, u32 unavailable)
{
	u64 swap = unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS ? row->swap :
								row->swap_pss;

	if (!is_file[category])
		return row->pss + swap;
	return row->private_dirty + shared_dirty_pss(row) + swap;
}

static bool category_value(const struct memledger_sample *sample,
			   unsigned int category, u64 *value)
{
	unsigned int row = MEMLEDGER_SAMPLE_CATEGORIES + category;

	*value = memledger_sample_held(&sample->row[row], category,
				       sample->unavailable);
	return memledger_sample_has_row(sample, row);
}

/**
 * memledger_sample_find_name - what a sample has by a name
 * @sample: the sample
 * @part: of kind MEMLEDGER_PART_NAME or _EXPORTER
 * @name: gets it, or NULL where there is none
 *
 * Return: whether it is known; if so, and there is none, it is 0.
 */
bool
memledger_sample_find_name(const struct memledger_sample *sample,
			   const struct memledger_part *part,
			   const struct memledger_sample_name **name)
{
	bool mappings = part->kind == MEMLEDGER_PART_NAME;
	unsigned int what = mappings ? MEMLEDGER_SAMPLE_MAPPINGS :
				       MEMLEDGER_SAMPLE_EXPORTERS;
	size_t i;

	*name = NULL;
	if (sample->unavailable & (mappings ? MEMLEDGER_SAMPLE_NO_NAMES :
					      MEMLEDGER_SAMPLE_NO_DMABUF))
		return false;
	for (i = 0; i < sample->nr_names && !*name; i++)
		if (sample->name[i].what == what &&
		    sample->name[i].category == part->index &&
		    !strcmp(sample->name[i].text, part->name))
			*name = &sample->name[i];
	return *name || !mappings || !sample->names_cut;
}

/**
 * memledger_sample_value - how much a part of a process holds
 * @sample: the process
 * @part: the part
 * @value: gets it, as memledger_sample_held() has it; of GPU memory and
 *	DMA-BUFs what the driver and the buffers say, bytes. The total is the
 *	sum of the categories
 *
 * Return: whether it is known.
 */
bool memledger_sample_value(const struct memledger_sample *sample,
			    const struct memledger_part *part, u64 *value)
{
	const struct memledger_sample_name *name;
	unsigned int i;
	bool known;
	u64 more;

	switch (part->kind) {
	case MEMLEDGER_PART_TOTAL:
		*value = 0;
		for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
			if (category_value(sample, i, &more))
				*value += more;
		return true;
	case MEMLEDGER_PART_CATEGORY:
		return category_value(sample, part->index, value);
	case MEMLEDGER_PART_UNKNOWN:
		i = MEMLEDGER_SAMPLE_UNKNOWN + part->index;
		*value = memledger_sample_held(&sample->row[i],
					       MEMLEDGER_CAT_UNKNOWN,
					       sample->unavailable);
		return memledger_sample_has_row(sample, i);
	case MEMLEDGER_PART_DMABUF:
		*value = sample->dmabuf_pss;
		return !(sample->unavailable & MEMLEDGER_SAMPLE_NO_DMABUF);
	case MEMLEDGER_PART_GPU:
		*value = sample->graphics.usage[part->index];
		return !(sample->unavailable & MEMLEDGER_UNAVAILABLE_MTRACK);
	case MEMLEDGER_PART_NAME:
	case MEMLEDGER_PART_EXPORTER:
		known = memledger_sample_find_name(sample, part, &name);
		*value = name ? name->bytes : 0;
		return known;
	}
	return false;
}

/**
 * memledger_sample_same_process - tell a process from a later one
 * @a: a sample
 * @b: another one
 *
 * Return: whether both are of one process, as far as is known.
 */
bool memledger_sample_same_process(const struct memledger_sample *a,
				   const struct memledger_sample *b)
{
	return a->tgid == b->tgid &&
	       (a->start_ticks == b->start_ticks ||
		(a->unavailable | b->unavailable) & MEMLEDGER_SAMPLE_NO_START);
}

/**
 * memledger_part_label - say what a part is
 * @part: the part
 *
 * Return: its name; of a category as in the table, of others as in the ABI.
 */
const char *memledger_part_label(const struct memledger_part *part)
{
	switch (part->kind) {
	case MEMLEDGER_PART_TOTAL:
		return "TOTAL";
	case MEMLEDGER_PART_CATEGORY:
		return memledger_category_labels[part->index];
	case MEMLEDGER_PART_UNKNOWN:
		return memledger_unknown_names[part->index];
	case MEMLEDGER_PART_DMABUF:
		return "DMA-BUFs";
	case MEMLEDGER_PART_GPU:
		return memledger_gpu_usage_names[part->index];
	case MEMLEDGER_PART_NAME:
	case MEMLEDGER_PART_EXPORTER:
		return *part->name ? part->name : "(no name)";
	}
	return "";
}

/**
 * memledger_samples_add - make room for one more sample
 * @samples: where
 *
 * Return: it, empty; or NULL without memory.
 */
struct memledger_sample *
memledger_samples_add(struct memledger_samples *samples)
{
	struct memledger_sample *sample;

	sample = memledger_array_grow(samples->sample, samples->nr,
				      sizeof(*sample));
	if (!sample)
		return NULL;
	samples->sample = sample;
	sample += samples->nr++;
	memset(sample, 0, sizeof(*sample));
	return sample;
}

/**
 * memledger_samples_free - free samples
 * @samples: become none
 */
void memledger_samples_free(struct memledger_samples *samples)
{
	while (samples->nr)
		memledger_sample_free(&samples->sample[--samples->nr]);
	free(samples->sample);
	samples->sample = NULL;
}

/**
 * memledger_samples_begin - find where the last process begins
 * @samples: of one process, or of several that had its number
 *
 * Return: index of its first sample.
 */
size_t memledger_samples_begin(const struct memledger_samples *samples)
{
	size_t begin = samples->nr;

	if (!begin)
		return 0;
	while (--begin)
		if (!memledger_sample_same_process(&samples->sample[begin - 1],
						   &samples->sample[begin]))
			break;
	return begin;
}
