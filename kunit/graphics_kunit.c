// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a GPU driver's records are worth, how imports are divided, and what
 * becomes of the sums.
 */
#include <kunit/test.h>

#include "../module/lib/graphics.c"

#define MB	0x100000ULL

#define SURFACE	MEMLEDGER_GPU_EGL_SURFACE
#define IMAGE	MEMLEDGER_GPU_EGL_IMAGE
#define ANY	MEMLEDGER_GPU_ANY

#define UNKNOWN	U64_MAX

/* A buffer of 12 MB. */
static const struct share_case {
	const char *name;
	u16 usage;
	u32 flags;
	u32 surfaces;
	u32 images;
	u32 importers;
	u64 share[NR_MEMLEDGER_IMPORTED_RULES];
} share_cases[] = {
	{ "a surface alone", SURFACE, 0, 1, 0, 1,
	  { 12 * MB, 12 * MB, 12 * MB } },
	{ "a surface that is an image elsewhere", SURFACE, 0, 1, 1, 2,
	  { 12 * MB, 6 * MB, 12 * MB } },
	{ "that image", IMAGE, 0, 1, 1, 2, { 0, 6 * MB, 0 } },
	{ "two surfaces", SURFACE, 0, 2, 0, 2,
	  { 12 * MB, 6 * MB, 6 * MB } },
	{ "an image alone", IMAGE, 0, 0, 1, 1,
	  { 12 * MB, 12 * MB, 12 * MB } },
	{ "three images", IMAGE, 0, 0, 3, 3,
	  { 4 * MB, 4 * MB, 4 * MB } },
	{ "an image among other imports", IMAGE, 0, 0, 1, 4,
	  { 12 * MB, 12 * MB, 3 * MB } },
	{ "no type, alone", ANY, 0, 0, 0, 1,
	  { 12 * MB, 12 * MB, 12 * MB } },
	{ "no type, one of two", ANY, 0, 0, 0, 2,
	  { 12 * MB, 12 * MB, 12 * MB } },
	{ "no type, one of three, and it allocated", ANY,
	  MEMLEDGER_GPU_ALLOCATOR, 0, 0, 3, { 12 * MB, 12 * MB, 0 } },
	{ "no type, one of three, and it did not", ANY, 0, 0, 0, 3,
	  { 12 * MB, 12 * MB, 6 * MB } },
	{ "no type, one of three, with an image", ANY, 0, 0, 1, 3,
	  { 12 * MB, 12 * MB, 6 * MB } },
	{ "no type beside a surface", ANY, 0, 1, 0, 2,
	  { 0, 12 * MB, 0 } },
	{ "a texture, one of three", MEMLEDGER_GPU_TEXTURE,
	  MEMLEDGER_GPU_ALLOCATOR, 0, 0, 3, { 12 * MB, 12 * MB, 4 * MB } },
	{ "an image, importers not told", IMAGE, 0, 0, 2, 0,
	  { 6 * MB, 6 * MB, UNKNOWN } },
	{ "a surface, importers not told", SURFACE, 0, 3, 0, 0,
	  { 12 * MB, 4 * MB, 4 * MB } },
	{ "more than a u32 of them", IMAGE, 0, U32_MAX, U32_MAX, 0,
	  { 0, 0, 0 } },
};

