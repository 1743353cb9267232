// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of one of the module's dmabuf files in; buffers, the processes that
 * hold them, and exporters out.
 */
#include <limits.h>
#include <stdlib.h>

#include "array.h"
#include "dmabuf.h"
#include "escape.h"
#include "words.h"

/**
 * memledger_saturating_add - add without wrapping around
 * @a: a number
 * @b: another
 *
 * Return: the sum, or the largest u64.
 */
u64 memledger_saturating_add(u64 a, u64 b)
{
	return a + b < a ? U64_MAX : a + b;
}

/* A name that may be a "-", or the escape of an end for an empty one. */
static const char *parse_name(char *word)
{
	if (!strcmp(word, "-"))
		return NULL;
	if (!strcmp(word, "\\000"))
		return "";
	memledger_unescape(word);
	return word;
}

static bool parse_head(struct memledger_dmabufs *dmabufs, char *line)
{
	return line && memledger_words_expect(&line, "#") &&
	       memledger_words_expect(&line, "generation") &&
	       memledger_words_number(&line, &dmabufs->generation) &&
	       memledger_words_expect(&line, "timestamp_ns") &&
	       memledger_words_number(&line, &dmabufs->timestamp_ns) &&
	       memledger_words_expect(&line, "walk_ns") &&
	       memledger_words_number(&line, &dmabufs->walk_ns) &&
	       memledger_words_expect(&line, "complete") &&
	       memledger_words_bool(&line, &dmabufs->complete) &&
	       memledger_words_expect(&line, "list") &&
	       memledger_words_bool(&line, &dmabufs->list) && !line;
}

/* Of the buffer before, all holders must have come by now. */
static bool buffer_is_whole(const struct memledger_dmabufs *dmabufs,
			    bool whole)
{
	const struct memledger_dmabuf *last;

	if (!dmabufs->nr_buffers)
		return true;
	last = &dmabufs->buffers[dmabufs->nr_buffers - 1];
	return whole ? last->nr_listed == last->nr_holders :
		       last->nr_listed == 1 && last->nr_holders;
}

/* These return 0, -EINVAL for what is no such line, or -ENOMEM. */
static int parse_buffer(struct memledger_dmabufs *dmabufs, char *line,
			bool whole)
{
	struct memledger_dmabuf buffer = { .first = dmabufs->nr_holders };
	struct memledger_dmabuf *to;
	char *exporter;

	if (!buffer_is_whole(dmabufs, whole) || dmabufs->nr_exporters ||
	    !memledger_words_number(&line, &buffer.inode) ||
	    !memledger_words_number(&line, &buffer.size) ||
	    !memledger_words_number(&line, &buffer.nr_holders))
		return -EINVAL;
	exporter = memledger_words_next(&line);
	if (!exporter || !line || !*line)
		return -EINVAL;
	buffer.exporter = parse_name(exporter);
	buffer.name = parse_name(line);
	to = memledger_array_grow(dmabufs->buffers, dmabufs->nr_buffers,
				  sizeof(*to));
	if (!to)
		return -ENOMEM;
	dmabufs->buffers = to;
	to[dmabufs->nr_buffers++] = buffer;
	return 0;
}

static int parse_holder(struct memledger_dmabufs *dmabufs, char *line)
{
	struct memledger_dmabuf_holder holder = {}, *to;
	struct memledger_dmabuf *buffer;
	u64 inode;

	if (!dmabufs->nr_buffers || dmabufs->nr_exporters)
		return -EINVAL;
	holder.buffer = dmabufs->nr_buffers - 1;
	buffer = &dmabufs->buffers[holder.buffer];
	if (!memledger_words_number(&line, &inode) || inode != buffer->inode ||
	    !memledger_words_number(&line, &holder.pid) ||
	    holder.pid > INT_MAX ||
	    !memledger_words_number(&line, &holder.fds) ||
	    !memledger_words_number(&line, &holder.maps) ||
	    !memledger_words_number(&line, &holder.imports) ||
	    !memledger_words_number(&line, &holder.mapped) ||
	    !memledger_words_number(&line, &holder.smaps_rss) ||
	    !memledger_words_number(&line, &holder.smaps_pss) ||
	    !memledger_words_number(&line, &holder.pss) || !line)
		return -EINVAL;
	memledger_unescape(line);
	holder.comm = line;
	to = memledger_array_grow(dmabufs->holders, dmabufs->nr_holders,
				  sizeof(*to));
	if (!to)
		return -ENOMEM;
	dmabufs->holders = to;
	to[dmabufs->nr_holders++] = holder;
	buffer->nr_listed++;
	return 0;
}

static int parse_exporter(struct memledger_dmabufs *dmabufs, char *line)
{
	struct memledger_dmabuf_exporter exporter = {}, *to;

	if (!memledger_words_number(&line, &exporter.count) ||
	    !memledger_words_number(&line, &exporter.size) || !line || !*line)
		return -EINVAL;
	exporter.name = parse_name(line);
	to = memledger_array_grow(dmabufs->exporters, dmabufs->nr_exporters,
				  sizeof(*to));
	if (!to)
		return -ENOMEM;
	dmabufs->exporters = to;
	to[dmabufs->nr_exporters++] = exporter;
	return 0;
}

static int parse_line(struct memledger_dmabufs *dmabufs, char *line,
		      bool whole)
{
	const char *kind;

	if (*line == '#')
		return 0;
	kind = memledger_words_next(&line);
	if (!kind)
		return -EINVAL;
	if (!strcmp(kind, "buffer"))
		return parse_buffer(dmabufs, line, whole);
	if (!strcmp(kind, "holder"))
		return parse_holder(dmabufs, line);
	if (!strcmp(kind, "exporter") && whole)
		return parse_exporter(dmabufs, line);
	return -EINVAL;
}

