// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording in, one page for a browser out: what it says, the pictures and
 * numbers behind that, and where these come from. Nothing on it is fetched from
 * anywhere, and no script runs.
 */
#include <time.h>

#include "export.h"
#include "html.h"
#include "html_page.h"
#include "html_report.h"

/* So many parts are listed. */
#define PARTS	16

static void print_name(const struct memledger_page *page)
{
	const struct memledger_sample *last = page->last;
	size_t len;
	const char *comm = memledger_export_comm(page->recording, last->tgid,
						 &len);
	char name[128];

	snprintf(name, sizeof(name), "%.*s [%d]", (int)(len > 64 ? 64 : len),
		 comm, last->tgid);
	memledger_html_text(page->out, name);
}

static void print_head(const struct memledger_page *page)
{
	FILE *out = page->out;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	      "<title>memledger: ", out);
	print_name(page);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n",
		memledger_html_style);
	fputs("<h1>", out);
	print_name(page);
	fputs("</h1>\n", out);
}

/* When, by the clock on the wall, as far as the last session knows. */
static void print_when(const struct memledger_page *page)
{
	const struct memledger_recording *recording = page->recording;
	const struct memledger_environment *environment;
	char text[64] = "";
	struct tm tm;
	time_t begun;

	if (recording->nr_environments) {
		environment =
			&recording->environment[recording->nr_environments - 1];
		begun = environment->realtime_ns / 1000000000;
		if (gmtime_r(&begun, &tm))
			strftime(text, sizeof(text), ", %Y-%m-%d %H:%M:%S UTC",
				 &tm);
	}
	fprintf(page->out,
		"<p class=\"soft\"><span data-key=\"samples\">%zu</span> samples%s. Sizes are in kB of 1024 bytes; n/a is what is not known, never 0.</p>\n",
		recording->samples.nr, text);
}

static void print_rate(FILE *out, double bytes)
{
	fprintf(out, "%+.1f kB", bytes / 1024);
}

static void print_numbers(FILE *out, const struct memledger_trend *trend)
{
	fputs("<br>", out);
	print_rate(out, trend->per_round);
	fputs(" a round (95 %: ", out);
	print_rate(out, trend->per_round_low);
	fputs(" to ", out);
	print_rate(out, trend->per_round_high);
	fputs("), ", out);
	print_rate(out, trend->per_second);
	fprintf(out, " a second, since round %zu; by chance %.1g",
		trend->since_round + 1, trend->p);
}

/* A sentence or two. */
static void print_verdict(const struct memledger_page *page)
{
	const struct memledger_finding *finding = &page->finding;
	const struct memledger_finding_part *part = finding->driver < 0 ?
		NULL : &finding->part[finding->driver];
	const struct memledger_trend *trend = part ? &part->trend :
						     &finding->total;
	FILE *out = page->out;

	fprintf(out, "<div class=\"verdict %s\" data-verdict=\"%s\"><b>",
		memledger_trend_names[finding->kind],
		memledger_trend_names[finding->kind]);
	memledger_html_text(out, memledger_trend_texts[finding->kind]);
	if (part) {
		fprintf(out, ": %s ", memledger_part_kind_text(&part->part));
		memledger_html_text(out, memledger_part_label(&part->part));
	}
	fputs("</b>", out);
	if (trend->kind != MEMLEDGER_TREND_UNKNOWN)
		print_numbers(out, trend);
	if (part && part->vmas)
		fprintf(out, "; %+lld %s", part->vmas,
			memledger_part_count_text(&part->part));
	fputs("</div>\n", out);
}

/* What of the file the verdict is not about. */
static void print_left_out(const struct memledger_page *page)
{
	const struct memledger_finding *finding = &page->finding;
	FILE *out = page->out;

	if (finding->begin)
		fprintf(out,
			"<p class=\"soft\">The first %zu samples are of another process that had this number; verdict and tables are of the last one.</p>\n",
			finding->begin);
	if (finding->incomplete)
		fprintf(out,
			"<p class=\"soft\">%zu samples are not looked at for the verdict: their walk had to stop early.</p>\n",
			finding->incomplete);
}

static void print_trend(FILE *out, const char *kind, const char *label,
			const struct memledger_trend *trend)
{
	fputs("<tr>", out);
	memledger_html_cell_text(out, label);
	fprintf(out, "<td>%s</td><td>%s</td>", kind,
		memledger_trend_texts[trend->kind]);
	memledger_html_cell_kb(out, NULL, trend->first, true);
	memledger_html_cell_kb(out, NULL, trend->last, true);
	if (trend->kind == MEMLEDGER_TREND_UNKNOWN) {
		fputs("<td colspan=\"6\" class=\"na\">n/a</td></tr>\n", out);
		return;
	}
	fprintf(out,
		"<td>%+.1f</td><td>%+.1f to %+.1f</td><td>%zu</td><td>%.2f</td><td>%.1g</td><td>%.1f</td></tr>\n",
		trend->per_round / 1024, trend->per_round_low / 1024,
		trend->per_round_high / 1024, trend->since_round + 1,
		trend->tau, trend->p, trend->noise / 1024);
}

