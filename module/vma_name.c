// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a VMA to its name: the text of /proc/PID/maps, with the mark of a
 * deleted file told apart from a file that happens to be called so.
 */
#include <linux/dcache.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "compat.h"
#include "walk.h"

static const char deleted_mark[] = " (deleted)";

#define DELETED_MARK_LEN	(sizeof(deleted_mark) - 1)

static void set_name(struct memledger_vma *out, const char *name, size_t len)
{
	out->name = name;
	out->len = len;
}

/*
 * d_path() appends the mark to paths of unlinked files. Objects without a
 * place in a file system (memfd, SysV and anonymous shared memory, ashmem)
 * print themselves through d_dname, and these add it always.
 */
static bool path_is_marked(const struct path *path)
{
	const struct dentry *dentry = path->dentry;

	if (dentry->d_op && dentry->d_op->d_dname &&
	    (!IS_ROOT(dentry) || dentry != path->mnt->mnt_root))
		return true;
	return d_unlinked(path->dentry);
}

/* maps escapes newlines and nothing else. @name ends where @buf does. */
static bool escape_newlines(char *buf, size_t size, const char **name,
			    size_t *len)
{
	const char *src = *name, *end = src + *len;
	size_t newlines = 0;
	char *dst = buf;

	for (; src < end; src++)
		newlines += *src == '\n';
	if (!newlines)
		return true;
	if (*len + 3 * newlines >= size)
		return false;

	/* @dst stays behind @src, since the longer text fits the buffer. */
	src = memmove(buf + size - *len, *name, *len);
	end = src + *len;
	while (src < end) {
		if (*src == '\n') {
			src++;
			memcpy(dst, "\\012", 4);
			dst += 4;
		} else {
			*dst++ = *src++;
		}
	}
	*dst = '\0';
	*name = buf;
	*len = dst - buf;
	return true;
}

static void file_name(const struct file *file, char *buf, size_t size,
		      struct memledger_vma *out)
{
	const struct path *path = memledger_file_path(file);
	const char *name;
	char *text;
	size_t len;

	text = d_path(path, buf, size);
	if (IS_ERR(text))
		goto too_long;

	len = buf + size - 1 - text;
	if (path_is_marked(path) && len > DELETED_MARK_LEN &&
	    !memcmp(text + len - DELETED_MARK_LEN, deleted_mark,
		    DELETED_MARK_LEN)) {
		len -= DELETED_MARK_LEN;
		text[len] = '\0';
		out->deleted = true;
	}
	name = text;
	if (!escape_newlines(buf, size, &name, &len))
		goto too_long;
	set_name(out, name, len);
	return;

too_long:
	set_name(out, MEMLEDGER_NAME_TOO_LONG,
		 sizeof(MEMLEDGER_NAME_TOO_LONG) - 1);
}

/**
 * memledger_vma_name - name a VMA as /proc/PID/maps does
 * @vma: the VMA
 * @buf: room for the text
 * @size: of @buf
 * @out: gets name, len and deleted; the name is in @buf or constant
 *
 * Paths are as the calling task's root directory shows them, as in /proc.
 *
 * Context: the mmap lock is held. Does not sleep.
 */
void memledger_vma_name(struct vm_area_struct *vma, char *buf, size_t size,
			struct memledger_vma *out)
{
	const char *anon_name = memledger_vma_anon_name(vma);
	const char *name = NULL;

	out->deleted = false;
	if (vma->vm_file && !anon_name) {
		file_name(vma->vm_file, buf, size, out);
		return;
	}
	if (vma->vm_file) {
		set_name(out, buf,
			 scnprintf(buf, size, "[anon_shmem:%s]", anon_name));
		return;
	}

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	if (!name && memledger_vma_is_heap(vma))
		name = "[heap]";
	if (!name && memledger_vma_is_stack(vma))
		name = "[stack]";
	if (name)
		set_name(out, buf, scnprintf(buf, size, "%s", name));
	else if (anon_name)
		set_name(out, buf, scnprintf(buf, size, "[anon:%s]", anon_name));
	else
		set_name(out, "", 0);
}
