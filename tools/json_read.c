// SPDX-License-Identifier: GPL-2.0-only
/*
 * A JSON text in, a tree of its values out. Strings are decoded in the text
 * itself, where they never become longer.
 */
#include <errno.h>
#include <stdlib.h>

#include "json_read.h"

struct reader {
	char *start;
	char *at;
	char *end;
	unsigned int depth;
	bool out_of_memory;
};

static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) &&
	       *reader->at)
		reader->at++;
}

static bool take(struct reader *reader, char c)
{
	skip_blanks(reader);
	if (reader->at == reader->end || *reader->at != c)
		return false;
	reader->at++;
	return true;
}

static bool take_word(struct reader *reader, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(reader->end - reader->at) < len ||
	    memcmp(reader->at, word, len))
		return false;
	reader->at += len;
	return true;
}

static bool take_hex(struct reader *reader, unsigned int *code)
{
	unsigned int i;

	*code = 0;
	for (i = 0; i < 4; i++, reader->at++) {
		char c = reader->at < reader->end ? *reader->at : '\0';

		*code <<= 4;
		if (c >= '0' && c <= '9')
			*code |= c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			*code |= (c | 0x20) - 'a' + 10;
		else
			return false;
	}
	return true;
}

/* Six characters of the text or twelve become four bytes at the most. */
static char *put_utf8(char *to, unsigned int code)
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned int len = code < 0x80 ? 1 : code < 0x800 ? 2 :
			   code < 0x10000 ? 3 : 4;
	unsigned int i;

	for (i = len - 1; i > 0; i--, code >>= 6)
		to[i] = 0x80 | (code & 0x3f);
	to[0] = lead[len] | code;
	return to + len;
}

/* Behind "\u". A NUL would end the string early, and half a pair is nothing. */
static bool take_unicode(struct reader *reader, char **to)
{
	unsigned int code, low;

	if (!take_hex(reader, &code) || !code ||
	    (code >= 0xdc00 && code < 0xe000))
		return false;
	if (code >= 0xd800 && code < 0xdc00) {
		if (!take_word(reader, "\\u") || !take_hex(reader, &low) ||
		    low < 0xdc00 || low >= 0xe000)
			return false;
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
	}
	*to = put_utf8(*to, code);
	return true;
}

static bool take_escape(struct reader *reader, char **to)
{
	static const char from[] = "\"\\/bfnrt";
	static const char into[] = "\"\\/\b\f\n\r\t";
	const char *which;
	char c;

	if (reader->at == reader->end)
		return false;
	c = *reader->at++;
	if (c == 'u')
		return take_unicode(reader, to);
	which = c ? strchr(from, c) : NULL;
	if (!which)
		return false;
	*(*to)++ = into[which - from];
	return true;
}

/* Return: the string, or NULL if there is none. */
static char *take_string(struct reader *reader)
{
	char *string, *to;

	if (!take(reader, '"'))
		return NULL;
	string = reader->at;
	to = string;
	while (reader->at < reader->end) {
		char c = *reader->at++;

		if (c == '"') {
			*to = '\0';
			return string;
		}
		if ((unsigned char)c < ' ')
			return NULL;
		if (c != '\\')
			*to++ = c;
		else if (!take_escape(reader, &to))
			return NULL;
	}
	return NULL;
}

static bool is_digit(const struct reader *reader)
{
	return reader->at < reader->end && *reader->at >= '0' &&
	       *reader->at <= '9';
}

static bool take_digits(struct reader *reader)
{
	if (!is_digit(reader))
		return false;
	while (is_digit(reader))
		reader->at++;
	return true;
}

static bool take_number(struct reader *reader,
			struct memledger_json_value *value)
{
	bool whole = !take_word(reader, "-");
	const char *start = reader->at;
	char digits[24];
	size_t len;

	if (!take_digits(reader) || (*start == '0' && reader->at != start + 1))
		return false;
	len = reader->at - start;
	if (take_word(reader, ".")) {
		whole = false;
		if (!take_digits(reader))
			return false;
	}
	if (take_word(reader, "e") || take_word(reader, "E")) {
		whole = false;
		if (!take_word(reader, "-"))
			take_word(reader, "+");
		if (!take_digits(reader))
			return false;
	}
	if (whole && len < sizeof(digits)) {
		memcpy(digits, start, len);
		digits[len] = '\0';
		errno = 0;
		value->number = strtoull(digits, NULL, 10);
		value->whole = !errno;
	}
	return true;
}

