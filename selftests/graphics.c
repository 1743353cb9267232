// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphics memory of processes that use the KGSL stand-in and DMA-BUFs: each
 * number equals that of an independent model, and the stand-in's own files.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graphics_model.h"
#include "kgsl.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define KB	1024ULL
#define MB	(1024 * KB)

#define STEPS		240
#define CHECK_EVERY	12

static const char *const rule_names[] = {
	[MEMLEDGER_IMPORTED_SURFACE_FULL] = "surface-full",
	[MEMLEDGER_IMPORTED_SHARED] = "shared",
	[MEMLEDGER_IMPORTED_PIXEL] = "pixel",
};

static u64 random_state;

static unsigned int pick(unsigned int nr)
{
	random_state = random_state * 6364136223846793005ULL +
		       1442695040888963407ULL;
	return (random_state >> 33) % nr;
}

/* Names of what is not of a sum: graphics/VALUE, in the struct's order. */
static const char *const values[] = {
#define X(field) #field,
	MEMLEDGER_GRAPHICS_FIELDS(X)
#undef X
};

static const char *const usages[] = {
#define X(id, name) #name,
	MEMLEDGER_GPU_USAGES(X)
#undef X
};

static long long driver_total(void)
{
	return kgsl_read_global("page_alloc") + kgsl_read_global("coherent") +
	       kgsl_read_global("secure");
}

/* Lets a process exit, and forgets it. */
static int end(struct model *model, int p)
{
	pid_t pid = model->process[p].pid;
	int ret = model_end(model, p);

	return ret ?: node_write_number("untrack", pid);
}

FIXTURE(graphics)
{
	struct model model;
	enum memledger_imported_rule rule;
	long long own;
};

FIXTURE_VARIANT(graphics)
{
	const char *module;
	enum memledger_imported_rule rule;
	bool shmem;
};

FIXTURE_VARIANT_ADD(graphics, surface_full)
{
	.module = "kgsl_standin",
	.rule = MEMLEDGER_IMPORTED_SURFACE_FULL,
};

FIXTURE_VARIANT_ADD(graphics, shared)
{
	.module = "kgsl_standin",
	.rule = MEMLEDGER_IMPORTED_SHARED,
};

FIXTURE_VARIANT_ADD(graphics, shared_shmem)
{
	.module = "kgsl_standin",
	.rule = MEMLEDGER_IMPORTED_SHARED,
	.shmem = true,
};

FIXTURE_VARIANT_ADD(graphics, pixel)
{
	.module = "kgsl_standin_pixel",
	.rule = MEMLEDGER_IMPORTED_PIXEL,
};

FIXTURE_SETUP(graphics)
{
	const char *missing = nodes_missing();
	char parameters[64];

	if (missing)
		SKIP(return, "%s", missing);
	snprintf(parameters, sizeof(parameters), "imported_rule=%s shmem=%d",
		 rule_names[variant->rule], variant->shmem);
	missing = kgsl_load(variant->module, parameters);
	if (missing)
		SKIP(return, "%s", missing);
	self->rule = variant->rule;
	self->model.shmem = variant->shmem;
	ASSERT_EQ(NULL, setting_set(NODES "imported_rule",
				    rule_names[variant->rule]));
	ASSERT_EQ(1, node_read("features/gpu_provider"));
	/* What the driver has for itself. */
	self->own = driver_total();
}

FIXTURE_TEARDOWN(graphics)
{
	int p;

	for (p = 0; p < MODEL_PROCESSES; p++)
		if (self->model.process[p].pid)
			end(&self->model, p);
	settings_restore();
	EXPECT_EQ(0, module_unload(variant->module));
}

#define SELF FIXTURE_DATA(graphics)

static int track(struct model *model, int p)
{
	return node_write_number("track", model->process[p].pid);
}

/* Starts a process, with the GPU open. */
static int start(struct model *model, int p)
{
	return model_start(model, p) ?: track(model, p) ?:
	       model_open_gpu(model, p);
}

