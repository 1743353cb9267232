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

/* maps escapes newlines and nothing else. @name is somewhere in @buf. */
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

static const char too_long[] = MEMLEDGER_NAME_TOO_LONG;

/* No other name begins with that: paths do with a slash. */
static bool is_too_long(const struct memledger_vma *vma)
{
	return str_has_prefix(vma->name, too_long);
}

/*
 * Whether the last part of a path, if it is one, is the dentry's name: in its
 * place may be the point where the file is mounted itself, or what prints itself.
 */
static bool has_tail(const struct path *path)
{
	const struct dentry *dentry = path->dentry;

	return !IS_ROOT(dentry) && dentry != path->mnt->mnt_root &&
	       !(dentry->d_op && dentry->d_op->d_dname);
}

/* The last part is told: for most rules it is enough. */
static void name_too_long(const struct path *path, char *buf, size_t size,
			  struct memledger_vma *out)
{
	struct dentry *dentry = path->dentry;
	size_t len = sizeof(too_long) - 1;
	const char *name = buf;

	set_name(out, too_long, len);
	out->deleted = false;
	if (!has_tail(path))
		return;
	/* Whoever moves the file changes its name under the lock. */
	spin_lock(&dentry->d_lock);
	if (len + 1 + dentry->d_name.len < size) {
		len = scnprintf(buf, size, "%s/%s", too_long,
				dentry->d_name.name);
		out->deleted = d_unlinked(dentry);
	}
	spin_unlock(&dentry->d_lock);
	if (len > out->len && escape_newlines(buf, size, &name, &len))
		set_name(out, name, len);
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
		goto err_too_long;

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
		goto err_too_long;
	set_name(out, name, len);
	return;

err_too_long:
	name_too_long(path, buf, size, out);
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
static __always_inline const char *special_name(struct vm_area_struct *vma)
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

/* Hash and length of what is in a free slot. An empty name has 0 for both. */
#define NO_TEXT	U64_MAX

/**
 * memledger_name_slots_init - forget all names
 * @slots: the slots
 * @learn: told of each that gets one; also of the name of those without
 */
void memledger_name_slots_init(struct memledger_name_slots *slots,
			       memledger_learn_fn learn)
{
	unsigned int i;

	slots->learn = learn;
	slots->file = NULL;
	for (i = 0; i < MEMLEDGER_NR_TEXT_SLOTS; i++)
		slots->texts[i].hash_len = NO_TEXT;
	for (i = 0; i < MEMLEDGER_NR_FILE_SLOTS; i++)
		slots->files[i].dentry = NULL;
	learn(slots, MEMLEDGER_NAMELESS_SLOT, "", 0, false, false);
}

/* Eight bytes at a time, which is what names are worth, not a call. */
static __always_inline bool same_text(const char *a, const char *b, size_t len)
{
	size_t i;

	if (len < 8)
		return !memcmp(a, b, len);
	for (i = 0; i + 8 < len; i += 8)
		if (memcmp(a + i, b + i, 8))
			return false;
	return !memcmp(a + len - 8, b + len - 8, 8);
}

static __always_inline bool is_in_slot(const struct memledger_text_slot *slot,
				       const char *text, u64 hash_len,
				       enum memledger_text kind)
{
	return slot->hash_len == hash_len && slot->kind == kind &&
	       same_text(slot->text, text, hashlen_len(hash_len));
}

/* The two slots that a text may have are neighbours. */
static unsigned int text_index(u64 hash_len)
{
	return hashlen_hash(hash_len) % MEMLEDGER_NR_TEXT_SLOTS;
}

/*
 * A name that is not in the first of its slots. Each text has two: names are
 * few, and those of neighbours that take turns must not drive each other out.
 * Returns the slot, and in @known whether the name was there before.
 */
static unsigned int second_text_slot(struct memledger_name_slots *slots,
				     const char *text, u64 hash_len,
				     enum memledger_text kind, bool *known)
{
	unsigned int i = text_index(hash_len);
	size_t len = hashlen_len(hash_len);
	struct memledger_text_slot *slot = &slots->texts[i ^ 1];

