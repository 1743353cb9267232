// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names in; the same names without anything that a terminal, a CSV reader or
 * a JSON parser could stumble over out. And back, for what the module made
 * harmless.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <memledger/env.h>

#include "escape.h"

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/**
 * memledger_unescape - put bytes in the place of their octal escapes
 * @text: as the module prints names; a backslash that begins no escape stays,
 *	and so does the escape of NUL, which no name has
 */
void memledger_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1] >= '0' && text[1] <= '3' &&
		    is_octal(text[2]) && is_octal(text[3]) &&
		    strncmp(text + 1, "000", 3)) {
			*to++ = (text[1] - '0') << 6 | (text[2] - '0') << 3 |
				(text[3] - '0');
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/**
 * memledger_escape_text - make a name harmless for a terminal
 * @name: any bytes
 * @also: further characters to escape; may be empty
 *
 * As the comm file of the module has it: control characters, backslash and
 * bytes over 126 become a backslash and three octal digits.
 *
 * Return: a string to be freed, or NULL where there is no memory.
 */
char *memledger_escape_text(const char *name, const char *also)
{
	char *text = malloc(4 * strlen(name) + 1);
	char *to = text;

	if (!text)
		return NULL;
	for (; *name; name++) {
		unsigned char c = *name;

		if (c < ' ' || c > '~' || c == '\\' || strchr(also, c))
			to += sprintf(to, "\\%03o", c);
		else
			*to++ = c;
	}
	*to = '\0';
	return text;
}

/*
 * Length of the well-formed UTF-8 sequence at s, 0 if there is none, and the
 * character it stands for.
 */
static unsigned int utf8_next(const unsigned char *s, unsigned int *character)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int len, i;
	unsigned int c = s[0];

	if (c < 0x80)
		len = 1;
	else if (c >= 0xc0 && c < 0xe0)
		len = 2;
	else if (c >= 0xe0 && c < 0xf0)
		len = 3;
	else if (c >= 0xf0 && c < 0xf8)
		len = 4;
	else
		return 0;

	if (len > 1)
		c &= 0x7f >> len;
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*character = c;
	return len;
}

/*
 * What a terminal acts upon, or does not show: control characters, ends of
 * lines, and those that turn the direction of what follows.
 */
static bool is_shown(unsigned int c)
{
	static const struct {
		unsigned int first, last;
	} unshown[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
		{ 0xfeff, 0xfeff }, { 0xe0000, 0xe007f },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unshown); i++)
		if (c >= unshown[i].first && c <= unshown[i].last)
			return false;
	return true;
}

static void print_escape(FILE *out, unsigned int c)
{
	if (c > 0xffff)
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		fprintf(out, "\\u%04x", c);
}

/**
 * memledger_escape_json - print a name as a JSON string
 * @out: where to
 * @name: any bytes; those that are no UTF-8 become U+FFFD
 */
void memledger_escape_json(FILE *out, const char *name)
{
	const unsigned char *s = (const unsigned char *)name;

	putc('"', out);
	while (*s) {
		unsigned int c = 0xfffd;
		unsigned int len = utf8_next(s, &c);

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (!len || !is_shown(c))
			print_escape(out, c);
		else
			fwrite(s, 1, len, out);
		s += len ? len : 1;
	}
	putc('"', out);
}