/* Of each process: memledger's numbers, the model's, and the driver's. */
static void compare_process(struct __test_metadata *_metadata, SELF *self,
			    int p)
{
	const struct model *model = &self->model;
	pid_t pid = model->process[p].pid;
	struct memledger_graphics *graphics;
	struct model_numbers numbers;
	unsigned int i;

	model_expect(model, p, self->rule, &numbers);
	graphics = &numbers.graphics;

	/* The driver frees in the background: its own files tell when. */
	if (model_knows_process(model, p)) {
		ASSERT_EQ(graphics->gpumem_unmapped,
			  kgsl_wait(pid, "gpumem_unmapped",
				    graphics->gpumem_unmapped));
		ASSERT_EQ(graphics->gpumem_mapped,
			  kgsl_wait(pid, "gpumem_mapped",
				    graphics->gpumem_mapped));
		ASSERT_EQ(graphics->imported_size,
			  kgsl_wait(pid, "ion", graphics->imported_size));
		ASSERT_EQ(graphics->usermem,
			  kgsl_wait(pid, "user", graphics->usermem));
		ASSERT_EQ(graphics->imported_mem,
			  kgsl_wait(pid, "imported_mem",
				    graphics->imported_mem));
	} else {
		ASSERT_EQ(-ENOENT, kgsl_wait(pid, "kernel", -ENOENT));
	}

	ASSERT_EQ(0, node_refresh(pid));
	for (i = 0; i < ARRAY_SIZE(values); i++)
		ASSERT_EQ(((const u64 *)graphics)[i],
			  node_read("processes/%d/graphics/%s", pid,
				    values[i])) {
			TH_LOG("process %d: %s", p, values[i]);
		}
	for (i = 0; i < ARRAY_SIZE(usages); i++)
		ASSERT_EQ(graphics->usage[i],
			  node_read("processes/%d/graphics/usage/%s", pid,
				    usages[i])) {
			TH_LOG("process %d: usage %s", p, usages[i]);
		}
	ASSERT_EQ(graphics->imported_mem,
		  node_read("processes/%d/category/egl_mtrack/pss", pid));
	ASSERT_EQ(graphics->imported_mem & ~1023ULL,
		  node_read("processes/%d/category/egl_mtrack/rss", pid));
	ASSERT_EQ(graphics->gpumem_unmapped,
		  node_read("processes/%d/category/gl_mtrack/private_dirty",
			    pid));
	ASSERT_EQ(0, node_read("processes/%d/category/other_mtrack/pss", pid));
	ASSERT_EQ(1, node_read("processes/%d/complete", pid));

	ASSERT_EQ(numbers.dmabuf_count,
		  node_read("processes/%d/graphics/dmabuf_count", pid));
	ASSERT_EQ(numbers.dmabuf_rss,
		  node_read("processes/%d/graphics/dmabuf_rss", pid));
	ASSERT_EQ(numbers.dmabuf_pss,
		  node_read("processes/%d/graphics/dmabuf_pss", pid));
}

/* Waits until that is @total, but not for ever. */
static long long wait_total(long long total)
{
	int naps;

	for (naps = 0; naps < 10000 && driver_total() != total; naps++)
		usleep(2000);
	return driver_total();
}

static void compare(struct __test_metadata *_metadata, SELF *self)
{
	long long total = self->own + model_driver_total(&self->model);
	int p;

	ASSERT_EQ(total, wait_total(total));
	ASSERT_EQ(total, node_read("gpu/total"));
	ASSERT_EQ(0, node_write("dmabuf/refresh", "1\n"));
	for (p = 0; p < MODEL_PROCESSES; p++)
		if (self->model.process[p].pid)
			compare_process(_metadata, self, p);
}

/*
 * Chance
 */

static int any_process(const struct model *model, bool with_gpu)
{
	int p, tries;

	for (tries = 0; tries < 64; tries++) {
		p = pick(MODEL_PROCESSES);
		if (model->process[p].pid &&
		    (!with_gpu || model->process[p].gpu))
			return p;
	}
	return -1;
}

typedef bool (*entry_test)(const struct model *model,
			   const struct model_entry *entry);

static int any_entry(const struct model *model, entry_test fits)
{
	int e, tries;

	for (tries = 0; tries < 4 * MODEL_ENTRIES; tries++) {
		e = pick(MODEL_ENTRIES);
		if (model->entry[e].used && fits(model, &model->entry[e]))
			return e;
	}
	return -1;
}

static bool can_free(const struct model *model, const struct model_entry *entry)
{
	return model->process[entry->owner].gpu && !entry->freed;
}

static bool can_map(const struct model *model, const struct model_entry *entry)
{
	return can_free(model, entry) && entry->kind == MEMLEDGER_GPU_DRIVER &&
	       !(entry->flags & (KGSL_MEMFLAGS_VBO | KGSL_MEMFLAGS_SECURE));
}

static bool can_unmap(const struct model *model,
		      const struct model_entry *entry)
{
	return entry->maps && model->process[entry->owner].pid;
}

