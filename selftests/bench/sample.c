// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to sample an app ten times a second, for as long as one likes:
 * all that the tool does and all that the kernel does for it. The peer is 1 %
 * of a CPU.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "processes.h"

/* Of a second, in instructions: a phone's core, 2.5 GHz and 1.6 a cycle. */
#define CPU		4000000000ULL
#define PERCENT		(CPU / 100)
#define SAMPLES_A_SECOND 10

#define RECORDING	"/tmp/bench.rec"

/* So many samples are measured at a time. */
#define SAMPLES		50

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

static pid_t start_tool(const struct kind *kind, pid_t pid)
{
	char number[16];
	pid_t tool;

	snprintf(number, sizeof(number), "%d", pid);
	fflush(stdout);
	tool = fork();
	must(tool >= 0);
	if (!tool) {
		must(freopen("/dev/null", "w", stdout));
		execlp("memledger", "memledger", "record", number, "-o",
		       RECORDING, "--every", "20ms", kind->names, NULL);
		_exit(127);
	}
	return tool;
}

/* Processor time of a process, ns; with -icount these are instructions. */
static u64 time_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	must(!clock_getcpuclockid(pid, &clock));
	must(!clock_gettime(clock, &time));
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Waits until there have been so many samples. Return: how many. */
static long long wait_for(pid_t pid, long long samples)
{
	long long nr;

	while ((nr = node_read("processes/%d/generation", pid)) < samples)
		usleep(1000);
	return nr;
}

/*
 * From the middle of one pause to that of another: what it takes to begin, and
 * the verdict in the end, is not in it.
 */
static u64 time_of_sample(const struct kind *kind, pid_t pid)
{
	pid_t tool = start_tool(kind, pid);
	long long nr = wait_for(pid, 5);
	u64 number[64], before, after;

	for (int i = 0; i < rounds(); i++) {
		long long first = nr;

		usleep(10000);
		before = time_of(tool);
		nr = wait_for(pid, first + SAMPLES);
		usleep(10000);
		after = time_of(tool);
		number[i] = (after - before) / (nr - first);
	}
	kill(tool, SIGINT);
	waitpid(tool, NULL, 0);
	must(!unlink(RECORDING));
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
