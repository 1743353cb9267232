/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that anybody may have chosen, made harmless for a terminal, a CSV
 * field and a JSON string.
 */
#ifndef _MEMLEDGER_TOOLS_ESCAPE_H
#define _MEMLEDGER_TOOLS_ESCAPE_H

#include <stdio.h>

void memledger_unescape(char *text);
char *memledger_escape_text(const char *name, const char *also);
void memledger_escape_json(FILE *out, const char *name);

#endif