static int any_buffer_of(const int *nr)
{
	int b, tries;

	for (tries = 0; tries < 64; tries++) {
		b = pick(MODEL_BUFFERS);
		if (nr[b])
			return b;
	}
	return -1;
}

static int any_usage(void)
{
	static const int often[] = {
		KGSL_MEMTYPE_EGL_SURFACE, KGSL_MEMTYPE_EGL_IMAGE,
		KGSL_MEMTYPE_OBJECTANY, KGSL_MEMTYPE_TEXTURE,
	};
	static const int rare[] = {
		KGSL_MEMTYPE_SURFACE, KGSL_MEMTYPE_KERNEL, 77,
		KGSL_MEMTYPE_COMMAND, KGSL_MEMTYPE_MULTISAMPLE,
	};

	return pick(4) ? often[pick(ARRAY_SIZE(often))] :
	       rare[pick(ARRAY_SIZE(rare))];
}

static u64 any_flags(void)
{
	switch (pick(8)) {
	case 0:
		return KGSL_MEMFLAGS_SECURE;
	case 1:
		return KGSL_MEMFLAGS_VBO;
	case 2:
		return KGSL_MEMFLAGS_STANDIN_CONTIGUOUS;
	case 3:
		return KGSL_MEMFLAGS_GUARD_PAGE;
	default:
		return 0;
	}
}

static u64 any_size(void)
{
	return (1 + pick(24)) * page_size();
}

static int step_gpu(struct model *model)
{
	int p = any_process(model, true), e, b;

	switch (pick(8)) {
	case 0:
	case 1:
		return p < 0 ? 0 : model_alloc(model, p, any_size(),
					       any_usage(), any_flags());
	case 2:
		return p < 0 ? 0 : model_import_addr(model, p, any_size(),
						     any_usage());
	case 3:
	case 4:
		if (p < 0)
			return 0;
		b = any_buffer_of(model->process[p].fds);
		return b < 0 ? 0 : model_import(model, p, b, any_usage());
	case 5:
		e = any_entry(model, can_free);
		return e < 0 ? 0 : model_free(model, e);
	case 6:
		e = any_entry(model, can_map);
		return e < 0 ? 0 : model_map(model, e);
	default:
		e = any_entry(model, can_unmap);
		return e < 0 ? 0 : model_unmap(model, e);
	}
}

static int step_buffer(struct model *model)
{
	int p = any_process(model, false), q = any_process(model, false), b;
	struct model_process *process = &model->process[p];

	switch (pick(7)) {
	case 0:
	case 1:
		b = model_new_buffer(model, p, any_size(), pick(2));
		return b == -ENOSPC ? 0 : b;
	case 2:
		b = any_buffer_of(process->fds);
		return b < 0 ? 0 : model_dup(model, p, b);
	case 3:
		b = any_buffer_of(process->fds);
		return b < 0 ? 0 : model_close(model, p, b);
	case 4:
		b = any_buffer_of(process->fds);
		return b < 0 ? 0 : model_map_buffer(model, p, b, page_size());
	case 5:
		b = any_buffer_of(process->maps);
		return b < 0 ? 0 : model_unmap_buffer(model, p, b);
	default:
		b = any_buffer_of(process->fds);
		return b < 0 || p == q ? 0 : model_pass(model, p, q, b);
	}
}

static int step_process(struct model *model)
{
	int p = any_process(model, false), q, alive = 0;

	for (q = 0; q < MODEL_PROCESSES; q++)
		alive += !!model->process[q].pid;
	switch (pick(4)) {
	case 0:
		return alive > 2 ? end(model, p) : 0;
	case 1:
		for (q = 0; q < MODEL_PROCESSES && model->process[q].pid; q++)
			;
		return q == MODEL_PROCESSES ? 0 :
		       model_fork(model, p, q) ?: track(model, q);
	case 2:
		return model->process[p].gpu ? model_close_gpu(model, p) :
		       model_open_gpu(model, p);
	default:
		for (q = 0; q < MODEL_PROCESSES && model->process[q].pid; q++)
			;
		return q == MODEL_PROCESSES ? 0 : start(model, q);
	}
}

static int step(struct model *model)
{
	unsigned int kind = pick(20);

	if (kind < 11)
		return step_gpu(model);
	return kind < 19 ? step_buffer(model) : step_process(model);
}