static void share_desc(const struct share_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(share, share_cases, share_desc);

static void share_test(struct kunit *test)
{
	const struct share_case *c = test->param_value;
	const struct memledger_gpu_entry entry = {
		.id = 1,
		.size = 12 * MB,
		.kind = MEMLEDGER_GPU_DMABUF,
		.usage = c->usage,
		.flags = c->flags | MEMLEDGER_GPU_IMPORTED,
		.surfaces = c->surfaces,
		.images = c->images,
		.importers = c->importers,
	};
	unsigned int rule;
	u64 share;

	for (rule = 0; rule < NR_MEMLEDGER_IMPORTED_RULES; rule++) {
		if (!memledger_imported_share(rule, &entry, &share))
			share = UNKNOWN;
		KUNIT_EXPECT_EQ_MSG(test, share, c->share[rule], "%s",
				    memledger_imported_rule_names[rule]);
	}
	KUNIT_EXPECT_FALSE(test,
			   memledger_imported_share(NR_MEMLEDGER_IMPORTED_RULES,
						    &entry, &share));
}

#define DRIVER	.id = 1, .kind = MEMLEDGER_GPU_DRIVER
#define DMABUF	.id = 1, .kind = MEMLEDGER_GPU_DMABUF,	\
		.flags = MEMLEDGER_GPU_IMPORTED
#define USER	.id = 1, .kind = MEMLEDGER_GPU_USER,	\
		.flags = MEMLEDGER_GPU_IMPORTED | MEMLEDGER_GPU_IN_RSS

static const struct valid_case {
	const char *name;
	bool valid;
	struct memledger_gpu_entry entry;
} valid_cases[] = {
	{ "driver", true, { DRIVER, .size = 8192, .mapped = 8192 } },
	{ "user", true, { USER, .size = 8192 } },
	{ "dmabuf", true, { DMABUF, .size = 8192, .importers = 2,
			    .surfaces = 1, .images = 1 } },
	{ "importers not told", true, { DMABUF, .surfaces = 1, .images = 1 } },
	{ "empty", true, { DRIVER } },
	{ "no id", false, { .kind = MEMLEDGER_GPU_DRIVER } },
	{ "more mapped than there is", false,
	  { DRIVER, .size = 4096, .mapped = 4097 } },
	{ "unknown kind", false,
	  { .id = 1, .kind = NR_MEMLEDGER_GPU_KINDS,
	    .flags = MEMLEDGER_GPU_IMPORTED } },
	{ "unknown usage", false, { DRIVER, .usage = NR_MEMLEDGER_GPU_USAGES } },
	{ "unknown flag", false, { DRIVER, .flags = BIT(31) } },
	{ "driver's own, imported", false,
	  { DRIVER, .flags = MEMLEDGER_GPU_IMPORTED } },
	{ "dmabuf, not imported", false,
	  { .id = 1, .kind = MEMLEDGER_GPU_DMABUF } },
	{ "addresses only, of the process", false,
	  { .id = 1, .kind = MEMLEDGER_GPU_USER,
	    .flags = MEMLEDGER_GPU_IMPORTED | MEMLEDGER_GPU_VIRTUAL } },
	{ "addresses only, of a dmabuf", false,
	  { .id = 1, .kind = MEMLEDGER_GPU_DMABUF,
	    .flags = MEMLEDGER_GPU_IMPORTED | MEMLEDGER_GPU_VIRTUAL } },
	{ "fewer importers than types", false,
	  { DMABUF, .surfaces = 2, .images = 1, .importers = 2 } },
};

static void valid_desc(const struct valid_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(valid, valid_cases, valid_desc);

static void valid_test(struct kunit *test)
{
	const struct valid_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, memledger_gpu_entry_valid(&c->entry), c->valid);
}

/* One of each kind, and what they add up to. */
static void sums_test(struct kunit *test)
{
	static const struct memledger_gpu_entry entries[] = {
		{ DRIVER, .size = 3 * MB, .mapped = 3 * MB,
		  .flags = MEMLEDGER_GPU_IN_RSS,
		  .usage = MEMLEDGER_GPU_TEXTURE },
		{ DRIVER, .size = 2 * MB, .usage = MEMLEDGER_GPU_TEXTURE },
		{ DRIVER, .size = 5 * MB, .mapped = 5 * MB,
		  .usage = MEMLEDGER_GPU_COMMAND },
		{ DRIVER, .size = 7 * MB, .flags = MEMLEDGER_GPU_SECURE },
		{ DRIVER, .size = MB, .flags = MEMLEDGER_GPU_RECLAIMED },
		{ DRIVER, .size = 64 * MB, .flags = MEMLEDGER_GPU_VIRTUAL,
		  .usage = MEMLEDGER_GPU_TEXTURE },
		{ USER, .size = 4 * MB, .usage = MEMLEDGER_GPU_CL },
		{ DMABUF, .size = 12 * MB, .usage = SURFACE, .surfaces = 1 },
		{ DMABUF, .size = 6 * MB, .usage = IMAGE, .images = 2 },
	};
	struct memledger_graphics graphics = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		KUNIT_EXPECT_TRUE(test, memledger_gpu_entry_valid(&entries[i]));
		KUNIT_EXPECT_EQ(test, 0,
				memledger_graphics_add(&graphics,
						       MEMLEDGER_IMPORTED_SHARED,
						       &entries[i]));
	}
	KUNIT_EXPECT_EQ(test, graphics.gpumem_mapped, 8 * MB);
	KUNIT_EXPECT_EQ(test, graphics.gpumem_unmapped, 10 * MB);
	KUNIT_EXPECT_EQ(test, graphics.gpumem_unaccounted, 15 * MB);
	KUNIT_EXPECT_EQ(test, graphics.gpumem_secure, 7 * MB);
	KUNIT_EXPECT_EQ(test, graphics.gpumem_reclaimed, MB);
	KUNIT_EXPECT_EQ(test, graphics.usermem, 4 * MB);
	KUNIT_EXPECT_EQ(test, graphics.imported_size, 18 * MB);
	KUNIT_EXPECT_EQ(test, graphics.imported_mem, 15 * MB);
	KUNIT_EXPECT_EQ(test, graphics.egl_surface_count, 1);
	KUNIT_EXPECT_EQ(test, graphics.egl_image_count, 1);
	KUNIT_EXPECT_EQ(test, graphics.entries, 8);
	KUNIT_EXPECT_EQ(test, graphics.usage[MEMLEDGER_GPU_TEXTURE], 5 * MB);
	KUNIT_EXPECT_EQ(test, graphics.usage[MEMLEDGER_GPU_COMMAND], 5 * MB);
	KUNIT_EXPECT_EQ(test, graphics.usage[MEMLEDGER_GPU_ANY], 8 * MB);
	KUNIT_EXPECT_EQ(test, graphics.usage[MEMLEDGER_GPU_CL], 4 * MB);
	KUNIT_EXPECT_EQ(test, graphics.usage[SURFACE], 12 * MB);
	KUNIT_EXPECT_EQ(test, graphics.usage[IMAGE], 6 * MB);
}

