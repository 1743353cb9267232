// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that are as odd as the kernel lets them be, and readers that are:
 * the numbers are those of smaps, the bytes the same however they are fetched,
 * and nobody is kept waiting. docs/testing.rst lists what other tests have.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "testlib.h"

#include "kselftest_harness.h"

/* As many as a process may have, by default. */
#define MAX_MAPS	65530
#define TB		(1UL << 40)
#define CGROUP		"/sys/fs/cgroup/memledger-limits"
/* A multiple of each size of huge pages. */
#define HUGE_LEN	(64UL << 20)

FIXTURE(limits)
{
	pid_t pid;
};

FIXTURE_SETUP(limits)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (!why)
		why = setting_set(NODES "slice_entries", "2048");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
}

FIXTURE_TEARDOWN(limits)
{
	if (self->pid > 0) {
		node_write_number("untrack", self->pid);
		end_process(self->pid);
	}
	rmdir(CGROUP);
	settings_restore();
}

/* Starts a process and tracks it; 0 or a negative errno. */
static int start_tracked(pid_t *pid, void (*run)(void *arg), void *arg)
{
	*pid = start_process(run, arg);
	if (*pid < 0)
		return *pid;
	return wait_stopped(*pid) ?: node_write_number("track", *pid);
}

/*
 * Processes
 */

/* Neighbours that differ, so that the kernel keeps them apart. */
static void map_all(void *arg)
{
	size_t page = page_size();
	char *p = mmap(NULL, MAX_MAPS * page, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)arg;
	if (p == MAP_FAILED)
		_exit(1);
	/* Until there are no more. */
	for (size_t i = 0; i < MAX_MAPS; i += 2) {
		if (mprotect(p + i * page, page, PROT_READ | PROT_WRITE))
			break;
		if (i % 16 == 0)
			p[i * page] = 1;
	}
}

TEST_F_TIMEOUT(limits, as_many_mappings_as_can_be, 3 * TIMEOUT)
{
	struct vma_list smaps;

	ASSERT_EQ(setting_set("/proc/sys/vm/max_map_count", "65530"), NULL);
	ASSERT_EQ(start_tracked(&self->pid, map_all, NULL), 0);
	ASSERT_EQ(compare_process(self->pid, false, &smaps), 0);
	EXPECT_GE(smaps.nr, MAX_MAPS - 2);
	EXPECT_EQ(node_read("processes/%d/total/vmas", self->pid),
		  (long long)smaps.nr);
	vmas_free(&smaps);
}

/* A page here and there; most page tables above are not there at all. */
#define SPARSE_TB	100

static void map_sparse(void *arg)
{
	char *p = mmap(NULL, SPARSE_TB * TB, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)arg;
	if (p == MAP_FAILED)
		_exit(1);
	madvise(p, SPARSE_TB * TB, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < SPARSE_TB; i++)
		p[i * TB + i * page_size()] = 1;
}

static long long stat_number(const char *name)
{
	char *text = file_slurp(DETAILS "stats"), *at;
	long long number = -1;

	at = text ? strstr(text, name) : NULL;
	if (at)
		number = strtoll(at + strlen(name), NULL, 10);
	free(text);
	return number;
}

TEST_F_TIMEOUT(limits, hundred_terabytes, TIMEOUT)
{
	long long entries = stat_number("\nentries ");
	struct vma_list smaps;

	self->pid = start_process(map_sparse, NULL);
	if (wait_stopped(self->pid))
		SKIP(return, "no 100 TB of addresses on this machine");
	ASSERT_EQ(node_write_number("track", self->pid), 0);
	ASSERT_EQ(compare_process(self->pid, true, &smaps), 0);
	EXPECT_GE(vmas_sum(&smaps, 0, -1ULL, FIELD_size),
		  SPARSE_TB * TB >> 10);
	vmas_free(&smaps);
	/* Not one for each page that might be: those of a table a page. */
	entries = stat_number("\nentries ") - entries;
	EXPECT_GT(entries, 0);
	EXPECT_LT(entries, 64 * SPARSE_TB * 512)
		TH_LOG("%lld entries", entries);
}

