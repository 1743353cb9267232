// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which apps leak: processes that do the same again and again, each in a way
 * of its own, and what memledger watch says of them. Each round is one: the app
 * does its part and holds still, then the tool is told to look.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rounds.h"
#include "testlib.h"
#include "vmas.h"

#include "kselftest_harness.h"

#define ROUNDS		40
#define KB		1024
#define MB		(1024 * KB)

#define HEAP		"/dev/dma_heap/system"
#define CLEAN_FILE	"/mnt/layouts/large"
#define LIBRARY		"/mnt/leaks/libleaks.so"
#define LIBRARY_SIZE	(40 * MB)

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
 * It opens a large library in one of its rounds. We are static and cannot, so
 * another program goes on in our place.
 */
static void opens_library(int round)
{
	char loader[512], directory[512];

	(void)round;
	snprintf(loader, sizeof(loader), "%s", beside_me(LOADER));
	snprintf(directory, sizeof(directory), "%s", beside_me(""));
	execl(loader, loader, "--library-path", directory,
	      beside_me("leaks_app"), LIBRARY, NULL);
	_exit(127);
}

/*
 * @needs: a file that has to be there
 * @verdict: what is to be said
 * @driver: what drives it, in the words that follow; NULL where it is innocent
 * @nameless: the same, on kernels that do not name anonymous memory
 * @uses: a library that it has all pages of in the end
 * @keeps: it has kept a DMA-BUF of each round
 */
static const struct behaviour {
	const char *name;
	void (*round)(int round);
	const char *needs;
	const char *verdict;
	const char *driver;
	const char *nameless;
	const char *uses;
	bool keeps;
} behaviours[] = {
	{ "does nothing", does_nothing, NULL, "stable", NULL },
	{ "leaks", leaks, NULL, "growing", "mappings [anon:leak]: ",
	  "mappings (no name): " },
	{ "keeps one buffer in three", keeps_buffers, HEAP, "growing",
	  "DMA-BUFs of system: ", .keeps = true },
	{ "has a cache", caches, NULL, "plateau", NULL },
	{ "frees late", frees_late, NULL, "deferred release", NULL },
	{ "saw-tooths", saw_tooths, NULL, "saw-tooth", NULL },
	{ "swaps out", swaps_out, NULL, "stable", NULL },
	{ "maps files", maps_files, CLEAN_FILE, "stable", NULL },
	{ "opens a library", opens_library, LIBRARY, "plateau",
	  .uses = LIBRARY },
};

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
	app_end(&self->app);
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
VARIANT(opens_library, 8);

/**
 * struct library_use - what a process has of a library
 * @vmas: how many mappings
 * @size: of those that can be read, bytes. Some loaders map holes between
 *	segments, without any access
 * @rss: of these
 * @dirty: of these, what is its own now
 */
struct library_use {
	u64 vmas, size, rss, dirty;
};

static int library_use_read(struct library_use *use, pid_t pid,
			    const char *path)
{
	struct vma_list vmas;
	int err = vmas_read_smaps(&vmas, pid);

	memset(use, 0, sizeof(*use));
	for (size_t i = 0; i < vmas.nr && !err; i++) {
		const struct vma *vma = &vmas.vma[i];

		if (strcmp(vma->name, path))
			continue;
		use->vmas++;
		if (*vma->perms != 'r')
			continue;
		use->size += vma->end - vma->start;
		use->rss += vma->value[FIELD_rss] * KB;
		use->dirty += vma->value[FIELD_private_dirty] * KB;
	}
	vmas_free(&vmas);
	return err;
}

/*
 * That of the DMA-BUFs that a process has descriptors of, each is told with the
 * process and the descriptor. Return: how many are, or 0 if one is not.
 */
static int holders_told(pid_t pid, const char *text)
{
	struct dirent *entry;
	char path[300], want[128];
	struct stat st;
	int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char target[64] = "";

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid,
			 entry->d_name);
		if (readlink(path, target, sizeof(target) - 1) < 0 ||
		    strncmp(target, "/dmabuf:", 8) || stat(path, &st))
			continue;
		snprintf(want, sizeof(want),
			 "system %llu\n%28sapp[%d] fd %.16s\n",
			 (u64)st.st_ino, "", pid, entry->d_name);
		if (!strstr(text, want)) {
			printf("# not in it: %s\n%s\n", want, text);
			nr = 0;
			break;
		}
		nr++;
	}
	if (dir)
		closedir(dir);
	return nr;
}

