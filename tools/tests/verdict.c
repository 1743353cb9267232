// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of samples, 50 of each kind, each from a seed of its own and noisy,
 * through the verdict: at most one of all may be judged wrongly.
 *
 *	verdict		TAP: how many of each kind were right
 *	verdict -v	also each wrong one
 *	verdict KIND SEED	the numbers of one stream
 */
#include <math.h>

#include "../statistics.h"
#include "../verdict.h"

#define STREAMS		50
#define MOST_ROUNDS	240
#define KB		1024.
#define MB		(1024 * KB)

/* As xorshift64* has it (Marsaglia; Vigna). */
static u64 state;

static double uniform(double from, double to)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return from + (to - from) * ((state * 0x2545f4914f6cdd1dULL) >> 11) /
	       (double)(1ULL << 53);
}

static int between(int from, int to)
{
	return uniform(from, to + 0.999);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform(0.000000000001, 1))) * cos(2 * M_PI * uniform(0, 1));
}

/**
 * struct stream - what a stream is made of
 * @rounds: how many samples
 * @value: what the category that matters holds, without noise, bytes
 * @swapped: which part of it is swapped out
 * @clean: clean pages of files
 * @noise: standard deviation, bytes
 * @begin: samples before this one are of another process
 */
struct stream {
	int rounds;
	double value[MOST_ROUNDS];
	double swapped[MOST_ROUNDS];
	double clean[MOST_ROUNDS];
	double noise;
	int begin;
};

static double log_uniform(double from, double to)
{
	return exp(uniform(log(from), log(to)));
}

/* How much it is all about, and how noisy that is. */
static double choose_size(struct stream *stream)
{
	double size = log_uniform(1 * MB, 60 * MB);

	stream->noise = size * log_uniform(0.001, 0.06);
	return size;
}

static void make_stable(struct stream *stream)
{
	choose_size(stream);
}

static void make_warming(struct stream *stream)
{
	double size = choose_size(stream);
	double tau = stream->rounds / uniform(1.6, 2.6);
	int i;

	for (i = 0; i < stream->rounds; i++)
		stream->value[i] = size * (1 - exp(-i / tau));
}

/* A cache that fills and stays; or a library that is loaded; or a curve. */
static void make_plateau(struct stream *stream)
{
	double size = choose_size(stream);
	int way = between(0, 2);
	double full = stream->rounds * uniform(0.15, 0.6);
	double tau = stream->rounds / uniform(7, 15);
	int i;

	for (i = 0; i < stream->rounds; i++)
		stream->value[i] = way == 0 ? size * fmin(i / full, 1) :
				   way == 1 ? size * (i > full) :
				   size * (1 - exp(-i / tau));
}

/* Each round; in steps; after warming up; after a while; under a saw-tooth. */
static void make_growing(struct stream *stream)
{
	double size = choose_size(stream);
	int way = between(0, 4), steps = between(2, 4), i;
	int idle = stream->rounds * uniform(0.2, 0.5);
	double warm = size * uniform(0.3, 1);
	double tau = stream->rounds * uniform(0.03, 0.1);
	int period = between(5, 7);

	for (i = 0; i < stream->rounds; i++) {
		double leak = size * i / stream->rounds;

		if (way == 1)
			leak = size * (i / steps * steps) / stream->rounds;
		if (way == 2)
			leak += warm * (1 - exp(-i / tau));
		if (way == 3)
			leak = size * fmax(i - idle, 0) /
			       (stream->rounds - idle);
		if (way == 4)
			leak += 0.8 * size * (i % period) / (period - 1);
		stream->value[i] = leak;
	}
}

static void make_saw(struct stream *stream)
{
	double size = choose_size(stream), level = uniform(0, 1);
	double step = 1 / uniform(7, fmin(16, stream->rounds / 4.));
	int i;

	for (i = 0; i < stream->rounds; i++) {
		stream->value[i] = size * level;
		level += step * uniform(0.7, 1.3);
		if (level > 1)
			level = uniform(0, 0.25);
	}
}

/* Something is used, then nobody needs it, and in the end it is gone. */
static void make_deferred(struct stream *stream)
{
	double size = choose_size(stream), left = uniform(0, 0.2);
	int begin = stream->rounds * uniform(0.1, 0.3);
	int end = stream->rounds * uniform(0.5, 0.8);
	int way = between(0, 2), ramp = between(1, 4), i;

	for (i = 0; i < stream->rounds; i++) {
		double used = fmin(fmax(i - begin, 0) / ramp, 1);
		double given = fmin(fmax(i - end, 0) / ramp, 1);

		/* It may have been there from the first. */
		if (way == 0)
			used = 1;
		stream->value[i] = size * (used - (1 - left) * given * used);
	}
}