/* Names of each length that the kernel takes, and it says which. */
static void take_names(void *arg)
{
	size_t page = page_size();
	char name[256] = "";

	(void)arg;
	for (size_t len = 0; len < sizeof(name); len++) {
		char *p = map_alone(page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int fd;

		memset(name, 'a' + len % 26, len);
		touch(p, page);
		prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, page, name);
		fd = syscall(__NR_memfd_create, name, 0);
		if (fd < 0)
			continue;
		if (ftruncate(fd, page) ||
		    mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0) ==
		    MAP_FAILED)
			_exit(1);
		close(fd);
	}
}

static size_t longest_name(const struct vma_list *list, const char *begin)
{
	size_t longest = 0, len;

	for (size_t i = 0; i < list->nr; i++) {
		len = strlen(list->vma[i].name);
		if (!strncmp(list->vma[i].name, begin, strlen(begin)) &&
		    len > longest)
			longest = len;
	}
	return longest;
}

TEST_F_TIMEOUT(limits, names_of_every_length, TIMEOUT)
{
	struct vma_list smaps;

	ASSERT_EQ(start_tracked(&self->pid, take_names, NULL), 0);
	EXPECT_EQ(compare_process(self->pid, true, &smaps), 0);
	/* The kernel's limits: 79 bytes, and a file name less "memfd:". */
	EXPECT_EQ(longest_name(&smaps, "/memfd:"),
		  strlen("/memfd: (deleted)") + 249);
	if (node_read("features/anon_names") == 1)
		EXPECT_EQ(longest_name(&smaps, "[anon:"),
			  strlen("[anon:]") + 79);
	vmas_free(&smaps);
}

/* A file in each of many directories, one in the other: longer and longer. */
#define DEPTH		40
#define DIR_NAME	120

/* Into one directory more. */
static void go_down(void)
{
	char name[DIR_NAME + 1];

	memset(name, 'd', DIR_NAME);
	name[DIR_NAME] = '\0';
	if ((mkdir(name, 0700) && errno != EEXIST) || chdir(name))
		_exit(1);
}

static int make_file(const char *name, size_t len)
{
	int fd = open(name, O_RDWR | O_CREAT, 0700);

	if (fd < 0 || ftruncate(fd, len))
		_exit(1);
	return fd;
}

static void map_deep(void *arg)
{
	int fd;

	(void)arg;
	if (chdir("/tmp"))
		_exit(1);
	for (int i = 0; i < DEPTH; i++) {
		fd = make_file("file", page_size());
		if (mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0) ==
		    MAP_FAILED)
			_exit(1);
		close(fd);
		go_down();
	}
}

TEST_F_TIMEOUT(limits, paths_longer_than_path_max, TIMEOUT)
{
	struct vma_list smaps;

	ASSERT_EQ(start_tracked(&self->pid, map_deep, NULL), 0);
	ASSERT_EQ(compare_process(self->pid, true, &smaps), 0);
	EXPECT_GT(longest_name(&smaps, "/tmp/d"), 4096);
	vmas_free(&smaps);
}

/* Files in a deep directory, under names that tell nothing. */
struct neutral {
	int depth, nr;
};

static void map_neutral(void *arg)
{
	const struct neutral *files = arg;
	char name[16];
	int fd;

	if (chdir("/tmp"))
		_exit(1);
	for (int i = 0; i < files->depth; i++)
		go_down();
	for (int i = 0; i < files->nr; i++) {
		snprintf(name, sizeof(name), "a%d", i);
		fd = make_file(name, page_size());
		if (mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0) ==
		    MAP_FAILED)
			_exit(1);
		close(fd);
		unlink(name);
	}
	fd = make_file("libfar.so", page_size());
	read_pages(mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0),
		   page_size());
	close(fd);
}

/* How often a snapshot took the mmap lock, or a negative errno. */
static long long slices_of_refresh(pid_t pid)
{
	long long slices = stat_number("\nslices ");
	int err = node_refresh(pid);

	return err ?: stat_number("\nslices ") - slices;
}

