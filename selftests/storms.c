// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may go on in a system while memledger is read: a table of storms, each
 * of which is a process that takes one step after the other until it is
 * killed. Some are of memory, some of processes, some of memledger's own
 * switches. A step may fail (the module may be gone just then) unless it says
 * that it must not; those that did what they are for are counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "kgsl.h"
#include "storms.h"
#include "testlib.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define CGROUPS	"/sys/fs/cgroup/"
#define EVENTS	"/sys/kernel/tracing/events/memledger/"
#define HUGE	(2UL << 20)

struct weather *weather;

/* Makes a process one of those that are tracked by turns. */
void weather_join(pid_t pid)
{
	for (int i = 0; i < NR_CROWD; i++) {
		pid_t none = 0;

		if (__atomic_compare_exchange_n(&weather->crowd[i], &none, pid,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return;
	}
}

void weather_leave(pid_t pid)
{
	for (int i = 0; i < NR_CROWD; i++) {
		if (__atomic_load_n(&weather->crowd[i], __ATOMIC_RELAXED) ==
		    pid)
			__atomic_store_n(&weather->crowd[i], 0,
					 __ATOMIC_RELAXED);
	}
}

void weather_bad(const char *what, long long value)
{
	__atomic_add_fetch(&weather->bad, 1, __ATOMIC_RELAXED);
	printf("# %s: %lld\n", what, value);
	fflush(stdout);
}

static unsigned int below(unsigned int n)
{
	return rand() % n;
}

static char *anon(size_t len)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

/*
 * Processes
 */

static void *linger(void *arg)
{
	(void)arg;
	usleep(1000);
	return NULL;
}

static void be_child(unsigned int n)
{
	char *const argv[] = { "/bin/true", NULL };
	pthread_t thread;

	switch (n % 4) {
	case 0:
		touch(anon(8 * page_size()), 8 * page_size());
		break;
	case 1:
		execv(argv[0], argv);
		break;
	case 2:
		/* The leader goes first. */
		pthread_create(&thread, NULL, linger, NULL);
		syscall(__NR_exit, 0);
		break;
	case 3:
		pause();
	}
	_exit(0);
}

/* pid_max is small: numbers come back before long. */
static bool fork_exec_exit(unsigned int n)
{
	static pid_t last;
	pid_t pid = fork();

	if (!pid)
		be_child(n);
	if (pid < 0)
		return false;
	if (pid < last)
		__atomic_add_fetch(&weather->wraps, 1, __ATOMIC_RELAXED);
	last = pid;
	if (n % 8 == 3)
		weather_join(pid);
	if (n % 4 == 3) {
		usleep(2000);
		kill(pid, SIGKILL);
	}
	waitpid(pid, NULL, 0);
	weather_leave(pid);
	return true;
}

/* Another one, which exits while the test's readers are at it. */
static pid_t traced;

static void prepare_traced(void)
{
	traced = fork();
	if (traced)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		touch(anon(page_size()), page_size());
		usleep(1000);
	}
}

static bool trace(unsigned int n)
{
	int status;

	/* It has mapped more and more. */
	if (n % 500 == 499) {
		weather_leave(traced);
		kill(traced, SIGKILL);
		waitpid(traced, NULL, 0);
		prepare_traced();
	}
	if (n % 500 == 0)
		weather_join(traced);
	if (ptrace(PTRACE_SEIZE, traced, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, traced, 0, 0) ||
	    waitpid(traced, &status, 0) != traced)
		return false;
	usleep(1000);
	return !ptrace(PTRACE_DETACH, traced, 0, 0);
}

/*
 * Mappings
 */

#define AREA_PAGES	256
static char *area;

static void prepare_area(void)
{
	area = anon(AREA_PAGES * page_size());
}

static bool churn_mappings(unsigned int n)
{
	static const int advice[] = {
		MADV_DONTNEED, MADV_FREE, MADV_COLD, MADV_PAGEOUT,
		MADV_WILLNEED, MADV_DONTFORK, MADV_DOFORK,
	};
	size_t page = page_size(), from = below(AREA_PAGES);
	size_t len = (1 + below(AREA_PAGES - from)) * page;
	char *p = area + from * page;

	switch (n % 6) {
	case 0:
		return !munmap(p, len);
	case 1:
	case 2:
		if (mmap(p, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
			return false;
		touch(p, len);
		return true;
	case 3:
		return !mprotect(p, len, below(2) ? PROT_READ :
						    PROT_READ | PROT_WRITE);
	case 4:
		return !madvise(p, len, advice[below(ARRAY_SIZE(advice))]);
	default:
		return mremap(p, len, len / 2 + page, MREMAP_MAYMOVE) !=
		       MAP_FAILED;
	}
}

static char *huge;

static void prepare_huge(void)
{
	char *p = anon(4 * HUGE);

	huge = (char *)(((unsigned long)p + HUGE - 1) & ~(HUGE - 1));
	madvise(huge, 3 * HUGE, MADV_HUGEPAGE);
}

/* What the kernel has counted since it was started; -1 if it does not. */
static long long counted(const char *what)
{
	char line[128], name[64];
	long long is, nr = -1;
	FILE *file = fopen("/proc/vmstat", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %lld", name, &is) == 2 &&
		    !strcmp(name, what))
			nr = is;
	}
	if (file)
		fclose(file);
	return nr;
}

static bool collapse_and_split(unsigned int n)
{
	long long splits = counted("thp_split_pmd");
	size_t page = page_size();
	char *p = huge + n % 3 * HUGE;
	bool huge_now;

	touch(p, HUGE);
	huge_now = !madvise(p, HUGE, MADV_COLLAPSE);
	mprotect(p + 7 * page, page, PROT_READ);
	madvise(p + HUGE / 2, HUGE / 4, MADV_DONTNEED);
	mprotect(p + 7 * page, page, PROT_READ | PROT_WRITE);
	madvise(p, HUGE, n % 2 ? MADV_DONTNEED : MADV_PAGEOUT);
	return huge_now && counted("thp_split_pmd") > splits;
}

static void prepare_alike(void)
{
	prepare_area();
	madvise(area, AREA_PAGES * page_size(), MADV_MERGEABLE);
}

/* Left alone until ksmd has merged them, then written to. */
static bool merge_alike(unsigned int n)
{
	static const char *const runs[] = {
		"1\n", "1\n", "1\n", "0\n", "1\n", "1\n", "1\n", "2\n",
	};
	long long copies = counted("cow_ksm");

	for (size_t i = 0; n % 4 == 0 && i < AREA_PAGES; i++)
		area[i * page_size()] = n % 8 ? 1 : i % 3;
	copies = counted("cow_ksm") - copies;
	if (file_write(KSM "run", runs[n % ARRAY_SIZE(runs)]))
		return false;
	usleep(50000);
	return copies > 0;
}

/* Others' pages move meanwhile. */
static bool compact(unsigned int n)
{
	long long moved = counted("pgmigrate_success");

	(void)n;
	file_write("/proc/sys/vm/compact_memory", "1\n");
	usleep(50000);
	return counted("pgmigrate_success") > moved;
}

/*
 * Control groups: too little memory, with swap and without
 */

static void join_cgroup(const char *name, const char *limit, const char *is,
			const char *swap)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUPS "%s", name);
	file_write(CGROUPS "cgroup.subtree_control", "+memory\n");
	if (mkdir(path, 0755) && errno != EEXIST)
		_exit(1);
	snprintf(path, sizeof(path), CGROUPS "%s/%s", name, limit);
	if (file_write(path, is))
		_exit(1);
	snprintf(path, sizeof(path), CGROUPS "%s/memory.swap.max", name);
	file_write(path, swap);
	snprintf(path, sizeof(path), CGROUPS "%s/cgroup.procs", name);
	if (file_write(path, "0\n"))
		_exit(1);
}

