// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mappings of all processes in; names, the largest PSS first, and below
 * each the processes that map it, out.
 */
#include <stdlib.h>

#include "array.h"
#include "escape.h"
#include "librank.h"

/* Of a process, all mappings of a name. */
struct user {
	const struct memledger_system_process *process;
	struct memledger_system_row usage;
};

/**
 * struct library - a name and who maps it
 * @name: the name
 * @deleted: the file is gone
 * @usage: what all of them have
 * @user: who; part of an array of all
 * @nr: how many
 */
struct library {
	const char *name;
	bool deleted;
	struct memledger_system_row usage;
	struct user *user;
	size_t nr;
};

struct libraries {
	struct library *library;
	size_t nr;
	struct user *users;
};

static bool is_wanted(const struct memledger_mapping_row *row,
		      const struct memledger_librank_wanted *wanted)
{
	static const char letters[] = "rwx";
	bool has, wants;
	unsigned int i;

	if (wanted->prefix &&
	    strncmp(row->name, wanted->prefix, strlen(wanted->prefix)))
		return false;
	for (i = 0; wanted->perms && i < strlen(letters); i++) {
		has = row->perms[i] == letters[i];
		wants = strchr(wanted->perms, letters[i]);
		if (has != wants)
			return false;
	}
	return wanted->all ||
	       (*row->name && strcmp(row->name, "[heap]") &&
		strcmp(row->name, "[stack]"));
}

/* A file that is gone and one that took its place are two. */
static int compare_names(const struct memledger_mapping_row *a,
			 const struct memledger_mapping_row *b)
{
	int ret = strcmp(a->name, b->name);

	return ret ? ret : a->deleted - b->deleted;
}

