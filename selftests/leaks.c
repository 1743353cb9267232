// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which apps leak: processes that do the same again and again, each in a way
 * of its own, and what memledger watch says of them. Each round is one: the app
 * does its part and holds still, then the tool is told to look.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"

#include "kselftest_harness.h"

#define ROUNDS		40
#define KB		1024
#define MB		(1024 * KB)

#define HEAP		"/dev/dma_heap/system"
#define CLEAN_FILE	"/mnt/layouts/large"

/*
 * What the apps do; round is from 0 on
 */

static void *get(size_t len, const char *name)
{
	void *p = map_alone(len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, len, name);
	touch(p, len);
	return p;
}

static void does_nothing(int round)
{
	(void)round;
}

static void leaks(int round)
{
	(void)round;
	get(64 * KB, "leak");
}

/* One in three is kept. */
static void keeps_buffers(int round)
{
	int heap = open(HEAP, O_RDONLY | O_CLOEXEC);

	(void)round;
	for (int i = 0; i < 3; i++) {
		struct dma_heap_allocation_data data = {
			.len = 256 * KB,
			.fd_flags = O_RDWR | O_CLOEXEC,
		};

		if (ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data))
			_exit(1);
		if (i)
			close(data.fd);
	}
	close(heap);
}

/* A cache of ten, the oldest of which makes room. */
static void caches(int round)
{
	static void *cache[10];
	void **place = &cache[round % 10];

	if (*place)
		munmap(*place, 256 * KB);
	*place = get(256 * KB, "cache");
}

/* What is done with after ten rounds is freed another ten later. */
static void frees_late(int round)
{
	static void *held[10];

	if (round < 10)
		held[round] = get(256 * KB, "late");
	for (int i = 0; i < 10 && round == 20; i++)
		munmap(held[i], 256 * KB);
}

static void saw_tooths(int round)
{
	static void *held[6];

	if (!(round % 6))
		for (int i = 0; i < 6 && round; i++)
			munmap(held[i], 256 * KB);
	held[round % 6] = get(256 * KB, "saw");
}

/* What it has had all along goes to swap, bit by bit. */
static void swaps_out(int round)
{
	static char *held;

	if (!round)
		held = get(ROUNDS * 128 * KB, "swapped");
	else
		madvise(held + round * 128 * KB, 128 * KB, MADV_PAGEOUT);
}

/* Libraries, say: more and more of a file, none of it written to. */
static void maps_files(int round)
{
	static char *file;
	int fd;

	if (!file) {
		fd = open(CLEAN_FILE, O_RDONLY | O_CLOEXEC);
		file = map_alone(4 * MB, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file == MAP_FAILED)
			_exit(1);
		close(fd);
	}
	read_pages(file + round * 100 * KB, 100 * KB);
}

/*
 * @needs: a file that has to be there
 * @verdict: what is to be said
 * @driver: what drives it, in the words that follow; NULL where it is innocent
 */
static const struct behaviour {
	const char *name;
	void (*round)(int round);
	const char *needs;
	const char *verdict;
	const char *driver;
} behaviours[] = {
	{ "does nothing", does_nothing, NULL, "stable", NULL },
	{ "leaks", leaks, NULL, "growing", "mappings [anon:leak]: " },
	{ "keeps one buffer in three", keeps_buffers, HEAP, "growing",
	  "DMA-BUFs of system: " },
	{ "has a cache", caches, NULL, "plateau", NULL },
	{ "frees late", frees_late, NULL, "deferred release", NULL },
	{ "saw-tooths", saw_tooths, NULL, "saw-tooth", NULL },
	{ "swaps out", swaps_out, NULL, "stable", NULL },
	{ "maps files", maps_files, CLEAN_FILE, "stable", NULL },
};

/*
 * An app that does a round for each byte that it gets, and says when it has
 */
struct app {
	pid_t pid;
	int orders[2];
	int done[2];
};

static void run_app(const struct app *app, void (*round)(int round),
		    const char *comm)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, comm);
	/* The tool's are among those that it has from us. */
	for (int fd = STDERR_FILENO + 1; fd < 64; fd++) {
		if (fd != app->orders[0] && fd != app->done[1])
			close(fd);
	}
	for (int i = 0; read(app->orders[0], &c, 1) == 1; i++) {
		round(i);
		if (write(app->done[1], &c, 1) != 1)
			break;
	}
	_exit(0);
}

/* @pid: which number it is to have, or 0. */
static int start_app(struct app *app, void (*round)(int round),
		     const char *comm, pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long)&pid,
		.set_tid_size = 1,
	};

	if (pipe(app->orders) || pipe(app->done))
		return -errno;
	fflush(NULL);
	app->pid = pid ? syscall(__NR_clone3, &args, sizeof(args)) : fork();
	if (app->pid < 0)
		return -errno;
	if (!app->pid)
		run_app(app, round, comm);
	close(app->orders[0]);
	close(app->done[1]);
	return 0;
}

static bool do_round(const struct app *app)
{
	char c = 0;

	return write(app->orders[1], &c, 1) == 1 &&
	       read(app->done[0], &c, 1) == 1;
}

static void end_app(struct app *app)
{
	close(app->orders[1]);
	close(app->done[0]);
	if (app->pid > 0) {
		kill(app->pid, SIGKILL);
		waitpid(app->pid, NULL, 0);
	}
	app->pid = 0;
}

/*
 * The tool, which looks for each line that it gets, and says that it has
 */
