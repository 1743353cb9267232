// SPDX-License-Identifier: GPL-2.0-only
/*
 * For every layout: a process is brought into that state and stopped, and then
 * every field of every mapping, and every sum, must be what the kernel's own
 * smaps says, and what the tool makes of that smaps.
 */
#include <stdlib.h>

#include "compare.h"
#include "layout.h"
#include "testlib.h"

#include "kselftest_harness.h"

FIXTURE(layout)
{
	pid_t pid;
};

FIXTURE_VARIANT(layout)
{
	const struct layout *layout;
};

/* A variant's data, and what the harness keeps of it. */
struct row {
	FIXTURE_VARIANT(layout) data;
	struct __fixture_variant_metadata variant;
};

/* The variants are the rows of the tables. */
static void __attribute__((constructor)) register_layouts(void)
{
	for (int t = 0; layout_tables[t]; t++) {
		const struct layout *layout = layout_tables[t];

		for (; layout->name; layout++) {
			struct row *row = calloc(1, sizeof(*row));

			if (!row)
				abort();
			row->data.layout = layout;
			row->variant.name = layout->name;
			row->variant.data = &row->data;
			__register_fixture_variant(&_layout_fixture_object,
						   &row->variant);
		}
	}
}

FIXTURE_SETUP(layout)
{
	const char *why = nodes_missing();

	self->pid = -1;
	if (!why)
		why = layout_prepare(variant->layout);
	/* Only the comparison's own refresh takes a snapshot. */
	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (!why)
		why = setting_set(NODES "slice_entries", "2048");
	if (why) {
		layout_clean();
		SKIP(return, "%s", why);
	}
}

FIXTURE_TEARDOWN(layout)
{
	if (self->pid > 0) {
		node_write_number("untrack", self->pid);
		end_process(self->pid);
	}
	layout_clean();
}

TEST_F_TIMEOUT(layout, equals_smaps, TIMEOUT)
{
	/* What is counted must not depend on where the lock is dropped. */
	static const int slices[] = { 2048, 1, 7 };
	const struct layout *layout = variant->layout;
	int nr = layout->once ? 1 : ARRAY_SIZE(slices);
	struct layout_report report;
	struct vma_list smaps;
	const char *unmet;

	self->pid = layout_start(layout, &report);
	ASSERT_GT(self->pid, 0);
	if (report.status == KSFT_SKIP)
		SKIP(return, "%s", report.text);
	ASSERT_EQ(report.status, KSFT_PASS)
		TH_LOG("%s", report.text);
	ASSERT_EQ(node_write_number("track", self->pid), 0);

	for (int i = 0; i < nr; i++) {
		ASSERT_EQ(node_write_number("slice_entries", slices[i]), 0);
		ASSERT_EQ(compare_process(self->pid, layout->files, &smaps), 0)
			TH_LOG("slice_entries %d", slices[i]);
		unmet = layout_unmet(layout, &report, &smaps);
		if (!unmet && layout->check)
			unmet = layout->check(self->pid, &smaps);
		vmas_free(&smaps);
		ASSERT_EQ(unmet, NULL)
			TH_LOG("%s", unmet);
	}
	if (compare_has_tool())
		ASSERT_EQ(compare_tool(self->pid), 0);
}

/* So that nobody thinks it took part. */
TEST(tool_is_here)
{
	if (!compare_has_tool())
		SKIP(return, "no memledger in PATH: it was not compared");
}

TEST_HARNESS_MAIN