static int compare_rows(const void *a, const void *b)
{
	const struct memledger_mapping_row *x = a, *y = b;
	int ret = compare_names(x, y);

	return ret ? ret : x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Of rows sorted by name and process. */
static int group(struct libraries *libraries,
		 const struct memledger_mappings *mappings)
{
	const struct memledger_mapping_row *last = NULL;
	struct library *more;
	struct user *user = libraries->users;
	size_t i;

	for (i = 0; i < mappings->nr; i++) {
		const struct memledger_mapping_row *row = &mappings->row[i];

		if (!last || compare_names(last, row)) {
			more = memledger_array_grow(libraries->library,
						    libraries->nr,
						    sizeof(*more));
			if (!more)
				return -1;
			libraries->library = more;
			more[libraries->nr++] = (struct library){
				.name = row->name,
				.deleted = row->deleted,
				.user = user,
			};
			last = NULL;
		}
		more = &libraries->library[libraries->nr - 1];
		if (!last || last->pid != row->pid) {
			*user++ = (struct user){
				.process = &mappings->system.process[row->process],
			};
			more->nr++;
		}
		memledger_system_row_add(&user[-1].usage, &row->usage);
		memledger_system_row_add(&more->usage, &row->usage);
		last = row;
	}
	return 0;
}

static int compare_libraries(const void *a, const void *b)
{
	const struct library *x = a, *y = b;
	int ret;

	if (x->usage.pss != y->usage.pss)
		return x->usage.pss < y->usage.pss ? 1 : -1;
	ret = strcmp(x->name, y->name);
	return ret ? ret : x->deleted - y->deleted;
}

static int compare_users(const void *a, const void *b, void *arg)
{
	const struct memledger_system_order *order = arg;
	const struct user *x = a, *y = b;
	u64 of_x = memledger_system_number(&x->usage, order->key);
	u64 of_y = memledger_system_number(&y->usage, order->key);

	if (of_x != of_y)
		return (of_x < of_y) == !order->reverse ? 1 : -1;
	return x->process->pid < y->process->pid ? -1 : 1;
}

static void keep_wanted(struct memledger_mappings *mappings,
			const struct memledger_librank_wanted *wanted)
{
	size_t i, nr = 0;

	for (i = 0; i < mappings->nr; i++)
		if (is_wanted(&mappings->row[i], wanted))
			mappings->row[nr++] = mappings->row[i];
	mappings->nr = nr;
}

static int make(struct libraries *libraries,
		struct memledger_mappings *mappings,
		const struct memledger_librank_wanted *wanted)
{
	size_t i;

	keep_wanted(mappings, wanted);
	if (!mappings->nr)
		return 0;
	qsort(mappings->row, mappings->nr, sizeof(*mappings->row),
	      compare_rows);
	libraries->users = calloc(mappings->nr, sizeof(*libraries->users));
	if (!libraries->users || group(libraries, mappings))
		return -1;
	qsort(libraries->library, libraries->nr, sizeof(*libraries->library),
	      compare_libraries);
	for (i = 0; i < libraries->nr; i++)
		qsort_r(libraries->library[i].user, libraries->library[i].nr,
			sizeof(struct user), compare_users,
			(void *)&wanted->order);
	return 0;
}

static void print_library(FILE *out, const struct library *library, bool swap)
{
	char *name = memledger_escape_text(library->name, "");
	size_t i;

	fprintf(out, "%6lluK   %7s   %6s   %6s   %6s  ",
		library->usage.pss >> 10, "", "", "", "");
	if (swap)
		fprintf(out, " %6s  ", "");
	fprintf(out, "%s%s\n", name && *name ? name : "[anon]",
		library->deleted ? " (deleted)" : "");
	free(name);
	for (i = 0; i < library->nr; i++) {
		const struct user *user = &library->user[i];
		const struct memledger_system_row *row = &user->usage;

		fprintf(out, " %6s  %7lluK  %6lluK  %6lluK  %6lluK  ", "",
			row->vss >> 10, row->rss >> 10, row->pss >> 10,
			row->uss >> 10);
		if (swap)
			fprintf(out, "%6lluK  ", row->swap >> 10);
		name = memledger_escape_text(user->process->name, "");
		fprintf(out, "  %s [%d]\n", name ? name : "(out of memory)",
			user->process->pid);
		free(name);
	}
}

static bool has_swap(const struct libraries *libraries)
{
	size_t i;

	for (i = 0; i < libraries->nr; i++)
		if (libraries->library[i].usage.swap)
			return true;
	return false;
}

static void print(FILE *out, const struct libraries *libraries, size_t top)
{
	bool swap = has_swap(libraries);
	size_t i;

	fprintf(out, " %6s   %7s   %6s   %6s   %6s  ", "RSStot", "VSS", "RSS",
		"PSS", "USS");
	if (swap)
		fprintf(out, " %6s  ", "Swap");
	fputs("Name/PID\n", out);
	for (i = 0; i < libraries->nr && (!top || i < top); i++)
		print_library(out, &libraries->library[i], swap);
	fputs("\nRSStot is the sum of PSS, as librank has it.\n", out);
}

static void print_json_usage(FILE *out, bool *first,
			     const struct memledger_system_row *row,
			     bool swap_pss)
{
#define MEMBER(field) \
	memledger_json_number(out, first, #field, row->field, true)
	MEMBER(vmas);
	MEMBER(vss);
	MEMBER(rss);
	MEMBER(pss);
	MEMBER(uss);
	MEMBER(swap);
#undef MEMBER
	memledger_json_number(out, first, "swap_pss", row->swap_pss, swap_pss);
}

static void print_json_library(FILE *out, const struct library *library,
			       bool swap_pss)
{
	bool first = true, first_member;
	size_t i;

	putc('{', out);
	memledger_json_string(out, &first, "name",
			      *library->name ? library->name : NULL);
	memledger_json_bool(out, &first, "deleted", library->deleted);
	print_json_usage(out, &first, &library->usage, swap_pss);
	memledger_json_key(out, &first, "processes");
	putc('[', out);
	for (i = 0; i < library->nr; i++) {
		const struct user *user = &library->user[i];

		first_member = true;
		fputs(i ? ",{" : "{", out);
		memledger_json_number(out, &first_member, "pid",
				      user->process->pid, true);
		memledger_json_string(out, &first_member, "name",
				      user->process->name);
		print_json_usage(out, &first_member, &user->usage, swap_pss);
		putc('}', out);
	}
	fputs("]}", out);
}

static void print_json(FILE *out, const struct libraries *libraries,
		       const struct memledger_pass_info *info,
		       const char *source, const char *kernel, size_t top)
{
	bool first = true;
	size_t i;

	putc('{', out);
	memledger_pass_print_json(out, &first, info, source, kernel);
	memledger_json_key(out, &first, "mappings");
	putc('[', out);
	for (i = 0; i < libraries->nr && (!top || i < top); i++) {
		if (i)
			putc(',', out);
		print_json_library(out, &libraries->library[i],
				   info->swap_pss);
	}
	fputs("]}\n", out);
}

/**
 * memledger_librank_print - list who maps what
 * @out: where to
 * @mappings: of all processes, with their names; what is not wanted is dropped
 * @wanted: what to list
 * @json: as JSON, and not as librank does
 * @source: the file that the mappings are from
 * @kernel: release of the running kernel
 *
 * Return: 0, or -1 without memory.
 */
int memledger_librank_print(FILE *out, struct memledger_mappings *mappings,
			    const struct memledger_librank_wanted *wanted,
			    bool json, const char *source, const char *kernel)
{
	const struct memledger_pass_info *info = &mappings->system.info;
	struct libraries libraries = {};
	int ret = make(&libraries, mappings, wanted);

	if (!ret && json) {
		print_json(out, &libraries, info, source, kernel, wanted->top);
	} else if (!ret) {
		print(out, &libraries, wanted->top);
		memledger_pass_print_source(out, info, source, kernel);
	}
	free(libraries.users);
	free(libraries.library);
	return ret;
}
