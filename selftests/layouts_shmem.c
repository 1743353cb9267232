// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts of shared memory that is no file to its user: memfd, SysV segments,
 * shared anonymous mappings, tmpfs, and huge pages in them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout.h"
#include "testlib.h"

#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447
#endif

#define RW		(PROT_READ | PROT_WRITE)
#define ANON_SHARED	(MAP_SHARED | MAP_ANONYMOUS)

static void read_16(void *arg)
{
	read_pages(arg, 16 * page_size());
}

static void build_memfd(void)
{
	size_t page = page_size();
	int fd = memfd("jit-cache", 40 * page);
	char *p;

	p = area_alone(40 * page, RW, MAP_SHARED, fd, 0);
	touch(p, 30 * page);
	p = area_alone(40 * page, RW, MAP_PRIVATE, fd, 0);
	read_pages(p, 20 * page);
	touch(p, 5 * page);
	p = area_alone(16 * page, PROT_READ | PROT_EXEC, MAP_SHARED, fd,
		       4 * page);
	read_pages(p, 16 * page);
	sharer(read_16, p);

	fd = memfd("x (deleted)", 4 * page);
	touch(area_alone(4 * page, RW, MAP_SHARED, fd, 0), 2 * page);
	fd = memfd("", 4 * page);
	touch(area_alone(4 * page, RW, MAP_PRIVATE, fd, 0), page);
}

/* The highest offset that maps prints in more than eight digits. */
static void build_far_offset(void)
{
	size_t page = page_size();
	off_t far = 5UL << 30;
	int fd = memfd("far", far + 8 * page);

	touch(area_alone(8 * page, RW, MAP_SHARED, fd, far), 8 * page);
}

static void build_sysv(void)
{
	size_t page = page_size();
	int id = shmget(IPC_PRIVATE, 20 * page, IPC_CREAT | 0600);
	char *p;

	if (id < 0)
		layout_skip("shmget: %s (CONFIG_SYSVIPC)", strerror(errno));
	p = shmat(id, NULL, 0);
	/* Removed with its last user, whatever happens. */
	must(!shmctl(id, IPC_RMID, NULL));
	must(p != (void *)-1);
	layout_area(p, 20 * page);
	touch(p, 13 * page);
	sharer(read_16, p);
}

static void build_anon_shared(void)
{
	size_t page = page_size();
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char *p;

	p = area_alone(20 * page, RW, ANON_SHARED, -1, 0);
	touch(p, 11 * page);
	sharer(read_16, p);
	must(fd >= 0);
	touch(area_alone(20 * page, RW, MAP_SHARED, fd, 0), 3 * page);
	touch(area_alone(20 * page, RW, MAP_PRIVATE, fd, 0), 3 * page);
}

static void build_anon_shmem_named(void)
{
	size_t page = page_size();
	char *p = area_alone(20 * page, RW, ANON_SHARED, -1, 0);

	touch(p, 20 * page);
	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, 10 * page,
		  "dalvik-jit-code-cache"))
		layout_skip("no names of shared memory: %s (6.2 and later)",
			    strerror(errno));
}

static void build_secret(void)
{
	size_t page = page_size();
	int fd = syscall(__NR_memfd_secret, 0);

	if (fd < 0)
		layout_skip("memfd_secret: %s (CONFIG_SECRETMEM)",
			    strerror(errno));
	must(!ftruncate(fd, 8 * page));
	touch(area_alone(8 * page, RW, MAP_SHARED, fd, 0), 5 * page);
}

static void build_shmem_pmd(void)
{
	int fd = memfd("huge", 2 * HUGE);
	char *p = area_alone(2 * HUGE, RW, MAP_SHARED, fd, 0);

	touch(p, 2 * HUGE);
	if (madvise(p, 2 * HUGE, MADV_COLLAPSE))
		layout_skip("MADV_COLLAPSE of shmem: %s", strerror(errno));
	touch(p, 2 * HUGE);
}

static void build_tmpfs_huge(void)
{
	char *p = area_alone(HUGE, RW, MAP_SHARED, file_in("file", 2 * HUGE / page_size()), 0);

	touch(p, HUGE);
	sharer(read_16, p);
}

/* The same folios, page by page: in mappings that do not fit them. */
static void build_shmem_pte_mapped(void)
{
	size_t page = page_size();
	int fd = memfd("huge", 2 * HUGE);
	char *p = map_alone(2 * HUGE, RW, MAP_SHARED, fd, 0);

	must(p != MAP_FAILED);
	touch(p, 2 * HUGE);
	if (madvise(p, 2 * HUGE, MADV_COLLAPSE))
		layout_skip("MADV_COLLAPSE of shmem: %s", strerror(errno));
	touch(p, 2 * HUGE);
	/* Mapped as a huge page first, then split. */
	must(!mprotect(p + 9 * page, page, PROT_READ));
	touch(p + 10 * page, 30 * page);
	layout_area(p, HUGE);
	must(!munmap(p + HUGE, HUGE));

	p = area_alone(HUGE, RW, MAP_SHARED, fd, 77 * page);
	read_pages(p, HUGE);
	must(page_flags(p + page) & KPF_TAIL);
	p = area_alone(MB, RW, MAP_PRIVATE, fd, 5 * page);
	read_pages(p, MB);
	touch(p + 3 * page, 2 * page);
	sharer(read_16, p);
}

