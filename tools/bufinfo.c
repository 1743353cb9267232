// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of bufinfo in; the buffers in it, and who has attached to them, out.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "bufinfo.h"
#include "escape.h"
#include "words.h"

/* "00001000\t00080002\t00080007\t00000001\tsystem\t00000005\tname" */
static bool parse_buffer(char *line, struct memledger_bufinfo_dmabuf *buffer)
{
	char *word[6], *end;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(word); i++) {
		word[i] = strsep(&line, "\t");
		if (!word[i])
			return false;
	}
	errno = 0;
	buffer->size = strtoull(word[0], &end, 10);
	if (errno || end == word[0] || *end)
		return false;
	buffer->inode = strtoull(word[5], &end, 10);
	if (errno || end == word[5] || *end)
		return false;
	return true;
}

static int add_device(struct memledger_bufinfo_dmabuf *buffer, const char *name)
{
	char *shown = memledger_escape_text(name, "");
	char *devices;
	int len = -1;

	if (shown)
		len = asprintf(&devices, "%sdriver of %s\n", buffer->devices,
			       shown);
	free(shown);
	if (len < 0)
		return -ENOMEM;
	free(buffer->devices);
	buffer->devices = devices;
	return 0;
}

static int add_buffer(struct memledger_bufinfo *bufinfo,
		      const struct memledger_bufinfo_dmabuf *buffer)
{
	struct memledger_bufinfo_dmabuf *kernel =
		memledger_array_grow(bufinfo->buffer, bufinfo->nr,
				     sizeof(*kernel));

	if (!kernel)
		return -ENOMEM;
	bufinfo->buffer = kernel;
	kernel[bufinfo->nr] = *buffer;
	kernel[bufinfo->nr].devices = strdup("");
	if (!kernel[bufinfo->nr].devices)
		return -ENOMEM;
	bufinfo->nr++;
	return 0;
}

/* "Total 2 devices attached", or "Total 5 objects, 20480 bytes". */
static bool is_total(const char *line, const char *what, size_t nr)
{
	char total[64];

	snprintf(total, sizeof(total), "Total %zu %s", nr, what);
	return !strncmp(line, total, strlen(total));
}

/**
 * memledger_bufinfo_parse - read the kernel's list of DMA-BUFs
 * @bufinfo: an empty one; to be freed, also where this fails
 * @text: the list, which is cut up
 *
 * Lines that are none of ours (fences, which drivers describe) are passed over.
 *
 * The kernel prints names of buffers as they are, with lines of a list in them: but
 * a name does not change the totals.
 *
 * Return: 0, -ENOMEM, or -EINVAL if the list is cut off or does not add up.
 */
int memledger_bufinfo_parse(struct memledger_bufinfo *bufinfo, char *text)
{
	struct memledger_bufinfo_dmabuf buffer;
	bool attached = false, ended = false;
	size_t nr_devices = 0;
	char *line;
	int ret;

	while ((line = memledger_words_line(&text))) {
		ret = 0;
		if (!strcmp(line, "\tAttached Devices:")) {
			attached = true;
		} else if (!strncmp(line, "Total ", 6)) {
			ended = is_total(line, "objects, ", bufinfo->nr);
			if (!ended && !is_total(line, "devices ", nr_devices))
				return -EINVAL;
			attached = false;
			nr_devices = 0;
		} else if (attached && *line == '\t' && bufinfo->nr) {
			nr_devices++;
			ret = add_device(&bufinfo->buffer[bufinfo->nr - 1],
					 line + 1);
		} else if (isdigit((unsigned char)*line) &&
			   parse_buffer(line, &buffer)) {
			ret = add_buffer(bufinfo, &buffer);
		}
		if (ret)
			return ret;
	}
	return ended ? 0 : -EINVAL;
}

/**
 * memledger_bufinfo_find - find a buffer
 * @bufinfo: where to look
 * @inode: its inode number
 *
 * Return: the buffer, or NULL.
 */
const struct memledger_bufinfo_dmabuf *
memledger_bufinfo_find(const struct memledger_bufinfo *bufinfo, u64 inode)
{
	size_t i;

	for (i = 0; i < bufinfo->nr; i++)
		if (bufinfo->buffer[i].inode == inode)
			return &bufinfo->buffer[i];
	return NULL;
}

/**
 * memledger_bufinfo_free - free what a list holds
 * @bufinfo: empty afterwards
 */
void memledger_bufinfo_free(struct memledger_bufinfo *bufinfo)
{
	size_t i;

	for (i = 0; i < bufinfo->nr; i++)
		free(bufinfo->buffer[i].devices);
	free(bufinfo->buffer);
	*bufinfo = (struct memledger_bufinfo){};
}