/* More than 8 kB: to find out takes as long as to make one that is not. */
TEST_F_TIMEOUT(limits, paths_that_are_too_long, TIMEOUT)
{
	struct neutral files = { .depth = 80, .nr = 64 };
	char path[64], *text, *line;

	ASSERT_EQ(start_tracked(&self->pid, map_neutral, &files), 0);
	EXPECT_GE(slices_of_refresh(self->pid), files.nr);
	/* And its last part is told. */
	snprintf(path, sizeof(path), DETAILS "processes/%d/vmas", self->pid);
	text = file_slurp(path);
	ASSERT_NE(text, NULL);
	line = strstr(text, " [name too long]/libfar.so\n");
	ASSERT_NE(line, NULL);
	*line = '\0';
	EXPECT_NE(strstr(strrchr(text, '\n'), " so_mmap "), NULL);
	free(text);
	EXPECT_EQ(node_read("processes/%d/category/so_mmap/rss", self->pid),
		  (long long)page_size());
}

/* The lines of a process in "mappings", and whether they are all. */
static long count_mappings(pid_t pid, int *complete)
{
	char *text = file_slurp(DETAILS "mappings"), *line, *rest = text;
	char process[32], mapping[32];
	long nr = 0;

	*complete = -1;
	snprintf(process, sizeof(process), "process %d ", pid);
	snprintf(mapping, sizeof(mapping), "mapping %d ", pid);
	while ((line = strsep(&rest, "\n"))) {
		nr += !strncmp(line, mapping, strlen(mapping));
		if (!strncmp(line, process, strlen(process)))
			sscanf(line, "process %*d %*s %d", complete);
	}
	free(text);
	return nr;
}

/* Who reads pays for the names: 32 MB of a process at most. */
TEST_F_TIMEOUT(limits, names_without_end, 2 * TIMEOUT)
{
	struct neutral files = { .depth = 66, .nr = 5000 };
	int complete;
	long nr;

	ASSERT_EQ(start_tracked(&self->pid, map_neutral, &files), 0);
	nr = count_mappings(self->pid, &complete);
	EXPECT_EQ(complete, 0);
	EXPECT_GT(nr, 4000);
	EXPECT_LT(nr, 5000);
}

/*
 * One page here and there of an object with something in swap, which none of the
 * page tables has: to get from one to the next costs more than to look at it.
 */
#define NR_FAR		2048
#define FAR_PAGES	4096

static void map_far(void *arg)
{
	size_t page = page_size(), len = (size_t)NR_FAR * FAR_PAGES * page;
	int fd = syscall(__NR_memfd_create, "far", 0);
	unsigned char there = 1;
	char *p;

	(void)arg;
	if (fd < 0 || ftruncate(fd, len))
		_exit(1);
	for (off_t i = 0; i < NR_FAR; i++) {
		if (pwrite(fd, "x", 1, i * FAR_PAGES * page) != 1)
			_exit(1);
	}
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		_exit(1);
	*p = 'y';
	/* It may be in use just then. */
	for (int i = 0; i < 100 && !mincore(p, page, &there) && there & 1; i++) {
		madvise(p, page, MADV_PAGEOUT);
		usleep(1000);
	}
	if (there & 1)
		_exit(1);
	munmap(p, page);
	if (mmap(NULL, len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_NORESERVE, fd, 0) == MAP_FAILED)
		_exit(1);
}

TEST_F_TIMEOUT(limits, pages_far_from_each_other, TIMEOUT)
{
	struct vma_list smaps;
	char swaps[256];

	/* A line of headings, and then one each. */
	if (file_read("/proc/swaps", swaps, sizeof(swaps)) < 0 ||
	    !strchr(swaps, '/'))
		SKIP(return, "no swap");
	ASSERT_EQ(start_tracked(&self->pid, map_far, NULL), 0);
	EXPECT_GT(slices_of_refresh(self->pid), 20);
	ASSERT_EQ(compare_process(self->pid, true, &smaps), 0);
	vmas_free(&smaps);
}

/*
 * Maps ahead of whoever walks, and unmaps behind itself: there is always one
 * more. The reader is on the same processor and polite, so that it is slower.
 */
#define RUN_FROM	(1UL << 36)
#define RUN_STRETCHES	12000
#define RUN_TRIES	8
#define RUN_PAGES	4096
#define RUN_AHEAD	14