#define MARK	"/tmp/leaks.json"

TEST_F_TIMEOUT(watch, verdict, TIMEOUT)
{
	const struct behaviour *behaviour = &behaviours[variant->which];
	const char *driver = behaviour->driver;
	char number[16], want[128];
	struct library_use use;
	char *text;

	if (behaviour->needs && !file_readable(behaviour->needs))
		SKIP(return, "no %s", behaviour->needs);
	ASSERT_EQ(app_start(&self->app, behaviour->round, "app", 0), 0);
	snprintf(number, sizeof(number), "%d", self->app.pid);
	ASSERT_EQ(start_tool(&self->tool, number), 0);
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(app_do_round(&self->app));
		ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)))
			TH_LOG("%s", self->line);
	}
	if (behaviour->uses)
		ASSERT_EQ(library_use_read(&use, self->app.pid,
					   behaviour->uses), 0);
	if (behaviour->keeps) {
		text = tool_run("memledger %s %d -o %s && memledger %s %d --since %s 2>&1; rm %s",
				"mark", self->app.pid, MARK,
				"diff --expect-released --grace 0",
				self->app.pid, MARK, MARK);
		EXPECT_EQ(holders_told(self->app.pid, text), ROUNDS);
		free(text);
	}
	text = end_tool(&self->tool);
	snprintf(want, sizeof(want), "\nVerdict: %s\n", behaviour->verdict);
	EXPECT_NE(strstr(text, want), NULL)
		TH_LOG("%s: %s", behaviour->name, text);
	if (behaviour->nameless && node_read("features/anon_names") != 1)
		driver = behaviour->nameless;
	if (driver) {
		snprintf(want, sizeof(want), "\nDriven by\n  %s", driver);
		EXPECT_NE(strstr(text, want), NULL)
			TH_LOG("%s: %s", behaviour->name, text);
	} else {
		/* Neither the whole, nor any part of it. */
		EXPECT_EQ(strstr(text, "growing"), NULL)
			TH_LOG("%s: %s", behaviour->name, text);
	}
	if (behaviour->uses) {
		/* All of it is there, and what was written to is counted. */
		EXPECT_GE(use.size, LIBRARY_SIZE);
		EXPECT_EQ(use.rss, use.size);
		EXPECT_GT(use.dirty, 0);
		snprintf(want, sizeof(want),
			 "\n  mappings %s: +%llu mappings; plateau: 0.0 kB to %llu.0 kB in ",
			 behaviour->uses, use.vmas, use.dirty / KB);
		EXPECT_NE(strstr(text, want), NULL)
			TH_LOG("no \"%s\" in %s", want, text);
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
	app_end(&self->app);
}

/* What one process has leaked is no growth of the next one of its number. */
TEST_F_TIMEOUT(reuse, starts_anew, TIMEOUT)
{
	const char *name = "leaks_again";
	pid_t pid;
	char *text;
	int err;

	ASSERT_EQ(app_start(&self->app, leaks, name, 0), 0);
	ASSERT_TRUE(app_do_round(&self->app));
	ASSERT_EQ(start_tool(&self->tool, name), 0);
	for (int i = 0; i < ROUNDS / 2; i++) {
		ASSERT_TRUE(app_do_round(&self->app));
		ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)));
	}
	ASSERT_NE(strstr(self->line, ", growing"), NULL)
		TH_LOG("%s", self->line);

	pid = self->app.pid;
	app_end(&self->app);
	err = app_start(&self->app, does_nothing, name, pid);
	if (err == -ENOSYS || err == -EINVAL)
		SKIP(return, "clone3 with set_tid: %s", strerror(-err));
	ASSERT_EQ(err, 0);
	ASSERT_EQ(self->app.pid, pid);
	ASSERT_TRUE(app_do_round(&self->app));
	/* It learns that the one has exited, and then finds the other. */
	ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)));
	EXPECT_NE(strstr(self->line, "the process has exited"), NULL);
	for (int i = 0; i < ROUNDS / 2; i++) {
		ASSERT_TRUE(app_do_round(&self->app));
		ASSERT_TRUE(look(&self->tool, self->line, sizeof(self->line)));
	}
	text = end_tool(&self->tool);
	EXPECT_NE(strstr(text, "\nVerdict: stable\n"), NULL)
		TH_LOG("%s", text);
	EXPECT_NE(strstr(text, " in 20 rounds "), NULL) TH_LOG("%s", text);
	free(text);
}

TEST_HARNESS_MAIN
