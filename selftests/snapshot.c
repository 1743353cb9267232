// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a snapshot is taken and when not, and that what is read of one belongs
 * together: generation, max_age_ms, the binary record in pieces, another
 * profile, two readers at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <memledger/abi.h>

#include "testlib.h"

#include "kselftest_harness.h"

#define STEP_PAGES	10
#define STEPS		20

/* Each time it is continued it has STEP_PAGES more, and stops again. */
static void grow_stepwise(void *arg)
{
	size_t step = STEP_PAGES * page_size();
	const char *name = arg;
	int fd = syscall(__NR_memfd_create, name, 0);
	char *p;

	if (fd < 0 || ftruncate(fd, STEPS * step))
		_exit(1);
	p = map_alone(STEPS * step, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	if (p == MAP_FAILED)
		_exit(1);
	for (int i = 0; i < STEPS; i++) {
		touch(p + i * step, step);
		raise(SIGSTOP);
	}
	_exit(0);
}

FIXTURE(snapshot)
{
	pid_t pid;
	long long step;
};

FIXTURE_SETUP(snapshot)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (!why)
		why = setting_set(NODES "slice_entries", "2048");
	if (!why)
		why = setting_set(NODES "profile", "android16");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	self->step = STEP_PAGES * page_size();
	self->pid = start_process(grow_stepwise, "jit-cache");
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
}

FIXTURE_TEARDOWN(snapshot)
{
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	settings_restore();
}

static long long number(pid_t pid, const char *file)
{
	return node_read("processes/%d/%s", pid, file);
}

static long long grown_rss(pid_t pid)
{
	return number(pid, "category/dalvik_other/rss");
}

static int grow(pid_t pid)
{
	kill(pid, SIGCONT);
	return wait_stopped(pid);
}

