/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * processes/TGID/owners as data, with the functions that its offsets lie in.
 */
#ifndef OWNER_ROWS_H
#define OWNER_ROWS_H

#include <stdint.h>
#include <sys/types.h>

#include <memledger/usage.h>

/**
 * struct owner_row - a line of owners
 * @pss: bytes, as the others
 * @rss: bytes
 * @private_dirty: bytes
 * @regions: mappings
 * @perms: as "rw-p"
 * @source: "capture", "name", or "-"
 * @owner: file and offset, or what is said instead
 * @library: the file's name without its directories; empty if there is none
 * @function: where the offset is in the file; empty if that is in none
 */
struct owner_row {
	u64 pss, rss, private_dirty, regions;
	char perms[8];
	char source[16];
	char owner[256];
	char library[64];
	char function[64];
};

/**
 * struct owner_rows - all of owners
 * @capturing: what the first line says
 * @ranges: and
 * @dropped: and
 * @nr: rows
 * @row: these
 */
struct owner_rows {
	bool capturing;
	u64 ranges, dropped;
	unsigned int nr;
	struct owner_row row[64];
};

int owner_rows_read(struct owner_rows *rows, pid_t tgid);
void owner_rows_print(const struct owner_rows *rows);
int elf_function_at(const char *path, u64 offset, char *name, size_t size);

#endif