static struct memledger_json_value *take_value(struct reader *reader);

/* Elements, or members with their keys, up to the bracket @end. */
static bool take_children(struct reader *reader, char end, bool keys,
			  struct memledger_json_value *parent)
{
	struct memledger_json_value **last = &parent->child;

	if (take(reader, end))
		return true;
	do {
		const char *key = keys ? take_string(reader) : NULL;

		if (keys && (!key || !take(reader, ':')))
			return false;
		*last = take_value(reader);
		if (!*last)
			return false;
		(*last)->key = key;
		last = &(*last)->next;
	} while (take(reader, ','));
	return take(reader, end);
}

static bool fill_value(struct reader *reader,
		       struct memledger_json_value *value)
{
	if (take(reader, '{')) {
		value->kind = MEMLEDGER_JSON_OBJECT;
		return take_children(reader, '}', true, value);
	}
	if (take(reader, '[')) {
		value->kind = MEMLEDGER_JSON_ARRAY;
		return take_children(reader, ']', false, value);
	}
	if (reader->at < reader->end && *reader->at == '"') {
		value->kind = MEMLEDGER_JSON_STRING;
		value->string = take_string(reader);
		return value->string;
	}
	if (take_word(reader, "null"))
		return true;
	value->kind = MEMLEDGER_JSON_BOOL;
	value->number = take_word(reader, "true");
	if (value->number || take_word(reader, "false"))
		return true;
	value->kind = MEMLEDGER_JSON_NUMBER;
	return take_number(reader, value);
}

static struct memledger_json_value *take_value(struct reader *reader)
{
	struct memledger_json_value *value = calloc(1, sizeof(*value));

	if (!value) {
		reader->out_of_memory = true;
		return NULL;
	}
	if (++reader->depth <= MEMLEDGER_JSON_DEPTH &&
	    fill_value(reader, value)) {
		reader->depth--;
		return value;
	}
	memledger_json_free(value);
	return NULL;
}

/**
 * memledger_json_parse - read a JSON text
 * @text: the text, which is written to; strings of the tree are part of it
 * @len: its length, bytes
 * @error: what is wrong with it, and where
 *
 * Return: its value, for memledger_json_free(), or NULL with @error set.
 */
struct memledger_json_value *memledger_json_parse(char *text, size_t len,
						  struct memledger_error *error)
{
	struct reader reader = { .start = text, .at = text, .end = text + len };
	struct memledger_json_value *value = take_value(&reader);

	skip_blanks(&reader);
	if (value && reader.at == reader.end)
		return value;
	memledger_json_free(value);
	memledger_error_set(error, reader.out_of_memory ? "no memory" :
			    "no JSON, or cut off, at byte %zu",
			    (size_t)(reader.at - reader.start));
	return NULL;
}

/**
 * memledger_json_free - free a tree
 * @value: its root; NULL is fine
 */
void memledger_json_free(struct memledger_json_value *value)
{
	while (value) {
		struct memledger_json_value *next = value->next;

		memledger_json_free(value->child);
		free(value);
		value = next;
	}
}

/**
 * memledger_json_member - find a member of an object
 * @value: the object; NULL, or anything else, has none
 * @key: its name
 *
 * Return: the first of that name, or NULL.
 */
const struct memledger_json_value *
memledger_json_member(const struct memledger_json_value *value,
		      const char *key)
{
	const struct memledger_json_value *child;

	if (!value || value->kind != MEMLEDGER_JSON_OBJECT)
		return NULL;
	for (child = value->child; child; child = child->next)
		if (!strcmp(child->key, key))
			return child;
	return NULL;
}

/**
 * memledger_json_text - a member that is a string
 * @value: the object
 * @key: its name
 *
 * Return: the string, or NULL if it is something else.
 */
const char *memledger_json_text(const struct memledger_json_value *value,
				const char *key)
{
	const struct memledger_json_value *child =
		memledger_json_member(value, key);

	return child ? child->string : NULL;
}

/**
 * memledger_json_u64 - a member that is a number
 * @value: the object
 * @key: its name
 * @number: gets it, or 0
 *
 * Return: whether it is a whole number that fits.
 */
bool memledger_json_u64(const struct memledger_json_value *value,
			const char *key, u64 *number)
{
	const struct memledger_json_value *child =
		memledger_json_member(value, key);

	*number = child && child->whole ? child->number : 0;
	return child && child->whole;
}
