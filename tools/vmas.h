/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings of a process, one by one, from a saved smaps text or from the
 * module's vmas file.
 */
#ifndef _MEMLEDGER_TOOLS_VMAS_H
#define _MEMLEDGER_TOOLS_VMAS_H

#include <memledger/account.h>

#include "error.h"

/**
 * struct memledger_vma - a mapping
 * @start: first address
 * @end: first address behind it
 * @offset: in the file, bytes
 * @inode: of the file; 0 where there is none
 * @perms: as "rw-p"
 * @name: as /proc/PID/maps prints it, a deleted file's mark included; empty
 *	where it has none
 * @verdict: where it is counted
 * @usage: its numbers
 */
struct memledger_vma {
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	char perms[5];
	char *name;
	struct memledger_verdict verdict;
	struct memledger_vma_usage usage;
};

/**
 * struct memledger_vmas - the mappings of a process, in ascending order
 * @vma: the mappings
 * @nr: how many
 * @complete: live only: whether the walk saw all of the process
 *
 * All zero is an empty list.
 */
struct memledger_vmas {
	struct memledger_vma *vma;
	size_t nr;
	bool complete;
};

static inline unsigned int memledger_vma_prot(const struct memledger_vma *vma)
{
	return (vma->perms[0] == 'r' ? MEMLEDGER_PROT_READ : 0) |
	       (vma->perms[1] == 'w' ? MEMLEDGER_PROT_WRITE : 0) |
	       (vma->perms[2] == 'x' ? MEMLEDGER_PROT_EXEC : 0);
}

/* Permissions as a number, of so many bits. */
#define MEMLEDGER_VMA_PERM_BITS	4

u32 memledger_vma_perm_bits(const char *perms);
void memledger_vma_perm_text(u32 bits, char perms[5]);
int memledger_vmas_add(struct memledger_vmas *vmas,
		       const struct memledger_vma *vma);
int memledger_vmas_parse(struct memledger_vmas *vmas, char *text,
			 const struct memledger_profile *profile,
			 struct memledger_error *error);
void memledger_vmas_free(struct memledger_vmas *vmas);

#endif
