/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What went wrong, in words for the user: where, what, and what to do next.
 */
#ifndef _MEMLEDGER_TOOLS_ERROR_H
#define _MEMLEDGER_TOOLS_ERROR_H

/**
 * struct memledger_error - a message for the user
 * @text: one line, or several; without the last newline
 */
struct memledger_error {
	char text[2048];
};

int memledger_error_set(struct memledger_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
