// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers in the order of time in; the shape that they follow out, the one
 * with the least of Schwarz's (1978) information criterion: least squares,
 * where each parameter has to pay for itself. As many numbers count as are
 * independent, lest a slow wave looks like a change.
 */
#include <math.h>
#include <string.h>

#include "shape.h"

/* What a stretch may be; adding a shape is adding a word. */
#define LEVEL	'-'
#define LINE	'/'

static const char *const forms[] = {
	"-", "/", "--", "-/", "/-", "//", "---", "-/-", "--/",
};

/* A stretch is at least so long, and the last one, which is judged. */
#define LEAST_LEVEL	2
#define LEAST_LINE	4
#define LEAST_LAST	6

/* Of curves, in parts of all numbers: from, to, and how much from one to next. */
#define TAU_FROM	0.04
#define TAU_TO		0.8
#define TAU_STEP	1.15

/* With a line beside it, only a curve that has ended before is told from it. */
#define TAU_BESIDE_LINE	0.13

/**
 * struct sums - sums up to each number, so that a stretch is a difference
 * @nr: how many numbers
 * @y: of numbers
 * @xy: of numbers times their index
 * @yy: of squares
 */
struct sums {
	size_t nr;
	double y[MEMLEDGER_STATISTICS_MOST + 1];
	double xy[MEMLEDGER_STATISTICS_MOST + 1];
	double yy[MEMLEDGER_STATISTICS_MOST + 1];
};

static void sum_up(struct sums *sums, const double *numbers, size_t nr)
{
	size_t i;

	sums->nr = nr;
	sums->y[0] = 0;
	sums->xy[0] = 0;
	sums->yy[0] = 0;
	for (i = 0; i < nr; i++) {
		sums->y[i + 1] = sums->y[i] + numbers[i];
		sums->xy[i + 1] = sums->xy[i] + i * numbers[i];
		sums->yy[i + 1] = sums->yy[i] + numbers[i] * numbers[i];
	}
}

/* The line, or the level, through a stretch, at index 0 of all numbers. */
static void fit_stretch(const struct sums *sums, char form, size_t begin,
			size_t end, double *level, double *slope)
{
	double n = end - begin, x = (begin + end - 1) / 2.;
	double y = (sums->y[end] - sums->y[begin]) / n;
	double xx = n * (n * n - 1) / 12;

	*slope = form == LINE ? (sums->xy[end] - sums->xy[begin] - n * x * y) /
				xx : 0;
	*level = y - *slope * x;
}

/* Sum of the squares of what a stretch is beside its line or level. */
static double error_of(const struct sums *sums, char form, size_t begin,
		       size_t end)
{
	double n = end - begin, x = (begin + end - 1) / 2.;
	double y = sums->y[end] - sums->y[begin];
	double squares = sums->yy[end] - sums->yy[begin] - y * y / n;
	double xx = n * (n * n - 1) / 12;
	double xy = sums->xy[end] - sums->xy[begin] - x * y;

	if (form == LINE)
		squares -= xy * xy / xx;
	return fmax(squares, 0);
}

static size_t least_of(const char *form)
{
	size_t least = *form == LINE ? LEAST_LINE : LEAST_LEVEL;

	return form[1] || least > LEAST_LAST ? least : LEAST_LAST;
}

/* What all stretches from @form on need. */
static size_t room_for(const char *form)
{
	size_t room = 0;

	for (; *form; form++)
		room += least_of(form);
	return room;
}

/*
 * Where stretches from @begin to the end of all numbers are best divided: the
 * sum of squares, and into @begins where each begins. Tries all.
 */
static double divide(const struct sums *sums, const char *form, size_t begin,
		     size_t *begins)
{
	size_t tried[MEMLEDGER_SHAPE_STRETCHES];
	double best = HUGE_VAL;
	size_t end;

	*begins = begin;
	if (!form[1])
		return error_of(sums, *form, begin, sums->nr);
	for (end = begin + least_of(form);
	     end + room_for(form + 1) <= sums->nr; end++) {
		double error = error_of(sums, *form, begin, end) +
			       divide(sums, form + 1, end, tried);

		if (error < best) {
			best = error;
			memcpy(begins + 1, tried,
			       strlen(form + 1) * sizeof(*tried));
		}
	}
	return best;
}

/* The numbers of a shape made of stretches. */
static void draw_stretches(struct memledger_shape *shape,
			   const struct sums *sums)
{
	double level = 0;
	size_t i, x;

	shape->nr = strlen(shape->form);
	for (i = 0; i < shape->nr; i++) {
		size_t end = i + 1 < shape->nr ? shape->begin[i + 1] : sums->nr;

		fit_stretch(sums, shape->form[i], shape->begin[i], end, &level,
			    &shape->slope);
		for (x = shape->begin[i]; x < end; x++)
			shape->fitted[x] = level + shape->slope * x;
	}
}

/*
 * A curve with or without a line: least squares of two or three unknowns, by
 * the normal equations of what is left when the mean is taken away.
 */
