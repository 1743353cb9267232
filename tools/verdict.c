// SPDX-License-Identifier: GPL-2.0-only
/*
 * A number at many moments in; how it behaves, and the evidence, out.
 *
 * Teeth are looked for first. Else the shape that the numbers follow tells, by
 * its last stretch: what rises to the end grows, if a test that knows nothing
 * of shapes agrees; what is level has either risen to there, or fallen, or
 * neither.
 */
#include <math.h>

#include "shape.h"
#include "verdict.h"

/* A page here or there is nothing. */
#define FLOOR		4096.

/* Chance may be so likely in what is called growth: at most, and at best. */
#define LEAST_SURE	0.001
#define SURE		0.0001
/* Of low points and of high points, which agree. */
#define TEETH_SURE	0.05

/*
 * So many standard deviations are no noise any more: of a level, of the rise of
 * a line, of a rise that needs no more doubt, of a tooth, of a single number.
 */
#define LEVEL_NOISE	4.
#define SLOPE_NOISE	1.5
#define FAR_NOISE	10.
#define TOOTH_NOISE	6.
#define WILD_NOISE	4.

/* A tooth is at least such a part of all there is between least and most. */
#define TOOTH_PART	0.3

/* A curve that goes on so much slower than it began has ended. */
#define CURVE_ENDED	0.03

/* A level of fewer numbers is none: the highest one, and the first. */
#define TOP_HELD	4
#define FIRST_HELD	2

/* From the lower quarter of normal deviations to a standard deviation. */
#define QUARTER		0.3186

const char *const memledger_trend_names[NR_MEMLEDGER_TRENDS] = {
#define X(id, name, text) #name,
	MEMLEDGER_TRENDS(X)
#undef X
};

const char *const memledger_trend_texts[NR_MEMLEDGER_TRENDS] = {
#define X(id, name, text) text,
	MEMLEDGER_TRENDS(X)
#undef X
};

/**
 * struct series - the numbers, as few as can be dealt with
 * @nr: how many
 * @step: how many rounds each is the median of
 * @base: what has been taken away from each
 * @number: the numbers
 * @smooth: of each and its neighbours the median
 * @tame: the numbers, but for wild ones that one
 * @noise: standard deviation of one, by its neighbours: bends and jumps are
 *	taken for noise only if most are
 */
struct series {
	size_t nr;
	size_t step;
	double base;
	double number[MEMLEDGER_STATISTICS_MOST];
	double smooth[MEMLEDGER_STATISTICS_MOST];
	double tame[MEMLEDGER_STATISTICS_MOST];
	double noise;
};

/* The lower quarter, since of a saw-tooth many neighbours are no neighbours. */
static double noise_of(const double *numbers, size_t nr)
{
	double bend[MEMLEDGER_STATISTICS_MOST];
	size_t i;

	for (i = 0; i + 2 < nr; i++)
		bend[i] = fabs(numbers[i] - 2 * numbers[i + 1] +
			       numbers[i + 2]) / sqrt(6);
	return memledger_statistics_quantile(bend, nr - 2, 0.25) / QUARTER;
}

static double median_of_points(const struct memledger_point *points, size_t nr)
{
	double numbers[MEMLEDGER_STATISTICS_MOST];
	size_t i;

	if (nr > MEMLEDGER_STATISTICS_MOST)
		nr = MEMLEDGER_STATISTICS_MOST;
	for (i = 0; i < nr; i++)
		numbers[i] = points[i].bytes;
	return memledger_statistics_median(numbers, nr);
}

/*
 * Tukey's (1977) rule for the ends: what neither a wild number there nor the
 * slope behind it decides alone.
 */
static double smooth_end(double end, double next, double after)
{
	const double choice[] = { end, next, 3 * next - 2 * after };

	return memledger_statistics_median(choice, 3);
}

