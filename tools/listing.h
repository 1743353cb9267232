/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows with a name each, the largest first, as text and as JSON: what unknown
 * and explain print.
 */
#ifndef _MEMLEDGER_TOOLS_LISTING_H
#define _MEMLEDGER_TOOLS_LISTING_H

#include <memledger/names.h>

#include "report.h"

/**
 * struct memledger_listing - rows, and how to print them
 * @names: the rows, sorted
 * @total: NULL, or their sum where it is known better than from them
 * @top: how many of them to print, 0 for all; what is left is added up
 * @brief: only pss, rss, private_dirty and swap_pss are known
 * @swap_pss: whether SwapPss is available
 * @key: what a row's name is called in JSON
 * @count: what a row's number of mappings is called
 * @heading: the last columns of the text, as @tail prints them
 * @label: NULL for the row's own text, or what to print in its place
 * @tail: NULL, or prints the last columns of a row and what lies below it
 * @members: NULL, or prints further members of a row's object, the row's name
 *	among them where @key is NULL
 * @available: NULL, or tells rows that are 0 from rows nobody can fill
 * @data: for @tail, @members and @available
 */
struct memledger_listing {
	const struct memledger_names *names;
	const struct memledger_usage *total;
	u32 top;
	bool brief;
	bool swap_pss;
	const char *key;
	const char *count;
	const char *heading;
	const char *(*label)(const struct memledger_name *row);
	void (*tail)(FILE *out, const struct memledger_name *row,
		     void *data);
	void (*members)(FILE *out, bool *first,
			const struct memledger_name *row, void *data);
	bool (*available)(const struct memledger_name *row, void *data);
	void *data;
};

int memledger_listing_add(struct memledger_names *names, const char *text,
			  u32 class, const struct memledger_usage *usage);
void memledger_listing_print(FILE *out,
			     const struct memledger_listing *listing);
void memledger_listing_print_json(FILE *out, bool *first,
				  const struct memledger_listing *listing);
void memledger_listing_print_banner(FILE *out, const char *what,
				    const struct memledger_report *report);

#endif