	*known = is_in_slot(slot, text, hash_len, kind);
	if (*known)
		return MEMLEDGER_TEXT_SLOTS + (i ^ 1);
	if (!len || len > MEMLEDGER_TEXT_SLOT_SIZE)
		return MEMLEDGER_OTHER_SLOT;
	if (slots->texts[i].hash_len == NO_TEXT || slot->hash_len != NO_TEXT)
		slot = &slots->texts[i];
	slot->hash_len = hash_len;
	slot->kind = kind;
	memcpy(slot->text, text, len);
	return MEMLEDGER_TEXT_SLOTS + (slot - slots->texts);
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

static bool is_in_file_slot(const struct memledger_file_slot *slot,
			    const struct path *path, const struct inode *inode)
{
	const struct dentry *dentry = path->dentry;

	return slot->dentry == dentry && slot->mnt == path->mnt &&
	       slot->parent == READ_ONCE(dentry->d_parent) &&
	       slot->hash_len == READ_ONCE(dentry->d_name.hash_len) &&
	       slot->inode == inode && slot->ino == inode->i_ino &&
	       slot->generation == inode->i_generation &&
	       slot->unlinked == d_unlinked(dentry);
}

static unsigned int file_slot(struct memledger_name_slots *slots,
			      const struct path *path, const struct file *file,
			      bool *known)
{
	const struct dentry *dentry = path->dentry;
	const struct inode *inode = memledger_file_inode(file);
	unsigned int i = hash_ptr(dentry, MEMLEDGER_FILE_SLOTS_SHIFT);
	struct memledger_file_slot *slot = &slots->files[i];

	*known = is_in_file_slot(slot, path, inode);
	if (!*known)
		*slot = (struct memledger_file_slot){
			.dentry = dentry,
			.mnt = path->mnt,
			.parent = READ_ONCE(dentry->d_parent),
			.hash_len = READ_ONCE(dentry->d_name.hash_len),
			.inode = inode,
			.ino = inode->i_ino,
			.generation = inode->i_generation,
			.unlinked = d_unlinked(dentry),
		};
	return MEMLEDGER_FILE_SLOTS + i;
}

/*
 * Where only a part of a file system is mounted, a file may have been moved out
 * of it, and has no path. Whether the last part was enough.
 */
static bool learn_tail(struct memledger_name_slots *slots, unsigned int slot,
		       const struct path *path, size_t *len)
{
	struct dentry *dentry = path->dentry;
	bool learnt;

	if (!has_tail(path) ||
	    path->mnt->mnt_root != path->mnt->mnt_sb->s_root)
		return false;
	/* Whoever moves the file changes its name under the lock. */
	spin_lock(&dentry->d_lock);
	*len = dentry->d_name.len;
	learnt = slots->learn(slots, slot, dentry->d_name.name, *len,
			      d_unlinked(dentry), true);
	spin_unlock(&dentry->d_lock);
	return learnt;
}

/* The name of @vma is new to its slot. */
static noinline void learn_name(struct vm_area_struct *vma,
				struct memledger_name_slots *slots,
				struct memledger_vma *out)
{
	struct memledger_vma name;

	/* The slot may have been that of the last file, an object of shmem. */
	slots->file = NULL;
	if (out->slot >= MEMLEDGER_FILE_SLOTS &&
	    learn_tail(slots, out->slot, memledger_file_path(vma->vm_file),
		       &out->len))
		return;
	memledger_vma_name(vma, slots->buf, slots->size, &name);
	slots->learn(slots, out->slot, name.name, name.len, name.deleted,
		     false);
	/* It costs what it would have been: all of the buffer was written. */
	out->len = is_too_long(&name) ? slots->size : name.len;
}

static noinline void find_second_text(struct vm_area_struct *vma,
				      struct memledger_name_slots *slots,
				      const char *text, u64 hash_len,
				      enum memledger_text kind,
				      struct memledger_vma *out)
{
	bool known;

	out->slot = second_text_slot(slots, text, hash_len, kind, &known);
	if (!known)
		learn_name(vma, slots, out);
}

static noinline void find_text(struct vm_area_struct *vma,
			       struct memledger_name_slots *slots,
			       const char *text, enum memledger_text kind,
			       struct memledger_vma *out)
{
	u64 hash_len = hashlen_string(NULL, text);
	unsigned int i = text_index(hash_len);

	if (likely(is_in_slot(&slots->texts[i], text, hash_len, kind)))
		out->slot = MEMLEDGER_TEXT_SLOTS + i;
	else
		find_second_text(vma, slots, text, hash_len, kind, out);
}

static noinline void find_file(struct vm_area_struct *vma,
			       struct memledger_name_slots *slots,
			       struct memledger_vma *out)
{
	const struct path *path = memledger_file_path(vma->vm_file);
	bool known;

	if (is_pseudo_shmem(path->dentry)) {
		find_text(vma, slots, path->dentry->d_name.name,
			  MEMLEDGER_TEXT_SHMEM, out);
	} else {
		out->slot = file_slot(slots, path, vma->vm_file, &known);
		if (!known)
			learn_name(vma, slots, out);
	}
	slots->file = vma->vm_file;
	slots->slot = out->slot;
}

static noinline void find_other(struct vm_area_struct *vma,
				struct memledger_name_slots *slots,
				struct memledger_vma *out)
{
	out->slot = MEMLEDGER_OTHER_SLOT;
	learn_name(vma, slots, out);
}

/**
 * memledger_vma_slot - find the slot of a VMA's name
 * @vma: the VMA
 * @slots: names before; learns the name unless it is one of these
 * @out: gets slot and len; name is NULL
 *
 * Context: the mmap lock is held. Does not sleep.
 */
void memledger_vma_slot(struct vm_area_struct *vma,
			struct memledger_name_slots *slots,
			struct memledger_vma *out)
{
	const char *anon = memledger_vma_anon_name(vma);
	const char *special;

	out->name = NULL;
	out->len = 0;
	if (vma->vm_file) {
		if (unlikely(anon))
			find_other(vma, slots, out);
		else if (vma->vm_file == slots->file)
			out->slot = slots->slot;
		else
			find_file(vma, slots, out);
		return;
	}
	special = special_name(vma);
	if (unlikely(special))
		find_text(vma, slots, special, MEMLEDGER_TEXT_SPECIAL, out);
	else if (anon)
		find_text(vma, slots, anon, MEMLEDGER_TEXT_ANON, out);
	else
		out->slot = MEMLEDGER_NAMELESS_SLOT;
}
