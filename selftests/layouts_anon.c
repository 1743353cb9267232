// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts of private anonymous memory: small pages, huge pages and what is
 * between, names, stacks, copies on write.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "layout.h"
#include "testlib.h"

#define RW	(PROT_READ | PROT_WRITE)
#define ANON	(MAP_PRIVATE | MAP_ANONYMOUS)

static void build_touched(void)
{
	touch(anon(64), 40 * page_size());
	anon(33);
}

static void build_zero_page(void)
{
	char *p = anon(32);

	read_pages(p, 20 * page_size());
	touch(p, 3 * page_size());
	p = area_alone(16 * page_size(), PROT_READ, ANON, -1, 0);
	read_pages(p, 16 * page_size());
}

static void build_many_vmas(void)
{
	static const int prots[] = {
		RW, PROT_READ, PROT_NONE, PROT_READ | PROT_EXEC,
		RW | PROT_EXEC, PROT_EXEC, PROT_WRITE,
	};
	size_t page = page_size();
	char *p = anon(700);

	touch(p, 700 * page);
	for (int i = 0; i < 700; i++)
		must(!mprotect(p + i * page, page,
			       prots[i % ARRAY_SIZE(prots)]));
}

static void name(void *start, size_t nr_pages, const char *text)
{
	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start,
		  nr_pages * page_size(), text))
		layout_skip("PR_SET_VMA_ANON_NAME: %s (CONFIG_ANON_VMA_NAME)",
			    strerror(errno));
}

#define NAME_79 "an anonymous mapping with a name of 79 bytes, as long as a name can ever get..."

static void build_names(void)
{
	size_t page = page_size();
	char *p = anon(20);

	_Static_assert(sizeof(NAME_79) == 80, "the longest name");
	touch(p, 20 * page);
	name(p, 2, "x");
	name(p + 3 * page, 2, NAME_79);
	name(p + 6 * page, 2, "two words, \"quoted\" %s %n ' # ");
	name(p + 9 * page, 2, "named and cleared");
	name(p + 9 * page, 2, NULL);
	/* A part of a mapping named: three mappings. */
	name(p + 13 * page, 1, "dalvik-main space");
	name(area_alone(4 * page, RW, ANON, -1, 0), 4, "scudo:primary");
}

/* What Unknown is made of on Android, each a page, shared by three. */
static void build_unknown(void)
{
	static const char *const names[] = {
		".bss", "linker_alloc", "linker_alloc_small_objects",
		"cfi shadow", "bionic_alloc_small_objects", "bionic_alloc_lob",
		"arc4random data", "thread signal stack", "thread stack guard",
		"atexit handlers", "System property context nodes",
		"abort message", "bionic TLS", "libwebview reservation",
		"partition_alloc", "v8", "blink_gc", "chromium",
		"InternalMmapVector", " glibc: malloc arena",
		"leak_detector_malloc", "libmemunreachable stack",
		"ReadFileToBuffer", "Allocate", "bytehook-stack",
		"bytehook-plt-trampolines", "mappingowner0x1",
		"mappingowner 7f0000001234", "mappingownerjunk",
		"mappingowner", ".bss", "v8", "any other", NAME_79,
		" %s \"%n\" ", ".bss",
	};
	static const int prots[] = {
		RW, PROT_READ, PROT_READ | PROT_EXEC, RW | PROT_EXEC, PROT_NONE,
	};
	size_t nr = ARRAY_SIZE(names), page = page_size();
	char *p = anon(2 * nr);

	touch(p, 2 * nr * page);
	/* Every other page has no name. */
	for (size_t i = 0; i < nr; i++) {
		name(p + 2 * i * page, 1, names[i]);
		must(!mprotect(p + (2 * i + 1) * page, page,
			       prots[i % ARRAY_SIZE(prots)]));
	}
	sharer(NULL, NULL);
	sharer(NULL, NULL);
	touch(p, 3 * page);
}

static void *sleep_thread(void *arg)
{
	char local[3 * 4096];

	touch(local, sizeof(local));
	pthread_barrier_wait(arg);
	for (;;)
		pause();
	return NULL;
}

static void __attribute__((noinline)) deep_stack(void)
{
	char local[200 * 1024];

	touch(local, sizeof(local));
	/* Keeps the compiler from dropping it. */
	__asm__ volatile("" : : "r"(local) : "memory");
}

