// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts with pages in swap: private ones by the number of their sharers, and
 * those of shmem objects, which smaps counts in four different ways.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layout.h"
#include "testlib.h"
#include "uffd.h"

#define RW	(PROT_READ | PROT_WRITE)
#define ANON	(MAP_PRIVATE | MAP_ANONYMOUS)

/* Private pages, all of them in swap. */
static char *swapped(size_t nr)
{
	size_t len = nr * page_size();
	char *p = anon(nr);

	touch(p, len);
	swap_out(p, len, nr);
	return p;
}

static void build_private(void)
{
	char *p = swapped(100);

	read_pages(p + 10 * page_size(), 10 * page_size());
	touch(p + 30 * page_size(), 10 * page_size());
}

struct regions {
	char *start[4];
	int keep_from;
};

static void keep_some(void *arg)
{
	struct regions *regions = arg;

	for (int i = 0; i < regions->keep_from; i++)
		must(!munmap(regions->start[i], 16 * page_size()));
}

/* Four regions whose slots are used by 2, 3, 4 and 5 processes. */
static void build_shared(void)
{
	struct regions regions = {};

	for (int i = 0; i < 4; i++)
		regions.start[i] = swapped(16);
	for (int i = 0; i < 4; i++) {
		regions.keep_from = i;
		sharer(keep_some, &regions);
	}
}

static void build_shared_by_5(void)
{
	swapped(2048);
	for (int i = 0; i < 4; i++)
		sharer(NULL, NULL);
}

/* 8 MB that 5 processes share are 1638.4 kB each. */
static const char *check_shared_by_5(pid_t tgid, const struct vma_list *smaps)
{
	u64 kb = 2048 * page_size() >> 10;

	(void)tgid;
	for (size_t i = 0; i < smaps->nr; i++)
		if (smaps->vma[i].value[FIELD_swap] == kb &&
		    smaps->vma[i].value[FIELD_swap_pss] == kb / 5)
			return NULL;
	return "no mapping whose SwapPss is a fifth of its Swap";
}

/* More users of a slot than its one-byte count can hold. */
static void build_shared_by_71(void)
{
	swapped(8);
	for (int i = 0; i < 70; i++)
		sharer(NULL, NULL);
}

static void read_some(void *arg)
{
	read_pages(arg, 6 * page_size());
}

static void build_part_read_in(void)
{
	char *p = swapped(40);

	sharer(NULL, NULL);
	sharer(read_some, p + 20 * page_size());
	read_pages(p, 10 * page_size());
	touch(p + 10 * page_size(), 5 * page_size());
}

static void build_thp(void)
{
	char *p = area_alone(2 * HUGE, RW, ANON, -1, 0);

	if (madvise(p, 2 * HUGE, MADV_HUGEPAGE))
		layout_skip("MADV_HUGEPAGE: %s", strerror(errno));
	touch(p, 2 * HUGE);
	must(own_sum(p, 2 * HUGE, FIELD_anon_huge));
	swap_out(p, 2 * HUGE, 2 * HUGE / page_size());
	read_pages(p, 3 * page_size());
	sharer(NULL, NULL);
}

/* A memfd whose pages are all in swap and mapped nowhere. */
static int swapped_memfd(size_t nr, bool huge)
{
	size_t len = nr * page_size();
	int fd = memfd("swapped", len);
	char *p = map_alone(len, RW, MAP_SHARED, fd, 0);

	must(p != MAP_FAILED);
	touch(p, len);
	if (huge && madvise(p, len, MADV_COLLAPSE))
		layout_skip("MADV_COLLAPSE of shmem: %s", strerror(errno));
	swap_out(p, len, nr);
	must(!munmap(p, len));
	return fd;
}

static void build_shmem_whole(void)
{
	size_t page = page_size();
	char *p = area_alone(64 * page, RW, MAP_SHARED,
			     swapped_memfd(64, false), 0);

	read_pages(p, 8 * page);
}

static void build_shmem_beyond_end(void)
{
	size_t page = page_size();
	int fd = swapped_memfd(64, false);

	/* Longer than the file, whose last page is not whole: as a whole. */
	must(!ftruncate(fd, 63 * page + 100));
	area_alone(100 * page, RW, MAP_SHARED, fd, 0);
}

static void build_shmem_part(void)
{
	size_t page = page_size();
	int fd = swapped_memfd(64, false);
	char *p = area_alone(32 * page, RW, MAP_SHARED, fd, 16 * page);

	read_pages(p + 10 * page, 8 * page);
	area_alone(10 * page, PROT_READ, MAP_SHARED, fd, 0);
}