/* Takes the driver away from memledger, and gives it back. */
static int rebind(const char *how)
{
	char name[64], path[128];
	FILE *ls;

	ls = popen("cd /sys/bus/platform/devices && ls -d memledger-provider*",
		   "r");
	if (!ls || fscanf(ls, "%63s", name) != 1)
		return -ENOENT;
	pclose(ls);
	snprintf(path, sizeof(path),
		 "/sys/bus/platform/drivers/memledger-provider/%s", how);
	return file_write(path, name);
}

static void unbound(struct __test_metadata *_metadata, SELF *self)
{
	pid_t pid = self->model.process[0].pid;

	ASSERT_EQ(0, rebind("unbind"));
	ASSERT_EQ(0, node_refresh(pid));
	EXPECT_EQ(0, node_read("features/gpu_provider"));
	EXPECT_EQ(-EOPNOTSUPP, node_read("gpu/total"));
	EXPECT_EQ(-EOPNOTSUPP,
		  node_read("processes/%d/category/egl_mtrack/pss", pid));
	EXPECT_EQ(-EOPNOTSUPP,
		  node_read("processes/%d/graphics/gpumem_mapped", pid));
	EXPECT_EQ(1, node_read("processes/%d/complete", pid));
	ASSERT_EQ(0, rebind("bind"));
}

TEST_F_TIMEOUT(graphics, equals_the_model, TIMEOUT)
{
	int i, ret;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	random_state = 20261130 + variant->rule * 1000 + variant->shmem;
	ASSERT_EQ(0, start(&self->model, 0));
	ASSERT_EQ(0, start(&self->model, 1));
	for (i = 0; i < STEPS; i++) {
		ret = step(&self->model);
		ASSERT_LE(0, ret) {
			TH_LOG("step %d: %s", i, strerror(-ret));
		}
		if (i % CHECK_EVERY)
			continue;
		compare(_metadata, self);
	}
	if (!self->model.process[0].pid)
		ASSERT_EQ(0, start(&self->model, 0));
	unbound(_metadata, self);
	compare(_metadata, self);
}

/*
 * The driver's own of 3 MB mapped and 2 MB not, and an import of 90 MB: what is
 * mapped is in the PSS of smaps and nowhere else.
 */
TEST_F_TIMEOUT(graphics, mapped_memory_counts_once, TIMEOUT)
{
	struct model *model = &self->model;
	long long gfx, dev, total, without, egl, gl;
	int e, b, i;
	pid_t pid;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	ASSERT_EQ(0, start(model, 0));
	pid = model->process[0].pid;
	e = model_alloc(model, 0, 3 * MB, KGSL_MEMTYPE_TEXTURE,
			KGSL_CACHE(WRITEBACK));
	ASSERT_LE(0, e);
	ASSERT_EQ(0, model_map(model, e));
	ASSERT_LE(0, model_alloc(model, 0, 2 * MB, KGSL_MEMTYPE_TEXTURE, 0));
	b = model_new_buffer(model, 0, 90 * MB, true);
	ASSERT_LE(0, b);
	ASSERT_LE(0, model_import(model, 0, b, KGSL_MEMTYPE_EGL_SURFACE));

	ASSERT_EQ(0, node_refresh(pid));
	gfx = node_read("processes/%d/category/gfx_dev/pss", pid);
	dev = node_read("processes/%d/category/other_dev/pss", pid);
	egl = node_read("processes/%d/category/egl_mtrack/pss", pid);
	gl = node_read("processes/%d/category/gl_mtrack/pss", pid);
	EXPECT_EQ(3 * MB, gfx);
	EXPECT_EQ(0, dev);
	EXPECT_EQ(90 * MB, egl);
	EXPECT_EQ(2 * MB, gl);
	EXPECT_EQ(3 * MB, node_read("processes/%d/graphics/gpumem_mapped",
				    pid));
	EXPECT_EQ(95 * MB, node_read("processes/%d/summary/graphics", pid));
	EXPECT_EQ(95 * MB, node_read("processes/%d/summary/graphics_rss", pid));

	/*
	 * Without the GPU's rows TOTAL is that of smaps. Not yet in the first
	 * round: a page that this process writes to between two snapshots is
	 * no longer shared with the other, its child.
	 */
	for (i = 0; i < 2; i++) {
		total = node_read("processes/%d/summary/total_pss", pid);
		ASSERT_EQ(0, rebind("unbind"));
		ASSERT_EQ(0, node_refresh(pid));
		without = node_read("processes/%d/summary/total_pss", pid);
		ASSERT_EQ(0, rebind("bind"));
		ASSERT_EQ(0, node_refresh(pid));
	}
	EXPECT_EQ(92 * MB, total - without);
}

