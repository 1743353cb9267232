// SPDX-License-Identifier: GPL-2.0-only
/*
 * What there is to say of a process in; the same in words and numbers out.
 */
#include <math.h>

#include "escape.h"
#include "verdict.h"

/* So many parts are listed: the first matter most. */
#define PARTS_SHOWN	10

static const char *const kinds[] = {
	[MEMLEDGER_PART_TOTAL] = "all",
	[MEMLEDGER_PART_CATEGORY] = "category",
	[MEMLEDGER_PART_UNKNOWN] = "in Unknown",
	[MEMLEDGER_PART_DMABUF] = "DMA-BUFs",
	[MEMLEDGER_PART_GPU] = "GPU usage",
	[MEMLEDGER_PART_NAME] = "mappings",
	[MEMLEDGER_PART_EXPORTER] = "DMA-BUFs of",
};

/**
 * memledger_part_kind_text - say what kind of part it is
 * @part: the part
 *
 * Return: a word or two.
 */
const char *memledger_part_kind_text(const struct memledger_part *part)
{
	return kinds[part->kind];
}

/**
 * memledger_part_count_text - say what is counted of a part
 * @part: the part
 *
 * Return: a word.
 */
const char *memledger_part_count_text(const struct memledger_part *part)
{
	return part->kind == MEMLEDGER_PART_DMABUF ||
	       part->kind == MEMLEDGER_PART_EXPORTER ? "buffers" : "mappings";
}

/**
 * memledger_trend_print - print a trend with its evidence, in one line
 * @out: where to
 * @trend: the trend
 *
 * Sizes are in kB of 1024 bytes.
 */
void memledger_trend_print(FILE *out, const struct memledger_trend *trend)
{
	fprintf(out, "%s: %.1f kB to %.1f kB in %zu rounds (%.1f to %.1f)",
		memledger_trend_texts[trend->kind], trend->first / 1024.,
		trend->last / 1024., trend->rounds, trend->least / 1024.,
		trend->most / 1024.);
	if (trend->kind != MEMLEDGER_TREND_UNKNOWN)
		fprintf(out,
			"; since round %zu %+.1f kB a round (95 %%: %+.1f to %+.1f), %+.1f kB a second; tau %.2f, by chance %.1g; noise %.1f kB, %u drops",
			trend->since_round + 1, trend->per_round / 1024,
			trend->per_round_low / 1024,
			trend->per_round_high / 1024,
			trend->per_second / 1024, trend->tau, trend->p,
			trend->noise / 1024, trend->drops);
	putc('\n', out);
}

static void print_part(FILE *out, const struct memledger_finding_part *part)
{
	char *label = memledger_escape_text(memledger_part_label(&part->part),
					    "");

	fprintf(out, "  %s %s: ", kinds[part->part.kind],
		label ? label : "(out of memory)");
	free(label);
	if (part->vmas)
		fprintf(out, "%+lld %s; ", part->vmas,
			memledger_part_count_text(&part->part));
	memledger_trend_print(out, &part->trend);
}

/**
 * memledger_finding_print - print what there is to say of a process
 * @out: where to
 * @finding: the finding
 *
 * The verdict first, then what drives it, then the whole and the other parts
 * that are not stable, each with its evidence.
 */
void memledger_finding_print(FILE *out, const struct memledger_finding *finding)
{
	size_t i;

	fprintf(out, "Verdict: %s\n", memledger_trend_texts[finding->kind]);
	if (finding->driver >= 0) {
		fputs("Driven by\n", out);
		print_part(out, &finding->part[finding->driver]);
	}
	fputs("All of it\n  ", out);
	memledger_trend_print(out, &finding->total);
	for (i = 0; i < finding->nr && i < PARTS_SHOWN; i++) {
		if (!i)
			fputs("Parts that are not stable\n", out);
		print_part(out, &finding->part[i]);
	}
	if (finding->nr > PARTS_SHOWN)
		fprintf(out, "  and %zu more\n", finding->nr - PARTS_SHOWN);
	if (finding->incomplete)
		fprintf(out,
			"%zu samples were left out: the walk had to stop early.\n",
			finding->incomplete);
}
