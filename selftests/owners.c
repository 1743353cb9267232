// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who mapped what, as processes/TGID/owners tells: apps of several libraries
 * with and without frame pointers, what becomes of an owner when its memory
 * is moved, cut, mapped over or lost at exec, owners by name, and captures
 * that run full, run for long, and are switched off meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "owner_rows.h"
#include "raw_mmap.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define RW	(PROT_READ | PROT_WRITE)
#define ANON	(MAP_PRIVATE | MAP_ANONYMOUS)
#define NOBODY	"unknown caller"

/* As many mappings are noted for a process. */
#define MAX_RANGES	16384
#define THP		"/sys/kernel/mm/transparent_hugepage/enabled"

/**
 * struct expected - a row that must be there
 * @library: the file's name; NULL if @function is the whole text of the owner
 * @function: the owner
 * @regions: how many
 * @pages: their rss, pss and private_dirty, in pages
 * @perms: NULL for "rw-p"
 */
struct expected {
	const char *library;
	const char *function;
	u64 regions;
	u64 pages;
	const char *perms;
};

static bool row_is(const struct owner_row *row, const char *source,
		   const struct expected *expected)
{
	if (strcmp(row->source, source) ||
	    strcmp(row->perms, expected->perms ?: "rw-p"))
		return false;
	if (!expected->library)
		return !strcmp(row->owner, expected->function);
	return !strcmp(row->library, expected->library) &&
	       !strcmp(row->function, expected->function);
}

/* The compilers' default for arm64 keeps them, that for x86 does not. */
#if defined(__aarch64__)
#define LIBC_FRAMES	true
#else
#define LIBC_FRAMES	false
#endif

static bool row_found(const struct owner_rows *rows, const char *source,
		      const struct expected *expected)
{
	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct owner_row *row = &rows->row[i];
		u64 bytes = expected->pages * page_size();

		if (row_is(row, source, expected))
			return row->regions == expected->regions &&
			       row->rss == bytes && row->pss == bytes &&
			       row->private_dirty == bytes;
	}
	return false;
}

/* Whether the rows of @source are those expected, up to one that is empty. */
static bool rows_are(const struct owner_rows *rows, const char *source,
		     const struct expected *expected)
{
	unsigned int nr = 0, wanted = 0;
	bool same = true;

	for (unsigned int i = 0; i < rows->nr; i++)
		nr += !strcmp(rows->row[i].source, source);
	for (; expected->function; expected++, wanted++) {
		if (row_found(rows, source, expected))
			continue;
		printf("# not there: %s, %s: %llu regions, %llu pages\n",
		       expected->library ?: "-", expected->function,
		       expected->regions, expected->pages);
		same = false;
	}
	if (same && nr == wanted)
		return true;
	printf("# %u rows instead of %u:\n", nr, wanted);
	owner_rows_print(rows);
	return false;
}

static int capture_write(pid_t pid, const char *text)
{
	char node[64];

	snprintf(node, sizeof(node), "processes/%d/capture", pid);
	return node_write(node, text);
}

/* Tracks a process, and captures what it maps from now on. */
static int watch(pid_t pid)
{
	return node_write_number("track", pid) ?: capture_write(pid, "1\n");
}

static int go_on_until_stopped(pid_t pid)
{
	kill(pid, SIGCONT);
	return wait_stopped(pid);
}

/*
 * On from the first test to the last: what is switched for each may be seen as it
 * was before by another processor, see use_one_processor().
 */
static pid_t captured_by;

static void __attribute__((constructor)) capture_throughout(void)
{
	if (node_read("owner_capture") || node_write("owner_capture", "1\n"))
		return;
	captured_by = getpid();
}

/* Children of this process end here, too. */
static void __attribute__((destructor)) capture_no_longer(void)
{
	if (captured_by == getpid())
		node_write("owner_capture", "0\n");
}

static const char *capture_missing(void)
{
	const char *why = nodes_missing();

	if (!why && node_read("features/owner_capture") != 1)
		why = "this kernel cannot capture owners";
	if (!why)
		why = setting_set(NODES "owner_capture", "1");
	/* A huge page would be what several callers mapped. */
	if (!why && !access(THP, F_OK))
		why = setting_set(THP, "madvise");
	return why;
}

/*
 * An app and its libraries, which are built with frame pointers and without
 */

FIXTURE(app)
{
	pid_t pid;
	struct owner_rows rows;
};

/* "fp" or "nofp" each; the last part of a file's name. */
FIXTURE_VARIANT(app)
{
	const char *libraries;
	const char *runtime;
};

