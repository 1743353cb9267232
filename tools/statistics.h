/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics that a few wild numbers do not impress.
 */
#ifndef _MEMLEDGER_TOOLS_STATISTICS_H
#define _MEMLEDGER_TOOLS_STATISTICS_H

#include <stddef.h>

/* Of how many numbers at most. */
#define MEMLEDGER_STATISTICS_MOST	256

/* From the median of absolute deviations to a normal standard deviation. */
#define MEMLEDGER_STATISTICS_MAD	1.4826

/**
 * struct memledger_slope - how numbers go with their index
 * @slope: the median of the slopes of all pairs
 * @low: its 95 % confidence interval
 * @high: likewise
 * @tau: rank correlation with the index, -1 to 1
 * @p: how likely it is to see so much of a rise or a fall by chance, one-sided
 */
struct memledger_slope {
	double slope;
	double low;
	double high;
	double tau;
	double p;
};

double memledger_statistics_quantile(const double *numbers, size_t nr,
				     double quantile);
double memledger_statistics_median(const double *numbers, size_t nr);
double memledger_statistics_deviation(const double *numbers, size_t nr);
double memledger_statistics_autocorrelation(const double *numbers, size_t nr);
int memledger_statistics_slope(const double *numbers, size_t nr,
			       double correlation,
			       struct memledger_slope *slope);

#endif