/* What goes out to swap is still held. */
static void make_swapping(struct stream *stream)
{
	double size = choose_size(stream);
	int begin = stream->rounds * uniform(0.1, 0.3), i;
	double per_round = uniform(0.5, 2) / stream->rounds;

	for (i = 0; i < stream->rounds; i++) {
		stream->value[i] = size;
		stream->swapped[i] = fmin(fmax(i - begin, 0) * per_round, 0.95);
	}
}

/* Files that are read more and more. */
static void make_clean(struct stream *stream)
{
	double size = choose_size(stream);
	int i;

	for (i = 0; i < stream->rounds; i++)
		stream->clean[i] = 3 * size * i / stream->rounds;
}

/* It was larger, and another one, and that grew. */
static void make_reused(struct stream *stream)
{
	double size = choose_size(stream);
	int i;

	stream->begin = stream->rounds / 2;
	for (i = 0; i < stream->rounds; i++)
		stream->value[i] = i < stream->begin ?
				   size * i / stream->begin : 2 * size;
}

static const struct {
	const char *name;
	void (*make)(struct stream *stream);
	enum memledger_trend_kind want;
} kinds[] = {
	{ "stable", make_stable, MEMLEDGER_TREND_STABLE },
	{ "warming up", make_warming, MEMLEDGER_TREND_WARMING_UP },
	{ "plateau", make_plateau, MEMLEDGER_TREND_PLATEAU },
	{ "growing", make_growing, MEMLEDGER_TREND_GROWING },
	{ "saw-tooth", make_saw, MEMLEDGER_TREND_SAW_TOOTH },
	{ "deferred release", make_deferred, MEMLEDGER_TREND_DEFERRED },
	{ "swapping out", make_swapping, MEMLEDGER_TREND_STABLE },
	{ "file-clean growth", make_clean, MEMLEDGER_TREND_STABLE },
	{ "reused pid", make_reused, MEMLEDGER_TREND_STABLE },
};

/* Independent, or dependent on the last; now and then a wild one. */
static double next_noise(double *last, double memory, double wild)
{
	double noise = normal();

	*last = memory * *last + sqrt(1 - memory * memory) * noise;
	if (uniform(0, 1) < wild)
		return *last + 8 * noise;
	return *last;
}

static const enum memledger_category categories[] = {
	MEMLEDGER_CAT_NATIVE_HEAP, MEMLEDGER_CAT_DALVIK_HEAP,
	MEMLEDGER_CAT_UNKNOWN, MEMLEDGER_CAT_STACK,
};

/* The category that matters, one of files, and others that only rustle. */
static int set_rows(struct memledger_sample *sample,
		    const struct stream *stream, int i, size_t which,
		    double base, double *last, double memory, double wild)
{
	struct memledger_sample_row *rows =
		&sample->row[MEMLEDGER_SAMPLE_CATEGORIES];
	size_t c;

	for (c = 0; c < ARRAY_SIZE(categories); c++) {
		struct memledger_sample_row *row = &rows[categories[c]];
		double held = base / (c + 1);

		held += next_noise(&last[c], memory, wild) * stream->noise /
			(c == which ? 1 : 4);
		if (c == which)
			held += stream->value[i];
		held = fmax(floor(held / 4096) * 4096, 0);
		row->swap_pss = c == which ? held * stream->swapped[i] : 0;
		row->pss = held - row->swap_pss;
		row->swap = row->swap_pss;
		row->private_dirty = row->pss;
		row->rss = row->pss;
		row->vmas = 10;
	}
	if (memledger_sample_add_name(sample, MEMLEDGER_SAMPLE_MAPPINGS,
				      categories[which], "leaky",
				      stream->value[i], 9) ||
	    memledger_sample_add_name(sample, MEMLEDGER_SAMPLE_MAPPINGS,
				      categories[which], "rest", base, 1))
		return -ENOMEM;
	rows[MEMLEDGER_CAT_SO_MMAP] = (struct memledger_sample_row){
		.pss = 3 * MB + stream->clean[i],
		.rss = 3 * MB + stream->clean[i],
		.private_clean = 2 * MB + stream->clean[i],
		.private_dirty = 1 * MB,
		.vmas = 30,
	};
	return 0;
}

