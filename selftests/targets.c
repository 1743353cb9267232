// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may be tracked, and what becomes of it: every bad input with its errno
 * and the proof that it changed nothing; and processes that exit, exec, lose
 * their leader or are replaced while they are tracked.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"
#include "twins.h"
#include "vmas.h"

#include "kselftest_harness.h"

#define HELD_PAGES	50

/* Some memory under a name that is dalvik_other on every profile but one. */
static char *map_held(size_t pages)
{
	int fd = syscall(__NR_memfd_create, "jit-cache", 0);
	size_t len = pages * page_size();
	char *p;

	if (fd < 0 || ftruncate(fd, len))
		_exit(1);
	p = map_alone(len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		_exit(1);
	touch(p, len);
	close(fd);
	return p;
}

static void hold(void *arg)
{
	(void)arg;
	map_held(HELD_PAGES);
}

static long long held_rss(pid_t tgid)
{
	return node_read("processes/%d/category/dalvik_other/rss", tgid);
}

static long long held_bytes(void)
{
	return HELD_PAGES * page_size();
}

FIXTURE(target)
{
	pid_t pid;
	pid_t other;
	char before[4096];
	char after[4096];
};

FIXTURE_SETUP(target)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (!why)
		why = setting_set(NODES "max_tracked", "128");
	if (!why)
		why = setting_set(NODES "slice_entries", "2048");
	if (!why)
		why = setting_set(NODES "owner_capture", "0");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	self->pid = start_process(hold, NULL);
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
	nodes_describe(self->before, sizeof(self->before));
}

FIXTURE_TEARDOWN(target)
{
	node_write_number("untrack", self->pid);
	if (self->other > 0)
		node_write_number("untrack", self->other);
	end_process(self->pid);
	end_process(self->other);
	settings_restore();
}

#define EXPECT_UNCHANGED()						\
	do {								\
		nodes_describe(self->after, sizeof(self->after));	\
		EXPECT_STREQ(self->before, self->after);		\
	} while (0)

