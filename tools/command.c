// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last words of a command that could not do what it was told.
 */
#include <stdio.h>

#include "command.h"

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
