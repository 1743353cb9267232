// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of a process in; what there is to say of it, and which part of it
 * that is about, out.
 */
#include "array.h"
#include "verdict.h"

/* A part has to be surer than the whole, for there are many of them. */
#define PART_SURE	0.00001
#define PART_NOISE	4.

/* A part that makes up so much of another's growth is what drives it. */
#define DRIVES		0.5

/* Who makes up whom: a kind of part, within which category, if it matters. */
static const struct {
	enum memledger_part_kind whole;
	int category;		/* -1: any */
	enum memledger_part_kind detail;
} details[] = {
	{ MEMLEDGER_PART_CATEGORY, -1, MEMLEDGER_PART_NAME },
	{ MEMLEDGER_PART_CATEGORY, MEMLEDGER_CAT_UNKNOWN,
	  MEMLEDGER_PART_UNKNOWN },
	{ MEMLEDGER_PART_CATEGORY, MEMLEDGER_CAT_GL_MTRACK,
	  MEMLEDGER_PART_GPU },
	{ MEMLEDGER_PART_CATEGORY, MEMLEDGER_CAT_EGL_MTRACK,
	  MEMLEDGER_PART_GPU },
	{ MEMLEDGER_PART_CATEGORY, MEMLEDGER_CAT_GFX_DEV,
	  MEMLEDGER_PART_GPU },
	{ MEMLEDGER_PART_DMABUF, -1, MEMLEDGER_PART_EXPORTER },
};

/* Parts that may be the reason to call a process growing. */
static bool is_reason(const struct memledger_part *part)
{
	return part->kind == MEMLEDGER_PART_CATEGORY ||
	       part->kind == MEMLEDGER_PART_DMABUF ||
	       part->kind == MEMLEDGER_PART_GPU;
}

/**
 * struct work - what a finding is made from
 * @samples: all of them
 * @finding: what is made
 * @point: room for a number of each sample
 */
struct work {
	const struct memledger_samples *samples;
	struct memledger_finding *finding;
	struct memledger_point *point;
};

/* Return: of how many samples the part is known. */
static size_t find_points(struct work *work, const struct memledger_part *part)
{
	const struct memledger_samples *samples = work->samples;
	size_t i, nr = 0;
	u64 value;

	for (i = work->finding->begin; i < samples->nr; i++) {
		const struct memledger_sample *sample = &samples->sample[i];

		if (sample->complete &&
		    memledger_sample_value(sample, part, &value))
			work->point[nr++] = (struct memledger_point){
				sample->time_ns, value,
				i - work->finding->begin };
	}
	return nr;
}

/* Most parts do not move at all, and need not be looked at any further. */
static bool moves(const struct memledger_point *point, size_t nr)
{
	u64 least = U64_MAX, most = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		least = point[i].bytes < least ? point[i].bytes : least;
		most = point[i].bytes > most ? point[i].bytes : most;
	}
	return nr && most - least >= MEMLEDGER_TREND_LEAST;
}

/* Of what is counted: mappings, buffers. */
static bool count_of(const struct memledger_sample *sample,
		     const struct memledger_part *part, u64 *count)
{
	unsigned int row = part->kind == MEMLEDGER_PART_UNKNOWN ?
			   MEMLEDGER_SAMPLE_UNKNOWN :
			   MEMLEDGER_SAMPLE_CATEGORIES;
	const struct memledger_sample_name *name;
	bool known;

	switch (part->kind) {
	case MEMLEDGER_PART_CATEGORY:
	case MEMLEDGER_PART_UNKNOWN:
		*count = sample->row[row + part->index].vmas;
		return true;
	case MEMLEDGER_PART_DMABUF:
		*count = sample->dmabuf_count;
		return !(sample->unavailable & MEMLEDGER_SAMPLE_NO_DMABUF);
	case MEMLEDGER_PART_NAME:
	case MEMLEDGER_PART_EXPORTER:
		known = memledger_sample_find_name(sample, part, &name);
		*count = name ? name->count : 0;
		return known;
	default:
		return false;
	}
}

