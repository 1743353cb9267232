// SPDX-License-Identifier: GPL-2.0-only
/*
 * DMA-BUFs in; the lists, the grid and the CSV of Android's dmabuf_dump out.
 * A number that is unavailable, 0 in dmabuf_dump, is "-", in CSV "N/A".
 */
#include <stdlib.h>

#include "dmabuf_listing.h"
#include "escape.h"

static const char grid_title[] =
"\n----------------------- DMA-BUF Table buffer x process --------------------------\n";

static const char incomplete[] =
"Incomplete: not every process and buffer was seen: counts and sizes are too\n"
"small, shares may be too large.\n";

/* Of a name that may be missing; to be freed, NULL without memory. */
static char *harmless(const char *name, bool csv)
{
	return memledger_escape_text(name ? name : "<unknown>",
				     csv ? "\"" : "");
}

static const char *shown(const char *text)
{
	return text ? text : "(out of memory)";
}

/* kB, or what stands for a number that is unavailable. */
static const char *kb_text(char text[32], u64 bytes, bool known, bool csv)
{
	if (known)
		snprintf(text, 32, "%llu", bytes >> 10);
	else
		snprintf(text, 32, "%s", csv ? "N/A" : "-");
	return text;
}

static void print_process_head(FILE *out, const struct memledger_dmabuf_process *process,
			       bool csv)
{
	char *comm = harmless(process->comm, csv);

	if (csv)
		fprintf(out, "\t%s:%llu\n"
			"\"Name\",\"Rss(kB)\",\"Pss(kB)\",\"nr_procs\",\"Inode\",\"Exporter\"\n",
			shown(comm), process->pid);
	else
		fprintf(out, "%16s:%-5llu\n%22s %16s %16s %16s %16s %22s\n",
			shown(comm), process->pid, "Name", "Rss", "Pss",
			"nr_procs", "Inode", "Exporter");
	free(comm);
}

static void print_process_buffer(FILE *out,
				 const struct memledger_dmabuf *buffer,
				 const struct memledger_dmabuf_holder *holder,
				 bool csv)
{
	char *name = harmless(buffer->name, csv);
	char *exporter = harmless(buffer->exporter, csv);
	/* dmabuf_dump quotes no exporter, and one with a comma is two then. */
	const char *quote = exporter && strchr(exporter, ',') ? "\"" : "";

	if (csv)
		fprintf(out, "\"%s\",%llu,%llu,%llu,%llu,%s%s%s\n",
			shown(name), buffer->size >> 10, holder->pss >> 10,
			buffer->nr_holders, buffer->inode, quote,
			shown(exporter), quote);
	else
		fprintf(out, "%22s %13llu kB %13llu kB %16llu %16llu  %22s\n",
			shown(name), buffer->size >> 10, holder->pss >> 10,
			buffer->nr_holders, buffer->inode, shown(exporter));
	free(name);
	free(exporter);
}

static void print_process_total(FILE *out, const struct memledger_dmabuf_process *process,
				bool csv)
{
	if (csv)
		fprintf(out, "\nPROCESS TOTAL\n"
			"\"Rss total(kB)\",\"Pss total(kB)\"\n%llu,%llu\n",
			process->rss >> 10, process->pss >> 10);
	else
		fprintf(out, "%22s %13llu kB %13llu kB %16s\n",
			"PROCESS TOTAL", process->rss >> 10,
			process->pss >> 10, "");
	fputs("----------------------\n", out);
}

static void print_totals(FILE *out,
			 const struct memledger_dmabuf_listing *listing,
			 bool csv)
{
	const struct memledger_dmabuf_totals *totals = &listing->totals;
	bool list = listing->dmabufs.list;
	bool known = listing->pid < 0 && (list || listing->has_stats);
	u64 nobodys = list ? totals->free_size : listing->stats_size;
	char total[32], kernel[32];

	kb_text(total, memledger_saturating_add(totals->held_size, nobodys),
		known, csv);
	kb_text(kernel, nobodys, known, csv);
	if (csv)
		fprintf(out, "\tTOTALS\n"
			"\"dmabuf total (kB)\",\"kernel_rss (kB)\",\"userspace_rss (kB)\",\"userspace_pss (kB)\"\n%s,%s,%llu,%llu\n",
			total, kernel, totals->rss >> 10, totals->pss >> 10);
	else
		fprintf(out,
			"dmabuf total: %s kB kernel_rss: %s kB userspace_rss: %llu kB userspace_pss: %llu kB\n",
			total, kernel, totals->rss >> 10, totals->pss >> 10);
}

