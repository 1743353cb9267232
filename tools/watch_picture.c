// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of a process and what there is to say of them in; a picture that fits
 * a terminal, a line, or JSON out.
 */
#include <stdlib.h>

#include "escape.h"
#include "json.h"
#include "sizes.h"
#include "watch_picture.h"

/* Lines above the parts, and the last, which stays empty. */
#define HEAD_LINES	6

/* From low to high. */
static const char shades[] = " .:-=+*#%@";

static const struct memledger_part whole = { .kind = MEMLEDGER_PART_TOTAL };

/* Of the last sample, or 0. */
static u64 number_of(const struct memledger_watch_view *view,
		     const struct memledger_part *part, bool *known)
{
	const struct memledger_samples *samples = &view->samples;
	u64 value = 0;

	*known = samples->nr &&
		 memledger_sample_value(&samples->sample[samples->nr - 1],
					part, &value);
	return *known ? value : 0;
}

static u64 nr_vmas(const struct memledger_watch_view *view)
{
	const struct memledger_samples *samples = &view->samples;

	return samples->nr ? samples->sample[samples->nr - 1]
				.row[MEMLEDGER_SAMPLE_TOTAL].vmas : 0;
}

static void draw_head(FILE *out, const struct memledger_watch_view *view,
		      struct memledger_line *line)
{
	const struct memledger_watch_wanted *wanted = view->wanted;
	char *comm = memledger_escape_text(view->comm, "");
	char size[MEMLEDGER_SIZE_TEXT_LEN];
	bool known;
	u64 total = number_of(view, &whole, &known);

	memledger_line_append(line, "%s[%d]%s: round %u", comm ? comm : "",
			      view->pid, view->exited ? " has exited" : "",
			      view->round);
	if (wanted->rounds)
		memledger_line_append(line, " of %u", wanted->rounds);
	if (wanted->lines)
		memledger_line_append(line, ", one a line");
	else
		memledger_line_append(line, ", every %.2f s",
				      wanted->every_ms / 1000.);
	memledger_line_print(out, line);
	memledger_line_append(line, "%s Pss and swap, %llu VMAs",
			      known ? memledger_size_text(total, size) : "-",
			      nr_vmas(view));
	memledger_line_print(out, line);
	free(comm);
}

/* The total over the rounds, as high as it was between least and most. */
static void draw_curve(FILE *out, const struct memledger_watch_view *view,
		       struct memledger_line *line)
{
	const struct memledger_samples *samples = &view->samples;
	const struct memledger_trend *total = &view->finding.total;
	size_t begin = view->finding.begin, i;
	u64 range = total->most - total->least;

	if (samples->nr > line->width && begin < samples->nr - line->width)
		begin = samples->nr - line->width;
	for (i = begin; i < samples->nr; i++) {
		u64 value, shade = 0;

		if (!memledger_sample_value(&samples->sample[i], &whole,
					    &value))
			continue;
		if (range && value > total->least)
			shade = (value - total->least) *
				(sizeof(shades) - 2) / range;
		if (shade > sizeof(shades) - 2)
			shade = sizeof(shades) - 2;
		memledger_line_append(line, "%c", shades[shade]);
	}
	memledger_line_print(out, line);
}

static void append_rate(struct memledger_line *line,
			const struct memledger_trend *trend)
{
	memledger_line_append(line, "%s", memledger_trend_texts[trend->kind]);
	if (trend->kind != MEMLEDGER_TREND_UNKNOWN)
		memledger_line_append(line, ", %+.1f kB a round since round %zu",
				      trend->per_round / 1024,
				      trend->since_round + 1);
}

static void append_part(struct memledger_line *line,
			const struct memledger_part *part)
{
	char *label = memledger_escape_text(memledger_part_label(part), "");

	memledger_line_append(line, "%s %s", memledger_part_kind_text(part),
			      label ? label : "(out of memory)");
	free(label);
}

