// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process has more than at a mark, what has not been released since, and
 * who holds it: memledger mark and diff of processes that do as they are told.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "actor.h"
#include "exporter.h"
#include "kgsl.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define KB	1024ULL
#define MB	(1024 * KB)

FIXTURE(retained)
{
	struct actors actors;
	char marks[32];
	char want[256];
	char *text;
};

FIXTURE_SETUP(retained)
{
	const char *why = nodes_missing();

	if (!why)
		why = tool_missing();
	if (!why)
		why = exporter_load();
	if (why)
		SKIP(return, "%s", why);
	snprintf(self->marks, sizeof(self->marks), "/tmp/marksXXXXXX");
	ASSERT_NE(mkdtemp(self->marks), NULL);
	setenv("MEMLEDGER_MARKS", self->marks, 1);
	ASSERT_EQ(actors_init(&self->actors), 0);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(actor_start(&self->actors, i), 0);
}

FIXTURE_TEARDOWN(retained)
{
	actors_end(&self->actors);
	exporter_unload();
	free(self->text);
	free(tool_run("rm -r %s", self->marks));
}

#define DO(i, ...)	ACT(&self->actors, i, __VA_ARGS__)
#define PID(i)		(self->actors.pid[i])

/* Runs the command, and keeps what it says. */
#define RUN(...)							\
do {									\
	free(self->text);						\
	self->text = tool_run(__VA_ARGS__);				\
	ASSERT_NE(self->text, NULL);					\
} while (0)

#define SAYS(...)							\
({									\
	snprintf(self->want, sizeof(self->want), __VA_ARGS__);		\
	!!strstr(self->text, self->want);				\
})

#define EXPECT_SAYS(...)						\
	EXPECT_TRUE(SAYS(__VA_ARGS__))					\
		TH_LOG("not in it: \"%s\"\n%s", self->want, self->text)

#define EXPECT_NOT_SAYS(...)						\
	EXPECT_FALSE(SAYS(__VA_ARGS__))					\
		TH_LOG("in it: \"%s\"\n%s", self->want, self->text)

#define MARK(i)								\
do {									\
	RUN("memledger mark %d 2>&1", PID(i));				\
	ASSERT_TRUE(SAYS("Marked pid %d ", PID(i)))			\
		TH_LOG("%s", self->text);				\
} while (0)

#define LOOK(i)	RUN("memledger diff %d --expect-released --grace 10ms 2>&1", \
		    PID(i))

static long long grow(pid_t *pid)
{
	int status;

	kill(*pid, SIGCONT);
	return waitpid(*pid, &status, WUNTRACED) == *pid && WIFSTOPPED(status);
}

/* What is shared with the parent is so until either writes: be the one. */
static void own_memory(void)
{
	char *text = file_slurp("/proc/self/maps"), *rest = text, *line;
	unsigned long start, end;

	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%lx-%lx rw-p", &start, &end) != 2 ||
		    !strstr(line, " rw-p "))
			continue;
		for (; start < end; start += page_size())
			__atomic_fetch_add((char *)start, 0, __ATOMIC_RELAXED);
	}
	free(text);
}

#define LEAKS	1204

static void leak_many(void *arg)
{
	(void)arg;
	own_memory();
	raise(SIGSTOP);
	for (int i = 0; i < LEAKS; i++) {
		char *p = map_alone(64 * KB, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, 64 * KB,
		      "scudo:secondary");
		touch(p, 4 * KB);
	}
}

TEST_F_TIMEOUT(retained, new_mappings, TIMEOUT)
{
	pid_t pid = start_process(leak_many, NULL);
	u64 page = page_size() / KB;
	bool names = node_read("features/anon_names") == 1;

	ASSERT_EQ(wait_stopped(pid), 0);
	RUN("memledger mark %d 2>&1", pid);
	EXPECT_SAYS("Marked pid %d [retained] in %s/%d.json: ", pid,
		    self->marks, pid);
	RUN("memledger diff %d 2>&1", pid);
	EXPECT_SAYS("By category: as before\n");
	EXPECT_SAYS("By name of the mapping: as before\n");

	ASSERT_TRUE(grow(&pid));
	RUN("memledger diff %d 2>&1", pid);
	if (names) {
		EXPECT_SAYS("1,204 new VMAs of [anon:scudo:secondary]\n");
		EXPECT_SAYS("1,204 new VMAs of Native Heap\n");
	}
	RUN("memledger diff %d --json 2>&1", pid);
	if (names)
		EXPECT_SAYS("{\"name\":\"[anon:scudo:secondary]\",\"change\":%llu,",
			    LEAKS * page * KB);
	end_process(pid);
	RUN("memledger diff %d 2>&1", pid);
	EXPECT_SAYS("the process %d that was marked has exited\n", pid);
}

