// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the rows of a process to the text of dumpsys meminfo, column by column
 * and with its trailing blanks, so that what reads that text reads ours.
 */
#include <memledger/summary.h>

#define KB_SHIFT	10

/* The order of the rows between the heaps and Unknown. */
#define FIRST_OTHER	MEMLEDGER_CAT_DALVIK_OTHER
#define LAST_OTHER	MEMLEDGER_CAT_MEMFD

/* What every row needs to know about the table. */
struct table {
	struct memledger_out *out;
	bool full;		/* with the columns of -a */
	bool swap_pss;		/* the swap column shows SwapPss */
};

static u64 swap_column(const struct table *table,
		       const struct memledger_usage *row)
{
	return table->swap_pss ? row->swap_pss_floor : row->swap;
}

/* heap is what stands in the columns Heap Size, Heap Alloc and Heap Free. */
static void print_row(const struct table *table, const char *label,
		      const struct memledger_usage *row, u64 pss,
		      const char *heap)
{
	memledger_print(table->out, "%13s %8llu", label, pss >> KB_SHIFT);
	if (table->full)
		memledger_print(table->out, " %8llu %8llu %8llu %8llu",
				row->swappable_pss >> KB_SHIFT,
				row->shared_dirty >> KB_SHIFT,
				row->private_dirty >> KB_SHIFT,
				row->shared_clean >> KB_SHIFT);
	else
		memledger_print(table->out, " %8llu",
				row->private_dirty >> KB_SHIFT);
	memledger_print(table->out, " %8llu %8llu %8llu %8s %8s %8s\n",
			row->private_clean >> KB_SHIFT,
			swap_column(table, row) >> KB_SHIFT,
			row->rss >> KB_SHIFT, heap, heap, heap);
}

static bool row_is_empty(const struct table *table,
			 const struct memledger_usage *row, bool with_rss)
{
	u64 any = row->pss_floor | row->shared_dirty | row->private_dirty |
		  row->shared_clean | row->private_clean |
		  swap_column(table, row);

	/* In kB, as it is printed. */
	return !((with_rss ? any | row->rss : any) >> KB_SHIFT);
}

static void print_headings(const struct table *table)
{
	const char *swap = table->swap_pss ? "SwapPss" : "Swap";
	const char *dash = "------";

	if (table->full) {
		memledger_print(table->out,
				"%13s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n",
				"", "Pss", "Pss", "Shared", "Private",
				"Shared", "Private", swap, "Rss", "Heap",
				"Heap", "Heap");
		memledger_print(table->out,
				"%13s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n",
				"", "Total", "Clean", "Dirty", "Dirty",
				"Clean", "Clean", "Dirty", "Total", "Size",
				"Alloc", "Free");
		memledger_print(table->out,
				"%13s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n",
				"", dash, dash, dash, dash, dash, dash, dash,
				dash, dash, dash, dash);
		return;
	}
	memledger_print(table->out, "%13s %8s %8s %8s %8s %8s %8s %8s %8s\n",
			"", "Pss", "Private", "Private", swap, "Rss", "Heap",
			"Heap", "Heap");
	memledger_print(table->out, "%13s %8s %8s %8s %8s %8s %8s %8s %8s\n",
			"", "Total", "Dirty", "Clean", "Dirty", "Total",
			"Size", "Alloc", "Free");
	memledger_print(table->out, "%13s %8s %8s %8s %8s %8s %8s %8s %8s\n",
			"", dash, dash, dash, dash, dash, dash, dash, dash);
}

static void print_rows(const struct table *table,
		       const struct memledger_totals *totals)
{
	const struct memledger_usage *row = totals->category;
	unsigned int i;

	print_row(table, "Native Heap", &row[MEMLEDGER_CAT_NATIVE_HEAP],
		  row[MEMLEDGER_CAT_NATIVE_HEAP].pss_floor, "0");
	print_row(table, "Dalvik Heap", &row[MEMLEDGER_CAT_DALVIK_HEAP],
		  row[MEMLEDGER_CAT_DALVIK_HEAP].pss_floor, "0");
	for (i = FIRST_OTHER; i <= LAST_OTHER; i++)
		if (!row_is_empty(table, &row[i], true))
			print_row(table, memledger_category_labels[i], &row[i],
				  row[i].pss_floor, "");
	print_row(table, "Unknown", &row[MEMLEDGER_CAT_UNKNOWN],
		  row[MEMLEDGER_CAT_UNKNOWN].pss_floor, "");
	/* Only here does PSS include SwapPss. */
	print_row(table, "TOTAL", &totals->total,
		  totals->total.pss_floor + totals->total.swap_pss_floor, "0");
}

