// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads debugfs dmabuf, and accepts nothing but the documented form: a holder
 * behind its buffer, as many as the buffer says, in order, and each once.
 */
#include <errno.h>
#include <stdlib.h>

#include "dmabufs.h"
#include "testlib.h"

/* One more, all zero; NULL without memory. */
static void *add(void *array, size_t *nr, size_t size)
{
	char **start = array;
	char *grown = realloc(*start, (*nr + 1) * size);

	if (!grown)
		return NULL;
	*start = grown;
	return memset(grown + (*nr)++ * size, 0, size);
}

static bool parse_buffer(struct dmabuf_list *list, const char *line)
{
	struct dmabuf *buffer = add(&list->buffers, &list->nr_buffers,
				    sizeof(*buffer));
	int end = 0;

	return buffer &&
	       sscanf(line, "buffer %llu %llu %llu %63s %135s%n", &buffer->ino,
		      &buffer->size, &buffer->holders, buffer->exporter,
		      buffer->name, &end) == 5 && !line[end] &&
	       (list->nr_buffers < 2 || buffer[-1].ino < buffer->ino);
}

static bool parse_holder(struct dmabuf_list *list, const char *line)
{
	struct dmabuf_holder *holder = add(&list->holders, &list->nr_holders,
					   sizeof(*holder));
	int end = 0;

	return holder && list->nr_buffers &&
	       sscanf(line, "holder %llu %d %llu %llu %llu %llu %llu %llu %llu %n",
		      &holder->ino, &holder->tgid, &holder->fds, &holder->maps,
		      &holder->imports, &holder->mapped, &holder->smaps_rss,
		      &holder->smaps_pss, &holder->pss, &end) == 9 && end &&
	       snprintf(holder->comm, sizeof(holder->comm), "%s",
			line + end) < (int)sizeof(holder->comm) &&
	       holder->ino == list->buffers[list->nr_buffers - 1].ino &&
	       (list->nr_holders < 2 || holder[-1].ino < holder->ino ||
		holder[-1].tgid < holder->tgid);
}

static bool parse_exporter(struct dmabuf_list *list, const char *line)
{
	struct dmabuf_exporter *exporter =
		add(&list->exporters, &list->nr_exporters, sizeof(*exporter));
	int end = 0;

	return exporter &&
	       sscanf(line, "exporter %llu %llu %63s%n", &exporter->count,
		      &exporter->size, exporter->name, &end) == 3 && !line[end];
}

static bool parse_line(struct dmabuf_list *list, const char *line)
{
	switch (*line) {
	case '#':
		return true;
	case 'b':
		return !list->nr_exporters && parse_buffer(list, line);
	case 'h':
		return !list->nr_exporters && parse_holder(list, line);
	case 'e':
		return parse_exporter(list, line);
	default:
		return false;
	}
}

/**
 * dmabufs_parse() - take a text apart
 * @list: gets what it says; for dmabufs_free(), also where this fails
 * @text: the file; written to
 * Return: 0, or -EBADMSG
 */
int dmabufs_parse(struct dmabuf_list *list, char *text)
{
	char *line, *rest = NULL;

	memset(list, 0, sizeof(*list));
	if (sscanf(text, "# generation %llu timestamp_ns %*u walk_ns %*u complete %d list %d\n",
		   &list->generation, &list->complete, &list->list) != 3)
		return -EBADMSG;
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!parse_line(list, line)) {
			printf("# not as documented: %s\n", line);
			return -EBADMSG;
		}
	}
	return 0;
}

/**
 * dmabufs_read() - read a file called dmabuf
 * @list: gets what it says; for dmabufs_free(), also where this fails
 * @path: the file
 * Return: 0, or a negative errno; EBADMSG where it is not as documented
 */
int dmabufs_read(struct dmabuf_list *list, const char *path)
{
	char *text = file_slurp(path);
	int err;

	memset(list, 0, sizeof(*list));
	if (!text)
		return -errno;
	err = dmabufs_parse(list, text);
	free(text);
	return err;
}

/* The same of a new snapshot of all buffers. */
int dmabufs_refresh(struct dmabuf_list *list)
{
	int err = node_write("dmabuf/refresh", "1\n");

	memset(list, 0, sizeof(*list));
	return err ?: dmabufs_read(list, DETAILS "dmabuf");
}

void dmabufs_free(struct dmabuf_list *list)
{
	free(list->buffers);
	free(list->holders);
	free(list->exporters);
}

const struct dmabuf *dmabufs_find(const struct dmabuf_list *list, u64 ino)
{
	for (size_t i = 0; i < list->nr_buffers; i++) {
		if (list->buffers[i].ino == ino)
			return &list->buffers[i];
	}
	return NULL;
}

const struct dmabuf_holder *dmabufs_holder(const struct dmabuf_list *list,
					   u64 ino, pid_t tgid)
{
	for (size_t i = 0; i < list->nr_holders; i++) {
		if (list->holders[i].ino == ino &&
		    list->holders[i].tgid == tgid)
			return &list->holders[i];
	}
	return NULL;
}