static void draw_verdict(FILE *out, const struct memledger_watch_view *view,
			 struct memledger_line *line)
{
	const struct memledger_finding *finding = &view->finding;
	const struct memledger_finding_part *driver = finding->driver < 0 ?
		NULL : &finding->part[finding->driver];

	memledger_line_append(line, "Verdict: %s",
			      memledger_trend_texts[finding->kind]);
	if (driver) {
		memledger_line_append(line, ", by ");
		append_part(line, &driver->part);
	}
	memledger_line_print(out, line);
}

static void draw_row(FILE *out, const struct memledger_watch_view *view,
		     const struct memledger_part *part,
		     const struct memledger_trend *trend,
		     struct memledger_line *line)
{
	char size[MEMLEDGER_SIZE_TEXT_LEN];
	bool known;
	u64 value = number_of(view, part, &known);

	memledger_line_append(line, "%13s  ",
			      known ? memledger_size_text(value, size) : "-");
	append_part(line, part);
	if (trend) {
		memledger_line_append(line, ": ");
		append_rate(line, trend);
	}
	memledger_line_print(out, line);
}

static bool is_told(const struct memledger_finding *finding,
		    const struct memledger_part *part)
{
	size_t i;

	for (i = 0; i < finding->nr; i++)
		if (finding->part[i].part.kind == part->kind &&
		    finding->part[i].part.index == part->index)
			return true;
	return false;
}

/* Categories of which there is nothing to say, the largest first. */
static void draw_rest(FILE *out, const struct memledger_watch_view *view,
		      size_t room, struct memledger_line *line)
{
	bool drawn[NR_MEMLEDGER_CATEGORIES] = {};

	while (room--) {
		struct memledger_part part = { .kind = MEMLEDGER_PART_CATEGORY };
		int best = -1;
		u64 most = 0;
		bool known;

		for (part.index = 0; part.index < NR_MEMLEDGER_CATEGORIES;
		     part.index++) {
			u64 value = number_of(view, &part, &known);

			if (drawn[part.index] || value <= most ||
			    is_told(&view->finding, &part))
				continue;
			best = part.index;
			most = value;
		}
		if (best < 0)
			return;
		drawn[best] = true;
		part.index = best;
		draw_row(out, view, &part, NULL, line);
	}
}

/**
 * memledger_watch_draw - draw a picture for a terminal
 * @out: where to
 * @view: what there is to show
 * @terminal: what it has to fit
 */
void memledger_watch_draw(FILE *out, const struct memledger_watch_view *view,
			  const struct memledger_terminal *terminal)
{
	const struct memledger_finding *finding = &view->finding;
	struct memledger_line line = { .width = terminal->width };
	size_t room = SIZE_MAX, i;

	if (terminal->height)
		room = terminal->height > HEAD_LINES ?
		       terminal->height - HEAD_LINES : 0;
	draw_head(out, view, &line);
	draw_curve(out, view, &line);
	draw_verdict(out, view, &line);
	for (i = 0; i < finding->nr && i < room; i++)
		draw_row(out, view, &finding->part[i].part,
			 &finding->part[i].trend, &line);
	draw_rest(out, view, room - i, &line);
	memledger_line_append(&line, "q quits, %c marks, blank: a round now%s%s",
			      view->wanted->mark_key, *view->note ? "; " : "",
			      view->note);
	memledger_line_print(out, &line);
}

/**
 * memledger_watch_print_round - print a line for the last round
 * @out: where to
 * @view: what there is to show
 */
