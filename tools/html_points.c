// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of a recording in; the few that charts show, and where marks are
 * among them, out.
 */
#include "html_page.h"

/**
 * memledger_page_bytes - how much a row is, as the page shows it
 * @sample: of which
 * @row: the row
 *
 * Return: Pss and SwapPss, bytes; where SwapPss is unavailable, Swap stands for
 * it.
 */
u64 memledger_page_bytes(const struct memledger_sample *sample,
			 unsigned int row)
{
	const struct memledger_sample_row *numbers = &sample->row[row];

	return numbers->pss +
	       (sample->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS ?
		numbers->swap : numbers->swap_pss);
}

/**
 * memledger_page_measure - say what memledger_page_bytes() gives
 * @page: for which page
 *
 * Return: a few words.
 */
const char *memledger_page_measure(const struct memledger_page *page)
{
	return page->last->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS ?
	       "Pss + Swap" : "Pss + SwapPss";
}

/* A reboot sets the clock back, another process has another beginning. */
static bool is_another(const struct memledger_sample *before,
		       const struct memledger_sample *sample)
{
	return sample->time_ns < before->time_ns ||
	       !memledger_sample_same_process(before, sample);
}

/* Of neighbours the largest is shown, lest a peak is lost. */
static void choose_points(struct memledger_page *page)
{
	const struct memledger_samples *samples = &page->recording->samples;
	size_t nr = samples->nr, i, point;

	page->nr_points = nr < MEMLEDGER_PAGE_POINTS ? nr :
						       MEMLEDGER_PAGE_POINTS;
	for (point = 0; point < page->nr_points; point++) {
		size_t begin = point * nr / page->nr_points;
		size_t end = (point + 1) * nr / page->nr_points;
		u64 most = 0, bytes;

		page->point[point] = begin;
		for (i = begin; i < end; i++) {
			bytes = memledger_page_bytes(&samples->sample[i],
						     MEMLEDGER_SAMPLE_TOTAL);
			if (bytes > most) {
				most = bytes;
				page->point[point] = i;
			}
			page->begins[point] |= i &&
				is_another(&samples->sample[i - 1],
					   &samples->sample[i]);
		}
	}
}

static void add_mark(struct memledger_page *page, size_t at, const char *label)
{
	if (page->nr_marks < MEMLEDGER_PAGE_MARKS)
		page->mark[page->nr_marks++] = (struct memledger_chart_mark){
			at, label };
}

/* A mark is at the first point that is not before it. */
static void place_marks(struct memledger_page *page)
{
	const struct memledger_recording *recording = page->recording;
	const struct memledger_sample *sample = recording->samples.sample;
	size_t i, point;

	for (point = 1; point < page->nr_points; point++)
		if (page->begins[point])
			add_mark(page, point,
				 memledger_sample_same_process(&sample[page->point[point - 1]],
							       &sample[page->point[point]]) ?
				 "restart" : "new process");
	for (i = 0; i < recording->nr_marks; i++) {
		const struct memledger_mark *mark = &recording->mark[i];

		for (point = 0; point < page->nr_points; point++)
			if (sample[page->point[point]].tgid == mark->tgid &&
			    sample[page->point[point]].time_ns >=
			    mark->time_ns)
				break;
		if (point < page->nr_points)
			add_mark(page, point, mark->label);
	}
}

/* Tables begin and end with what was seen completely, if anything was. */
static void choose_ends(struct memledger_page *page)
{
	const struct memledger_samples *samples = &page->recording->samples;
	size_t begin = page->finding.begin, end = samples->nr - 1, i;

	page->first = &samples->sample[begin];
	page->last = &samples->sample[end];
	for (i = begin; i <= end; i++)
		if (samples->sample[i].complete) {
			page->first = &samples->sample[i];
			break;
		}
	for (i = end + 1; i-- > begin;)
		if (samples->sample[i].complete) {
			page->last = &samples->sample[i];
			break;
		}
}

/**
 * memledger_page_find_points - choose what of the samples is shown
 * @page: with a recording of at least one sample, and its finding
 */
void memledger_page_find_points(struct memledger_page *page)
{
	const struct memledger_samples *samples = &page->recording->samples;
	const struct memledger_sample *first = &samples->sample[0];
	const struct memledger_sample *last = &samples->sample[samples->nr - 1];

	choose_points(page);
	place_marks(page);
	choose_ends(page);
	snprintf(page->from, sizeof(page->from), "round 1");
	if (last->time_ns >= first->time_ns)
		snprintf(page->to, sizeof(page->to), "round %zu, after %.1f s",
			 samples->nr, (last->time_ns - first->time_ns) / 1e9);
	else
		snprintf(page->to, sizeof(page->to), "round %zu", samples->nr);
}
