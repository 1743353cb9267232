// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks and retained objects of a recording in; sections of a page about what
 * changed between marks, and about what should be gone, out.
 */
#include "html.h"
#include "html_page.h"

/* So many lines of a difference: what changed most. */
#define LINES	12

/**
 * struct change - what of a category or a name changed
 * @label: what it is called
 * @bytes: by how much
 * @vmas: by how many mappings
 */
struct change {
	const char *label;
	s64 bytes;
	s64 vmas;
};

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	s64 x_size = x->bytes < 0 ? -x->bytes : x->bytes;
	s64 y_size = y->bytes < 0 ? -y->bytes : y->bytes;

	return (x_size < y_size) - (x_size > y_size);
}

static size_t find_changes(const struct memledger_sample *from,
			   const struct memledger_sample *to,
			   struct change *changes)
{
	size_t nr = 0;
	unsigned int i, row;

	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		row = MEMLEDGER_SAMPLE_CATEGORIES + i;
		if (!memledger_sample_has_row(from, row) ||
		    !memledger_sample_has_row(to, row))
			continue;
		changes[nr] = (struct change){
			.label = memledger_category_labels[i],
			.bytes = memledger_page_bytes(to, row) -
				 memledger_page_bytes(from, row),
			.vmas = to->row[row].vmas - from->row[row].vmas,
		};
		nr += changes[nr].bytes || changes[nr].vmas;
	}
	memledger_sort(changes, nr, sizeof(*changes), compare_changes);
	return nr;
}

static void print_change(FILE *out, const struct change *change, bool sum)
{
	fputs(sum ? "<tr class=\"sum\">" : "<tr>", out);
	memledger_html_cell_text(out, change->label);
	memledger_html_cell_change(out, change->bytes, true);
	memledger_html_cell_count(out, change->vmas, true);
	fputs("</tr>\n", out);
}

static void print_difference(FILE *out, const char *caption,
			     const struct memledger_sample *from,
			     const struct memledger_sample *to)
{
	static const char *const headings[] = {
		"", "Change", "New mappings", NULL
	};
	struct change changes[NR_MEMLEDGER_CATEGORIES];
	size_t nr = find_changes(from, to, changes), i;
	const struct change total = {
		.label = "TOTAL",
		.bytes = memledger_page_bytes(to, MEMLEDGER_SAMPLE_TOTAL) -
			 memledger_page_bytes(from, MEMLEDGER_SAMPLE_TOTAL),
		.vmas = to->row[MEMLEDGER_SAMPLE_TOTAL].vmas -
			from->row[MEMLEDGER_SAMPLE_TOTAL].vmas,
	};

	memledger_html_begin_table(out, caption, headings);
	for (i = 0; i < nr && i < LINES; i++)
		print_change(out, &changes[i], false);
	print_change(out, &total, true);
	memledger_html_end_table(out);
}

/* The first sample from a mark on, NULL where there is none. */
static const struct memledger_sample *
sample_at(const struct memledger_page *page, const struct memledger_mark *mark)
{
	const struct memledger_samples *samples = &page->recording->samples;
	size_t i;

	for (i = page->finding.begin; i < samples->nr; i++)
		if (samples->sample[i].tgid == mark->tgid &&
		    samples->sample[i].time_ns >= mark->time_ns)
			return &samples->sample[i];
	return NULL;
}

/**
 * memledger_page_print_marks - print the section of differences, if there is any
 * @page: the page
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_page_print_marks(struct memledger_page *page)
{
	const struct memledger_recording *recording = page->recording;
	const struct memledger_sample *from = page->first, *to;
	const char *before = "the beginning";
	FILE *out = page->out;
	char caption[256];
	size_t i;

	if (!recording->nr_marks)
		return 0;
	fputs("<h2>Between marks</h2>\n", out);
	for (i = 0; i <= recording->nr_marks; i++) {
		const char *label = i < recording->nr_marks ?
				    recording->mark[i].label : "the end";

		to = i < recording->nr_marks ?
		     sample_at(page, &recording->mark[i]) : page->last;
		/* A mark of an earlier process has no sample here. */
		if (!to || to->time_ns < from->time_ns)
			continue;
		snprintf(caption, sizeof(caption), "From %s to %s, in kB",
			 before, label);
		print_difference(out, caption, from, to);
		from = to;
		before = label;
	}
	return 0;
}

static const char *const kinds[NR_MEMLEDGER_RETAINED] = {
	[MEMLEDGER_RETAINED_DMABUF] = "DMA-BUF",
	[MEMLEDGER_RETAINED_GPU] = "GPU memory",
	[MEMLEDGER_RETAINED_VMA] = "mapping",
};

/* A newline is where a line ends; all else is escaped. */
static void print_holders(FILE *out, char *holders)
{
	char *line, *next = holders;

	while ((line = strsep(&next, "\n"))) {
		memledger_html_text(out, line);
		if (next) {
			next[-1] = '\n';
			putc('\n', out);
		}
	}
}

/* Who holds it comes first: of a wide table a phone shows the left side. */
static void print_item(FILE *out, const struct memledger_retained *retained)
{
	fputs("<tr>", out);
	memledger_html_cell_text(out, *retained->what ? retained->what :
				 "(unknown)");
	fputs("<td class=\"text\">", out);
	print_holders(out, retained->holders);
	fputs("</td>", out);
	memledger_html_cell_kb(out, NULL, retained->size, true);
	fprintf(out, "<td>%.1f</td><td>%s</td>", retained->age_ns / 1e9,
		kinds[retained->kind]);
	fprintf(out, retained->kind == MEMLEDGER_RETAINED_VMA ?
		"<td>%llx</td></tr>\n" : "<td>%llu</td></tr>\n",
		retained->id);
}

/**
 * memledger_page_print_retained - print the section of retained objects
 * @page: the page
 */
void memledger_page_print_retained(struct memledger_page *page)
{
	static const char *const headings[] = {
		"Exporter, usage or name", "Held by", "Size", "Age", "What",
		"Number", NULL
	};
	const struct memledger_recording *recording = page->recording;
	FILE *out = page->out;
	size_t i;

	fputs("<h2>Retained</h2>\n", out);
	if (!recording->nr_retained) {
		fputs("<p class=\"soft\">No object was watched and found retained.</p>\n",
		      out);
		return;
	}
	fputs("<div class=\"held\">\n", out);
	memledger_html_begin_table(out,
				   "What should have been released and was still there, in kB and seconds",
				   headings);
	for (i = 0; i < recording->nr_retained; i++)
		print_item(out, &recording->retained[i]);
	memledger_html_end_table(out);
	fputs("</div>\n", out);
}