FIXTURE_VARIANT_ADD(app, frame_pointers)
{
	.libraries = "fp",
	.runtime = "fp",
};

FIXTURE_VARIANT_ADD(app, none_in_the_libraries)
{
	.libraries = "nofp",
	.runtime = "fp",
};

FIXTURE_VARIANT_ADD(app, none_in_the_runtime)
{
	.libraries = "fp",
	.runtime = "nofp",
};

FIXTURE_VARIANT_ADD(app, none_at_all)
{
	.libraries = "nofp",
	.runtime = "nofp",
};

FIXTURE_SETUP(app)
{
	const char *why = capture_missing();
	char *argv[] = { NULL, "--library-path", NULL, NULL, NULL };
	char app[64];

	if (!why && access(beside_me(LOADER), X_OK))
		why = "no dynamic loader beside the test";
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	snprintf(app, sizeof(app), "owners_app-%s-%s", variant->libraries,
		 variant->runtime);
	argv[0] = strdup(beside_me(LOADER));
	argv[2] = strdup(beside_me(""));
	argv[3] = strdup(beside_me(app));
	self->pid = start_program(argv);
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(watch(self->pid), 0);
}

FIXTURE_TEARDOWN(app)
{
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	settings_restore();
}

TEST_F_TIMEOUT(app, owners, TIMEOUT)
{
	bool runtime_has = !strcmp(variant->runtime, "fp");
	char a[64], b[64];
	/*
	 * Of malloc()'s 1 MB and a header, the first and the last page. Who asks
	 * for it is found where libc has frame pointers.
	 */
	struct expected expected[] = {
		{ a, "a_map", 7, 7 * 2 },
		{ b, "b_map", 5, 5 * 1 },
		{ a, "a_map_for_others", 4, 4 * 3 },
		{ a, "a_system_call", 3, 3 * 4 },
		{ a, "a_through_runtime", 6, 6 * 5 },
		{ LIBC_FRAMES ? a : NULL, LIBC_FRAMES ? "a_malloc" : NOBODY, 2,
		  2 * 2 },
		{ }
	};

	if (!runtime_has) {
		expected[4].library = NULL;
		expected[4].function = NOBODY;
	}
	if (!runtime_has && !LIBC_FRAMES) {
		expected[4].regions += 2;
		expected[4].pages += 2 * 2;
		expected[5] = expected[6];
	}
	snprintf(a, sizeof(a), "libowners_a-%s.so", variant->libraries);
	snprintf(b, sizeof(b), "libowners_b-%s.so", variant->libraries);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", expected));
	EXPECT_TRUE(self->rows.capturing);
	/* One more is the heap, which malloc() has by brk(). */
	EXPECT_EQ(self->rows.ranges, 7 + 5 + 4 + 3 + 2 + 6 + 1);
	EXPECT_EQ(self->rows.dropped, 0);
}

TEST_F_TIMEOUT(app, not_captured, TIMEOUT)
{
	const struct expected none = {};

	ASSERT_EQ(capture_write(self->pid, "0\n"), 0);
	EXPECT_EQ(node_read("processes/%d/capture", self->pid), 0);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_FALSE(self->rows.capturing);
	EXPECT_TRUE(rows_are(&self->rows, "capture", &none));
}

/*
 * Processes that map and do something with it. They have an area without
 * access from before the capture, in pages of which all happens.
 */

#define AREA_PAGES	64
static char *area;

static char *page(size_t nr)
{
	return area + nr * page_size();
}

static void fail_if(bool failed)
{
	if (failed)
		_exit(1);
}

static void make_area(size_t pages)
{
	area = map_alone(pages * page_size(), PROT_NONE,
			 ANON | MAP_NORESERVE, -1, 0);
	fail_if(area == MAP_FAILED);
}

/* Each is the owner of what it maps; calls nothing, so that it may be moved. */
static __attribute__((noinline)) char *map_first(char *at, size_t len)
{
	return raw_mmap(at, len, RW, ANON | MAP_FIXED, -1, 0);
}

static __attribute__((noinline)) char *map_second(char *at, size_t len)
{
	char *p = raw_mmap(at, len, RW, ANON | MAP_FIXED, -1, 0);

	/* Not the same code as above, which could be merged with it. */
	*(volatile char *)p = 2;
	return p;
}

static __attribute__((noinline)) char *map_read_only(char *at, size_t len)
{
	return raw_mmap(at, len, PROT_READ, ANON | MAP_FIXED, -1, 0);
}

