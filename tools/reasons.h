/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is unavailable, and why, for all outputs about graphics.
 */
#ifndef _MEMLEDGER_TOOLS_REASONS_H
#define _MEMLEDGER_TOOLS_REASONS_H

#include <stdbool.h>
#include <stdio.h>

#define MEMLEDGER_REASONS_MAX	64

/**
 * struct memledger_reasons - why numbers are unavailable
 * @nr: how many are
 * @reason: their names, which are constants, and why
 *
 * All zero says that everything is available.
 */
struct memledger_reasons {
	unsigned int nr;
	struct {
		const char *name;
		char text[256];
	} reason[MEMLEDGER_REASONS_MAX];
};

void memledger_reasons_add(struct memledger_reasons *reasons, const char *name,
			   const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void memledger_reasons_print(FILE *out,
			     const struct memledger_reasons *reasons);
void memledger_reasons_print_json(FILE *out, bool *first,
				  const struct memledger_reasons *reasons);

#endif
