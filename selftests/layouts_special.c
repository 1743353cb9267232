// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts of what is no ordinary page: merged by KSM, poisoned, write
 * protected while absent, huge by hugetlb, inserted by a driver; and whole
 * programs.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout.h"
#include "testlib.h"
#include "uffd.h"

#define RW		(PROT_READ | PROT_WRITE)
#define ANON		(MAP_PRIVATE | MAP_ANONYMOUS)

#ifndef MFD_HUGETLB
#define MFD_HUGETLB	4U
#endif

/* Until ksmd has done its work, and then no longer. */
static void wait_ksm(void *start, size_t len, enum field field, u64 kb)
{
	for (int try = 0; own_sum(start, len, field) != kb; try++) {
		errno = ETIMEDOUT;
		must(try < 1000);
		usleep(20000);
	}
	must(!file_write("/sys/kernel/mm/ksm/run", "0"));
}

static void build_ksm(void)
{
	size_t page = page_size(), len = 64 * page;
	char *p = anon(64);

	memset(p, 0xc5, len);
	must(!madvise(p, len, MADV_MERGEABLE));
	/* 6.1's smaps has no such line, but a page that is merged is shared. */
	if (own_has(FIELD_ksm))
		wait_ksm(p, len, FIELD_ksm, len >> 10);
	else
		wait_ksm(p, len, FIELD_private_dirty, 0);
	/* Two copies: no longer merged. */
	p[5 * page] = 1;
	p[6 * page] = 2;
	sharer(NULL, NULL);
}

static void build_ksm_zero(void)
{
	size_t page = page_size(), len = 64 * page;
	char *p = anon(64);

	memset(p, 0, len);
	must(own_sum(p, len, FIELD_rss) == len >> 10);
	must(!madvise(p, len, MADV_MERGEABLE));
	wait_ksm(p, len, FIELD_rss, 0);
	must(pagemap_entry(p) & PAGEMAP_PRESENT);
}

static void ignore_signal(int signal)
{
	(void)signal;
}

/* As memory that breaks; the process is told, and goes on. */
static void poison(void *start)
{
	signal(SIGBUS, ignore_signal);
	if (madvise(start, page_size(), MADV_HWPOISON))
		layout_skip("MADV_HWPOISON: %s (CONFIG_MEMORY_FAILURE)",
			    strerror(errno));
	must(!(pagemap_entry(start) & PAGEMAP_PRESENT));
}

static void build_hwpoison(void)
{
	size_t page = page_size();
	char *p = anon(8);

	touch(p, 8 * page);
	poison(p + 2 * page);
	/* Gone, and yet counted: the entry knows which page it was. */
	must(pagemap_entry(p + 2 * page) & PAGEMAP_SWAP);
}

static void build_hwpoison_shmem(void)
{
	size_t page = page_size();
	int fd = memfd("poison", 8 * page);
	char *p = area_alone(8 * page, RW, MAP_SHARED, fd, 0);

	touch(p, 8 * page);
	sharer(NULL, NULL);
	poison(p + 2 * page);
}

static void build_uffd_wp(void)
{
	size_t page = page_size();
	char *p = anon(16);

	touch(p + 4 * page, 4 * page);
	uffd_write_protect(p, 16 * page, p, 12 * page);
	must(pagemap_entry(p) & PAGEMAP_UFFD_WP);
	must(!(pagemap_entry(p) & PAGEMAP_PRESENT));
}

static void build_uffd_wp_shmem(void)
{
	size_t page = page_size();
	int fd = memfd("protected", 16 * page);
	char *p = area_alone(16 * page, RW, MAP_SHARED, fd, 0);

	touch(p + 4 * page, 4 * page);
	uffd_write_protect(p, 16 * page, p, 12 * page);
	must(pagemap_entry(p) & PAGEMAP_UFFD_WP);
}

static size_t hugetlb_size(void)
{
	char text[8192], *line;

	must(file_read("/proc/meminfo", text, sizeof(text)) > 0);
	line = strstr(text, "Hugepagesize:");
	must(line);
	return strtoul(line + 13, NULL, 10) << 10;
}