static s64 counted(const struct work *work, const struct memledger_part *part)
{
	const struct memledger_samples *samples = work->samples;
	u64 before, after;

	if (!count_of(&samples->sample[work->finding->begin], part, &before) ||
	    !count_of(&samples->sample[samples->nr - 1], part, &after))
		return 0;
	return after - before;
}

static bool is_sure(const struct memledger_trend *trend)
{
	return trend->p < PART_SURE &&
	       trend->per_round * (trend->rounds - trend->since) >=
	       PART_NOISE * trend->noise;
}

static int add_part(struct work *work, enum memledger_part_kind kind,
		    unsigned int index, const char *name)
{
	struct memledger_finding *finding = work->finding;
	struct memledger_finding_part *part;
	struct memledger_finding_part one = { .part = { kind, index, name } };
	size_t nr;

	nr = find_points(work, &one.part);
	if (!moves(work->point, nr))
		return 0;
	if (memledger_trend_judge(work->point, nr, &one.trend))
		return -ENOMEM;
	if (one.trend.kind == MEMLEDGER_TREND_GROWING &&
	    finding->total.kind != MEMLEDGER_TREND_GROWING &&
	    !is_sure(&one.trend))
		one.trend.kind = MEMLEDGER_TREND_WARMING_UP;
	if (one.trend.kind == MEMLEDGER_TREND_UNKNOWN ||
	    one.trend.kind == MEMLEDGER_TREND_STABLE)
		return 0;
	one.vmas = counted(work, &one.part);
	part = memledger_array_grow(finding->part, finding->nr, sizeof(*part));
	if (!part)
		return -ENOMEM;
	finding->part = part;
	part[finding->nr++] = one;
	return 0;
}

/* Names that are among the last sample's: what grows is there at the end. */
static int add_names(struct work *work)
{
	const struct memledger_samples *samples = work->samples;
	const struct memledger_sample *last = &samples->sample[samples->nr - 1];
	size_t i;
	int ret = 0;

	for (i = 0; i < last->nr_names && !ret; i++)
		ret = add_part(work, last->name[i].what ==
			       MEMLEDGER_SAMPLE_EXPORTERS ?
			       MEMLEDGER_PART_EXPORTER : MEMLEDGER_PART_NAME,
			       last->name[i].category, last->name[i].text);
	return ret;
}

static int add_parts(struct work *work)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < NR_MEMLEDGER_CATEGORIES && !ret; i++)
		ret = add_part(work, MEMLEDGER_PART_CATEGORY, i, NULL);
	for (i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES && !ret; i++)
		ret = add_part(work, MEMLEDGER_PART_UNKNOWN, i, NULL);
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES && !ret; i++)
		ret = add_part(work, MEMLEDGER_PART_GPU, i, NULL);
	if (!ret)
		ret = add_part(work, MEMLEDGER_PART_DMABUF, 0, NULL);
	return ret ? ret : add_names(work);
}

/* How much of a difference a part makes. */
static double weight(const struct memledger_trend *trend)
{
	if (trend->kind == MEMLEDGER_TREND_GROWING)
		return trend->per_round * (trend->rounds - trend->since);
	return trend->most - trend->least;
}

static int compare_parts(const void *a, const void *b)
{
	const struct memledger_finding_part *x = a, *y = b;
	bool x_grows = x->trend.kind == MEMLEDGER_TREND_GROWING;
	bool y_grows = y->trend.kind == MEMLEDGER_TREND_GROWING;
	double x_weight = weight(&x->trend), y_weight = weight(&y->trend);

	if (x_grows != y_grows)
		return y_grows - x_grows;
	if (x_weight != y_weight)
		return x_weight < y_weight ? 1 : -1;
	return (int)x->part.kind - (int)y->part.kind;
}