static void smooth_out(struct series *series)
{
	double room = fmax(FLOOR, WILD_NOISE * series->noise);
	double *smooth = series->smooth;
	size_t i, nr = series->nr;

	for (i = 1; i + 1 < nr; i++)
		smooth[i] = memledger_statistics_median(series->number + i - 1,
							3);
	smooth[0] = smooth_end(series->number[0], smooth[1], smooth[2]);
	smooth[nr - 1] = smooth_end(series->number[nr - 1], smooth[nr - 2],
				    smooth[nr - 3]);
	for (i = 0; i < nr; i++)
		series->tame[i] = fabs(series->number[i] - smooth[i]) > room ?
				  smooth[i] : series->number[i];
}

static void make_series(struct series *series,
			const struct memledger_point *points, size_t nr)
{
	size_t i;

	series->step = (nr + MEMLEDGER_STATISTICS_MOST - 1) /
		       MEMLEDGER_STATISTICS_MOST;
	series->nr = nr / series->step;
	/* What is left over is the oldest. */
	points += nr - series->nr * series->step;
	for (i = 0; i < series->nr; i++)
		series->number[i] = median_of_points(points + i * series->step,
						     series->step);
	series->base = memledger_statistics_median(series->number, series->nr);
	for (i = 0; i < series->nr; i++)
		series->number[i] -= series->base;
	series->noise = noise_of(series->number, series->nr);
	smooth_out(series);
}

/**
 * struct teeth - rises and falls that are more than noise
 * @low: the low points between them, the first and the last number excepted
 * @nr_low: how many
 * @high: the high points
 * @nr_high: how many
 * @drops: how many falls
 * @rises: how many rises
 * @height: of a fall, the median
 */
struct teeth {
	double low[MEMLEDGER_STATISTICS_MOST];
	size_t nr_low;
	double high[MEMLEDGER_STATISTICS_MOST];
	size_t nr_high;
	unsigned int drops;
	unsigned int rises;
	double height;
};

/*
 * From turning point to turning point: one is known when the numbers have gone
 * back by a tooth from it. A single wild number is no tooth.
 */
static void find_teeth(struct teeth *teeth, const struct series *series)
{
	const double *number = series->smooth;
	double height[MEMLEDGER_STATISTICS_MOST];
	double range, least, top = number[0], bottom = number[0];
	size_t i;
	int way = 0;

	range = memledger_statistics_quantile(number, series->nr, 0.95) -
		memledger_statistics_quantile(number, series->nr, 0.05);
	least = fmax(fmax(TOOTH_PART * range, TOOTH_NOISE * series->noise),
		     MEMLEDGER_TREND_LEAST);
	memset(teeth, 0, sizeof(*teeth));
	for (i = 1; i < series->nr; i++) {
		top = fmax(top, number[i]);
		bottom = fmin(bottom, number[i]);
		if (way <= 0 && number[i] >= bottom + least) {
			if (way)
				teeth->low[teeth->nr_low++] = bottom;
			teeth->rises++;
			way = 1;
			top = number[i];
		} else if (way >= 0 && number[i] <= top - least) {
			if (way)
				teeth->high[teeth->nr_high++] = top;
			height[teeth->drops++] = top - number[i];
			way = -1;
			bottom = number[i];
		}
	}
	teeth->height = memledger_statistics_median(height, teeth->drops);
}

/* A single rise and fall is no saw. */
static bool is_saw(const struct teeth *teeth)
{
	return teeth->drops >= 2 && teeth->rises >= 2;
}

/* Do low, or high, points rise, one after the other, by more than nothing? */
static int points_rise(const double *points, size_t nr, double least,
		       bool *rise)
{
	struct memledger_slope slope;
	int ret;

	*rise = false;
	if (nr < 4)
		return 0;
	ret = memledger_statistics_slope(points, nr, 0, &slope);
	*rise = !ret && slope.slope * (nr - 1) >= least &&
		slope.p < TEETH_SURE;
	return ret;
}

