// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of numbers that are unavailable in; the same, each with its reason, as
 * text and as JSON, out.
 */
#include <stdarg.h>
#include <string.h>

#include "json.h"
#include "reasons.h"

/**
 * memledger_reasons_add - note that a number is unavailable
 * @reasons: where to; what finds no room is dropped, and so is the reason of a
 *	name that has one already
 * @name: its ABI name, a constant
 * @format: why, as for printf(); what does not fit is cut off
 */
void memledger_reasons_add(struct memledger_reasons *reasons, const char *name,
			   const char *format, ...)
{
	unsigned int i;
	va_list args;

	for (i = 0; i < reasons->nr; i++)
		if (!strcmp(reasons->reason[i].name, name))
			return;
	if (reasons->nr == MEMLEDGER_REASONS_MAX)
		return;
	va_start(args, format);
	reasons->reason[reasons->nr].name = name;
	vsnprintf(reasons->reason[reasons->nr].text,
		  sizeof(reasons->reason[0].text), format, args);
	reasons->nr++;
	va_end(args);
}

/**
 * memledger_reasons_print - print reasons, one a line
 * @out: where to
 * @reasons: the reasons; neighbours with the same one share a line
 */
void memledger_reasons_print(FILE *out,
			     const struct memledger_reasons *reasons)
{
	unsigned int i, first;

	for (i = 0; i < reasons->nr;) {
		first = i;
		fputs("Unavailable:", out);
		do {
			fprintf(out, " %s", reasons->reason[i++].name);
		} while (i < reasons->nr &&
			 !strcmp(reasons->reason[i].text,
				 reasons->reason[first].text));
		fprintf(out, ": %s\n", reasons->reason[first].text);
	}
}

/**
 * memledger_reasons_print_json - print reasons as members of an object
 * @out: where to
 * @first: as for memledger_json_key()
 * @reasons: the reasons
 *
 * They are unavailable, an array of names, as in all JSON of the tool, and
 * reasons, an object with a text for each of these names.
 */
void memledger_reasons_print_json(FILE *out, bool *first,
				  const struct memledger_reasons *reasons)
{
	bool first_reason = true;
	unsigned int i;

	memledger_json_key(out, first, "unavailable");
	putc('[', out);
	for (i = 0; i < reasons->nr; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "",
			reasons->reason[i].name);
	putc(']', out);
	memledger_json_key(out, first, "reasons");
	putc('{', out);
	for (i = 0; i < reasons->nr; i++)
		memledger_json_string(out, &first_reason,
				      reasons->reason[i].name,
				      reasons->reason[i].text);
	putc('}', out);
}