static void print_evidence(const struct memledger_page *page)
{
	static const char *const headings[] = {
		"", "What", "Verdict", "First", "Last", "A round", "95 %",
		"Since", "Tau", "Chance", "Noise", NULL
	};
	const struct memledger_finding *finding = &page->finding;
	FILE *out = page->out;
	size_t i;

	memledger_html_begin_table(out,
				   "In kB: Pss and swap, without clean pages of files",
				   headings);
	print_trend(out, "all", "TOTAL", &finding->total);
	for (i = 0; i < finding->nr && i < PARTS; i++)
		print_trend(out,
			    memledger_part_kind_text(&finding->part[i].part),
			    memledger_part_label(&finding->part[i].part),
			    &finding->part[i].trend);
	memledger_html_end_table(out);
	fputs("<p class=\"soft\">", out);
	memledger_html_text(out,
			    "Only parts that are not stable are listed, the first 16. The slope is the median of all pairs' (Theil, Sen) with its 95 % interval; tau is Kendall's rank correlation with time; chance is how likely noise alone has so much of it (Mann, Kendall).");
	fputs("</p>\n", out);
}

static void print_pairs(FILE *out,
			const struct memledger_environment *environment)
{
	const char *key = NULL, *value;

	fputs("<dl>\n", out);
	while ((key = memledger_environment_next(environment, key, &value))) {
		fputs("<dt>", out);
		memledger_html_text(out, key);
		fputs("</dt><dd>", out);
		memledger_html_text(out, value);
		fputs("</dd>\n", out);
	}
	fputs("</dl>\n", out);
}

static void print_environment(const struct memledger_page *page)
{
	const struct memledger_recording *recording = page->recording;
	FILE *out = page->out;
	size_t i;

	fputs("<h2>Environment</h2>\n", out);
	if (!recording->nr_environments)
		fputs("<p class=\"soft\">The recording does not say.</p>\n",
		      out);
	for (i = 0; i < recording->nr_environments; i++) {
		if (recording->nr_environments > 1)
			fprintf(out, "<h3>Session %zu</h3>\n", i + 1);
		print_pairs(out, &recording->environment[i]);
	}
}

/* Where each number comes from, in the words of the documentation. */
static const char *const sources[][2] = {
	{ "Categories, Unknown",
	  "The module's walk of the page tables (file record), by the rules of the profile." },
	{ "EGL, GL and Other mtrack",
	  "What the GPU driver told the module through its provider; n/a without one." },
	{ "SwapPss",
	  "The swap counts of the kernel; where swap_pss is unavailable, Swap stands for it." },
	{ "GPU memory by usage",
	  "The GPU driver's entries, in the same record." },
	{ "DMA-BUFs",
	  "A pass over descriptors, mappings and GPU imports of all processes (debugfs, dmabuf)." },
	{ "Names",
	  "A second walk of the process (debugfs, vmas), of about the same moment." },
	{ "Verdicts",
	  "The tool, from the samples of the last process in this file." },
	{ "Retained, marks",
	  "Records of the file, written by who watched the process." },
};

static void print_sources(FILE *out)
{
	size_t i;

	fputs("<h2>Where the numbers come from</h2>\n<dl>\n", out);
	for (i = 0; i < ARRAY_SIZE(sources); i++)
		fprintf(out, "<dt>%s</dt><dd>%s</dd>\n", sources[i][0],
			sources[i][1]);
	fputs("</dl>\n", out);
}

static int print_page(struct memledger_page *page)
{
	print_head(page);
	print_when(page);
	print_verdict(page);
	print_left_out(page);
	if (memledger_page_print_rows(page) ||
	    memledger_page_print_graphics(page))
		return -ENOMEM;
	memledger_page_print_names(page);
	if (memledger_page_print_marks(page))
		return -ENOMEM;
	memledger_page_print_retained(page);
	fputs("<h2>Evidence</h2>\n", page->out);
	print_evidence(page);
	print_environment(page);
	print_sources(page->out);
	fputs("</body>\n</html>\n", page->out);
	return 0;
}

/**
 * memledger_html_report_print - print a recording as a page
 * @out: where to
 * @recording: of at least one sample
 *
 * Return: 0, or -ENOMEM; part of it is printed then.
 */
int memledger_html_report_print(FILE *out,
				const struct memledger_recording *recording)
{
	struct memledger_page page = { .out = out, .recording = recording };
	int ret = memledger_finding_make(&page.finding, &recording->samples);

	if (!ret) {
		memledger_page_find_points(&page);
		ret = print_page(&page);
	}
	memledger_finding_free(&page.finding);
	return ret;
}