/* As many mappings as pages: every other one can be read. */
static void map_stretch(char *p)
{
	size_t page = page_size();

	if (mmap(p, RUN_PAGES * page, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < RUN_PAGES; i += 2) {
		if (mprotect(p + i * page, page, PROT_READ))
			_exit(1);
	}
}

static void run_away(void *arg)
{
	size_t len = RUN_PAGES * page_size();

	(void)arg;
	for (unsigned long i = 0; i < RUN_STRETCHES; i++) {
		map_stretch((char *)RUN_FROM + i * len);
		if (i == RUN_AHEAD)
			kill(getppid(), SIGUSR1);
		if (i >= RUN_AHEAD)
			munmap((char *)RUN_FROM + (i - RUN_AHEAD) * len, len);
	}
}

TEST_F_TIMEOUT(limits, a_process_that_runs_away, 2 * TIMEOUT)
{
	struct timespec patience = { .tv_sec = TIMEOUT };
	long long complete = 1;
	sigset_t ready;

	sigemptyset(&ready);
	sigaddset(&ready, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ready, NULL);
	use_one_processor();
	self->pid = start_process(run_away, NULL);
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(sigtimedwait(&ready, NULL, &patience), SIGUSR1);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
	ASSERT_EQ(node_write("slice_entries", "1\n"), 0);
	ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 19), 0);
	/* The scheduler may let the reader overtake; not each time. */
	for (int i = 0; i < RUN_TRIES && complete; i++) {
		ASSERT_EQ(node_refresh(self->pid), 0);
		complete = node_read("processes/%d/complete", self->pid);
	}
	EXPECT_EQ(complete, 0);
	/* On a slow kernel it has the lock nearly always, and the reader gives up. */
	EXPECT_GT(node_read("processes/%d/total/vmas", self->pid), 0);
}

/*
 * Code whose file has a path of 7 kB: whoever looks for owners remembers what
 * code is called.
 */
#define CODE_DEPTH	60
#define NR_CODE		20000
#define NR_OWNED	20000

static int make_code(size_t len)
{
	if (chdir("/tmp"))
		_exit(1);
	for (int i = 0; i < CODE_DEPTH; i++)
		go_down();
	return make_file("code", len);
}

/* So much of the path is told, and not more. */
static void tell_code(char *to, size_t size)
{
	memset(to, 0, size);
	memcpy(to, "...", 3);
	for (int i = 0; i < 4; i++) {
		strcat(to, "/");
		memset(to + strlen(to), 'd', DIR_NAME);
	}
	strcat(to, "/code");
}

static void own(char *start, unsigned long addr)
{
	char name[64];

	snprintf(name, sizeof(name), "mappingowner 0x%lx", addr);
	touch(start, page_size());
	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, page_size(), name))
		_exit(1);
}

static char *map_own(size_t nr)
{
	char *p = mmap(NULL, nr * page_size(), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

/* The same page again and again, which the kernel does not merge. */
static void map_code_often(void *arg)
{
	char *code = mmap(NULL, NR_CODE * page_size(), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = make_code(2 * page_size());

	(void)arg;
	if (code == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < NR_CODE; i++)
		if (mmap(code + i * page_size(), page_size(),
			 PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			 page_size()) == MAP_FAILED)
			_exit(1);
	own(map_own(1), (unsigned long)code + NR_CODE / 2 * page_size() + 5);
}

/* One mapping of code, of which each byte is an owner. */
static void own_much(void *arg)
{
	int fd = make_code(2 * NR_OWNED);
	char *code = mmap(NULL, 2 * NR_OWNED, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE, fd, 0);
	char *p = map_own(NR_OWNED);

	(void)arg;
	if (code == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < NR_OWNED; i++)
		own(p + i * page_size(), (unsigned long)code + i);
}

static long long unreclaimable(void)
{
	char *text = file_slurp("/proc/meminfo"), *at;
	long long kb = -1;

	at = text ? strstr(text, "\nSUnreclaim:") : NULL;
	if (at)
		kb = strtoll(at + strlen("\nSUnreclaim:"), NULL, 10);
	free(text);
	return kb;
}

static void read_owners(void *arg)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), DETAILS "processes/%d/owners",
		 *(pid_t *)arg);
	fd = open(path, O_RDONLY);
	_exit(fd < 0);
}

/*
 * How much kernel memory was there at a time while owners were found; in kB. Too
 * much where nothing was measured.
 */
