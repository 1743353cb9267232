// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a row of a table of layouts to a stopped process in that state: sets
 * the system up, runs the builder in a child, and checks that smaps shows
 * what the row promises.
 */
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layout.h"
#include "testlib.h"

#define KSFT_PASS	0
#define KSFT_FAIL	1
#define KSFT_SKIP	4

const struct layout *const layout_tables[] = {
	anon_layouts, file_layouts, shmem_layouts, swap_layouts,
	special_layouts, NULL
};

#define THP	"/sys/kernel/mm/transparent_hugepage/"
#define KSM	"/sys/kernel/mm/ksm/"

/* Files that hold a number or a word, each needed by some layouts. */
static const struct {
	unsigned int need;
	const char *path;
	const char *value;
} need_settings[] = {
	{ NEED_KSM, KSM "sleep_millisecs", "0" },
	{ NEED_KSM, KSM "pages_to_scan", "20000" },
	{ NEED_KSM_ZERO, KSM "use_zero_pages", "1" },
	{ NEED_KSM, KSM "run", "1" },
	{ NEED_HUGETLB, "/proc/sys/vm/nr_hugepages", "24" },
	{ NEED_MTHP, THP "hugepages-64kB/enabled", "always" },
	{ NEED_MTHP_2MB, THP "hugepages-2048kB/enabled", "always" },
	{ NEED_SHMEM_MTHP, THP "hugepages-64kB/shmem_enabled", "always" },
	{ NEED_HUGE_ZERO, THP "use_zero_page", "1" },
	{ NEED_THP_MADVISE, THP "enabled", "madvise" },
};

#define MIXED	"memledger_mixed"

static char dir[64];

/* Where the file system that a layout asked for is mounted. */
const char *layout_dir(void)
{
	return dir;
}

static const char *error_text(const char *what)
{
	static char text[200];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));
	return text;
}

/* Fills in the header that mkswap writes. */
static int make_swap(int fd, u64 bytes)
{
	size_t page = page_size();
	char *header = calloc(1, page);
	u32 *info = (u32 *)(header + 1024);
	ssize_t nr;

	info[0] = 1;			/* version */
	info[1] = bytes / page - 1;	/* last page */
	memcpy(header + page - 10, "SWAPSPACE2", 10);
	nr = pwrite(fd, header, page, 0);
	free(header);
	return nr == (ssize_t)page ? 0 : -1;
}

#define ZRAM_BYTES	(256 * MB)

static const char *need_swap(void)
{
	char text[4096], path[64];
	int fd, id;

	if (file_read("/proc/swaps", text, sizeof(text)) < 0)
		return "this kernel has no swap (CONFIG_SWAP)";
	if (strstr(text, "zram"))
		return NULL;
	if (file_read("/sys/class/zram-control/hot_add", text,
		      sizeof(text)) < 0)
		return "no zram (CONFIG_ZRAM, or modprobe zram)";
	id = atoi(text);
	snprintf(path, sizeof(path), "/sys/block/zram%d/disksize", id);
	snprintf(text, sizeof(text), "%lu", ZRAM_BYTES);
	if (file_write(path, text))
		return "cannot set the size of a zram device";
	snprintf(path, sizeof(path), "/dev/zram%d", id);
	fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	if (fd < 0 || make_swap(fd, ZRAM_BYTES))
		return error_text(path);
	fsync(fd);
	close(fd);
	if (swapon(path, 0))
		return error_text("swapon");
	return NULL;
}