/* %d is the tracked process. */
static const struct bad_write {
	const char *node;
	const char *text;
	int err;
} bad_writes[] = {
	{ "track", "\n", -EINVAL },
	{ "track", "init\n", -EINVAL },
	{ "track", "0\n", -EINVAL },
	{ "track", "-1\n", -EINVAL },
	{ "track", "-%d\n", -EINVAL },
	{ "track", "%d 1\n", -EINVAL },
	{ "track", "%dx\n", -EINVAL },
	{ "track", "0x10\n", -EINVAL },
	{ "track", "1.0\n", -EINVAL },
	{ "track", "99999999999999999999\n", -EINVAL },
	{ "track", "2\n", -EINVAL },		/* kthreadd */
	{ "track", "2147483647\n", -ESRCH },	/* more than pid_max can be */
	{ "track", "%d\n", -EEXIST },
	{ "track", "%d", -EEXIST },
	{ "untrack", "\n", -EINVAL },
	{ "untrack", "all\n", -EINVAL },
	{ "untrack", "0\n", -EINVAL },
	{ "untrack", "-%d\n", -EINVAL },
	{ "untrack", "%dx\n", -EINVAL },
	{ "untrack", "2147483647\n", -ENOENT },
	{ "untrack", "1\n", -ENOENT },
	{ "profile", "\n", -EINVAL },
	{ "profile", "android\n", -EINVAL },
	{ "profile", "android12\n", -EINVAL },
	{ "profile", "android161\n", -EINVAL },
	{ "profile", "[android16]\n", -EINVAL },
	{ "profile", "android10 android11\n", -EINVAL },
	{ "profile", "Android17\n", -EINVAL },
	{ "max_tracked", "0\n", -EINVAL },
	{ "max_tracked", "4097\n", -EINVAL },
	{ "max_tracked", "-1\n", -EINVAL },
	{ "max_tracked", "many\n", -EINVAL },
	{ "max_tracked", "\n", -EINVAL },
	{ "max_age_ms", "-1\n", -EINVAL },
	{ "max_age_ms", "3600001\n", -EINVAL },
	{ "max_age_ms", "4294967296\n", -EINVAL },
	{ "max_age_ms", "1s\n", -EINVAL },
	{ "slice_entries", "0\n", -EINVAL },
	{ "slice_entries", "1048577\n", -EINVAL },
	{ "slice_entries", "-5\n", -EINVAL },
	{ "slice_entries", "2048 entries\n", -EINVAL },
	{ "processes/%d/refresh", "0\n", -EINVAL },
	{ "processes/%d/refresh", "2\n", -EINVAL },
	{ "processes/%d/refresh", "11\n", -EINVAL },
	{ "processes/%d/refresh", "1 1\n", -EINVAL },
	{ "processes/%d/refresh", "yes\n", -EINVAL },
	{ "processes/%d/refresh", "-1\n", -EINVAL },
	{ "processes/%d/refresh", "\n", -EINVAL },
	{ "owner_capture", "\n", -EINVAL },
	{ "owner_capture", "2\n", -EINVAL },
	{ "owner_capture", "-1\n", -EINVAL },
	{ "owner_capture", "01\n", -EINVAL },
	{ "owner_capture", "on\n", -EINVAL },
	{ "owner_capture", "1 %d\n", -EINVAL },
	{ "processes/%d/capture", "\n", -EINVAL },
	{ "processes/%d/capture", "2\n", -EINVAL },
	{ "processes/%d/capture", "yes\n", -EINVAL },
	{ "processes/%d/capture", "%d\n", -EINVAL },
	/* owner_capture is 0. */
	{ "processes/%d/capture", "1\n", -ENXIO },
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static int try_write(const struct bad_write *bad, pid_t tgid)
{
	char node[64], text[64];

	/* Formats of our own, with one %d or none. */
	snprintf(node, sizeof(node), bad->node, tgid);
	snprintf(text, sizeof(text), bad->text, tgid);
	return node_write(node, text);
}

#pragma GCC diagnostic pop

TEST_F_TIMEOUT(target, bad_writes, TIMEOUT)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_writes); i++) {
		const struct bad_write *bad = &bad_writes[i];

		EXPECT_EQ(try_write(bad, self->pid), bad->err)
			TH_LOG("\"%s\" to %s", bad->text, bad->node);
		EXPECT_UNCHANGED();
	}
}

struct shared_tid {
	pid_t tid;
};

