// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes to measure; see processes.h. The app is made of cycles, each with
 * what an Android app has many of, in pieces that the kernel cannot merge.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure.h"
#include "processes.h"

#define R	PROT_READ
#define RW	(PROT_READ | PROT_WRITE)
#define RX	(PROT_READ | PROT_EXEC)

#define NR_FILES	300
#define FILE_PAGES	30

enum kind { ANON, LIBRARY, SHARED_FILE, MEMFD };

/**
 * struct piece - a mapping
 * @kind: of what; LIBRARY is private, with some other ending than .so in
 *	part of the cycles
 * @prot: as for mmap
 * @pages: length
 * @used: pages that are written, or read where it cannot be written
 * @at: page of the file that it begins with
 * @name: of anonymous memory; NULL for none
 */
struct piece {
	enum kind kind;
	int prot;
	unsigned int pages, used, at;
	const char *name;
};

static const struct piece pieces[] = {
	{ LIBRARY, R, 6, 6, 0 },
	{ LIBRARY, RX, 12, 12, 6 },
	{ LIBRARY, RW, 4, 4, 18 },
	{ ANON, RW, 4, 3 },
	{ ANON, PROT_NONE, 1, 0 },
	{ ANON, RW, 32, 15, 0, "scudo:primary" },
	{ ANON, PROT_NONE, 1, 0 },
	{ ANON, RW, 8, 8, 0, "scudo:secondary" },
	{ ANON, PROT_NONE, 1, 0 },
	{ ANON, RW, 16, 12 },
	{ ANON, RW, 32, 24, 0, "dalvik-main space (region space)" },
	{ ANON, RW, 8, 6, 0, "dalvik-LinearAlloc" },
	{ ANON, RW, 16, 2, 0, "stack_and_tls:4711" },
	{ ANON, PROT_NONE, 1, 0 },
	{ ANON, RW, 16, 10, 0, "partition_alloc" },
	{ SHARED_FILE, R, 8, 6, 22 },
	{ MEMFD, RW, 8, 6, 0 },
	{ MEMFD, RX, 8, 4, 0 },
	{ ANON, R, 4, 0 },
	{ ANON, RW, 8, 8, 0, "dalvik-zygote space" },
};

_Static_assert(ARRAY_SIZE(pieces) == APP_VMAS);

static char dir[100], mount_point[] = "/tmp/memledger-bench.XXXXXX";

static const char *file_name(unsigned int nr)
{
	static const char *const endings[] = {
		"so", "so", "apk", "so", "odex", "so", "vdex", "so", "oat",
		"so", "jar", "so", "art", "so", "ttf", "so",
	};
	static char name[160];

	snprintf(name, sizeof(name), "%s/library_number_%u.%s", dir, nr,
		 endings[nr % ARRAY_SIZE(endings)]);
	return name;
}

/**
 * files_make() - make the files that apps map
 *
 * They are as deep in directories as an app's are, and on a file system that
 * is not shmem, for which smaps has ways of its own.
 */
void files_make(void)
{
	static char page[65536];

	must(mkdtemp(mount_point));
	must(!mount("bench", mount_point, "ramfs", 0, NULL));
	snprintf(dir, sizeof(dir), "%s/com.example.bench-1", mount_point);
	must(!mkdir(dir, 0755));
	strcat(dir, "/lib");
	must(!mkdir(dir, 0755));
	strcat(dir, "/arm64");
	must(!mkdir(dir, 0755));
	for (unsigned int nr = 0; nr < NR_FILES; nr++) {
		int fd = open(file_name(nr), O_WRONLY | O_CREAT | O_CLOEXEC,
			      0644);

		must(fd >= 0);
		for (int i = 0; i < FILE_PAGES; i++)
			must(write(fd, page, page_size()) ==
			     (ssize_t)page_size());
		close(fd);
	}
}

/* Processes that were killed are not gone at once, and with them the files. */
void files_remove(void)
{
	while (umount(mount_point)) {
		must(errno == EBUSY);
		usleep(10000);
	}
	must(!rmdir(mount_point));
}

static void map_piece(const struct piece *piece, char *start, int file,
		      int memfd)
{
	size_t len = piece->pages * page_size();
	int flags = piece->kind < SHARED_FILE ? MAP_PRIVATE : MAP_SHARED;
	int fd = piece->kind == ANON ? -1 :
		 piece->kind == MEMFD ? memfd : file;

	if (piece->kind == ANON)
		flags |= MAP_ANONYMOUS;
	must(mmap(start, len, piece->prot, flags | MAP_FIXED, fd,
		  piece->at * page_size()) == start);
	if (piece->name)
		must(!prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, len,
			    piece->name));
	len = piece->used * page_size();
	if (piece->prot & PROT_WRITE)
		touch(start, len);
	else
		read_pages(start, len);
}

/**
 * struct part - a part of an app
 * @start: where it is
 * @first: cycle
 * @end: cycle behind the last
 */
struct part {
	char *start;
	unsigned int first, end;
};

