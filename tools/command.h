/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What command lines have in common: numbers and times in them, and how
 * commands end.
 */
#ifndef _MEMLEDGER_TOOLS_COMMAND_H
#define _MEMLEDGER_TOOLS_COMMAND_H

#include <memledger/env.h>

#define MEMLEDGER_VERSION	"0.1"

enum memledger_exit {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
};

bool memledger_parse_count(const char *text, u32 least, u32 most, u32 *count);
bool memledger_parse_ms(const char *text, u64 *ms);
void memledger_print_error(const char *text);
int memledger_fail(const char *text);
int memledger_fail_usage(void);
int memledger_fail_option(const char *text);

#endif