/* Of three buffers one is closed, one is kept open, one stays mapped. */
TEST_F_TIMEOUT(retained, closed_kept_and_mapped, TIMEOUT)
{
	long long closed, kept, mapped;

	closed = DO(0, ACTOR_CREATE, .slot = 0, .size = MB);
	kept = DO(0, ACTOR_CREATE, .slot = 1, .size = 2 * MB);
	mapped = DO(0, ACTOR_CREATE, .slot = 2, .size = 3 * MB,
		    .to = EXPORTER_PAGES);
	ASSERT_GT(closed, 0);
	ASSERT_GT(kept, 0);
	ASSERT_GT(mapped, 0);
	ASSERT_GE(DO(0, ACTOR_MAP, .slot = 2, .to = 0, .size = 3 * MB), 0);
	MARK(0);
	EXPECT_SAYS(", 3 DMA-BUFs");

	ASSERT_GE(DO(0, ACTOR_CLOSE, .slot = 0), 0);
	ASSERT_GE(DO(0, ACTOR_CLOSE, .slot = 2), 0);
	LOOK(0);
	EXPECT_NOT_SAYS(" %lld\n", closed);
	EXPECT_SAYS("2,048K");
	EXPECT_SAYS(" %lld\n%28s%s[%d] fd ", kept, "", "retained", PID(0));
	EXPECT_SAYS(" %lld\n%28s%s[%d] mapping ", mapped, "", "retained",
		    PID(0));
	EXPECT_SAYS("1 fewer buffer of ");

	ASSERT_GE(DO(0, ACTOR_CLOSE, .slot = 1), 0);
	ASSERT_GE(DO(0, ACTOR_UNMAP, .to = 0), 0);
	LOOK(0);
	EXPECT_NOT_SAYS("Retained DMA-BUFs");
	EXPECT_NOT_SAYS("are held by no process");
}

/* Somebody else has it: then it is the other's. */
TEST_F_TIMEOUT(retained, by_somebody_else, TIMEOUT)
{
	long long ino = DO(0, ACTOR_CREATE, .slot = 0, .size = MB);

	ASSERT_GT(ino, 0);
	MARK(0);
	ASSERT_GE(DO(0, ACTOR_SEND, .slot = 0, .to = 1), 0);
	ASSERT_GT(DO(1, ACTOR_RECEIVE, .slot = 3), 0);
	ASSERT_GE(DO(0, ACTOR_CLOSE, .slot = 0), 0);
	LOOK(0);
	EXPECT_SAYS(" %lld\n%28s%s[%d] fd ", ino, "", "retained", PID(1));
	EXPECT_NOT_SAYS("retained[%d] fd ", PID(0));
}

/* Sent by a process that is gone: in flight, then the receiver's. */
TEST_F_TIMEOUT(retained, in_flight, TIMEOUT)
{
	long long ino = DO(0, ACTOR_CREATE, .slot = 0, .size = MB);
	pid_t sender = PID(0);

	if (!file_readable("/sys/kernel/debug/dma_buf/bufinfo"))
		SKIP(return, "no list of DMA-BUFs in debugfs");
	ASSERT_GT(ino, 0);
	MARK(0);
	ASSERT_GE(DO(0, ACTOR_SEND, .slot = 0, .to = 1), 0);
	DO(0, ACTOR_EXIT);
	waitpid(sender, NULL, 0);
	RUN("memledger diff %d --expect-released --grace 10ms 2>&1", sender);
	EXPECT_SAYS("The process has exited");
	EXPECT_SAYS(" %lld\n%28sin flight", ino, "");

	ASSERT_GT(DO(1, ACTOR_RECEIVE, .slot = 3), 0);
	RUN("memledger diff %d --expect-released --grace 10ms 2>&1", sender);
	EXPECT_SAYS(" %lld\n%28s%s[%d] fd ", ino, "", "retained", PID(1));
	EXPECT_NOT_SAYS("in flight");

	ASSERT_GE(DO(1, ACTOR_CLOSE, .slot = 3), 0);
	RUN("memledger diff %d --expect-released --grace 10ms 2>&1", sender);
	EXPECT_SAYS("Nothing is retained of ");
}

