// SPDX-License-Identifier: GPL-2.0-only
/*
 * All storms of storms.c at once, for SOAK_SECONDS (180): two thirds of that on
 * all processors, the rest on one, with those too that need it. Then whatever
 * came must have gone, and the numbers still be those of smaps. That the kernel
 * reported nothing is for the machine's runner to say.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "storms.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define SLABINFO	"/proc/slabinfo"
#define THP		"/sys/kernel/mm/transparent_hugepage/enabled"
#define SHRINK		"/sys/kernel/slab/mm_struct/shrink"
/* What the kernel frees later is waited for that long, in naps. */
#define PATIENCE_MS	90000
#define NAP_MS		100
#define MORE_SECONDS	600

static unsigned int soak_seconds(void)
{
	const char *text = getenv("SOAK_SECONDS");

	return text ? strtoul(text, NULL, 0) : 180;
}

/* Processes with a program, which kernel threads have not. */
static long count_processes(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	long nr = 0;

	while (dir && (entry = readdir(dir))) {
		char path[300], program[16];

		snprintf(path, sizeof(path), "/proc/%s/exe", entry->d_name);
		nr += isdigit(*entry->d_name) &&
		      readlink(path, program, sizeof(program)) > 0;
	}
	if (dir)
		closedir(dir);
	return nr;
}

/* An idle processor keeps the memory of who was last on it: make that ours. */
static void visit_processors(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	/* Also those that the storms had to stay away from. */
	for (int i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++) {
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		sched_setaffinity(0, sizeof(one), &one);
		usleep(1000);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

/* All that there are; what lies unused in some processor's cache is given back. */
static long count_mm_structs(void)
{
	char line[512];
	long nr = -1;
	FILE *file;

	visit_processors();
	file_write(SHRINK, "1\n");
	file = fopen(SLABINFO, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "mm_struct %ld", &nr) == 1)
			break;
	}
	if (file)
		fclose(file);
	return nr;
}

static long wait_for(long (*count)(void), long want)
{
	long is = count();

	for (int ms = 0; ms < PATIENCE_MS && is != want; ms += NAP_MS) {
		usleep(NAP_MS * 1000);
		is = count();
	}
	return is;
}

/*
 * khugepaged has the lowest priority that there is. With this many storms on a
 * few processors it would sleep in the middle of an RCU section for longer than
 * the kernel finds right: that is nothing of ours, so it is given its turn.
 */
static void wake_khugepaged(int nice)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[300], comm[32] = "";

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (isdigit(*entry->d_name) &&
		    file_read(path, comm, sizeof(comm)) > 0 &&
		    !strcmp(comm, "khugepaged\n"))
			setpriority(PRIO_PROCESS, atoi(entry->d_name), nice);
	}
	if (dir)
		closedir(dir);
}

static bool is_left_out(const struct storm *storm, bool one_processor)
{
	return (storm->needs && access(storm->needs, F_OK)) ||
	       (storm->unsafe && !one_processor);
}

static void be_storm(void *arg)
{
	int i = (long)arg;
	const struct storm *storm = &storms[i];

	srand(i);
	weather_join(getpid());
	if (storm->prepare)
		storm->prepare();
	for (unsigned int n = 0;; n++) {
		storm->step(n);
		__atomic_add_fetch(&weather->steps[i], 1, __ATOMIC_RELAXED);
	}
}

static bool all_have_begun(bool one_processor)
{
	for (int i = 0; storms[i].name; i++) {
		if (!is_left_out(&storms[i], one_processor) &&
		    !__atomic_load_n(&weather->steps[i], __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

/*
 * For so long, or until each has taken a step: on a busy machine that may be
 * later. Storms are killed where they are; the module may be gone just then.
 */
static void let_blow(unsigned int seconds, bool one_processor)
{
	pid_t pids[64] = {};

	memset(weather->crowd, 0, sizeof(weather->crowd));
	weather->unloading = false;
	for (long i = 0; storms[i].name; i++) {
		if (!is_left_out(&storms[i], one_processor))
			pids[i] = start_process(be_storm, (void *)i);
	}
	sleep(seconds);
	for (int i = 0; i < MORE_SECONDS && !all_have_begun(one_processor); i++)
		sleep(1);
	for (long i = 0; storms[i].name; i++)
		end_process(pids[i]);
	/* Children that had groups of their own, and theirs. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	module_unload("kgsl_standin");
	module_load(memledger_ko(), "");
	/* Stopped, it keeps the mm_structs of who had pages merged. */
	file_write(KSM, "2\n");
}

static void hold(void *arg)
{
	size_t len = 300 * page_size();
	char *p = map_alone(len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	touch(p, len);
	madvise(p, len / 3, MADV_PAGEOUT);
}

FIXTURE(soak)
{
	pid_t pid;
};

FIXTURE_SETUP(soak)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set("/proc/sys/kernel/pid_max", "1500");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	/* No list of all processes each time one of them is too large. */
	setting_set("/proc/sys/vm/oom_dump_tasks", "0");
	weather = mmap(NULL, sizeof(*weather), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(weather, MAP_FAILED);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

FIXTURE_TEARDOWN(soak)
{
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	wake_khugepaged(19);
	settings_restore();
}

TEST_F_TIMEOUT(soak, all_storms, 7200)
{
	unsigned int seconds = soak_seconds();
	long processes = count_processes();
	long mms = count_mm_structs();
	struct vma_list smaps = {};

	wake_khugepaged(0);
	let_blow(seconds * 2 / 3, false);
	use_one_processor();
	let_blow(seconds - seconds * 2 / 3, true);
	/* khugepaged keeps the one that it is at; off, it lets go. */
	setting_set(THP, "never");

	for (int i = 0; storms[i].name; i++) {
		if (is_left_out(&storms[i], true)) {
			TH_LOG("%s: left out, no %s", storms[i].name,
			       storms[i].needs);
			continue;
		}
		TH_LOG("%s: %u steps", storms[i].name, weather->steps[i]);
		EXPECT_GT(weather->steps[i], 0);
	}
	EXPECT_EQ(weather->bad, 0);

	/* From nothing, so that no target keeps anything. */
	ASSERT_EQ(module_unload("memledger"), 0);
	EXPECT_EQ(wait_for(count_processes, processes), processes);
	EXPECT_EQ(wait_for(count_mm_structs, mms), mms);
	if (mms < 0)
		TH_LOG("mm_structs not counted: no mm_struct in " SLABINFO);

	ASSERT_EQ(module_load(memledger_ko(), ""), 0);
	ASSERT_EQ(node_write("max_age_ms", "0\n"), 0);
	self->pid = start_process(hold, NULL);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
	EXPECT_EQ(compare_process(self->pid, true, &smaps), 0);
	vmas_free(&smaps);
}

TEST_HARNESS_MAIN
