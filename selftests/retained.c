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
	settings_restore();
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

#define MARK_PID(number)						\
do {									\
	pid_t marked = number;						\
									\
	RUN("memledger mark %d 2>&1", marked);				\
	ASSERT_TRUE(SAYS("Marked pid %d ", marked))			\
		TH_LOG("%s", self->text);				\
} while (0)

#define MARK(i)	MARK_PID(PID(i))

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
	EXPECT_SAYS("By category");
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

/* The mapping of a buffer, as maps has its addresses. */
static void find_mapping(pid_t pid, char *text, size_t size)
{
	char path[64], *maps, *rest, *line;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = file_slurp(path);
	rest = maps;
	*text = '\0';
	while ((line = strsep(&rest, "\n"))) {
		if (strstr(line, " /dmabuf:"))
			snprintf(text, size, "%.*s", (int)strcspn(line, " "),
				 line);
	}
	free(maps);
}

/* A size on a page. */
#define MB_CELL	"<td data-bytes=\"1048576\">1,024</td>"

/*
 * The holders of the next line of a page that is about the buffer, or nothing if
 * the line says anything else of it. Return: the rest of the page, or NULL if
 * there is no such line.
 */
static char *next_holders(char *page, long long ino, char *holders, size_t size)
{
	static const char begin[] = "<tr><th scope=\"row\">" EXPORTER_NAME
				    "</th><td class=\"text\">";
	double age;
	int len = 0;
	char *end;

	*holders = '\0';
	page = strstr(page, begin);
	end = page ? strstr(page, "</td>") : NULL;
	if (!end)
		return NULL;
	page += strlen(begin);
	if (sscanf(end, "</td>" MB_CELL "<td>%lf</td><td>DMA-BUF</td>%n",
		   &age, &len) == 1 && len &&
	    atoll(end + len + strlen("<td>")) == ino)
		snprintf(holders, size, "%.*s", (int)(end - page), page);
	return end;
}

/* From the record of a real process to the page that a browser opens. */
TEST_F_TIMEOUT(retained, page, TIMEOUT)
{
	bool in_flight = file_readable("/sys/kernel/debug/dma_buf/bufinfo");
	const char *keep = getenv("MEMLEDGER_RECORDING");
	const char *why = setting_set(NODES "dmabuf/max_age_ms", "1");
	char look[256], holders[256], mapping[64], *at;
	long long ino;

	ASSERT_EQ(why, NULL) TH_LOG("%s", why);
	RUN("memledger mark %d -o %s/before.json 2>&1", PID(0), self->marks);
	ino = DO(0, ACTOR_CREATE, .slot = 0, .size = MB, .to = EXPORTER_PAGES);
	ASSERT_GT(ino, 0);
	RUN("memledger record %d -o %s/rec --every 10ms --rounds 12 --names 8 --buffers 2>&1",
	    PID(0), self->marks);
	EXPECT_SAYS("12 samples of process %d recorded.\n", PID(0));
	MARK(0);
	snprintf(look, sizeof(look),
		 "memledger diff %d --expect-released --grace 10ms --before %s/before.json --record %s/rec 2>&1",
		 PID(0), self->marks, self->marks);
	ASSERT_GE(DO(0, ACTOR_SEND, .slot = 0, .to = 1), 0);
	ASSERT_GE(DO(0, ACTOR_CLOSE, .slot = 0), 0);
	RUN("%s", look);

	/* One has it under a number of our choice, another one mapped only. */
	ASSERT_GT(DO(1, ACTOR_RECEIVE, .slot = 3), 0);
	ASSERT_GT(DO(1, ACTOR_DUP_TO, .slot = 3, .to = 4, .size = 123), 0);
	ASSERT_GE(DO(1, ACTOR_CLOSE, .slot = 3), 0);
	ASSERT_GE(DO(1, ACTOR_SEND, .slot = 4, .to = 2), 0);
	ASSERT_GT(DO(2, ACTOR_RECEIVE, .slot = 0), 0);
	ASSERT_GE(DO(2, ACTOR_MAP, .slot = 0, .to = 0, .size = MB), 0);
	ASSERT_GE(DO(2, ACTOR_CLOSE, .slot = 0), 0);
	find_mapping(PID(2), mapping, sizeof(mapping));
	RUN("%s", look);
	EXPECT_SAYS("retained[%d] fd 123\n", PID(1));

	RUN("memledger report %s/rec -o %s/html 2>&1; cat %s/html",
	    self->marks, self->marks, self->marks);
	EXPECT_SAYS("<th scope=\"row\">%s</th><td>DMA-BUFs</td>%s%s",
		    EXPORTER_NAME, MB_CELL, MB_CELL);
	at = self->text;
	if (in_flight) {
		at = next_holders(at, ino, holders, sizeof(holders));
		ASSERT_NE(at, NULL) TH_LOG("%s", self->text);
		EXPECT_STREQ(holders, "in flight: no process has it\n");
	}
	at = next_holders(at, ino, holders, sizeof(holders));
	ASSERT_NE(at, NULL) TH_LOG("%s", self->text);
	snprintf(self->want, sizeof(self->want),
		 "retained[%d] fd 123\nretained[%d] mapping %s\n", PID(1),
		 PID(2), mapping);
	EXPECT_STREQ(holders, self->want);
	/* And nothing else was expected to go. */
	EXPECT_EQ(strstr(at, "<td class=\"text\">"), NULL);
	if (keep)
		RUN("cp %s/rec %s 2>&1", self->marks, keep);
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

/* @inode: where to tell which buffer it is. */
static void import_to_gpu(void *inode)
{
	int gpu = kgsl_open(), buffer = dmabuf_from_heap(MB);

	*(u64 *)inode = dmabuf_inode(buffer);
	if (buffer < 0 || kgsl_import_dmabuf(gpu, buffer, 0) < 0)
		_exit(1);
	raise(SIGSTOP);
	close(buffer);
}

/* The driver that has attached to it is told, too. */
TEST_F_TIMEOUT(retained, attached, TIMEOUT)
{
	const char *why = dmabuf_missing();
	u64 *inode = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (!why && !file_readable("/sys/kernel/debug/dma_buf/bufinfo"))
		why = "no list of DMA-BUFs in debugfs";
	if (!why)
		why = kgsl_load("kgsl_standin", "");
	if (why)
		SKIP(return, "%s", why);
	ASSERT_NE(inode, MAP_FAILED);
	pid = start_process(import_to_gpu, inode);
	ASSERT_EQ(wait_stopped(pid), 0);
	MARK_PID(pid);
	ASSERT_TRUE(grow(&pid));
	RUN("memledger diff %d --expect-released --grace 0 2>&1", pid);
	EXPECT_SAYS("  system %llu\n%28sretained[%d] 1 GPU import\n%28sdriver of ",
		    *inode, "", pid, "");
	EXPECT_NOT_SAYS("retained[%d] fd ", pid);
	end_process(pid);
	EXPECT_EQ(module_unload("kgsl_standin"), 0);
}

TEST_HARNESS_MAIN