static char *hugetlb(size_t nr, int prot, int flags)
{
	return area_alone(nr * hugetlb_size(), prot,
			  flags | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
}

static void touch_first(void *arg)
{
	*(char *)arg = 1;
}

static void read_first(void *arg)
{
	read_pages(arg, 1);
}

static void build_hugetlb_private(void)
{
	size_t size = hugetlb_size();

	touch(hugetlb(4, RW, MAP_PRIVATE), 3 * size);
	touch(hugetlb(2, RW, MAP_SHARED), size);
}

static void build_hugetlb_shared(void)
{
	size_t size = hugetlb_size();
	char *p = hugetlb(3, RW, MAP_SHARED);

	touch(p, 2 * size);
	sharer(read_first, p);
	/* D6's other half: private ones beside it. */
	touch(hugetlb(2, RW, MAP_PRIVATE), 2 * size);
}

static void build_hugetlb_read_only(void)
{
	read_pages(hugetlb(2, PROT_READ, MAP_PRIVATE), 1);
	read_pages(hugetlb(2, PROT_READ, MAP_SHARED), 1);
}

static void build_hugetlb_cow(void)
{
	size_t size = hugetlb_size();
	char *p = hugetlb(4, RW, MAP_PRIVATE);

	touch(p, 4 * size);
	sharer(touch_first, p + size);
	touch_first(p);
}

/* Mapped from gigabyte to gigabyte, the page table itself is shared. */
static void build_hugetlb_shared_table(void)
{
	size_t gigabyte = 1024 * MB, size = hugetlb_size();
	int fd = syscall(__NR_memfd_create, "table", MFD_HUGETLB);
	char *p;

	if (fd < 0)
		layout_skip("memfd_create(MFD_HUGETLB): %s", strerror(errno));
	must(!ftruncate(fd, gigabyte));
	p = mmap(NULL, 3 * gigabyte, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
	must(p != MAP_FAILED);
	p = (char *)(((unsigned long)p + gigabyte) & -gigabyte);
	p = mmap(p, gigabyte, RW, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
		 0);
	must(p != MAP_FAILED);
	layout_area(p, gigabyte);
	touch_first(p);
	sharer(touch_first, p);
	touch_first(p + 5 * size);
}

#define BIOS_AREA	0xf0000

static void build_pfnmap(void)
{
	size_t page = page_size();
	int fd = open("/dev/mem", O_RDWR | O_CLOEXEC);
	char *p, *frames;

	if (fd < 0)
		layout_skip("/dev/mem: %s (CONFIG_DEVMEM)", strerror(errno));
	frames = map_alone(8 * page, PROT_READ, MAP_SHARED, fd, BIOS_AREA);
	if (frames == MAP_FAILED)
		layout_skip("mmap of /dev/mem: %s", strerror(errno));
	layout_area(frames, 8 * page);
	p = area_alone(8 * page, RW, MAP_PRIVATE, fd, BIOS_AREA);
	touch(p, 3 * page);
	/* A page of our own now, in a mapping of page frames. */
	must(*(unsigned long *)p != *(unsigned long *)frames);
	must(!memcmp(p + 3 * page, frames + 3 * page, page));
}

/* 6.1's smaps skips the copies, later ones count them: see which it is. */
static const char *check_pfnmap(pid_t tgid, const struct vma_list *smaps)
{
	u64 rss = 0;

	(void)tgid;
	for (size_t i = 0; i < smaps->nr; i++)
		if (!strcmp(smaps->vma[i].name, "/dev/mem"))
			rss += smaps->vma[i].value[FIELD_rss];
	if (rss && rss != 3 * page_size() >> 10)
		return "/dev/mem: Rss is neither 0 nor the three copies";
	return NULL;
}

static void build_mixedmap(void)
{
	size_t page = page_size();
	int fd = open("/dev/memledger_mixed", O_RDWR | O_CLOEXEC);
	char *p;

	must(fd >= 0);
	p = area_alone(16 * page, RW, MAP_SHARED, fd, 0);
	/* The driver has put pages in the first half, frames in the other. */
	read_pages(p, 8 * page);
	sharer(NULL, NULL);
}

struct heap_allocation {
	__u64 len;
	__u32 fd;
	__u32 fd_flags;
	__u64 heap_flags;
};

#define HEAP_ALLOC	_IOWR('H', 0, struct heap_allocation)

static void build_dmabuf(void)
{
	struct heap_allocation buffer = {
		.len = 10 * page_size(), .fd_flags = O_RDWR | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	char *p;

	if (heap < 0)
		layout_skip("/dev/dma_heap/system: %s (CONFIG_DMABUF_HEAPS_SYSTEM)",
			    strerror(errno));
	must(!ioctl(heap, HEAP_ALLOC, &buffer));
	p = area_alone(buffer.len, RW, MAP_SHARED, buffer.fd, 0);
	touch(p, buffer.len);
}

static void run_beside(const char *file, const char *option)
{
	char *argv[] = { (char *)beside_me(file), (char *)option, NULL };

	execv(argv[0], argv);
	layout_skip("%s: %s", argv[0], strerror(errno));
}

static void build_i386(void)
{
	run_beside("i386", NULL);
}

static void build_app(void)
{
	run_beside("app", "--stop");
}

const struct layout special_layouts[] = {
	{ "ksm", build_ksm, NEED_KSM, {
		{ FIELD_ksm, 62 }, { FIELD_rss, 64 } }, .flags = "mg" },
	{ "ksm_zero_pages", build_ksm_zero, NEED_KSM | NEED_KSM_ZERO, {
		{ FIELD_rss, 0 }, { FIELD_size, 64 } }, .flags = "mg" },
	{ "hwpoison", build_hwpoison, 0, {
		{ FIELD_rss, 8 } } },
	{ "hwpoison_shmem", build_hwpoison_shmem, 0, {
		{ FIELD_rss, 8 } } },
	{ "uffd_wp", build_uffd_wp, 0, { { FIELD_rss, 4 } }, .flags = "uw" },
	{ "uffd_wp_shmem", build_uffd_wp_shmem, 0, { { FIELD_rss, 4 } },
		.flags = "uw" },
	{ "hugetlb_private", build_hugetlb_private, NEED_HUGETLB, {
		{ FIELD_private_hugetlb, SOME }, { FIELD_rss, 0 } },
		.flags = "ht" },
	{ "hugetlb_shared", build_hugetlb_shared, NEED_HUGETLB, {
		{ FIELD_shared_hugetlb, SOME },
		{ FIELD_private_hugetlb, SOME } }, .flags = "ht",
		.files = true },
	{ "hugetlb_read_only", build_hugetlb_read_only, NEED_HUGETLB, {
		{ FIELD_private_hugetlb, SOME } }, .flags = "ht" },
	{ "hugetlb_cow", build_hugetlb_cow, NEED_HUGETLB, {
		{ FIELD_shared_hugetlb, SOME },
		{ FIELD_private_hugetlb, SOME } }, .flags = "ht" },
	{ "hugetlb_shared_table", build_hugetlb_shared_table, NEED_HUGETLB, {
		{ FIELD_shared_hugetlb, SOME } }, .flags = "ht" },
	{ "pfnmap", build_pfnmap, 0, { { FIELD_size, 16 } }, { "/dev/mem" },
		.flags = "pf", .check = check_pfnmap },
	{ "mixedmap", build_mixedmap, NEED_MIXED, {
		{ FIELD_rss, 8 }, { FIELD_size, 16 } },
		{ "/dev/memledger_mixed" }, .flags = "mm" },
	{ "dmabuf", build_dmabuf, 0, { { FIELD_size, 10 } } },
	{ "i386", build_i386, 0, { }, { "[anon:i386]" } },
	{ "app", build_app, NEED_SWAP, { },
		{ "[anon:dalvik-main space (region space)]" },
		.files = true },
	{ }
};
