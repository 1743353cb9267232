/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How commands end.
 */
#ifndef _MEMLEDGER_TOOLS_COMMAND_H
#define _MEMLEDGER_TOOLS_COMMAND_H

#define MEMLEDGER_VERSION	"0.1"

enum memledger_exit {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
};

void memledger_print_error(const char *text);
int memledger_fail(const char *text);
int memledger_fail_usage(void);
int memledger_fail_option(const char *text);

#endif
