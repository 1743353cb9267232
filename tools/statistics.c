// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers in the order of time in; medians, deviations and slopes out.
 *
 * The slope is Theil's (1950) and Sen's (1968): the median of the slopes of all
 * pairs, with Sen's confidence interval. Whether there is one is Mann's (1945)
 * and Kendall's (1975) test, with their correction for ties, and for numbers
 * that depend on the one before with the variance of as many independent ones
 * as Bayley and Hammersley (1946) give for an autoregressive process of the
 * first order.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The quantile of sorted numbers, between two of them where it falls there. */
static double quantile_of(const double *sorted, size_t nr, double quantile)
{
	double at = quantile * (nr - 1);
	size_t below = at;

	if (below + 1 >= nr)
		return sorted[nr - 1];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

/**
 * memledger_statistics_quantile - what a part of the numbers is not above
 * @numbers: in any order
 * @nr: how many, up to MEMLEDGER_STATISTICS_MOST
 * @quantile: which part, 0 to 1
 *
 * Return: the quantile, 0 of no numbers.
 */
double memledger_statistics_quantile(const double *numbers, size_t nr,
				     double quantile)
{
	double sorted[MEMLEDGER_STATISTICS_MOST];

	if (!nr)
		return 0;
	memcpy(sorted, numbers, nr * sizeof(*numbers));
	qsort(sorted, nr, sizeof(*sorted), compare_doubles);
	return quantile_of(sorted, nr, quantile);
}

/**
 * memledger_statistics_median - the number in the middle
 * @numbers: in any order
 * @nr: how many, up to MEMLEDGER_STATISTICS_MOST
 *
 * Return: the median, 0 of no numbers.
 */
double memledger_statistics_median(const double *numbers, size_t nr)
{
	return memledger_statistics_quantile(numbers, nr, 0.5);
}

/**
 * memledger_statistics_deviation - how far numbers are from their median
 * @numbers: in any order
 * @nr: how many, up to MEMLEDGER_STATISTICS_MOST
 *
 * Return: the standard deviation of a normal distribution with the same median
 * of absolute deviations.
 */
double memledger_statistics_deviation(const double *numbers, size_t nr)
{
	double distance[MEMLEDGER_STATISTICS_MOST];
	double median = memledger_statistics_median(numbers, nr);
	size_t i;

	for (i = 0; i < nr; i++)
		distance[i] = fabs(numbers[i] - median);
	return MEMLEDGER_STATISTICS_MAD *
	       memledger_statistics_median(distance, nr);
}

/**
 * memledger_statistics_autocorrelation - how much numbers depend on the last
 * @numbers: in order, with a mean of about 0
 * @nr: how many
 *
 * Return: the correlation of neighbours, from 0 to 0.9: a negative one is none.
 */
double memledger_statistics_autocorrelation(const double *numbers, size_t nr)
{
	double both = 0, square = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		square += numbers[i] * numbers[i];
		if (i)
			both += numbers[i] * numbers[i - 1];
	}
	if (square <= 0 || both <= 0)
		return 0;
	return fmin(both / square, 0.9);
}

/* Of Kendall's sum, where some numbers are equal. */
static double variance_of(const double *numbers, size_t nr)
{
	double sorted[MEMLEDGER_STATISTICS_MOST];
	double variance = nr * (nr - 1.) * (2. * nr + 5);
	size_t i, ties;

	memcpy(sorted, numbers, nr * sizeof(*numbers));
	qsort(sorted, nr, sizeof(*sorted), compare_doubles);
	for (i = 0; i < nr; i += ties) {
		for (ties = 1; i + ties < nr && sorted[i + ties] == sorted[i];)
			ties++;
		variance -= ties * (ties - 1.) * (2. * ties + 5);
	}
	return variance / 18;
}

/* The slopes of all pairs; returns rises less falls. */
static double pairs_of(const double *numbers, size_t nr, double *slopes)
{
	double sum = 0;
	size_t i, j;

	for (i = 0; i < nr; i++)
		for (j = i + 1; j < nr; j++) {
			sum += (numbers[j] > numbers[i]) -
			       (numbers[j] < numbers[i]);
			*slopes++ = (numbers[j] - numbers[i]) / (j - i);
		}
	return sum;
}

/**
 * memledger_statistics_slope - how numbers go with their index
 * @numbers: in order
 * @nr: how many, from 2 to MEMLEDGER_STATISTICS_MOST
 * @correlation: of neighbours, once the slope is taken away; 0 to less than 1
 * @slope: what to fill
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_statistics_slope(const double *numbers, size_t nr,
			       double correlation,
			       struct memledger_slope *slope)
{
	size_t pairs = nr * (nr - 1) / 2;
	double *slopes = malloc(pairs * sizeof(*slopes));
	double sum, deviation, reach;

	if (!slopes)
		return -ENOMEM;
	sum = pairs_of(numbers, nr, slopes);
	qsort(slopes, pairs, sizeof(*slopes), compare_doubles);
	deviation = sqrt(variance_of(numbers, nr) * (1 + correlation) /
			 (1 - correlation));

	slope->slope = quantile_of(slopes, pairs, 0.5);
	reach = fmin(1.96 * deviation / pairs, 1) / 2;
	slope->low = quantile_of(slopes, pairs, 0.5 - reach);
	slope->high = quantile_of(slopes, pairs, 0.5 + reach);
	slope->tau = sum / pairs;
	/* The sum goes in steps: half of one is for continuity. */
	slope->p = deviation > 0 ?
		   0.5 * erfc(fmax(fabs(sum) - 1, 0) / deviation / M_SQRT2) :
		   0.5;
	free(slopes);
	return 0;
}
