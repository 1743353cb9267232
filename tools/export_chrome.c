// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording in; counters in the JSON of Chrome's trace events out, which
 * Perfetto's UI opens. Bytes throughout. What is unavailable is left out, and
 * so is what never had anything.
 */
#include "escape.h"
#include "export.h"
#include "json.h"

/*
 * Graphics memory has tracks of its own, below a process of its own: the number
 * is larger than any of a process can be (pid_max is 4194304 at most).
 */
#define GRAPHICS_PID	5000000

/**
 * struct trace - what is being printed
 * @out: where to
 * @recording: of what
 * @first: nothing has been printed yet
 * @rows: which rows ever had anything
 * @usages: which GPU usages ever had
 */
struct trace {
	FILE *out;
	const struct memledger_recording *recording;
	bool first;
	bool rows[MEMLEDGER_SAMPLE_ROWS];
	bool usages[NR_MEMLEDGER_GPU_USAGES];
};

/* Of an event all but what it is about, which the caller adds, and "}}". */
static void begin_event(struct trace *trace, const char *phase,
			const char *name, s64 pid, u64 time_ns)
{
	fputs(trace->first ? "\n" : ",\n", trace->out);
	trace->first = false;
	fprintf(trace->out, "{\"ph\":\"%s\",\"name\":", phase);
	memledger_escape_json(trace->out, name);
	/* Microseconds, by the definition of the format. */
	fprintf(trace->out, ",\"cat\":\"memledger\",\"pid\":%lld,\"tid\":%lld,\"ts\":%llu.%03llu",
		pid, pid, time_ns / 1000, time_ns % 1000);
}

static void begin_counter(struct trace *trace, const char *name, s64 pid,
			  const struct memledger_sample *sample)
{
	begin_event(trace, "C", name, pid, sample->time_ns);
	fputs(",\"args\":{", trace->out);
}

static void end_event(struct trace *trace)
{
	fputs("}}", trace->out);
}

static void find_used(struct trace *trace)
{
	const struct memledger_samples *samples = &trace->recording->samples;
	unsigned int n;
	size_t i;

	for (i = 0; i < samples->nr; i++) {
		const struct memledger_sample *sample = &samples->sample[i];

		for (n = 0; n < MEMLEDGER_SAMPLE_ROWS; n++)
			trace->rows[n] |= sample->row[n].pss ||
					  sample->row[n].swap_pss ||
					  sample->row[n].swap;
		for (n = 0; n < NR_MEMLEDGER_GPU_USAGES; n++)
			trace->usages[n] |= !!sample->graphics.usage[n];
	}
}

/* Readers of the format refuse a counter of nothing. */
static bool has_rows(const struct trace *trace,
		     const struct memledger_sample *sample, unsigned int from,
		     unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++)
		if (trace->rows[i] && memledger_sample_has_row(sample, i))
			return true;
	return false;
}

/* Pss or SwapPss, row by row. */
static void print_rows(struct trace *trace, const char *name, bool swap,
		       const struct memledger_sample *sample,
		       unsigned int from, unsigned int to,
		       const char *const *labels)
{
	bool first = true;
	unsigned int i;

	if ((swap && sample->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS) ||
	    !has_rows(trace, sample, from, to))
		return;
	begin_counter(trace, name, sample->tgid, sample);
	for (i = from; i < to; i++)
		if (trace->rows[i] && memledger_sample_has_row(sample, i))
			memledger_json_number(trace->out, &first,
					      labels[i - from], swap ?
					      sample->row[i].swap_pss :
					      sample->row[i].pss, true);
	end_event(trace);
}

static void print_total(struct trace *trace,
			const struct memledger_sample *sample)
{
	const struct memledger_sample_row *total =
		&sample->row[MEMLEDGER_SAMPLE_TOTAL];
	bool first = true;

	begin_counter(trace, "total", sample->tgid, sample);
	memledger_json_number(trace->out, &first, "pss", total->pss, true);
	if (!(sample->unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS))
		memledger_json_number(trace->out, &first, "swap_pss",
				      total->swap_pss, true);
	memledger_json_number(trace->out, &first, "swap", total->swap, true);
	memledger_json_number(trace->out, &first, "rss", total->rss, true);
	end_event(trace);
}

static void print_usages(struct trace *trace,
			 const struct memledger_sample *sample)
{
	bool first = true;
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_GPU_USAGES; i++) {
		if (!trace->usages[i])
			continue;
		if (first)
			begin_counter(trace, "gpu usage",
				      GRAPHICS_PID + (s64)sample->tgid, sample);
		memledger_json_number(trace->out, &first,
				      memledger_gpu_usage_names[i],
				      sample->graphics.usage[i], true);
	}
	if (!first)
		end_event(trace);
}

static void print_gpu(struct trace *trace,
		      const struct memledger_sample *sample)
{
	const struct memledger_graphics *graphics = &sample->graphics;
	bool first = true;

	if (sample->unavailable & MEMLEDGER_UNAVAILABLE_MTRACK)
		return;
	begin_counter(trace, "gpu", GRAPHICS_PID + (s64)sample->tgid, sample);
	memledger_json_number(trace->out, &first, "gpumem_mapped",
			      graphics->gpumem_mapped, true);
	memledger_json_number(trace->out, &first, "gpumem_unmapped",
			      graphics->gpumem_unmapped, true);
	if (!(sample->unavailable & MEMLEDGER_UNAVAILABLE_IMPORTED))
		memledger_json_number(trace->out, &first, "imported_mem",
				      graphics->imported_mem, true);
	end_event(trace);
	print_usages(trace, sample);
}

