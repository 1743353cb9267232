// SPDX-License-Identifier: GPL-2.0-only
/*
 * An app stand-in: a process that maps what an Android app maps, under the
 * same names, in sizes that differ from each other. Part of it was there
 * before two children were forked, as an app has it from the zygote, and part
 * of it is in swap.
 *
 * app [--stop]: prints its process number when all is in place, and waits (or
 * stops itself). Its files are in a temporary directory and, where a name has
 * to be one of a device, for a moment under /dev.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "testlib.h"

#define R	PROT_READ
#define RW	(PROT_READ | PROT_WRITE)
#define RX	(PROT_READ | PROT_EXEC)
#define RWX	(PROT_READ | PROT_WRITE | PROT_EXEC)

enum kind { ANON, FILE_MAP, MEMFD, DEVICE };

/**
 * struct region - one mapping
 * @name: of the anonymous mapping ("" for none), of the file below the
 *	temporary directory, of the memfd, or of the device
 * @kind: which of these
 * @prot: as for mmap
 * @pages: length
 * @read: pages that are read
 * @written: pages that are written, from the end of those in swap on
 * @swapped: pages that are written and then swapped out, from the start on
 * @shared: MAP_SHARED instead of MAP_PRIVATE
 */
struct region {
	const char *name;
	enum kind kind;
	int prot;
	unsigned int pages, read, written, swapped;
	bool shared;
};

/* What an app finds mapped when the zygote has forked it. */
static const struct region zygote_regions[] = {
	{ "dalvik-zygote space", ANON, RW, 613, 0, 389, 127 },
	{ "dalvik-non moving space", ANON, RW, 1021, 0, 71, 0 },
	{ "dalvik-LinearAlloc", ANON, RW, 509, 0, 241, 67 },
	{ "dalvik-/system/framework/boot.art", ANON, RW, 307, 0, 211, 31 },
	{ "jit-zygote-cache", MEMFD, RX, 127, 61, 0, 0, true },
	{ "framework/boot-framework.oat", FILE_MAP, RX, 409, 227, 0, 0 },
	{ "framework/boot-framework.art", FILE_MAP, RW, 103, 53, 29, 0 },
	{ "framework/boot-framework.vdex", FILE_MAP, R, 97, 41, 0, 0 },
	{ "framework/framework.jar", FILE_MAP, R, 83, 37, 0, 0 },
	{ "fonts/Roboto-Regular.ttf", FILE_MAP, R, 59, 43, 0, 0 },
	{ "scudo:primary", ANON, RW, 1543, 0, 541, 263 },
	{ "libc_malloc", ANON, RW, 233, 0, 101, 0 },
	{ "", ANON, RW, 37, 0, 19, 0 },
};

/*
 * What it maps itself. The last of these comes to lie right above the
 * libraries, where a mapping without a name would count as theirs.
 */
