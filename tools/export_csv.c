// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording in, a table of comma-separated values out: a line for each
 * sample, or for each name in each. What is unavailable is empty.
 */
#include "escape.h"
#include "export.h"

static const char *row_name(unsigned int row)
{
	if (row >= MEMLEDGER_SAMPLE_UNKNOWN)
		return memledger_unknown_names[row - MEMLEDGER_SAMPLE_UNKNOWN];
	if (row >= MEMLEDGER_SAMPLE_CATEGORIES)
		return memledger_category_names[row -
						MEMLEDGER_SAMPLE_CATEGORIES];
	return "total";
}

static void print_heading(FILE *out)
{
	unsigned int i;

	fputs("time_ns,tgid,start_ticks,generation,complete,walk_ns,unavailable",
	      out);
	for (i = 0; i < MEMLEDGER_SAMPLE_ROWS; i++) {
		/* A class and a category may be called alike. */
		const char *in = i >= MEMLEDGER_SAMPLE_UNKNOWN ? "unknown." :
								 "";

#define X(field) fprintf(out, ",%s%s." #field, in, row_name(i));
		MEMLEDGER_SAMPLE_FIELDS(X)
#undef X
	}
#define X(field) fputs(",graphics." #field, out);
	MEMLEDGER_GRAPHICS_FIELDS(X)
#undef X
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++)
		fprintf(out, ",graphics.usage.%s",
			memledger_gpu_usage_names[i]);
	fputs(",dmabuf_count,dmabuf_rss,dmabuf_pss\n", out);
}

static void print_number(FILE *out, u64 number, bool known)
{
	if (known)
		fprintf(out, ",%llu", number);
	else
		putc(',', out);
}

static void print_row(FILE *out, const struct memledger_sample *sample,
		      unsigned int row)
{
	const struct memledger_sample_row *numbers = &sample->row[row];
	bool known = memledger_sample_has_row(sample, row);
	bool swap_pss = known && !(sample->unavailable &
				   MEMLEDGER_UNAVAILABLE_SWAP_PSS);

#define X(field)							\
	print_number(out, numbers->field,				\
		     &numbers->field == &numbers->swap_pss ? swap_pss : known);
	MEMLEDGER_SAMPLE_FIELDS(X)
#undef X
}

static void print_sample(FILE *out, const struct memledger_sample *sample)
{
	bool gpu = !(sample->unavailable & MEMLEDGER_UNAVAILABLE_MTRACK);
	bool imported = gpu && !(sample->unavailable &
				 MEMLEDGER_UNAVAILABLE_IMPORTED);
	bool dmabuf = !(sample->unavailable & MEMLEDGER_SAMPLE_NO_DMABUF);
	const struct memledger_graphics *graphics = &sample->graphics;
	unsigned int i;

	fprintf(out, "%llu,%d", sample->time_ns, sample->tgid);
	print_number(out, sample->start_ticks,
		     !(sample->unavailable & MEMLEDGER_SAMPLE_NO_START));
	fprintf(out, ",%llu,%d,%llu,%u", sample->generation, sample->complete,
		sample->walk_ns, sample->unavailable);
	for (i = 0; i < MEMLEDGER_SAMPLE_ROWS; i++)
		print_row(out, sample, i);
#define X(field)							\
	print_number(out, graphics->field,				\
		     &graphics->field == &graphics->imported_mem ?	\
		     imported : gpu);
	MEMLEDGER_GRAPHICS_FIELDS(X)
#undef X
	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++)
		print_number(out, graphics->usage[i], gpu);
	print_number(out, sample->dmabuf_count, dmabuf);
	print_number(out, sample->dmabuf_rss, dmabuf);
	print_number(out, sample->dmabuf_pss, dmabuf);
	putc('\n', out);
}

/**
 * memledger_export_csv - print the samples, a line each
 * @out: where to
 * @recording: the recording
 */
void memledger_export_csv(FILE *out,
			  const struct memledger_recording *recording)
{
	size_t i;

	print_heading(out);
	for (i = 0; i < recording->samples.nr; i++)
		print_sample(out, &recording->samples.sample[i]);
}

/**
 * memledger_export_csv_names - print the names of the samples, a line each
 * @out: where to
 * @recording: the recording
 */
void memledger_export_csv_names(FILE *out,
				const struct memledger_recording *recording)
{
	size_t i, n;

	fputs("time_ns,tgid,what,category,bytes,count,name\n", out);
	for (i = 0; i < recording->samples.nr; i++) {
		const struct memledger_sample *sample =
			&recording->samples.sample[i];

		for (n = 0; n < sample->nr_names; n++) {
			const struct memledger_sample_name *name =
				&sample->name[n];
			bool mapped = name->what == MEMLEDGER_SAMPLE_MAPPINGS;
			char *text = memledger_escape_text(name->text, ",\"");

			fprintf(out, "%llu,%d,%s,%s,%llu,%llu,%s\n",
				sample->time_ns, sample->tgid,
				mapped ? "mappings" : "dmabuf",
				mapped ?
				memledger_category_names[name->category] : "",
				name->bytes, name->count, text ? text : "");
			free(text);
		}
	}
}
