// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a VMA to its name: the text of /proc/PID/maps, with the mark of a
 * deleted file told apart from a file that happens to be called so.
 */
#include <linux/dcache.h>
#include <linux/hash.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/stringhash.h>

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

	if (!memchr(src, '\n', *len))
		return true;
	for (; src < end; src++)
		newlines += *src == '\n';
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

#define ANON_START	"[anon:"
#define ANON_START_LEN	(sizeof(ANON_START) - 1)

/* "[anon:" @text "]" */
static size_t anon_name(char *buf, size_t size, const char *text)
{
	ssize_t len = strscpy(buf + ANON_START_LEN, text,
			      size - ANON_START_LEN - 1);

	if (len < 0)
		len = size - ANON_START_LEN - 2;
	memcpy(buf, ANON_START, ANON_START_LEN);
	len += ANON_START_LEN;
	buf[len++] = ']';
	buf[len] = '\0';
	return len;
}

/* The kernel's own word for a mapping without a file, or NULL. */
static const char *special_name(struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	if (!name && memledger_vma_is_heap(vma))
		name = "[heap]";
	if (!name && memledger_vma_is_stack(vma))
		name = "[stack]";
	return name;
}

/**
 * memledger_vma_name - name a VMA as /proc/PID/maps does
 * @vma: the VMA
 * @buf: room for the text
 * @size: of @buf; at least 16
 * @out: gets name, len and deleted; the name is in @buf or constant
 *
 * Paths are as the calling task's root directory shows them, as in /proc.
 *
 * Context: the mmap lock is held. Does not sleep.
 */
void memledger_vma_name(struct vm_area_struct *vma, char *buf, size_t size,
			struct memledger_vma *out)
{
	const char *anon = memledger_vma_anon_name(vma);
	const char *name;

	out->deleted = false;
	if (vma->vm_file && !anon) {
		file_name(vma->vm_file, buf, size, out);
		return;
	}
	if (vma->vm_file) {
		set_name(out, buf,
			 scnprintf(buf, size, "[anon_shmem:%s]", anon));
		return;
	}

	name = special_name(vma);
	if (name)
		set_name(out, buf, scnprintf(buf, size, "%s", name));
	else if (anon)
		set_name(out, buf, anon_name(buf, size, anon));
	else
		set_name(out, "", 0);
}

/**
 * memledger_name_slots_init - forget all names
 * @slots: the slots
 */
void memledger_name_slots_init(struct memledger_name_slots *slots)
{
	unsigned int i;

	for (i = 0; i < MEMLEDGER_NR_TEXT_SLOTS; i++)
		slots->text[i].hash_len = 0;
	for (i = 0; i < MEMLEDGER_NR_FILE_SLOTS; i++)
		slots->file[i].dentry = NULL;
}

static bool is_in_slot(const struct memledger_text_slot *slot, const char *text,
		       u64 hash_len, bool shmem)
{
	return slot->hash_len == hash_len && slot->shmem == shmem &&
	       !memcmp(slot->text, text, hashlen_len(hash_len));
}

/*
 * Remembers a name by its text. Returns its slot, and in @known whether it was
 * there before. Each text has two: names are few, and those of neighbours that
 * take turns must not drive each other out.
 */
static unsigned int text_slot(struct memledger_name_slots *slots,
			      const char *text, bool shmem, bool *known)
{
	u64 hash_len = hashlen_string(NULL, text);
	size_t len = hashlen_len(hash_len);
	unsigned int i = hashlen_hash(hash_len) % MEMLEDGER_NR_TEXT_SLOTS;
	struct memledger_text_slot *slot = &slots->text[i];

	/* An empty name looks like a slot that nobody has. */
	*known = false;
	if (!len || len > MEMLEDGER_TEXT_SLOT_SIZE)
		return MEMLEDGER_OTHER_SLOT;
	*known = true;
	if (is_in_slot(slot, text, hash_len, shmem))
		return MEMLEDGER_TEXT_SLOTS + i;
	if (is_in_slot(&slots->text[i ^ 1], text, hash_len, shmem))
		return MEMLEDGER_TEXT_SLOTS + (i ^ 1);

	*known = false;
	if (slot->hash_len && !slots->text[i ^ 1].hash_len)
		i ^= 1;
	slot = &slots->text[i];
	slot->hash_len = hash_len;
	slot->shmem = shmem;
	memcpy(slot->text, text, len);
	return MEMLEDGER_TEXT_SLOTS + i;
}

/*
 * Memory with a file behind it that was never in a directory: memfd, ashmem, SysV
 * and anonymous shared memory. Each has a dentry of its own, but many are called
 * alike, and nothing but that makes their names.
 */
static bool is_pseudo_shmem(const struct dentry *dentry)
{
	return dentry->d_sb->s_magic == TMPFS_MAGIC && IS_ROOT(dentry) &&
	       dentry->d_op && dentry->d_op->d_dname;
}

static unsigned int file_slot(struct memledger_name_slots *slots,
			      const struct path *path, const struct file *file,
			      bool *known)
{
	const struct dentry *dentry = path->dentry;
	const struct inode *inode = memledger_file_inode(file);
	unsigned int i = hash_ptr(dentry, MEMLEDGER_FILE_SLOTS_SHIFT);
	struct memledger_file_slot *slot = &slots->file[i];
	struct memledger_file_slot now = {
		.dentry = dentry,
		.mnt = path->mnt,
		.parent = READ_ONCE(dentry->d_parent),
		.hash_len = READ_ONCE(dentry->d_name.hash_len),
		.inode = inode,
		.ino = inode->i_ino,
		.generation = inode->i_generation,
		.unlinked = d_unlinked(dentry),
	};

	*known = slot->dentry == now.dentry && slot->mnt == now.mnt &&
		 slot->parent == now.parent && slot->hash_len == now.hash_len &&
		 slot->inode == now.inode && slot->ino == now.ino &&
		 slot->generation == now.generation &&
		 slot->unlinked == now.unlinked;
	if (!*known)
		*slot = now;
	return MEMLEDGER_FILE_SLOTS + i;
}

static unsigned int any_file_slot(struct memledger_name_slots *slots,
				  const struct file *file, bool *known)
{
	const struct path *path = memledger_file_path(file);

	if (is_pseudo_shmem(path->dentry))
		return text_slot(slots, path->dentry->d_name.name, true, known);
	return file_slot(slots, path, file, known);
}

/**
 * memledger_vma_slot - name a VMA, unless it is called like one before
 * @vma: the VMA
 * @slots: names before
 * @buf: room for the text
 * @size: of @buf
 * @out: gets slot, and name, len and deleted as of memledger_vma_name(); name
 *	is NULL if it is that of the last VMA with this slot
 *
 * Context: the mmap lock is held. Does not sleep.
 */
void memledger_vma_slot(struct vm_area_struct *vma,
			struct memledger_name_slots *slots, char *buf,
			size_t size, struct memledger_vma *out)
{
	const char *anon = memledger_vma_anon_name(vma);
	bool known = false;

	out->name = NULL;
	if (vma->vm_file && !anon) {
		out->slot = any_file_slot(slots, vma->vm_file, &known);
	} else if (vma->vm_file || special_name(vma)) {
		out->slot = MEMLEDGER_OTHER_SLOT;
	} else if (anon) {
		out->slot = text_slot(slots, anon, false, &known);
	} else {
		out->slot = MEMLEDGER_NAMELESS_SLOT;
		known = true;
	}
	if (!known)
		memledger_vma_name(vma, buf, size, out);
}
