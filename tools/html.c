// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts and numbers in; the same as parts of a page, harmless whatever they
 * say, out.
 */
#include "escape.h"
#include "html.h"
#include "sizes.h"

/**
 * memledger_html_text - print a text
 * @out: where to
 * @text: any bytes; those that a terminal could stumble over are octal escapes
 *	as everywhere, and what HTML could is as it has to be there
 */
void memledger_html_text(FILE *out, const char *text)
{
	char *harmless = memledger_escape_text(text, "");
	const char *c;

	for (c = harmless; c && *c; c++)
		switch (*c) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(*c, out);
		}
	free(harmless);
}

/**
 * memledger_html_kb - print a size
 * @out: where to
 * @bytes: the size, or a difference of sizes
 * @change: print a plus, too
 */
void memledger_html_kb(FILE *out, s64 bytes, bool change)
{
	char text[MEMLEDGER_SIZE_TEXT_LEN];

	memledger_size_text(bytes, text);
	text[strlen(text) - 1] = '\0';
	fprintf(out, "%s%s", change && bytes >= 1024 ? "+" : "", text);
}

/**
 * memledger_html_cell_text - print a cell with a text, which heads its line
 * @out: where to
 * @text: the text
 */
void memledger_html_cell_text(FILE *out, const char *text)
{
	fputs("<th scope=\"row\">", out);
	memledger_html_text(out, text);
	fputs("</th>", out);
}

/**
 * memledger_html_cell_kb - print a cell with a size
 * @out: where to
 * @key: NULL, or how a program that reads the page finds it
 * @bytes: the size
 * @known: whether it is
 */
void memledger_html_cell_kb(FILE *out, const char *key, u64 bytes, bool known)
{
	if (!known) {
		fputs("<td class=\"na\">n/a</td>", out);
		return;
	}
	fputs("<td", out);
	if (key)
		fprintf(out, " data-key=\"%s\"", key);
	fprintf(out, " data-bytes=\"%llu\">", bytes);
	memledger_html_kb(out, bytes, false);
	fputs("</td>", out);
}

/**
 * memledger_html_cell_change - print a cell with a difference of sizes
 * @out: where to
 * @bytes: the difference
 * @known: whether it is
 */
void memledger_html_cell_change(FILE *out, s64 bytes, bool known)
{
	if (!known) {
		fputs("<td class=\"na\">n/a</td>", out);
		return;
	}
	fprintf(out, "<td class=\"%s\">", bytes >= 1024 ? "up" :
		bytes <= -1024 ? "down" : "same");
	memledger_html_kb(out, bytes, true);
	fputs("</td>", out);
}

/**
 * memledger_html_cell_count - print a cell with a number
 * @out: where to
 * @number: the number
 * @known: whether it is
 */
void memledger_html_cell_count(FILE *out, s64 number, bool known)
{
	if (known)
		fprintf(out, "<td>%lld</td>", number);
	else
		fputs("<td class=\"na\">n/a</td>", out);
}

/**
 * memledger_html_begin_table - begin a table, whose lines are to follow
 * @out: where to
 * @caption: what is in it
 * @headings: of the columns, NULL behind the last
 */
void memledger_html_begin_table(FILE *out, const char *caption,
				const char *const *headings)
{
	fputs("<div class=\"wide\"><table>\n<caption><span>", out);
	memledger_html_text(out, caption);
	fputs("</span></caption>\n<thead><tr>", out);
	for (; *headings; headings++) {
		fputs("<th scope=\"col\">", out);
		memledger_html_text(out, *headings);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
}

/**
 * memledger_html_end_table - end a table
 * @out: where to
 */
void memledger_html_end_table(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}