static long long owners_take(pid_t pid, int *status)
{
	long long before = unreclaimable(), most = before, now;
	pid_t reader = start_process(read_owners, &pid);

	*status = -1;
	if (before < 0 || reader < 0)
		return LLONG_MAX;
	do {
		now = unreclaimable();
		most = now > most ? now : most;
	} while (!waitpid(reader, status, WNOHANG));
	return most - before;
}

/* How often @text is in the owners of a process; a negative errno. */
static int owners_with(pid_t pid, const char *text)
{
	char path[64], *owners, *at;
	int nr = 0;

	snprintf(path, sizeof(path), DETAILS "processes/%d/owners", pid);
	owners = file_slurp(path);
	if (!owners)
		return -errno;
	for (at = owners; (at = strstr(at, text)); at += strlen(text))
		nr++;
	free(owners);
	return nr;
}

/* Half of what their paths would be; a debug kernel adds to each piece of memory. */
#define OWNERS_KB	(NR_CODE * 7 / 2)

TEST_F_TIMEOUT(limits, code_with_a_long_path, TIMEOUT)
{
	static char told[1024], line[1100];
	int status;

	if (node_read("features/anon_names") != 1)
		SKIP(return, "this kernel has no names of anonymous memory");
	tell_code(told, sizeof(told));
	ASSERT_EQ(start_tracked(&self->pid, map_code_often, NULL), 0);
	EXPECT_LT(owners_take(self->pid, &status), OWNERS_KB);
	EXPECT_EQ(status, 0);
	snprintf(line, sizeof(line), " rw-p name %s+0x%lx\n", told,
		 page_size() + 5);
	EXPECT_EQ(owners_with(self->pid, line), 1);
}

TEST_F_TIMEOUT(limits, owners_with_a_long_path, 2 * TIMEOUT)
{
	static char told[1024], line[1100];
	int status;

	if (node_read("features/anon_names") != 1)
		SKIP(return, "this kernel has no names of anonymous memory");
	tell_code(told, sizeof(told));
	ASSERT_EQ(start_tracked(&self->pid, own_much, NULL), 0);
	EXPECT_LT(owners_take(self->pid, &status), OWNERS_KB);
	EXPECT_EQ(status, 0);
	snprintf(line, sizeof(line), " rw-p name %s+0x", told);
	EXPECT_EQ(owners_with(self->pid, line), NR_OWNED);
}

/*
 * Readers
 */

static void hold(void *arg)
{
	size_t len = 64 * page_size();

	(void)arg;
	for (int i = 0; i < 30; i++)
		touch(map_alone(len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), len);
}

