// SPDX-License-Identifier: GPL-2.0-only
/*
 * All processes in; the columns of procrank out, byte by byte where the numbers
 * are known. What is not known is "-".
 */
#include <stdlib.h>

#include "escape.h"
#include "procrank.h"

/* What every line needs to know. */
struct table {
	FILE *out;
	bool oom;
	bool swap;		/* there is a swap device */
	bool zram;		/* and it is zram that is in use */
	bool swap_pss;
	u64 zram_used;
	u64 swap_used;
};

static void print_kb(FILE *out, int width, u64 bytes, bool known)
{
	if (known)
		fprintf(out, "%*lluK  ", width - 1, bytes >> 10);
	else
		fprintf(out, "%*s  ", width, "-");
}

/* Of what is in swap the part that zram has, compressed. */
static u64 zswap(const struct table *table, u64 swap_pss)
{
	if (!table->swap_used)
		return 0;
	return (double)swap_pss * table->zram_used / table->swap_used;
}

static void print_swap(const struct table *table,
		       const struct memledger_system_row *row)
{
	bool known = row->known && table->swap_pss;

	if (!table->swap)
		return;
	print_kb(table->out, 7, row->swap, row->known);
	print_kb(table->out, 7, row->swap_pss, known);
	/* How much of it nobody shares is not among the module's numbers. */
	print_kb(table->out, 7, 0, false);
	if (table->zram)
		print_kb(table->out, 7, zswap(table, row->swap_pss), known);
}

static void print_process(const struct table *table,
			  const struct memledger_system_process *process)
{
	const struct memledger_system_row *row = &process->total;
	char *name = memledger_escape_text(process->name, "");

	fprintf(table->out, "%5d  ", process->pid);
	if (table->oom && process->adj == MEMLEDGER_NO_ADJ)
		fprintf(table->out, "%5s  ", "-");
	else if (table->oom)
		fprintf(table->out, "%5d  ", process->adj);
	print_kb(table->out, 8, row->vss, row->known);
	print_kb(table->out, 7, row->rss, row->known);
	print_kb(table->out, 7, row->pss, row->known);
	print_kb(table->out, 7, row->uss, row->known);
	print_swap(table, row);
	fputs(name ? name : "(out of memory)", table->out);
	free(name);
	if (process->shares)
		fprintf(table->out, " (memory of %d)", process->shares);
	else if (!process->complete)
		fputs(" (incomplete)", table->out);
	putc('\n', table->out);
}

static void print_headings(const struct table *table)
{
	fprintf(table->out, "%5s  ", "PID");
	if (table->oom)
		fprintf(table->out, "%5s  ", "oom");
	fprintf(table->out, "%8s  %7s  %7s  %7s  ", "Vss", "Rss", "Pss",
		"Uss");
	if (table->swap)
		fprintf(table->out, "%7s  %7s  %7s  ", "Swap", "PSwap",
			"USwap");
	if (table->zram)
		fprintf(table->out, "%7s  ", "ZSwap");
	fputs("cmdline\n", table->out);
}

static void print_total(const struct table *table,
			const struct memledger_system_row *row)
{
	const char *dashes = "------";
	const char *oom = table->oom ? "       " : "";

	fprintf(table->out, "%5s  %s%8s  %7s  %7s  %7s  ", "", oom, "", "",
		dashes, dashes);
	if (table->swap)
		fprintf(table->out, "%7s  %7s  %7s  ", dashes, dashes, dashes);
	if (table->zram)
		fprintf(table->out, "%7s  ", dashes);
	fprintf(table->out, "%s\n%5s  %s%8s  %7s  ", dashes, "", oom, "", "");
	print_kb(table->out, 7, row->pss, true);
	print_kb(table->out, 7, row->uss, true);
	print_swap(table, row);
	fputs("TOTAL\n", table->out);
}

static void print_memory(const struct table *table,
			 const struct memledger_ram *ram)
{
	const u64 *term = ram->term;

	putc('\n', table->out);
	if (table->swap) {
		fputs("ZRAM: ", table->out);
		if (ram->known[MEMLEDGER_RAM_zram])
			fprintf(table->out, "%lluK",
				term[MEMLEDGER_RAM_zram] >> 10);
		else
			putc('-', table->out);
		fprintf(table->out,
			" physical used for %lluK in swap (%lluK total swap)\n",
			table->swap_used >> 10,
			term[MEMLEDGER_RAM_swap_total] >> 10);
	}
	fprintf(table->out,
		" RAM: %lluK total, %lluK free, %lluK buffers, %lluK cached, %lluK shmem, %lluK slab\n",
		term[MEMLEDGER_RAM_mem_total] >> 10,
		term[MEMLEDGER_RAM_mem_free] >> 10,
		term[MEMLEDGER_RAM_buffers] >> 10,
		term[MEMLEDGER_RAM_cached] >> 10,
		term[MEMLEDGER_RAM_shmem] >> 10,
		term[MEMLEDGER_RAM_slab] >> 10);
}

/**
 * memledger_procrank_print - print processes as procrank does
 * @out: where to
 * @live: the processes, sorted
 * @ram: with meminfo
 * @oom: with a column of oom_score_adj
 * @top: how many of them, 0 for all; sums are always of all
 */
void memledger_procrank_print(FILE *out,
			      const struct memledger_system_live *live,
			      const struct memledger_ram *ram, bool oom,
			      size_t top)
{
	const struct memledger_system *system = &live->system;
	struct table table = {
		.out = out,
		.oom = oom,
		.swap = ram->term[MEMLEDGER_RAM_swap_total],
		.swap_pss = system->info.swap_pss,
		.zram_used = ram->term[MEMLEDGER_RAM_zram],
		.swap_used = ram->term[MEMLEDGER_RAM_swap_total] -
			     ram->term[MEMLEDGER_RAM_swap_free],
	};
	size_t i;

	table.zram = table.swap && table.zram_used;
	print_headings(&table);
	for (i = 0; i < system->nr && (!top || i < top); i++)
		print_process(&table, &system->process[i]);
	print_total(&table, &system->total);
	print_memory(&table, ram);
	memledger_pass_print_source(out, &system->info, live->file.source,
				    live->file.kernel);
	if (table.swap)
		fputs("Unavailable: uswap (the module does not tell swap that nobody shares)\n",
		      out);
}