static void first(size_t at, size_t pages)
{
	fail_if(map_first(page(at), pages * page_size()) != page(at));
	touch(page(at), pages * page_size());
}

static void second(size_t at, size_t pages)
{
	fail_if(map_second(page(at), pages * page_size()) != page(at));
	touch(page(at), pages * page_size());
}

static void unmap(size_t at, size_t pages)
{
	fail_if(munmap(page(at), pages * page_size()));
}

static char *move(size_t at, size_t pages, size_t new_pages, int flags,
		  size_t to)
{
	return mremap(page(at), pages * page_size(), new_pages * page_size(),
		      flags, page(to));
}

static void move_to(size_t at, size_t pages, size_t to)
{
	fail_if(move(at, pages, pages, MREMAP_MAYMOVE | MREMAP_FIXED, to) !=
		page(to));
}

static void map_file(size_t at, size_t pages, const char *path, int prot,
		     off_t offset)
{
	int fd = open(path, O_RDONLY);

	fail_if(raw_mmap(page(at), pages * page_size(), prot,
			 MAP_PRIVATE | MAP_FIXED, fd, offset) != page(at));
	close(fd);
}

static void munmap_whole(void)
{
	first(0, 8);
	unmap(0, 8);
}

static void munmap_head(void)
{
	first(0, 8);
	unmap(0, 3);
}

static void munmap_tail(void)
{
	first(0, 8);
	unmap(5, 3);
}

static void munmap_middle(void)
{
	first(0, 8);
	unmap(2, 3);
}

static void munmap_across(void)
{
	first(0, 8);
	second(8, 8);
	unmap(5, 5);
}

static void munmap_refused(void)
{
	first(0, 8);
	fail_if(!munmap(page(2) + 100, page_size()));
	fail_if(!munmap(page(2), 0));
}

static void map_over_a_part(void)
{
	first(0, 8);
	second(2, 3);
}

static void map_over_all(void)
{
	first(2, 3);
	second(0, 8);
}

static void file_over_a_part(void)
{
	first(0, 8);
	map_file(2, 3, "/proc/self/exe", PROT_READ, 0);
}

static void file_over_all(void)
{
	first(0, 8);
	map_file(0, 8, "/proc/self/exe", PROT_READ, 0);
}

static void mremap_moves(void)
{
	first(0, 8);
	move_to(0, 8, 32);
}

static void mremap_moves_a_part(void)
{
	first(0, 8);
	move_to(2, 3, 32);
}

static void mremap_moves_back(void)
{
	first(0, 8);
	move_to(2, 3, 32);
	move_to(32, 3, 2);
}

static void mremap_grows(void)
{
	first(0, 4);
	unmap(4, 8);
	fail_if(move(0, 4, 8, 0, 0) != page(0));
	touch(page(0), 8 * page_size());
}

static void mremap_shrinks(void)
{
	first(0, 8);
	fail_if(move(0, 8, 3, 0, 0) != page(0));
}

static void mremap_over_another(void)
{
	first(0, 8);
	second(16, 8);
	move_to(0, 4, 18);
}

static void mremap_keeps_the_old(void)
{
	first(0, 8);
	fail_if(move(0, 8, 8, MREMAP_MAYMOVE | MREMAP_FIXED |
		     MREMAP_DONTUNMAP, 32) != page(32));
}

static void mremap_refused(void)
{
	first(0, 8);
	fail_if(move(0, 8, 16, 0, 0) != MAP_FAILED);
	fail_if(mremap(page(2) + 100, page_size(), page_size(),
		       MREMAP_MAYMOVE) != MAP_FAILED);
	fail_if(move(2, 0, 1, MREMAP_MAYMOVE, 0) != MAP_FAILED);
	fail_if(move(2, 1, 1, MREMAP_FIXED, 0) != MAP_FAILED);
}

/* One mapping of two owners; whose it is now cannot be said. */
static void mremap_of_two(void)
{
	first(0, 4);
	second(4, 4);
	move_to(0, 8, 32);
}

static void mprotect_a_part(void)
{
	first(0, 8);
	fail_if(mprotect(page(2), 2 * page_size(), PROT_READ));
}

static char *brk_by(long pages)
{
	char *old = (char *)syscall(SYS_brk, 0);
	char *new = old + pages * (long)page_size();

	fail_if((char *)syscall(SYS_brk, new) != new);
	return old;
}

static void brk_grows(void)
{
	touch(brk_by(8), 8 * page_size());
}

static void brk_shrinks(void)
{
	brk_by(8);
	brk_by(-8);
}

