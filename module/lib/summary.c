// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the rows of a process to Android's App Summary.
 */
#include <memledger/summary.h>

/* What Code is made of, apart from the JIT caches. */
static const u8 code_categories[] = {
	MEMLEDGER_CAT_SO_MMAP, MEMLEDGER_CAT_JAR_MMAP, MEMLEDGER_CAT_APK_MMAP,
	MEMLEDGER_CAT_TTF_MMAP, MEMLEDGER_CAT_DEX_MMAP, MEMLEDGER_CAT_OAT_MMAP,
};

static const u8 graphics_categories[] = {
	MEMLEDGER_CAT_GFX_DEV, MEMLEDGER_CAT_EGL_MTRACK,
	MEMLEDGER_CAT_GL_MTRACK,
};

static void add_row(s64 *private, s64 *rss, const struct memledger_usage *row)
{
	*private += memledger_usage_uss(row);
	*rss += row->rss;
}

/**
 * memledger_summary_compute - make the App Summary of a process
 * @summary: what to fill
 * @totals: its rows
 * @profile: the release whose rows they are
 *
 * Where SwapPss is unavailable, and so 0 in @totals, total_pss and system are
 * without it, and total_swap_pss means nothing.
 */
void memledger_summary_compute(struct memledger_summary *summary,
			       const struct memledger_totals *totals,
			       const struct memledger_profile *profile)
{
	const struct memledger_usage *row = totals->category;
	const struct memledger_usage *sub = totals->subcategory;
	const struct memledger_usage *total = &totals->total;
	struct memledger_summary s = {};
	s64 private = memledger_usage_uss(total);
	unsigned int i;

	/* Clean private pages of the heap are in no row but Private Other. */
	s.java_heap = row[MEMLEDGER_CAT_DALVIK_HEAP].private_dirty +
		      memledger_usage_uss(&row[MEMLEDGER_CAT_ART_MMAP]);
	s.java_heap_rss = row[MEMLEDGER_CAT_DALVIK_HEAP].rss +
			  row[MEMLEDGER_CAT_ART_MMAP].rss;
	s.native_heap = row[MEMLEDGER_CAT_NATIVE_HEAP].private_dirty;
	s.native_heap_rss = row[MEMLEDGER_CAT_NATIVE_HEAP].rss;
	for (i = 0; i < ARRAY_SIZE(code_categories); i++)
		add_row(&s.code, &s.code_rss, &row[code_categories[i]]);
	if (profile->flags & MEMLEDGER_PROFILE_JIT_IS_CODE) {
		add_row(&s.code, &s.code_rss,
			&sub[MEMLEDGER_SUB_ZYGOTE_JIT]);
		add_row(&s.code, &s.code_rss, &sub[MEMLEDGER_SUB_APP_JIT]);
	}
	s.stack = row[MEMLEDGER_CAT_STACK].private_dirty;
	s.stack_rss = row[MEMLEDGER_CAT_STACK].rss;
	for (i = 0; i < ARRAY_SIZE(graphics_categories); i++)
		add_row(&s.graphics, &s.graphics_rss,
			&row[graphics_categories[i]]);

	s.total_pss = total->pss_floor + total->swap_pss_floor;
	s.total_rss = total->rss;
	s.total_swap = total->swap;
	s.total_swap_pss = total->swap_pss_floor;
	s.private_other = private - s.java_heap - s.native_heap - s.code -
			  s.stack - s.graphics;
	s.system = s.total_pss - private;
	s.unknown_rss = s.total_rss - s.java_heap_rss - s.native_heap_rss -
			s.code_rss - s.stack_rss - s.graphics_rss;

	*summary = s;
}
