// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of a recording in; sections of a page about categories, what is
 * in Unknown, graphics and names out: a picture each, and the numbers beside.
 */
#include "html.h"
#include "html_page.h"

/* More rows than a picture has colours, apart from the one for what is left. */
#define MOST_ROWS	64

/**
 * struct rows - numbers that belong into one picture and one table
 * @title: of the picture
 * @caption: of the table
 * @prefix: of keys
 * @nr: how many
 * @label: what each is called
 * @key: how a program finds it
 * @value: how much it is in a sample
 * @known: whether it is known there
 * @count: NULL, or how many mappings it has there
 */
struct rows {
	const char *title;
	const char *caption;
	const char *prefix;
	unsigned int nr;
	const char *(*label)(unsigned int i);
	const char *(*key)(unsigned int i);
	u64 (*value)(const struct memledger_sample *sample, unsigned int i);
	bool (*known)(const struct memledger_sample *sample, unsigned int i);
	u64 (*count)(const struct memledger_sample *sample, unsigned int i);
};

static u64 most_of(const struct memledger_page *page, const struct rows *rows,
		   unsigned int i)
{
	const struct memledger_samples *samples = &page->recording->samples;
	u64 most = 0, value;
	size_t s;

	for (s = page->finding.begin; s < samples->nr; s++) {
		value = rows->value(&samples->sample[s], i);
		if (rows->known(&samples->sample[s], i) && value > most)
			most = value;
	}
	return most;
}

/* Rows with anything, the largest first. Return: how many. */
static unsigned int order_rows(const struct memledger_page *page,
			       const struct rows *rows, unsigned int *order)
{
	u64 most[MOST_ROWS];
	unsigned int i, at, nr = 0;

	for (i = 0; i < rows->nr; i++) {
		u64 value = most_of(page, rows, i);

		if (!value)
			continue;
		for (at = nr++; at && most[at - 1] < value; at--) {
			most[at] = most[at - 1];
			order[at] = order[at - 1];
		}
		most[at] = value;
		order[at] = i;
	}
	return nr;
}

static void add_row(const struct memledger_page *page, const struct rows *rows,
		    unsigned int i, struct memledger_chart_series *series)
{
	size_t point;

	for (point = 0; point < page->nr_points; point++) {
		const struct memledger_sample *sample =
			&page->recording->samples.sample[page->point[point]];

		if (!rows->known(sample, i))
			continue;
		series->value[point] += rows->value(sample, i);
		series->known[point] = true;
	}
}

/* What has no colour of its own is one area together. */
static int draw_rows(const struct memledger_page *page, const struct rows *rows,
		     const unsigned int *order, unsigned int nr)
{
	struct memledger_chart chart = {
		.title = rows->title,
		.nr_series = nr < MEMLEDGER_CHART_SERIES ?
			     nr : MEMLEDGER_CHART_SERIES,
		.nr_points = page->nr_points,
		.begins = page->begins,
		.mark = page->mark,
		.nr_marks = page->nr_marks,
		.from = page->from,
		.to = page->to,
	};
	size_t nr_values = MEMLEDGER_CHART_SERIES * page->nr_points;
	u64 *values = calloc(nr_values, sizeof(*values));
	bool *known = calloc(nr_values, sizeof(*known));
	unsigned int i;

	for (i = 0; i < nr && values && known; i++) {
		unsigned int at = i < chart.nr_series ? i : chart.nr_series - 1;
		struct memledger_chart_series *series = &chart.series[at];

		series->label = at == i ? rows->label(order[i]) : "all others";
		series->value = values + at * page->nr_points;
		series->known = known + at * page->nr_points;
		add_row(page, rows, order[i], series);
	}
	if (values && known)
		memledger_chart_print(page->out, &chart);
	free(values);
	free(known);
	return values && known ? 0 : -ENOMEM;
}

static void print_line(const struct memledger_page *page,
		       const struct rows *rows, unsigned int i)
{
	bool first_known = rows->known(page->first, i);
	bool known = rows->known(page->last, i);
	u64 first = rows->value(page->first, i);
	u64 last = rows->value(page->last, i);
	FILE *out = page->out;
	char key[96];

	fputs("<tr>", out);
	memledger_html_cell_text(out, rows->label(i));
	snprintf(key, sizeof(key), "%s%s.first", rows->prefix, rows->key(i));
	memledger_html_cell_kb(out, key, first, first_known);
	snprintf(key, sizeof(key), "%s%s.last", rows->prefix, rows->key(i));
	memledger_html_cell_kb(out, key, last, known);
	memledger_html_cell_change(out, last - first, first_known && known);
	snprintf(key, sizeof(key), "%s%s.most", rows->prefix, rows->key(i));
	memledger_html_cell_kb(out, key, most_of(page, rows, i), known);
	if (rows->count) {
		s64 count = rows->count(page->last, i);

		memledger_html_cell_count(out, count, true);
		memledger_html_cell_count(out, count - (s64)rows->count(page->first, i),
					  true);
	}
	fputs("</tr>\n", out);
}

