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
#define MEMLEDGER_ENTRY_LOCKED		0x04	/* the VMA is mlocked */
#define MEMLEDGER_ENTRY_ANON		0x08
#define MEMLEDGER_ENTRY_LAZYFREE	0x10	/* anon, clean and marked free */
#define MEMLEDGER_ENTRY_KSM		0x20

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

void memledger_account_resident(struct memledger_vma_usage *usage,
				const struct memledger_entry *entry);
void memledger_account_swap(struct memledger_vma_usage *usage, u64 bytes,
			    u32 swapcount);
void memledger_usage_add(struct memledger_usage *usage,
			 const struct memledger_vma_usage *vma, bool swappable);
void memledger_usage_merge(struct memledger_usage *usage,
			   const struct memledger_usage *other);
void memledger_totals_add(struct memledger_totals *totals,
			  const struct memledger_verdict *verdict,
			  const struct memledger_vma_usage *vma);

#endif