/* An app draws to a surface, the compositor has it as an image. */
TEST_F_TIMEOUT(graphics, app_and_compositor, TIMEOUT)
{
	static const struct {
		u64 app;
		u64 compositor;
	} pays[] = {
		[MEMLEDGER_IMPORTED_SURFACE_FULL] = { 12 * MB, 0 },
		[MEMLEDGER_IMPORTED_SHARED] = { 6 * MB, 6 * MB },
		[MEMLEDGER_IMPORTED_PIXEL] = { 12 * MB, 0 },
	};
	struct model *model = &self->model;
	int b;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	ASSERT_EQ(0, start(model, 0));
	ASSERT_EQ(0, start(model, 1));
	b = model_new_buffer(model, 0, 12 * MB, true);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, model_pass(model, 0, 1, b));
	ASSERT_LE(0, model_import(model, 0, b, KGSL_MEMTYPE_EGL_SURFACE));
	ASSERT_LE(0, model_import(model, 1, b, KGSL_MEMTYPE_EGL_IMAGE));
	compare(_metadata, self);
	EXPECT_EQ(pays[self->rule].app,
		  node_read("processes/%d/category/egl_mtrack/pss",
			    model->process[0].pid));
	EXPECT_EQ(pays[self->rule].compositor,
		  node_read("processes/%d/category/egl_mtrack/pss",
			    model->process[1].pid));
	/* Whoever the driver charges, both hold it. */
	EXPECT_EQ(6 * MB, node_read("processes/%d/graphics/dmabuf_pss",
				    model->process[0].pid));
}

/*
 * Another driver's file, under the name that Mali's has: its pages are in
 * Android's row Other dev, and in a number of ours.
 */
TEST(device_of_another_driver)
{
	const char *missing = nodes_missing();
	const size_t len = 16 * page_size();
	struct stat st;
	pid_t pid = getpid();
	void *map;
	int fd;

	if (missing)
		SKIP(return, "%s", missing);
	if (access(beside_me("drivers/memledger_mixed.ko"), R_OK))
		SKIP(return, "drivers/memledger_mixed.ko (built with KDIR)");
	ASSERT_EQ(0, module_load(beside_me("drivers/memledger_mixed.ko"), ""));
	ASSERT_EQ(0, stat("/dev/memledger_mixed", &st));
	ASSERT_EQ(0, mknod("/dev/mali0", S_IFCHR | 0600, st.st_rdev));
	fd = open("/dev/mali0", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, map);

	ASSERT_EQ(0, node_write_number("track", pid));
	ASSERT_EQ(0, node_refresh(pid));
	/* Its second half is page frames, which smaps does not count. */
	EXPECT_EQ(len / 2, node_read("processes/%d/graphics/device_rss", pid));
	EXPECT_EQ(len / 2, node_read("processes/%d/graphics/device_pss", pid));
	EXPECT_EQ(len / 2, node_read("processes/%d/category/other_dev/rss",
				     pid));
	EXPECT_EQ(0, node_read("processes/%d/category/gfx_dev/rss", pid));
	munmap(map, len);
	ASSERT_EQ(0, node_refresh(pid));
	EXPECT_EQ(0, node_read("processes/%d/graphics/device_rss", pid));

	EXPECT_EQ(0, node_write_number("untrack", pid));
	close(fd);
	unlink("/dev/mali0");
	EXPECT_EQ(0, module_unload("memledger_mixed"));
}

/*
 * A driver that says what cannot be
 */

#define BAD		"memledger_badprovider"
#define DRIVER		"kind=0 "
#define DMABUF		"kind=2 flags=8 "

/* As a read of graphics/ gives it. */
#define UNAVAILABLE	(-EOPNOTSUPP)

