// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text of the module's tables in; lines, words and numbers out. Words are
 * separated by single blanks, since what a line ends in may hold any.
 */
#include <ctype.h>

#include "words.h"

/**
 * memledger_words_line - take the next line off a text
 * @text: advanced past the line; the text is cut up
 *
 * Return: the line without its end, NULL at the end of the text and for a last
 * line that has no end, which is no whole line.
 */
char *memledger_words_line(char **text)
{
	char *line = *text;
	char *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

/**
 * memledger_words_next - take the next word off a line
 * @line: advanced past the word and a blank; NULL behind the last word
 *
 * Return: the word, NULL if there is none.
 */
char *memledger_words_next(char **line)
{
	char *word = strsep(line, " ");

	return word && *word ? word : NULL;
}

/**
 * memledger_words_number - take a decimal number off a line
 * @line: as for memledger_words_next()
 * @number: gets the number
 *
 * Return: whether there was one.
 */
bool memledger_words_number(char **line, u64 *number)
{
	char *word = memledger_words_next(line);
	char *end;

	if (!word || !isdigit((unsigned char)*word))
		return false;
	errno = 0;
	*number = strtoull(word, &end, 10);
	return !*end && !errno;
}

/**
 * memledger_words_optional - take a number, or a "-" in its place, off a line
 * @line: as for memledger_words_next()
 * @number: gets the number, or 0 for "-"
 *
 * Return: whether there was either.
 */
bool memledger_words_optional(char **line, u64 *number)
{
	if (*line && (*line)[0] == '-') {
		*number = 0;
		return !strcmp(memledger_words_next(line), "-");
	}
	return memledger_words_number(line, number);
}

/**
 * memledger_words_maybe - take a number, or a "-" in its place, off a line
 * @line: as for memledger_words_next()
 * @number: gets the number, or 0 for "-"
 * @known: false for "-"
 *
 * Return: whether there was either.
 */
bool memledger_words_maybe(char **line, u64 *number, bool *known)
{
	*known = *line && (*line)[0] != '-';
	return memledger_words_optional(line, number);
}

/**
 * memledger_words_bool - take a 0 or a 1 off a line
 * @line: as for memledger_words_next()
 * @truth: gets which
 *
 * Return: whether there was either.
 */
bool memledger_words_bool(char **line, bool *truth)
{
	u64 number;

	if (!memledger_words_number(line, &number) || number > 1)
		return false;
	*truth = number;
	return true;
}

/**
 * memledger_words_expect - take a certain word off a line
 * @line: as for memledger_words_next()
 * @word: which one
 *
 * Return: whether it was that.
 */
bool memledger_words_expect(char **line, const char *word)
{
	const char *next = memledger_words_next(line);

	return next && !strcmp(next, word);
}