struct tool {
	pid_t pid;
	FILE *lines;
	FILE *says;
};

static int start_tool(struct tool *tool, const char *process)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -errno;
	tool->pid = fork();
	if (tool->pid < 0)
		return -errno;
	if (!tool->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(out[1], STDERR_FILENO);
		execlp("memledger", "memledger", "watch", process, "--every",
		       "line", NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	tool->lines = fdopen(in[1], "w");
	tool->says = fdopen(out[0], "r");
	return tool->lines && tool->says ? 0 : -ENOMEM;
}

/* Return: whether it says that it has looked; @line is what it says. */
static bool look(struct tool *tool, char *line, int size)
{
	fputc('\n', tool->lines);
	fflush(tool->lines);
	return fgets(line, size, tool->says) && !strncmp(line, "round ", 6);
}

/* All that it says in the end, for free(). */
static char *end_tool(struct tool *tool)
{
	char *text = NULL;
	size_t room = 0;

	fclose(tool->lines);
	if (getdelim(&text, &room, '\0', tool->says) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(tool->says);
	waitpid(tool->pid, NULL, 0);
	return text;
}

FIXTURE(watch)
{
	struct app app;
	struct tool tool;
	char line[1024];
};

FIXTURE_SETUP(watch)
{
	const char *why = nodes_missing();

	if (!why)
		why = tool_missing();
	if (why)
		SKIP(return, "%s", why);
	signal(SIGPIPE, SIG_IGN);
}

FIXTURE_TEARDOWN(watch)
{
	end_app(&self->app);
}

FIXTURE_VARIANT(watch)
{
	int which;
};

#define VARIANT(name, number)						\
	FIXTURE_VARIANT_ADD(watch, name) { .which = number }

VARIANT(does_nothing, 0);
VARIANT(leaks, 1);
VARIANT(keeps_buffers, 2);
VARIANT(caches, 3);
VARIANT(frees_late, 4);
VARIANT(saw_tooths, 5);
VARIANT(swaps_out, 6);
VARIANT(maps_files, 7);

TEST_F_TIMEOUT(watch, verdict, TIMEOUT)
{
	const struct behaviour *behaviour = &behaviours[variant->which];
	char number[16], want[128];
	char *text;

	if (behaviour->needs && !file_readable(behaviour->needs))
		SKIP(return, "no %s", behaviour->needs);
	ASSERT_EQ(start_app(&self->app, behaviour->round, "app", 0), 0);
	snprintf(number, sizeof(number), "%d", self->app.pid);
	ASSERT_EQ(start_tool(&self->tool, number), 0);
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(do_round(&self->app));
		ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)))
			TH_LOG("%s", self->line);
	}
	text = end_tool(&self->tool);
	snprintf(want, sizeof(want), "\nVerdict: %s\n", behaviour->verdict);
	EXPECT_NE(strstr(text, want), NULL)
		TH_LOG("%s: %s", behaviour->name, text);
	if (behaviour->driver) {
		snprintf(want, sizeof(want), "\nDriven by\n  %s",
			 behaviour->driver);
		EXPECT_NE(strstr(text, want), NULL)
			TH_LOG("%s: %s", behaviour->name, text);
	} else {
		/* Neither the whole, nor any part of it. */
		EXPECT_EQ(strstr(text, "growing"), NULL)
			TH_LOG("%s: %s", behaviour->name, text);
	}
	free(text);
}

FIXTURE(reuse)
{
	struct app app;
	struct tool tool;
	char line[1024];
};

FIXTURE_SETUP(reuse)
{
	const char *why = nodes_missing();

	if (!why)
		why = tool_missing();
	if (why)
		SKIP(return, "%s", why);
	signal(SIGPIPE, SIG_IGN);
}

FIXTURE_TEARDOWN(reuse)
{
	end_app(&self->app);
}

/* What one process has leaked is no growth of the next one of its number. */
TEST_F_TIMEOUT(reuse, starts_anew, TIMEOUT)
{
	const char *name = "leaks_again";
	pid_t pid;
	char *text;
	int err;

	ASSERT_EQ(start_app(&self->app, leaks, name, 0), 0);
	ASSERT_TRUE(do_round(&self->app));
	ASSERT_EQ(start_tool(&self->tool, name), 0);
	for (int i = 0; i < ROUNDS / 2; i++) {
		ASSERT_TRUE(do_round(&self->app));
		ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)));
	}
	EXPECT_NE(strstr(self->line, ", growing"), NULL)
		TH_LOG("%s", self->line);

	pid = self->app.pid;
	end_app(&self->app);
	err = start_app(&self->app, does_nothing, name, pid);
	if (err == -ENOSYS || err == -EINVAL)
		SKIP(return, "clone3 with set_tid: %s", strerror(-err));
	ASSERT_EQ(err, 0);
	ASSERT_EQ(self->app.pid, pid);
	ASSERT_TRUE(do_round(&self->app));
	/* It learns that the one has exited, and then finds the other. */
	ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)));
	EXPECT_NE(strstr(self->line, "the process has exited"), NULL);
	for (int i = 0; i < ROUNDS / 2; i++) {
		ASSERT_TRUE(do_round(&self->app));
		ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)));
	}
	text = end_tool(&self->tool);
	EXPECT_NE(strstr(text, "\nVerdict: stable\n"), NULL)
		TH_LOG("%s", text);
	EXPECT_NE(strstr(text, " in 20 rounds "), NULL) TH_LOG("%s", text);
	free(text);
}

TEST_HARNESS_MAIN
