/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Areas on top of each other, for a page.
 */
#ifndef _MEMLEDGER_TOOLS_CHART_H
#define _MEMLEDGER_TOOLS_CHART_H

#include <stdio.h>

#include <memledger/env.h>

/* Colours there are; the last one is for what is left. */
#define MEMLEDGER_CHART_SERIES	9

/**
 * struct memledger_chart_series - an area
 * @label: what it is
 * @value: bytes at each point; 0 where it is not known
 * @known: where it is known; elsewhere there is no area
 */
struct memledger_chart_series {
	const char *label;
	u64 *value;
	bool *known;
};

/**
 * struct memledger_chart_mark - a line from top to bottom
 * @at: at which point
 * @label: what it is called; is cut off where it is long
 */
struct memledger_chart_mark {
	size_t at;
	const char *label;
};

/**
 * struct memledger_chart - what to draw
 * @title: what it shows
 * @series: the areas, the lowest first
 * @nr_series: how many
 * @nr_points: how many points each has
 * @begins: NULL, or which points begin anew: no area goes there from the last
 * @mark: lines
 * @nr_marks: how many
 * @from: what to write below the first point
 * @to: what to write below the last one
 */
struct memledger_chart {
	const char *title;
	struct memledger_chart_series series[MEMLEDGER_CHART_SERIES];
	size_t nr_series;
	size_t nr_points;
	const bool *begins;
	const struct memledger_chart_mark *mark;
	size_t nr_marks;
	const char *from;
	const char *to;
};

int memledger_chart_print(FILE *out, const struct memledger_chart *chart);

#endif
