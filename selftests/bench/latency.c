// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a process notices that it is looked at: the time that a pair of
 * mmap() and munmap() takes in it while nobody looks, while smaps_rollup is
 * read in a loop, and while memledger takes snapshots in a loop, on another
 * processor. Without -icount, which runs all processors on one thread.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure.h"
#include "processes.h"
#include "ways.h"

#define PERIOD_NS	1500000000ULL
#define MAX_SAMPLES	(1 << 20)

enum { P50, P99, P999, MAX, NR_FIGURES };

static const char *const figure_names[NR_FIGURES] = {
	"p50", "p99", "p99.9", "max",
};

/**
 * struct victim - the process whose calls are timed
 * @run: maps what it is walked for
 * @arg: for @run
 * @orders: pipe: a byte makes it measure for PERIOD_NS
 * @results: pipe: what it has measured: u64 by figure, ns
 */
struct victim {
	void (*run)(void *arg);
	void *arg;
	int orders[2];
	int results[2];
};

/* By what others do meanwhile. */
enum { IDLE, OURS, PEER, NR_READERS };

static void (*const readers[NR_READERS])(void *pid) = {
	[OURS] = take_snapshot,
	[PEER] = read_rollup,
};

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set));
}

static size_t time_calls(u64 *ns)
{
	size_t len = 2 * page_size(), nr = 0;
	u64 last = now_ns(), end = last + PERIOD_NS;

	while (last < end && nr < MAX_SAMPLES) {
		void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		u64 now;

		must(p != MAP_FAILED && !munmap(p, len));
		now = now_ns();
		ns[nr++] = now - last;
		last = now;
	}
	sort_numbers(ns, nr);
	return nr;
}

static void run_victim(void *arg)
{
	struct victim *victim = arg;
	u64 *ns, figures[NR_FIGURES];
	size_t nr;
	char order;

	run_on(0);
	close(victim->orders[1]);
	victim->run(victim->arg);
	ns = malloc(MAX_SAMPLES * sizeof(*ns));
	must(ns);
	/* Once for nothing: pages of the array, and everything else. */
	time_calls(ns);
	do {
		nr = time_calls(ns);
		figures[P50] = ns[nr / 2];
		figures[P99] = ns[nr - 1 - nr / 100];
		figures[P999] = ns[nr - 1 - nr / 1000];
		figures[MAX] = ns[nr - 1];
		must(write(victim->results[1], figures, sizeof(figures)) ==
		     sizeof(figures));
	} while (read(victim->orders[0], &order, 1) == 1);
	_exit(0);
}

/**
 * struct reading - what a reader does
 * @read: once
 * @pid: of which process
 */
struct reading {
	void (*read)(void *pid);
	pid_t pid;
};

static void run_reader(void *arg)
{
	struct reading *reading = arg;

	run_on(1);
	for (;;)
		reading->read(&reading->pid);
}

static void measure_once(const struct victim *victim, u64 *figures)
{
	must(write(victim->orders[1], "", 1) == 1);
	must(read(victim->results[0], figures, NR_FIGURES * sizeof(*figures)) ==
	     NR_FIGURES * sizeof(*figures));
}

static void report_figure(const char *name, int figure,
			  u64 ns[NR_READERS][NR_FIGURES][MAX_ROUNDS])
{
	struct spread spread[NR_READERS];
	char line[100];

	for (int i = 0; i < NR_READERS; i++)
		spread[i] = spread_of(ns[i][figure], rounds());
	snprintf(line, sizeof(line), "%s/%s", name, figure_names[figure]);
	report_spread(line, &spread[OURS], &spread[PEER], &spread[IDLE]);
}

static void run_case(const char *name, void (*run)(void *arg), void *arg)
{
	static u64 ns[NR_READERS][NR_FIGURES][MAX_ROUNDS];
	struct victim victim = { .run = run, .arg = arg };
	u64 figures[NR_FIGURES];
	struct reading reading;
	pid_t pid, reader;

	printf("# %s\n", name);
	fflush(stdout);
	must(!pipe(victim.orders) && !pipe(victim.results));
	pid = start_process(run_victim, &victim);
	must(pid > 0);
	must(read(victim.results[0], figures, sizeof(figures)) ==
	     sizeof(figures));
	must(!node_write_number("track", pid));
	for (int round = 0; round < rounds(); round++) {
		for (int i = 0; i < NR_READERS; i++) {
			reading.read = readers[i];
			reading.pid = pid;
			reader = readers[i] ?
				 start_process(run_reader, &reading) : 0;
			must(reader >= 0);
			measure_once(&victim, figures);
			end_process(reader);
			for (int j = 0; j < NR_FIGURES; j++)
				ns[i][j][round] = figures[j];
		}
	}
	for (int i = 0; i < NR_FIGURES; i++)
		report_figure(name, i, ns);
	must(!node_write_number("untrack", pid));
	end_process(pid);
	for (int i = 0; i < 2; i++) {
		close(victim.orders[i]);
		close(victim.results[i]);
	}
}

int main(void)
{
	static unsigned int cycles = APP_CYCLES(6000);
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (why)
		give_up("%s", why);
	files_make();
	run_case("latency_app", run_app, &cycles);
	run_case("latency_large", map_large, NULL);
	files_remove();
	settings_restore();
	return 0;
}