/* What holds still in these of a process that holds still. */
static const char *const still_files[] = {
	DETAILS "processes/%d/meminfo",
	DETAILS "processes/%d/vmas",
	DETAILS "processes/%d/unknown",
	DETAILS "processes/%d/owners",
	NODES "processes/%d/record",
	NODES "processes/%d/total/pss",
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static int open_of(const char *file, pid_t pid)
{
	char path[128];

	snprintf(path, sizeof(path), file, pid);
	return open(path, O_RDONLY);
}

#pragma GCC diagnostic pop

TEST_F_TIMEOUT(limits, byte_by_byte_and_backwards, TIMEOUT)
{
	static char whole[1 << 16], byte;

	ASSERT_EQ(start_tracked(&self->pid, hold, NULL), 0);
	ASSERT_EQ(node_refresh(self->pid), 0);
	for (size_t i = 0; i < ARRAY_SIZE(still_files); i++) {
		int fd = open_of(still_files[i], self->pid);
		ssize_t len = 0, nr;

		ASSERT_GE(fd, 0);
		do {
			nr = read(fd, whole + len, sizeof(whole) - len);
			len += nr > 0 ? nr : 0;
		} while (nr > 0);
		ASSERT_EQ(nr, 0);
		ASSERT_GT(len, 1);
		ASSERT_LT(len, (ssize_t)sizeof(whole));

		ASSERT_EQ(lseek(fd, 0, SEEK_SET), 0);
		for (ssize_t at = 0; at < len; at++) {
			ASSERT_EQ(read(fd, &byte, 1), 1);
			ASSERT_EQ(byte, whole[at])
				TH_LOG("%s at %zd", still_files[i], at);
		}
		ASSERT_EQ(read(fd, &byte, 1), 0);
		for (ssize_t at = len - 1; at >= 0; at -= 1 + len / 50) {
			ASSERT_EQ(pread(fd, &byte, 1, at), 1);
			ASSERT_EQ(byte, whole[at])
				TH_LOG("%s at %zd", still_files[i], at);
		}
		close(fd);
	}
}

/* All begin when the pipe is closed. */
static int start_line[2];
static pid_t readers[2048];
static int nr_readers;

static int start_reader(const char *path)
{
	static char text[1 << 20];
	struct stat st;
	ssize_t len;
	pid_t pid;
	char byte;

	if (stat(path, &st) || !(st.st_mode & 0400) ||
	    nr_readers == ARRAY_SIZE(readers))
		return 0;
	pid = fork();
	if (pid) {
		readers[nr_readers++] = pid;
		return pid < 0;
	}
	close(start_line[1]);
	if (read(start_line[0], &byte, 1))
		_exit(2);
	for (int i = 0; i < 3; i++) {
		len = file_read(path, text, sizeof(text));
		if (len < 0 && len != -EOPNOTSUPP && len != -ENODATA) {
			printf("# %s: %s\n", path, strerror(-len));
			fflush(NULL);
			_exit(1);
		}
	}
	_exit(0);
}

TEST_F_TIMEOUT(limits, a_reader_of_each_file, 2 * TIMEOUT)
{
	ASSERT_EQ(start_tracked(&self->pid, hold, NULL), 0);
	/* So that each of them finds it too old. */
	ASSERT_EQ(node_write("max_age_ms", "1\n"), 0);
	ASSERT_EQ(pipe(start_line), 0);
	fflush(NULL);
	EXPECT_EQ(tree_walk(NODES, start_reader), 0);
	EXPECT_EQ(tree_walk(DETAILS, start_reader), 0);
	EXPECT_GT(nr_readers, 300);
	close(start_line[0]);
	close(start_line[1]);
	for (int i = 0; i < nr_readers; i++)
		EXPECT_EQ(exit_status(readers[i]), 0);
}

/*
 * Locks that somebody has and does not give away
 */

#define LOCKS	"memledger_locks"

static const char *load_locks(void)
{
	const char *path = beside_me("drivers/" LOCKS ".ko");

	return access(path, R_OK) || module_load(path, "") ?
	       "cannot load drivers/" LOCKS ".ko (built with KDIR)" : NULL;
}

/* Waits in mmap(), as for the server of a file system, with the lock of its memory. */
static void wait_in_mmap(void *arg)
{
	int fd = open("/dev/" LOCKS, O_RDWR | O_CLOEXEC);

	(void)arg;
	raise(SIGSTOP);
	mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, 0);
	_exit(1);
}

static void refresh_once(void *arg)
{
	node_refresh(*(pid_t *)arg);
	_exit(0);
}

static void refresh_dmabufs(void *arg)
{
	(void)arg;
	node_write("dmabuf/refresh", "1\n");
	_exit(0);
}

/*
 * It is not waited for without end, nor are those who do it in the way of others:
 * whoever untracks, and who unloads the module.
 */
TEST_F_TIMEOUT(limits, memory_that_stays_locked, TIMEOUT)
{
	const char *why = load_locks();
	pid_t readers[2];
	long long given_up;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(start_tracked(&self->pid, wait_in_mmap, NULL), 0);
	kill(self->pid, SIGCONT);
	wait_for_state(self->pid, "D");
	given_up = stat_number("\nwalks_incomplete ");
	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(node_read("processes/%d/complete", self->pid), 0);
	EXPECT_EQ(stat_number("\nwalks_incomplete "), given_up + 1);
	EXPECT_EQ(node_write("dmabuf/refresh", "1\n"), 0);
	EXPECT_EQ(node_read("dmabuf/complete"), 0);

	readers[0] = start_process(refresh_once, &self->pid);
	readers[1] = start_process(refresh_dmabufs, NULL);
	wait_for_state(readers[0], "SD");
	wait_for_state(readers[1], "SD");
	EXPECT_EQ(node_write_number("untrack", self->pid), 0);
	EXPECT_EQ(exit_status(readers[0]), 0);
	EXPECT_EQ(module_unload("memledger"), 0);
	EXPECT_EQ(exit_status(readers[1]), 0);
	EXPECT_EQ(module_load(memledger_ko(), ""), 0);
	EXPECT_EQ(process_state(self->pid), 'D');
	end_process(self->pid);
	EXPECT_EQ(module_unload(LOCKS), 0);
}

