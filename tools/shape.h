/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of a few shapes numbers follow over time.
 */
#ifndef _MEMLEDGER_TOOLS_SHAPE_H
#define _MEMLEDGER_TOOLS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "statistics.h"

/* No shape has more stretches. */
#define MEMLEDGER_SHAPE_STRETCHES	3

/**
 * struct memledger_shape - a shape, fitted
 * @form: a letter for each stretch: level or line; or one curve that rises or
 *	falls less and less, to a limit ("e") or to a line ("E")
 * @begin: where each stretch begins
 * @nr: how many stretches
 * @tau: of a curve: in so many steps it goes 63 % of its way
 * @rise: of a curve: how far it goes without the line
 * @slope: of the last stretch, or of the line that a curve goes to; else 0
 * @fitted: the shape's numbers
 */
struct memledger_shape {
	const char *form;
	size_t begin[MEMLEDGER_SHAPE_STRETCHES];
	size_t nr;
	double tau;
	double rise;
	double slope;
	double fitted[MEMLEDGER_STATISTICS_MOST];
};

void memledger_shape_fit(struct memledger_shape *shape, const double *numbers,
			 size_t nr, double floor);

#endif
