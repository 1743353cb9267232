// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arithmetic only: pages in, the smaps fields of their VMA out; VMAs in, the
 * rows of dumpsys meminfo out.
 */
#include <memledger/account.h>

#define KB_SHIFT	10

/* A page's or swap slot's share, in bytes << MEMLEDGER_PSS_SHIFT. */
static u64 pss_share(u64 bytes, u32 sharers)
{
	u64 pss = bytes << MEMLEDGER_PSS_SHIFT;

	return sharers > 1 ? div64_u64(pss, sharers) : pss;
}

/**
 * memledger_account_alike - add resident pages that are alike to their VMA
 * @usage: the VMA's numbers
 * @bytes: of all of them
 * @pss: their share, bytes << MEMLEDGER_PSS_SHIFT
 * @flags: MEMLEDGER_ENTRY_*
 */
void memledger_account_alike(struct memledger_vma_usage *usage, u64 bytes,
			     u64 pss, u32 flags)
{
	bool dirty = flags & MEMLEDGER_ENTRY_DIRTY;

	usage->rss += bytes;
	usage->pss += pss;
	if (dirty)
		usage->pss_dirty += pss;

	if (flags & MEMLEDGER_ENTRY_PRIVATE) {
		if (dirty)
			usage->private_dirty += bytes;
		else
			usage->private_clean += bytes;
	} else {
		if (dirty)
			usage->shared_dirty += bytes;
		else
			usage->shared_clean += bytes;
	}

	if (flags & MEMLEDGER_ENTRY_ANON)
		usage->anonymous += bytes;
	if (flags & MEMLEDGER_ENTRY_KSM)
		usage->ksm += bytes;
	if (flags & MEMLEDGER_ENTRY_LAZYFREE)
		usage->lazyfree += bytes;
	if (flags & MEMLEDGER_ENTRY_LOCKED)
		usage->locked += pss;
}

/**
 * memledger_account_resident - add resident pages to their VMA
 * @usage: the VMA's numbers
 * @entry: the facts about the pages
 *
 * A page's share is rounded down to 1/4096 byte on its own, before the pages
 * of @entry are added, since that is what smaps does.
 */
void memledger_account_resident(struct memledger_vma_usage *usage,
				const struct memledger_entry *entry)
{
	u64 pss = pss_share(entry->bytes, entry->mapcount);

	memledger_account_alike(usage, entry->bytes * entry->nr,
				pss * entry->nr, entry->flags);
}

/**
 * memledger_account_tally - add counted pages to their VMA
 * @usage: the VMA's numbers
 * @tally: the pages; empty on return
 * @page_size: bytes
 * @flags: facts that hold for all of them
 */
void memledger_account_tally(struct memledger_vma_usage *usage,
			     struct memledger_tally *tally, u64 page_size,
			     u32 flags)
{
	for (; tally->used; tally->used &= tally->used - 1) {
		u32 facts = __builtin_ctz(tally->used);
		u64 bytes = tally->nr[facts] * page_size;

		memledger_account_alike(usage, bytes,
					(bytes << MEMLEDGER_PSS_SHIFT) -
					tally->others[facts], facts | flags);
		tally->nr[facts] = 0;
		tally->others[facts] = 0;
	}
}

/**
 * memledger_account_swap - add what is swapped out to its VMA
 * @usage: the VMA's numbers
 * @bytes: size of what is swapped out
 * @swapcount: how many share it; 0 if unknown: adds nothing to SwapPss then
 */
void memledger_account_swap(struct memledger_vma_usage *usage, u64 bytes,
			    u32 swapcount)
{
	usage->swap += bytes;
	if (swapcount)
		usage->swap_pss += pss_share(bytes, swapcount);
}

/*
 * Android's swappable PSS of one VMA, in bytes. It means to add the clean
 * share of what is shared, but divides integers (in kB), so that the quotient
 * is 0 unless pages that smaps calls shared are in truth not shared.
 */
static u64 swappable_pss(const struct memledger_vma_usage *vma)
{
	u64 pss = memledger_pss_floor(vma->pss) >> KB_SHIFT;
	u64 clean = vma->private_clean >> KB_SHIFT;
	u64 uss = clean + (vma->private_dirty >> KB_SHIFT);
	u64 shared_clean = vma->shared_clean >> KB_SHIFT;
	u64 shared = shared_clean + (vma->shared_dirty >> KB_SHIFT);
	u64 quotient = 0;

	if (!pss)
		return 0;
	/* pss < uss is no smaps of a kernel; Android would wrap around. */
	if (shared && pss > uss)
		quotient = div64_u64(pss - uss, shared);
	return (quotient * shared_clean + clean) << KB_SHIFT;
}

/**
 * memledger_usage_add - add a VMA to a row
 * @usage: the row
 * @vma: the VMA's numbers
 * @swappable: whether the rule that placed it says so
 */
void memledger_usage_add(struct memledger_usage *usage,
			 const struct memledger_vma_usage *vma, bool swappable)
{
	usage->vss += vma->size;
	usage->vmas++;
	usage->pss += vma->pss;
	if (swappable)
		usage->swappable_pss += swappable_pss(vma);
	usage->rss += vma->rss;
	usage->private_dirty += vma->private_dirty;
	usage->shared_dirty += vma->shared_dirty;
	usage->private_clean += vma->private_clean;
	usage->shared_clean += vma->shared_clean;
	usage->swap += vma->swap;
	usage->swap_pss += vma->swap_pss;
	usage->pss_floor += memledger_pss_floor(vma->pss);
	usage->swap_pss_floor += memledger_pss_floor(vma->swap_pss);
	usage->shared_hugetlb += vma->shared_hugetlb;
	usage->private_hugetlb += vma->private_hugetlb;
}

/**
 * memledger_usage_merge - add a row to another
 * @usage: the row that grows
 * @other: the other one
 */
void memledger_usage_merge(struct memledger_usage *usage,
			   const struct memledger_usage *other)
{
#define X(field) usage->field += other->field;
	MEMLEDGER_USAGE_FIELDS(X)
	X(pss_floor)
	X(swap_pss_floor)
	X(vss)
	X(vmas)
	X(shared_hugetlb)
	X(private_hugetlb)
#undef X
}

/* memledger_row() counts on it. */
static_assert(sizeof(struct memledger_totals) ==
	      (1 + NR_MEMLEDGER_CATEGORIES + NR_MEMLEDGER_SUBCATEGORIES +
	       NR_MEMLEDGER_UNKNOWN_CLASSES) * sizeof(struct memledger_usage),
	      "rows and nothing else");

/* The category of each sub-category. */
static const u8 parents[NR_MEMLEDGER_SUBCATEGORIES] = {
#define X(id, name, label, category) MEMLEDGER_CAT_##category,
	MEMLEDGER_SUBCATEGORIES(X)
#undef X
};

/**
 * memledger_totals_sum - make the rows of a process what they are
 * @totals: with all its VMAs added to the rows of memledger_totals_row(), and
 *	nothing else
 */
void memledger_totals_sum(struct memledger_totals *totals)
{
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_SUBCATEGORIES; i++)
		memledger_usage_merge(&totals->category[parents[i]],
				      &totals->subcategory[i]);
	for (i = 0; i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++)
		memledger_usage_merge(&totals->category[MEMLEDGER_CAT_UNKNOWN],
				      &totals->unknown[i]);
	totals->total = (struct memledger_usage){};
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
		memledger_usage_merge(&totals->total, &totals->category[i]);
}
