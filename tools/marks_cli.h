/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands about one process at several moments.
 */
#ifndef _MEMLEDGER_TOOLS_MARKS_CLI_H
#define _MEMLEDGER_TOOLS_MARKS_CLI_H

#include <stdbool.h>

extern const char memledger_marks_usage[];

bool memledger_marks_is_command(const char *name);
int memledger_marks_command(int argc, char **argv);

#endif
