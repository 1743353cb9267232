/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The row Unknown of a process, taken apart.
 */
#ifndef _MEMLEDGER_TOOLS_UNKNOWN_H
#define _MEMLEDGER_TOOLS_UNKNOWN_H

#include "subject.h"

/**
 * enum memledger_unknown_by - what the row is taken apart by
 * @MEMLEDGER_UNKNOWN_BY_CLASS: kinds of names
 * @MEMLEDGER_UNKNOWN_BY_NAME: names
 * @MEMLEDGER_UNKNOWN_BY_OWNER: who mapped it
 */
enum memledger_unknown_by {
	MEMLEDGER_UNKNOWN_BY_CLASS,
	MEMLEDGER_UNKNOWN_BY_NAME,
	MEMLEDGER_UNKNOWN_BY_OWNER,
};

bool memledger_unknown_by_parse(const char *text,
				enum memledger_unknown_by *by);
const char *memledger_unknown_file(enum memledger_unknown_by by);
int memledger_unknown_print(FILE *out, struct memledger_subject *subject,
			    enum memledger_unknown_by by, u32 top, bool json,
			    struct memledger_error *error);

#endif