static const char *attach_loop(const char *image, char *device, size_t size)
{
	struct loop_info64 info = { .lo_flags = LO_FLAGS_AUTOCLEAR |
						LO_FLAGS_READ_ONLY };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int number, loop, file;

	if (control < 0)
		return error_text("/dev/loop-control (CONFIG_BLK_DEV_LOOP)");
	number = ioctl(control, LOOP_CTL_GET_FREE);
	close(control);
	snprintf(device, size, "/dev/loop%d", number);
	loop = open(device, O_RDONLY | O_CLOEXEC);
	file = open(image, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return error_text("layouts.erofs (made by mkfs.erofs)");
	if (loop < 0 || ioctl(loop, LOOP_SET_FD, file) ||
	    ioctl(loop, LOOP_SET_STATUS64, &info))
		return error_text(device);
	close(file);
	/* The loop device stays open, or it would go before it is mounted. */
	return NULL;
}

static const char *need_mount(unsigned int need)
{
	char device[32] = "none";
	const char *why;

	/* In a namespace of our own, so that it goes when we do. */
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return error_text("unshare");
	mkdir("/tmp", 01777);
	snprintf(dir, sizeof(dir), "/tmp/memledger.XXXXXX");
	if (!mkdtemp(dir))
		return error_text(dir);
	if (need & NEED_RAMFS) {
		if (mount("none", dir, "ramfs", 0, NULL))
			return error_text("ramfs");
	} else if (need & NEED_TMPFS_HUGE) {
		if (mount("none", dir, "tmpfs", 0, "huge=always,size=96m"))
			return error_text("tmpfs with huge=always");
	} else {
		why = attach_loop(beside_me("layouts.erofs"), device,
				  sizeof(device));
		if (why)
			return why;
		if (mount(device, dir, "erofs", MS_RDONLY, NULL))
			return error_text("erofs (CONFIG_EROFS_FS)");
	}
	return NULL;
}

static bool mixed_loaded;

static const char *need_mixed(void)
{
	if (file_readable("/dev/" MIXED))
		return NULL;
	errno = -module_load(beside_me("drivers/" MIXED ".ko"), "");
	if (errno)
		return error_text("drivers/" MIXED ".ko (built with KDIR)");
	mixed_loaded = true;
	return NULL;
}

/**
 * layout_prepare() - set up what a layout needs of the system
 * @layout: the layout
 * Return: NULL, or why it cannot be had. layout_clean() undoes it.
 */
const char *layout_prepare(const struct layout *layout)
{
	const char *why = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(need_settings) && !why; i++)
		if (layout->need & need_settings[i].need)
			why = setting_set(need_settings[i].path,
					  need_settings[i].value);
	if (!why && layout->need & NEED_SWAP)
		why = need_swap();
	if (!why && layout->need & NEED_MIXED)
		why = need_mixed();
	if (!why &&
	    layout->need & (NEED_RAMFS | NEED_TMPFS_HUGE | NEED_EROFS))
		why = need_mount(layout->need);
	return why;
}

void layout_clean(void)
{
	settings_restore();
	if (*dir) {
		umount2(dir, MNT_DETACH);
		rmdir(dir);
		*dir = '\0';
	}
	if (mixed_loaded)
		module_unload(MIXED);
	mixed_loaded = false;
}

/* In the process being built: what it will report, and to whom. */
static struct layout_report own_report;
static int report_fd;

/* Tells the test that the memory is as it should be. Called once. */
void layout_ready(void)
{
	if (write(report_fd, &own_report, sizeof(own_report)) !=
	    sizeof(own_report))
		_exit(1);
	close(report_fd);
	report_fd = -1;
}

void layout_skip(const char *fmt, ...)
{
	va_list args;

	own_report.status = KSFT_SKIP;
	va_start(args, fmt);
	vsnprintf(own_report.text, sizeof(own_report.text), fmt, args);
	va_end(args);
	layout_ready();
	_exit(1);
}

void layout_fail(const char *what, const char *file, int line)
{
	own_report.status = KSFT_FAIL;
	snprintf(own_report.text, sizeof(own_report.text), "%s:%d: %s: %s",
		 file, line, what, strerror(errno));
	layout_ready();
	_exit(1);
}

/* Names a range as one that the layout is about. */
void layout_area(void *start, size_t len)
{
	int i = own_report.nr_areas++;

	must(i < MAX_AREAS);
	own_report.area[i].start = (unsigned long)start;
	own_report.area[i].end = (unsigned long)start + len;
}