static void build_shmem_mthp(void)
{
	char *p = area_alone(256 * page_size(), RW, ANON_SHARED, -1, 0);

	touch(p, 100 * page_size());
	must(page_flags(p) & KPF_HEAD);
	must(page_flags(p + page_size()) & KPF_TAIL);
	sharer(read_16, p);
}

#define NR_SMALL	2000

static void read_all_small(void *arg)
{
	char **pages = arg;

	for (int i = 0; i < NR_SMALL; i++)
		read_pages(pages[i], 1);
}

/* Pages of one memfd from last to first: no two mappings can be merged. */
static void build_2000_shared_by_7(void)
{
	static char *pages[NR_SMALL];
	size_t page = page_size(), len = NR_SMALL * page;
	int fd = memfd("jit-cache", len);
	char *p = map_alone(len, RW, MAP_SHARED, fd, 0);

	must(p != MAP_FAILED);
	touch(p, len);
	for (int i = 0; i < NR_SMALL; i++)
		pages[i] = mmap(p + i * page, page, PROT_READ,
				MAP_SHARED | MAP_FIXED, fd,
				(NR_SMALL - 1 - i) * page);
	layout_area(p, len);
	read_all_small(pages);
	for (int i = 0; i < 6; i++)
		sharer(read_all_small, pages);
}

/* What smaps cannot tell: 2000 pages shared by 7, of 4 kB each, are 1142.86 kB. */
static const char *check_2000_shared_by_7(pid_t tgid,
					  const struct vma_list *smaps)
{
	/* Each page's share is rounded down to 1/4096 byte. */
	u64 share = (page_size() << 12) / 7, exact = NR_SMALL * share >> 12;
	u64 floors = NR_SMALL * (share >> 22 << 10);
	static char text[100];
	u64 pss, floor;

	(void)smaps;
	pss = node_read("processes/%d/category/dalvik_other/pss", tgid);
	floor = node_read("processes/%d/category/dalvik_other/pss_floor",
			  tgid);
	if (pss == exact && floor == floors)
		return NULL;
	snprintf(text, sizeof(text),
		 "pss %llu, not %llu, or pss_floor %llu, not %llu",
		 pss, exact, floor, floors);
	return text;
}

const struct layout shmem_layouts[] = {
	{ "memfd", build_memfd, 0, {
		{ FIELD_shared_dirty, SOME }, { FIELD_private_dirty, SOME },
		{ FIELD_anonymous, 6 } },
		{ "/memfd:jit-cache (deleted)",
		  "/memfd:x (deleted) (deleted)", "/memfd: (deleted)" } },
	{ "far_offset", build_far_offset, 0, { { FIELD_rss, 8 } } },
	{ "sysv", build_sysv, 0, {
		{ FIELD_rss, 13 }, { FIELD_shared_dirty, 13 } } },
	{ "anon_shared", build_anon_shared, 0, { { FIELD_rss, 17 } },
		{ "/dev/zero (deleted)", "/dev/zero" } },
	{ "anon_shmem_named", build_anon_shmem_named, 0, {
		{ FIELD_rss, 20 } },
		{ "[anon_shmem:dalvik-jit-code-cache]",
		  "/dev/zero (deleted)" } },
	{ "secretmem", build_secret, 0, { { FIELD_rss, 5 } },
		{ "/secretmem (deleted)" } },
	{ "shmem_pmd_mapped", build_shmem_pmd, 0, {
		{ FIELD_shmem_pmd_mapped, HUGES(4) } } },
	{ "tmpfs_huge", build_tmpfs_huge, NEED_TMPFS_HUGE, {
		{ FIELD_shmem_pmd_mapped, HUGES(2) } } },
	{ "shmem_pte_mapped", build_shmem_pte_mapped, 0, {
		{ FIELD_rss, SOME }, { FIELD_shmem_pmd_mapped, 0 },
		{ FIELD_shared_dirty, SOME }, { FIELD_anonymous, 2 } } },
	{ "shmem_mthp", build_shmem_mthp, NEED_SHMEM_MTHP, {
		{ FIELD_rss, SOME }, { FIELD_shared_dirty, SOME } } },
	{ "2000_shared_by_7", build_2000_shared_by_7, 0, {
		{ FIELD_rss, NR_SMALL } },
		.check = check_2000_shared_by_7, .once = true },
	{ }
};