/* Where this program's function is in its file. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	u64 *addr = arg, at = *addr - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || at < segment->p_vaddr ||
		    at >= segment->p_vaddr + segment->p_memsz)
			continue;
		*addr = at - segment->p_vaddr + segment->p_offset;
		return 1;
	}
	return 0;
}

/* Maps this program's code once more, and lets map_first() run there. */
static void code_mapped_again(void)
{
	char *(*copy)(char *at, size_t len);
	u64 offset = (u64)map_first, start;

	fail_if(!dl_iterate_phdr(find_offset, &offset));
	start = offset & -page_size();
	map_file(32, 2, "/proc/self/exe", PROT_READ | PROT_EXEC, start);
	copy = (void *)(page(32) + offset - start);
	fail_if(copy(page(0), 8 * page_size()) != page(0));
	touch(page(0), 8 * page_size());
}

/* As when a library is unloaded, and another one takes its place. */
static void code_replaced(void)
{
	code_mapped_again();
	map_file(32, 2, beside_me("hold"), PROT_READ | PROT_EXEC, 0);
}

/* The same, but the other library was there before. */
static void code_older(void)
{
	map_file(40, 2, beside_me("hold"), PROT_READ | PROT_EXEC, 0);
	code_mapped_again();
}

#define NR_THREADS	4
static unsigned int phase, nr_done;

static void wait_for_phase(unsigned int wanted)
{
	while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) < wanted)
		usleep(1000);
}

/* Threads have stacks: they are started before anybody watches. */
static void start_threads(void *(*run)(void *arg))
{
	for (size_t i = 0; i < NR_THREADS; i++) {
		pthread_t thread;

		fail_if(pthread_create(&thread, NULL, run, (void *)i));
	}
}

