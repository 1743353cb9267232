// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphics carve-outs: what memledger tells, against the device tree as user
 * space finds it, against the kernel's flags of each page, and against
 * MemTotal; and that nothing is missing where there is no node.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"

#include "kselftest_harness.h"

#define TREE		"/sys/firmware/devicetree/base"
#define CARVEOUTS	NODES "gpu/carveouts"
#define TABLE		DETAILS "carveouts"
#define COMPATIBLE	"memledger,graphics-carveouts"
#define MAX_CARVEOUTS	64

/* Bits of /proc/kpageflags. */
#define KPF_NOPAGE	20
#define KPF_RESERVED	32

/**
 * struct carveout - as the device tree has it
 * @name: of memory-region-names
 * @owner: path in the tree
 * @start: physical address, or 0 where the kernel chose it
 * @size: bytes
 * @reusable: the kernel may use it
 * @no_map: the kernel may not map it
 */
struct carveout {
	char name[64];
	char owner[256];
	unsigned long long start;
	unsigned long long size;
	bool reusable;
	bool no_map;
};

/*
 * The device tree
 */

static char found[512];
static unsigned int wanted_phandle;

/* What is too long is cut, and then equal to nothing. */
static void copy_text(char *to, size_t size, const char *from)
{
	while (--size && *from)
		*to++ = *from++;
	*to = '\0';
}

static unsigned int cell(const void *property, size_t i)
{
	unsigned int value;

	memcpy(&value, (const char *)property + i * sizeof(value),
	       sizeof(value));
	return be32toh(value);
}

/* Return: bytes, or a negative errno if the node does not have it. */
static ssize_t property_read(const char *node, const char *name, void *buf,
			     size_t size)
{
	char path[640];

	snprintf(path, sizeof(path), "%s/%s", node, name);
	return file_read(path, buf, size);
}

static int if_compatible(const char *path, const struct stat *info, int type,
			 struct FTW *ftw)
{
	char text[128];

	(void)info;
	(void)ftw;
	if (type != FTW_D ||
	    property_read(path, "compatible", text, sizeof(text)) <= 0 ||
	    strcmp(text, COMPATIBLE))
		return 0;
	copy_text(found, sizeof(found), path);
	return 1;
}

static int if_phandle(const char *path, const struct stat *info, int type,
		      struct FTW *ftw)
{
	char text[8];

	(void)info;
	(void)ftw;
	if (type != FTW_D ||
	    property_read(path, "phandle", text, sizeof(text)) != 4 ||
	    cell(text, 0) != wanted_phandle)
		return 0;
	copy_text(found, sizeof(found), path);
	return 1;
}

/* Its path in sysfs, valid until the next; NULL if there is none. */
static const char *node_of_phandle(unsigned int phandle)
{
	wanted_phandle = phandle;
	return nftw(TREE, if_phandle, 16, FTW_PHYS) == 1 ? found : NULL;
}

static unsigned long long number(const void *property, size_t at, size_t cells)
{
	unsigned long long value = 0;

	while (cells--)
		value = value << 32 | cell(property, at++);
	return value;
}

/* Where a region is and how large, from its own node. */
static bool region_read(const char *node, struct carveout *carveout)
{
	size_t address_cells, size_cells;
	char text[64], parent[520];

	snprintf(parent, sizeof(parent), "%s/..", node);
	if (property_read(parent, "#address-cells", text, sizeof(text)) != 4)
		return false;
	address_cells = cell(text, 0);
	if (property_read(parent, "#size-cells", text, sizeof(text)) != 4)
		return false;
	size_cells = cell(text, 0);

	carveout->reusable = property_read(node, "reusable", text,
					   sizeof(text)) >= 0;
	carveout->no_map = property_read(node, "no-map", text,
					 sizeof(text)) >= 0;
	if (property_read(node, "reg", text, sizeof(text)) > 0) {
		carveout->start = number(text, 0, address_cells);
		carveout->size = number(text, address_cells, size_cells);
		return true;
	}
	if (property_read(node, "size", text, sizeof(text)) <= 0)
		return false;
	carveout->start = 0;
	carveout->size = number(text, 0, size_cells);
	return true;
}