static void build(void *arg)
{
	const struct layout *layout = arg;
	cpu_set_t cpus;

	/* On one CPU: its lists of new pages are then drained when it asks. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);

	layout->build();
	if (report_fd >= 0)
		layout_ready();
}

/**
 * layout_start() - a process in the state that a layout describes
 * @layout: the layout, for which layout_prepare() was called
 * @report: gets what the process said
 * Return: its number, for end_process(); the process is stopped (or blocked)
 *	if report.status is KSFT_PASS
 */
pid_t layout_start(const struct layout *layout, struct layout_report *report)
{
	int pipe_fds[2];
	ssize_t nr;
	pid_t pid;

	memset(report, 0, sizeof(*report));
	report->status = KSFT_FAIL;
	memset(&own_report, 0, sizeof(own_report));
	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	report_fd = pipe_fds[1];
	pid = start_process(build, (void *)layout);
	close(pipe_fds[1]);
	nr = read(pipe_fds[0], report, sizeof(*report));
	close(pipe_fds[0]);
	/* Closed without a word: another program, or death. It stops or not. */
	if (nr != sizeof(*report))
		report->status = KSFT_PASS;
	if (report->status == KSFT_PASS && !layout->blocked &&
	    wait_stopped(pid)) {
		report->status = KSFT_FAIL;
		snprintf(report->text, sizeof(report->text),
			 "the process ended instead of stopping");
	}
	return pid;
}

static bool in_areas(const struct layout_report *report, const struct vma *vma)
{
	for (int i = 0; i < report->nr_areas; i++)
		if (vma->start >= report->area[i].start &&
		    vma->end <= report->area[i].end)
			return true;
	return false;
}

static bool has_flags(const struct vma *vma, const char *flags)
{
	char want[4] = { ' ' };

	for (; *flags; flags += flags[2] ? 3 : 2) {
		memcpy(want + 1, flags, 2);
		if (!vma->flags || !strstr(vma->flags, want))
			return false;
	}
	return true;
}

static u64 expected_kb(long pages)
{
	if (pages < SOME)
		return (SOME - pages) * (HUGE >> 10) / 2;
	return pages * (page_size() >> 10);
}

/**
 * layout_unmet() - whether the memory is in the state that the layout is about
 * @layout: the layout
 * @report: what its process said
 * @smaps: what the kernel says
 * Return: NULL, or what is missing
 */
const char *layout_unmet(const struct layout *layout,
			 const struct layout_report *report,
			 const struct vma_list *smaps)
{
	static char text[300];
	u64 sum[NR_FIELDS] = {};
	u32 have = 0;
	size_t nr = 0;

	for (size_t i = 0; i < smaps->nr; i++) {
		const struct vma *vma = &smaps->vma[i];

		if (!in_areas(report, vma))
			continue;
		nr++;
		have = vma->have;
		for (int k = 0; k < NR_FIELDS; k++)
			sum[k] += vma->value[k];
		if (layout->flags && !has_flags(vma, layout->flags)) {
			snprintf(text, sizeof(text),
				 "%llx: VmFlags%s, should have %s", vma->start,
				 vma->flags ? vma->flags : ": none",
				 layout->flags);
			return text;
		}
	}
	if (report->nr_areas && !nr)
		return "smaps has no mapping in the layout's areas";

	for (const struct expect *e = layout->expect;
	     e < layout->expect + MAX_EXPECT && (e->field || e->pages); e++) {
		u64 kb = expected_kb(e->pages);

		if (!(have & 1U << e->field) && e->field != FIELD_size)
			continue;	/* not printed by this kernel */
		if (e->pages == SOME ? sum[e->field] : sum[e->field] == kb)
			continue;
		snprintf(text, sizeof(text),
			 "the layout did not come about: smaps says %s %llu kB, should be %lld",
			 field_labels[e->field], sum[e->field],
			 e->pages == SOME ? SOME : (s64)kb);
		return text;
	}
	for (int i = 0; i < MAX_NAMES && layout->names[i]; i++) {
		if (vmas_find(smaps, layout->names[i]))
			continue;
		/* The layout's own process would have given up without them. */
		if (!strncmp(layout->names[i], "[anon:", 6) &&
		    !node_read("features/anon_names"))
			continue;
		snprintf(text, sizeof(text), "smaps has no \"%s\"",
			 layout->names[i]);
		return text;
	}
	return NULL;
}

/**
 * sharer() - another process that has what this one has, and holds still
 * @run: what it does first, or NULL
 * @arg: for @run
 *
 * Returns when @run is done. It ends with the process group.
 */
pid_t sharer(void (*run)(void *arg), void *arg)
{
	int done[2];
	char byte;
	pid_t pid;

	must(!pipe2(done, O_CLOEXEC));
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(done[0]);
		if (run)
			run(arg);
		if (write(done[1], "", 1) != 1)
			_exit(1);
		close(done[1]);
		for (;;)
			pause();
	}
	close(done[1]);
	must(read(done[0], &byte, 1) == 1);
	close(done[0]);
	return pid;
}

