// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers in, a picture of areas on top of each other out. The areas are SVG
 * that is stretched to the room there is; all words are text of the page beside
 * it, so that they stay as large as they are on a phone.
 */
#include "chart.h"
#include "html.h"

/* What the picture is measured in, whatever size it is drawn in. */
#define WIDTH		1000.
#define HEIGHT		1000.

/* An area that is so much of the height has room for its name. */
#define LABEL_ROOM	0.07

/* So many bytes of a mark's name. */
#define MARK_LEN	16

static u64 height_of(const struct memledger_chart *chart, size_t series,
		     size_t point)
{
	u64 height = 0;
	size_t i;

	for (i = 0; i < series; i++)
		height += chart->series[i].value[point];
	return height;
}

static u64 highest(const struct memledger_chart *chart)
{
	u64 most = 0, height;
	size_t i;

	for (i = 0; i < chart->nr_points; i++) {
		height = height_of(chart, chart->nr_series, i);
		if (height > most)
			most = height;
	}
	return most;
}

/* A round step of which at most five reach to the top. */
static double step_for(u64 most, const char **unit, double *unit_size)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	static const double steps[] = { 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100,
					200 };
	size_t i = 0;

	*unit_size = 1024;
	while (most / *unit_size >= 1000 && i + 1 < ARRAY_SIZE(units)) {
		*unit_size *= 1024;
		i++;
	}
	*unit = units[i];
	for (i = 0; i + 1 < ARRAY_SIZE(steps); i++)
		if (steps[i] * 5 >= most / *unit_size)
			break;
	return steps[i];
}

/**
 * struct frame - where a number is in the picture
 * @chart: whose
 * @top: bytes at the top
 * @step: bytes from one line to the next
 * @unit: what labels are in
 * @unit_size: bytes of that
 */
struct frame {
	const struct memledger_chart *chart;
	double top;
	double step;
	const char *unit;
	double unit_size;
};

static double x_of(const struct frame *frame, size_t point)
{
	return frame->chart->nr_points > 1 ?
	       point * WIDTH / (frame->chart->nr_points - 1) : 0;
}

static double y_of(const struct frame *frame, double bytes)
{
	return HEIGHT - bytes * HEIGHT / frame->top;
}

/* From @begin to @end: along its upper edge there, along its lower edge back. */
static void print_area(FILE *out, const struct frame *frame, size_t series,
		       size_t begin, size_t end)
{
	size_t i;

	for (i = begin; i < end; i++)
		fprintf(out, "%c%.1f %.1f", i == begin ? 'M' : 'L',
			x_of(frame, i),
			y_of(frame, height_of(frame->chart, series + 1, i)));
	/* A single point still has to be seen. */
	if (end - begin == 1)
		fprintf(out, "h2V%.1fh-2",
			y_of(frame, height_of(frame->chart, series, begin)));
	for (i = end; end - begin > 1 && i-- > begin;)
		fprintf(out, "L%.1f %.1f", x_of(frame, i),
			y_of(frame, height_of(frame->chart, series, i)));
	putc('Z', out);
}

static void print_series(FILE *out, const struct frame *frame, size_t series)
{
	const struct memledger_chart *chart = frame->chart;
	const bool *known = chart->series[series].known;
	size_t begin, end;

	fprintf(out, "<path fill=\"var(--c%zu)\" d=\"", series);
	for (begin = 0; begin < chart->nr_points; begin = end) {
		for (end = begin + 1; end < chart->nr_points; end++)
			if (known[end] != known[begin] ||
			    (chart->begins && chart->begins[end]))
				break;
		if (known[begin])
			print_area(out, frame, series, begin, end);
	}
	fputs("\"/>\n", out);
}