static const struct bad_case {
	const char *what;
	const char *parameters;
	long long unmapped;
	long long imported;
	long long complete;
	bool bound;
} bad_cases[] = {
	{ "what is right", "nr=3 size=4096", 3 * 4096, 0, 1, true },
	{ "nothing", "nr=0", 0, 0, 1, true },
	{ "other version", "nr=1 version=2", UNAVAILABLE, UNAVAILABLE, 1 },
	{ "short ops", "nr=1 ops_size=8", UNAVAILABLE, UNAVAILABLE, 1 },
	{ "longer ops", "nr=1 ops_size=4096 size=8192", 8192, 0, 1, true },
	{ "no ops", "nr=1 no_ops=1", UNAVAILABLE, UNAVAILABLE, 1 },
	{ "no total", "nr=1 no_total=1", UNAVAILABLE, UNAVAILABLE, 1 },
	{ "no entries", "nr=1 no_entries=1", UNAVAILABLE, UNAVAILABLE, 1 },
	{ "no name", "nr=1 name=", UNAVAILABLE, UNAVAILABLE, 1 },
	{ "endless name", "nr=1 name=0123456789abcdef", UNAVAILABLE,
	  UNAVAILABLE, 1 },
	{ "no id", "nr=1 id=0", UNAVAILABLE, UNAVAILABLE, 0, true },
	{ "unknown kind", "nr=1 kind=3", UNAVAILABLE, UNAVAILABLE, 0, true },
	{ "unknown use", "nr=1 usage=23", UNAVAILABLE, UNAVAILABLE, 0, true },
	{ "unknown flag", "nr=1 flags=64", UNAVAILABLE, UNAVAILABLE, 0, true },
	{ "more mapped than there is", "nr=1 size=4096 mapped=8192",
	  UNAVAILABLE, UNAVAILABLE, 0, true },
	{ "own memory, imported", "nr=1 flags=8", UNAVAILABLE, UNAVAILABLE, 0,
	  true },
	{ "too few importers",
	  DMABUF "nr=1 surfaces=2 images=2 importers=3", UNAVAILABLE,
	  UNAVAILABLE, 0, true },
	{ "fails at the end", "nr=3 entries_ret=-5", UNAVAILABLE, UNAVAILABLE,
	  0, true },
	{ "fails at once", "nr=0 entries_ret=-12", UNAVAILABLE, UNAVAILABLE,
	  0, true },
	{ "says that it is not there", "nr=1 entries_ret=-95", UNAVAILABLE,
	  UNAVAILABLE, 0, true },
	{ "says that it was interrupted", "nr=1 entries_ret=-4", UNAVAILABLE,
	  UNAVAILABLE, 0, true },
	{ "name with a control character", "nr=1 name=a\001b", UNAVAILABLE,
	  UNAVAILABLE, 1 },
	{ "returns a number", "nr=3 size=4096 entries_ret=7", 3 * 4096, 0, 1,
	  true },
	{ "does not listen", "nr=9 id=0 deaf=1", UNAVAILABLE, UNAVAILABLE, 0,
	  true },
	{ "too many", "nr=1048577", UNAVAILABLE, UNAVAILABLE, 0, true },
	{ "as many as may be", "nr=1048576 size=1", 1048576, 0, 1, true },
	/* As the kernel's u64 reads back; more than the row has room for. */
	{ "too much for a row", "nr=1 size=18446744073709551615", -1, 0, 0,
	  true },
	{ "too much for a sum", "nr=2 size=18446744073709551615", -1, 0, 0,
	  true },
	{ "imports", DMABUF "nr=2 size=4096 usage=18 images=2 importers=2",
	  0, 4096, 1, true },
	{ "address space", "nr=2 size=4096 flags=1", 0, 0, 1, true },
};

static long long read_value(pid_t pid, const char *file)
{
	char path[128], text[64];
	ssize_t len;

	snprintf(path, sizeof(path), NODES "processes/%d/%s", pid, file);
	len = file_read(path, text, sizeof(text));
	return len < 0 ? len : (long long)strtoull(text, NULL, 10);
}

FIXTURE(bad)
{
};

FIXTURE_SETUP(bad)
{
	const char *missing = nodes_missing();

	if (missing)
		SKIP(return, "%s", missing);
	if (access(beside_me("drivers/" BAD ".ko"), R_OK))
		SKIP(return, "drivers/" BAD ".ko (built with KDIR)");
	ASSERT_EQ(NULL, setting_set(NODES "imported_rule", "shared"));
	ASSERT_EQ(0, node_write_number("track", getpid()));
}

FIXTURE_TEARDOWN(bad)
{
	node_write_number("untrack", getpid());
	settings_restore();
}

TEST_F_TIMEOUT(bad, driver, TIMEOUT)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_cases); i++) {
		const struct bad_case *c = &bad_cases[i];

		ASSERT_EQ(0, module_load(beside_me("drivers/" BAD ".ko"),
					 c->parameters));
		EXPECT_EQ(c->bound, node_read("features/gpu_provider"));
		EXPECT_EQ(0, node_refresh(getpid()));
		EXPECT_EQ(c->unmapped,
			  read_value(getpid(), "graphics/gpumem_unmapped"));
		EXPECT_EQ(c->imported,
			  read_value(getpid(), "graphics/imported_mem"));
		EXPECT_EQ(c->complete, read_value(getpid(), "complete")) {
			TH_LOG("%s", c->what);
		}
		ASSERT_EQ(0, module_unload(BAD));
		EXPECT_EQ(0, node_read("features/gpu_provider"));
	}
}