static void build_heap_and_stacks(void)
{
	pthread_barrier_t ready;
	pthread_t thread;
	char *p;

	p = sbrk(1000000);
	must(p != (void *)-1);
	touch(p, 700000);
	/* A named part of the heap is a mapping more, and still [heap]. */
	p = (char *)(((unsigned long)p + page_size()) & -page_size());
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, 8 * page_size(), "part");
	deep_stack();
	p = area_alone(2 * page_size(), RW, ANON | MAP_GROWSDOWN, -1, 0);
	touch(p, page_size());
	pthread_barrier_init(&ready, NULL, 4);
	for (int i = 0; i < 3; i++)
		must(!pthread_create(&thread, NULL, sleep_thread, &ready));
	pthread_barrier_wait(&ready);
}

struct piece {
	char *start;
	size_t len;
};

static void write_piece(void *arg)
{
	struct piece *piece = arg;

	touch(piece->start, piece->len);
}

static void build_cow(void)
{
	size_t page = page_size();
	char *p = anon(60);

	touch(p, 60 * page);
	for (int i = 0; i < 3; i++) {
		struct piece piece = { p + 10 * i * page, 5 * page };

		sharer(write_piece, &piece);
	}
	touch(p + 40 * page, 10 * page);
}

static void build_reserve(void)
{
	size_t len = 262144 * page_size();
	void *p = area_alone(len, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);

	/* Unlike what is around it, so that it is a mapping of its own. */
	must(!madvise(p, len, MADV_DONTDUMP));
}

static void build_sparse_terabyte(void)
{
	size_t len = 1UL << 40;
	char *p;

	/* arm64 may have half of that in all. */
	while ((p = map_alone(len, RW, ANON | MAP_NORESERVE, -1, 0)) ==
	       MAP_FAILED && len > 1UL << 37)
		len /= 2;
	must(p != MAP_FAILED);
	layout_area(p, len);
	must(!madvise(p, len, MADV_NOHUGEPAGE));
	touch(p, page_size());
	touch(p + 300 * MB + 8 * page_size(), page_size());
	touch(p + len / 16 * 11 + 5 * page_size(), 2 * page_size());
	touch(p + len - page_size(), page_size());
}

static void build_lazyfree(void)
{
	size_t page = page_size();
	char *p = anon(40);

	touch(p, 40 * page);
	/* Each call makes effective what the one before has queued. */
	for (int try = 0; own_sum(p, 40 * page, FIELD_lazyfree) < 20 * page >> 10;
	     try++) {
		must(try < 100);
		must(!madvise(p, 20 * page, MADV_FREE));
	}
	touch(p + 5 * page, page);	/* written again: not free any more */
}

static void build_mlock(void)
{
	char *p = anon(24);

	touch(p, 10 * page_size());
	must(!mlock(p, 24 * page_size()));
}

static void build_mlock_onfault(void)
{
	char *p = anon(24);

	must(!mlock2(p, 24 * page_size(), MLOCK_ONFAULT));
	touch(p, 7 * page_size());
}

static void build_mlock_shared(void)
{
	char *p = anon(24);

	touch(p, 24 * page_size());
	sharer(NULL, NULL);
	/* No write: MLOCK_ONFAULT takes what is there, shared as it is. */
	must(!mlock2(p, 24 * page_size(), MLOCK_ONFAULT));
}

static void *huge(size_t nr)
{
	char *p = area_alone(nr * HUGE, RW, ANON, -1, 0);

	if (madvise(p, nr * HUGE, MADV_HUGEPAGE))
		layout_skip("MADV_HUGEPAGE: %s", strerror(errno));
	touch(p, nr * HUGE);
	return p;
}

static void build_thp(void)
{
	huge(3);
}

static void build_thp_collapsed(void)
{
	char *p = area_alone(2 * HUGE, RW, ANON, -1, 0);

	touch(p, 2 * HUGE);
	if (madvise(p, HUGE, MADV_COLLAPSE))
		layout_skip("MADV_COLLAPSE: %s", strerror(errno));
}

static void build_thp_part_unmapped(void)
{
	char *p = huge(2);

	must(!munmap(p, HUGE / 2));
	must(page_flags(p + HUGE / 2) & KPF_TAIL);
}

static void build_thp_split(void)
{
	char *p = huge(2);

	must(!mprotect(p + 7 * page_size(), page_size(), PROT_READ));
	must(page_flags(p + 7 * page_size()) & KPF_TAIL);
}

static void unmap_piece(void *arg)
{
	struct piece *piece = arg;

	must(!munmap(piece->start, piece->len));
}