static void print_processes(FILE *out,
			    const struct memledger_dmabuf_listing *listing,
			    bool csv)
{
	size_t i, j;

	for (i = 0; i < listing->nr_processes; i++) {
		const struct memledger_dmabuf_process *process =
			&listing->processes[i];

		print_process_head(out, process, csv);
		for (j = 0; j < process->nr; j++) {
			size_t buffer = process->holders[j]->buffer;

			print_process_buffer(out,
					     &listing->dmabufs.buffers[buffer],
					     process->holders[j], csv);
		}
		print_process_total(out, process, csv);
	}
	print_totals(out, listing, csv);
}

static void print_rule(FILE *out, const char *what)
{
	fprintf(out,
		"\n\n----------------------- %s -----------------------\n",
		what);
}

static void print_buffers(FILE *out, const struct memledger_dmabufs *dmabufs,
			  bool csv)
{
	size_t i;

	print_rule(out, "DMA-BUF per-buffer stats");
	fputs(csv ? "\"Dmabuf Inode\",\"Size(bytes)\",\"Exporter Name\"\n" :
	      "    Dmabuf Inode |     Size(bytes) |    Exporter Name                    |\n",
	      out);
	for (i = 0; i < dmabufs->nr_buffers; i++) {
		const struct memledger_dmabuf *buffer = &dmabufs->buffers[i];
		char *exporter = harmless(buffer->exporter, csv);

		/* There is a blank at the end of the line. */
		fprintf(out, csv ? "%llu,%llu,\"%s\"" :
			"%16llu |%16llu | %16s ", buffer->inode, buffer->size,
			shown(exporter));
		putc('\n', out);
		free(exporter);
	}
}

static void print_exporters(FILE *out,
			    const struct memledger_dmabuf_listing *listing,
			    bool csv)
{
	const struct memledger_dmabufs *dmabufs = &listing->dmabufs;
	const struct memledger_dmabuf_totals *totals = &listing->totals;
	size_t i;

	print_rule(out, "DMA-BUF exporter stats");
	fputs(csv ? "\"Exporter Name\",\"Total Count\",\"Total Size(bytes)\"\n" :
	      "      Exporter Name              | Total Count |     Total Size(bytes)   |\n",
	      out);
	for (i = 0; i < dmabufs->nr_exporters; i++) {
		const struct memledger_dmabuf_exporter *exporter =
			&dmabufs->exporters[i];
		char *name = harmless(exporter->name, csv);

		fprintf(out, csv ? "\"%s\",%llu,%llu\n" :
			"%32s | %12llu| %llu\n", shown(name), exporter->count,
			exporter->size);
		free(name);
	}

	print_rule(out, "DMA-BUF total stats");
	fprintf(out, csv ?
		"\"Total DMA-BUF count\",\"Total DMA-BUF size(bytes)\"\n%llu,%llu\n" :
		"Total DMA-BUF count: %llu, Total DMA-BUF size(bytes): %llu\n",
		totals->count, totals->size);
}

/* How many processes hold the buffer by a file descriptor, and by a map. */
static void count_references(const struct memledger_dmabufs *dmabufs,
			     const struct memledger_dmabuf *buffer,
			     size_t *fds, size_t *maps)
{
	const struct memledger_dmabuf_holder *holder;
	size_t i;

	*fds = 0;
	*maps = 0;
	for (i = 0; i < buffer->nr_listed; i++) {
		holder = &dmabufs->holders[buffer->first + i];
		*fds += holder->fds > 0;
		*maps += holder->maps > 0;
	}
}

/* A cell for each process, that of one without the buffer empty. */
static void print_grid_cells(FILE *out,
			     const struct memledger_dmabuf_listing *listing,
			     const struct memledger_dmabuf *buffer, bool csv)
{
	const struct memledger_dmabuf_holder *holder;
	size_t next = buffer->first;
	size_t i;

	/* Both are in the order of pids. */
	for (i = 0; i < listing->nr_processes; i++) {
		holder = next < buffer->first + buffer->nr_listed ?
			 &listing->dmabufs.holders[next] : NULL;
		if (!holder || holder->pid != listing->processes[i].pid) {
			fputs(csv ? ",\"\"" : "                    -- |", out);
			continue;
		}
		fprintf(out, csv ? ",\"%llu(%llu) refs\"" :
			"%9llu(%6llu) refs |", holder->fds, holder->maps);
		next++;
	}
	putc('\n', out);
}