static void *tell_tid(void *arg)
{
	struct shared_tid *shared = arg;

	__atomic_store_n(&shared->tid, gettid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

/* A thread besides the leader, whose number the test gets. */
static void start_thread(void *arg)
{
	struct shared_tid *shared = arg;
	pthread_t thread;

	if (pthread_create(&thread, NULL, tell_tid, shared))
		_exit(1);
	while (!__atomic_load_n(&shared->tid, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static struct shared_tid *share_tid(void)
{
	return mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

TEST_F_TIMEOUT(target, thread_number, TIMEOUT)
{
	struct shared_tid *shared = share_tid();

	self->other = start_process(start_thread, shared);
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_NE(shared->tid, self->other);
	EXPECT_EQ(node_write_number("track", shared->tid), -ESRCH);
	EXPECT_UNCHANGED();
}

static void leave(void *arg)
{
	(void)arg;
	_exit(0);
}

TEST_F_TIMEOUT(target, dead_and_unknown, TIMEOUT)
{
	siginfo_t info;
	pid_t pid;

	/* A zombie, and then nothing at all. */
	pid = start_process(leave, NULL);
	ASSERT_EQ(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	EXPECT_EQ(node_write_number("track", pid), -ESRCH);
	ASSERT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_EQ(node_write_number("track", pid), -ESRCH);
	EXPECT_EQ(node_write_number("untrack", pid), -ENOENT);
	EXPECT_UNCHANGED();
}

TEST_F_TIMEOUT(target, more_than_max_tracked, TIMEOUT)
{
	self->other = start_process(hold, NULL);
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_EQ(node_write_number("max_tracked", 1), 0);
	EXPECT_EQ(node_write_number("track", self->other), -ENOSPC);
	EXPECT_FALSE(node_tracked(self->other));
	EXPECT_TRUE(node_tracked(self->pid));
	EXPECT_EQ(node_refresh(self->pid), 0);

	ASSERT_EQ(node_write_number("max_tracked", 2), 0);
	EXPECT_EQ(node_write_number("track", self->other), 0);
	/* Fewer than there are: none goes, none comes. */
	ASSERT_EQ(node_write_number("max_tracked", 1), 0);
	EXPECT_EQ(node_refresh(self->other), 0);
	EXPECT_EQ(node_write_number("track", self->pid), -EEXIST);
}

/* These say ESRCH once the process is gone. */
static const char *const gone_files[] = {
	NODES "processes/%d/comm",
	NODES "processes/%d/total/rss",
	NODES "processes/%d/category/unknown/pss",
	NODES "processes/%d/subcategory/heap/rss",
	NODES "processes/%d/summary/total_pss",
	NODES "processes/%d/record",
	DETAILS "processes/%d/meminfo",
	DETAILS "processes/%d/vmas",
	DETAILS "processes/%d/unknown",
	DETAILS "processes/%d/owners",
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static ssize_t read_of(const char *fmt, pid_t tgid)
{
	static char text[1 << 20];
	char path[128];

	snprintf(path, sizeof(path), fmt, tgid);
	return file_read(path, text, sizeof(text));
}

#pragma GCC diagnostic pop

TEST_F_TIMEOUT(target, exits, TIMEOUT)
{
	ASSERT_EQ(node_refresh(self->pid), 0);
	ASSERT_EQ(held_rss(self->pid), held_bytes());
	/* Any reading now takes a snapshot. */
	ASSERT_EQ(node_write("max_age_ms", "1\n"), 0);
	kill(self->pid, SIGKILL);
	ASSERT_EQ(waitpid(self->pid, NULL, 0), self->pid);
	usleep(5000);

	EXPECT_EQ(node_refresh(self->pid), -ESRCH);
	for (size_t i = 0; i < ARRAY_SIZE(gone_files); i++) {
		EXPECT_EQ(read_of(gone_files[i], self->pid), -ESRCH)
			TH_LOG("%s", gone_files[i]);
	}
	EXPECT_TRUE(node_tracked(self->pid));
	EXPECT_EQ(node_write_number("untrack", self->pid), 0);
	EXPECT_FALSE(node_tracked(self->pid));
}

static pid_t fork_as(pid_t wanted)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long)&wanted,
		.set_tid_size = 1,
	};
	pid_t pid = syscall(__NR_clone3, &args, sizeof(args));

	if (pid < 0)
		return -errno;
	if (!pid) {
		map_held(HELD_PAGES + 7);
		raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

TEST_F_TIMEOUT(target, number_used_again, TIMEOUT)
{
	pid_t pid = self->pid;

	ASSERT_EQ(node_refresh(pid), 0);
	end_process(pid);
	self->pid = 0;
	self->other = fork_as(pid);
	if (self->other == -ENOSYS || self->other == -EINVAL)
		SKIP(return, "clone3 with set_tid: %s",
		     strerror(-self->other));
	ASSERT_EQ(self->other, pid);
	ASSERT_EQ(wait_stopped(pid), 0);

	/* The target is the process that was, and it is gone. */
	EXPECT_EQ(node_refresh(pid), -ESRCH);
	ASSERT_EQ(node_write("max_age_ms", "1\n"), 0);
	usleep(5000);
	EXPECT_EQ(held_rss(pid), -ESRCH);

	/* It stays where there is no room for the new one. */
	ASSERT_EQ(node_write("max_age_ms", "0\n"), 0);
	ASSERT_EQ(node_write_number("track", getpid()), 0);
	ASSERT_EQ(node_write_number("max_tracked", 1), 0);
	EXPECT_EQ(node_write_number("track", pid), -ENOSPC);
	EXPECT_TRUE(node_tracked(pid));
	ASSERT_EQ(node_write_number("untrack", getpid()), 0);

	/* Until the new one takes its place. */
	ASSERT_EQ(node_write_number("track", pid), 0);
	EXPECT_EQ(node_read("processes/%d/generation", pid), 0);
	EXPECT_EQ(held_rss(pid), -ENODATA);
	ASSERT_EQ(node_refresh(pid), 0);
	EXPECT_EQ(held_rss(pid), held_bytes() + 7 * (long long)page_size());
	EXPECT_EQ(node_write_number("track", pid), -EEXIST);
}

static void hold_then_exec(void *arg)
{
	char *argv[] = { arg, "3000000", "stop", NULL };

	map_held(HELD_PAGES);
	raise(SIGSTOP);
	execv(argv[0], argv);
	_exit(1);
}

TEST_F_TIMEOUT(target, execs, TIMEOUT)
{
	long long before;
	char comm[64];

	self->other = start_process(hold_then_exec,
				    (void *)beside_me("hold"));
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_EQ(node_write_number("track", self->other), 0);
	ASSERT_EQ(node_refresh(self->other), 0);
	EXPECT_EQ(held_rss(self->other), held_bytes());
	before = node_read("processes/%d/total/rss", self->other);

	kill(self->other, SIGCONT);
	ASSERT_EQ(wait_stopped(self->other), 0);
	/* The snapshot is still of the old program; the next is not. */
	EXPECT_EQ(node_read("processes/%d/total/rss", self->other), before);
	ASSERT_EQ(node_refresh(self->other), 0);
	EXPECT_EQ(held_rss(self->other), 0);
	EXPECT_GE(node_read("processes/%d/total/rss", self->other), 3000000);
	snprintf(comm, sizeof(comm), NODES "processes/%d/comm", self->other);
	ASSERT_GT(file_read(comm, comm, sizeof(comm)), 0);
	EXPECT_STREQ(comm, "hold\n");
}

static const struct {
	const char *comm;
	const char *text;
} comms[] = {
	{ "RenderThread", "RenderThread\n" },
	{ " sp ace~", " sp ace~\n" },
	{ "a\\b", "a\\134b\n" },
	{ "\x1f\x7f", "\\037\\177\n" },
	{ "line\n# end", "line\\012# end\n" },
	{ "\xc3\xa9t\xc3\xa9", "\\303\\251t\\303\\251\n" },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	  "\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\n" },
};

/* One name after the other. */
static void take_comms(void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(comms); i++) {
		prctl(PR_SET_NAME, comms[i].comm);
		raise(SIGSTOP);
	}
}

TEST_F_TIMEOUT(target, names_are_harmless_to_print, TIMEOUT)
{
	char text[128];
	size_t i;

	self->other = start_process(take_comms, NULL);
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_EQ(node_write_number("track", self->other), 0);
	for (i = 0; i < ARRAY_SIZE(comms); i++) {
		snprintf(text, sizeof(text), NODES "processes/%d/comm",
			 self->other);
		ASSERT_GT(file_read(text, text, sizeof(text)), 0);
		EXPECT_STREQ(text, comms[i].text);
		kill(self->other, SIGCONT);
		ASSERT_EQ(wait_stopped(self->other), 0);
	}
}

static void *outlive_leader(void *arg)
{
	(void)arg;
	map_held(HELD_PAGES);
	for (;;)
		pause();
	return NULL;
}

static void lose_leader(void *arg)
{
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, outlive_leader, NULL))
		_exit(1);
	/* Not pthread_exit(), which would wait for the heap's locks. */
	syscall(__NR_exit, 0);
}

TEST_F_TIMEOUT(target, loses_its_leader, TIMEOUT)
{
	struct vma_list vmas = {};
	long long rss = 0;

	self->other = start_process(lose_leader, NULL);
	wait_for_state(self->other, "Z");
	ASSERT_EQ(process_state(self->other), 'Z');
	ASSERT_EQ(node_write_number("track", self->other), 0);
	/* The thread is still running: until it has touched all. */
	for (int i = 0; i < 1000 && rss != held_bytes(); i++) {
		ASSERT_EQ(node_refresh(self->other), 0);
		rss = held_rss(self->other);
		usleep(5000);
	}
	EXPECT_EQ(rss, held_bytes());
	ASSERT_EQ(vmas_read_node(&vmas, self->other), 0);
	EXPECT_TRUE(vmas.complete);
	ASSERT_NE(vmas_find(&vmas, "/memfd:jit-cache"), NULL);
	vmas_free(&vmas);
}

TEST_F_TIMEOUT(target, is_traced, TIMEOUT)
{
	struct vma_list smaps = {}, vmas = {};

	ASSERT_EQ(ptrace(PTRACE_SEIZE, self->pid, 0, 0), 0);
	ASSERT_EQ(ptrace(PTRACE_INTERRUPT, self->pid, 0, 0), 0);
	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(held_rss(self->pid), held_bytes());
	ASSERT_EQ(vmas_read_node(&vmas, self->pid), 0);
	ASSERT_EQ(vmas_read_smaps(&smaps, self->pid), 0);
	EXPECT_EQ(vmas.nr, smaps.nr);
	EXPECT_EQ(vmas_sum(&vmas, 0, -1ULL, FIELD_rss),
		  vmas_sum(&smaps, 0, -1ULL, FIELD_rss) << 10);
	vmas_free(&smaps);
	vmas_free(&vmas);
}

/* Until the process is gone, its numbers are right; then there are none. */
static void refresh_until_gone(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	long long rss;
	int err;

	do {
		err = node_refresh(pid);
		rss = err ?: held_rss(pid);
	} while (!err && rss == held_bytes());
	if (rss != -ESRCH)
		printf("# refresh: %d, rss: %lld, complete: %lld\n", err, rss,
		       node_read("processes/%d/complete", pid));
	fflush(NULL);
	_exit(rss != -ESRCH);
}

TEST_F_TIMEOUT(target, is_killed_while_read, TIMEOUT)
{
	/* One entry a slice: as many moments to die in as there are. */
	ASSERT_EQ(node_write("slice_entries", "1\n"), 0);
	for (int i = 0; i < 20; i++) {
		pid_t readers[3];
		pid_t pid = start_process(hold, NULL);

		ASSERT_EQ(wait_stopped(pid), 0);
		ASSERT_EQ(node_write_number("track", pid), 0);
		for (int r = 0; r < 3; r++)
			readers[r] = start_process(refresh_until_gone, &pid);
		while (node_read("processes/%d/generation", pid) < 3)
			usleep(100);
		usleep(i * 1000);
		end_process(pid);
		for (int r = 0; r < 3; r++) {
			int status = -1;

			waitpid(readers[r], &status, 0);
			EXPECT_EQ(status, 0);
		}
		EXPECT_EQ(node_write_number("untrack", pid), 0);
	}
}

static void fork_in_a_loop(void *arg)
{
	(void)arg;
	map_held(HELD_PAGES);
	raise(SIGSTOP);
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/* Whatever it shares with children that come and go, its pages are its own. */
TEST_F_TIMEOUT(target, forks_while_read, TIMEOUT)
{
	self->other = start_process(fork_in_a_loop, NULL);
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_EQ(node_write_number("track", self->other), 0);
	kill(self->other, SIGCONT);
	for (int i = 0; i < 200; i++) {
		ASSERT_EQ(node_refresh(self->other), 0);
		ASSERT_EQ(held_rss(self->other), held_bytes());
	}
}

static long long row_pages(pid_t tgid, const char *row)
{
	long long rss = node_read("processes/%d/category/%s/rss", tgid, row);

	return rss < 0 ? rss : rss / (long long)page_size();
}

/* What a snapshot is of. */
enum seen {
	SEEN_TWIN_0,
	SEEN_TWIN_1,
	SEEN_PART,	/* it has not yet mapped all, or the snapshot says so */
	SEEN_MIX,	/* what no process ever had */
	NR_SEEN
};

static enum seen see_twin(pid_t tgid)
{
	long long held[2], mark[2];

	for (int i = 0; i < 2; i++) {
		held[i] = row_pages(tgid, twins[i].held_row);
		mark[i] = row_pages(tgid, twins[i].mark_row);
	}
	if (node_read("processes/%d/complete", tgid) == 0)
		return SEEN_PART;
	for (int i = 0; i < 2; i++) {
		long long pages = twins[i].pages;

		if (held[!i] || mark[!i])
			continue;
		if (held[i] == pages && mark[i] == 1)
			return SEEN_TWIN_0 + i;
		if (held[i] >= 0 && held[i] <= pages && !mark[i])
			return SEEN_PART;
	}
	printf("# %lld and %lld pages, marks %lld and %lld\n", held[0], held[1],
	       mark[0], mark[1]);
	return SEEN_MIX;
}

/* These walk when they are opened. */
static int open_once(pid_t pid, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), DETAILS "processes/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Of one program or the other, never of both, nor a part that is told as all. */
TEST_F_TIMEOUT(target, execs_while_read, TIMEOUT)
{
	char *argv[] = { (char *)beside_me("twins"), "0", NULL };
	int seen[NR_SEEN] = {};

	self->other = start_program(argv);
	ASSERT_GT(self->other, 0);
	ASSERT_EQ(node_write_number("track", self->other), 0);
	for (int i = 0; i < 300 ||
	     (i < 3000 && !(seen[SEEN_TWIN_0] && seen[SEEN_TWIN_1])); i++) {
		/* Long walks, in which much can happen, and short ones. */
		ASSERT_EQ(node_write("slice_entries", i % 2 ? "1" : "2048"), 0);
		ASSERT_EQ(node_refresh(self->other), 0);
		seen[see_twin(self->other)]++;
		/* It lives. */
		EXPECT_NE(open_once(self->other, "unknown"), -ESRCH);
		EXPECT_NE(open_once(self->other, "owners"), -ESRCH);
	}
	EXPECT_EQ(seen[SEEN_MIX], 0);
	/* They have not failed to exec, and are seen whole. */
	EXPECT_GT(seen[SEEN_TWIN_0], 0);
	EXPECT_GT(seen[SEEN_TWIN_1], 0);
	TH_LOG("%d and %d whole, %d in part", seen[SEEN_TWIN_0],
	       seen[SEEN_TWIN_1], seen[SEEN_PART]);
}

/* Many readers of all files while targets come and go. */

static int read_file(const char *path)
{
	static char text[1 << 16];
	struct stat st;
	ssize_t len;

	if (stat(path, &st) || !(st.st_mode & 0400))
		return 0;
	len = file_read(path, text, sizeof(text));
	switch (len) {
	case -ENOENT:		/* gone before it was opened */
	case -ENODEV:		/* gone before it was read */
	case -EIO:		/* what debugfs says instead */
	case -ENODATA:
	case -EOPNOTSUPP:
	case -ESRCH:
		return 0;
	}
	if (len >= 0)
		return 0;
	printf("# %s: %s\n", path, strerror(-len));
	return 1;
}

static void read_everything(void *arg)
{
	int bad = 0;

	for (int i = 0; i < *(int *)arg; i++)
		bad += tree_walk(NODES, read_file) +
		       tree_walk(DETAILS, read_file);
	fflush(NULL);
	_exit(!!bad);
}

TEST_F_TIMEOUT(target, come_and_go_while_read, TIMEOUT)
{
	pid_t readers[3], left = ARRAY_SIZE(readers);
	int rounds = 5;

	ASSERT_EQ(node_write("max_age_ms", "1\n"), 0);
	self->other = start_process(hold, NULL);
	ASSERT_EQ(wait_stopped(self->other), 0);
	for (size_t r = 0; r < ARRAY_SIZE(readers); r++)
		readers[r] = start_process(read_everything, &rounds);
	while (left) {
		int status;

		ASSERT_EQ(node_write_number("track", self->other), 0);
		ASSERT_EQ(node_write_number("untrack", self->pid), 0);
		ASSERT_EQ(node_write_number("track", self->pid), 0);
		ASSERT_EQ(node_write_number("untrack", self->other), 0);
		for (size_t r = 0; r < ARRAY_SIZE(readers); r++) {
			if (!readers[r] ||
			    waitpid(readers[r], &status, WNOHANG) != readers[r])
				continue;
			EXPECT_EQ(status, 0);
			readers[r] = 0;
			left--;
		}
	}
	EXPECT_EQ(node_refresh(self->pid), 0);
}

TEST_HARNESS_MAIN
