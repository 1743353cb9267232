/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A picture on a terminal, again and again, or one below the other in a file;
 * keys, signals and the time for the next one.
 */
#ifndef _MEMLEDGER_TOOLS_TERMINAL_H
#define _MEMLEDGER_TOOLS_TERMINAL_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <termios.h>

#include <memledger/env.h>

#define MEMLEDGER_TERMINAL_WIDTH	1024

/**
 * struct memledger_terminal - what the picture is for
 * @live: it is a terminal that is drawn on, and not a file
 * @fits: no picture has more lines than the terminal
 * @before: how it was
 * @width: columns
 * @height: lines, 0 for no end
 * @waiting: signals that are blocked while waiting
 */
struct memledger_terminal {
	bool live;
	bool fits;
	struct termios before;
	sigset_t waiting;
	unsigned int width;
	unsigned int height;
};

/**
 * enum memledger_terminal_event - what came first
 * @MEMLEDGER_TERMINAL_TIME: the time that was waited for
 * @MEMLEDGER_TERMINAL_KEY: a key, or input in its place
 * @MEMLEDGER_TERMINAL_ALSO: what else was waited for
 * @MEMLEDGER_TERMINAL_DRAW: the picture is gone, or the terminal has another
 *	size
 * @MEMLEDGER_TERMINAL_END: a signal to end, or nobody is there any more
 */
enum memledger_terminal_event {
	MEMLEDGER_TERMINAL_TIME,
	MEMLEDGER_TERMINAL_KEY,
	MEMLEDGER_TERMINAL_ALSO,
	MEMLEDGER_TERMINAL_DRAW,
	MEMLEDGER_TERMINAL_END,
};

/**
 * struct memledger_line - a line, cut where the terminal ends
 * @text: no character of it is wider than one column
 * @len: bytes
 * @width: of the terminal
 */
struct memledger_line {
	char text[MEMLEDGER_TERMINAL_WIDTH + 1];
	size_t len;
	size_t width;
};

void memledger_line_append(struct memledger_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void memledger_line_print(FILE *out, struct memledger_line *line);

void memledger_terminal_begin(struct memledger_terminal *terminal, bool batch);
void memledger_terminal_measure(struct memledger_terminal *terminal);
void memledger_terminal_show(const struct memledger_terminal *terminal,
			     const char *text, size_t len);
enum memledger_terminal_event
memledger_terminal_wait(struct memledger_terminal *terminal, u64 until_ms,
			struct pollfd *also, char *key);
void memledger_terminal_leave(struct memledger_terminal *terminal);
void memledger_terminal_end(struct memledger_terminal *terminal);
u64 memledger_terminal_now_ms(void);

#endif
