// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to sample an app ten times a second, for as long as one likes:
 * all that the tool does and all that the kernel does for it. The peer is 1 %
 * of a CPU.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "processes.h"

/* Of a second, in instructions: a phone's core, 2.5 GHz and 1.6 a cycle. */
#define CPU		4000000000ULL
#define PERCENT		(CPU / 100)
#define SAMPLES_A_SECOND 10

/* What it takes to begin and to end is in both. */
#define FEW		5
#define MANY		55

static unsigned int app_cycles = APP_CYCLES(3000);

/**
 * struct kind - a way to sample
 * @name: of the case
 * @names: the option of memledger record that takes names down, or NULL
 */
static const struct kind {
	const char *name;
	const char *names;
} kinds[] = {
	{ "sample/record", NULL },
	{ "sample/names", "--names=20" },
};

/* Processor time of the tool, ns; with -icount these are instructions. */
static u64 time_of(const struct kind *kind, pid_t pid, int samples)
{
	char number[16], rounds[16];
	struct rusage usage;
	pid_t tool;
	int status;

	snprintf(number, sizeof(number), "%d", pid);
	snprintf(rounds, sizeof(rounds), "%d", samples);
	fflush(stdout);
	tool = fork();
	must(tool >= 0);
	if (!tool) {
		must(freopen("/dev/null", "w", stdout));
		execlp("memledger", "memledger", "record", number, "-o",
		       "/tmp/bench.rec", "--every", "10ms", "--rounds", rounds,
		       kind->names, NULL);
		_exit(127);
	}
	must(wait4(tool, &status, 0, &usage) == tool && !status);
	must(!unlink("/tmp/bench.rec"));
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
}

static u64 time_of_sample(const struct kind *kind, pid_t pid)
{
	u64 number[64];

	for (int i = 0; i < rounds(); i++)
		number[i] = (time_of(kind, pid, MANY) -
			     time_of(kind, pid, FEW)) / (MANY - FEW);
	return spread_of(number, rounds()).median;
}

int main(void)
{
	const char *why = nodes_missing();
	pid_t pid;

	if (!why)
		why = tool_missing();
	if (why)
		give_up("%s", why);
	files_make();
	pid = start_process(run_app, &app_cycles);
	must(pid > 0 && !wait_stopped(pid));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		u64 ns = time_of_sample(&kinds[i], pid);

		printf("# %s: %llu a sample\n", kinds[i].name, ns);
		report(kinds[i].name, ns * SAMPLES_A_SECOND, PERCENT);
	}
	end_process(pid);
	files_remove();
	return 0;
}
