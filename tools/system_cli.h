/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands about all processes at once, whose options are those of the
 * Android tools that they are named after.
 */
#ifndef _MEMLEDGER_TOOLS_SYSTEM_CLI_H
#define _MEMLEDGER_TOOLS_SYSTEM_CLI_H

#include <stdbool.h>

extern const char memledger_system_usage[];

bool memledger_system_is_command(const char *name);
int memledger_system_command(int argc, char **argv);
int memledger_system_show(const char *sysfs, const char *proc, bool json);

#endif
