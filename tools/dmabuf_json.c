// SPDX-License-Identifier: GPL-2.0-only
/*
 * DMA-BUFs as JSON: buffers with their holders, processes and exporters, in
 * bytes, null for what is unavailable.
 */
#include "dmabuf_listing.h"
#include "json.h"

static void number(FILE *out, bool *first, const char *key, u64 value)
{
	memledger_json_number(out, first, key, value, true);
}

static void print_holder(FILE *out, const struct memledger_dmabuf_holder *holder)
{
	bool first = true;

	putc('{', out);
	number(out, &first, "pid", holder->pid);
	memledger_json_string(out, &first, "comm", holder->comm);
	number(out, &first, "fds", holder->fds);
	number(out, &first, "maps", holder->maps);
	number(out, &first, "imports", holder->imports);
	number(out, &first, "mapped", holder->mapped);
	number(out, &first, "smaps_rss", holder->smaps_rss);
	number(out, &first, "smaps_pss", holder->smaps_pss);
	number(out, &first, "pss", holder->pss);
	putc('}', out);
}

static void print_buffers(FILE *out, const struct memledger_dmabufs *dmabufs)
{
	size_t i, j;

	for (i = 0; i < dmabufs->nr_buffers; i++) {
		const struct memledger_dmabuf *buffer = &dmabufs->buffers[i];
		bool first = true;

		fputs(i ? ",{" : "{", out);
		number(out, &first, "inode", buffer->inode);
		number(out, &first, "size", buffer->size);
		number(out, &first, "holders", buffer->nr_holders);
		memledger_json_string(out, &first, "exporter",
				      buffer->exporter);
		memledger_json_string(out, &first, "name", buffer->name);
		memledger_json_key(out, &first, "held_by");
		putc('[', out);
		for (j = 0; j < buffer->nr_listed; j++) {
			if (j)
				putc(',', out);
			print_holder(out, &dmabufs->holders[buffer->first + j]);
		}
		fputs("]}", out);
	}
}

static void print_processes(FILE *out,
			    const struct memledger_dmabuf_listing *listing)
{
	size_t i;

	for (i = 0; i < listing->nr_processes; i++) {
		const struct memledger_dmabuf_process *process =
			&listing->processes[i];
		bool first = true;

		fputs(i ? ",{" : "{", out);
		number(out, &first, "pid", process->pid);
		memledger_json_string(out, &first, "comm", process->comm);
		number(out, &first, "dmabuf_count", process->nr);
		number(out, &first, "dmabuf_rss", process->rss);
		number(out, &first, "dmabuf_pss", process->pss);
		number(out, &first, "dmabuf_smaps_rss", process->smaps_rss);
		number(out, &first, "dmabuf_smaps_pss", process->smaps_pss);
		putc('}', out);
	}
}

static void print_exporters(FILE *out, const struct memledger_dmabufs *dmabufs)
{
	size_t i;

	for (i = 0; i < dmabufs->nr_exporters; i++) {
		bool first = true;

		fputs(i ? ",{" : "{", out);
		memledger_json_string(out, &first, "exporter",
				      dmabufs->exporters[i].name);
		number(out, &first, "count", dmabufs->exporters[i].count);
		number(out, &first, "size", dmabufs->exporters[i].size);
		putc('}', out);
	}
}

static void print_totals(FILE *out, bool *first,
			 const struct memledger_dmabuf_listing *listing)
{
	const struct memledger_dmabuf_totals *totals = &listing->totals;
	bool all = listing->pid < 0;
	bool list = all && listing->dmabufs.list;

	number(out, first, "count", totals->count);
	number(out, first, "size", totals->size);
	number(out, first, "holders", listing->nr_processes);
	number(out, first, "dmabuf_rss", totals->rss);
	number(out, first, "dmabuf_pss", totals->pss);
	memledger_json_number(out, first, "unattributed_count",
			      totals->free_count, list);
	memledger_json_number(out, first, "unattributed_size",
			      totals->free_size, list);
	memledger_json_number(out, first, "sysfs_only_count",
			      listing->stats_count, listing->has_stats);
	memledger_json_number(out, first, "sysfs_only_size",
			      listing->stats_size, listing->has_stats);
}

/**
 * memledger_dmabuf_print_json - print DMA-BUFs as one JSON object
 * @out: where to
 * @listing: the DMA-BUFs
 */
void memledger_dmabuf_print_json(FILE *out,
				 const struct memledger_dmabuf_listing *listing)
{
	const struct memledger_dmabufs *dmabufs = &listing->dmabufs;
	bool first = true;

	putc('{', out);
	memledger_json_number(out, &first, "pid", listing->pid,
			      listing->pid >= 0);
	memledger_json_string(out, &first, "comm", listing->comm);
	number(out, &first, "generation", dmabufs->generation);
	memledger_json_bool(out, &first, "complete", dmabufs->complete);
	memledger_json_string(out, &first, "unit", "bytes");
	memledger_json_string(out, &first, "source", listing->source);
	memledger_json_string(out, &first, "kernel", listing->kernel);
	number(out, &first, "timestamp_ns", dmabufs->timestamp_ns);
	number(out, &first, "walk_ns", dmabufs->walk_ns);
	memledger_json_bool(out, &first, "list", dmabufs->list);
	print_totals(out, &first, listing);

	memledger_json_key(out, &first, "buffers");
	putc('[', out);
	print_buffers(out, dmabufs);
	putc(']', out);
	memledger_json_key(out, &first, "processes");
	putc('[', out);
	print_processes(out, listing);
	putc(']', out);
	memledger_json_key(out, &first, "exporters");
	putc('[', out);
	print_exporters(out, dmabufs);
	putc(']', out);
	memledger_reasons_print_json(out, &first, &listing->reasons);
	fputs("}\n", out);
}