/* Of a cache that is emptied more or less thoroughly only the low ones do. */
static int teeth_rise(const struct teeth *teeth, bool *rise)
{
	double least = fmax(MEMLEDGER_TREND_LEAST, teeth->height / 4);

	if (points_rise(teeth->low, teeth->nr_low, least, rise))
		return -ENOMEM;
	return *rise ? points_rise(teeth->high, teeth->nr_high, least, rise) :
		       0;
}

/*
 * Slope and test of the last stretch, in numbers of the series. What is left of
 * a curve there does not count. What goes far beyond noise is no wave of it:
 * there what is beside the shape depends on the last because the shape is not
 * quite theirs.
 */
static int judge_stretch(const struct series *series,
			 const struct memledger_shape *shape, size_t since,
			 double noise, struct memledger_slope *slope)
{
	double left[MEMLEDGER_STATISTICS_MOST];
	double number[MEMLEDGER_STATISTICS_MOST];
	size_t i, nr = series->nr - since;
	double correlation = 0;

	for (i = 0; i < nr; i++) {
		number[i] = series->number[since + i];
		left[i] = number[i] - shape->fitted[since + i];
		if (*shape->form == 'E')
			number[i] += shape->rise *
				     exp(-(double)(since + i) / shape->tau);
	}
	if (fabs(shape->slope) * nr < FAR_NOISE * noise)
		correlation = memledger_statistics_autocorrelation(left, nr);
	return memledger_statistics_slope(number, nr, correlation, slope);
}

static size_t last_stretch(const struct memledger_shape *shape, size_t nr)
{
	size_t since = shape->begin[shape->nr - 1];

	/* After three of its times 95 % of a curve are over. */
	if (*shape->form == 'E')
		since = fmin(ceil(3 * shape->tau), nr - 4);
	return since;
}

/*
 * Levels that a few numbers have are no levels: so many have to be on the other
 * side of the middle between the last one and @level.
 */
static bool is_held(const struct series *series,
		    const struct memledger_shape *shape, double level,
		    size_t least)
{
	double last = shape->fitted[series->nr - 1];
	size_t i, nr = 0;

	for (i = 0; i < series->nr; i++)
		nr += (series->smooth[i] > (level + last) / 2) ==
		      (level > last);
	return nr >= least;
}

/* Of a level, or of a line that goes nowhere: where does it come from? */
static enum memledger_trend_kind
judge_level(const struct memledger_shape *shape, const struct series *series,
	    double least)
{
	double first = shape->fitted[0], last = shape->fitted[series->nr - 1];
	double top = first;
	size_t i;

	for (i = 1; i < series->nr; i++)
		top = fmax(top, shape->fitted[i]);
	if (top - last >= least && top - last >= (top - first) / 2 &&
	    is_held(series, shape, top, TOP_HELD))
		return MEMLEDGER_TREND_DEFERRED;
	if (last - first >= least && is_held(series, shape, first, FIRST_HELD))
		return MEMLEDGER_TREND_PLATEAU;
	return MEMLEDGER_TREND_STABLE;
}

static enum memledger_trend_kind
judge_curve(const struct memledger_shape *shape, const struct series *series,
	    double least)
{
	double way = shape->fitted[series->nr - 1] - shape->fitted[0];

	if (way < least || exp(-(series->nr - 1.) / shape->tau) <= CURVE_ENDED)
		return judge_level(shape, series, least);
	return MEMLEDGER_TREND_WARMING_UP;
}

/* Where there are no teeth. */
static enum memledger_trend_kind
judge_shape(const struct memledger_shape *shape, const struct series *series,
	    size_t since, const struct memledger_slope *slope, double noise)
{
	double rise = shape->slope * (series->nr - since);
	double least = fmax(MEMLEDGER_TREND_LEAST, LEVEL_NOISE * noise);
	double sure;

	if (*shape->form == 'e')
		return judge_curve(shape, series, least);
	/* A stretch that was chosen for its rise, or that is near to noise. */
	sure = rise < least || since ? SURE : LEAST_SURE;
	if (rise >= fmax(MEMLEDGER_TREND_LEAST, SLOPE_NOISE * noise) &&
	    slope->slope > 0 && slope->p < sure)
		return MEMLEDGER_TREND_GROWING;
	return judge_level(shape, series, least);
}

