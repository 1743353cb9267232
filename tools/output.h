/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are there in full or not at all.
 */
#ifndef _MEMLEDGER_TOOLS_OUTPUT_H
#define _MEMLEDGER_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "error.h"

/**
 * struct memledger_output - a file that is there only once it is complete
 * @path: the file; NULL for standard output
 * @temporary: what it is called until then
 * @file: where to print to
 */
struct memledger_output {
	const char *path;
	char *temporary;
	FILE *file;
};

int memledger_output_open(struct memledger_output *output, const char *path,
			  mode_t mode, struct memledger_error *error);
int memledger_output_close(struct memledger_output *output, bool failed,
			   struct memledger_error *error);

#endif
