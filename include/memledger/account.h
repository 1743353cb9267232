/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From facts about page-table entries to the numbers of a VMA, and from VMAs
 * to the rows they belong in. No locks, no mm types: the walker establishes
 * the facts, this file only does arithmetic.
 */
#ifndef _MEMLEDGER_ACCOUNT_H
#define _MEMLEDGER_ACCOUNT_H

#include <memledger/classify.h>
#include <memledger/usage.h>

/* Facts about an entry; what each adds is in account.c. */
#define MEMLEDGER_ENTRY_DIRTY		0x01	/* the entry or its folio is dirty */
#define MEMLEDGER_ENTRY_PRIVATE		0x02	/* nobody else maps the page */
#define MEMLEDGER_ENTRY_ANON		0x04
#define MEMLEDGER_ENTRY_LAZYFREE	0x08	/* anon, clean and marked free */
#define MEMLEDGER_ENTRY_KSM		0x10
#define MEMLEDGER_ENTRY_LOCKED		0x20	/* the VMA is mlocked */

/**
 * struct memledger_entry - pages of one folio that are alike in every way
 * @bytes: size of one page
 * @nr: how many
 * @mapcount: by how many the PSS of each is divided; 0 and 1 mean not at all
 * @flags: MEMLEDGER_ENTRY_*
 */
struct memledger_entry {
	u64 bytes;
	u32 nr;
	u32 mapcount;
	u32 flags;
};

/* All sets of facts, but for MEMLEDGER_ENTRY_LOCKED, which a VMA has or not. */
#define MEMLEDGER_TALLY_FACTS		0x1f
#define MEMLEDGER_NR_TALLIES		(MEMLEDGER_TALLY_FACTS + 1)

/**
 * struct memledger_tally - single pages, sorted by their facts
 * @used: bit mask of the elements of @nr that are not 0
 * @nr: how many pages there are, by MEMLEDGER_ENTRY_*
 * @others: what of them is others' share, bytes << MEMLEDGER_PSS_SHIFT
 *
 * Most pages of a VMA are alike: to count them is less work than to add each
 * to all numbers that it is part of. All zero is an empty tally.
 */
struct memledger_tally {
	u32 used;
	u32 nr[MEMLEDGER_NR_TALLIES];
	u64 others[MEMLEDGER_NR_TALLIES];
};

/**
 * memledger_tally_pages - count pages
 * @tally: where
 * @facts: MEMLEDGER_ENTRY_* within MEMLEDGER_TALLY_FACTS
 * @nr: how many there are
 * @others: what of them is others' share, bytes << MEMLEDGER_PSS_SHIFT
 */
static inline void memledger_tally_pages(struct memledger_tally *tally,
					 u32 facts, u32 nr, u64 others)
{
	tally->nr[facts] += nr;
	tally->others[facts] += others;
	tally->used |= 1U << facts;
}

/**
 * struct memledger_alike - pages that differ in nothing but who else has them
 * @facts: MEMLEDGER_ENTRY_* within MEMLEDGER_TALLY_FACTS, of each of them;
 *	whether MEMLEDGER_ENTRY_PRIVATE is one of them means nothing
 * @nr_private: how many there are that count as private
 * @nr_shared: and how many others
 * @others: what of these is others' share, bytes << MEMLEDGER_PSS_SHIFT
 */
struct memledger_alike {
	u32 facts;
	u32 nr_private;
	u32 nr_shared;
	u64 others;
};

/**
 * memledger_alike_clear - there are no such pages any more
 * @alike: the facts stay
 */
static inline void memledger_alike_clear(struct memledger_alike *alike)
{
	alike->nr_private = 0;
	alike->nr_shared = 0;
	alike->others = 0;
}

void memledger_account_alike(struct memledger_vma_usage *usage, u64 bytes,
			     u64 pss, u32 flags);
void memledger_account_tally(struct memledger_vma_usage *usage,
			     struct memledger_tally *tally, u64 page_size,
			     u32 flags);
void memledger_account_resident(struct memledger_vma_usage *usage,
				const struct memledger_entry *entry);
void memledger_account_swap(struct memledger_vma_usage *usage, u64 bytes,
			    u32 swapcount);
void memledger_usage_add(struct memledger_usage *usage,
			 const struct memledger_vma_usage *vma, bool swappable);
void memledger_usage_merge(struct memledger_usage *usage,
			   const struct memledger_usage *other);
void memledger_totals_sum(struct memledger_totals *totals);

/**
 * memledger_usage_add_alike - add a VMA to a row whose pages are all alike
 * @usage: the row
 * @alike: the pages, if any
 * @page_size: bytes
 * @size: of the VMA, bytes
 * @swappable: whether the rule that placed it says so
 *
 * The same as to add them to a &struct memledger_vma_usage and that to the row.
 */
static inline void
memledger_usage_add_alike(struct memledger_usage *usage,
			  const struct memledger_alike *alike, u64 page_size,
			  u64 size, bool swappable)
{
	u64 private = alike->nr_private * page_size;
	u64 shared = alike->nr_shared * page_size;
	u64 pss = ((private + shared) << MEMLEDGER_PSS_SHIFT) - alike->others;

	usage->vss += size;
	usage->vmas++;
	if (!(private | shared))
		return;
	usage->rss += private + shared;
	usage->pss += pss;
	usage->pss_floor += memledger_pss_floor(pss);
	if (alike->facts & MEMLEDGER_ENTRY_DIRTY) {
		usage->private_dirty += private;
		usage->shared_dirty += shared;
		return;
	}
	usage->private_clean += private;
	usage->shared_clean += shared;
	/* What Android divides is 1 here if all of them are ours, or else 0. */
	if (swappable)
		usage->swappable_pss += alike->others ? private :
					private + shared;
}

/**
 * memledger_totals_row - where a VMA is to be added
 * @totals: the rows of its process
 * @verdict: where it belongs
 *
 * A VMA is added once, to the most detailed row that it belongs in; what that
 * is a part of is for memledger_totals_sum() to add up.
 *
 * Return: the row.
 */
static inline struct memledger_usage *
memledger_totals_row(struct memledger_totals *totals,
		     const struct memledger_verdict *verdict)
{
	return (struct memledger_usage *)totals + verdict->row;
}

#endif
