/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mappings of all processes by name, from the module's mappings file.
 */
#ifndef _MEMLEDGER_TOOLS_MAPPINGS_H
#define _MEMLEDGER_TOOLS_MAPPINGS_H

#include "system.h"

/**
 * struct memledger_mapping_row - mappings of a name of a process
 * @pid: the process
 * @process: its place in the list of processes
 * @name: as /proc/PID/maps prints it, without a deleted mark; empty where
 *	there is none
 * @perms: as "rw-p"
 * @deleted: the file is gone
 * @usage: what they have
 */
struct memledger_mapping_row {
	pid_t pid;
	size_t process;
	const char *name;
	char perms[5];
	bool deleted;
	struct memledger_system_row usage;
};

/**
 * struct memledger_mappings - all of them
 * @system: the pass, and the processes without numbers
 * @row: in the order of the file
 * @nr: how many
 *
 * All zero is an empty one. Strings are part of the text that was parsed.
 */
struct memledger_mappings {
	struct memledger_system system;
	struct memledger_mapping_row *row;
	size_t nr;
};

int memledger_mappings_parse(struct memledger_mappings *mappings, char *text,
			     struct memledger_error *error);
void memledger_mappings_free(struct memledger_mappings *mappings);

#endif
