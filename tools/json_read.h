/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON that a program wrote, as a tree.
 */
#ifndef _MEMLEDGER_TOOLS_JSON_READ_H
#define _MEMLEDGER_TOOLS_JSON_READ_H

#include <memledger/env.h>

#include "error.h"

/* Deeper trees are refused: what we write needs five. */
#define MEMLEDGER_JSON_DEPTH	32

enum memledger_json_kind {
	MEMLEDGER_JSON_NULL,
	MEMLEDGER_JSON_BOOL,
	MEMLEDGER_JSON_NUMBER,
	MEMLEDGER_JSON_STRING,
	MEMLEDGER_JSON_ARRAY,
	MEMLEDGER_JSON_OBJECT,
};

/**
 * struct memledger_json_value - a value
 * @kind: enum memledger_json_kind
 * @key: its name where it is a member of an object, else NULL
 * @string: of a string; NUL-terminated
 * @number: of a number that is an integer from 0 to 2^64 - 1; of a bool 0 or 1
 * @whole: whether @number is the number
 * @child: the first member or element
 * @next: the one behind it
 */
struct memledger_json_value {
	enum memledger_json_kind kind;
	const char *key;
	const char *string;
	u64 number;
	bool whole;
	struct memledger_json_value *child;
	struct memledger_json_value *next;
};

struct memledger_json_value *memledger_json_parse(char *text, size_t len,
						  struct memledger_error *error);
void memledger_json_free(struct memledger_json_value *value);
const struct memledger_json_value *
memledger_json_member(const struct memledger_json_value *value,
		      const char *key);
const char *memledger_json_text(const struct memledger_json_value *value,
				const char *key);
bool memledger_json_u64(const struct memledger_json_value *value,
			const char *key, u64 *number);

#endif