static bool is_detail_of(const struct memledger_part *detail,
			 const struct memledger_part *whole)
{
	size_t i;

	if (detail->kind == MEMLEDGER_PART_NAME &&
	    detail->index != whole->index)
		return false;
	for (i = 0; i < ARRAY_SIZE(details); i++)
		if (details[i].whole == whole->kind &&
		    details[i].detail == detail->kind &&
		    (details[i].category < 0 ||
		     details[i].category == (int)whole->index))
			return true;
	return false;
}

/* What makes up most of a part: a name if there is one. */
static int refine(const struct memledger_finding *finding, int whole)
{
	const struct memledger_finding_part *part = &finding->part[whole];
	int best = whole;
	size_t i;

	for (i = 0; i < finding->nr; i++)
		if (is_detail_of(&finding->part[i].part, &part->part) &&
		    finding->part[i].trend.kind == part->trend.kind &&
		    weight(&finding->part[i].trend) >=
		    DRIVES * weight(&part->trend) &&
		    (best == whole ||
		     finding->part[i].part.kind == MEMLEDGER_PART_NAME))
			best = i;
	return best;
}

/*
 * Of the parts in order, the first that is what the process is; or the one that
 * rose most, where only all of them together are.
 */
static int find_driver(const struct memledger_finding *finding)
{
	double most = 0;
	int best = -1;
	size_t i;

	for (i = 0; i < finding->nr; i++)
		if (is_reason(&finding->part[i].part) &&
		    finding->part[i].trend.kind == finding->kind)
			return refine(finding, i);
	for (i = 0; i < finding->nr; i++) {
		const struct memledger_trend *trend = &finding->part[i].trend;
		double rise = (double)trend->last - trend->first;

		if (is_reason(&finding->part[i].part) && rise > most) {
			most = rise;
			best = i;
		}
	}
	return best;
}

static int make(struct work *work)
{
	const struct memledger_part total = { .kind = MEMLEDGER_PART_TOTAL };
	struct memledger_finding *finding = work->finding;
	size_t nr = find_points(work, &total), i;
	int ret;

	ret = memledger_trend_judge(work->point, nr, &finding->total);
	if (!ret)
		ret = add_parts(work);
	if (ret)
		return ret;
	memledger_sort(finding->part, finding->nr, sizeof(*finding->part),
		       compare_parts);
	finding->kind = finding->total.kind;
	for (i = 0; i < finding->nr; i++)
		if (is_reason(&finding->part[i].part) &&
		    finding->part[i].trend.kind == MEMLEDGER_TREND_GROWING)
			finding->kind = MEMLEDGER_TREND_GROWING;
	finding->driver = find_driver(finding);
	return 0;
}

/**
 * memledger_finding_make - find out what there is to say of a process
 * @finding: what to fill; to be freed, also where this fails
 * @samples: its samples in the same state, in order; they are needed as long
 *	as the finding is
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_finding_make(struct memledger_finding *finding,
			   const struct memledger_samples *samples)
{
	struct work work = { samples, finding, NULL };
	size_t i;
	int ret;

	*finding = (struct memledger_finding){
		.begin = memledger_samples_begin(samples),
		.driver = -1,
	};
	for (i = finding->begin; i < samples->nr; i++)
		finding->rounds += samples->sample[i].complete;
	finding->incomplete = samples->nr - finding->begin - finding->rounds;
	if (!finding->rounds)
		return 0;
	work.point = calloc(finding->rounds, sizeof(*work.point));
	if (!work.point)
		return -ENOMEM;
	ret = make(&work);
	free(work.point);
	return ret;
}

/**
 * memledger_finding_free - free what a finding holds
 * @finding: becomes one of nothing
 */
void memledger_finding_free(struct memledger_finding *finding)
{
	free(finding->part);
	memset(finding, 0, sizeof(*finding));
}