static double fit_curve(struct memledger_shape *shape, const double *numbers,
			size_t nr, double tau, bool line)
{
	double cc = 0, cx = 0, xx = 0, cy = 0, xy = 0, error = 0;
	double mean = 0, mean_curve = 0, mean_x = (nr - 1) / 2., part;
	size_t i;

	for (i = 0; i < nr; i++) {
		mean += numbers[i] / nr;
		mean_curve += (1 - exp(-(double)i / tau)) / nr;
	}
	for (i = 0; i < nr; i++) {
		double c = 1 - exp(-(double)i / tau) - mean_curve;
		double x = i - mean_x, y = numbers[i] - mean;

		cc += c * c;
		cx += c * x;
		xx += x * x;
		cy += c * y;
		xy += x * y;
	}
	part = line ? cc * xx - cx * cx : cc;
	shape->form = line ? "E" : "e";
	shape->begin[0] = 0;
	shape->nr = 1;
	shape->tau = tau;
	shape->rise = (line ? cy * xx - xy * cx : cy) / part;
	shape->slope = line ? (xy * cc - cy * cx) / part : 0;
	for (i = 0; i < nr; i++) {
		double left;

		shape->fitted[i] = mean + shape->slope * (i - mean_x) +
			shape->rise * (1 - exp(-(double)i / tau) - mean_curve);
		left = numbers[i] - shape->fitted[i];
		error += left * left;
	}
	return error;
}

/* How many numbers may vary: of each stretch, and where it begins. */
static unsigned int parameters_of(const char *form)
{
	unsigned int nr = 0;

	if (*form == 'e' || *form == 'E')
		return *form == 'e' ? 3 : 6;
	for (; *form; form++)
		nr += (*form == LINE ? 2 : 1) + (form[1] ? 3 : 0);
	return nr;
}

/**
 * struct candidate - a shape that may be the best
 * @error: sum of squares
 */
struct candidate {
	struct memledger_shape shape;
	double error;
};

/* Forms, then a curve with and one without a line. */
#define NR_FORMS	(sizeof(forms) / sizeof(*forms))
#define NR_CANDIDATES	(NR_FORMS + 2)

static void keep_better(struct candidate *candidate,
			const struct memledger_shape *shape, double error)
{
	if (error < candidate->error) {
		candidate->shape = *shape;
		candidate->error = error;
	}
}

static void fit_all(struct candidate *candidates, const struct sums *sums,
		    const double *numbers)
{
	struct memledger_shape shape;
	double part, error;
	size_t i;

	for (i = 0; i < NR_FORMS; i++) {
		memset(&shape, 0, sizeof(shape));
		shape.form = forms[i];
		candidates[i].error = HUGE_VAL;
		if (room_for(forms[i]) > sums->nr)
			continue;
		candidates[i].error = divide(sums, forms[i], 0, shape.begin);
		draw_stretches(&shape, sums);
		candidates[i].shape = shape;
	}
	candidates[NR_FORMS].error = HUGE_VAL;
	candidates[NR_FORMS + 1].error = HUGE_VAL;
	for (part = TAU_FROM; part <= TAU_TO; part *= TAU_STEP) {
		double tau = part * sums->nr;

		error = fit_curve(&shape, numbers, sums->nr, tau, false);
		keep_better(&candidates[NR_FORMS], &shape, error);
		if (part > TAU_BESIDE_LINE)
			continue;
		error = fit_curve(&shape, numbers, sums->nr, tau, true);
		keep_better(&candidates[NR_FORMS + 1], &shape, error);
	}
}

/* Numbers that depend on the one before are worth so many that do not. */
static double independent(const struct candidate *candidates,
			  const double *numbers, size_t nr)
{
	const struct candidate *best = candidates;
	double left[MEMLEDGER_STATISTICS_MOST];
	double correlation;
	size_t i;

	for (i = 1; i < NR_CANDIDATES; i++)
		if (candidates[i].error < best->error)
			best = &candidates[i];
	for (i = 0; i < nr; i++)
		left[i] = numbers[i] - best->shape.fitted[i];
	correlation = memledger_statistics_autocorrelation(left, nr);
	return nr * (1 - correlation) / (1 + correlation);
}

/**
 * memledger_shape_fit - find the shape that numbers follow
 * @shape: what to fill
 * @numbers: in order; best around 0, since squares of them are added up
 * @nr: how many, from MEMLEDGER_TREND_ROUNDS to MEMLEDGER_STATISTICS_MOST
 * @floor: differences of this size are nothing
 */
void memledger_shape_fit(struct memledger_shape *shape, const double *numbers,
			 size_t nr, double floor)
{
	struct candidate candidates[NR_CANDIDATES];
	double worth, best = HUGE_VAL;
	struct sums sums;
	size_t i;

	sum_up(&sums, numbers, nr);
	fit_all(candidates, &sums, numbers);
	worth = independent(candidates, numbers, nr);
	for (i = 0; i < NR_CANDIDATES; i++) {
		const char *form = i < NR_FORMS ? forms[i] :
				   i == NR_FORMS ? "e" : "E";
		double criterion;

		if (candidates[i].error == HUGE_VAL)
			continue;
		criterion = worth * log(candidates[i].error / nr +
					floor * floor) +
			    parameters_of(form) * log(nr);
		if (criterion < best) {
			best = criterion;
			*shape = candidates[i].shape;
		}
	}
}
