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
/* What the kernel frees later is waited for that long, in naps. */
#define PATIENCE_MS	90000
#define NAP_MS		100
#define MORE_SECONDS	600
#define SETTLE_SECONDS	5

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

static long count_threads(void)
{
	char text[64];
	long nr = 0;

	if (file_read("/proc/loadavg", text, sizeof(text)) > 0)
		sscanf(text, "%*s %*s %*s %*d/%ld", &nr);
	return nr;
}

/*
 * Orphans of the storms: a child that nobody waits for keeps the struct pid of its
 * group, whose leader was the storm.
 */
static void reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/*
 * What exists of a kind; none is left unused in some processor's cache. An entry of
 * /proc that was looked up while its process exited has its struct pid yet.
 */
static long count_slab(const char *name)
{
	char path[80], line[512], is[64];
	long nr, found = -1;
	FILE *file;

	file_write("/proc/sys/vm/drop_caches", "2\n");
	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", name);
	file_write(path, "1\n");
	file = fopen(SLABINFO, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %ld", is, &nr) == 2 && !strcmp(is, name))
			found = nr;
	}
	if (file)
		fclose(file);
	return found;
}

/*
 * What must not be more at the end than at the start. Threads of the kernel come
 * and go: of what each of them has only those beyond count.
 */
static const struct counted {
	const char *name;
	const char *slab;	/* NULL: processes */
	bool beyond_threads;
} census[] = {
	{ "processes" },
	{ "mm_structs", "mm_struct" },
	{ "dead tasks", "task_struct", true },
	{ "dead pids", "pid", true },
	{ "tables of files", "files_cache" },
};

/* -1: the kernel does not say. */
static long count(const struct counted *what)
{
	long nr;

	reap();
	if (!what->slab)
		return count_processes();
	visit_processors();
	nr = count_slab(what->slab);
	return nr < 0 || !what->beyond_threads ? nr : nr - count_threads();
}

static long wait_for(const struct counted *what, long want)
{
	long is = count(what);

	for (int ms = 0; ms < PATIENCE_MS && is > want; ms += NAP_MS) {
		usleep(NAP_MS * 1000);
		is = count(what);
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
		if (storm->step(n))
			__atomic_add_fetch(&weather->steps[i], 1,
					   __ATOMIC_RELAXED);
	}
}

/* What is still waited for, or NULL. */
static const char *yet_to_come(bool one_processor)
{
	for (int i = 0; storms[i].name; i++) {
		if (!is_left_out(&storms[i], one_processor) &&
		    !__atomic_load_n(&weather->steps[i], __ATOMIC_RELAXED))
			return storms[i].name;
	}
	return __atomic_load_n(&weather->wraps, __ATOMIC_RELAXED) ?
	       NULL : "process numbers that begin anew";
}

/*
 * For so long, or until each has taken a step: on a busy machine that may be
 * later. Storms are killed where they are; the module may be gone just then.
 */
static void let_blow(unsigned int seconds, bool one_processor)
{
	const char *name;
	pid_t pids[64] = {};

	memset(weather->crowd, 0, sizeof(weather->crowd));
	memset(weather->steps, 0, sizeof(weather->steps));
	weather->unloading = false;
	for (long i = 0; storms[i].name; i++) {
		if (!is_left_out(&storms[i], one_processor))
			pids[i] = start_process(be_storm, (void *)i);
	}
	sleep(seconds);
	for (int i = 0; i < MORE_SECONDS; i++) {
		name = yet_to_come(one_processor);
		if (!name)
			break;
		if (i % 30 == 0) {
			printf("# waiting for %s\n", name);
			fflush(stdout);
		}
		sleep(1);
	}
	for (long i = 0; storms[i].name; i++) {
		if (pids[i] && waitpid(pids[i], NULL, WNOHANG))
			weather_bad(storms[i].name, -ECHILD);
		else
			end_process(pids[i]);
	}
	module_unload("kgsl_standin");
	module_load(memledger_ko(), "");
	/* Stopped, it keeps the mm_structs of who had pages merged. */
	file_write(KSM "run", "2\n");
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

static void report(struct __test_metadata *_metadata, bool one_processor)
{
	for (int i = 0; storms[i].name; i++) {
		if (is_left_out(&storms[i], one_processor)) {
			TH_LOG("%s: left out, %s", storms[i].name,
			       storms[i].unsafe ? "for one processor only" :
						  storms[i].needs);
			/* The machines of our own have all that is needed. */
			if (getenv("MEMLEDGER_KERNEL"))
				EXPECT_TRUE(storms[i].unsafe && !one_processor);
			continue;
		}
		TH_LOG("%s: %u steps", storms[i].name, weather->steps[i]);
		EXPECT_GT(weather->steps[i], 0);
	}
	EXPECT_GT(weather->wraps, 0);
	EXPECT_EQ(weather->bad, 0);
}

FIXTURE(soak)
{
	pid_t pid;
};

FIXTURE_SETUP(soak)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set("/proc/sys/kernel/pid_max", "400");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	/* No list of all processes each time one of them is too large. */
	setting_set("/proc/sys/vm/oom_dump_tasks", "0");
	/* Whatever is alike is found in one go. */
	setting_set(KSM "pages_to_scan", "5000");
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

static void equals_smaps(struct __test_metadata *_metadata, pid_t *pid)
{
	struct vma_list smaps = {};

	ASSERT_EQ(node_write("max_age_ms", "0\n"), 0);
	*pid = start_process(hold, NULL);
	ASSERT_EQ(wait_stopped(*pid), 0);
	ASSERT_EQ(node_write_number("track", *pid), 0);
	EXPECT_EQ(compare_process(*pid, true, &smaps), 0);
	vmas_free(&smaps);
	ASSERT_EQ(node_write_number("untrack", *pid), 0);
	end_process(*pid);
	*pid = 0;
}

TEST_F_TIMEOUT(soak, all_storms, 7200)
{
	unsigned int seconds = soak_seconds();
	long before[ARRAY_SIZE(census)], is;

	/* Whoever exited just before is not free yet. */
	sleep(SETTLE_SECONDS);
	for (size_t i = 0; i < ARRAY_SIZE(census); i++)
		before[i] = count(&census[i]);
	if (access(SLABINFO, F_OK))
		TH_LOG("nothing but processes counted: no " SLABINFO);

	wake_khugepaged(0);
	let_blow(seconds * 2 / 3, false);
	report(_metadata, false);
	use_one_processor();
	let_blow(seconds - seconds * 2 / 3, true);
	report(_metadata, true);
	/* khugepaged keeps the one that it is at; off, it lets go. */
	setting_set(THP, "never");

	/* As the storms have left it; then from nothing, so that no target keeps anything. */
	equals_smaps(_metadata, &self->pid);
	ASSERT_EQ(module_unload("memledger"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(census); i++) {
		if (!access(SLABINFO, F_OK))
			EXPECT_GE(before[i], 0)
				TH_LOG("%s: merged with others in " SLABINFO
				       " (boot with slab_nomerge)",
				       census[i].name);
		is = wait_for(&census[i], before[i]);
		TH_LOG("%s: %ld, %ld before", census[i].name, is, before[i]);
		EXPECT_LE(is, before[i]);
	}
	ASSERT_EQ(module_load(memledger_ko(), ""), 0);
	equals_smaps(_metadata, &self->pid);
}

TEST_HARNESS_MAIN
