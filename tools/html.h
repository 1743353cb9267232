/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts that a page for a browser is made of.
 */
#ifndef _MEMLEDGER_TOOLS_HTML_H
#define _MEMLEDGER_TOOLS_HTML_H

#include <stdio.h>

#include <memledger/env.h>

extern const char memledger_html_style[];

void memledger_html_text(FILE *out, const char *text);
void memledger_html_kb(FILE *out, s64 bytes, bool change);
void memledger_html_cell_text(FILE *out, const char *text);
void memledger_html_cell_kb(FILE *out, const char *key, u64 bytes, bool known);
void memledger_html_cell_change(FILE *out, s64 bytes, bool known);
void memledger_html_cell_count(FILE *out, s64 number, bool known);
void memledger_html_begin_table(FILE *out, const char *caption,
				const char *const *headings);
void memledger_html_end_table(FILE *out);

#endif