/* All that is left of it is what the GPU driver has imported. */
TEST_F_TIMEOUT(retained, imported, TIMEOUT)
{
	long long ino = DO(0, ACTOR_CREATE, .slot = 0, .size = MB);

	ASSERT_GT(ino, 0);
	ASSERT_EQ(exporter_tell(EXPORTER_PROVIDER_ON, 0), 0);
	MARK(0);
	ASSERT_GE(DO(0, ACTOR_IMPORT, .slot = 0), 0);
	ASSERT_GE(DO(0, ACTOR_CLOSE, .slot = 0), 0);
	LOOK(0);
	EXPECT_SAYS(" %lld\n%28s%s[%d] 1 GPU import\n", ino, "", "retained",
		    PID(0));
}

/* What was there before is not expected to go. */
TEST_F_TIMEOUT(retained, but_for_what_was_before, TIMEOUT)
{
	long long before = DO(0, ACTOR_CREATE, .slot = 0, .size = MB), later;

	ASSERT_GT(before, 0);
	RUN("memledger mark %d -o %s/before.json 2>&1", PID(0), self->marks);
	later = DO(0, ACTOR_CREATE, .slot = 1, .size = 2 * MB);
	ASSERT_GT(later, 0);
	MARK(0);
	RUN("memledger diff %d --expect-released --grace 0 --before %s/before.json 2>&1",
	    PID(0), self->marks);
	EXPECT_SAYS(" %lld\n", later);
	EXPECT_NOT_SAYS(" %lld\n", before);
	EXPECT_NOT_SAYS("Retained Mappings");
}

/* It waits for what goes late, and not for ever. */
TEST_F_TIMEOUT(retained, grace, TIMEOUT)
{
	struct timespec begin, end;
	long long ino = DO(0, ACTOR_CREATE, .slot = 0, .size = MB);

	ASSERT_GT(ino, 0);
	MARK(0);
	clock_gettime(CLOCK_BOOTTIME, &begin);
	RUN("memledger diff %d --expect-released --grace 700ms --json 2>&1",
	    PID(0));
	clock_gettime(CLOCK_BOOTTIME, &end);
	EXPECT_GE((end.tv_sec - begin.tv_sec) * 1000 +
		  (end.tv_nsec - begin.tv_nsec) / 1000000, 700);
	EXPECT_SAYS("{\"kind\":\"dmabuf\",\"id\":%lld,", ino);
	EXPECT_SAYS("\"holders\":[\"retained[%d] fd ", PID(0));
}

static void use_gpu(void *arg)
{
	int gpu = kgsl_open(), freed;

	(void)arg;
	freed = kgsl_alloc(gpu, MB, KGSL_TYPE(TEXTURE));
	if (freed < 0 || kgsl_alloc(gpu, 2 * MB, KGSL_TYPE(TEXTURE)) < 0)
		_exit(1);
	raise(SIGSTOP);
	kgsl_free(gpu, freed);
}

/* Of two entries of the GPU driver one is freed. */
TEST_F_TIMEOUT(retained, gpu_memory, TIMEOUT)
{
	const char *why = kgsl_load("kgsl_standin", "");
	pid_t pid;

	if (why)
		SKIP(return, "%s", why);
	pid = start_process(use_gpu, NULL);
	ASSERT_EQ(wait_stopped(pid), 0);
	RUN("memledger mark %d 2>&1", pid);
	EXPECT_SAYS(", 2 GPU entries\n");
	ASSERT_TRUE(grow(&pid));
	RUN("memledger diff %d --expect-released --grace 0 2>&1", pid);
	EXPECT_SAYS("1 fewer entry of texture\n");
	EXPECT_SAYS("Retained GPU memory\n");
	EXPECT_SAYS("2,048K");
	EXPECT_SAYS("retained[%d] GPU memory\n", pid);
	end_process(pid);
	EXPECT_EQ(module_unload("kgsl_standin"), 0);
}

TEST_HARNESS_MAIN