static int make_samples(struct memledger_samples *samples, size_t kind,
			u64 seed, size_t *which)
{
	double last[ARRAY_SIZE(categories)] = { 0 };
	struct stream stream = { 0 };
	double memory, wild, base;
	int i;

	state = (kind + 1) * 0x9e3779b97f4a7c15ULL + seed * 0xd1b54a32d192ed03ULL;
	for (i = 0; i < 8; i++)
		uniform(0, 1);
	stream.rounds = between(40, 120);
	if (kinds[kind].make == make_reused)
		stream.rounds *= 2;
	kinds[kind].make(&stream);
	*which = between(0, ARRAY_SIZE(categories) - 1);
	memory = between(0, 1) * uniform(0, 0.5);
	wild = between(0, 1) * 0.02;
	base = log_uniform(2 * MB, 300 * MB);
	for (i = 0; i < stream.rounds; i++) {
		struct memledger_sample *sample = memledger_samples_add(samples);

		if (!sample)
			return -ENOMEM;
		sample->time_ns = (i + uniform(0, 0.2)) * 1e9;
		sample->tgid = 77;
		sample->start_ticks = i < stream.begin ? 1000 : 2000;
		sample->complete = true;
		sample->unavailable = MEMLEDGER_UNAVAILABLE_MTRACK |
				      MEMLEDGER_SAMPLE_NO_DMABUF;
		if (set_rows(sample, &stream, i, *which, base, last, memory,
			     wild))
			return -ENOMEM;
	}
	return 0;
}

/* Names of the category are known: that of what leaks is the most precise. */
static bool is_driver(const struct memledger_finding *finding,
		      enum memledger_category category)
{
	const struct memledger_part *part;

	if (finding->driver < 0)
		return false;
	part = &finding->part[finding->driver].part;
	return part->kind == MEMLEDGER_PART_NAME && part->index == category &&
	       !strcmp(part->name, "leaky");
}

static bool judge_right(size_t kind, u64 seed, bool verbose)
{
	struct memledger_samples samples = { 0 };
	struct memledger_finding finding;
	bool right = false;
	size_t which;

	if (!make_samples(&samples, kind, seed, &which) &&
	    !memledger_finding_make(&finding, &samples)) {
		right = finding.kind == kinds[kind].want &&
			finding.begin == (kinds[kind].make == make_reused ?
					  samples.nr / 2 : 0);
		if (right && finding.kind == MEMLEDGER_TREND_GROWING)
			right = is_driver(&finding, categories[which]);
		if (!right && verbose)
			printf("# %s %llu: %s (total %s), p %g, since %zu of %zu\n",
			       kinds[kind].name, seed,
			       memledger_trend_names[finding.kind],
			       memledger_trend_names[finding.total.kind],
			       finding.total.p, finding.total.since,
			       finding.rounds);
		memledger_finding_free(&finding);
	}
	memledger_samples_free(&samples);
	return right;
}

static int print_stream(size_t kind, u64 seed)
{
	const struct memledger_part total = { .kind = MEMLEDGER_PART_TOTAL };
	struct memledger_samples samples = { 0 };
	size_t which, i;
	u64 value;

	if (kind >= ARRAY_SIZE(kinds) ||
	    make_samples(&samples, kind, seed, &which))
		return 2;
	for (i = 0; i < samples.nr; i++)
		if (memledger_sample_value(&samples.sample[i], &total, &value))
			printf("%llu\n", value);
	memledger_samples_free(&samples);
	return 0;
}

/* Numbers without any noise, in kB, by their round. */
static u64 leak(int i)
{
	return 2000 + 64 * i;
}

static u64 leak_one_in_three(int i)
{
	return 9000 + 4096 * (i / 3);
}

static u64 cache(int i)
{
	return 2000 + 512 * (i < 8 ? i : 8);
}

static u64 library(int i)
{
	return 2000 + (i < 4 ? 0 : 3000);
}

static u64 level(int i)
{
	return 2000 + 4 * (i % 2);
}

static u64 teeth(int i)
{
	return 2000 + 300 * (i % 6);
}

static u64 pairs(int i)
{
	return 2000 + 600 * (i % 12 < 6);
}

static u64 late(int i)
{
	return 2000 + (i > 2 && i < 14 ? 5000 : 0);
}

static u64 jit(int i)
{
	return 2000 + 4000 * (1 - exp(-i / 10.));
}

