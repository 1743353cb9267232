/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the sections of a report's page share.
 */
#ifndef _MEMLEDGER_TOOLS_HTML_PAGE_H
#define _MEMLEDGER_TOOLS_HTML_PAGE_H

#include "chart.h"
#include "journal.h"
#include "verdict.h"

/* More points than a picture has columns show nothing more. */
#define MEMLEDGER_PAGE_POINTS	400
#define MEMLEDGER_PAGE_MARKS	20

/**
 * struct memledger_page - a report on its way to a page
 * @out: where to
 * @recording: of what
 * @finding: what there is to say of it
 * @first: of the last process, the first sample that tables show
 * @last: the last one
 * @point: for each point of the charts, which sample it shows
 * @begins: which of these are of another process or session than the last
 * @nr_points: how many there are
 * @mark: marks at points
 * @nr_marks: how many
 * @from: what is written below the first point
 * @to: what is written below the last one
 */
struct memledger_page {
	FILE *out;
	const struct memledger_recording *recording;
	struct memledger_finding finding;
	const struct memledger_sample *first;
	const struct memledger_sample *last;
	size_t point[MEMLEDGER_PAGE_POINTS];
	bool begins[MEMLEDGER_PAGE_POINTS];
	size_t nr_points;
	struct memledger_chart_mark mark[MEMLEDGER_PAGE_MARKS];
	size_t nr_marks;
	char from[64];
	char to[64];
};

u64 memledger_page_bytes(const struct memledger_sample *sample,
			 unsigned int row);
const char *memledger_page_measure(const struct memledger_page *page);
void memledger_page_find_points(struct memledger_page *page);
int memledger_page_print_rows(struct memledger_page *page);
int memledger_page_print_graphics(struct memledger_page *page);
void memledger_page_print_names(struct memledger_page *page);
int memledger_page_print_marks(struct memledger_page *page);
void memledger_page_print_retained(struct memledger_page *page);

#endif