static void print_picture(FILE *out, const struct frame *frame)
{
	const struct memledger_chart *chart = frame->chart;
	double bytes;
	size_t i;

	fprintf(out,
		"<svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		WIDTH, HEIGHT);
	memledger_html_text(out, chart->title);
	fputs("\">\n", out);
	for (bytes = frame->step; bytes <= frame->top; bytes += frame->step)
		fprintf(out, "<line x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>",
			WIDTH, y_of(frame, bytes), y_of(frame, bytes));
	putc('\n', out);
	for (i = 0; i < chart->nr_series; i++)
		print_series(out, frame, i);
	for (i = 0; i < chart->nr_marks; i++)
		fprintf(out,
			"<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.0f\"/>\n",
			x_of(frame, chart->mark[i].at),
			x_of(frame, chart->mark[i].at), HEIGHT);
	fputs("</svg>\n", out);
}

static void print_axis(FILE *out, const struct frame *frame)
{
	double bytes;

	for (bytes = 0; bytes <= frame->top; bytes += frame->step)
		fprintf(out, "<span class=\"y\" style=\"top:%.2f%%\">%g %s</span>",
			y_of(frame, bytes) * 100 / HEIGHT,
			bytes / frame->unit_size, frame->unit);
	putc('\n', out);
}

static void print_marks(FILE *out, const struct frame *frame)
{
	const struct memledger_chart *chart = frame->chart;
	char label[MARK_LEN + 1];
	size_t i;

	for (i = 0; i < chart->nr_marks; i++) {
		snprintf(label, sizeof(label), "%s", chart->mark[i].label);
		fprintf(out, "<span class=\"m\" style=\"left:%.2f%%\">",
			x_of(frame, chart->mark[i].at) * 100 / WIDTH);
		memledger_html_text(out, label);
		fputs("</span>\n", out);
	}
}

/* Names of areas where these end on the right, if there is room. */
static void print_labels(FILE *out, const struct frame *frame)
{
	const struct memledger_chart *chart = frame->chart;
	size_t last = chart->nr_points - 1, i;

	for (i = 0; i < chart->nr_series; i++) {
		double size = chart->series[i].value[last];
		double middle = height_of(chart, i, last) + size / 2;

		if (size < LABEL_ROOM * frame->top)
			continue;
		fprintf(out, "<span class=\"in\" style=\"top:%.2f%%\">",
			y_of(frame, middle) * 100 / HEIGHT);
		memledger_html_text(out, chart->series[i].label);
		fputs("</span>\n", out);
	}
}

/* The uppermost first, as they are in the picture. */
static void print_key(FILE *out, const struct memledger_chart *chart)
{
	size_t last = chart->nr_points - 1, i;

	fputs("<ul class=\"key\">\n", out);
	for (i = chart->nr_series; i--;) {
		fprintf(out, "<li><i style=\"background:var(--c%zu)\"></i>",
			i);
		memledger_html_text(out, chart->series[i].label);
		if (chart->series[i].known[last]) {
			fputs(" ", out);
			memledger_html_kb(out, chart->series[i].value[last],
					  false);
			fputs(" kB</li>\n", out);
		} else {
			fputs(" n/a</li>\n", out);
		}
	}
	fputs("</ul>\n", out);
}

/**
 * memledger_chart_print - draw a chart
 * @out: where to
 * @chart: what to draw; of no points, or where all are 0, nothing
 *
 * Return: 1 if it is drawn, else 0.
 */
int memledger_chart_print(FILE *out, const struct memledger_chart *chart)
{
	struct frame frame = { .chart = chart };
	u64 most = highest(chart);

	if (!most)
		return 0;
	frame.step = step_for(most, &frame.unit, &frame.unit_size) *
		     frame.unit_size;
	while (frame.top < most)
		frame.top += frame.step;

	fputs("<figure><figcaption>", out);
	memledger_html_text(out, chart->title);
	fputs("</figcaption>\n<div class=\"chart\">\n", out);
	print_picture(out, &frame);
	print_axis(out, &frame);
	print_labels(out, &frame);
	print_marks(out, &frame);
	fputs("</div>\n<div class=\"x\"><span>", out);
	memledger_html_text(out, chart->from);
	fputs("</span><span>", out);
	memledger_html_text(out, chart->to);
	fputs("</span></div>\n", out);
	print_key(out, chart);
	fputs("</figure>\n", out);
	return 1;
}