static const struct region app_regions[] = {
	/* What dumpsys calls Unknown and nobody can explain. */
	{ "", ANON, RW, 2053, 0, 1031, 0 },
	{ "", ANON, RX, 1009, 0, 0, 0 },
	{ "", ANON, PROT_NONE, 521, 0, 0, 0 },
	{ "dalvik-main space (region space)", ANON, RW, 4099, 0, 1567, 331 },
	{ "dalvik-free list large object space", ANON, RW, 811, 0, 277, 0 },
	{ "dalvik-large object space allocation", ANON, RW, 79, 0, 47, 0 },
	{ "dalvik-allocspace main rosalloc space 1 mark-bitmap 0", ANON, RW,
		23, 0, 11, 0 },
	{ "dalvik-card table", ANON, RW, 257, 0, 13, 0 },
	{ "dalvik-indirect ref table", ANON, RW, 17, 0, 7, 0 },
	{ "dalvik-CompilerMetadata", ANON, RW, 31, 0, 23, 0 },
	{ "dalvik-jit-code-cache", ANON, RWX, 173, 0, 89, 0 },
	{ "jit-cache", MEMFD, RX, 199, 0, 0, 0, true },
	{ "jit-cache", MEMFD, RW, 193, 0, 149, 0, true },
	{ "scudo:secondary", ANON, RW, 353, 0, 257, 83 },
	{ "GWP-ASan Guard Page", ANON, PROT_NONE, 3, 0, 0, 0 },
	{ "stack_and_tls:main", ANON, RW, 257, 0, 5, 0 },
	{ "stack_and_tls:4711", ANON, RW, 251, 0, 9, 0 },
	{ "thread signal stack", ANON, RW, 6, 0, 1, 0 },
	{ "linker_alloc", ANON, RW, 29, 0, 27, 0 },
	{ "partition_alloc", ANON, RW, 1283, 0, 439, 109 },
	{ "v8", ANON, RW, 149, 0, 131, 0 },
	{ "app/base.apk", FILE_MAP, R, 701, 157, 0, 0 },
	{ "app/base.odex", FILE_MAP, RX, 163, 107, 0, 0 },
	{ "app/base.vdex", FILE_MAP, R, 181, 73, 0, 0 },
	{ "app/base.art", FILE_MAP, RW, 19, 0, 17, 0 },
	{ "app/base@classes.dex", FILE_MAP, R, 139, 59, 0, 0 },
	{ "app/resources.arsc", FILE_MAP, R, 113, 67, 0, 0 },
	{ "/dev/ashmem/dalvik-main space (deleted)", DEVICE, RW, 101, 0, 79,
		0, true },
	{ "/dev/ashmem/CursorWindow", DEVICE, RW, 512, 0, 3, 0, true },
	{ "/dev/kgsl-3d0", DEVICE, RW, 347, 0, 313, 0, true },
	{ "/dev/mali0", DEVICE, RW, 47, 0, 21, 0, true },
	{ "/dev/binderfs-stand-in", DEVICE, R, 254, 2, 0, 0 },
};

/**
 * struct library - the mappings of a .so file, one behind the other
 * @name: of the file
 * @ro: pages read-only
 * @rx: pages of code
 * @rw: pages of data, all of them written
 * @bss: anonymous pages behind them, all written
 * @bss_name: as the linker names them, or NULL as old ones do not
 */
struct library {
	const char *name;
	unsigned int ro, rx, rw, bss;
	const char *bss_name;
};

static const struct library libraries[] = {
	{ "lib/libapp.so", 41, 151, 7, 13, NULL },
	{ "lib/libnamed_bss.so", 11, 43, 3, 5, ".bss" },
	{ "lib/libno_bss.so", 5, 29, 2, 0, NULL },
};

static char dir[] = "/tmp/memledger-app.XXXXXX";

/* What was made there, directories included. */
static char files[64][128];
static int nr_files;

static void __noreturn give_up(const char *what)
{
	perror(what);
	exit(1);
}

/* Signal handler: the files go when somebody ends the app. */
static void clean_up(int signal)
{
	(void)signal;
	/* Last made, first gone: what is in a directory, then the directory. */
	while (nr_files)
		remove(files[--nr_files]);
	_exit(0);
}

static const char *path_of(const char *name)
{
	char *path = files[nr_files++];

	snprintf(path, sizeof(files[0]), "%s%s%s", dir, *name ? "/" : "",
		 name);
	return path;
}

static int make_file(const char *path, unsigned int pages)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t len = page_size();
	char page[65536] = "";

	if (fd < 0)
		give_up(path);
	for (unsigned int i = 0; i < pages; i++) {
		snprintf(page, sizeof(page), "page %u of %s", i, path);
		if (write(fd, page, len) != (ssize_t)len)
			give_up(path);
	}
	return fd;
}

static void set_name(void *start, size_t len, const char *name)
{
	if (*name)
		prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, len, name);
}