#define MUCH_PAGES	2048
static char *much;

static void prepare_swap(void)
{
	/* Above that it is reclaimed from, and not killed. */
	join_cgroup("storm-swap", "memory.high", "4M\n", "max\n");
	much = anon(MUCH_PAGES * page_size());
}

static bool swap_out_and_in(unsigned int n)
{
	long long out = counted("pswpout"), in = counted("pswpin");
	size_t page = page_size();

	for (int i = 0; i < 64; i++)
		much[below(MUCH_PAGES) * page] = n;
	return counted("pswpout") > out && counted("pswpin") > in;
}

static void be_greedy(void)
{
	raise(SIGSTOP);
	join_cgroup("storm-oom", "memory.max", "4M\n", "0\n");
	for (;;)
		touch(anon(HUGE), HUGE);
}

/* Tracked, and in the middle of a reading perhaps. */
static bool run_out_of_memory(unsigned int n)
{
	int status = 0, err;
	pid_t pid;

	(void)n;
	pid = fork();
	if (!pid)
		be_greedy();
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid)
		return false;
	weather_join(pid);
	err = node_write_number("track", pid);
	kill(pid, SIGCONT);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGKILL)
		weather_bad("not killed for want of memory", status);
	weather_leave(pid);
	node_write_number("untrack", pid);
	usleep(300000);
	return !err;
}

