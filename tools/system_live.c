// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's snapshot file in; processes in the order that is asked for, and
 * as JSON, out.
 */
#include <stdlib.h>
#include <sys/utsname.h>

#include "escape.h"
#include "module.h"
#include "system_live.h"

/**
 * memledger_pass_file_read - read a file of the module about all processes
 * @file: what to fill; to be freed, also where this fails
 * @sysfs: where sysfs is mounted
 * @name: snapshot or mappings
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_pass_file_read(struct memledger_pass_file *file,
			     const char *sysfs, const char *name,
			     struct memledger_error *error)
{
	const struct memledger_module module = { sysfs, error };
	struct utsname uts;
	int ret;

	file->text = NULL;
	if (memledger_module_check(&module))
		return -1;
	ret = memledger_module_read_table(&module, name, &file->text);
	if (ret)
		return memledger_module_fail_table(&module, name, ret);
	uname(&uts);
	snprintf(file->kernel, sizeof(file->kernel), "%s", uts.release);
	snprintf(file->source, sizeof(file->source),
		 "%s/kernel/debug/memledger/%s", sysfs, name);
	return 0;
}

/**
 * memledger_pass_file_free - free what has been read
 * @file: of no use afterwards
 */
void memledger_pass_file_free(struct memledger_pass_file *file)
{
	free(file->text);
}

/**
 * memledger_system_live_read - take a snapshot of all processes
 * @live: what to fill; to be freed, also where this fails
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_system_live_read(struct memledger_system_live *live,
			       const char *sysfs, const char *proc,
			       struct memledger_error *error)
{
	live->system = (struct memledger_system){};
	if (memledger_pass_file_read(&live->file, sysfs, "snapshot", error) ||
	    memledger_system_parse(&live->system, live->file.text, error))
		return -1;
	return memledger_system_add_names(&live->system, proc, error);
}

/**
 * memledger_system_live_free - free what has been read
 * @live: of no use afterwards
 */
void memledger_system_live_free(struct memledger_system_live *live)
{
	memledger_system_free(&live->system);
	memledger_pass_file_free(&live->file);
}

/**
 * memledger_system_number - the number that processes are sorted by
 * @row: of a process or a category
 * @key: which one; MEMLEDGER_SORT_OOM is no number of a row
 *
 * Return: bytes.
 */
u64 memledger_system_number(const struct memledger_system_row *row,
			    enum memledger_system_key key)
{
	switch (key) {
	case MEMLEDGER_SORT_VSS:
		return row->vss;
	case MEMLEDGER_SORT_RSS:
		return row->rss;
	case MEMLEDGER_SORT_USS:
		return row->uss;
	case MEMLEDGER_SORT_SWAP:
		return row->swap;
	case MEMLEDGER_SORT_TOTAL:
		return row->pss_floor + row->swap_pss_floor;
	case MEMLEDGER_SORT_PSS:
	case MEMLEDGER_SORT_OOM:
		break;
	}
	return row->pss;
}

static int compare_numbers(u64 a, u64 b)
{
	return a == b ? 0 : a < b ? 1 : -1;
}

/* Above 0: @b comes first, if the largest does. */
static int compare_keys(const struct memledger_system_process *a,
			const struct memledger_system_process *b,
			const struct memledger_system_order *order)
{
	bool whole = order->category == NR_MEMLEDGER_CATEGORIES;
	const struct memledger_system_row *x, *y;

	if (order->key == MEMLEDGER_SORT_OOM && a->adj != b->adj)
		return a->adj < b->adj ? 1 : -1;
	x = whole ? &a->total : &a->category[order->category];
	y = whole ? &b->total : &b->category[order->category];
	return compare_numbers(memledger_system_number(x, order->key),
			       memledger_system_number(y, order->key));
}

