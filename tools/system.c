// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of the module's snapshot file in; processes, and the sums over all
 * of them, out. Columns are found by their names, so that others may come.
 */
#include <stdlib.h>

#include "array.h"
#include "escape.h"
#include "process.h"
#include "system.h"
#include "words.h"

static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
#define X(field) { #field, offsetof(struct memledger_system_row, field) },
	MEMLEDGER_SYSTEM_FIELDS(X)
#undef X
};

/* Where a column goes. */
enum target {
	TARGET_NONE,
	TARGET_TGID,
	TARGET_SHARES,
	TARGET_COMPLETE,
	TARGET_NUMBER,
	TARGET_COMM,
};

/**
 * struct column - a column of the text
 * @target: what is in it
 * @category: of a number: whose, or NR_MEMLEDGER_CATEGORIES for the process's
 * @offset: of a number: where in the row
 */
struct column {
	enum target target;
	unsigned int category;
	size_t offset;
};

struct columns {
	struct column *column;
	size_t nr;
};

static int fail_other_build(struct memledger_error *error)
{
	return memledger_error_set(error,
				   "the module's snapshot file has other columns than expected: use the tool that was built with the module");
}

static bool find_number(const char *name, struct column *column)
{
	unsigned int i, f;

	for (i = 0; i <= NR_MEMLEDGER_CATEGORIES; i++) {
		const char *field = name;

		if (i < NR_MEMLEDGER_CATEGORIES) {
			size_t len = strlen(memledger_category_names[i]);

			if (strncmp(name, memledger_category_names[i], len) ||
			    name[len] != '.')
				continue;
			field = name + len + 1;
		}
		for (f = 0; f < ARRAY_SIZE(fields); f++) {
			if (strcmp(field, fields[f].name))
				continue;
			*column = (struct column){ TARGET_NUMBER, i,
						   fields[f].offset };
			return true;
		}
	}
	return false;
}

static struct column make_column(const char *name)
{
	static const struct {
		const char *name;
		enum target target;
	} others[] = {
		{ "tgid", TARGET_TGID },
		{ "shares", TARGET_SHARES },
		{ "complete", TARGET_COMPLETE },
		{ "comm", TARGET_COMM },
	};
	struct column column = { .target = TARGET_NONE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i].name))
			column.target = others[i].target;
	if (column.target == TARGET_NONE)
		find_number(name, &column);
	return column;
}

/* Whether all that is needed is there, and comm is the last. */
static bool has_all(const struct columns *columns)
{
	/* vmas to swappable_pss, of a category those from rss on. */
	const size_t numbers = ARRAY_SIZE(fields) + 7 * NR_MEMLEDGER_CATEGORIES;
	size_t found[TARGET_COMM + 1] = {};
	size_t i;

	for (i = 0; i < columns->nr; i++)
		found[columns->column[i].target]++;
	return found[TARGET_TGID] == 1 && found[TARGET_SHARES] == 1 &&
	       found[TARGET_COMPLETE] == 1 && found[TARGET_COMM] == 1 &&
	       found[TARGET_NUMBER] == numbers &&
	       columns->column[columns->nr - 1].target == TARGET_COMM;
}

static int parse_columns(struct columns *columns, char *line,
			 struct memledger_error *error)
{
	struct column *more;
	char *word;

	while (line && (word = memledger_words_next(&line))) {
		more = memledger_array_grow(columns->column, columns->nr,
					    sizeof(*more));
		if (!more)
			return memledger_error_set(error, "no memory");
		columns->column = more;
		columns->column[columns->nr++] = make_column(word);
	}
	if (!columns->nr || !has_all(columns))
		return fail_other_build(error);
	return 0;
}

/**
 * memledger_pass_parse_begin - read the first line of a pass
 * @info: gets what it says
 * @line: the line, which is cut up; @info keeps parts of it
 *
 * Return: whether it makes sense.
 */
bool memledger_pass_parse_begin(struct memledger_pass_info *info, char *line)
{
	const char *profile;
	u64 abi;

	if (!memledger_words_expect(&line, "#") ||
	    !memledger_words_expect(&line, "memledger") ||
	    !memledger_words_number(&line, &abi) ||
	    !memledger_words_expect(&line, "start_ns") ||
	    !memledger_words_number(&line, &info->start_ns) ||
	    !memledger_words_expect(&line, "profile"))
		return false;
	profile = memledger_words_next(&line);
	info->profile = profile ? memledger_profile_find(profile) : NULL;
	if (!info->profile || !memledger_words_expect(&line, "page_size") ||
	    !memledger_words_number(&line, &info->page_size) ||
	    !memledger_words_expect(&line, "pss_method"))
		return false;
	info->pss_method = memledger_words_next(&line);
	return info->pss_method && memledger_words_expect(&line, "swap_pss") &&
	       memledger_words_bool(&line, &info->swap_pss) &&
	       memledger_words_expect(&line, "anon_names") &&
	       memledger_words_bool(&line, &info->anon_names);
}

/**
 * memledger_pass_parse_end - read the last line of a pass
 * @info: gets what it says
 * @line: the line, which is cut up
 *
 * Return: whether it makes sense.
 */
bool memledger_pass_parse_end(struct memledger_pass_info *info, char *line)
{
	return memledger_words_expect(&line, "#") &&
	       memledger_words_expect(&line, "end_ns") &&
	       memledger_words_number(&line, &info->end_ns) &&
	       memledger_words_expect(&line, "walk_ns") &&
	       memledger_words_number(&line, &info->walk_ns) &&
	       memledger_words_expect(&line, "processes") &&
	       memledger_words_number(&line, &info->nr) &&
	       memledger_words_expect(&line, "shared") &&
	       memledger_words_number(&line, &info->nr_shared) &&
	       memledger_words_expect(&line, "complete") &&
	       memledger_words_bool(&line, &info->complete);
}