static int open_record(pid_t pid)
{
	char path[128];

	snprintf(path, sizeof(path), NODES "processes/%d/record", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/*
 * Reads the record @piece bytes at a time; short if the file is.
 * Return: bytes read, or a negative errno
 */
static ssize_t read_record(struct memledger_record *record, pid_t pid,
			   size_t piece)
{
	int fd = open_record(pid);
	ssize_t nr = 0;
	size_t len = 0;

	if (fd < 0)
		return -errno;
	while (len < sizeof(*record)) {
		size_t left = sizeof(*record) - len;

		nr = read(fd, (char *)record + len, left < piece ? left : piece);
		if (nr <= 0)
			break;
		len += nr;
	}
	if (nr < 0)
		nr = -errno;
	close(fd);
	return nr < 0 ? nr : (ssize_t)len;
}

static const char *const snapshot_files[] = {
	"timestamp_ns", "walk_ns", "lock_hold_max_ns", "complete",
	"total/pss", "total/rss", "total/vmas", "category/unknown/pss",
	"category/so_mmap/rss", "subcategory/heap/pss", "summary/total_pss",
	"summary/code",
};

TEST_F_TIMEOUT(snapshot, none_before_the_first, TIMEOUT)
{
	struct memledger_record record;

	EXPECT_EQ(number(self->pid, "generation"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(snapshot_files); i++) {
		EXPECT_EQ(number(self->pid, snapshot_files[i]), -ENODATA)
			TH_LOG("%s", snapshot_files[i]);
	}
	EXPECT_EQ(read_record(&record, self->pid, sizeof(record)), -ENODATA);
	EXPECT_EQ(number(self->pid, "generation"), 0);
}

TEST_F_TIMEOUT(snapshot, only_refresh_takes_one, TIMEOUT)
{
	long long first[ARRAY_SIZE(snapshot_files)];

	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(number(self->pid, "generation"), 1);
	EXPECT_EQ(number(self->pid, "complete"), 1);
	EXPECT_EQ(grown_rss(self->pid), self->step);
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		first[i] = number(self->pid, snapshot_files[i]);

	/* The process has more now; the snapshot has not. */
	ASSERT_EQ(grow(self->pid), 0);
	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		EXPECT_EQ(number(self->pid, snapshot_files[i]), first[i])
			TH_LOG("%s", snapshot_files[i]);
	}
	EXPECT_EQ(number(self->pid, "generation"), 1);
	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(number(self->pid, "generation"), 2);
	EXPECT_EQ(grown_rss(self->pid), 2 * self->step);
}

TEST_F_TIMEOUT(snapshot, is_taken_when_too_old, TIMEOUT)
{
	long long generation;

	ASSERT_EQ(node_write("max_age_ms", "3600000\n"), 0);
	EXPECT_EQ(number(self->pid, "generation"), 0);
	/* The first reading takes the first one, and others do with it. */
	EXPECT_EQ(grown_rss(self->pid), self->step);
	EXPECT_EQ(number(self->pid, "generation"), 1);
	ASSERT_EQ(grow(self->pid), 0);
	EXPECT_EQ(grown_rss(self->pid), self->step);
	EXPECT_EQ(number(self->pid, "generation"), 1);

	ASSERT_EQ(node_write("max_age_ms", "1\n"), 0);
	usleep(5000);
	/* These only tell; the next reading of a number takes one. */
	EXPECT_GT(number(self->pid, "timestamp_ns"), 0);
	EXPECT_GE(number(self->pid, "walk_ns"), 0);
	EXPECT_EQ(number(self->pid, "complete"), 1);
	EXPECT_EQ(number(self->pid, "generation"), 1);
	EXPECT_EQ(grown_rss(self->pid), 2 * self->step);
	generation = number(self->pid, "generation");
	EXPECT_EQ(generation, 2);
}

static long long boottime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

TEST_F_TIMEOUT(snapshot, says_when, TIMEOUT)
{
	for (int i = 0; i < 10; i++) {
		long long before = boottime_ns(), after, when, took;

		ASSERT_EQ(node_refresh(self->pid), 0);
		after = boottime_ns();
		when = number(self->pid, "timestamp_ns");
		took = number(self->pid, "walk_ns");
		EXPECT_GE(when, before);
		EXPECT_LE(when, after);
		EXPECT_LE(took, after - before);
		EXPECT_LE(number(self->pid, "lock_hold_max_ns"), took);
	}
}

TEST_F_TIMEOUT(snapshot, record_in_pieces, TIMEOUT)
{
	static const size_t pieces[] = { 1, 7, 8, 100, 4095, 4096, 65536 };
	struct memledger_record whole, record;

	ASSERT_EQ(node_refresh(self->pid), 0);
	ASSERT_EQ(read_record(&whole, self->pid, 4096),
		  (ssize_t)sizeof(whole));
	EXPECT_EQ(whole.magic, MEMLEDGER_RECORD_MAGIC);
	EXPECT_EQ(whole.version, MEMLEDGER_ABI_VERSION);
	EXPECT_EQ(whole.size, sizeof(whole));
	EXPECT_EQ(whole.nr_categories, NR_MEMLEDGER_CATEGORIES);
	EXPECT_EQ(whole.nr_subcategories, NR_MEMLEDGER_SUBCATEGORIES);
	EXPECT_EQ(whole.page_size, page_size());
	EXPECT_EQ(whole.tgid, self->pid);
	EXPECT_EQ(whole.generation, 1);
	EXPECT_EQ(whole.generation_end, 1);
	EXPECT_EQ(whole.complete, 1);
	EXPECT_EQ((long long)whole.timestamp_ns,
		  number(self->pid, "timestamp_ns"));
	EXPECT_STREQ(whole.comm, "snapshot");
	EXPECT_STREQ(whole.profile, "android16");
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		memset(&record, 0xff, sizeof(record));
		ASSERT_EQ(read_record(&record, self->pid, pieces[i]),
			  (ssize_t)sizeof(record));
		EXPECT_EQ(memcmp(&record, &whole, sizeof(record)), 0)
			TH_LOG("%zu bytes at a time", pieces[i]);
	}
}

TEST_F_TIMEOUT(snapshot, record_ends_at_its_end, TIMEOUT)
{
	char byte;
	int fd;

	ASSERT_EQ(node_refresh(self->pid), 0);
	fd = open_record(self->pid);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(pread(fd, &byte, 1, sizeof(struct memledger_record)), 0);
	EXPECT_EQ(pread(fd, &byte, 1, 1 << 20), 0);
	EXPECT_EQ(pread(fd, &byte, 1, sizeof(struct memledger_record) - 1), 1);
	close(fd);
}

/* Only a reading from offset 0 may take a new snapshot. */
TEST_F_TIMEOUT(snapshot, record_is_of_one_snapshot, TIMEOUT)
{
	struct memledger_record record;
	size_t half = sizeof(record) / 2 & ~7UL;
	ssize_t len = half;
	int fd;

	ASSERT_EQ(node_write("max_age_ms", "1\n"), 0);
	fd = open_record(self->pid);
	ASSERT_GE(fd, 0);
	for (size_t at = 0; at < half; at += len) {
		size_t left = half - at;

		len = pread(fd, (char *)&record + at, left < 64 ? left : 64,
			    at);
		ASSERT_GT(len, 0);
		usleep(2000);
	}
	while (half < sizeof(record)) {
		len = pread(fd, (char *)&record + half, sizeof(record) - half,
			    half);
		ASSERT_GT(len, 0);
		half += len;
	}
	EXPECT_EQ(record.generation, 1);
	EXPECT_EQ(record.generation_end, 1);
	/* A second reading from the start is of a second one. */
	ASSERT_GT(pread(fd, &record, sizeof(record), 0), 0);
	EXPECT_EQ(record.generation, 2);
	close(fd);
}

/* A reader that is overtaken by a refresh can tell. */
TEST_F_TIMEOUT(snapshot, record_tells_of_two_snapshots, TIMEOUT)
{
	struct memledger_record record;
	size_t half = sizeof(record) / 2 & ~7UL, at;
	ssize_t len;
	int fd;

	ASSERT_EQ(node_refresh(self->pid), 0);
	fd = open_record(self->pid);
	ASSERT_GE(fd, 0);
	for (at = 0; at < sizeof(record); at += len) {
		size_t left = (at < half ? half : sizeof(record)) - at;

		len = pread(fd, (char *)&record + at, left, at);
		ASSERT_GT(len, 0);
		if (at < half && at + len >= half)
			ASSERT_EQ(node_refresh(self->pid), 0);
	}
	close(fd);
	EXPECT_EQ(record.generation, 1);
	EXPECT_EQ(record.generation_end, 2);
}

TEST_F_TIMEOUT(snapshot, follows_the_profile, TIMEOUT)
{
	static const struct {
		const char *profile;
		const char *category;
		const char *shown;
	} cases[] = {
		{ "android10", "other_mmap",
		  "[android10] android11 android16 android17\n" },
		{ "android11", "other_mmap",
		  "android10 [android11] android16 android17\n" },
		{ "android16", "other_mmap",
		  "android10 android11 [android16] android17\n" },
		{ "android17", "memfd",
		  "android10 android11 android16 [android17]\n" },
	};
	struct memledger_record record;
	char file[64], text[128];
	pid_t pid;

	/* A name that is a category of its own in one profile only. */
	pid = start_process(grow_stepwise, "anything");
	ASSERT_EQ(wait_stopped(pid), 0);
	ASSERT_EQ(node_write_number("track", pid), 0);
	ASSERT_EQ(node_write("max_age_ms", "3600000\n"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		long long rss;

		ASSERT_EQ(node_write("profile", cases[i].profile), 0);
		ASSERT_GT(file_read(NODES "profile", text, sizeof(text)), 0);
		EXPECT_STREQ(text, cases[i].shown);
		/* Young, but of other rules: too old. */
		snprintf(file, sizeof(file), "category/%s/rss",
			 cases[i].category);
		rss = number(pid, file);
		EXPECT_GE(rss, self->step);
		ASSERT_EQ(read_record(&record, pid, 4096),
			  (ssize_t)sizeof(record));
		EXPECT_STREQ(record.profile, cases[i].profile);
		EXPECT_EQ(number(pid, "category/memfd/rss"),
			  i == 3 ? self->step : -EOPNOTSUPP);
		EXPECT_EQ(number(pid, "subcategory/zygote_jit/rss"),
			  i == 0 ? -EOPNOTSUPP : 0);
	}
	/* The profile in use, written again, changes nothing. */
	record.generation = number(pid, "generation");
	ASSERT_EQ(node_write("profile", "android17\n"), 0);
	EXPECT_EQ(number(pid, "category/memfd/rss"), self->step);
	EXPECT_EQ(number(pid, "generation"), (long long)record.generation);

	/* With max_age_ms 0 only refresh takes a snapshot, rules or not. */
	ASSERT_EQ(node_write("max_age_ms", "0\n"), 0);
	ASSERT_EQ(node_write("profile", "android16\n"), 0);
	EXPECT_EQ(number(pid, "category/memfd/rss"), self->step);
	ASSERT_EQ(node_refresh(pid), 0);
	EXPECT_EQ(number(pid, "category/memfd/rss"), -EOPNOTSUPP);
	node_write_number("untrack", pid);
	end_process(pid);
}

#define READINGS	100

/* Refreshes and reads; what it gets of one snapshot must add up. */
static void read_records(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	struct memledger_record record;
	u64 last = 0;

	for (int good = 0; good < READINGS;) {
		u64 rss = 0;

		if (node_refresh(pid) ||
		    read_record(&record, pid, 4096) != sizeof(record))
			_exit(2);
		/* Overtaken by the other: read again, as the tool does. */
		if (record.generation != record.generation_end)
			continue;
		for (int i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
			rss += record.totals.category[i].rss;
		if (rss != record.totals.total.rss || !record.complete)
			_exit(3);
		if (record.generation <= last)
			_exit(4);
		last = record.generation;
		good++;
	}
	_exit(0);
}

TEST_F_TIMEOUT(snapshot, two_readers_at_once, TIMEOUT)
{
	pid_t readers[2];

	for (int r = 0; r < 2; r++)
		readers[r] = start_process(read_records, &self->pid);
	for (int r = 0; r < 2; r++) {
		int status = -1;

		waitpid(readers[r], &status, 0);
		EXPECT_EQ(status, 0);
	}
	EXPECT_GE(number(self->pid, "generation"), 2 * READINGS);
}

TEST_HARNESS_MAIN
