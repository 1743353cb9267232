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
	char *devices;

	if (asprintf(&devices, "%sdriver of %s\n", buffer->devices, name) < 0)
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

/**
 * memledger_bufinfo_parse - read the kernel's list of DMA-BUFs
 * @bufinfo: an empty one; to be freed, also where this fails
 * @text: the list, which is cut up
 *
 * Lines that are none of ours (fences, which drivers describe) are passed over.
 *
 * Return: 0, -ENOMEM, or -EINVAL if the list does not end as it should.
 */
int memledger_bufinfo_parse(struct memledger_bufinfo *bufinfo, char *text)
{
	struct memledger_bufinfo_dmabuf buffer;
	bool attached = false, ended = false;
	char *line;
	int ret;

	while ((line = memledger_words_line(&text))) {
		ret = 0;
		if (!strcmp(line, "\tAttached Devices:")) {
			attached = true;
		} else if (!strncmp(line, "Total ", 6)) {
			attached = false;
			ended = strstr(line, " objects, ");
		} else if (attached && *line == '\t' && bufinfo->nr) {
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
 * @bufinfo: of no use afterwards
 */
void memledger_bufinfo_free(struct memledger_bufinfo *bufinfo)
{
	size_t i;

	for (i = 0; i < bufinfo->nr; i++)
		free(bufinfo->buffer[i].devices);
	free(bufinfo->buffer);
}