static void print_dalvik_details(const struct table *table,
				 const struct memledger_totals *totals,
				 const struct memledger_profile *profile)
{
	const struct memledger_usage *sub = totals->subcategory;
	unsigned int i;

	memledger_print(table->out, "%1s\n Dalvik Details\n", "");
	for (i = 0; i < NR_MEMLEDGER_SUBCATEGORIES; i++) {
		const char *label = memledger_subcategory_labels[i];

		if (i == MEMLEDGER_SUB_APP_JIT)
			label = profile->app_jit_label;
		if (!row_is_empty(table, &sub[i], false))
			print_row(table, label, &sub[i], sub[i].pss_floor, "");
	}
}

/* Exact: every sum is of whole kB, so that a shift does for a division. */
static s64 kb(s64 bytes)
{
	return bytes >> KB_SHIFT;
}

static void print_summary(const struct table *table,
			  const struct memledger_totals *totals,
			  const struct memledger_profile *profile)
{
	struct memledger_out *out = table->out;
	struct memledger_summary s;

	memledger_summary_compute(&s, totals, profile);

	memledger_print(out, "%1s\n App Summary\n", "");
	memledger_print(out, "%21s %8s %21s %8s\n", "", "Pss(KB)", "",
			"Rss(KB)");
	memledger_print(out, "%21s %8s %21s %8s\n", "", "------", "",
			"------");
	memledger_print(out, "%21s %8lld %21s %8lld\n", "Java Heap:",
			kb(s.java_heap), "", kb(s.java_heap_rss));
	memledger_print(out, "%21s %8lld %21s %8lld\n", "Native Heap:",
			kb(s.native_heap), "", kb(s.native_heap_rss));
	memledger_print(out, "%21s %8lld %21s %8lld\n", "Code:",
			kb(s.code), "", kb(s.code_rss));
	memledger_print(out, "%21s %8lld %21s %8lld\n", "Stack:",
			kb(s.stack), "", kb(s.stack_rss));
	memledger_print(out, "%21s %8lld %21s %8lld\n", "Graphics:",
			kb(s.graphics), "", kb(s.graphics_rss));
	memledger_print(out, "%21s %8lld\n", "Private Other:",
			kb(s.private_other));
	memledger_print(out, "%21s %8lld\n", "System:", kb(s.system));
	memledger_print(out, "%21s %8s %21s %8lld\n", "Unknown:", "", "",
			kb(s.unknown_rss));
	memledger_print(out, "%1s\n%21s %8lld %21s %8lld %21s %8lld\n", "",
			"TOTAL PSS:", kb(s.total_pss),
			"TOTAL RSS:", kb(s.total_rss),
			table->swap_pss ? "TOTAL SWAP PSS:" :
					  "TOTAL SWAP (KB):",
			kb(table->swap_pss ? s.total_swap_pss : s.total_swap));
}

/**
 * memledger_table_print - print what dumpsys meminfo prints for one process
 * @out: where to
 * @totals: the process's rows
 * @profile: the release whose rows they are
 * @pid: its number, or negative for a saved text, which has none
 * @comm: its name, or the text's; printed as it is, so the caller has to make
 *	it harmless
 * @flags: MEMLEDGER_TABLE_*
 *
 * kB. As with dumpsys, the swap column and the summary's last number are of
 * SwapPss only where there is any, else of Swap. Heap Size, Alloc and Free are
 * the allocator's own figures, which nobody outside the process knows: they
 * are 0, as dumpsys has it for native processes.
 */
void memledger_table_print(struct memledger_out *out,
			   const struct memledger_totals *totals,
			   const struct memledger_profile *profile,
			   s32 pid, const char *comm, unsigned int flags)
{
	struct table table = {
		.out = out,
		.full = flags & MEMLEDGER_TABLE_FULL,
		.swap_pss = totals->total.swap_pss_floor,
	};

	if (pid < 0)
		memledger_print(out, "\n** MEMINFO in %s **\n", comm);
	else
		memledger_print(out, "\n** MEMINFO in pid %d [%s] **\n", pid,
				comm);

	if (!(flags & MEMLEDGER_TABLE_SUMMARY_ONLY)) {
		print_headings(&table);
		print_rows(&table, totals);
		if (flags & MEMLEDGER_TABLE_DALVIK)
			print_dalvik_details(&table, totals, profile);
	}
	print_summary(&table, totals, profile);
}