/*
 * userfaultfd: pages that somebody else has to bring
 */

static void *fault_in(void *arg)
{
	read_pages(arg, 16 * page_size());
	return NULL;
}

static bool serve_faults(unsigned int n)
{
	size_t len = 16 * page_size();
	struct uffdio_api api = { .api = UFFD_API };
	char *p = anon(len), *page = anon(page_size());
	struct uffdio_register area = {
		.range = { (unsigned long)p, len },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	struct uffd_msg msg;
	pthread_t thread;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &area) ||
	    pthread_create(&thread, NULL, fault_in, p))
		_exit(1);
	for (int i = 0; i < 16 && read(fd, &msg, sizeof(msg)) > 0; i++) {
		struct uffdio_copy copy = {
			.dst = msg.arg.pagefault.address & -page_size(),
			.src = (unsigned long)page,
			.len = page_size(),
		};

		/* Waiting in a fault is when others may look. */
		if (i == (int)(n % 16))
			usleep(2000);
		ioctl(fd, UFFDIO_COPY, &copy);
	}
	pthread_join(thread, NULL);
	close(fd);
	munmap(p, len);
	munmap(page, page_size());
	return true;
}

/*
 * memledger's own
 */

/* What may be said of a process that comes and goes, and of a module. */
static bool is_expected(int err)
{
	switch (err) {
	case 0:
	case -EEXIST:
	case -ESRCH:
	case -ENOENT:
	case -ENODEV:
	case -ENOSPC:
	case -ENXIO:
		return true;
	}
	return false;
}

static bool track_the_crowd(unsigned int n)
{
	pid_t pid = weather->crowd[n % NR_CROWD];
	bool done = false;
	int err;

	if (pid) {
		err = node_write_number("track", pid);
		if (!is_expected(err))
			weather_bad("track", err);
		err = node_refresh(pid);
		if (!is_expected(err))
			weather_bad("refresh", err);
		done = !err;
	}
	/* One that was tracked a while ago. */
	pid = weather->crowd[(n + NR_CROWD / 2) % NR_CROWD];
	if (pid && n % 3 == 0) {
		err = node_write_number("untrack", pid);
		if (!is_expected(err))
			weather_bad("untrack", err);
	}
	usleep(1000);
	return done;
}

static bool change_rules(unsigned int n)
{
	static const char *const profiles[] = {
		"android10\n", "android11\n", "android16\n", "android17\n",
	};
	static const char *const slices[] = { "64\n", "2048\n", "7\n" };
	int err;

	err = node_write("profile", profiles[n % ARRAY_SIZE(profiles)]) ?:
	      node_write("slice_entries", slices[n % ARRAY_SIZE(slices)]);
	usleep(20000);
	return !err;
}