static bool parse_number(struct memledger_system_process *process,
			 const struct column *column, char **line)
{
	struct memledger_system_row *row =
		column->category < NR_MEMLEDGER_CATEGORIES ?
		&process->category[column->category] : &process->total;
	bool known;

	if (!memledger_words_maybe(line,
				   (u64 *)((char *)row + column->offset),
				   &known))
		return false;
	if (column->offset == offsetof(struct memledger_system_row, rss))
		row->known = known;
	return true;
}

static bool parse_process(struct memledger_system_process *process,
			  const struct columns *columns, char *line)
{
	u64 number = 0;
	size_t i;

	for (i = 0; i < columns->nr; i++) {
		const struct column *column = &columns->column[i];
		bool good = false, known;

		switch (column->target) {
		case TARGET_TGID:
			good = memledger_words_number(&line, &number);
			process->pid = number;
			break;
		case TARGET_SHARES:
			good = memledger_words_optional(&line, &number);
			process->shares = number;
			break;
		case TARGET_COMPLETE:
			good = memledger_words_maybe(&line, &number, &known);
			process->complete = number || !known;
			break;
		case TARGET_NUMBER:
			good = parse_number(process, column, &line);
			break;
		case TARGET_COMM:
			good = line;
			process->comm = line;
			if (line)
				memledger_unescape(line);
			break;
		case TARGET_NONE:
			good = memledger_words_next(&line);
			break;
		}
		if (!good)
			return false;
	}
	return process->total.known == !process->shares;
}

static int parse_processes(struct memledger_system *system,
			   const struct columns *columns, char **text,
			   char **last, struct memledger_error *error)
{
	struct memledger_system_process *more;
	char *line;

	while ((line = memledger_words_line(text)) && *line != '#') {
		struct memledger_system_process process = {
			.adj = MEMLEDGER_NO_ADJ,
		};

		if (!parse_process(&process, columns, line))
			return memledger_error_set(error,
						   "the module's snapshot file has a line that makes no sense: use the tool that was built with the module");
		more = memledger_array_grow(system->process, system->nr,
					    sizeof(*more));
		if (!more)
			return memledger_error_set(error, "no memory");
		system->process = more;
		system->process[system->nr++] = process;
	}
	*last = line;
	return 0;
}

/**
 * memledger_system_row_add - add numbers to others
 * @sum: the numbers that grow; known from now on if either is
 * @row: the other ones
 */
void memledger_system_row_add(struct memledger_system_row *sum,
			      const struct memledger_system_row *row)
{
	sum->known |= row->known;
#define X(field) sum->field += row->field;
	MEMLEDGER_SYSTEM_FIELDS(X)
#undef X
}

static void add_up(struct memledger_system *system)
{
	const struct memledger_system_process *process;
	unsigned int c;
	size_t i;

	for (i = 0; i < system->nr; i++) {
		process = &system->process[i];
		memledger_system_row_add(&system->total, &process->total);
		for (c = 0; c < NR_MEMLEDGER_CATEGORIES; c++)
			memledger_system_row_add(&system->category[c],
						 &process->category[c]);
	}
}

static int parse(struct memledger_system *system, struct columns *columns,
		 char *text, struct memledger_error *error)
{
	char *line = memledger_words_line(&text);

	if (!line || !memledger_pass_parse_begin(&system->info, line))
		return fail_other_build(error);
	line = memledger_words_line(&text);
	if (parse_columns(columns, line, error) ||
	    parse_processes(system, columns, &text, &line, error))
		return -1;
	if (!line || *text || !memledger_pass_parse_end(&system->info, line) ||
	    system->info.nr != system->nr)
		return memledger_error_set(error,
					   "the module's snapshot file is cut off: try again");
	add_up(system);
	return 0;
}

/**
 * memledger_system_parse - read the module's snapshot file
 * @system: an empty one; the caller frees it, also where this fails
 * @text: the file's, which is cut up and has to stay
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_system_parse(struct memledger_system *system, char *text,
			   struct memledger_error *error)
{
	struct columns columns = {};
	int ret = parse(system, &columns, text, error);

	free(columns.column);
	return ret;
}

static int add_name(struct memledger_system_process *process, const char *proc,
		    bool foreign)
{
	char text[4096] = "";

	if (!foreign)
		memledger_process_read(proc, process->pid, "oom_score_adj",
				       text, sizeof(text));
	if (*text)
		process->adj = atoi(text);
	if (!foreign)
		memledger_process_read(proc, process->pid, "cmdline", text,
				       sizeof(text));
	process->name = strdup(*text ? text : process->comm);
	return process->name ? 0 : -1;
}

/**
 * memledger_system_add_names - find out how processes were called
 * @system: the processes; get their name and oom_score_adj
 * @proc: where proc is mounted
 * @error: what went wrong
 *
 * A process that has exited since keeps its comm, and so do all if @proc has
 * other numbers than the module.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_system_add_names(struct memledger_system *system,
			       const char *proc, struct memledger_error *error)
{
	size_t i;

	system->info.foreign = !memledger_process_has_numbers(proc);
	for (i = 0; i < system->nr; i++)
		if (add_name(&system->process[i], proc, system->info.foreign))
			return memledger_error_set(error, "no memory");
	return 0;
}

/**
 * memledger_system_free - free what has been parsed
 * @system: empty afterwards
 */
void memledger_system_free(struct memledger_system *system)
{
	size_t i;

	for (i = 0; i < system->nr; i++)
		free(system->process[i].name);
	free(system->process);
	*system = (struct memledger_system){};
}