static int region_fd(const struct region *region)
{
	int fd;

	switch (region->kind) {
	case FILE_MAP:
		return make_file(path_of(region->name), region->pages);
	case MEMFD:
		fd = syscall(__NR_memfd_create, region->name, 0);
		if (fd < 0 || ftruncate(fd, region->pages * page_size()))
			give_up("memfd_create");
		return fd;
	case DEVICE:
		return make_file(region->name, region->pages);
	default:
		return -1;
	}
}

static void map_region(const struct region *region)
{
	size_t page = page_size(), len = region->pages * page;
	int flags = region->shared ? MAP_SHARED : MAP_PRIVATE;
	int fd = region_fd(region);
	char *p;

	if (region->kind == ANON)
		flags |= MAP_ANONYMOUS;
	p = map_alone(len, region->prot, flags, fd, 0);
	if (p == MAP_FAILED)
		give_up(region->name);
	if (region->kind == ANON)
		set_name(p, len, region->name);
	read_pages(p, region->read * page);
	touch(p, region->swapped * page);
	/* No swap, no matter: it is only less to see. */
	if (region->swapped)
		madvise(p, region->swapped * page, MADV_PAGEOUT);
	touch(p + region->swapped * page, region->written * page);
	/* On a device it has the "(deleted)" that ashmem has. */
	if (region->kind == DEVICE)
		unlink(region->name);
	if (fd >= 0)
		close(fd);
}

static void map_library(const struct library *lib)
{
	unsigned int pages = lib->ro + lib->rx + lib->rw;
	size_t page = page_size();
	int fd = make_file(path_of(lib->name), pages);
	char *start, *p;

	/* The place for all; the pieces then go where they belong. */
	start = map_alone((pages + lib->bss) * page, RW,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		give_up(lib->name);
	p = start;
	mmap(p, lib->ro * page, R, MAP_PRIVATE | MAP_FIXED, fd, 0);
	read_pages(p, 1);
	p += lib->ro * page;
	mmap(p, lib->rx * page, RX, MAP_PRIVATE | MAP_FIXED, fd, p - start);
	for (unsigned int i = 0; i < lib->rx; i += 2)
		read_pages(p + i * page, 1);
	p += lib->rx * page;
	mmap(p, lib->rw * page, RW, MAP_PRIVATE | MAP_FIXED, fd, p - start);
	touch(p, (lib->rw + lib->bss) * page);
	p += lib->rw * page;
	if (lib->bss && lib->bss_name)
		set_name(p, lib->bss * page, lib->bss_name);
	close(fd);
}

static void make_directories(void)
{
	static const char *const names[] = { "framework", "fonts", "app",
					     "lib" };

	mkdir("/tmp", 01777);
	if (!mkdtemp(dir))
		give_up(dir);
	path_of("");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (mkdir(path_of(names[i]), 0700))
			give_up(dir);
	if (mkdir("/dev/ashmem", 0755) && errno != EEXIST)
		give_up("/dev/ashmem");
}

/* As other apps: has what the zygote had, and writes to little of it. */
static void fork_sibling(void)
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	bool stop = argc > 1 && !strcmp(argv[1], "--stop");
	char *heap;

	prctl(PR_SET_NAME, "com.example.app");
	make_directories();
	for (size_t i = 0; i < ARRAY_SIZE(zygote_regions); i++)
		map_region(&zygote_regions[i]);
	fork_sibling();
	fork_sibling();
	for (size_t i = 0; i < ARRAY_SIZE(app_regions); i++)
		map_region(&app_regions[i]);
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		map_library(&libraries[i]);
	heap = sbrk(61 * page_size());
	if (heap != (void *)-1)
		touch(heap, 53 * page_size());
	rmdir("/dev/ashmem");

	signal(SIGTERM, clean_up);
	signal(SIGINT, clean_up);
	printf("%d\n", getpid());
	fflush(stdout);
	if (stop)
		raise(SIGSTOP);
	for (;;)
		pause();
}