/* Return: how many there are, -1 without a node, -2 if it makes no sense. */
static int tree_read(struct carveout *carveouts)
{
	char names[1024], regions[1024], owners[1024], node[512];
	const char *name = names, *path;
	ssize_t len;
	int i, nr;

	if (nftw(TREE, if_compatible, 16, FTW_PHYS) != 1)
		return -1;
	copy_text(node, sizeof(node), found);
	len = property_read(node, "memory-region", regions, sizeof(regions));
	if (property_read(node, "memory-region-names", names,
			  sizeof(names)) <= 0 ||
	    property_read(node, "memledger,owners", owners,
			  sizeof(owners)) != len || len <= 0)
		return -2;
	nr = len / sizeof(unsigned int);
	for (i = 0; i < nr && i < MAX_CARVEOUTS; i++) {
		copy_text(carveouts[i].name, sizeof(carveouts[i].name), name);
		name += strlen(name) + 1;
		path = node_of_phandle(cell(regions, i));
		if (!path || !region_read(path, &carveouts[i]))
			return -2;
		path = node_of_phandle(cell(owners, i));
		if (!path)
			return -2;
		copy_text(carveouts[i].owner, sizeof(carveouts[i].owner),
			  path + strlen(TREE));
	}
	return i;
}

/*
 * The kernel
 */

/* A line of /proc/meminfo in bytes. */
static long long meminfo_bytes(const char *name)
{
	char *text = file_slurp("/proc/meminfo"), *at;
	long long kb = -1;

	at = text ? strstr(text, name) : NULL;
	if (at)
		kb = strtoll(at + strlen(name), NULL, 10);
	free(text);
	return kb < 0 ? kb : kb * 1024;
}

/* How many of the pages the kernel keeps out of its allocators. */
static long long reserved_pages(unsigned long long start,
				unsigned long long size)
{
	unsigned long long pfn = start / page_size(), flags;
	unsigned long long end = (start + size) / page_size();
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	long long nr = 0;

	if (fd < 0)
		return -errno;
	for (; pfn < end; pfn++) {
		if (pread(fd, &flags, sizeof(flags), pfn * sizeof(flags)) !=
		    sizeof(flags))
			flags = 1ULL << KPF_NOPAGE;
		if (flags & (1ULL << KPF_NOPAGE | 1ULL << KPF_RESERVED))
			nr++;
	}
	close(fd);
	return nr;
}

/**
 * struct row - a line of the table
 */
struct row {
	char name[64];
	unsigned long long start;
	unsigned long long size;
	char kind[16];
	char map[16];
	char owner[256];
};

/* Return: how many lines, or a negative errno. */
static int table_read(struct row *rows, long long *mem_total)
{
	char text[8192], *line, *save;
	int nr = 0;
	ssize_t len = file_read(TABLE, text, sizeof(text));

	if (len < 0)
		return len;
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct row *row = &rows[nr];

		if (sscanf(line, "# MemTotal %lld", mem_total) == 1)
			continue;
		if (nr < MAX_CARVEOUTS &&
		    sscanf(line, "carveout %63s %llx %llu %15s %15s %255s",
			   row->name, &row->start, &row->size, row->kind,
			   row->map, row->owner) == 6)
			nr++;
	}
	return nr;
}