static void print_dmabufs(struct trace *trace,
			  const struct memledger_sample *sample)
{
	bool first = true;

	if (sample->unavailable & MEMLEDGER_SAMPLE_NO_DMABUF)
		return;
	begin_counter(trace, "dmabuf", GRAPHICS_PID + (s64)sample->tgid,
		      sample);
	memledger_json_number(trace->out, &first, "rss", sample->dmabuf_rss,
			      true);
	memledger_json_number(trace->out, &first, "pss", sample->dmabuf_pss,
			      true);
	end_event(trace);
}

static void print_sample(struct trace *trace,
			 const struct memledger_sample *sample)
{
	print_total(trace, sample);
	print_rows(trace, "pss", false, sample, MEMLEDGER_SAMPLE_CATEGORIES,
		   MEMLEDGER_SAMPLE_UNKNOWN, memledger_category_names);
	print_rows(trace, "swap_pss", true, sample,
		   MEMLEDGER_SAMPLE_CATEGORIES, MEMLEDGER_SAMPLE_UNKNOWN,
		   memledger_category_names);
	print_rows(trace, "unknown", false, sample, MEMLEDGER_SAMPLE_UNKNOWN,
		   MEMLEDGER_SAMPLE_ROWS, memledger_unknown_names);
	print_gpu(trace, sample);
	print_dmabufs(trace, sample);
}

/**
 * memledger_export_comm - find the name of a process
 * @recording: in which
 * @tgid: its number
 * @len: gets the length of the name
 *
 * Return: the name, not NUL-terminated: the last one that it had when a session
 * began.
 */
const char *memledger_export_comm(const struct memledger_recording *recording,
				  s32 tgid, size_t *len)
{
	char number[32];
	size_t i;

	snprintf(number, sizeof(number), " [%d]", tgid);
	for (i = recording->nr_environments; i--;) {
		const char *key = NULL, *value;

		while ((key = memledger_environment_next(&recording->environment[i],
							 key, &value))) {
			const char *end = strrchr(value, ' ');

			if (strcmp(key, "process") || !end ||
			    strcmp(end, number))
				continue;
			*len = end - value;
			return value;
		}
	}
	*len = 0;
	return "";
}

static void name_process(struct trace *trace, s64 pid, s32 tgid,
			 const char *what)
{
	char name[128];
	size_t len;
	const char *comm = memledger_export_comm(trace->recording, tgid, &len);
	bool first = true;

	snprintf(name, sizeof(name), "%.*s%s%s", (int)(len > 64 ? 64 : len),
		 comm, len ? " " : "", what);
	begin_event(trace, "M", "process_name", pid, 0);
	fputs(",\"args\":{", trace->out);
	memledger_json_string(trace->out, &first, "name", name);
	end_event(trace);
}

/* Each process once, and again where another one has its number. */
static void name_processes(struct trace *trace)
{
	const struct memledger_samples *samples = &trace->recording->samples;
	size_t i, before;

	for (i = 0; i < samples->nr; i++) {
		s32 tgid = samples->sample[i].tgid;

		for (before = 0; before < i; before++)
			if (samples->sample[before].tgid == tgid)
				break;
		/* Nearly always the first one is it. */
		if (before < i)
			continue;
		name_process(trace, tgid, tgid, "memory");
		name_process(trace, GRAPHICS_PID + (s64)tgid, tgid,
			     "graphics memory");
	}
}

static void print_instant(struct trace *trace, const char *name, s32 tgid,
			  u64 time_ns)
{
	begin_event(trace, "i", name, tgid, time_ns);
	fputs(",\"s\":\"p\",\"args\":{", trace->out);
}

static void print_moments(struct trace *trace)
{
	const struct memledger_recording *recording = trace->recording;
	const struct memledger_samples *samples = &recording->samples;
	bool first;
	size_t i;

	for (i = 0; i < recording->nr_marks; i++) {
		print_instant(trace, recording->mark[i].label,
			      recording->mark[i].tgid,
			      recording->mark[i].time_ns);
		end_event(trace);
	}
	for (i = 0; i < recording->nr_retained; i++) {
		const struct memledger_retained *retained =
			&recording->retained[i];

		print_instant(trace, "retained", retained->tgid,
			      retained->time_ns);
		first = true;
		memledger_json_string(trace->out, &first, "what",
				      retained->what);
		memledger_json_number(trace->out, &first, "id", retained->id,
				      true);
		memledger_json_number(trace->out, &first, "size",
				      retained->size, true);
		memledger_json_string(trace->out, &first, "holders",
				      retained->holders);
		end_event(trace);
	}
	for (i = 1; i < samples->nr; i++)
		if (!memledger_sample_same_process(&samples->sample[i - 1],
						   &samples->sample[i])) {
			print_instant(trace, "another process",
				      samples->sample[i].tgid,
				      samples->sample[i].time_ns);
			end_event(trace);
		}
}

static void print_environment(FILE *out,
			      const struct memledger_environment *environment)
{
	const char *key = NULL, *value;
	bool first = true;

	while ((key = memledger_environment_next(environment, key, &value)))
		memledger_json_string(out, &first, key, value);
}

/**
 * memledger_export_chrome - print the samples as trace events
 * @out: where to
 * @recording: the recording
 */
void memledger_export_chrome(FILE *out,
			     const struct memledger_recording *recording)
{
	struct trace trace = {
		.out = out,
		.recording = recording,
		.first = true,
	};
	size_t i;

	find_used(&trace);
	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{", out);
	if (recording->nr_environments)
		print_environment(out, &recording->environment[recording->nr_environments -
							       1]);
	fputs("},\"traceEvents\":[", out);
	name_processes(&trace);
	for (i = 0; i < recording->samples.nr; i++)
		print_sample(&trace, &recording->samples.sample[i]);
	print_moments(&trace);
	fputs("\n]}\n", out);
}
