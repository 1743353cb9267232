// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages for the user, made where something went wrong, printed by main().
 */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

/**
 * memledger_error_set - say what went wrong
 * @error: where to keep it; what does not fit is cut off
 * @format: as for printf()
 *
 * Return: -1, so that the caller can return it.
 */
int memledger_error_set(struct memledger_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -1;
}