static const struct {
	const char *name;
	u64 (*kb)(int i);
	int rounds;
	enum memledger_trend_kind want;
	double per_round;	/* bytes; 0: does not matter */
} exact[] = {
	{ "7 rounds tell nothing", leak, 7, MEMLEDGER_TREND_UNKNOWN, 0 },
	{ "64 kB a round, 8 rounds", leak, 8, MEMLEDGER_TREND_GROWING, 65536 },
	{ "64 kB a round, 20 rounds", leak, 20, MEMLEDGER_TREND_GROWING,
	  65536 },
	{ "64 kB a round, 1000 rounds", leak, 1000, MEMLEDGER_TREND_GROWING,
	  65536 },
	{ "4 MB each third round", leak_one_in_three, 21,
	  MEMLEDGER_TREND_GROWING, 0 },
	{ "a cache that fills and stays", cache, 24, MEMLEDGER_TREND_PLATEAU,
	  0 },
	{ "a library that is loaded", library, 20, MEMLEDGER_TREND_PLATEAU, 0 },
	{ "a page more or less", level, 20, MEMLEDGER_TREND_STABLE, 0 },
	{ "teeth", teeth, 24, MEMLEDGER_TREND_SAW_TOOTH, 0 },
	{ "high and low in turn", pairs, 48, MEMLEDGER_TREND_SAW_TOOTH, 0 },
	{ "freed late", late, 24, MEMLEDGER_TREND_DEFERRED, 0 },
	{ "less and less", jit, 20, MEMLEDGER_TREND_WARMING_UP, 0 },
};

static bool judge_exact(size_t which)
{
	static struct memledger_point points[1000];
	struct memledger_trend trend;
	int i, rounds = exact[which].rounds;
	double off;

	for (i = 0; i < rounds; i++)
		points[i] = (struct memledger_point){
			(i + 1) * 500000000ULL, 1024 * exact[which].kb(i), i };
	if (memledger_trend_judge(points, rounds, &trend))
		return false;
	off = exact[which].per_round - trend.per_round;
	if (trend.kind == exact[which].want &&
	    (!exact[which].per_round ||
	     (off == 0 && trend.per_second == 2 * trend.per_round &&
	      trend.first == points[rounds < 15 ? 1 : 2].bytes)))
		return true;
	printf("# %s: %s, %g a round, %g a second\n", exact[which].name,
	       memledger_trend_names[trend.kind], trend.per_round,
	       trend.per_second);
	return false;
}

/* By hand: of ten numbers in a row the sum is 45, its variance 125. */
static const struct {
	const char *name;
	double number[10];
	double correlation;
	double slope;
	double tau;
	int per_million;	/* p */
} slopes[] = {
	{ "in a row", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, 0, 1, 1, 42 },
	{ "in a row, but each after the last",
	  { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, 0.6, 1, 1, 24549 },
	{ "falling", { 20, 18, 16, 14, 12, 10, 8, 6, 4, 2 }, 0, -2, -1, 42 },
	{ "equal", { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 }, 0, 0, 0, 500000 },
	{ "one wild", { 1, 2, 3, 4, 999, 6, 7, 8, 9, 10 }, 0, 1, 35. / 45,
	  1179 },
};

static bool judge_slope(size_t which)
{
	struct memledger_slope slope;

	if (!memledger_statistics_slope(slopes[which].number, 10,
					slopes[which].correlation, &slope) &&
	    slope.slope == slopes[which].slope &&
	    slope.tau == slopes[which].tau &&
	    (int)(slope.p * 1000000 + 0.5) == slopes[which].per_million)
		return true;
	printf("# %s: slope %g, tau %g, p %g\n", slopes[which].name,
	       slope.slope, slope.tau, slope.p);
	return false;
}

int main(int argc, char **argv)
{
	u64 from = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 1;
	size_t kind, i, wrong = 0;
	bool failed;

	if (argc > 2)
		return print_stream(atoi(argv[1]), strtoull(argv[2], NULL, 0));
	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		size_t right = 0;
		u64 seed;

		for (seed = from; seed < from + STREAMS; seed++)
			right += judge_right(kind, seed, argc > 1);
		printf("# %s: %zu of %d\n", kinds[kind].name, right, STREAMS);
		wrong += STREAMS - right;
	}
	printf("%sok 1 - %zu of %zu streams judged wrongly, at most 1\n",
	       wrong > 1 ? "not " : "", wrong, STREAMS * ARRAY_SIZE(kinds));
	failed = wrong > 1;
	for (kind = 0; kind < ARRAY_SIZE(exact); kind++) {
		bool right = judge_exact(kind);

		printf("%sok %zu - %s\n", right ? "" : "not ", kind + 2,
		       exact[kind].name);
		failed |= !right;
	}
	for (i = 0; i < ARRAY_SIZE(slopes); i++) {
		bool right = judge_slope(i);

		printf("%sok %zu - slope of numbers %s\n",
		       right ? "" : "not ", i + kind + 2, slopes[i].name);
		failed |= !right;
	}
	printf("1..%zu\n", i + kind + 1);
	return failed;
}