static void print_total(const struct memledger_page *page,
			const struct rows *rows)
{
	const struct memledger_sample_row *row =
		&page->last->row[MEMLEDGER_SAMPLE_TOTAL];
	u64 first = memledger_page_bytes(page->first, MEMLEDGER_SAMPLE_TOTAL);
	u64 last = memledger_page_bytes(page->last, MEMLEDGER_SAMPLE_TOTAL);
	FILE *out = page->out;

	fputs("<tr class=\"sum\">", out);
	memledger_html_cell_text(out, "TOTAL");
	memledger_html_cell_kb(out, "total.first", first, true);
	memledger_html_cell_kb(out, "total.last", last, true);
	memledger_html_cell_change(out, last - first, true);
	fputs("<td></td>", out);
	if (rows->count) {
		memledger_html_cell_count(out, row->vmas, true);
		memledger_html_cell_count(out, (s64)(row->vmas -
				page->first->row[MEMLEDGER_SAMPLE_TOTAL].vmas),
					  true);
	}
	fputs("</tr>\n", out);
}

/* Return: 1 if there was anything to print, 0 if not, or -ENOMEM. */
static int print_rows(const struct memledger_page *page,
		      const struct rows *rows, bool total)
{
	static const char *const headings[] = {
		"", "First", "Last", "Change", "Most", "Mappings", "New",
		NULL
	};
	static const char *const brief[] = {
		"", "First", "Last", "Change", "Most", NULL
	};
	unsigned int order[MOST_ROWS], nr = order_rows(page, rows, order), i;

	if (!nr)
		return 0;
	if (draw_rows(page, rows, order, nr))
		return -ENOMEM;
	memledger_html_begin_table(page->out, rows->caption,
				   rows->count ? headings : brief);
	for (i = 0; i < nr; i++)
		print_line(page, rows, order[i]);
	if (total)
		print_total(page, rows);
	memledger_html_end_table(page->out);
	return 1;
}

static const char *category_label(unsigned int i)
{
	return memledger_category_labels[i];
}

static const char *category_key(unsigned int i)
{
	return memledger_category_names[i];
}

static u64 category_value(const struct memledger_sample *sample,
			  unsigned int i)
{
	return memledger_page_bytes(sample, MEMLEDGER_SAMPLE_CATEGORIES + i);
}

static bool category_known(const struct memledger_sample *sample,
			   unsigned int i)
{
	return memledger_sample_has_row(sample,
					MEMLEDGER_SAMPLE_CATEGORIES + i);
}

static u64 category_count(const struct memledger_sample *sample,
			  unsigned int i)
{
	return sample->row[MEMLEDGER_SAMPLE_CATEGORIES + i].vmas;
}

static const char *class_label(unsigned int i)
{
	return memledger_unknown_texts[i];
}

static const char *class_key(unsigned int i)
{
	return memledger_unknown_names[i];
}

static u64 class_value(const struct memledger_sample *sample, unsigned int i)
{
	return memledger_page_bytes(sample, MEMLEDGER_SAMPLE_UNKNOWN + i);
}

static bool class_known(const struct memledger_sample *sample, unsigned int i)
{
	return memledger_sample_has_row(sample, MEMLEDGER_SAMPLE_UNKNOWN + i);
}

static u64 class_count(const struct memledger_sample *sample, unsigned int i)
{
	return sample->row[MEMLEDGER_SAMPLE_UNKNOWN + i].vmas;
}

static const char *usage_label(unsigned int i)
{
	return memledger_gpu_usage_names[i];
}

static u64 usage_value(const struct memledger_sample *sample, unsigned int i)
{
	return sample->graphics.usage[i];
}

static bool usage_known(const struct memledger_sample *sample, unsigned int i)
{
	(void)i;
	return !(sample->unavailable & MEMLEDGER_UNAVAILABLE_MTRACK);
}

static const char *dmabuf_label(unsigned int i)
{
	(void)i;
	return "DMA-BUFs, the process's share";
}

static const char *dmabuf_key(unsigned int i)
{
	(void)i;
	return "dmabuf_pss";
}

static u64 dmabuf_value(const struct memledger_sample *sample, unsigned int i)
{
	(void)i;
	return sample->dmabuf_pss;
}

static bool dmabuf_known(const struct memledger_sample *sample, unsigned int i)
{
	(void)i;
	return !(sample->unavailable & MEMLEDGER_SAMPLE_NO_DMABUF);
}

static u64 dmabuf_count(const struct memledger_sample *sample, unsigned int i)
{
	(void)i;
	return sample->dmabuf_count;
}

static const struct rows categories = {
	.title = "Memory by category",
	.caption = "By category, in kB",
	.prefix = "",
	.nr = NR_MEMLEDGER_CATEGORIES,
	.label = category_label,
	.key = category_key,
	.value = category_value,
	.known = category_known,
	.count = category_count,
};