static void set_slope(struct memledger_trend *trend,
		      const struct memledger_slope *slope, size_t step)
{
	trend->per_round = slope->slope / step;
	trend->per_round_low = slope->low / step;
	trend->per_round_high = slope->high / step;
	trend->tau = slope->tau;
	trend->p = slope->p;
}

static int judge_series(const struct series *series,
			struct memledger_trend *trend)
{
	double left[MEMLEDGER_STATISTICS_MOST];
	struct memledger_shape shape;
	struct memledger_slope slope;
	struct teeth teeth;
	bool rise;
	size_t i;

	memledger_shape_fit(&shape, series->tame, series->nr, FLOOR);
	for (i = 0; i < series->nr; i++)
		left[i] = series->number[i] - shape.fitted[i];
	trend->noise = memledger_statistics_deviation(left, series->nr);
	trend->since = last_stretch(&shape, series->nr);

	find_teeth(&teeth, series);
	trend->drops = teeth.drops;
	if (teeth_rise(&teeth, &rise))
		return -ENOMEM;
	if (is_saw(&teeth))
		trend->since = 0;
	if (judge_stretch(series, &shape, trend->since, trend->noise,
			  &slope))
		return -ENOMEM;
	set_slope(trend, &slope, series->step);
	/* Of few teeth the points do not tell, but a rise above them does. */
	rise |= slope.p < SURE && slope.slope * series->nr >= teeth.height;
	if (is_saw(&teeth))
		trend->kind = rise ? MEMLEDGER_TREND_GROWING :
				     MEMLEDGER_TREND_SAW_TOOTH;
	else
		trend->kind = judge_shape(&shape, series, trend->since,
					  &slope, trend->noise);
	return 0;
}

static void find_extremes(const struct memledger_point *points, size_t nr,
			  struct memledger_trend *trend)
{
	size_t few = nr < 15 ? (nr + 2) / 3 : 5, i;

	trend->rounds = nr;
	trend->first = median_of_points(points, few);
	trend->last = median_of_points(points + nr - few, few);
	trend->least = points[0].bytes;
	trend->most = points[0].bytes;
	for (i = 1; i < nr; i++) {
		if (points[i].bytes < trend->least)
			trend->least = points[i].bytes;
		if (points[i].bytes > trend->most)
			trend->most = points[i].bytes;
	}
}

/* From places in the series to rounds and seconds. */
static void find_time(const struct memledger_point *points, size_t nr,
		      const struct series *series,
		      struct memledger_trend *trend)
{
	size_t left_over = nr - series->nr * series->step;
	double seconds;

	trend->since = trend->since ?
		       left_over + trend->since * series->step : 0;
	trend->since_round = points[trend->since].round;
	trend->since_ns = points[trend->since].time_ns;
	seconds = (points[nr - 1].time_ns - trend->since_ns) / 1e9;
	trend->per_second = seconds > 0 ?
			    trend->per_round * (nr - 1 - trend->since) /
			    seconds : 0;
}

/**
 * memledger_trend_judge - tell how a number behaves
 * @points: the number in the same state of its process, in order of time
 * @nr: how many
 * @trend: what to fill
 *
 * Of more than MEMLEDGER_STATISTICS_MOST points, medians of a few at a time are
 * looked at.
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_trend_judge(const struct memledger_point *points, size_t nr,
			  struct memledger_trend *trend)
{
	struct series series;

	memset(trend, 0, sizeof(*trend));
	trend->p = 0.5;
	if (!nr)
		return 0;
	find_extremes(points, nr, trend);
	trend->since_round = points[0].round;
	trend->since_ns = points[0].time_ns;
	if (nr < MEMLEDGER_TREND_ROUNDS)
		return 0;
	make_series(&series, points, nr);
	if (judge_series(&series, trend))
		return -ENOMEM;
	find_time(points, nr, &series, trend);
	return 0;
}
