/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts that all JSON of the tool is made of.
 */
#ifndef _MEMLEDGER_TOOLS_JSON_H
#define _MEMLEDGER_TOOLS_JSON_H

#include "report.h"

void memledger_json_key(FILE *out, bool *first, const char *key);
void memledger_json_number(FILE *out, bool *first, const char *key, u64 number,
			   bool available);
void memledger_json_bool(FILE *out, bool *first, const char *key, bool truth);
void memledger_json_string(FILE *out, bool *first, const char *key,
			   const char *string);
void memledger_json_usage(FILE *out, bool *first,
			  const struct memledger_usage *row, bool available,
			  bool swap_pss);
void memledger_json_report(FILE *out, bool *first,
			   const struct memledger_report *report);
void memledger_json_unavailable(FILE *out, bool *first,
				const struct memledger_report *report);

#endif
