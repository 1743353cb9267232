// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes in, by libFuzzer: the smaps reader, the classifier and all outputs
 * must stand them, under every profile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(const struct memledger_report *report)
{
	static FILE *out;

	if (!out)
		out = fopen("/dev/null", "we");
	if (!out)
		abort();
	memledger_report_print_table(out, report, 0);
	memledger_report_print_table(out, report, MEMLEDGER_TABLE_FULL |
				     MEMLEDGER_TABLE_DALVIK);
	memledger_report_print_checkin(out, report);
	memledger_report_print_json(out, report);
}

/* Rows must add up to the total, whatever the text. */
static void check_sums(const struct memledger_totals *totals)
{
	u64 rss = 0, pss = 0, vmas = 0;
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		rss += totals->category[i].rss;
		pss += totals->category[i].pss;
		vmas += totals->category[i].vmas;
	}
	if (rss != totals->total.rss || pss != totals->total.pss ||
	    vmas != totals->total.vmas || pss != totals->total.pss_floor << 12)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int i;

	for (i = 0; i < nr_memledger_profiles; i++) {
		struct memledger_report report;
		struct memledger_error error;
		FILE *file;

		/* fmemopen() takes no empty buffer. */
		if (!size)
			return 0;
		file = fmemopen((void *)data, size, "r");
		if (!file)
			abort();
		if (!memledger_smaps_read(file, "fuzz",
					  &memledger_profiles[i], &report,
					  &error)) {
			report.source = "fuzz";
			check_sums(&report.totals);
			print_all(&report);
		}
		fclose(file);
	}
	return 0;
}
