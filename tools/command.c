// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a word of a command line to a number or a time; and the last words of a
 * command that could not do what it was told.
 */
#include <stdio.h>

#include "command.h"

/**
 * memledger_parse_count - read a number
 * @text: decimal digits, and nothing else
 * @least: the least that it may be
 * @most: the most
 * @count: gets it
 *
 * Return: whether it is such a number.
 */
bool memledger_parse_count(const char *text, u32 least, u32 most, u32 *count)
{
	unsigned long long number;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	number = strtoull(text, NULL, 10);
	if (errno || number < least || number > most)
		return false;
	*count = number;
	return true;
}

/**
 * memledger_parse_ms - read how long something takes
 * @text: a number and ms, s or m; seconds without one of these
 * @ms: gets it, milliseconds; from 10 to a day of them
 *
 * Return: whether it is a time.
 */
bool memledger_parse_ms(const char *text, u64 *ms)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "", 1000 }, { "s", 1000 }, { "ms", 1 },
		      { "m", 60000 } };
	double number;
	char *end;
	size_t i;

	/* No sign, no blank, and nothing of what else strtod() takes. */
	if (*text < '0' || *text > '9' || strpbrk(text, "xXeEpP"))
		return false;
	number = strtod(text, &end);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].unit))
			break;
	if (i == ARRAY_SIZE(units))
		return false;
	number *= units[i].ms;
	if (number < 10 || number > 86400000)
		return false;
	*ms = number;
	return true;
}

/**
 * memledger_print_error - print a message, or a part of one
 * @text: may hold what the user gave, or anybody's file; where that is nothing
 *	to be shown on a terminal, octal escapes are
 */
void memledger_print_error(const char *text)
{
	for (; *text; text++) {
		unsigned char c = *text;

		if ((c >= ' ' && c <= '~') || c == '\n')
			putc(c, stderr);
		else
			fprintf(stderr, "\\%03o", c);
	}
}

/**
 * memledger_fail - say why something could not be done
 * @text: why
 *
 * Return: what to exit with.
 */
int memledger_fail(const char *text)
{
	fputs("memledger: ", stderr);
	memledger_print_error(text);
	putc('\n', stderr);
	return EXIT_FAILED;
}

/**
 * memledger_fail_usage - say where to read what the command line may be
 *
 * Return: what to exit with.
 */
int memledger_fail_usage(void)
{
	fputs("Try 'memledger help'.\n", stderr);
	return EXIT_USAGE;
}

/**
 * memledger_fail_option - say what is wrong with the command line
 * @text: what
 *
 * Return: what to exit with.
 */
int memledger_fail_option(const char *text)
{
	memledger_fail(text);
	return memledger_fail_usage();
}