/* Whose memory is counted with another comes last. Then by number. */
static int compare(const void *a, const void *b, void *arg)
{
	const struct memledger_system_process *x = a, *y = b;
	const struct memledger_system_order *order = arg;
	int ret;

	if (!x->shares != !y->shares)
		return x->shares ? 1 : -1;
	ret = compare_keys(x, y, order);
	if (ret)
		return order->reverse ? -ret : ret;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/**
 * memledger_system_sort - put processes in order
 * @system: the processes
 * @order: which order
 */
void memledger_system_sort(struct memledger_system *system,
			   const struct memledger_system_order *order)
{
	if (system->nr)
		qsort_r(system->process, system->nr, sizeof(*system->process),
			compare, (void *)order);
}

/**
 * memledger_pass_print_source - print which pass numbers are from
 * @out: where to
 * @info: the pass
 * @source: the file
 * @kernel: release of the running kernel
 */
void memledger_pass_print_source(FILE *out,
				 const struct memledger_pass_info *info,
				 const char *source, const char *kernel)
{
	char *text = memledger_escape_text(source, "");

	fprintf(out, "\nSource: %s, kernel %s, page size %llu, profile %s, PSS by %s\n",
		text ? text : "(out of memory)", kernel, info->page_size,
		info->profile->name, info->pss_method);
	free(text);
	fprintf(out,
		"One pass over %llu processes, from %llu.%09llu to %llu.%09llu s after boot, %llu us of work\n",
		info->nr, info->start_ns / 1000000000,
		info->start_ns % 1000000000, info->end_ns / 1000000000,
		info->end_ns % 1000000000, info->walk_ns / 1000);
	if (info->nr_shared)
		fprintf(out, "%llu of them %s the memory of another, and %s counted with it.\n",
			info->nr_shared, info->nr_shared == 1 ? "has" : "have",
			info->nr_shared == 1 ? "is" : "are");
	if (!info->swap_pss)
		fputs("Unavailable: swap_pss\n", out);
	if (!info->anon_names)
		fputs("Unavailable: anon_names\n", out);
	if (info->foreign)
		fputs("Unavailable: names oom_score_adj (proc has other numbers: see --proc)\n",
		      out);
	if (!info->complete)
		fputs("Incomplete: not everything could be seen; numbers are too small.\n",
		      out);
}

/**
 * memledger_pass_print_json - print which pass numbers are from, as members
 * @out: where to
 * @first: as for memledger_json_key()
 * @info: the pass
 * @source: the file
 * @kernel: release of the running kernel
 */
void memledger_pass_print_json(FILE *out, bool *first,
			       const struct memledger_pass_info *info,
			       const char *source, const char *kernel)
{
	memledger_json_string(out, first, "profile", info->profile->name);
	memledger_json_number(out, first, "start_ns", info->start_ns, true);
	memledger_json_number(out, first, "end_ns", info->end_ns, true);
	memledger_json_number(out, first, "walk_ns", info->walk_ns, true);
	memledger_json_bool(out, first, "complete", info->complete);
	memledger_json_string(out, first, "unit", "bytes");
	memledger_json_string(out, first, "source", source);
	memledger_json_string(out, first, "kernel", kernel);
	memledger_json_number(out, first, "page_size", info->page_size, true);
	memledger_json_string(out, first, "pss_method", info->pss_method);
	memledger_json_bool(out, first, "anon_names", info->anon_names);
	memledger_json_bool(out, first, "swap_pss", info->swap_pss);
}

static void print_json_row(FILE *out, bool *first,
			   const struct memledger_system_row *row,
			   bool swap_pss)
{
	memledger_json_number(out, first, "rss", row->rss, row->known);
	memledger_json_number(out, first, "pss", row->pss, row->known);
	memledger_json_number(out, first, "uss", row->uss, row->known);
	memledger_json_number(out, first, "swap", row->swap, row->known);
	memledger_json_number(out, first, "swap_pss", row->swap_pss,
			      row->known && swap_pss);
	memledger_json_number(out, first, "pss_floor", row->pss_floor,
			      row->known);
	memledger_json_number(out, first, "swap_pss_floor",
			      row->swap_pss_floor, row->known && swap_pss);
}

/* The whole of a process, or of all. */
static void print_json_total(FILE *out, bool *first, const char *key,
			     const struct memledger_system_row *row,
			     bool swap_pss)
{
	bool first_member = true;

	memledger_json_key(out, first, key);
	putc('{', out);
	print_json_row(out, &first_member, row, swap_pss);
#define MEMBER(field) \
	memledger_json_number(out, &first_member, #field, row->field, row->known)
	MEMBER(vmas);
	MEMBER(vss);
	MEMBER(private_dirty);
	MEMBER(shared_dirty);
	MEMBER(private_clean);
	MEMBER(shared_clean);
	MEMBER(swappable_pss);
#undef MEMBER
	putc('}', out);
}

static void print_json_categories(FILE *out, bool *first,
				  const struct memledger_system_row *rows,
				  const struct memledger_pass_info *info)
{
	bool first_row = true, first_member;
	unsigned int i;

	memledger_json_key(out, first, "category");
	putc('{', out);
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		if (!(info->profile->categories & (1U << i)))
			continue;
		memledger_json_key(out, &first_row,
				   memledger_category_names[i]);
		putc('{', out);
		first_member = true;
		print_json_row(out, &first_member, &rows[i], info->swap_pss);
		putc('}', out);
	}
	putc('}', out);
}

static void print_json_process(FILE *out,
			       const struct memledger_system_process *process,
			       const struct memledger_pass_info *info)
{
	bool first = true;

	putc('{', out);
	memledger_json_number(out, &first, "pid", process->pid, true);
	memledger_json_string(out, &first, "comm", process->comm);
	memledger_json_string(out, &first, "name", process->name);
	memledger_json_number(out, &first, "shares", process->shares,
			      process->shares);
	memledger_json_key(out, &first, "oom_score_adj");
	if (process->adj == MEMLEDGER_NO_ADJ)
		fputs("null", out);
	else
		fprintf(out, "%d", process->adj);
	memledger_json_bool(out, &first, "complete", process->complete);
	print_json_total(out, &first, "total", &process->total,
			 info->swap_pss);
	print_json_categories(out, &first, process->category, info);
	putc('}', out);
}

/**
 * memledger_system_print_json - print processes as members of a JSON object
 * @out: where to
 * @first: as for memledger_json_key()
 * @live: the processes
 * @top: how many of them, 0 for all; the sums are always of all
 */
void memledger_system_print_json(FILE *out, bool *first,
				 const struct memledger_system_live *live,
				 size_t top)
{
	const struct memledger_system *system = &live->system;
	size_t i;

	memledger_pass_print_json(out, first, &system->info, live->file.source,
				  live->file.kernel);
	print_json_total(out, first, "total", &system->total,
			 system->info.swap_pss);
	print_json_categories(out, first, system->category, &system->info);
	memledger_json_key(out, first, "processes");
	putc('[', out);
	for (i = 0; i < system->nr && (!top || i < top); i++) {
		if (i)
			putc(',', out);
		print_json_process(out, &system->process[i], &system->info);
	}
	putc(']', out);
}
