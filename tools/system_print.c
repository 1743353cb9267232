// SPDX-License-Identifier: GPL-2.0-only
/*
 * All processes in; the lists of dumpsys meminfo without a process out: by
 * process, by OOM adjustment, by category, and the lines about all RAM.
 */
#include <stdlib.h>

#include "escape.h"
#include "procrank.h"
#include "sizes.h"

/*
 * As ActivityManagerService has them: a process is in the first class whose
 * number is not above its own while the next class's is. So nothing is ever
 * Perceptible Low, which stands before a smaller number.
 */
static const struct {
	int adj;
	const char *label;
} classes[] = {
	{ -1000, "Native" },
	{ -900, "System" },
	{ -800, "Persistent" },
	{ -700, "Persistent Service" },
	{ 0, "Foreground" },
	{ 100, "Visible" },
	{ 200, "Perceptible" },
	{ 250, "Perceptible Low" },
	{ 225, "Perceptible Medium" },
	{ 300, "Backup" },
	{ 400, "Heavy Weight" },
	{ 500, "A Services" },
	{ 600, "Home" },
	{ 700, "Previous" },
	{ 800, "B Services" },
	{ 900, "Cached" },
};

#define NO_CLASS	ARRAY_SIZE(classes)

/* What is listed: a number of dumpsys's, which includes SwapPss where PSS is. */
static u64 number(const struct memledger_system_row *row, bool pss)
{
	return pss ? row->pss_floor + row->swap_pss_floor : row->rss;
}

static size_t class_of(int adj)
{
	size_t i;

	if (adj == MEMLEDGER_NO_ADJ)
		return NO_CLASS;
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (adj >= classes[i].adj &&
		    (i + 1 == ARRAY_SIZE(classes) || adj < classes[i + 1].adj))
			break;
	return i;
}

static void print_item(FILE *out, const char *indent, u64 bytes,
		       const char *label)
{
	char text[MEMLEDGER_SIZE_TEXT_LEN];

	fprintf(out, "%s%12s: %s\n", indent, memledger_size_text(bytes, text),
		label);
}

static void print_process(FILE *out, const char *indent,
			  const struct memledger_system_process *process,
			  bool pss)
{
	char *name = memledger_escape_text(process->name, "");
	char *label = NULL;

	if (!name || asprintf(&label, "%s (pid %d)", name, process->pid) < 0)
		label = NULL;
	print_item(out, indent, number(&process->total, pss),
		   label ? label : "(out of memory)");
	free(label);
	free(name);
}

static void print_by_process(FILE *out, const struct memledger_system *system,
			     bool pss)
{
	size_t i;

	fprintf(out, "Total %s by process:\n", pss ? "PSS" : "RSS");
	for (i = 0; i < system->nr; i++)
		if (system->process[i].total.known)
			print_process(out, "", &system->process[i], pss);
	putc('\n', out);
}

static void print_class(FILE *out, const struct memledger_system *system,
			size_t class, bool pss)
{
	u64 sum = 0;
	size_t i, nr = 0;

	for (i = 0; i < system->nr; i++) {
		if (!system->process[i].total.known ||
		    class_of(system->process[i].adj) != class)
			continue;
		sum += number(&system->process[i].total, pss);
		nr++;
	}
	if (!nr)
		return;
	print_item(out, "", sum, class == NO_CLASS ?
		   "(has exited, or no known adjustment)" :
		   classes[class].label);
	for (i = 0; i < system->nr; i++)
		if (system->process[i].total.known &&
		    class_of(system->process[i].adj) == class)
			print_process(out, "    ", &system->process[i], pss);
}

static void print_by_class(FILE *out, const struct memledger_system *system,
			   bool pss)
{
	size_t class;

	fprintf(out, "Total %s by OOM adjustment:\n", pss ? "PSS" : "RSS");
	for (class = 0; class <= NO_CLASS; class++)
		print_class(out, system, class, pss);
	putc('\n', out);
}

/* A category's PSS is without SwapPss there. */
static u64 category_number(const struct memledger_system *system,
			   unsigned int category, bool pss)
{
	const struct memledger_system_row *row = &system->category[category];

	return pss ? row->pss_floor : row->rss;
}

/* Largest first, and otherwise in the order of the table. */
static void sort_categories(const struct memledger_system *system, bool pss,
			    unsigned int order[NR_MEMLEDGER_CATEGORIES])
{
	unsigned int i, at;

	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		u64 bytes = category_number(system, i, pss);

		for (at = i; at && category_number(system, order[at - 1], pss) <
		     bytes; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void print_by_category(FILE *out, const struct memledger_system *system,
			      bool pss)
{
	unsigned int order[NR_MEMLEDGER_CATEGORIES], i;

	fprintf(out, "Total %s by category:\n", pss ? "PSS" : "RSS");
	sort_categories(system, pss, order);
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		const char *label = memledger_category_labels[order[i]];

		if (!(system->info.profile->categories & (1U << order[i])))
			continue;
		if (system->category[order[i]].known)
			print_item(out, "", category_number(system, order[i],
							    pss), label);
		else
			fprintf(out, "%12s: %s\n", "-", label);
	}
	putc('\n', out);
}

/**
 * memledger_system_print - print what dumpsys meminfo does without a process
 * @out: where to
 * @live: the processes; are sorted
 * @ram: where all RAM has gone
 */
void memledger_system_print(FILE *out, struct memledger_system_live *live,
			    const struct memledger_ram *ram)
{
	struct memledger_system_order order = {
		.category = NR_MEMLEDGER_CATEGORIES,
	};
	struct memledger_system *system = &live->system;
	unsigned int pss;

	fputs("Applications Memory Usage (in Kilobytes):\n\n", out);
	for (pss = 0; pss < 2; pss++) {
		order.key = pss ? MEMLEDGER_SORT_TOTAL : MEMLEDGER_SORT_RSS;
		memledger_system_sort(system, &order);
		print_by_process(out, system, pss);
		print_by_class(out, system, pss);
		print_by_category(out, system, pss);
	}
	memledger_ram_print(out, ram);
	putc('\n', out);
	memledger_ram_print_terms(out, ram);
	memledger_pass_print_source(out, &system->info, live->file.source,
				    live->file.kernel);
}