/* A page in each of many page tables, all of whose entries are looked at. */
#define NR_TABLES	2048

static void map_tables(void)
{
	size_t len = page_size() / sizeof(u64) * page_size();
	char *p = mmap(NULL, NR_TABLES * len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	madvise(p, NR_TABLES * len, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < NR_TABLES; i++)
		p[i * len] = 1;
}

/* Lets it go now and then, for a moment. */
static void lock_often(void *arg)
{
	int fd = open("/dev/" LOCKS, O_RDWR | O_CLOEXEC);

	(void)arg;
	map_tables();
	raise(SIGSTOP);
	for (;;) {
		mmap(NULL, page_size(), PROT_READ, MAP_SHARED, fd, page_size());
		if (errno != EAGAIN)
			_exit(1);
		usleep(1000);
	}
}

/* The walk gets on each time, and would for days. */
TEST_F_TIMEOUT(limits, memory_that_is_often_locked, TIMEOUT)
{
	const char *why = load_locks();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(node_write("slice_entries", "1\n"), 0);
	ASSERT_EQ(start_tracked(&self->pid, lock_often, NULL), 0);
	kill(self->pid, SIGCONT);
	wait_for_state(self->pid, "DS");
	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(node_read("processes/%d/complete", self->pid), 0);
	EXPECT_GT(node_read("processes/%d/total/vmas", self->pid), 0);
	end_process(self->pid);
	EXPECT_EQ(module_unload(LOCKS), 0);
}

static void map_huge(void *fd)
{
	if (mmap(NULL, HUGE_LEN, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_NORESERVE, *(int *)fd, 0) == MAP_FAILED)
		_exit(1);
}

static void lock_mappings(void *fd)
{
	ioctl(open("/dev/" LOCKS, O_RDWR | O_CLOEXEC), 0, *(int *)fd);
	_exit(1);
}

TEST_F_TIMEOUT(limits, huge_pages_whose_file_stays_locked, TIMEOUT)
{
	int fd = syscall(__NR_memfd_create, "limits", MFD_HUGETLB);
	const char *why = fd < 0 ? "no huge pages (CONFIG_HUGETLBFS)" :
				   load_locks();
	pid_t owner;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(ftruncate(fd, HUGE_LEN), 0);
	ASSERT_EQ(start_tracked(&self->pid, map_huge, &fd), 0);
	owner = start_process(lock_mappings, &fd);
	wait_for_state(owner, "D");
	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(node_read("processes/%d/complete", self->pid), 0);
	end_process(owner);
	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(node_read("processes/%d/complete", self->pid), 1);
	close(fd);
	end_process(self->pid);
	EXPECT_EQ(module_unload(LOCKS), 0);
}

/* Every walk counts, of whatever. */
TEST_F_TIMEOUT(limits, walks_for_dmabufs_are_counted, TIMEOUT)
{
	long long slices = stat_number("\nslices ");

	ASSERT_EQ(node_write("dmabuf/refresh", "1\n"), 0);
	EXPECT_GT(stat_number("\nslices "), slices);
}

#define NR_TOUCHED	8192

static void touch_many(void *arg)
{
	size_t len = NR_TOUCHED * page_size();
	char *p = map_alone(len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (p == MAP_FAILED)
		_exit(1);
	madvise(p, len, MADV_NOHUGEPAGE);
	touch(p, len);
}

/* However many there are: so often is the mmap lock taken, and let go. */
TEST_F_TIMEOUT(limits, a_slice_has_so_many_entries, TIMEOUT)
{
	static const int sizes[] = { 1, 50, 2048 };

	ASSERT_EQ(start_tracked(&self->pid, touch_many, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		long long slices;

		ASSERT_EQ(node_write_number("slice_entries", sizes[i]), 0);
		slices = slices_of_refresh(self->pid);
		EXPECT_GE(slices * sizes[i], NR_TOUCHED)
			TH_LOG("%lld slices", slices);
	}
}

/*
 * The time of the walk that was cut short is among the statistics, and so are
 * its slices: they are fewer than those of a whole one.
 */
TEST_F_TIMEOUT(limits, a_killed_reader_stops, 2 * TIMEOUT)
{
	long long whole, killed, incomplete;
	pid_t reader;

	ASSERT_EQ(start_tracked(&self->pid, map_all, NULL), 0);
	ASSERT_EQ(node_write("slice_entries", "1\n"), 0);
	whole = slices_of_refresh(self->pid);
	ASSERT_GT(whole, MAX_MAPS / 2);

	/* Until it was not killed before it had begun. */
	killed = 0;
	for (long long ns = 1000000; !killed && ns < 1000000000; ns *= 2) {
		incomplete = stat_number("walks_incomplete ");
		killed = stat_number("\nslices ");
		reader = start_process(refresh_once, &self->pid);
		while (processor_ns(reader) < ns)
			usleep(100);
		kill(reader, SIGKILL);
		ASSERT_EQ(waitpid(reader, NULL, 0), reader);
		killed = stat_number("\nslices ") - killed;
		EXPECT_LT(killed, whole / 2)
			TH_LOG("%lld of %lld slices", killed, whole);
		/* It may have begun, but not looked at anything. */
		incomplete = stat_number("walks_incomplete ") - incomplete;
		EXPECT_GE(incomplete, !!killed);
		EXPECT_LE(incomplete, 1);
	}
	EXPECT_GT(killed, 0);
}

/*
 * An exit: what the process had is free within a second, with readers in the
 * middle of each of its files.
 */

#define HEAVY	(64UL << 20)

static void be_heavy(void *arg)
{
	char *p = mmap(NULL, HEAVY, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (file_write(CGROUP "/cgroup.procs", "0\n") || p == MAP_FAILED)
		_exit(1);
	touch(p, HEAVY);
}

static long long anon_of_cgroup(void)
{
	char *text = file_slurp(CGROUP "/memory.stat");
	long long anon = text && !strncmp(text, "anon ", 5) ?
			 strtoll(text + 5, NULL, 10) : -1;

	free(text);
	return anon;
}

static int sleeper_fd[1024];
static int nr_sleepers;

static int sleep_on(const char *path)
{
	struct stat st;
	char byte;
	int fd;

	if (stat(path, &st) || !(st.st_mode & 0400) ||
	    nr_sleepers == ARRAY_SIZE(sleeper_fd))
		return 0;
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	if (read(fd, &byte, 1) < 0)
		close(fd);
	else
		sleeper_fd[nr_sleepers++] = fd;
	return 0;
}

TEST_F_TIMEOUT(limits, memory_goes_with_its_process, TIMEOUT)
{
	static const char *const trees[] = { NODES, DETAILS };
	char path[64];

	file_write("/sys/fs/cgroup/cgroup.subtree_control", "+memory\n");
	if (mkdir(CGROUP, 0755) || access(CGROUP "/memory.stat", F_OK))
		SKIP(return, "no " CGROUP "/memory.stat (cgroup v2, CONFIG_MEMCG)");
	ASSERT_EQ(start_tracked(&self->pid, be_heavy, NULL), 0);
	ASSERT_EQ(node_refresh(self->pid), 0);
	ASSERT_GE(anon_of_cgroup(), (long long)HEAVY);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		snprintf(path, sizeof(path), "%sprocesses/%d", trees[i],
			 self->pid);
		tree_walk(path, sleep_on);
	}
	sleep_on(DETAILS "snapshot");
	sleep_on(DETAILS "mappings");
	sleep_on(DETAILS "dmabuf");
	/* Most of them in sysfs: of a few there is nothing to be read here. */
	EXPECT_GT(nr_sleepers, 300);

	kill(self->pid, SIGKILL);
	ASSERT_EQ(waitpid(self->pid, NULL, 0), self->pid);
	for (int i = 0; i < 100 && anon_of_cgroup(); i++)
		usleep(10000);
	EXPECT_EQ(anon_of_cgroup(), 0);
	while (nr_sleepers)
		close(sleeper_fd[--nr_sleepers]);
	node_write_number("untrack", self->pid);
	self->pid = 0;
}

TEST_HARNESS_MAIN
