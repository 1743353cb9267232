/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a terminal makes of what is written to it: a screen that knows what a
 * live view may send, and takes note of everything else.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <sys/types.h>

#include <memledger/env.h>

#define SCREEN_ROWS	60
#define SCREEN_COLUMNS	200

/**
 * struct screen - a terminal
 * @rows: how many it has
 * @columns: how many it has
 * @row: where the cursor is
 * @column: where the cursor is; @columns behind the last character of a full row
 * @cell: what is to be seen; nothing but blanks behind the end of each row
 * @other: it is the screen beside the main one, which programs draw on
 * @hidden: the cursor is
 * @pictures: how often the screen was cleared to be drawn on
 * @too_wide: characters that had no column on the other screen
 * @scrolled: lines that had no row on the other screen
 * @odd: the first bytes that are neither shown nor known, each as two digits
 * @sequence: the part of an escape sequence that has arrived
 * @main: what was written to the main screen, without carriage returns
 * @main_len: its length
 */
struct screen {
	unsigned int rows, columns;
	unsigned int row, column;
	char cell[SCREEN_ROWS][SCREEN_COLUMNS + 1];
	bool other, hidden;
	unsigned int pictures;
	unsigned int too_wide, scrolled;
	char odd[64];
	char sequence[16];
	char main[16384];
	size_t main_len;
};

void screen_init(struct screen *screen, unsigned int columns,
		 unsigned int rows);
void screen_resize(struct screen *screen, unsigned int columns,
		   unsigned int rows);
void screen_write(struct screen *screen, const char *text, size_t len);
void screen_print(const struct screen *screen);

#endif
