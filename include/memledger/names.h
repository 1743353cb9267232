/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows by name: mappings that are called alike added up, the largest first.
 */
#ifndef _MEMLEDGER_NAMES_H
#define _MEMLEDGER_NAMES_H

#include <memledger/account.h>
#include <memledger/hash.h>

/**
 * struct memledger_name - all mappings of a name
 * @text: the name, NUL-terminated; empty for those without
 * @len: of @text
 * @hash: of @text and @class, by the table's key
 * @class: enum memledger_unknown_class, which tells unnamed mappings apart; a
 *	table that is not printed here may have another number in it
 * @usage: their numbers
 */
struct memledger_name {
	char *text;
	size_t len;
	u32 hash;
	u32 class;
	struct memledger_usage usage;
};

/**
 * struct memledger_names - a table of names
 * @rows: in order of appearance, or as memledger_names_sort() left them
 * @nr: how many
 * @max: for how many there is room
 * @slots: hash table: index into @rows plus 1, 0 for a free slot
 * @nr_slots: size of @slots, a power of two
 * @text: bytes of names in @rows
 * @key: for the hashes; processes choose names
 *
 * All zero is an empty table.
 */
struct memledger_names {
	struct memledger_name *rows;
	u32 nr;
	u32 max;
	u32 *slots;
	u32 nr_slots;
	u32 text;
	struct memledger_hash_key key;
};

int memledger_names_intern(struct memledger_names *names, const char *text,
			   size_t len, u32 class, u32 *index);
int memledger_names_add(struct memledger_names *names, const char *text,
			size_t len, u32 class,
			const struct memledger_vma_usage *vma, bool swappable);
void memledger_names_sort(struct memledger_names *names);
void memledger_names_free(struct memledger_names *names);
void memledger_names_print(struct memledger_out *out,
			   const struct memledger_names *names, bool swap_pss);

#endif
