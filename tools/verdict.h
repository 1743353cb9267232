/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what a process had in the same state, round after round, to whether it
 * grows, how fast, how sure that is, since when, and what of it does. No I/O.
 *
 * struct memledger_verdict is the classifier's, so this is called a trend.
 */
#ifndef _MEMLEDGER_TOOLS_VERDICT_H
#define _MEMLEDGER_TOOLS_VERDICT_H

#include "sample.h"

/* Fewer rounds tell nothing. */
#define MEMLEDGER_TREND_ROUNDS	8

/* Changes of fewer bytes altogether are nothing. */
#define MEMLEDGER_TREND_LEAST	65536

/* X(ID, ABI name, in words). */
#define MEMLEDGER_TRENDS(X)						\
	X(UNKNOWN,	unknown,	"too few rounds to tell")	\
	X(STABLE,	stable,		"stable")			\
	X(WARMING_UP,	warming_up,	"warming up")			\
	X(PLATEAU,	plateau,	"plateau")			\
	X(GROWING,	growing,	"growing")			\
	X(SAW_TOOTH,	saw_tooth,	"saw-tooth")			\
	X(DEFERRED,	deferred_release, "deferred release")

/**
 * enum memledger_trend_kind - how a number behaves over the rounds
 * @NR_MEMLEDGER_TRENDS: how many there are
 *
 * UNKNOWN: fewer than MEMLEDGER_TREND_ROUNDS. STABLE: no more than noise.
 * WARMING_UP: rises, but less and less. PLATEAU: rose, and stays. GROWING:
 * rises to the end, or its low points do. SAW_TOOTH: rises and falls again
 * and again. DEFERRED: what it had was given back, late.
 */
enum memledger_trend_kind {
#define X(id, name, text) MEMLEDGER_TREND_##id,
	MEMLEDGER_TRENDS(X)
#undef X
	NR_MEMLEDGER_TRENDS
};

/* Indexed by the enum. */
extern const char *const memledger_trend_names[NR_MEMLEDGER_TRENDS];
extern const char *const memledger_trend_texts[NR_MEMLEDGER_TRENDS];

/**
 * struct memledger_point - a number at one moment
 * @time_ns: when
 * @bytes: how much
 * @round: in which round, from 0; in some it may not be known
 */
struct memledger_point {
	u64 time_ns;
	u64 bytes;
	size_t round;
};

/**
 * struct memledger_trend - how a number behaves, and why we think so
 * @kind: enum memledger_trend_kind; STABLE and so on
 * @rounds: how many points there were
 * @since: index of the point where the last stretch begins: what grows has
 *	grown since, what stays has stayed since
 * @since_round: its round
 * @since_ns: its time
 * @first: bytes at the beginning, median of a few points
 * @last: bytes at the end, likewise
 * @least: the least of all points, bytes
 * @most: the most of all points, bytes
 * @noise: standard deviation from that shape, bytes
 * @per_round: slope of the last stretch, bytes a round (Theil and Sen's)
 * @per_round_low: its 95 % confidence interval
 * @per_round_high: likewise
 * @per_second: the slope in bytes a second
 * @tau: Kendall's rank correlation with time in the last stretch, -1 to 1
 * @p: how likely noise alone has so much of a trend in the last stretch
 *	(Mann and Kendall's test, one-sided, corrected for autocorrelation)
 * @drops: how often it fell by more than noise
 */
struct memledger_trend {
	enum memledger_trend_kind kind;
	size_t rounds;
	size_t since;
	size_t since_round;
	u64 since_ns;
	u64 first;
	u64 last;
	u64 least;
	u64 most;
	double noise;
	double per_round;
	double per_round_low;
	double per_round_high;
	double per_second;
	double tau;
	double p;
	unsigned int drops;
};

/**
 * struct memledger_finding_part - a part of a process with its trend
 * @part: which part; its name is that of a sample
 * @trend: how it behaves
 * @vmas: by how many mappings or buffers it grew between the first and the
 *	last round; 0 where they are not counted
 */
struct memledger_finding_part {
	struct memledger_part part;
	struct memledger_trend trend;
	s64 vmas;
};

/**
 * struct memledger_finding - what there is to say of a process
 * @kind: GROWING if any part is; else what its total is
 * @begin: index of the first sample looked at: an earlier one is of another
 *	process, or was not complete
 * @rounds: complete samples from there on
 * @incomplete: samples from there on that were not complete, and not used
 * @total: the process's trend
 * @part: parts that are neither STABLE nor UNKNOWN: those that grow first,
 *	and of these the fastest
 * @nr: how many
 * @driver: index into @part of what drives the verdict, the most precise
 *	(a name before a class before a category); -1 if none
 */
struct memledger_finding {
	enum memledger_trend_kind kind;
	size_t begin;
	size_t rounds;
	size_t incomplete;
	struct memledger_trend total;
	struct memledger_finding_part *part;
	size_t nr;
	int driver;
};

int memledger_trend_judge(const struct memledger_point *points, size_t nr,
			  struct memledger_trend *trend);
int memledger_finding_make(struct memledger_finding *finding,
			   const struct memledger_samples *samples);
void memledger_finding_free(struct memledger_finding *finding);
void memledger_finding_print(FILE *out,
			     const struct memledger_finding *finding);
const char *memledger_part_kind_text(const struct memledger_part *part);
const char *memledger_part_count_text(const struct memledger_part *part);
void memledger_trend_print(FILE *out, const struct memledger_trend *trend);

#endif