/* Google's rule needs the number of importers. */
TEST_F_TIMEOUT(bad, importers_not_told, TIMEOUT)
{
	ASSERT_EQ(NULL, setting_set(NODES "imported_rule", "pixel"));
	ASSERT_EQ(0, module_load(beside_me("drivers/" BAD ".ko"),
				 DMABUF "nr=1 size=8192 usage=18 images=1"));
	ASSERT_EQ(0, node_refresh(getpid()));
	EXPECT_EQ(UNAVAILABLE,
		  read_value(getpid(), "graphics/imported_mem"));
	EXPECT_EQ(UNAVAILABLE,
		  read_value(getpid(), "category/egl_mtrack/pss"));
	EXPECT_EQ(8192, read_value(getpid(), "graphics/imported_size"));
	EXPECT_EQ(0, read_value(getpid(), "category/gl_mtrack/pss"));
	EXPECT_EQ(1, read_value(getpid(), "complete"));
	EXPECT_EQ(0, module_unload(BAD));
}

TEST_F_TIMEOUT(bad, total, TIMEOUT)
{
	ASSERT_EQ(0, module_load(beside_me("drivers/" BAD ".ko"),
				 "total=123456"));
	EXPECT_EQ(123456, node_read("gpu/total"));
	ASSERT_EQ(0, file_write("/sys/module/" BAD "/parameters/total_ret",
				"-5"));
	EXPECT_EQ(-EIO, node_read("gpu/total"));
	ASSERT_EQ(0, file_write("/sys/module/" BAD "/parameters/total_ret",
				"5"));
	EXPECT_EQ(123456, node_read("gpu/total"));
	EXPECT_EQ(0, module_unload(BAD));
	EXPECT_EQ(UNAVAILABLE, node_read("gpu/total"));
}

/* One that never ends: whoever reads can be killed, and memledger unloaded. */
/* For how long a process has been in the kernel, in clock ticks. */
static long long system_ticks(pid_t pid)
{
	char path[64], text[1024], *rest;
	long long ticks;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_read(path, text, sizeof(text)) < 0)
		return -1;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %lld",
			    &ticks) != 1)
		return -1;
	return ticks;
}

