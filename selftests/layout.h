/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layouts: processes whose memory is in a known, hard-to-count state. Each is
 * a row of a table: how to build it, and what smaps must show of it, so that
 * a layout that did not come about is noticed.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <errno.h>
#include <sys/types.h>

#include "testlib.h"
#include "vmas.h"

/* What must be set up before a layout can be built. */
#define NEED_SWAP	0x01	/* a zram device that is swapped to */
#define NEED_KSM	0x02	/* ksmd at full speed */
#define NEED_HUGETLB	0x04	/* a pool of default-sized huge pages */
#define NEED_RAMFS	0x08	/* a ramfs at layout_dir() */
#define NEED_TMPFS_HUGE	0x10	/* a tmpfs at layout_dir(), huge=always */
#define NEED_EROFS	0x20	/* the image at layout_dir() */
#define NEED_MTHP	0x40	/* 64 kB anonymous folios wherever they fit */
#define NEED_MTHP_2MB	0x1000	/* 2 MB ones besides */
#define NEED_SHMEM_MTHP	0x80	/* the same for shared anonymous memory */
#define NEED_KSM_ZERO	0x100	/* ksmd puts the zero page in */
#define NEED_HUGE_ZERO	0x200	/* reads of huge pages get the huge zero page */
#define NEED_MIXED	0x400	/* the driver in drivers/ */
#define NEED_THP_MADVISE 0x800	/* huge pages where they are asked for only */

/* What an expectation may say instead of a number of pages. */
#define SOME		(-1)	/* not 0 */
#define HUGES(halves)	(-1 - (halves))	/* so many halves of a huge page */

/**
 * struct expect - what smaps must show in a layout's areas, added up
 * @field: which field
 * @pages: how many pages' worth, or SOME, or HUGES()
 */
struct expect {
	enum field field;
	long pages;
};

#define MAX_EXPECT	6
#define MAX_NAMES	6
#define MAX_AREAS	8

/**
 * struct layout - a state of memory
 * @name: of the test
 * @build: called in the process that is looked at; gives up with
 *	layout_skip() or layout_fail()
 * @need: NEED_*
 * @expect: what smaps must show; ends at an element with 0 pages and field 0
 * @names: names that must be in smaps
 * @flags: VmFlags that every mapping in the areas has, as "pf mm"
 * @check: further check of the areas, in the test, or NULL; returns NULL or
 *	what is wrong
 * @blocked: the process does not stop, but can do nothing either (vfork)
 * @files: compare the 500 files under /sys too, and not only the record that
 *	has the same numbers: for layouts that have something in many rows
 * @once: too large to be compared again with small slices
 */
struct layout {
	const char *name;
	void (*build)(void);
	unsigned int need;
	struct expect expect[MAX_EXPECT];
	const char *names[MAX_NAMES];
	const char *flags;
	const char *(*check)(pid_t tgid, const struct vma_list *smaps);
	bool blocked;
	bool files;
	bool once;
};

/**
 * struct layout_report - what the built process tells the test
 * @status: KSFT_PASS, KSFT_FAIL or KSFT_SKIP
 * @text: why not
 * @area: the addresses that the layout is about
 * @nr_areas: how many
 */
struct layout_report {
	int status;
	char text[200];
	struct {
		u64 start, end;
	} area[MAX_AREAS];
	int nr_areas;
};

extern const struct layout anon_layouts[];
extern const struct layout file_layouts[];
extern const struct layout shmem_layouts[];
extern const struct layout swap_layouts[];
extern const struct layout special_layouts[];
extern const struct layout *const layout_tables[];

/* For the test. */
const char *layout_prepare(const struct layout *layout);
void layout_clean(void);
pid_t layout_start(const struct layout *layout, struct layout_report *report);
const char *layout_unmet(const struct layout *layout,
			 const struct layout_report *report,
			 const struct vma_list *smaps);

/* For the functions that build. */
const char *layout_dir(void);
void layout_area(void *start, size_t len);
void layout_ready(void);
void __noreturn __printf(1, 2) layout_skip(const char *fmt, ...);
void __noreturn layout_fail(const char *what, const char *file, int line);
pid_t sharer(void (*run)(void *arg), void *arg);
void *area_alone(size_t len, int prot, int flags, int fd, off_t offset);
void *anon(size_t nr_pages);
int memfd(const char *name, size_t len);
int file_in(const char *name, size_t nr_pages);
u64 own_sum(void *start, size_t len, enum field field);
bool own_has(enum field field);
u64 pagemap_entry(void *page);
u64 page_flags(void *page);
void swap_out(void *start, size_t len, size_t nr_pages);

#define must(x)								\
	do {								\
		if (!(x))						\
			layout_fail(#x, __FILE__, __LINE__);		\
	} while (0)

/* Bits of /proc/PID/pagemap and /proc/kpageflags. */
#define PAGEMAP_PFN(entry)	((entry) & ((1ULL << 55) - 1))
#define PAGEMAP_UFFD_WP		(1ULL << 57)
#define PAGEMAP_FILE		(1ULL << 61)
#define PAGEMAP_SWAP		(1ULL << 62)
#define PAGEMAP_PRESENT		(1ULL << 63)
#define KPF_HEAD		(1ULL << 15)
#define KPF_TAIL		(1ULL << 16)
#define KPF_ZERO_PAGE	(1ULL << 24)

#define MB		(1UL << 20)
/* What a page-table page maps: 2 MB with pages of 4 kB, 32 MB with 16 kB. */
#define HUGE		(page_size() / sizeof(u64) * page_size())

/* Newer than the C library's headers may be. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#endif