/* map_alone() of something that the layout is about. */
void *area_alone(size_t len, int prot, int flags, int fd, off_t offset)
{
	void *start = map_alone(len, prot, flags, fd, offset);

	must(start != MAP_FAILED);
	layout_area(start, len);
	return start;
}

/* Private anonymous pages, none touched. */
void *anon(size_t nr_pages)
{
	return area_alone(nr_pages * page_size(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int memfd(const char *name, size_t len)
{
	int fd = syscall(__NR_memfd_create, name, 0);

	must(fd >= 0);
	must(!ftruncate(fd, len));
	return fd;
}

/* A new file in layout_dir(), with something in every page. */
int file_in(const char *name, size_t nr_pages)
{
	size_t page = page_size();
	char path[512], *buf;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	must(fd >= 0);
	buf = calloc(1, page);
	for (size_t i = 0; i < nr_pages; i++) {
		memcpy(buf, &i, sizeof(i));
		must(write(fd, buf, page) == (ssize_t)page);
	}
	free(buf);
	return fd;
}

/* What smaps says of a range of our own, kB. */
u64 own_sum(void *start, size_t len, enum field field)
{
	struct vma_list smaps;
	u64 sum;

	must(!vmas_read_smaps(&smaps, getpid()));
	sum = vmas_sum(&smaps, (unsigned long)start,
		       (unsigned long)start + len, field);
	vmas_free(&smaps);
	return sum;
}

/* Whether smaps has the field at all. */
bool own_has(enum field field)
{
	struct vma_list smaps;
	bool has;

	must(!vmas_read_smaps(&smaps, getpid()));
	has = smaps.nr && smaps.vma[0].have & 1U << field;
	vmas_free(&smaps);
	return has;
}

static u64 read_u64(const char *path, u64 index)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	u64 value = 0;

	must(fd >= 0);
	must(pread(fd, &value, sizeof(value), index * sizeof(value)) ==
	     sizeof(value));
	close(fd);
	return value;
}

u64 pagemap_entry(void *page)
{
	return read_u64("/proc/self/pagemap",
			(unsigned long)page / page_size());
}

/* KPF_* of a page that is present. */
u64 page_flags(void *page)
{
	u64 entry = pagemap_entry(page);

	must(entry & PAGEMAP_PRESENT);
	return read_u64("/proc/kpageflags", PAGEMAP_PFN(entry));
}

/**
 * swap_out() - until smaps says that so many pages are in swap
 * @start: a mapping's start
 * @len: its length
 * @nr_pages: how many
 */
void swap_out(void *start, size_t len, size_t nr_pages)
{
	u64 kb = nr_pages * (page_size() >> 10);

	for (int try = 0; try < 100; try++) {
		must(!madvise(start, len, MADV_PAGEOUT));
		if (own_sum(start, len, FIELD_swap) >= kb)
			return;
		usleep(10000);
	}
	errno = EBUSY;
	must(!"pages do not go to swap");
}
