// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of one of the module's dmabuf files in; its buffers by process, the
 * sums, and what the kernel's own list of DMA-BUFs has beyond them, out.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "dmabuf_listing.h"

static const char *const ways[] = { "process", "buffer", "exporter" };

/**
 * memledger_dmabuf_by_parse - look up an order
 * @text: "process", "buffer" or "exporter"
 * @by: which of these
 *
 * Return: whether it is one.
 */
bool memledger_dmabuf_by_parse(const char *text, enum memledger_dmabuf_by *by)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!strcmp(text, ways[i])) {
			*by = i;
			return true;
		}
	}
	return false;
}

/* Size of a buffer in the kernel's own list; false if it has gone. */
static bool read_size(const char *stats, const char *inode, u64 *size)
{
	char path[800];
	bool good;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/size", stats, inode);
	file = fopen(path, "re");
	if (!file)
		return false;
	good = fscanf(file, "%llu", size) == 1;
	fclose(file);
	return good;
}

static void add_stats(struct memledger_dmabuf_listing *listing, DIR *dir)
{
	const struct dirent *entry;
	u64 inode, size;
	char *end;

	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		inode = strtoull(entry->d_name, &end, 10);
		if (*end || memledger_dmabufs_find(&listing->dmabufs, inode) ||
		    !read_size(listing->stats, entry->d_name, &size))
			continue;
		listing->stats_count++;
		listing->stats_size =
			memledger_saturating_add(listing->stats_size, size);
	}
}

/*
 * Where the module cannot list buffers that nobody holds, the kernel's own list
 * may; what is in that alone is no process's, or came or went between the two.
 */
static void compare_stats(struct memledger_dmabuf_listing *listing,
			  const char *sysfs)
{
	static const char *const names[] = {
		"unattributed_count", "unattributed_size",
		"sysfs_only_count", "sysfs_only_size",
	};
	struct memledger_reasons *reasons = &listing->reasons;
	unsigned int i;
	DIR *dir;

	if (listing->pid >= 0) {
		for (i = 0; i < ARRAY_SIZE(names); i++)
			memledger_reasons_add(reasons, names[i],
					      "of one process: leave PID out to see all");
		return;
	}
	for (i = 0; i < 2 && !listing->dmabufs.list; i++)
		memledger_reasons_add(reasons, names[i],
				      "this kernel lets no module list DMA-BUFs that no process holds");
	snprintf(listing->stats, sizeof(listing->stats),
		 "%s/kernel/dmabuf/buffers", sysfs);
	dir = opendir(listing->stats);
	if (!dir) {
		for (i = 2; i < ARRAY_SIZE(names); i++)
			memledger_reasons_add(reasons, names[i],
					      "there is no %.160s: this kernel lacks CONFIG_DMABUF_SYSFS_STATS",
					      listing->stats);
		return;
	}
	listing->has_stats = true;
	add_stats(listing, dir);
	closedir(dir);
}

static int compare_holders(const void *a, const void *b)
{
	const struct memledger_dmabuf_holder *one =
		*(const struct memledger_dmabuf_holder *const *)a;
	const struct memledger_dmabuf_holder *other =
		*(const struct memledger_dmabuf_holder *const *)b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	if (one->buffer != other->buffer)
		return one->buffer < other->buffer ? -1 : 1;
	return 0;
}

static void add_holder(struct memledger_dmabuf_listing *listing, size_t i)
{
	const struct memledger_dmabuf_holder *holder = listing->holders[i];
	u64 size = listing->dmabufs.buffers[holder->buffer].size;
	struct memledger_dmabuf_process *process =
		listing->processes + listing->nr_processes;

	if (i && process[-1].pid == holder->pid) {
		process--;
	} else {
		listing->nr_processes++;
		process->pid = holder->pid;
		process->comm = holder->comm;
		process->holders = listing->holders + i;
	}
	process->nr++;
	process->rss = memledger_saturating_add(process->rss, size);
	process->pss = memledger_saturating_add(process->pss, holder->pss);
	process->smaps_rss = memledger_saturating_add(process->smaps_rss,
						      holder->smaps_rss);
	process->smaps_pss = memledger_saturating_add(process->smaps_pss,
						      holder->smaps_pss);
}

static int find_processes(struct memledger_dmabuf_listing *listing)
{
	size_t nr = listing->dmabufs.nr_holders;
	size_t i;

	listing->holders = calloc(nr + 1, sizeof(*listing->holders));
	listing->processes = calloc(nr + 1, sizeof(*listing->processes));
	if (!listing->holders || !listing->processes)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		listing->holders[i] = &listing->dmabufs.holders[i];
	memledger_sort(listing->holders, nr, sizeof(*listing->holders),
		       compare_holders);
	for (i = 0; i < nr; i++)
		add_holder(listing, i);
	return 0;
}

static void add(u64 *sum, u64 value)
{
	*sum = memledger_saturating_add(*sum, value);
}

static void find_totals(struct memledger_dmabuf_listing *listing)
{
	const struct memledger_dmabufs *dmabufs = &listing->dmabufs;
	struct memledger_dmabuf_totals *totals = &listing->totals;
	size_t i;

	totals->count = dmabufs->nr_buffers;
	for (i = 0; i < dmabufs->nr_buffers; i++) {
		const struct memledger_dmabuf *buffer = &dmabufs->buffers[i];

		add(&totals->size, buffer->size);
		if (buffer->nr_holders) {
			add(&totals->held_size, buffer->size);
		} else {
			add(&totals->free_size, buffer->size);
			totals->free_count++;
		}
	}
	for (i = 0; i < listing->nr_processes; i++) {
		add(&totals->rss, listing->processes[i].rss);
		add(&totals->pss, listing->processes[i].pss);
	}
}

/**
 * memledger_dmabuf_listing_make - find out all that is to be said
 * @listing: all 0 but for pid, comm, source and kernel; gets the rest. To be
 *	freed, also where this fails
 * @text: of the module's dmabuf file of that process, or of all; has to stay
 * @sysfs: where sysfs is mounted
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_dmabuf_listing_make(struct memledger_dmabuf_listing *listing,
				  char *text, const char *sysfs,
				  struct memledger_error *error)
{
	if (memledger_dmabufs_parse(&listing->dmabufs, text, listing->pid < 0,
				    error))
		return -1;
	if (find_processes(listing))
		return memledger_error_set(error, "no memory");
	find_totals(listing);
	compare_stats(listing, sysfs);
	return 0;
}

/**
 * memledger_dmabuf_listing_free - free what a listing holds
 * @listing: of no use afterwards
 */
void memledger_dmabuf_listing_free(struct memledger_dmabuf_listing *listing)
{
	free(listing->holders);
	free(listing->processes);
	memledger_dmabufs_free(&listing->dmabufs);
}
