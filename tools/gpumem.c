// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of the module's gpumem file in; the same in the form of Android's
 * dumpsys gpu --gpumem, or JSON, out.
 */
#include <limits.h>
#include <stdlib.h>

#include "array.h"
#include "gpumem.h"
#include "json.h"
#include "reasons.h"
#include "words.h"

/* What a process has of a GPU, or, without a pid, what all have together. */
struct row {
	u64 gpu;
	u64 pid;
	u64 total;
	bool global;
	bool known;
	bool stale;	/* it has exited, and another process has its number */
};

/* All that the file says. */
struct gpumem {
	struct row *rows;
	size_t nr;
	bool in_gpu;
	bool has_counts;
	u64 since_ns;
	u64 events;
	u64 lost;
	u64 forgotten;
	const char *provider;	/* NULL: none */
	u64 provider_total;
	bool has_provider_total;
};

static const char caveats[] =
"The totals include imported buffers and user memory, and not protected memory;\n"
"of what was allocated before the switch was on they know only after the\n"
"process's next event. They are no part of any sum of DMA-BUFs.\n";

/**
 * memledger_gpumem_read_text - read the module's gpumem file
 * @module: the module
 * @text: gets its text, to be freed
 *
 * Return: 0, or -1 with the error set.
 */
int memledger_gpumem_read_text(const struct memledger_module *module,
			       char **text)
{
	int ret = memledger_module_read_table(module, "gpumem", text);
	char feature[32];

	if (!ret)
		return 0;
	if (ret != -EOPNOTSUPP)
		return memledger_module_fail_table(module, "gpumem", ret);
	if (!memledger_module_read(module, "features/gpu_totals", feature,
				   sizeof(feature)) && !strcmp(feature, "0"))
		return memledger_error_set(module->error,
					   "this kernel has no GPU totals: it was built without CONFIG_TRACE_GPU_MEM, or with CONFIG_PREEMPT_RT");
	return memledger_error_set(module->error,
				   "GPU totals are switched off: echo 1 > %s/kernel/memledger/gpu_totals; what was allocated before is unknown until its process's next event",
				   module->sysfs);
}

