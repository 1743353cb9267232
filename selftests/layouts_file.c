// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts of file mappings: page cache of a file system in memory and of one
 * on a disk, large folios in it, and names that are hard to print.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout.h"
#include "testlib.h"

#define RW	(PROT_READ | PROT_WRITE)

static void read_area(void *arg)
{
	read_pages(arg, 16 * page_size());
}

static void build_ramfs(void)
{
	size_t page = page_size();
	int fd = file_in("file", 40);
	char *p;

	p = area_alone(40 * page, RW, MAP_SHARED, fd, 0);
	read_pages(p, 10 * page);
	touch(p + 10 * page, 10 * page);
	p = area_alone(40 * page, RW, MAP_PRIVATE, fd, 0);
	read_pages(p, 30 * page);
	touch(p, 5 * page);		/* copied */
	p = area_alone(16 * page, PROT_READ, MAP_SHARED, fd, 24 * page);
	read_pages(p, 16 * page);
	sharer(read_area, p);
	/* Beyond the end of the file. */
	p = area_alone(30 * page, PROT_READ, MAP_PRIVATE, fd, 30 * page);
	read_pages(p, 10 * page);
}

static int open_in(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", layout_dir(), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0);
	return fd;
}

static void build_erofs(void)
{
	size_t page = page_size();
	int fd = open_in("small");
	char *p;

	p = area_alone(64 * page, PROT_READ, MAP_SHARED, fd, 0);
	read_pages(p, 20 * page);
	p = area_alone(64 * page, RW, MAP_PRIVATE, fd, 0);
	read_pages(p + 16 * page, 16 * page);
	touch(p + 20 * page, 3 * page);
	sharer(read_area, p + 16 * page);
	p = area_alone(8 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		       16 * page);
	read_pages(p, 8 * page);
}

/* Read ahead from a disk, the page cache is in large folios. */
static void build_erofs_large_folios(void)
{
	size_t page = page_size(), len = 4 * MB, large = 0;
	int fd = open_in("large");
	char *p, *buf = malloc(len);

	must(buf && read(fd, buf, len) == (ssize_t)len);
	free(buf);
	p = area_alone(len, PROT_READ, MAP_PRIVATE, fd, 0);
	read_pages(p, len);
	for (size_t at = 0; at < len; at += 16 * page)
		large += !!(page_flags(p + at) & (KPF_HEAD | KPF_TAIL));
	if (!large)
		layout_skip("no large folios in the page cache of erofs");
	p = area_alone(100 * page, RW, MAP_PRIVATE, fd, 33 * page);
	read_pages(p, 100 * page);
	touch(p + 7 * page, 3 * page);
	sharer(read_area, p);
}

static void build_file_pmd(void)
{
	int fd = open_in("large");
	struct stat stat;
	char *p;

	must(!fstat(fd, &stat));
	if ((size_t)stat.st_size < 2 * HUGE)
		layout_skip("the file is smaller than huge pages are here");
	p = area_alone(2 * HUGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	/* Either way leads to one; which, depends on the file system. */
	madvise(p, 2 * HUGE, MADV_HUGEPAGE);
	read_pages(p, 2 * HUGE);
	if (!own_sum(p, 2 * HUGE, FIELD_file_pmd_mapped) &&
	    madvise(p, 2 * HUGE, MADV_COLLAPSE))
		layout_skip("MADV_COLLAPSE of a file: %s (CONFIG_READ_ONLY_THP_FOR_FS)",
			    strerror(errno));
	read_pages(p, 2 * HUGE);
	/* The same folios, mapped page by page. */
	p = area_alone(MB, PROT_READ, MAP_PRIVATE, fd, 16 * page_size());
	read_pages(p, MB);
}

static char long_name[256];

static void build_file_names(void)
{
	static const char *const names[] = {
		"x (deleted)", "new\nline", "tab\tand \\ and \"quotes\" ",
		" leading blank.so", "%s%n", "caf\303\251.apk", long_name,
	};
	size_t page = page_size();

	memset(long_name, 'n', 255);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int fd = file_in(names[i], 2);

		read_pages(area_alone(2 * page, PROT_READ, MAP_SHARED, fd, 0),
			   2 * page);
	}
}

static void build_deleted(void)
{
	static const char *const names[] = {
		"gone.apk", "x (deleted)", "moved",
	};
	char path[512], to[600];
	size_t page = page_size();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		int fd = file_in(names[i], 4);

		touch(area_alone(4 * page, RW, i ? MAP_PRIVATE : MAP_SHARED,
				 fd, 0), 2 * page);
		snprintf(path, sizeof(path), "%s/%s", layout_dir(), names[i]);
		snprintf(to, sizeof(to), "%s-to (deleted)", path);
		must(!(i == 2 ? rename(path, to) : unlink(path)));
	}
}

/* All three directories of the names above begin with a temporary name. */
static const char *check_suffixes(const struct vma_list *smaps,
				  const char *const *suffixes)
{
	static char text[400];

	for (; *suffixes; suffixes++) {
		size_t i, len = strlen(*suffixes);

		for (i = 0; i < smaps->nr; i++) {
			size_t n = strlen(smaps->vma[i].name);

			if (n >= len && !strcmp(smaps->vma[i].name + n - len,
						*suffixes))
				break;
		}
		if (i < smaps->nr)
			continue;
		snprintf(text, sizeof(text), "smaps has no name that ends in \"%s\"",
			 *suffixes);
		return text;
	}
	return NULL;
}

static const char *check_file_names(pid_t tgid, const struct vma_list *smaps)
{
	static const char *const suffixes[] = {
		"/x (deleted)", "/new\\012line", "/ leading blank.so",
		"/caf\303\251.apk", NULL
	};

	(void)tgid;
	return check_suffixes(smaps, suffixes);
}

static const char *check_deleted(pid_t tgid, const struct vma_list *smaps)
{
	static const char *const suffixes[] = {
		"/gone.apk (deleted)", "/x (deleted) (deleted)",
		"/moved-to (deleted)", NULL
	};

	(void)tgid;
	return check_suffixes(smaps, suffixes);
}

const struct layout file_layouts[] = {
	{ "ramfs", build_ramfs, NEED_RAMFS, {
		{ FIELD_shared_dirty, SOME }, { FIELD_private_dirty, SOME },
		{ FIELD_anonymous, 5 } } },
	{ "erofs", build_erofs, NEED_EROFS, {
		{ FIELD_shared_clean, SOME }, { FIELD_private_clean, SOME },
		{ FIELD_anonymous, 3 } } },
	{ "erofs_large_folios", build_erofs_large_folios, NEED_EROFS, {
		{ FIELD_shared_clean, SOME }, { FIELD_private_clean, SOME },
		{ FIELD_file_pmd_mapped, 0 }, { FIELD_anonymous, 3 } } },
	{ "file_pmd_mapped", build_file_pmd, NEED_EROFS, {
		{ FIELD_file_pmd_mapped, HUGES(4) } } },
	{ "file_names", build_file_names, NEED_RAMFS, { { FIELD_rss, 14 } },
		.check = check_file_names },
	{ "deleted_files", build_deleted, NEED_RAMFS, { { FIELD_rss, 6 } },
		.check = check_deleted },
	{ }
};