static void build_shmem_read_only(void)
{
	size_t page = page_size();
	int fd = swapped_memfd(64, false);

	read_pages(area_alone(64 * page, PROT_READ, MAP_PRIVATE, fd, 0),
		   8 * page);
	area_alone(20 * page, PROT_READ, MAP_PRIVATE, fd, 30 * page);
}

/* Copies, pages of the object, holes with and without a page table. */
static void build_shmem_private(void)
{
	size_t page = page_size();
	int fd = swapped_memfd(1536, false);
	char *p = area_alone(1536 * page, RW, MAP_PRIVATE, fd, 0);

	touch(p + 3 * page, 2 * page);
	read_pages(p + 10 * page, 4 * page);
	/* The second 2 MB stay without a table. */
	touch(p + 1100 * page, 2 * page);
	must(!madvise(p + 1100 * page, page, MADV_PAGEOUT));
	p = area_alone(700 * page, RW, MAP_PRIVATE, fd, 100 * page);
	touch(p, 5 * page);
}

static void build_shmem_markers(void)
{
	size_t page = page_size();
	int fd = swapped_memfd(64, false);
	char *p = area_alone(64 * page, RW, MAP_PRIVATE, fd, 0);

	touch(p, page);
	uffd_write_protect(p, 64 * page, p + 8 * page, 10 * page);
	must(pagemap_entry(p + 9 * page) & PAGEMAP_UFFD_WP);
}

static void build_shmem_large_over_edge(void)
{
	size_t page = page_size(), edge = HUGE / page;
	int fd = swapped_memfd(2 * edge, true);
	char *p = area_alone(10 * page, PROT_READ, MAP_SHARED, fd, 100 * page);

	if (own_sum(p, 10 * page, FIELD_swap) <= 10 * page >> 10)
		layout_skip("this kernel splits shmem folios that it swaps");
	area_alone(20 * page, PROT_READ, MAP_SHARED, fd,
		   (edge - 10) * page);
	p = area_alone(600 * page, RW, MAP_PRIVATE, fd, (edge - 212) * page);
	touch(p + 5 * page, page);
}

static void build_shmem_none(void)
{
	size_t page = page_size();
	int fd = memfd("resident", 20 * page);
	char *p = area_alone(20 * page, RW, MAP_PRIVATE, fd, 0);

	touch(p, 3 * page);
	touch(area_alone(20 * page, RW, MAP_SHARED, fd, 0), 9 * page);
}

const struct layout swap_layouts[] = {
	{ "swap_private", build_private, NEED_SWAP, {
		{ FIELD_swap, 80 }, { FIELD_swap_pss, 80 },
		{ FIELD_rss, 20 } } },
	{ "swap_shared_by_2_to_5", build_shared, NEED_SWAP, {
		{ FIELD_swap, 64 }, { FIELD_swap_pss, SOME },
		{ FIELD_rss, 0 } } },
	{ "swap_shared_by_5", build_shared_by_5, NEED_SWAP, {
		{ FIELD_swap, 2048 } }, .check = check_shared_by_5 },
	{ "swap_shared_by_71", build_shared_by_71, NEED_SWAP, {
		{ FIELD_swap, 8 } } },
	{ "swap_part_read_in", build_part_read_in, NEED_SWAP, {
		{ FIELD_swap, 25 }, { FIELD_rss, 15 },
		{ FIELD_swap_pss, SOME } } },
	{ "swap_thp", build_thp, NEED_SWAP, {
		{ FIELD_swap, SOME }, { FIELD_swap_pss, SOME } } },
	{ "swap_shmem_whole", build_shmem_whole, NEED_SWAP, {
		{ FIELD_swap, 56 }, { FIELD_swap_pss, 0 },
		{ FIELD_rss, 8 } } },
	{ "swap_shmem_beyond_end", build_shmem_beyond_end, NEED_SWAP, {
		{ FIELD_swap, SOME } } },
	{ "swap_shmem_part", build_shmem_part, NEED_SWAP, {
		{ FIELD_swap, 34 }, { FIELD_rss, 8 } } },
	{ "swap_shmem_read_only", build_shmem_read_only, NEED_SWAP, {
		{ FIELD_swap, 76 }, { FIELD_rss, 8 } } },
	{ "swap_shmem_private", build_shmem_private, NEED_SWAP, {
		{ FIELD_swap, SOME }, { FIELD_swap_pss, 1 },
		{ FIELD_anonymous, 8 } } },
	{ "swap_shmem_markers", build_shmem_markers, NEED_SWAP, {
		{ FIELD_swap, SOME } }, .flags = "uw" },
	{ "swap_shmem_large_over_edge", build_shmem_large_over_edge,
		NEED_SWAP, { { FIELD_swap, SOME } } },
	{ "swap_shmem_none", build_shmem_none, NEED_SWAP, {
		{ FIELD_swap, 0 }, { FIELD_anonymous, 3 } } },
	{ }
};
