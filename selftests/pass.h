/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of memledger's snapshot file, word by word.
 */
#ifndef PASS_H
#define PASS_H

#include <sys/types.h>

#include <memledger/env.h>

#define MAX_COLUMNS	256

/**
 * struct pass - a reading of the file
 * @begin: the first line
 * @end: the last line
 * @columns: how many there are
 * @column: their names
 * @nr: how many processes
 * @cells: of each line as many words as there are columns
 * @text: what was read
 */
struct pass {
	const char *begin;
	const char *end;
	int columns;
	const char *column[MAX_COLUMNS];
	int nr;
	const char **cells;
	char *text;
};

/* What pass_number() says of a "-". */
#define NOT_KNOWN	(-1)

int pass_parse(struct pass *pass, char *text);
int pass_read(struct pass *pass, size_t piece);
void pass_free(struct pass *pass);
int pass_find(const struct pass *pass, pid_t tgid);
const char *pass_cell(const struct pass *pass, int line, const char *column);
long long pass_number(const struct pass *pass, int line, const char *column);
long long pass_says(const char *line, const char *what);
int pass_check(const struct pass *pass);

#endif