static void print_grid_names(FILE *out,
			     const struct memledger_dmabuf_listing *listing,
			     const char *format, bool csv)
{
	size_t i;

	for (i = 0; i < listing->nr_processes; i++) {
		const struct memledger_dmabuf_process *process =
			&listing->processes[i];
		char *comm = harmless(process->comm, csv);

		fprintf(out, format, shown(comm), process->pid);
		free(comm);
	}
}

static void print_grid(FILE *out,
		       const struct memledger_dmabuf_listing *listing,
		       bool csv)
{
	const struct memledger_dmabufs *dmabufs = &listing->dmabufs;
	size_t i, fds, maps;

	fputs(grid_title, out);
	fputs(csv ? "\"Dmabuf Inode\",\"Size(kB)\",\"Fd Ref Counts\",\"Map Ref Counts\"" :
	      "    Dmabuf Inode |            Size |   Fd Ref Counts |  Map Ref Counts |",
	      out);
	print_grid_names(out, listing, csv ? ",\"%s:%llu\"" : "%16s:%-5llu |",
			 csv);
	putc('\n', out);
	for (i = 0; i < dmabufs->nr_buffers; i++) {
		const struct memledger_dmabuf *buffer = &dmabufs->buffers[i];

		count_references(dmabufs, buffer, &fds, &maps);
		fprintf(out, csv ? "%llu,%llu,%zu,%zu" :
			"%16llu |%13llu kB |%16zu |%16zu |", buffer->inode,
			buffer->size >> 10, fds, maps);
		print_grid_cells(out, listing, buffer, csv);
	}

	fputs("------------------------------------\n", out);
	if (csv) {
		fputs("\"Total Size(kB)\",", out);
		print_grid_names(out, listing, "\"%s:%llu size(kB)\",", csv);
		putc('\n', out);
	}
	fprintf(out, csv ? "%llu" : "TOTALS            %13llu kB |",
		listing->totals.size >> 10);
	if (!csv)
		fprintf(out, "%16s |%16s |", "n/a", "n/a");
	for (i = 0; i < listing->nr_processes; i++)
		fprintf(out, csv ? ",%llu" : "%19llu kB |",
			listing->processes[i].rss >> 10);
	putc('\n', out);
}

static void print_count(FILE *out, const char *where, u64 count, u64 size,
			const char *why)
{
	fprintf(out, "%s: %llu buffer%s, %llu kB: %s\n", where, count,
		count == 1 ? "" : "s", size >> 10, why);
}

/* CSV has no place for any of this. */
static void print_source(FILE *out,
			 const struct memledger_dmabuf_listing *listing)
{
	const struct memledger_dmabufs *dmabufs = &listing->dmabufs;
	char where[600];

	fprintf(out,
		"\nSource: %s, kernel %s, snapshot %llu, taken %llu.%09llu s after boot in %llu.%03llu ms\n",
		listing->source, listing->kernel, dmabufs->generation,
		dmabufs->timestamp_ns / 1000000000,
		dmabufs->timestamp_ns % 1000000000, dmabufs->walk_ns / 1000000,
		dmabufs->walk_ns / 1000 % 1000);
	if (listing->pid < 0 && dmabufs->list)
		print_count(out, "Unattributed", listing->totals.free_count,
			    listing->totals.free_size,
			    "in flight, or held by drivers alone");
	snprintf(where, sizeof(where), "In %s alone", listing->stats);
	if (listing->has_stats)
		print_count(out, where, listing->stats_count,
			    listing->stats_size,
			    "in flight, held by drivers alone, or there at one of the two readings only");
	memledger_reasons_print(out, &listing->reasons);
	if (!dmabufs->complete)
		fputs(incomplete, out);
}

/**
 * memledger_dmabuf_print - print DMA-BUFs as dmabuf_dump does
 * @out: where to
 * @listing: the DMA-BUFs
 * @by: which of its forms
 * @csv: as CSV instead of text
 *
 * Names are made harmless for a terminal.
 */
void memledger_dmabuf_print(FILE *out,
			    const struct memledger_dmabuf_listing *listing,
			    enum memledger_dmabuf_by by, bool csv)
{
	switch (by) {
	case MEMLEDGER_DMABUF_BY_PROCESS:
		print_processes(out, listing, csv);
		break;
	case MEMLEDGER_DMABUF_BY_BUFFER:
		print_buffers(out, &listing->dmabufs, csv);
		print_exporters(out, listing, csv);
		break;
	case MEMLEDGER_DMABUF_BY_EXPORTER:
		print_exporters(out, listing, csv);
		break;
	case MEMLEDGER_DMABUF_GRID:
		print_grid(out, listing, csv);
		break;
	}
	if (!csv)
		print_source(out, listing);
}
