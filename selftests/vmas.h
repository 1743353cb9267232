/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings of a process as two sources tell them, in one form: the
 * kernel's smaps, and memledger's vmas. And what memledger's unknown file tells
 * of them.
 */
#ifndef VMAS_H
#define VMAS_H

#include <sys/types.h>

#include <memledger/usage.h>

/* The fields of smaps that memledger gives too, in the order of its columns. */
enum field {
#define X(field, label, shift) FIELD_##field,
	MEMLEDGER_VMA_FIELDS(X)
#undef X
	NR_FIELDS
};

extern const char *const field_labels[NR_FIELDS];

/**
 * struct vma - a mapping
 * @start: first address
 * @end: first address behind it
 * @offset: in the file, bytes
 * @inode: of the file
 * @major: of the file's device
 * @minor: of the file's device
 * @perms: as "rw-p"
 * @have: bit mask of the fields that the source could tell
 * @value: by enum field, in the unit of the source: smaps kB, vmas bytes
 * @name: as in maps; with its deleted mark in smaps, without in vmas
 * @deleted: vmas only: the mark was there
 * @category: vmas only
 * @subcategory: vmas only, "-" for none
 * @rule: vmas only
 * @flags: smaps only: VmFlags
 *
 * The texts point into vma_list.text.
 */
struct vma {
	u64 start, end;
	u64 offset, inode;
	unsigned int major, minor;
	char perms[5];
	u32 have;
	u64 value[NR_FIELDS];
	const char *name;
	bool deleted;
	const char *category;
	const char *subcategory;
	const char *rule;
	const char *flags;
};

/**
 * struct vma_list - all mappings of a process, by address
 * @vma: the mappings
 * @nr: how many
 * @complete: vmas only: the list ended as a complete one does
 * @text: what was read
 */
struct vma_list {
	struct vma *vma;
	size_t nr;
	bool complete;
	char *text;
};

/**
 * struct name_row - mappings of a name
 * @usage: the nine numbers and how many mappings there are; the rest is 0. The
 *	fractions are gone
 * @class: part of Unknown, by its ABI name; "-" for the sum of all
 * @name: or what describes those without
 */
struct name_row {
	struct memledger_usage usage;
	const char *class;
	const char *name;
};

/**
 * struct name_list - what Unknown is made of
 * @total: the sum of all, as the file has it
 * @row: the rows
 * @nr: how many
 * @text: what was read
 */
struct name_list {
	struct name_row total;
	struct name_row *row;
	size_t nr;
	char *text;
};

int names_read_node(struct name_list *list, pid_t tgid);
void names_free(struct name_list *list);

int vmas_read_smaps(struct vma_list *list, pid_t tgid);
int vmas_read_node(struct vma_list *list, pid_t tgid);
void vmas_free(struct vma_list *list);
bool vmas_same(const struct vma_list *one, const struct vma_list *other);
u64 vmas_sum(const struct vma_list *list, u64 start, u64 end,
	     enum field field);
const struct vma *vmas_find(const struct vma_list *list, const char *name);

#endif