static int compare_buffers(const void *a, const void *b)
{
	const struct memledger_dmabuf *one = a, *other = b;

	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	return 0;
}

static int compare_holders(const void *a, const void *b)
{
	const struct memledger_dmabuf_holder *one = a, *other = b;

	if (one->buffer != other->buffer)
		return one->buffer < other->buffer ? -1 : 1;
	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct memledger_dmabuf_exporter *one = a, *other = b;

	if (!one->name || !other->name)
		return !one->name - !other->name;
	return strcmp(one->name, other->name);
}

/* The largest first. */
static int compare_exporters(const void *a, const void *b)
{
	const struct memledger_dmabuf_exporter *one = a, *other = b;

	if (one->size != other->size)
		return one->size > other->size ? -1 : 1;
	return compare_names(a, b);
}

/*
 * Buffers by inode, and their holders after them. Returns -EINVAL where a
 * buffer, or a holder of one, is there twice.
 */
static int sort(struct memledger_dmabufs *dmabufs)
{
	size_t i, j;

	memledger_sort(dmabufs->buffers, dmabufs->nr_buffers,
		       sizeof(*dmabufs->buffers), compare_buffers);
	for (i = 0; i < dmabufs->nr_buffers; i++) {
		struct memledger_dmabuf *buffer = &dmabufs->buffers[i];

		if (i && buffer[-1].inode == buffer->inode)
			return -EINVAL;
		for (j = 0; j < buffer->nr_listed; j++)
			dmabufs->holders[buffer->first + j].buffer = i;
	}
	memledger_sort(dmabufs->holders, dmabufs->nr_holders,
		       sizeof(*dmabufs->holders), compare_holders);
	for (i = 0, j = 0; i < dmabufs->nr_buffers; i++) {
		dmabufs->buffers[i].first = j;
		j += dmabufs->buffers[i].nr_listed;
	}
	for (i = 1; i < dmabufs->nr_holders; i++)
		if (!compare_holders(&dmabufs->holders[i - 1],
				     &dmabufs->holders[i]))
			return -EINVAL;
	return 0;
}

/* The module lists those of all buffers only, not those of a process. */
static int find_exporters(struct memledger_dmabufs *dmabufs)
{
	struct memledger_dmabuf_exporter *exporter;
	size_t i, to = 0;

	for (i = 0; i < dmabufs->nr_buffers; i++) {
		exporter = memledger_array_grow(dmabufs->exporters, i,
						sizeof(*exporter));
		if (!exporter)
			return -ENOMEM;
		dmabufs->exporters = exporter;
		exporter[dmabufs->nr_exporters++] =
			(struct memledger_dmabuf_exporter){
				.count = 1,
				.size = dmabufs->buffers[i].size,
				.name = dmabufs->buffers[i].exporter,
			};
	}
	memledger_sort(dmabufs->exporters, dmabufs->nr_exporters,
		       sizeof(*exporter), compare_names);
	for (i = 1; i < dmabufs->nr_exporters; i++) {
		exporter = &dmabufs->exporters[to];
		if (compare_names(exporter, &dmabufs->exporters[i])) {
			dmabufs->exporters[++to] = dmabufs->exporters[i];
			continue;
		}
		exporter->count++;
		exporter->size =
			memledger_saturating_add(exporter->size,
						 dmabufs->exporters[i].size);
	}
	if (dmabufs->nr_exporters)
		dmabufs->nr_exporters = to + 1;
	return 0;
}

/**
 * memledger_dmabufs_parse - read one of the module's dmabuf files
 * @dmabufs: an empty snapshot; the caller frees it, also where this fails
 * @text: the file's, which is cut up, and has to stay
 * @whole: whether it is of all processes; else it has one holder a buffer
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_dmabufs_parse(struct memledger_dmabufs *dmabufs, char *text,
			    bool whole, struct memledger_error *error)
{
	char *line;
	int ret;

	ret = parse_head(dmabufs, memledger_words_line(&text)) ? 0 : -EINVAL;
	while (!ret && (line = memledger_words_line(&text)))
		ret = parse_line(dmabufs, line, whole);
	if (!ret && (*text || !buffer_is_whole(dmabufs, whole)))
		return memledger_error_set(error,
					   "the module's dmabuf file is cut off: try again");
	if (!ret)
		ret = sort(dmabufs);
	if (!ret && !dmabufs->nr_exporters)
		ret = find_exporters(dmabufs);
	memledger_sort(dmabufs->exporters, dmabufs->nr_exporters,
		       sizeof(*dmabufs->exporters), compare_exporters);
	if (ret == -ENOMEM)
		return memledger_error_set(error, "no memory");
	if (ret)
		return memledger_error_set(error,
					   "the module's dmabuf file is not as expected: use the tool that was built with the module");
	return 0;
}

/**
 * memledger_dmabufs_find - look up a buffer
 * @dmabufs: the snapshot
 * @inode: the buffer's inode number
 *
 * Return: the buffer, or NULL.
 */
const struct memledger_dmabuf *
memledger_dmabufs_find(const struct memledger_dmabufs *dmabufs, u64 inode)
{
	const struct memledger_dmabuf key = { .inode = inode };

	if (!dmabufs->nr_buffers)
		return NULL;
	return bsearch(&key, dmabufs->buffers, dmabufs->nr_buffers,
		       sizeof(key), compare_buffers);
}

/**
 * memledger_dmabufs_free - free what a snapshot holds
 * @dmabufs: empty afterwards; the text is not freed
 */
void memledger_dmabufs_free(struct memledger_dmabufs *dmabufs)
{
	free(dmabufs->buffers);
	free(dmabufs->holders);
	free(dmabufs->exporters);
	*dmabufs = (struct memledger_dmabufs){};
}
