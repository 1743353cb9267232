/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands that make a recording, and that make something of one.
 */
#ifndef _MEMLEDGER_TOOLS_RECORD_CLI_H
#define _MEMLEDGER_TOOLS_RECORD_CLI_H

#include <stdbool.h>

extern const char memledger_record_usage[];

bool memledger_record_is_command(const char *name);
int memledger_record_command(int argc, char **argv);

#endif