static bool switch_totals(unsigned int n)
{
	int err = node_write("gpu_totals", n % 2 ? "1\n" : "0\n");

	usleep(20000);
	return !err;
}

static bool switch_capture(unsigned int n)
{
	int err = node_write("owner_capture", n % 4 == 3 ? "0\n" : "1\n");
	bool done = !err;
	char node[64];

	snprintf(node, sizeof(node), "processes/%d/capture",
		 weather->crowd[n % NR_CROWD]);
	err = node_write(node, n % 2 ? "1\n" : "0\n");
	if (!is_expected(err))
		weather_bad("capture", err);
	usleep(20000);
	return done;
}

static void let_it_unload(void)
{
	while (__atomic_load_n(&weather->unloading, __ATOMIC_RELAXED))
		usleep(1000);
}

/* Listened to and not, and someone who sleeps until a number changes. */
static bool switch_events(unsigned int n)
{
	struct pollfd poller = { .events = POLLPRI };
	char path[64], text[32];
	int err;

	err = file_write(EVENTS "enable", n % 2 ? "1\n" : "0\n");
	let_it_unload();
	snprintf(path, sizeof(path), NODES "processes/%d/generation",
		 weather->crowd[n % NR_CROWD]);
	poller.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (poller.fd < 0) {
		usleep(1000);
		return !err;
	}
	if (read(poller.fd, text, sizeof(text)) > 0)
		poll(&poller, 1, 50);
	close(poller.fd);
	return !err;
}

static bool load_provider(unsigned int n)
{
	bool done = false;
	int fd;

	(void)n;
	if (kgsl_load("kgsl_standin", ""))
		return false;
	fd = kgsl_open();
	if (fd >= 0) {
		done = kgsl_alloc(fd, 16 * page_size(), 0) > 0;
		usleep(50000);
		close(fd);
	}
	done = !module_unload("kgsl_standin") && done;
	usleep(50000);
	return done;
}

/* With readers inside, and files of it open. */
static bool load_module(unsigned int n)
{
	int err;

	(void)n;
	sleep(10);
	__atomic_store_n(&weather->unloading, true, __ATOMIC_RELAXED);
	err = module_unload("memledger");
	__atomic_store_n(&weather->unloading, false, __ATOMIC_RELAXED);
	if (err)
		weather_bad("unload", err);
	usleep(50000);
	err = module_load(memledger_ko(), "");
	if (err && err != -EEXIST)
		weather_bad("load", err);
	return !err;
}

/*
 * Readers
 */

static unsigned int nr_read;

static int read_any(const char *path)
{
	static char text[1 << 16];
	struct stat st;
	ssize_t len;

	if (stat(path, &st) || !(st.st_mode & 0400))
		return 0;
	len = file_read(path, text, sizeof(text));
	switch (len) {
	case -EIO:		/* what debugfs says of a file that is gone */
	case -ENODATA:
	case -EOPNOTSUPP:
		return 0;
	}
	if (len < 0 && !is_expected(len))
		weather_bad(path, len);
	nr_read += len > 0;
	return 0;
}

/* While the module is unloaded there is nothing to read. */
static void wait_for_module(void)
{
	while (access(NODES, F_OK))
		usleep(1000);
}

static bool read_everything(unsigned int n)
{
	unsigned int before = nr_read;

	wait_for_module();
	tree_walk(n % 2 ? NODES : DETAILS, read_any);
	return nr_read > before;
}

/* The module was just unloaded. */
#define NOTHING_READ	100

/* In a group whose memory a reading may well use up. */
static bool read_in_need(unsigned int n)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		join_cgroup("storm-reader", "memory.max", "1M\n", "max\n");
		_exit(read_everything(n) ? 0 : NOTHING_READ);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOTHING_READ)
		return false;
	if (status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
		weather_bad("a reader in need", status);
	return true;
}