TEST_F_TIMEOUT(bad, endless, TIMEOUT)
{
	char path[128];
	pid_t reader;
	int status;

	ASSERT_EQ(0, module_load(beside_me("drivers/" BAD ".ko"),
				 "nr=18446744073709551615 deaf=1"));
	snprintf(path, sizeof(path), NODES "processes/%d/refresh", getpid());
	reader = fork();
	if (!reader) {
		file_write(path, "1\n");
		_exit(0);
	}
	/* Of what waits for the snapshot, as generation does, nothing ends. */
	while (system_ticks(reader) < 10) {
		ASSERT_EQ(0, waitpid(reader, &status, WNOHANG));
		usleep(10000);
	}
	ASSERT_EQ(0, kill(reader, SIGKILL));
	ASSERT_EQ(reader, waitpid(reader, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, module_unload(BAD));
}

/*
 * All at once
 */

static int storm_seconds(void)
{
	const char *text = getenv("STORM_SECONDS");

	return text ? atoi(text) : 15;
}

static void __noreturn allocate_and_free(unsigned int seed)
{
	int ids[32] = {}, fd, i, buffer, type;
	void *map;

	random_state = seed;
	for (;;) {
		fd = kgsl_open();
		buffer = pick(2) ? dmabuf_from_heap(64 * KB) :
			 dmabuf_from_memfd(64 * KB);
		for (i = 0; i < 200; i++) {
			int *id = &ids[pick(ARRAY_SIZE(ids))];

			if (*id > 0) {
				map = pick(2) ? kgsl_map(fd, *id, 64 * KB) :
				      MAP_FAILED;
				kgsl_free(fd, *id);
				if (map != MAP_FAILED)
					munmap(map, 64 * KB);
				*id = 0;
			} else if (pick(3)) {
				*id = kgsl_alloc(fd, 64 * KB, any_flags());
			} else {
				type = KGSL_TYPE_NR(any_usage());
				*id = kgsl_import_dmabuf(fd, buffer, type);
			}
		}
		memset(ids, 0, sizeof(ids));
		close(buffer);
		close(fd);
		/* An exit takes away what is left. */
		if (!pick(4) && fork())
			_exit(0);
	}
}

static void read_file(const char *fmt, pid_t pid)
{
	char path[128];

	snprintf(path, sizeof(path), fmt, pid);
	free(file_slurp(path));
}

static void __noreturn read_all(pid_t pid)
{
	for (;;) {
		node_refresh(pid);
		read_file(NODES "processes/%d/record", pid);
		read_file(NODES "processes/%d/graphics/dmabuf_pss", pid);
		read_file(DETAILS "processes/%d/gpu", pid);
		read_file(DETAILS "processes/%d/dmabuf", pid);
		node_write("dmabuf/refresh", "1\n");
		read_file(DETAILS "dmabuf", 0);
		read_file(DETAILS "gpumem", 0);
		read_file(NODES "gpu/total", 0);
	}
}

static void __noreturn take_and_give(void)
{
	for (;;) {
		if (!rebind("unbind"))
			rebind("bind");
		node_write("gpu_totals", "1\n");
		node_write("gpu_totals", "0\n");
	}
}

static void kill_group(pid_t leader)
{
	int status;

	kill(-leader, SIGKILL);
	while (waitpid(leader, &status, 0) < 0 && errno == EINTR)
		;
	/* Orphans of the group are reaped by others. */
	while (!kill(-leader, 0))
		usleep(1000);
}

TEST_F_TIMEOUT(graphics, storm, 2 * TIMEOUT)
{
	struct model *model = &self->model;
	long long before = driver_total();
	pid_t group;
	int i, e;

	if (variant->rule != MEMLEDGER_IMPORTED_SHARED)
		SKIP(return, "one rule will do");
	ASSERT_EQ(0, start(model, 0));
	e = model_alloc(model, 0, 3 * MB, KGSL_MEMTYPE_TEXTURE, 0);
	ASSERT_LE(0, e);
	group = fork();
	if (!group) {
		pid_t pid = model->process[0].pid;

		close(model->process[0].sock);
		setpgid(0, 0);
		signal(SIGCHLD, SIG_IGN);
		for (i = 0; i < 3; i++)
			if (!fork())
				allocate_and_free(i);
		for (i = 0; i < 2; i++)
			if (!fork())
				read_all(pid);
		if (!fork())
			take_and_give();
		pause();
	}
	setpgid(group, group);
	sleep(storm_seconds());
	kill_group(group);
	while (node_read("features/gpu_provider") != 1)
		rebind("bind");
	ASSERT_EQ(0, node_write("gpu_totals", "0\n"));
	EXPECT_EQ(before + 3 * (long long)MB,
		  wait_total(before + 3 * MB));
	compare(_metadata, self);
}

/* Either goes first, and comes back. */
TEST_F_TIMEOUT(graphics, unload_in_any_order, TIMEOUT)
{
	struct model *model = &self->model;
	char parameters[64];

	if (access(memledger_ko(), R_OK))
		SKIP(return, "no memledger.ko: set MEMLEDGER_KO");
	snprintf(parameters, sizeof(parameters), "imported_rule=%s shmem=%d",
		 rule_names[variant->rule], variant->shmem);

	/* memledger, then the driver; the driver first when loading. */
	settings_restore();
	ASSERT_EQ(0, module_unload("memledger"));
	ASSERT_EQ(0, start(model, 0) == -ENOENT ? 0 : -1);
	model_end(model, 0);
	ASSERT_EQ(0, module_unload(variant->module));
	ASSERT_EQ(NULL, kgsl_load(variant->module, parameters));
	ASSERT_EQ(0, module_load(memledger_ko(), ""));
	EXPECT_EQ(1, node_read("features/gpu_provider"));

	/* The driver, then memledger; memledger first when loading. */
	ASSERT_EQ(0, module_unload(variant->module));
	EXPECT_EQ(0, node_read("features/gpu_provider"));
	ASSERT_EQ(0, module_unload("memledger"));
	ASSERT_EQ(0, module_load(memledger_ko(), ""));
	ASSERT_EQ(NULL, kgsl_load(variant->module, parameters));
	EXPECT_EQ(1, node_read("features/gpu_provider"));

	ASSERT_EQ(NULL, setting_set(NODES "imported_rule",
				    rule_names[variant->rule]));
	ASSERT_EQ(0, start(model, 0));
	ASSERT_LE(0, model_alloc(model, 0, MB, KGSL_MEMTYPE_TEXTURE, 0));
	compare(_metadata, self);
}

TEST_HARNESS_MAIN
