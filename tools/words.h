/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's tables in debugfs, line by line and word by word.
 */
#ifndef _MEMLEDGER_TOOLS_WORDS_H
#define _MEMLEDGER_TOOLS_WORDS_H

#include <memledger/env.h>

char *memledger_words_line(char **text);
char *memledger_words_next(char **line);
bool memledger_words_number(char **line, u64 *number);
bool memledger_words_optional(char **line, u64 *number);
bool memledger_words_maybe(char **line, u64 *number, bool *known);
bool memledger_words_bool(char **line, bool *truth);
bool memledger_words_expect(char **line, const char *word);

#endif