static size_t cycle_pages(void)
{
	size_t pages = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		pages += pieces[i].pages;
	return pages;
}

static struct part map_app(unsigned int first, unsigned int end)
{
	size_t len = (end - first) * cycle_pages() * page_size();
	char *at = map_alone(len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	struct part part = { at, first, end };

	must(at != MAP_FAILED);
	for (unsigned int cycle = first; cycle < end; cycle++) {
		int file = open(file_name(cycle % NR_FILES),
				O_RDWR | O_CLOEXEC);
		int memfd = syscall(__NR_memfd_create, "jit-cache", 0);

		must(file >= 0);
		must(memfd >= 0);
		must(!ftruncate(memfd, 8 * page_size()));
		for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
			map_piece(&pieces[i], at, file, memfd);
			at += pieces[i].pages * page_size();
		}
		close(file);
		close(memfd);
	}
	return part;
}

/* A fork has the memory, but none of the files' pages. */
static void use_part(const struct part *part)
{
	char *at = part->start;

	for (unsigned int cycle = part->first; cycle < part->end; cycle++) {
		for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
			read_pages(at, pieces[i].used * page_size());
			at += pieces[i].pages * page_size();
		}
	}
}

/* A child that has what was mapped already, and so many cycles of its own. */
static pid_t fork_app(const struct part *shared, unsigned int first,
		      unsigned int end)
{
	pid_t pid = fork();

	must(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		use_part(shared);
		if (first < end)
			map_app(first, end);
		raise(SIGSTOP);
		_exit(0);
	}
	must(!wait_stopped(pid));
	return pid;
}

/**
 * run_app() - an app that has two siblings
 * @cycles: unsigned int, how large it is
 *
 * Half of it was there before they were forked, as from a zygote. They are in
 * its process group.
 */
void run_app(void *cycles)
{
	unsigned int end = *(unsigned int *)cycles;
	struct part shared = map_app(0, end / 2);

	for (int i = 0; i < 2; i++)
		fork_app(&shared, 0, 0);
	map_app(end / 2, end);
}

/**
 * run_system() - many apps
 * @system: struct system; they are in the process group of whoever this is
 */
void run_system(void *system)
{
	const struct system *all = system;
	struct part shared = map_app(0, all->shared);

	for (unsigned int i = 0; i < all->apps; i++) {
		unsigned int first = all->shared + i * all->own;

		all->pid[i] = fork_app(&shared, first, first + all->own);
	}
}

/* As many pages as an app of 6,000 mappings has, in 16. */
#define FEW		16
#define FEW_PAGES	39000

void map_few(void *arg)
{
	size_t len = FEW_PAGES / FEW * page_size();

	(void)arg;
	for (int i = 0; i < FEW; i++) {
		int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1;
		char *p;

		if (i % 4 == 3) {
			flags = MAP_SHARED;
			fd = syscall(__NR_memfd_create, "few", 0);
			must(fd >= 0 && !ftruncate(fd, len));
		}
		p = map_alone(len, RW, flags, fd, 0);
		must(p != MAP_FAILED);
		if (i % 2)
			prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, len,
			      "scudo:primary");
		touch(p, len);
	}
}

/* 512 MB of small pages in one mapping. */
void map_large(void *arg)
{
	size_t len = 512 * MB;
	char *p = map_alone(len, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	must(p != MAP_FAILED);
	touch(p, len);
}

/* 2 GB in huge pages. */
void map_thp(void *arg)
{
	size_t len = 2048 * MB;
	char *p = map_alone(len, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	must(p != MAP_FAILED);
	must(!madvise(p, len, MADV_HUGEPAGE));
	for (size_t at = 0; at < len; at += 2 * MB)
		p[at] = 1;
}

#define TOUCHED		(64 * MB)
#define RESERVE		(1UL << 40)

/* 64 MB alone; else in the middle of 1 TB, or all over it. */
#define SCATTERED	16

void map_plain(void *arg)
{
	char *p = map_alone(TOUCHED, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	must(p != MAP_FAILED);
	touch(p, TOUCHED);
}

static char *reserve(void)
{
	char *p = map_alone(RESERVE, RW,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	must(p != MAP_FAILED);
	return p;
}

void map_reserve(void *arg)
{
	(void)arg;
	touch(reserve() + RESERVE / 2, TOUCHED);
}

void map_scattered(void *arg)
{
	char *p = reserve();

	(void)arg;
	for (int i = 0; i < SCATTERED; i++)
		touch(p + i * (RESERVE / SCATTERED), TOUCHED / SCATTERED);
}

/* 8 GB of page-table entries, in less memory. */
#define TIMES	128

void map_many_times(void *arg)
{
	size_t len = 64 * MB;
	int fd = syscall(__NR_memfd_create, "many", 0);

	(void)arg;
	must(fd >= 0 && !ftruncate(fd, len));
	for (int i = 0; i < TIMES; i++)
		must(mmap(NULL, len, RW, MAP_SHARED | MAP_POPULATE, fd, 0) !=
		     MAP_FAILED);
}