/* Whatever is switched meanwhile, a record is of one time and of one profile. */
static bool read_records(unsigned int n)
{
	struct memledger_record record;
	int err = record_read(&record, weather->crowd[n % NR_CROWD]);

	switch (err) {
	case 0:
		break;
	case -EAGAIN:
	case -ENODATA:
		return false;
	default:
		if (!is_expected(err))
			weather_bad("record", err);
		usleep(1000);
		return false;
	}
	if (!record_adds_up(&record))
		weather_bad("sums of a record", record.generation);
	return true;
}

/* A file of sysfs keeps no module: it is opened before it goes, and read after. */
static bool outlast_the_module(unsigned int n)
{
	char text[32];
	ssize_t len;
	int fd;

	(void)n;
	wait_for_module();
	fd = open(NODES "profile", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do {
		usleep(1000);
		len = pread(fd, text, sizeof(text), 0);
	} while (len > 0);
	if (len != -1 || errno != ENODEV)
		weather_bad("a file without its module", len ? errno : 0);
	close(fd);
	return true;
}

/* One byte at a time, here and there, and sleeping with the file open. */
static int read_slowly(const char *path)
{
	char byte;
	int fd;

	let_it_unload();
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	for (int i = 0; i < 200; i++) {
		if (read(fd, &byte, 1) != 1)
			break;
		if (i % 50 == 49)
			lseek(fd, below(4000), SEEK_SET);
	}
	usleep(20000);
	close(fd);
	return 0;
}

static bool read_details_slowly(unsigned int n)
{
	(void)n;
	wait_for_module();
	tree_walk(DETAILS, read_slowly);
	return true;
}

static bool run_the_tool(unsigned int n)
{
	static const char *const commands[] = {
		"procrank", "meminfo", "librank", "dmabuf", "gpumem",
	};
	char command[64];
	int status;

	let_it_unload();
	snprintf(command, sizeof(command), "memledger %s > /dev/null 2>&1",
		 commands[n % ARRAY_SIZE(commands)]);
	status = system(command);
	/* The module may be gone; but nothing makes the tool crash. */
	if (status < 0 || WIFSIGNALED(status) || WEXITSTATUS(status) > 127)
		weather_bad(command, status);
	return !status;
}

const struct storm storms[] = {
	{ "fork, exec, exit", .step = fork_exec_exit },
	{ "ptrace", .prepare = prepare_traced, .step = trace },
	{ "mappings", .prepare = prepare_area, .step = churn_mappings },
	{ "huge pages", "/sys/kernel/mm/transparent_hugepage",
	  .prepare = prepare_huge, .step = collapse_and_split },
	{ "KSM", KSM "run", .prepare = prepare_alike, .step = merge_alike },
	{ "compaction", "/proc/sys/vm/compact_memory", .step = compact },
	{ "swap", CGROUPS "cgroup.procs", .prepare = prepare_swap,
	  .step = swap_out_and_in },
	{ "out of memory", CGROUPS "cgroup.procs", .step = run_out_of_memory },
	{ "userfaultfd", "/proc/sys/vm/unprivileged_userfaultfd",
	  .step = serve_faults },
	{ "tracking", .step = track_the_crowd },
	{ "profiles", .step = change_rules },
	{ "gpu_totals", .step = switch_totals },
	{ "owner_capture", .unsafe = true, .step = switch_capture },
	{ "events", EVENTS, .unsafe = true, .step = switch_events },
	{ "GPU driver", "/selftests/drivers/kgsl_standin.ko",
	  .step = load_provider },
	{ "module", "/lib/memledger/memledger.ko", .step = load_module },
	{ "reading all", .step = read_everything },
	{ "reading in need", CGROUPS "cgroup.procs", .step = read_in_need },
	{ "records", .step = read_records },
	{ "open file", "/lib/memledger/memledger.ko",
	  .step = outlast_the_module },
	{ "reading slowly", .step = read_details_slowly },
	{ "the tool", "/usr/bin/memledger", .step = run_the_tool },
	{}
};
