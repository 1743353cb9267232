// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last words of a command that could not do what it was told.
 */
#include <stdio.h>

#include "command.h"

/**
 * memledger_fail - say why something could not be done
 * @text: why
 *
 * Return: what to exit with.
 */
int memledger_fail(const char *text)
{
	fprintf(stderr, "memledger: %s\n", text);
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