/* One that is too large, and of which the driver does not tell enough. */
static void unknown_and_too_large_test(struct kunit *test)
{
	static const struct memledger_gpu_entry surface = {
		DMABUF, .size = BIT_ULL(63), .usage = SURFACE, .surfaces = 1,
	}, image = {
		DMABUF, .size = BIT_ULL(63), .usage = IMAGE,
	};
	struct memledger_graphics graphics = {};

	KUNIT_EXPECT_EQ(test, 0,
			memledger_graphics_add(&graphics,
					       MEMLEDGER_IMPORTED_PIXEL,
					       &surface));
	KUNIT_EXPECT_EQ(test,
			MEMLEDGER_GRAPHICS_OVERFLOW | MEMLEDGER_GRAPHICS_UNKNOWN,
			memledger_graphics_add(&graphics,
					       MEMLEDGER_IMPORTED_PIXEL,
					       &image));
	KUNIT_EXPECT_EQ(test, graphics.imported_size, U64_MAX);
	KUNIT_EXPECT_EQ(test, graphics.imported_mem, BIT_ULL(63));
}

static void saturates_test(struct kunit *test)
{
	static const struct memledger_gpu_entry most = {
		DRIVER, .size = U64_MAX,
	}, one = {
		DRIVER, .size = 1,
	};
	struct memledger_graphics graphics = {};
	struct memledger_totals *totals;
	const struct memledger_usage *row;

	KUNIT_EXPECT_EQ(test, 0, memledger_graphics_add(&graphics, 0, &most));
	KUNIT_EXPECT_EQ(test, MEMLEDGER_GRAPHICS_OVERFLOW,
			memledger_graphics_add(&graphics, 0, &one));
	KUNIT_EXPECT_EQ(test, graphics.gpumem_unmapped, U64_MAX);
	KUNIT_EXPECT_EQ(test, graphics.usage[MEMLEDGER_GPU_ANY], U64_MAX);
	KUNIT_EXPECT_EQ(test, graphics.gpumem_mapped, 0);
	KUNIT_EXPECT_EQ(test, graphics.entries, 2);

	totals = kunit_kzalloc(test, sizeof(*totals), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, totals);
	KUNIT_EXPECT_EQ(test, -EOVERFLOW,
			memledger_totals_add_mtrack(totals, &graphics));
	row = &totals->category[MEMLEDGER_CAT_GL_MTRACK];
	KUNIT_EXPECT_EQ(test, row->pss >> MEMLEDGER_PSS_SHIFT, MAX_BYTES);
	KUNIT_EXPECT_EQ(test, row->rss, MAX_BYTES & ~1023ULL);
}

static void unknown_importers_test(struct kunit *test)
{
	static const struct memledger_gpu_entry image = {
		DMABUF, .size = MB, .usage = IMAGE, .images = 1,
	};
	struct memledger_graphics graphics = {};

	KUNIT_EXPECT_EQ(test, MEMLEDGER_GRAPHICS_UNKNOWN,
			memledger_graphics_add(&graphics,
					       MEMLEDGER_IMPORTED_PIXEL,
					       &image));
	KUNIT_EXPECT_EQ(test, graphics.imported_size, MB);
	KUNIT_EXPECT_EQ(test, graphics.imported_mem, 0);
	KUNIT_EXPECT_EQ(test, graphics.egl_image_count, 1);
}