void memledger_watch_print_round(FILE *out,
				 const struct memledger_watch_view *view)
{
	const struct memledger_samples *samples = &view->samples;
	char size[MEMLEDGER_SIZE_TEXT_LEN];
	bool known;
	u64 total = number_of(view, &whole, &known);

	fprintf(out, "round %u", view->round);
	if (view->exited) {
		fprintf(out, ": the process has exited%s%s\n",
			*view->note ? "; " : "", view->note);
		return;
	}
	if (samples->nr) {
		u64 time_ns = samples->sample[samples->nr - 1].time_ns;

		fprintf(out, " at %llu.%03llu s", time_ns / 1000000000,
			time_ns / 1000000 % 1000);
	}
	fprintf(out, ": %s, %llu VMAs, %s%s%s\n",
		known ? memledger_size_text(total, size) : "-", nr_vmas(view),
		memledger_trend_texts[view->finding.kind],
		*view->note ? "; " : "", view->note);
}

static void print_json_trend(FILE *out, bool *first,
			     const struct memledger_trend *trend)
{
	memledger_json_string(out, first, "trend",
			      memledger_trend_names[trend->kind]);
	memledger_json_number(out, first, "rounds", trend->rounds, true);
	memledger_json_number(out, first, "first", trend->first,
			      trend->rounds);
	memledger_json_number(out, first, "last", trend->last, trend->rounds);
	memledger_json_number(out, first, "least", trend->least,
			      trend->rounds);
	memledger_json_number(out, first, "most", trend->most, trend->rounds);
	if (trend->kind == MEMLEDGER_TREND_UNKNOWN)
		return;
	memledger_json_number(out, first, "since", trend->since_round, true);
	fprintf(out,
		",\"per_round\":%.1f,\"per_round_low\":%.1f,\"per_round_high\":%.1f,\"per_second\":%.1f,\"tau\":%.3f,\"p\":%.3g",
		trend->per_round, trend->per_round_low, trend->per_round_high,
		trend->per_second, trend->tau, trend->p);
	memledger_json_number(out, first, "drops", trend->drops, true);
}

static void print_json_part(FILE *out, const struct memledger_finding_part *part)
{
	bool first = true;

	putc('{', out);
	memledger_json_string(out, &first, "kind",
			      memledger_part_kind_text(&part->part));
	memledger_json_string(out, &first, "name",
			      memledger_part_label(&part->part));
	memledger_json_key(out, &first, "more");
	fprintf(out, "%lld", part->vmas);
	print_json_trend(out, &first, &part->trend);
	putc('}', out);
}

static void print_json(FILE *out, const struct memledger_watch_view *view)
{
	const struct memledger_finding *finding = &view->finding;
	bool first = true, first_member = true;
	size_t i;

	putc('{', out);
	memledger_json_number(out, &first, "pid", view->pid, view->pid > 0);
	memledger_json_string(out, &first, "comm", view->comm);
	memledger_json_bool(out, &first, "exited", view->exited);
	memledger_json_number(out, &first, "rounds", view->round, true);
	memledger_json_string(out, &first, "unit", "bytes");
	memledger_json_string(out, &first, "verdict",
			      memledger_trend_names[finding->kind]);
	memledger_json_key(out, &first, "driver");
	if (finding->driver >= 0)
		print_json_part(out, &finding->part[finding->driver]);
	else
		fputs("null", out);
	memledger_json_key(out, &first, "total");
	putc('{', out);
	print_json_trend(out, &first_member, &finding->total);
	putc('}', out);
	memledger_json_key(out, &first, "parts");
	putc('[', out);
	for (i = 0; i < finding->nr; i++) {
		if (i)
			putc(',', out);
		print_json_part(out, &finding->part[i]);
	}
	fputs("]}\n", out);
}

/**
 * memledger_watch_print_end - print what there is to say in the end
 * @out: where to
 * @view: all that was seen
 */
void memledger_watch_print_end(FILE *out,
			       const struct memledger_watch_view *view)
{
	char *comm;

	if (view->wanted->json) {
		print_json(out, view);
		return;
	}
	comm = memledger_escape_text(view->comm, "");
	fprintf(out, "%s[%d]%s, %u round%s\n", comm ? comm : "", view->pid,
		view->exited ? " has exited" : "", view->round,
		view->round == 1 ? "" : "s");
	free(comm);
	memledger_finding_print(out, &view->finding);
}