/* For threads: done, and out of the way. */
static void *done(void)
{
	__atomic_add_fetch(&nr_done, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

static void run_threads(unsigned int which)
{
	__atomic_store_n(&phase, which, __ATOMIC_RELEASE);
	while (__atomic_load_n(&nr_done, __ATOMIC_ACQUIRE) < NR_THREADS)
		usleep(1000);
}

static void *map_in_thread(void *arg)
{
	wait_for_phase(1);
	first((size_t)arg * 4, 3);
	return done();
}

static void threads_ready(void)
{
	start_threads(map_in_thread);
}

static void threads_map(void)
{
	run_threads(1);
}

FIXTURE(process)
{
	pid_t pid;
	struct owner_rows rows;
};

/**
 * struct scenario - what a process does
 * @prepare: before it is watched, or NULL
 * @run: while it is
 * @ranges: how many are noted in the end
 * @owners: and whose, as rows of source "capture"
 */
struct scenario {
	void (*prepare)(void);
	void (*run)(void);
	u64 ranges;
	struct expected owners[3];
};

FIXTURE_VARIANT(process)
{
	struct scenario is;
};

#define PROCESS(_run, _ranges, ...)					\
	FIXTURE_VARIANT_ADD(process, _run)				\
	{ .is = {							\
		.run = _run,						\
		.ranges = _ranges,					\
		.owners = { __VA_ARGS__ },				\
	} }

#define FIRST(_regions, _pages)		{ "owners", "map_first", _regions, _pages }
#define SECOND(_regions, _pages)	{ "owners", "map_second", _regions, _pages }
#define READ_ONLY(_regions, _pages) \
	{ "owners", "map_first", _regions, _pages, "r--p" }

PROCESS(munmap_whole, 0, {});
PROCESS(munmap_head, 1, FIRST(1, 5));
PROCESS(munmap_tail, 1, FIRST(1, 5));
PROCESS(munmap_middle, 2, FIRST(2, 5));
PROCESS(munmap_across, 2, FIRST(1, 5), SECOND(1, 6));
PROCESS(munmap_refused, 1, FIRST(1, 8));
PROCESS(map_over_a_part, 3, FIRST(2, 5), SECOND(1, 3));
PROCESS(map_over_all, 1, SECOND(1, 8));
PROCESS(file_over_a_part, 2, FIRST(2, 5));
PROCESS(file_over_all, 0, {});
PROCESS(mremap_moves, 1, FIRST(1, 8));
PROCESS(mremap_moves_a_part, 3, FIRST(3, 8));
PROCESS(mremap_moves_back, 1, FIRST(1, 8));
PROCESS(mremap_grows, 1, FIRST(1, 8));
PROCESS(mremap_shrinks, 1, FIRST(1, 3));
PROCESS(mremap_over_another, 4, FIRST(2, 8), SECOND(2, 4));
PROCESS(mremap_keeps_the_old, 2, FIRST(2, 8));
PROCESS(mremap_refused, 1, FIRST(1, 8));
PROCESS(mremap_of_two, 1, {});
PROCESS(mprotect_a_part, 1, FIRST(2, 6), READ_ONLY(1, 2));
PROCESS(brk_grows, 1, {});
PROCESS(brk_shrinks, 0, {});
PROCESS(code_mapped_again, 2, FIRST(1, 8));
PROCESS(code_replaced, 2, {});
PROCESS(code_older, 3, FIRST(1, 8));

FIXTURE_VARIANT_ADD(process, threads)
{ .is = {
	.prepare = threads_ready,
	.run = threads_map,
	.ranges = NR_THREADS,
	.owners = { FIRST(NR_THREADS, NR_THREADS * 3) },
} };

static void run_process(void *arg)
{
	const struct scenario *scenario = arg;

	make_area(AREA_PAGES);
	if (scenario->prepare)
		scenario->prepare();
	raise(SIGSTOP);
	scenario->run();
}

FIXTURE_SETUP(process)
{
	const char *why = capture_missing();

	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	self->pid = start_process(run_process, (void *)&variant->is);
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(watch(self->pid), 0);
}

FIXTURE_TEARDOWN(process)
{
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	settings_restore();
}

TEST_F_TIMEOUT(process, owners, TIMEOUT)
{
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", variant->is.owners));
	EXPECT_EQ(self->rows.ranges, variant->is.ranges);
	EXPECT_EQ(self->rows.dropped, 0);
}

/*
 * One of a kind
 */

FIXTURE(capture)
{
	pid_t pid;
	pid_t other;
	struct owner_rows rows;
};

FIXTURE_SETUP(capture)
{
	const char *why = capture_missing();

	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
}

static void end_watched(pid_t pid)
{
	if (pid <= 0)
		return;
	node_write_number("untrack", pid);
	end_process(pid);
}

FIXTURE_TEARDOWN(capture)
{
	end_watched(self->other);
	end_watched(self->pid);
	settings_restore();
}

/* Starts a process that has stopped when this returns, and watches it. */
static pid_t start_watched(void (*run)(void *arg), void *arg)
{
	pid_t pid = start_process(run, arg);

	if (pid > 0 && (wait_stopped(pid) || watch(pid)))
		printf("# cannot watch\n");
	return pid;
}

/* What a process tells of itself, in memory that it shares with the test. */
struct told {
	pid_t pid;
	u64 code[2];
};

static struct told *share_told(void)
{
	return mmap(NULL, page_size(), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Parent and child have the same mappings, and stop at the same places. */
static void map_and_fork(void *arg)
{
	struct told *told = arg;
	pid_t pid;

	make_area(AREA_PAGES);
	raise(SIGSTOP);
	first(0, 8);
	pid = fork();
	fail_if(pid < 0);
	if (pid) {
		told->pid = pid;
		return;
	}
	unmap(0, 4);
	raise(SIGSTOP);
	second(8, 4);
	raise(SIGSTOP);
	_exit(0);
}

TEST_F_TIMEOUT(capture, child_inherits_nothing, TIMEOUT)
{
	const struct expected none = {}, *nothing = &none;
	const struct expected firsts[] = {
		/* The child has unmapped its half. */
		{ "owners", "map_first", 1, 8 }, { },
	};
	const struct expected seconds[] = {
		{ "owners", "map_second", 1, 4 }, { },
	};
	struct told *told = share_told();

	self->pid = start_watched(map_and_fork, told);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	wait_for_state(told->pid, "T");

	ASSERT_EQ(node_write_number("track", told->pid), 0);
	EXPECT_EQ(node_read("processes/%d/capture", told->pid), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, told->pid), 0);
	EXPECT_FALSE(self->rows.capturing);
	EXPECT_TRUE(rows_are(&self->rows, "capture", nothing));

	EXPECT_EQ(capture_write(told->pid, "1\n"), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, told->pid), 0);
	EXPECT_TRUE(self->rows.capturing);
	EXPECT_EQ(self->rows.ranges, 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", nothing));

	kill(told->pid, SIGCONT);
	while (owner_rows_read(&self->rows, told->pid) || !self->rows.ranges)
		usleep(1000);
	wait_for_state(told->pid, "T");
	EXPECT_EQ(owner_rows_read(&self->rows, told->pid), 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", seconds));
	EXPECT_EQ(node_write_number("untrack", told->pid), 0);
	kill(told->pid, SIGKILL);
	/* The parent has its pages for itself again. */
	wait_for_state(told->pid, "Z");

	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 1);
	EXPECT_TRUE(rows_are(&self->rows, "capture", firsts));
}

/* Stops in the new program before that has made a system call. */
static void map_and_exec(void *arg)
{
	char *argv[] = { strdup(beside_me("hold")), "20000", "stop", NULL };

	(void)arg;
	fail_if(!freopen("/dev/null", "w", stdout));
	make_area(AREA_PAGES);
	raise(SIGSTOP);
	first(0, 8);
	raise(SIGSTOP);
	fail_if(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	execv(argv[0], argv);
	_exit(127);
}

TEST_F_TIMEOUT(capture, exec_forgets_all, TIMEOUT)
{
	const struct expected firsts[] = {
		{ "owners", "map_first", 1, 8 }, { },
	};
	const struct expected none = {};
	bool named = node_read("features/anon_names") == 1;

	self->pid = start_watched(map_and_exec, NULL);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", firsts));
	EXPECT_EQ(self->rows.ranges, 1);

	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_TRUE(self->rows.capturing);
	EXPECT_TRUE(rows_are(&self->rows, "capture", &none));
	EXPECT_EQ(self->rows.ranges, 0);

	/* And on it goes: the area that hold has its memory in is left. */
	ASSERT_EQ(ptrace(PTRACE_DETACH, self->pid, NULL, NULL), 0);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_GT(self->rows.ranges, 2);
	EXPECT_EQ(self->rows.dropped, 0);
	for (unsigned int i = 0; i < self->rows.nr; i++) {
		const struct owner_row *row = &self->rows.row[i];

		if (strcmp(row->source, "capture"))
			continue;
		EXPECT_STREQ(row->library, "hold");
		/* What hold names is not Unknown, where names are to be had. */
		if (!named && !strcmp(row->perms, "rw-p"))
			continue;
		EXPECT_STREQ(row->perms, "---p");
		EXPECT_EQ(row->regions, 2);
	}
}

static void exec_i386(void *arg)
{
	char *argv[] = { strdup(beside_me("i386")), NULL };

	(void)arg;
	raise(SIGSTOP);
	execv(argv[0], argv);
	_exit(127);
}

TEST_F_TIMEOUT(capture, of_a_32_bit_process, TIMEOUT)
{
	const struct expected none = {};

	if (access(beside_me("i386"), X_OK))
		SKIP(return, "no 32-bit program beside the test");
	self->pid = start_watched(exec_i386, NULL);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	/* Its maps by the old system call and the new one, cut by munmap. */
	EXPECT_EQ(self->rows.ranges, 4);
	EXPECT_EQ(self->rows.dropped, 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", &none));
}

/*
 * Owners by name
 */

static void name_page(size_t at, const char *name)
{
	first(at, 1);
	fail_if(prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, page(at), page_size(),
		      name));
}

#define NAME_MAX_LEN	79

static void name_owners(void *arg)
{
	struct told *told = arg;
	char name[NAME_MAX_LEN + 1];

	make_area(AREA_PAGES);
	raise(SIGSTOP);
	snprintf(name, sizeof(name), "mappingowner:0x%lx", (long)map_first);
	name_page(0, name);
	snprintf(name, sizeof(name), "mappingowner %lX", (long)map_first);
	name_page(2, name);
	/* As long as a name can be: blanks, and all digits. */
	snprintf(name, sizeof(name), "mappingowner%*s0x%016lx",
		 NAME_MAX_LEN - 12 - 18, "", (long)map_second);
	name_page(4, name);
	/* Cut off at its end, which is still a number, of nowhere. */
	name_page(6, "mappingowner=0x10");
	name_page(8, "mappingowner 0x");
	name_page(10, "mappingowner junk");
	name_page(12, "mappingowner:12345%s");
	name_page(14, "mappingowner:0x1234 ");
	name_page(16, "mappingowner");
	/* One digit too many for an address. */
	snprintf(name, sizeof(name), "mappingowner%*s%017lx",
		 NAME_MAX_LEN - 12 - 17, "", (long)map_first);
	name_page(18, name);
	/* Memory that is there, but is no code; and the kernel's. */
	snprintf(name, sizeof(name), "mappingowner:%lx", (long)told);
	name_page(20, name);
	name_page(22, "mappingowner:ffffffff81000000");
	told->code[0] = (u64)told;
}

TEST_F_TIMEOUT(capture, owners_by_name, TIMEOUT)
{
	struct told *told = share_told();
	char data[64], digits[128];
	const struct expected expected[] = {
		{ "owners", "map_first", 2, 2 },
		{ "owners", "map_second", 1, 1 },
		{ NULL, "unresolved 0x10", 1, 1 },
		{ NULL, "unresolved [anon:mappingowner 0x]", 1, 1 },
		{ NULL, "unresolved [anon:mappingowner junk]", 1, 1 },
		{ NULL, "unresolved [anon:mappingowner:12345%s]", 1, 1 },
		{ NULL, "unresolved [anon:mappingowner:0x1234 ]", 1, 1 },
		{ NULL, "unresolved [anon:mappingowner]", 1, 1 },
		{ NULL, digits, 1, 1 },
		{ NULL, data, 1, 1 },
		{ NULL, "unresolved 0xffffffff81000000", 1, 1 },
		{ },
	};
	const struct expected none = {};

	if (node_read("features/anon_names") != 1)
		SKIP(return, "this kernel has no names of anonymous memory");
	self->pid = start_watched(name_owners, told);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	snprintf(data, sizeof(data), "unresolved 0x%llx", told->code[0]);
	snprintf(digits, sizeof(digits), "unresolved [anon:mappingowner%*s%017lx]",
		 NAME_MAX_LEN - 12 - 17, "", (long)map_first);

	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_TRUE(rows_are(&self->rows, "name", expected));
	/* The name counts, though it is known who mapped them. */
	EXPECT_TRUE(rows_are(&self->rows, "capture", &none));
	EXPECT_EQ(self->rows.ranges, 12);

	/* It needs no capture. */
	EXPECT_EQ(capture_write(self->pid, "0\n"), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_FALSE(self->rows.capturing);
	EXPECT_TRUE(rows_are(&self->rows, "name", expected));
}

/*
 * Much, and long
 */

#define NR_PAIRS	100000

static void *map_and_unmap(void *arg)
{
	size_t at = (size_t)arg * 4;

	wait_for_phase(1);
	for (int i = 0; i < NR_PAIRS / NR_THREADS; i++) {
		fail_if(map_first(page(at), 3 * page_size()) != page(at));
		unmap(at, 3);
	}
	return done();
}

static void map_pairs(void *arg)
{
	(void)arg;
	make_area(AREA_PAGES);
	start_threads(map_and_unmap);
	raise(SIGSTOP);
	run_threads(1);
	raise(SIGSTOP);
	first(0, 8);
}

/* Nothing is left, nothing was missed, and it goes on as in the beginning. */
TEST_F_TIMEOUT(capture, many_pairs, 900)
{
	const struct expected none = {};
	const struct expected one[] = {
		{ "owners", "map_first", 1, 8 }, { },
	};

	self->pid = start_watched(map_pairs, NULL);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 0);

	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 0);
	EXPECT_EQ(self->rows.dropped, 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", &none));

	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 1);
	EXPECT_EQ(self->rows.dropped, 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", one));
}

#define NR_REUSED	20000
#define NR_TOO_MANY	1000

/* A page each; neighbours have other rights, and are not merged. */
static void map_pages(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		fail_if((i & 1 ? map_first(page(i), page_size()) :
			 map_read_only(page(i), page_size())) != page(i));
}

static void map_many(void *arg)
{
	size_t end = 2 + MAX_RANGES + NR_TOO_MANY;

	(void)arg;
	make_area(end);
	raise(SIGSTOP);
	/* Were room not used again, none would be left after this. */
	for (int i = 0; i < NR_REUSED; i++) {
		fail_if(map_first(page(0), page_size()) != page(0));
		unmap(0, 1);
	}
	fail_if(map_first(page(0), 3 * page_size()) != page(0));
	map_pages(3, 2 + MAX_RANGES);
	raise(SIGSTOP);
	map_pages(2 + MAX_RANGES, end);
	/* There is no room for what is above the hole either. */
	unmap(1, 1);
	raise(SIGSTOP);
	unmap(0, end);
	first(0, 8);
	second(2, 2);
}

TEST_F_TIMEOUT(capture, more_than_it_has_room_for, 900)
{
	const struct expected all[] = {
		{ "owners", "map_first", MAX_RANGES / 2 + 1, 0 },
		{ "owners", "map_read_only", MAX_RANGES / 2 - 1, 0, "r--p" },
		{ },
	};
	const struct expected few[] = {
		{ "owners", "map_first", 2, 6 },
		{ "owners", "map_second", 1, 2 },
		{ },
	};
	const char *why = setting_set("/proc/sys/vm/max_map_count", "100000");

	if (why)
		SKIP(return, "%s", why);
	self->pid = start_watched(map_many, NULL);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, MAX_RANGES);
	EXPECT_EQ(self->rows.dropped, 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", all));

	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, MAX_RANGES);
	EXPECT_EQ(self->rows.dropped, NR_TOO_MANY + 1);
	EXPECT_TRUE(rows_are(&self->rows, "capture", all));

	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 3);
	EXPECT_EQ(self->rows.dropped, NR_TOO_MANY + 1);
	EXPECT_TRUE(rows_are(&self->rows, "capture", few));
}

static void *map_for_ever(void *arg)
{
	size_t at = (size_t)arg * 4;

	for (;;) {
		first(at, 3);
		move_to(at, 2, 32 + at);
		unmap(32 + at, 2);
		unmap(at, 3);
	}
	return NULL;
}

static void map_in_threads(void *arg)
{
	(void)arg;
	make_area(AREA_PAGES);
	start_threads(map_for_ever);
	pause();
}

#define KPROBES	"/sys/kernel/debug/kprobes/list"

/* Off means that no probe is left. */
TEST_F_TIMEOUT(capture, on_and_off_while_mapping, 300)
{
	const struct expected none = {};
	char *before, *during, *after;

	use_one_processor();
	ASSERT_EQ(node_write("owner_capture", "0\n"), 0);
	before = file_slurp(KPROBES);
	ASSERT_NE(before, NULL);
	self->pid = start_process(map_in_threads, NULL);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(node_write("owner_capture", "1\n"), 0);
		ASSERT_EQ(node_read("owner_capture"), 1);
		ASSERT_EQ(node_read("processes/%d/capture", self->pid), 0);
		ASSERT_EQ(capture_write(self->pid, "1\n"), 0);
		ASSERT_EQ(capture_write(self->pid, "1\n"), 0);
		ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
		ASSERT_TRUE(self->rows.capturing);
		during = file_slurp(KPROBES);
		EXPECT_NE(strstr(during, "sys_mmap"), NULL);
		free(during);
		if (i & 1)
			ASSERT_EQ(capture_write(self->pid, "0\n"), 0);
		ASSERT_EQ(node_write("owner_capture", "0\n"), 0);
		ASSERT_EQ(node_read("owner_capture"), 0);
		ASSERT_EQ(node_read("processes/%d/capture", self->pid), 0);
		after = file_slurp(KPROBES);
		EXPECT_STREQ(before, after);
		free(after);
	}
	free(before);

	/* Nor is an owner. */
	ASSERT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_FALSE(self->rows.capturing);
	EXPECT_TRUE(rows_are(&self->rows, "capture", &none));

	/* Where it is off, it is off for all. */
	EXPECT_EQ(capture_write(self->pid, "1\n"), -ENXIO);
	EXPECT_EQ(capture_write(self->pid, "0\n"), 0);
	EXPECT_EQ(node_read("processes/%d/capture", self->pid), 0);
}

static void map_first_page(void *arg)
{
	(void)arg;
	make_area(AREA_PAGES);
	raise(SIGSTOP);
	first(0, 8);
	raise(SIGSTOP);
	unmap(0, 4);
	second(8, 4);
}

/* What is mapped while nobody looks is nobody's, and nothing old comes back. */
TEST_F_TIMEOUT(capture, begins_anew, TIMEOUT)
{
	const struct expected none = {};
	const struct expected seconds[] = {
		{ "owners", "map_second", 1, 4 }, { },
	};

	self->pid = start_watched(map_first_page, NULL);
	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 1);

	EXPECT_EQ(capture_write(self->pid, "0\n"), 0);
	EXPECT_EQ(capture_write(self->pid, "1\n"), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 0);
	EXPECT_TRUE(rows_are(&self->rows, "capture", &none));

	ASSERT_EQ(go_on_until_stopped(self->pid), 0);
	EXPECT_EQ(owner_rows_read(&self->rows, self->pid), 0);
	EXPECT_EQ(self->rows.ranges, 1);
	EXPECT_TRUE(rows_are(&self->rows, "capture", seconds));

	/* Untracked and tracked again, it is not watched. */
	EXPECT_EQ(node_write_number("untrack", self->pid), 0);
	EXPECT_EQ(node_write_number("track", self->pid), 0);
	EXPECT_EQ(node_read("processes/%d/capture", self->pid), 0);
}

TEST_HARNESS_MAIN
