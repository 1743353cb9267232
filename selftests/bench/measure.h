/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the bench programs share: time, ways of getting the same numbers that
 * are measured in turns, and the lines that they print. Whatever goes wrong
 * ends the program: half a measurement is none.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "testlib.h"

#define MAX_ROUNDS	7
#define MAX_WAYS	8

/**
 * struct spread - a figure that was measured several times
 * @median: the middle one
 * @lowest: the smallest
 * @highest: the largest
 */
struct spread {
	u64 median, lowest, highest;
};

/**
 * struct way - something whose time is of interest
 * @name: for the report; without a blank
 * @prepare: NULL, or what goes before each @run and is not measured
 * @run: does it once
 * @arg: for @run
 * @ns: how long it took; with -icount these are instructions
 */
struct way {
	const char *name;
	void (*prepare)(void);
	void (*run)(void *arg);
	void *arg;
	struct spread ns;
};

void __noreturn __printf(1, 2) give_up(const char *fmt, ...);

#define must(x)								\
	do {								\
		if (!(x))						\
			give_up("%s:%d: %s: %m", __FILE__, __LINE__, #x); \
	} while (0)

u64 now_ns(void);
bool once(void);
int rounds(void);
void sort_numbers(u64 *number, size_t nr);
struct spread spread_of(u64 *number, size_t nr);
void measure(struct way *ways, int nr);

void report(const char *name, u64 ours, u64 peer);
void report_spread(const char *name, const struct spread *ours,
		   const struct spread *peer, const struct spread *idle);
void report_ways(const char *name, const struct way *ours,
		 const struct way *peers, int nr);

#endif