static int add_row(struct gpumem *gpumem, const struct row *row)
{
	struct row *rows = memledger_array_grow(gpumem->rows, gpumem->nr,
						sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	gpumem->rows = rows;
	rows[gpumem->nr++] = *row;
	return 0;
}

/* "Memory snapshot for GPU 0:" */
static bool parse_gpu(char *line, struct row *row)
{
	size_t len = strlen(line);

	if (!len || line[len - 1] != ':')
		return false;
	line[len - 1] = '\0';
	return memledger_words_expect(&line, "Memory") &&
	       memledger_words_expect(&line, "snapshot") &&
	       memledger_words_expect(&line, "for") &&
	       memledger_words_expect(&line, "GPU") &&
	       memledger_words_number(&line, &row->gpu) && !line &&
	       row->gpu <= UINT_MAX;
}

/* "Global total: 4096", "Global total: N/A" */
static bool parse_global(char *line, struct row *row)
{
	row->global = true;
	if (!memledger_words_expect(&line, "Global") ||
	    !memledger_words_expect(&line, "total:") || !line)
		return false;
	row->known = strcmp(line, "N/A");
	return !row->known ||
	       (memledger_words_number(&line, &row->total) && !line);
}

/* "Proc 12 total: 4096" */
static bool parse_process(char *line, struct row *row)
{
	row->known = true;
	return memledger_words_expect(&line, "Proc") &&
	       memledger_words_number(&line, &row->pid) &&
	       row->pid <= INT_MAX &&
	       memledger_words_expect(&line, "total:") &&
	       memledger_words_number(&line, &row->total) && !line;
}

/* A number and the comma behind it, if there is to be one. */
static bool parse_count(char **line, u64 *number, bool comma)
{
	char *word = memledger_words_next(line);
	size_t len = word ? strlen(word) : 0;

	if (!len || comma != (word[len - 1] == ','))
		return false;
	if (comma)
		word[len - 1] = '\0';
	return memledger_words_number(&word, number) && !word;
}

/* "# since 12, events 3, lost 0, forgotten 0" */
static bool parse_counts(struct gpumem *gpumem, char *line)
{
	gpumem->has_counts = true;
	return parse_count(&line, &gpumem->since_ns, true) &&
	       memledger_words_expect(&line, "events") &&
	       parse_count(&line, &gpumem->events, true) &&
	       memledger_words_expect(&line, "lost") &&
	       parse_count(&line, &gpumem->lost, true) &&
	       memledger_words_expect(&line, "forgotten") &&
	       parse_count(&line, &gpumem->forgotten, false) && !line;
}

/* "# provider NAME total 4096", "# provider NAME total unavailable" */
static bool parse_provider(struct gpumem *gpumem, char *line)
{
	gpumem->provider = memledger_words_next(&line);
	if (!gpumem->provider || !memledger_words_expect(&line, "total") ||
	    !line)
		return false;
	gpumem->has_provider_total = strcmp(line, "unavailable");
	return !gpumem->has_provider_total ||
	       (memledger_words_number(&line, &gpumem->provider_total) &&
		!line);
}

/* "# Proc 12 has exited, ...", behind its row. */
static bool parse_stale(struct gpumem *gpumem, char *line)
{
	struct row *last = gpumem->nr ? gpumem->rows + gpumem->nr - 1 : NULL;
	u64 pid;

	if (!last || last->global || !memledger_words_number(&line, &pid) ||
	    pid != last->pid)
		return false;
	last->stale = true;
	return true;
}

/* Other comments are for people. */
static bool parse_comment(struct gpumem *gpumem, char *line)
{
	char *word;

	memledger_words_next(&line);
	if (!line)
		return true;
	if (!strncmp(line, "since ", 6)) {
		word = memledger_words_next(&line);
		return word && parse_counts(gpumem, line);
	}
	if (!strncmp(line, "provider ", 9)) {
		word = memledger_words_next(&line);
		return word && parse_provider(gpumem, line);
	}
	if (!strncmp(line, "Proc ", 5)) {
		word = memledger_words_next(&line);
		return word && parse_stale(gpumem, line);
	}
	return true;
}

static int parse_line(struct gpumem *gpumem, char *line)
{
	const struct row *last = gpumem->nr ? gpumem->rows + gpumem->nr - 1 :
			   NULL;
	struct row row = { .gpu = last ? last->gpu : 0 };

	if (!*line)
		return 0;
	if (*line == '#')
		return parse_comment(gpumem, line) ? 0 : -EINVAL;
	/* A GPU's heading, its global total, its processes, in this order. */
	if (!strncmp(line, "Memory", 6)) {
		if (gpumem->in_gpu || !parse_gpu(line, &row) ||
		    (last && row.gpu <= last->gpu))
			return -EINVAL;
		gpumem->in_gpu = true;
		row.global = true;
		return add_row(gpumem, &row);
	}
	if (!last)
		return -EINVAL;
	if (gpumem->in_gpu) {
		if (!parse_global(line, &row))
			return -EINVAL;
		gpumem->in_gpu = false;
		gpumem->rows[gpumem->nr - 1] = row;
		return 0;
	}
	if (!parse_process(line, &row) ||
	    (!last->global && row.pid <= last->pid))
		return -EINVAL;
	return add_row(gpumem, &row);
}

static int parse(struct gpumem *gpumem, char *text,
		 struct memledger_error *error)
{
	char *line;
	int ret = 0;

	while (!ret && (line = memledger_words_line(&text)))
		ret = parse_line(gpumem, line);
	if (ret == -ENOMEM)
		return memledger_error_set(error, "no memory");
	if (ret)
		return memledger_error_set(error,
					   "the module's gpumem file is not as expected: use the tool that was built with the module");
	/* Its comments end the file. */
	if (*text || gpumem->in_gpu || !gpumem->has_counts)
		return memledger_error_set(error,
					   "the module's gpumem file is cut off: try again");
	return 0;
}

static void print_comparison(FILE *out, const struct gpumem *gpumem)
{
	const struct row *global = gpumem->nr ? gpumem->rows : NULL;

	if (!gpumem->provider) {
		fputs("No GPU driver has told memledger its own total.\n", out);
		return;
	}
	if (!gpumem->has_provider_total) {
		fprintf(out, "GPU driver %s: its own total is unavailable.\n",
			gpumem->provider);
		return;
	}
	fprintf(out, "GPU driver %s: its own total is %llu, without imports",
		gpumem->provider, gpumem->provider_total);
	if (global && !global->gpu && global->known) {
		bool more = global->total > gpumem->provider_total;
		u64 by = more ? global->total - gpumem->provider_total :
			 gpumem->provider_total - global->total;

		fprintf(out, "; the tracepoint's of GPU 0 is %llu %s", by,
			more ? "more" : "less");
	}
	fputs(".\n", out);
}

static void print_text(FILE *out, const struct gpumem *gpumem,
		       const char *source, const char *kernel)
{
	size_t i;

	for (i = 0; i < gpumem->nr; i++) {
		const struct row *row = &gpumem->rows[i];

		if (!row->global)
			fprintf(out, "Proc %llu total: %llu\n", row->pid,
				row->total);
		else if (row->known)
			fprintf(out,
				"Memory snapshot for GPU %llu:\nGlobal total: %llu\n",
				row->gpu, row->total);
		else
			fprintf(out,
				"Memory snapshot for GPU %llu:\nGlobal total: N/A\n",
				row->gpu);
	}
	if (!gpumem->nr)
		fputs("No event yet: nothing is known.\n", out);
	fprintf(out,
		"\nSource: %s, kernel %s; events %llu, lost %llu, forgotten %llu, since %llu.%09llu s after boot\n",
		source, kernel, gpumem->events, gpumem->lost,
		gpumem->forgotten, gpumem->since_ns / 1000000000,
		gpumem->since_ns % 1000000000);
	print_comparison(out, gpumem);
	for (i = 0; i < gpumem->nr; i++)
		if (gpumem->rows[i].stale)
			fprintf(out,
				"Of GPU %llu's Proc %llu: that process has exited, and another one has its number now.\n",
				gpumem->rows[i].gpu, gpumem->rows[i].pid);
	if (gpumem->lost)
		fprintf(out,
			"Incomplete: %llu events were lost: there was no room to note them.\n",
			gpumem->lost);
	fputs(caveats, out);
}

static void print_json_gpus(FILE *out, const struct gpumem *gpumem)
{
	size_t i;

	for (i = 0; i < gpumem->nr; i++) {
		const struct row *row = &gpumem->rows[i];
		bool first = true;

		if (row->global) {
			fputs(i ? "]},{" : "{", out);
			memledger_json_number(out, &first, "gpu", row->gpu,
					      true);
			memledger_json_number(out, &first, "global_total",
					      row->total, row->known);
			memledger_json_key(out, &first, "processes");
			putc('[', out);
			continue;
		}
		fputs(row[-1].global ? "{" : ",{", out);
		memledger_json_number(out, &first, "pid", row->pid, true);
		memledger_json_number(out, &first, "total", row->total, true);
		memledger_json_bool(out, &first, "stale", row->stale);
		putc('}', out);
	}
	if (gpumem->nr)
		fputs("]}", out);
}

static void print_json(FILE *out, const struct gpumem *gpumem,
		       const char *source, const char *kernel)
{
	struct memledger_reasons reasons = {};
	bool first = true;
	size_t i;

	putc('{', out);
	memledger_json_string(out, &first, "unit", "bytes");
	memledger_json_string(out, &first, "source", source);
	memledger_json_string(out, &first, "kernel", kernel);
	memledger_json_bool(out, &first, "complete", !gpumem->lost);
	memledger_json_number(out, &first, "since_ns", gpumem->since_ns, true);
	memledger_json_number(out, &first, "events", gpumem->events, true);
	memledger_json_number(out, &first, "lost", gpumem->lost, true);
	memledger_json_number(out, &first, "forgotten", gpumem->forgotten,
			      true);
	memledger_json_key(out, &first, "gpus");
	putc('[', out);
	print_json_gpus(out, gpumem);
	putc(']', out);
	memledger_json_string(out, &first, "provider", gpumem->provider);
	memledger_json_number(out, &first, "provider_total",
			      gpumem->provider_total,
			      gpumem->has_provider_total);

	for (i = 0; i < gpumem->nr; i++)
		if (gpumem->rows[i].global && !gpumem->rows[i].known)
			break;
	if (i < gpumem->nr)
		memledger_reasons_add(&reasons, "global_total",
				      "of some GPU there was no event for all processes together");
	if (!gpumem->provider)
		memledger_reasons_add(&reasons, "provider",
				      "no GPU driver has registered with memledger");
	if (!gpumem->has_provider_total)
		memledger_reasons_add(&reasons, "provider_total",
				      gpumem->provider ?
				      "the GPU driver cannot tell" :
				      "no GPU driver has registered with memledger");
	memledger_reasons_print_json(out, &first, &reasons);
	fputs("}\n", out);
}

/**
 * memledger_gpumem_print - print the totals of GPUs and processes
 * @out: where to
 * @text: of the module's gpumem file, which is cut up
 * @source: that file
 * @kernel: release of the running kernel
 * @json: as JSON
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_gpumem_print(FILE *out, char *text, const char *source,
			   const char *kernel, bool json,
			   struct memledger_error *error)
{
	struct gpumem gpumem = {};
	int ret = parse(&gpumem, text, error);

	if (!ret && json)
		print_json(out, &gpumem, source, kernel);
	else if (!ret)
		print_text(out, &gpumem, source, kernel);
	free(gpumem.rows);
	return ret;
}