/* Directories below gpu/carveouts. */
static int nr_directories(void)
{
	DIR *dir = opendir(CARVEOUTS);
	struct dirent *entry;
	int nr = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		nr += entry->d_type == DT_DIR && entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

FIXTURE(carveouts) {
	struct carveout tree[MAX_CARVEOUTS];
	struct row rows[MAX_CARVEOUTS];
	long long mem_total;
	int nr;
};

FIXTURE_SETUP(carveouts)
{
	const char *missing = nodes_missing();

	if (missing)
		SKIP(return, "%s", missing);
	self->nr = tree_read(self->tree);
	if (self->nr == -1)
		SKIP(return, "no device tree with a node " COMPATIBLE);
	ASSERT_GT(self->nr, 0);
	self->mem_total = -1;
	ASSERT_EQ(table_read(self->rows, &self->mem_total), self->nr);
	/* What may be used is then given back at boot, for whatever there is. */
	if (meminfo_bytes("CmaTotal:") < 0)
		SKIP(return, "regions are used by no rule (CONFIG_CMA)");
}

FIXTURE_TEARDOWN(carveouts)
{
}

TEST_F_TIMEOUT(carveouts, as_in_the_device_tree, TIMEOUT)
{
	char path[256], text[256];
	int i;

	EXPECT_EQ(node_read("features/carveouts"), 1);
	EXPECT_EQ(nr_directories(), self->nr);
	for (i = 0; i < self->nr; i++) {
		const struct carveout *carveout = &self->tree[i];

		EXPECT_EQ(node_read("gpu/carveouts/%s/size", carveout->name),
			  (long long)carveout->size);
		EXPECT_EQ(node_read("gpu/carveouts/%s/reusable",
				    carveout->name),
			  carveout->reusable);
		snprintf(path, sizeof(path), CARVEOUTS "/%s/owner",
			 carveout->name);
		ASSERT_GT(file_read(path, text, sizeof(text)), 0);
		text[strcspn(text, "\n")] = '\0';
		EXPECT_STREQ(text, carveout->owner);
	}
}

TEST_F_TIMEOUT(carveouts, table, TIMEOUT)
{
	int i;

	for (i = 0; i < self->nr; i++) {
		const struct carveout *carveout = &self->tree[i];
		const struct row *row = &self->rows[i];

		EXPECT_STREQ(row->name, carveout->name);
		if (carveout->start)
			EXPECT_EQ(row->start, carveout->start);
		EXPECT_EQ(row->size, carveout->size);
		EXPECT_STREQ(row->kind,
			     carveout->reusable ? "reusable" : "static");
		EXPECT_STREQ(row->map, carveout->no_map ? "no-map" : "map");
		EXPECT_STREQ(row->owner, carveout->owner);
	}
	EXPECT_EQ(self->mem_total, meminfo_bytes("MemTotal:"));
}

/* What is static no allocator has, and what is reusable the kernel's has. */
TEST_F_TIMEOUT(carveouts, static_is_outside_the_kernels_memory, TIMEOUT)
{
	long long sums[2] = {}, pages;
	int i;

	for (i = 0; i < self->nr; i++) {
		const struct row *row = &self->rows[i];
		bool reusable = !strcmp(row->kind, "reusable");

		sums[reusable] += row->size;
		pages = reserved_pages(row->start, row->size);
		EXPECT_EQ(pages, reusable ? 0 :
			  (long long)(row->size / page_size()));
	}
	EXPECT_EQ(node_read("gpu/carveouts/static"), sums[0]);
	EXPECT_EQ(node_read("gpu/carveouts/reusable"), sums[1]);
	EXPECT_GT(sums[1], 0);
}

TEST_F_TIMEOUT(carveouts, owner_is_the_driver_that_is_there, TIMEOUT)
{
	char path[512], gpu[512];
	int i, err;

	err = module_load(beside_me("drivers/kgsl_standin.ko"), "");
	if (err == -ENOENT)
		SKIP(return, "no kgsl_standin.ko");
	ASSERT_EQ(err, 0);
	if (realpath("/sys/class/kgsl/kgsl-3d0/device/of_node", gpu))
		copy_text(path, sizeof(path), gpu + strlen(TREE));
	else
		copy_text(path, sizeof(path), "none");
	EXPECT_EQ(module_unload("kgsl_standin"), 0);
	for (i = 0; i < self->nr; i++) {
		if (!strcmp(self->tree[i].name, "gpu"))
			EXPECT_STREQ(path, self->tree[i].owner);
	}
}

/* With every other right but that one. */
static void without_right(void *arg)
{
	char text[64];

	(void)arg;
	if (drop_cap_sys_ptrace())
		_exit(255);
	_exit(file_read(CARVEOUTS "/static", text, sizeof(text)) != -EPERM ||
	      node_read("features/carveouts") != -EPERM ||
	      file_read(TABLE, text, sizeof(text)) != -EPERM);
}

TEST(only_with_the_right)
{
	const char *missing = nodes_missing();

	if (missing)
		SKIP(return, "%s", missing);
	EXPECT_EQ(exit_status(start_process(without_right, NULL)), 0);
}

TEST(without_a_node_nothing_is_missing)
{
	const char *missing = nodes_missing();
	struct carveout tree[MAX_CARVEOUTS];
	char text[64];

	if (missing)
		SKIP(return, "%s", missing);
	if (tree_read(tree) != -1)
		SKIP(return, "the device tree has a node " COMPATIBLE);
	EXPECT_EQ(node_read("features/carveouts"), 0);
	EXPECT_EQ(nr_directories(), 0);
	EXPECT_EQ(node_read("gpu/carveouts/static"), -EOPNOTSUPP);
	EXPECT_EQ(node_read("gpu/carveouts/reusable"), -EOPNOTSUPP);
	EXPECT_EQ(file_read(TABLE, text, sizeof(text)), -EOPNOTSUPP);
	EXPECT_EQ(node_read("features/gpu_provider"), 0);
}

TEST_HARNESS_MAIN