static void build_thp_forked(void)
{
	struct piece half = { huge(1), HUGE / 2 };

	sharer(unmap_piece, &half);
}

/*
 * A child shares one half of a huge page: this process's share is three quarters.
 * Where the kernel has no mapcount a page, smaps alone is the judge.
 */
static const char *check_thp_forked(pid_t tgid, const struct vma_list *smaps)
{
	char method[16];

	(void)tgid;
	if (file_read(NODES "pss_method", method, sizeof(method)) < 0)
		return "pss_method cannot be read";
	if (strcmp(method, "page\n"))
		return NULL;
	for (size_t i = 0; i < smaps->nr; i++)
		if (smaps->vma[i].value[FIELD_pss] == HUGE / 4 * 3 >> 10 &&
		    smaps->vma[i].value[FIELD_shared_dirty] == HUGE / 2 >> 10)
			return NULL;
	return "no mapping has a PSS of three quarters of a huge page";
}

static void build_thp_forked_whole(void)
{
	huge(2);
	sharer(NULL, NULL);
	sharer(NULL, NULL);
}

/*
 * Still huge, but of no access, which looks like what NUMA balancing does. There
 * 6.1's smaps has nothing of it.
 */
static void build_thp_no_access(void)
{
	char *p = huge(3);

	must(!mprotect(p + HUGE, HUGE, PROT_NONE));
	must(page_flags(p + HUGE) & KPF_HEAD);
	must(page_flags(p + 2 * HUGE - page_size()) & KPF_TAIL);
}

static void build_thp_locked(void)
{
	must(!mlock(huge(2), 2 * HUGE));
}

static void build_huge_zero_page(void)
{
	char *p;

	p = area_alone(4 * HUGE, RW, ANON, -1, 0);
	if (madvise(p, 4 * HUGE, MADV_HUGEPAGE))
		layout_skip("MADV_HUGEPAGE: %s", strerror(errno));
	for (int i = 0; i < 3; i++)
		read_pages(p + i * HUGE, 1);
	/* Present all over after one read a huge page, but no page is ours. */
	must(pagemap_entry(p + HUGE - page_size()) & PAGEMAP_PRESENT);
	must(page_flags(p) & KPF_ZERO_PAGE);
	touch(p + 3 * HUGE, page_size());
}

static void build_mthp(void)
{
	size_t page = page_size();
	char *p = anon(256);

	touch(p, 200 * page);
	must(page_flags(p) & KPF_HEAD);
	must(page_flags(p + page) & KPF_TAIL);
	must(!munmap(p + 20 * page, 5 * page));
	sharer(NULL, NULL);
	touch(p + 64 * page, 30 * page);
}

/*
 * arm64 may take so many entries for one: then each is as dirty as the dirtiest
 * of them, for smaps too.
 */
static void build_contpte(void)
{
	size_t page = page_size(), block = page > 4096 ? 2 * MB : 16 * page;
	size_t len = 4 * block;
	char *p = area_alone(len, RW, ANON, -1, 0);

	touch(p, len);
	must(page_flags(p) & KPF_HEAD);
	must(page_flags(p + block - page) & KPF_TAIL);
	/* Each call makes effective what the one before has queued. */
	for (int try = 0; own_sum(p, len, FIELD_lazyfree) < len >> 10; try++) {
		must(try < 100);
		must(!madvise(p, len, MADV_FREE));
	}
	touch(p + 3 * page, page);
	touch(p + block + 7 * page, 2 * page);
	/* No longer one, and one page less. */
	must(!mprotect(p + 2 * block + 5 * page, page, PROT_READ));
	touch(p + 2 * block, page);
	must(!madvise(p + 3 * block + 9 * page, page, MADV_DONTNEED));
}

static int clone_pause(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return 0;
}

static void build_clone_vm(void)
{
	char *p = anon(30);

	touch(p, 30 * page_size());
	must(clone(clone_pause, p + 20 * page_size(), CLONE_VM, NULL) > 0);
}

static void build_vfork(void)
{
	touch(anon(30), 30 * page_size());
	if (!vfork()) {
		/* The parent sleeps until this one is gone: speak for it. */
		layout_ready();
		clone_pause(NULL);
	}
}

static void build_guard(void)
{
	size_t page = page_size();
	char *p = anon(30);

	touch(p, 30 * page);
	if (madvise(p + 5 * page, 10 * page, MADV_GUARD_INSTALL))
		layout_skip("MADV_GUARD_INSTALL: %s (6.13 and later)",
			    strerror(errno));
}