static const struct rows classes = {
	.title = "What is in Unknown",
	.caption = "Unknown by class, in kB",
	.prefix = "unknown.",
	.nr = NR_MEMLEDGER_UNKNOWN_CLASSES,
	.label = class_label,
	.key = class_key,
	.value = class_value,
	.known = class_known,
	.count = class_count,
};

static const struct rows usages = {
	.title = "GPU memory by usage",
	.caption = "GPU memory by usage, as the driver says it, in kB",
	.prefix = "graphics.usage.",
	.nr = NR_MEMLEDGER_GPU_USAGES,
	.label = usage_label,
	.key = usage_label,
	.value = usage_value,
	.known = usage_known,
};

static const struct rows dmabufs = {
	.title = "DMA-BUFs that the process holds",
	.caption = "DMA-BUFs, in kB; \"mappings\" counts buffers",
	.prefix = "",
	.nr = 1,
	.label = dmabuf_label,
	.key = dmabuf_key,
	.value = dmabuf_value,
	.known = dmabuf_known,
	.count = dmabuf_count,
};

/**
 * memledger_page_print_rows - print the sections of categories and Unknown
 * @page: the page
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_page_print_rows(struct memledger_page *page)
{
	FILE *out = page->out;
	int ret;

	fprintf(out,
		"<h2>Memory</h2>\n<p class=\"soft\">%s, as the rows of dumpsys meminfo; round after round.</p>\n",
		memledger_page_measure(page));
	ret = print_rows(page, &categories, true);
	if (!ret)
		fputs("<p>There is none.</p>\n", out);
	if (ret < 0)
		return ret;
	fputs("<h2>Unknown</h2>\n", out);
	ret = print_rows(page, &classes, false);
	if (!ret)
		fputs("<p>Nothing is in this row.</p>\n", out);
	return ret < 0 ? ret : 0;
}

static void print_note(FILE *out, const char *text)
{
	fputs("<p class=\"soft\">", out);
	memledger_html_text(out, text);
	fputs("</p>\n", out);
}

/**
 * memledger_page_print_graphics - print the section of graphics memory
 * @page: the page
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_page_print_graphics(struct memledger_page *page)
{
	FILE *out = page->out;
	int ret;

	fputs("<h2>Graphics</h2>\n", out);
	if (!usage_known(page->last, 0))
		print_note(out,
			   "GPU memory is unavailable: no GPU driver told the module anything.");
	ret = print_rows(page, &usages, false);
	if (!ret && usage_known(page->last, 0))
		print_note(out, "The process has no GPU memory.");
	if (ret < 0)
		return ret;
	if (!dmabuf_known(page->last, 0))
		print_note(out,
			   "DMA-BUFs are unavailable: they were not asked for (record --buffers), or could not be read.");
	ret = print_rows(page, &dmabufs, false);
	if (!ret && dmabuf_known(page->last, 0))
		print_note(out, "The process holds no DMA-BUF.");
	return ret < 0 ? ret : 0;
}

/* What the first sample says of what goes by a name in the last one. */
static bool find_before(const struct memledger_page *page,
			const struct memledger_sample_name *name,
			const struct memledger_sample_name **before)
{
	static const struct memledger_sample_name none;
	size_t i;

	*before = &none;
	for (i = 0; i < page->first->nr_names; i++) {
		const struct memledger_sample_name *one = &page->first->name[i];

		if (one->what == name->what &&
		    one->category == name->category &&
		    !strcmp(one->text, name->text)) {
			*before = one;
			return true;
		}
	}
	return !page->first->names_cut &&
	       !(page->first->unavailable & MEMLEDGER_SAMPLE_NO_NAMES);
}

/**
 * memledger_page_print_names - print the section of names, if there are any
 * @page: the page
 */
void memledger_page_print_names(struct memledger_page *page)
{
	static const char *const headings[] = {
		"Name", "Row", "First", "Last", "Change", "Count", "New",
		NULL
	};
	FILE *out = page->out;
	size_t i;

	if (!page->last->nr_names)
		return;
	fputs("<h2>Names</h2>\n", out);
	memledger_html_begin_table(out,
				   "The largest at the end, without clean pages of files, in kB",
				   headings);
	for (i = 0; i < page->last->nr_names; i++) {
		const struct memledger_sample_name *name = &page->last->name[i];
		const struct memledger_sample_name *before;
		bool known = find_before(page, name, &before);
		bool mapped = name->what == MEMLEDGER_SAMPLE_MAPPINGS;

		fputs("<tr>", out);
		memledger_html_cell_text(out, *name->text ? name->text :
					 mapped ? "(no name)" : "(unknown)");
		fprintf(out, "<td>%s</td>", mapped ?
			memledger_category_labels[name->category] :
			"DMA-BUFs");
		memledger_html_cell_kb(out, NULL, before->bytes, known);
		memledger_html_cell_kb(out, NULL, name->bytes, true);
		memledger_html_cell_change(out, name->bytes - before->bytes,
					   known);
		memledger_html_cell_count(out, name->count, true);
		memledger_html_cell_count(out, name->count - before->count,
					  known);
		fputs("</tr>\n", out);
	}
	memledger_html_end_table(out);
}