/* What Android writes to which columns, in kB of what the HAL says. */
static void mtrack_test(struct kunit *test)
{
	const struct memledger_graphics graphics = {
		.imported_mem = 3 * MB + 1023,
		.gpumem_unmapped = 5 * MB,
		.gpumem_mapped = 7 * MB,
	};
	struct memledger_usage egl = {
		.pss = (3 * MB + 1023) << MEMLEDGER_PSS_SHIFT,
		.pss_floor = 3 * MB,
		.rss = 3 * MB,
		.private_dirty = 3 * MB,
	}, gl = {
		.pss = 5 * MB << MEMLEDGER_PSS_SHIFT,
		.pss_floor = 5 * MB,
		.rss = 5 * MB,
		.private_dirty = 5 * MB,
	}, total = {
		.pss = (8 * MB + 1023 + 100) << MEMLEDGER_PSS_SHIFT,
		.pss_floor = 8 * MB,
		.rss = 8 * MB + 4096,
		.private_dirty = 8 * MB,
		.vmas = 1,
	}, none = {};
	struct memledger_totals *totals;
	const struct memledger_usage *rows;

	totals = kunit_kzalloc(test, sizeof(*totals), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, totals);
	totals->total.pss = 100 << MEMLEDGER_PSS_SHIFT;
	totals->total.rss = 4096;
	totals->total.vmas = 1;
	KUNIT_EXPECT_EQ(test, 0, memledger_totals_add_mtrack(totals, &graphics));
	rows = totals->category;
	KUNIT_EXPECT_EQ(test, 0, memcmp(&rows[MEMLEDGER_CAT_EGL_MTRACK], &egl,
					sizeof(egl)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&rows[MEMLEDGER_CAT_GL_MTRACK], &gl,
					sizeof(gl)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&rows[MEMLEDGER_CAT_OTHER_MTRACK],
					&none, sizeof(none)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(&totals->total, &total,
					sizeof(total)));
}

static void total_test(struct kunit *test)
{
	struct memledger_graphics graphics = {
		.gpumem_mapped = 16 * MB,
		.gpumem_unmapped = 32 * MB,
		.gpumem_unaccounted = 40 * MB,
		.usermem = 64 * MB,
		.imported_mem = 128 * MB,
	};
	struct memledger_totals *totals;

	totals = kunit_kzalloc(test, sizeof(*totals), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, totals);
	totals->category[MEMLEDGER_CAT_GFX_DEV].pss =
		(8 * MB << MEMLEDGER_PSS_SHIFT) + 1;
	totals->category[MEMLEDGER_CAT_OTHER_DEV].pss =
		2 * MB << MEMLEDGER_PSS_SHIFT;
	KUNIT_EXPECT_EQ(test, 8 * MB + MB + 40 * MB,
			memledger_graphics_total(totals, &graphics,
						 MB << MEMLEDGER_PSS_SHIFT));
	graphics.gpumem_unaccounted = U64_MAX - 1;
	KUNIT_EXPECT_EQ(test, U64_MAX,
			memledger_graphics_total(totals, &graphics, 0));
}

static const struct device_case {
	const char *name;
	bool device;
} device_cases[] = {
	{ "/dev/mali0", true },
	{ "/dev/mali", true },
	{ "/dev/dri/renderD128", true },
	{ "/dev/dri", false },
	{ "/dev/pvrsrvkm", true },
	{ "/dev/kgsl-3d0", false },
	{ "/dev/zero", false },
	{ "/tmp/dev/mali0", false },
	{ "", false },
};

static void device_desc(const struct device_case *c, char *desc)
{
	strscpy(desc, *c->name ? c->name : "no name", KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(device, device_cases, device_desc);

static void device_test(struct kunit *test)
{
	const struct device_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, c->device,
			memledger_graphics_is_device(c->name,
						     strlen(c->name)));
}

static struct kunit_case graphics_cases[] = {
	KUNIT_CASE_PARAM(share_test, share_gen_params),
	KUNIT_CASE_PARAM(valid_test, valid_gen_params),
	KUNIT_CASE_PARAM(device_test, device_gen_params),
	KUNIT_CASE(sums_test),
	KUNIT_CASE(unknown_and_too_large_test),
	KUNIT_CASE(saturates_test),
	KUNIT_CASE(unknown_importers_test),
	KUNIT_CASE(mtrack_test),
	KUNIT_CASE(total_test),
	{}
};

static struct kunit_suite graphics_suite = {
	.name = "memledger_graphics",
	.test_cases = graphics_cases,
};

kunit_test_suite(graphics_suite);