const struct layout anon_layouts[] = {
	{ "touched", build_touched, 0, {
		{ FIELD_rss, 40 }, { FIELD_private_dirty, 40 },
		{ FIELD_size, 97 } } },
	{ "zero_page", build_zero_page, 0, {
		{ FIELD_rss, 3 }, { FIELD_size, 48 } } },
	{ "many_vmas", build_many_vmas, 0, { { FIELD_rss, 700 } } },
	{ "names", build_names, 0, { { FIELD_rss, 20 } },
		{ "[anon:x]", "[anon:" NAME_79 "]",
		  "[anon:two words, \"quoted\" %s %n ' # ]",
		  "[anon:dalvik-main space]", "[anon:scudo:primary]" } },
	{ "unknown", build_unknown, 0, { { FIELD_rss, 72 }, {
		FIELD_private_dirty, 3 } },
		{ "[anon:.bss]", "[anon:" NAME_79 "]", "[anon: %s \"%n\" ]",
		  "[anon: glibc: malloc arena]" } },
	{ "heap_and_stacks", build_heap_and_stacks, 0, { { FIELD_rss, 1 } },
		{ "[heap]", "[stack]" } },
	{ "cow", build_cow, 0, {
		{ FIELD_rss, 60 }, { FIELD_private_dirty, 10 },
		{ FIELD_shared_dirty, 50 } } },
	{ "reserve_gigabyte", build_reserve, 0, {
		{ FIELD_size, 262144 }, { FIELD_rss, 0 } } },
	{ "sparse_terabyte", build_sparse_terabyte, 0, { { FIELD_rss, 5 } } },
	{ "lazyfree", build_lazyfree, 0, {
		{ FIELD_lazyfree, 19 }, { FIELD_rss, 40 } } },
	{ "mlock", build_mlock, 0, { { FIELD_locked, 24 } }, .flags = "lo" },
	{ "mlock_onfault", build_mlock_onfault, 0, {
		{ FIELD_locked, 7 } }, .flags = "lo" },
	{ "mlock_shared", build_mlock_shared, 0, {
		{ FIELD_locked, 12 }, { FIELD_shared_dirty, 24 } },
		.flags = "lo" },
	{ "thp", build_thp, 0, { { FIELD_anon_huge, HUGES(6) } } },
	{ "thp_collapsed", build_thp_collapsed, NEED_THP_MADVISE, {
		{ FIELD_anon_huge, HUGES(2) }, { FIELD_rss, HUGES(4) } } },
	{ "thp_part_unmapped", build_thp_part_unmapped, 0, {
		{ FIELD_anon_huge, HUGES(2) }, { FIELD_rss, HUGES(3) } } },
	{ "thp_split", build_thp_split, 0, {
		{ FIELD_rss, HUGES(4) }, { FIELD_anon_huge, HUGES(2) } } },
	{ "thp_forked_half_unmapped", build_thp_forked, 0, {
		{ FIELD_rss, HUGES(2) } }, .check = check_thp_forked },
	{ "thp_forked", build_thp_forked_whole, 0, {
		{ FIELD_anon_huge, HUGES(4) },
		{ FIELD_shared_dirty, HUGES(4) } } },
	{ "thp_no_access", build_thp_no_access, 0, {
		{ FIELD_anon_huge, SOME } } },
	{ "thp_locked", build_thp_locked, 0, {
		{ FIELD_anon_huge, HUGES(4) }, { FIELD_locked, HUGES(4) } } },
	{ "huge_zero_page", build_huge_zero_page, NEED_HUGE_ZERO, {
		{ FIELD_rss, HUGES(2) } } },
	{ "mthp", build_mthp, NEED_MTHP, {
		{ FIELD_rss, SOME }, { FIELD_anon_huge, 0 },
		{ FIELD_private_dirty, SOME }, { FIELD_shared_dirty, SOME } } },
	{ "contpte", build_contpte, NEED_MTHP | NEED_MTHP_2MB, {
		{ FIELD_rss, SOME }, { FIELD_anon_huge, 0 },
		{ FIELD_lazyfree, SOME }, { FIELD_private_dirty, SOME } } },
	{ "clone_vm", build_clone_vm, 0, {
		{ FIELD_rss, 30 }, { FIELD_private_dirty, 30 } } },
	{ "vfork", build_vfork, 0, {
		{ FIELD_rss, 30 }, { FIELD_private_dirty, 30 } },
		.blocked = true },
	{ "guard_regions", build_guard, 0, { { FIELD_rss, 20 } } },
	{ }
};
