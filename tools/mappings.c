// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of the module's mappings file in; processes and their mappings out.
 */
#include <stdlib.h>

#include "array.h"
#include "escape.h"
#include "mappings.h"
#include "words.h"

static const char process_heading[] = "# process tgid shares complete comm";
static const char mapping_heading[] = "# mapping tgid"
#define X(field) " " #field
	MEMLEDGER_SYSTEM_FIELDS(X)
#undef X
	" perms deleted name";

static bool parse_process(struct memledger_system_process *process, char *line)
{
	u64 pid, shares, complete;
	bool known;

	if (!memledger_words_number(&line, &pid) ||
	    !memledger_words_optional(&line, &shares) ||
	    !memledger_words_maybe(&line, &complete, &known) || !line)
		return false;
	memledger_unescape(line);
	*process = (struct memledger_system_process){
		.pid = pid,
		.shares = shares,
		.complete = complete || !known,
		.adj = MEMLEDGER_NO_ADJ,
		.comm = line,
	};
	return true;
}

static bool parse_row(struct memledger_mapping_row *row, char *line)
{
	const char *perms, *deleted;
	bool good;
	u64 pid;

	*row = (struct memledger_mapping_row){};
	good = memledger_words_number(&line, &pid);
#define X(field)							\
	good = good && memledger_words_optional(&line, &row->usage.field);
	MEMLEDGER_SYSTEM_FIELDS(X)
#undef X
	if (!good)
		return false;
	perms = memledger_words_next(&line);
	deleted = memledger_words_next(&line);
	if (!perms || strlen(perms) != 4 || !deleted || !line)
		return false;
	row->pid = pid;
	row->usage.known = true;
	memcpy(row->perms, perms, sizeof(row->perms));
	row->deleted = !strcmp(deleted, "deleted");
	row->name = line;
	return row->deleted || !strcmp(deleted, "-");
}

static int add_process(struct memledger_mappings *mappings,
		       const struct memledger_system_process *process)
{
	struct memledger_system *system = &mappings->system;
	struct memledger_system_process *more;

	more = memledger_array_grow(system->process, system->nr,
				    sizeof(*more));
	if (!more)
		return -1;
	system->process = more;
	system->process[system->nr++] = *process;
	return 0;
}

static int add_row(struct memledger_mappings *mappings,
		   const struct memledger_mapping_row *row)
{
	struct memledger_mapping_row *more;

	more = memledger_array_grow(mappings->row, mappings->nr,
				    sizeof(*more));
	if (!more)
		return -1;
	mappings->row = more;
	mappings->row[mappings->nr++] = *row;
	return 0;
}

static int parse_line(struct memledger_mappings *mappings, char *line,
		      struct memledger_error *error)
{
	struct memledger_system *system = &mappings->system;
	struct memledger_system_process process;
	struct memledger_mapping_row row;
	const char *kind = memledger_words_next(&line);
	int ret;

	if (kind && !strcmp(kind, "process") && parse_process(&process, line)) {
		ret = add_process(mappings, &process);
	} else if (kind && !strcmp(kind, "mapping") && parse_row(&row, line) &&
		   system->nr && system->process[system->nr - 1].pid ==
		   row.pid) {
		row.process = system->nr - 1;
		ret = add_row(mappings, &row);
	} else {
		return memledger_error_set(error,
					   "the module's mappings file has a line that makes no sense: use the tool that was built with the module");
	}
	return ret ? memledger_error_set(error, "no memory") : 0;
}

/**
 * memledger_mappings_parse - read the module's mappings file
 * @mappings: an empty one; the caller frees it, also where this fails
 * @text: the file's, which is cut up and has to stay
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_mappings_parse(struct memledger_mappings *mappings, char *text,
			     struct memledger_error *error)
{
	struct memledger_pass_info *info = &mappings->system.info;
	char *first = memledger_words_line(&text);
	char *second = first ? memledger_words_line(&text) : NULL;
	char *line = second ? memledger_words_line(&text) : NULL;

	if (!line || !memledger_pass_parse_begin(info, first) ||
	    strcmp(second, process_heading) || strcmp(line, mapping_heading))
		return memledger_error_set(error,
					   "the module's mappings file has other columns than expected: use the tool that was built with the module");
	while ((line = memledger_words_line(&text)) && *line != '#')
		if (parse_line(mappings, line, error))
			return -1;
	if (!line || *text || !memledger_pass_parse_end(info, line) ||
	    info->nr != mappings->system.nr)
		return memledger_error_set(error,
					   "the module's mappings file is cut off: try again");
	return 0;
}

/**
 * memledger_mappings_free - free what has been parsed
 * @mappings: empty afterwards
 */
void memledger_mappings_free(struct memledger_mappings *mappings)
{
	memledger_system_free(&mappings->system);
	free(mappings->row);
	*mappings = (struct memledger_mappings){};
}
