// SPDX-License-Identifier: GPL-2.0-only
/*
 * What memledger costs while it is loaded and nobody reads it: many forks and
 * exits, and pairs of mmap and munmap, with the module and without. Should be nothing, since
 * it attaches to nothing: that is looked at, too.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define NR_FORKS	200
#define NR_MMAPS	20000

#define KPROBES	"/sys/kernel/debug/kprobes/list"
#define TIMERS	"/proc/timer_list"
#define TRACED	"/sys/kernel/tracing/enabled_functions"

static bool loaded;

/* What loading and unloading leave to be done later is not to be measured. */
#define SETTLE_US	200000

static void load(void)
{
	must(loaded || !module_load(memledger_ko(), ""));
	loaded = true;
	usleep(SETTLE_US);
}

static void unload(void)
{
	must(!loaded || !module_unload("memledger"));
	loaded = false;
	usleep(SETTLE_US);
}

static void fork_and_exit(void *unused)
{
	(void)unused;
	for (int i = 0; i < NR_FORKS; i++) {
		pid_t pid = fork();
		int status;

		must(pid >= 0);
		if (!pid)
			_exit(0);
		must(waitpid(pid, &status, 0) == pid && !status);
	}
}

static void mmap_and_munmap(void *unused)
{
	size_t len = 2 * page_size();

	(void)unused;
	for (int i = 0; i < NR_MMAPS; i++) {
		void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(p != MAP_FAILED && !munmap(p, len));
	}
}

/* A file of kernels that have it is to be the same with the module. */
static void check_same(const char *path)
{
	char *before, *after;

	unload();
	before = file_slurp(path);
	if (!before) {
		printf("# no %s\n", path);
		return;
	}
	load();
	after = file_slurp(path);
	must(after);
	if (strcmp(before, after))
		give_up("%s has changed:\n%s", path, after);
	printf("# nothing in %s\n", path);
	free(before);
	free(after);
}

static void check_timers(void)
{
	char *timers;

	load();
	timers = file_slurp(TIMERS);
	must(timers);
	if (strstr(timers, "memledger"))
		give_up("%s has a timer:\n%s", TIMERS, timers);
	printf("# nothing in %s\n", TIMERS);
	free(timers);
}

int main(void)
{
	struct way ways[] = {
		{ "fork_exit", load, fork_and_exit },
		{ "fork_exit", unload, fork_and_exit },
		{ "mmap_munmap", load, mmap_and_munmap },
		{ "mmap_munmap", unload, mmap_and_munmap },
	};
	const char *why = nodes_missing();

	if (why)
		give_up("%s", why);
	loaded = true;
	puts("# idle");
	check_same(KPROBES);
	check_same(TRACED);
	check_timers();
	measure(ways, ARRAY_SIZE(ways));
	report_ways("idle", &ways[0], &ways[1], 1);
	report_ways("idle", &ways[2], &ways[3], 1);
	load();
	return 0;
}
