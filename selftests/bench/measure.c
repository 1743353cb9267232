// SPDX-License-Identifier: GPL-2.0-only
/* Measuring in turns, and the lines that are printed; see measure.h. */
#include <stdlib.h>
#include <time.h>

#include "measure.h"

void __noreturn give_up(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

u64 now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Whether it is only to be seen that a program works. */
bool once(void)
{
	return getenv("BENCH_ONCE");
}

/* How often to measure. */
int rounds(void)
{
	return once() ? 1 : MAX_ROUNDS;
}

static int compare(const void *a, const void *b)
{
	u64 one = *(const u64 *)a, other = *(const u64 *)b;

	return one < other ? -1 : one > other;
}

void sort_numbers(u64 *number, size_t nr)
{
	qsort(number, nr, sizeof(*number), compare);
}

/* Sorts the numbers. */
struct spread spread_of(u64 *number, size_t nr)
{
	sort_numbers(number, nr);
	return (struct spread){ number[nr / 2], number[0], number[nr - 1] };
}

/**
 * measure() - time several ways, in turns
 * @ways: get their times
 * @nr: how many, at most MAX_WAYS
 *
 * A round that is not counted goes first.
 */
void measure(struct way *ways, int nr)
{
	static u64 ns[MAX_WAYS][MAX_ROUNDS];

	must(nr <= MAX_WAYS);
	for (int round = once() ? 0 : -1; round < rounds(); round++) {
		for (int i = 0; i < nr; i++) {
			u64 start;

			if (ways[i].prepare)
				ways[i].prepare();
			start = now_ns();
			ways[i].run(ways[i].arg);
			if (round >= 0)
				ns[i][round] = now_ns() - start;
		}
	}
	for (int i = 0; i < nr; i++)
		ways[i].ns = spread_of(ns[i], rounds());
}

static void print_figures(const char *name, u64 ours, u64 peer)
{
	printf("bench %s ours=%llu peer=%llu ratio=%.4f", name, ours, peer,
	       (double)ours / peer);
}

static void end_line(void)
{
	putchar('\n');
	fflush(stdout);
}

/**
 * report() - print a line about what is always the same
 * @name: CASE/PEER
 * @ours: memledger's figure
 * @peer: the other one
 */
void report(const char *name, u64 ours, u64 peer)
{
	print_figures(name, ours, peer);
	end_line();
}

static void print_range(const char *name, const struct spread *spread)
{
	printf(" %s_range=%llu-%llu", name, spread->lowest, spread->highest);
}

/**
 * report_spread() - print a line about what was measured several times
 * @name: CASE/PEER
 * @ours: memledger's figure
 * @peer: the other one
 * @idle: NULL, or without either
 */
void report_spread(const char *name, const struct spread *ours,
		   const struct spread *peer, const struct spread *idle)
{
	print_figures(name, ours->median, peer->median);
	if (idle)
		printf(" idle=%llu", idle->median);
	print_range("ours", ours);
	print_range("peer", peer);
	if (idle)
		print_range("idle", idle);
	end_line();
}

/**
 * report_ways() - print a line for each peer
 * @name: of the case
 * @ours: how memledger does it, measured
 * @peers: how others do, measured
 * @nr: of @peers
 */
void report_ways(const char *name, const struct way *ours,
		 const struct way *peers, int nr)
{
	char line[100];

	for (int i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "%s/%s", name, peers[i].name);
		report_spread(line, &ours->ns, &peers[i].ns, NULL);
	}
}
