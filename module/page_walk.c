// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the page tables of a VMA to the numbers that smaps gives for it.
 *
 * The kernel's own page walker is exported to nobody, so this is one, made of
 * the inline helpers. It only reads, and it must see what fs/proc/task_mmu.c
 * sees: where kernels differ, compat.h does as the kernel at hand.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/swap.h>
#include <linux/xarray.h>

#include "compat.h"
#include "walk.h"

/* How many pages the xarray entry at @xas stands for; under rcu_read_lock(). */
static unsigned long xas_nr_pages(struct xa_state *xas)
{
	unsigned int slot, nr = 1;

	if (!xas->xa_node)
		return 1;
	for (slot = xas->xa_offset + 1; slot < XA_CHUNK_SIZE; slot++, nr++) {
		if (!xa_is_sibling(xa_entry(xas->xa, xas->xa_node, slot)))
			break;
	}
	return (unsigned long)nr << xas->xa_node->shift;
}

/*
 * What it costs to get to the next entry of an object that has few, or to find that
 * there is none: empty slots, eight of which cost about as much as an entry. Most
 * are passed where a node is left and one of the next found on three levels, which
 * are enough for 1 GB.
 */
static long gap_cost(unsigned long nr_pages)
{
	return min(nr_pages, 3UL * XA_CHUNK_SIZE) / 8;
}

/**
 * memledger_shmem_swap - what a range of a shmem object has in swap
 * @mapping: the object's
 * @index: first page; on return, the first page that was not looked at
 * @end: first page behind the range
 * @budget: entries that may be looked at; the scan stops when it is used up
 *
 * An entry that reaches over either edge of the range counts whole, as in
 * smaps.
 *
 * Context: any in which @mapping cannot go away. Does not sleep.
 * Return: bytes.
 */
u64 memledger_shmem_swap(struct address_space *mapping, pgoff_t *index,
			 pgoff_t end, long *budget)
{
	XA_STATE(xas, &mapping->i_pages, *index);
	unsigned long nr, swapped = 0;
	pgoff_t from = *index;
	void *entry;

	rcu_read_lock();
	xas_for_each(&xas, entry, end - 1) {
		*budget -= gap_cost(xas.xa_index - from);
		from = xas.xa_index;
		if (xas_retry(&xas, entry))
			continue;
		nr = 1;
		if (xa_is_value(entry)) {
			nr = xas_nr_pages(&xas);
			swapped += nr;
		}
		if (--*budget <= 0) {
			*index = min(end, round_down(xas.xa_index, nr) + nr);
			goto out;
		}
	}
	*budget -= gap_cost(end - from);
	*index = end;
out:
	rcu_read_unlock();
	return (u64)swapped << PAGE_SHIFT;
}

/*
 * Nothing is mapped at [@addr, @end): for private mappings of shmem, what the
 * object has in swap there counts. Returns how far it came.
 */
static noinline unsigned long walk_hole(struct memledger_page_walk *walk,
					unsigned long addr, unsigned long end)
{
	struct vm_area_struct *vma = walk->vma;
	pgoff_t index;

	walk->budget--;
	if (!walk->holes)
		return end;

	index = memledger_page_index(vma, addr);
	walk->usage->swap += memledger_shmem_swap(walk->holes, &index,
						  memledger_page_index(vma, end),
						  &walk->budget);
	return vma->vm_start + ((index - vma->vm_pgoff) << PAGE_SHIFT);
}

/* What is true of an entry whatever the flags of its folio are. */
static u32 entry_facts(const struct address_space *mapping, bool dirty)
{
	u32 facts = dirty ? MEMLEDGER_ENTRY_DIRTY : 0;

	if (!memledger_mapping_is_anon(mapping))
		return facts;
	if (memledger_mapping_is_ksm(mapping))
		facts |= MEMLEDGER_ENTRY_KSM;
	return facts | MEMLEDGER_ENTRY_ANON;
}

/* Adds what the flags tell. */
static u32 flags_facts(unsigned long flags, u32 facts)
{
	if (facts & MEMLEDGER_ENTRY_DIRTY)
		return facts;
	if (flags & BIT(PG_dirty))
		return facts | MEMLEDGER_ENTRY_DIRTY;
	if ((facts & MEMLEDGER_ENTRY_ANON) && !(flags & BIT(PG_swapbacked)))
		return facts | MEMLEDGER_ENTRY_LAZYFREE;
	return facts;
}

/* The flags that it looks at, and the one that tells a large folio. */
static unsigned long telling_flags(u32 facts)
{
	if (facts & MEMLEDGER_ENTRY_DIRTY)
		return BIT(PG_head);
	if (facts & MEMLEDGER_ENTRY_ANON)
		return BIT(PG_head) | BIT(PG_dirty) | BIT(PG_swapbacked);
	return BIT(PG_head) | BIT(PG_dirty);
}

static u32 vma_facts(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_LOCKED ? MEMLEDGER_ENTRY_LOCKED : 0;
}

/* One reference: the entry at hand is the only one there is. */
static bool folio_has_one_entry(struct folio *folio)
{
	return folio_ref_count(folio) == 1;
}

/*
 * @nr pages from @page on are mapped by one entry. @mapcounts says whether
 * their mapcounts mean anything: those of an entry that is not present need
 * not, and it counts as shared, by nobody knows how many.
 */
static void account_pages(struct memledger_page_walk *walk, struct page *page,
			  unsigned int nr, bool dirty, bool mapcounts,
			  bool private)
{
	struct folio *folio = page_folio(page);
	u32 facts = flags_facts(memledger_folio_flags(folio),
				entry_facts(READ_ONCE(folio->mapping), dirty));
	struct memledger_entry entry = { .bytes = PAGE_SIZE };
	unsigned int i, run;

	if (!mapcounts || folio_has_one_entry(folio)) {
		if (mapcounts || private)
			facts |= MEMLEDGER_ENTRY_PRIVATE;
		memledger_tally_pages(&walk->tally, facts, nr, 0);
		return;
	}

	walk->budget -= nr / 4;
	for (i = 0; i < nr; i += run) {
		entry.mapcount = memledger_page_mapcount(folio, page + i);
		for (run = 1; i + run < nr; run++) {
			if (memledger_page_mapcount(folio, page + i + run) !=
			    entry.mapcount)
				break;
		}
		entry.nr = run;
		entry.flags = facts | vma_facts(walk->vma);
		if (memledger_page_private(folio, entry.mapcount))
			entry.flags |= MEMLEDGER_ENTRY_PRIVATE;
		memledger_account_resident(walk->usage, &entry);
	}
}

static void account_present_page(struct memledger_page_walk *walk,
				 struct page *page, unsigned int nr,
				 bool dirty)
{
	account_pages(walk, page, nr, dirty, true, false);
}

/* @mapcounts as above; huge entries that are not present never have them. */
static void account_nonpresent_page(struct memledger_page_walk *walk,
				    struct page *page, unsigned int nr,
				    bool dirty, bool mapcounts)
{
	account_pages(walk, page, nr, dirty, mapcounts,
		      memledger_migration_is_private());
}

/*
 * The page frames around @pfn, a valid one, that exist together with it: those
 * that the machine was booted with do so by the section, others by a part of
 * one.
 */
static struct memledger_pfns pfns_around(unsigned long pfn)
{
#ifdef CONFIG_SPARSEMEM
	unsigned long nr = early_section(__pfn_to_section(pfn)) ?
			   PAGES_PER_SECTION : PAGES_PER_SUBSECTION;
#else
	unsigned long nr = 1;
#endif
	unsigned long start = round_down(pfn, nr);

	return (struct memledger_pfns){ start, start + nr };
}

#ifdef CONFIG_SPARSEMEM_VMEMMAP
/* Whether @pfn is in a section that exists as a whole. */
static bool section_is_whole(unsigned long pfn)
{
	struct mem_section *section = __pfn_to_section(pfn);

	return valid_section(section) && early_section(section);
}

/* More than that at a time would take too long. */
#define MAX_GROWTH	64

/* Extends @pfns towards @pfn as far as there is no gap. */
static void pfns_grow(struct memledger_pfns *pfns, unsigned long pfn)
{
	unsigned int left = MAX_GROWTH;

	while (pfn >= pfns->end && left-- && section_is_whole(pfns->end))
		pfns->end += PAGES_PER_SECTION;
	while (pfn < pfns->start && left-- && section_is_whole(pfns->start - 1))
		pfns->start -= PAGES_PER_SECTION;
}
#else
static void pfns_grow(struct memledger_pfns *pfns, unsigned long pfn)
{
}
#endif

static bool pfns_have(const struct memledger_pfns *pfns, unsigned long pfn)
{
	return pfn >= pfns->start && pfn < pfns->end;
}

/* Page frames around @pfn, which is none of those that are known. */
static noinline const struct memledger_pfns *
learn_pfns(struct memledger_page_walk *walk, unsigned long pfn)
{
	struct memledger_pfns *pfns = walk->pfns;
	unsigned int i;

	if (!pfn_valid(pfn))
		return NULL;

	for (i = 0; i < ARRAY_SIZE(walk->pfns); i++) {
		if (pfns[i].start == pfns[i].end)
			break;
		pfns_grow(&pfns[i], pfn);
		if (pfns_have(&pfns[i], pfn))
			return &pfns[i];
	}
	if (i == ARRAY_SIZE(walk->pfns))
		i = walk->next_pfns++ % ARRAY_SIZE(walk->pfns);
	pfns[i] = pfns_around(pfn);
	return &pfns[i];
}

/*
 * A corrupted entry must not take us to a page that is not there. Memory is in
 * few pieces, and once these are known there is nothing more to look up. NULL
 * if there is no such page frame.
 */
static __always_inline const struct memledger_pfns *
find_pfns(struct memledger_page_walk *walk, unsigned long pfn)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(walk->pfns); i++)
		if (pfns_have(&walk->pfns[i], pfn))
			return &walk->pfns[i];
	return learn_pfns(walk, pfn);
}

/* No table begins there, no page is mapped so often, and no folio has that. */
#define NO_TABLE	1UL
#define NO_MAPCOUNT	U32_MAX
#define NO_MAPPING	((const struct address_space *)ULONG_MAX)

/*
 * Which of @form's pages @pte is for; none of them if this is not below
 * form->nr: what differs below the page frame comes out on top of it.
 */
static __always_inline u64 form_index(const struct memledger_pte_form *form,
				      pte_t pte)
{
	return ror64(pte_val(pte_mkold(pte)) - form->first, PAGE_SHIFT);
}

/*
 * Present entries that are like @pte, the page frame aside. Where that is not
 * a row of bits from PAGE_SHIFT on (x86 inverts it if access is not allowed),
 * there are no others. @nr is 0 if there is no such page frame.
 */
static struct memledger_pte_form make_form(struct memledger_page_walk *walk,
					   pte_t pte)
{
	unsigned long pfn = pte_pfn(pte);
	const struct memledger_pfns *pfns = find_pfns(walk, pfn);
	u64 first, last;

	pte = pte_mkold(pte);
	if (!pfns)
		return (struct memledger_pte_form){};
	first = pte_val(pte) - ((u64)(pfn - pfns->start) << PAGE_SHIFT);
	last = pte_val(pte) + ((u64)(pfns->end - 1 - pfn) << PAGE_SHIFT);
	if (pte_pfn(__pte(first)) == pfns->start &&
	    pte_pfn(__pte(last)) == pfns->end - 1)
		return (struct memledger_pte_form){
			.first = first,
			.nr = pfns->end - pfns->start,
			.page = pfn_to_page(pfns->start),
		};
	return (struct memledger_pte_form){
		.first = pte_val(pte),
		.nr = 1,
		.page = pfn_to_page(pfn),
	};
}

/* The page of @pte, which is present and like none of walk->forms, or NULL. */
static noinline struct page *meet_form(struct memledger_page_walk *walk,
				       pte_t pte)
{
	struct memledger_pte_form *form =
		&walk->forms[walk->next_form++ % ARRAY_SIZE(walk->forms)];

	*form = make_form(walk, pte);
	walk->form = form;
	return form->nr ? form->page + form_index(form, pte) : NULL;
}

/* Makes walk->form that of @pte, which is present. Returns its page, or NULL. */
static struct page *find_form(struct memledger_page_walk *walk, pte_t pte)
{
	struct memledger_pte_form *form = walk->forms;

	/* That an entry is dirty is a fact, and may be another one now. */
	walk->like.mapping = NO_MAPPING;
	for (; form < walk->forms + ARRAY_SIZE(walk->forms); form++) {
		u64 index = form_index(form, pte);

		if (index < form->nr) {
			walk->form = form;
			return form->page + index;
		}
	}
	return meet_form(walk, pte);
}

/* What others have of a page that is mapped so often, as a part of its PSS. */
static u32 others_share(u32 mapcount)
{
	const u32 all = (u32)PAGE_SIZE << MEMLEDGER_PSS_SHIFT;

	return mapcount < 2 ? 0 : all - all / mapcount;
}

static noinline void account_nonpresent_pte(struct memledger_page_walk *walk,
					    pte_t pte)
{
	swp_entry_t entry = memledger_pte_leaf(pte);
	struct page *page;

	if (memledger_leaf_is_swap(entry)) {
		memledger_account_swap(walk->usage, PAGE_SIZE,
				       memledger_swap_count(entry));
		return;
	}
	page = memledger_leaf_page(entry);
	if (page)
		account_nonpresent_page(walk, page, 1, false,
					memledger_leaf_has_mapcount(entry));
	/* Markers (userfaultfd, poison, guard) are no memory, and no hole. */
}

/* What it costs, in others, that an entry is not like the last one. */
#define UNLIKE_COST	3

/*
 * An entry that is not like the last one. Returns its page if that is still to
 * be counted; then walk->form is the entry's.
 */
static noinline struct page *meet_pte(struct memledger_page_walk *walk,
				      pte_t pte, unsigned long addr)
{
	struct page *page;

	if (pte_none(pte)) {
		walk_hole(walk, addr, addr + PAGE_SIZE);
		return NULL;
	}
	walk->budget -= UNLIKE_COST;
	if (!pte_present(pte)) {
		account_nonpresent_pte(walk, pte);
		return NULL;
	}
	if (!pte_special(pte))
		return find_form(walk, pte);
	/* The zero page, KSM's, or a frame without a struct page. */
	if (memledger_vma_special_page(walk->vma, addr, &page) && page)
		account_present_page(walk, page, 1, pte_dirty(pte));
	return NULL;
}

/* Pages with other facts are to come: those so far are counted with theirs. */
static void tally_alike(struct memledger_page_walk *walk)
{
	struct memledger_alike *alike = &walk->alike;

	if (alike->nr_private)
		memledger_tally_pages(&walk->tally,
				      alike->facts | MEMLEDGER_ENTRY_PRIVATE,
				      alike->nr_private, 0);
	if (alike->nr_shared)
		memledger_tally_pages(&walk->tally, alike->facts,
				      alike->nr_shared, alike->others);
	memledger_alike_clear(alike);
}

/* A folio whose @mapping is not that of the last one. */
static void meet_mapping(struct memledger_page_walk *walk, struct folio *folio,
			 const struct address_space *mapping)
{
	struct memledger_page_like *like = &walk->like;
	unsigned long flags = memledger_folio_flags(folio);
	bool dirty = pte_dirty(__pte(walk->form->first));
	u32 facts;

	like->mapping = mapping;
	like->facts = entry_facts(mapping, dirty);
	like->flags_mask = telling_flags(like->facts);
	like->flags = flags & like->flags_mask & ~BIT(PG_head);
	facts = flags_facts(flags, like->facts);
	if (facts != walk->alike.facts) {
		tally_alike(walk);
		walk->alike.facts = facts;
	}
}

/* A page that is unlike those in walk->alike, but has the last one's mapping. */
static noinline void tally_page(struct memledger_page_walk *walk,
				struct folio *folio, struct page *page)
{
	u32 facts = flags_facts(memledger_folio_flags(folio),
				walk->like.facts);
	bool private = true;
	u32 mapcount = 1;

	if (!folio_has_one_entry(folio)) {
		mapcount = memledger_page_mapcount(folio, page);
		private = memledger_page_private(folio, mapcount);
	}
	if (private)
		facts |= MEMLEDGER_ENTRY_PRIVATE;
	memledger_tally_pages(&walk->tally, facts, 1, others_share(mapcount));
}

/* A page that has the facts of those in walk->alike. */
static __always_inline void count_alike(struct memledger_page_walk *walk,
					struct folio *folio, struct page *page,
					bool small)
{
	struct memledger_page_like *like = &walk->like;
	u32 mapcount;

	if (folio_has_one_entry(folio)) {
		walk->alike.nr_private++;
		return;
	}
	mapcount = small ? memledger_small_mapcount(folio) :
			   memledger_page_mapcount(folio, page);
	/* A count that was shared before is so again. */
	if (unlikely(mapcount != like->mapcount ||
		     memledger_divides_private())) {
		if (memledger_page_private(folio, mapcount)) {
			if (memledger_divides_private() && mapcount > 1)
				tally_page(walk, folio, page);
			else
				walk->alike.nr_private++;
			return;
		}
		like->mapcount = mapcount;
		like->others = others_share(mapcount);
	}
	walk->alike.nr_shared++;
	walk->alike.others += like->others;
}

/* A page of a large folio, or one that is unlike the last. */
static noinline void meet_page(struct memledger_page_walk *walk,
			       struct page *page)
{
	struct memledger_page_like *like = &walk->like;
	struct folio *folio = page_folio(page);
	/* Once: KSM and truncation change it meanwhile. */
	const struct address_space *mapping = READ_ONCE(folio->mapping);
	unsigned long flags;

	if (mapping != like->mapping)
		meet_mapping(walk, folio, mapping);
	flags = memledger_folio_flags(folio) & like->flags_mask;
	if ((flags & ~BIT(PG_head)) == like->flags)
		count_alike(walk, folio, page, false);
	else
		tally_page(walk, folio, page);
}

/*
 * Mostly a page is a folio by itself, without PG_head then, and like the one
 * before in all else that matters: it is only counted.
 */
static __always_inline void count_page(struct memledger_page_walk *walk,
				       struct page *page)
{
	const struct memledger_page_like *like = &walk->like;
	struct folio *folio = (struct folio *)page;

	if (likely(!memledger_page_is_tail(page) &&
		   READ_ONCE(folio->mapping) == like->mapping &&
		   (memledger_folio_flags(folio) & like->flags_mask) ==
		   like->flags))
		count_alike(walk, folio, page, true);
	else
		meet_page(walk, page);
}

/* The last of a row of entries with nothing in them, the first of which is @pte. */
static noinline pte_t *last_none(pte_t *pte, const pte_t *end,
				 struct memledger_pte_block *block)
{
	do {
		pte++;
	} while (pte < end && pte_none(memledger_ptep_get(pte, block)));
	return pte - 1;
}

/*
 * Returns how far the budget took it; @end if it sufficed.
 *
 * Neighbours are mostly alike. So an entry is first compared with what the one
 * before was like, which tells at once that it is present and where its page
 * is.
 */
static unsigned long walk_ptes(struct memledger_page_walk *walk, pte_t *pte,
			       unsigned long addr, unsigned long end)
{
	unsigned long nr = min_t(unsigned long, (end - addr) >> PAGE_SHIFT,
				 walk->budget);
	const struct memledger_pte_form *form = walk->form;
	struct memledger_pte_block block = {};
	pte_t *const last = pte + nr;

	walk->budget -= nr;
	end = addr + nr * PAGE_SIZE;
	for (; pte < last; pte++) {
		pte_t entry = memledger_ptep_get(pte, &block);
		u64 index = form_index(form, entry);
		struct page *page;

		if (likely(index < form->nr)) {
			count_page(walk, form->page + index);
			continue;
		}
		if (pte_none(entry) && !walk->holes) {
			pte = last_none(pte, last, &block);
			continue;
		}
		page = meet_pte(walk, entry, end - (last - pte) * PAGE_SIZE);
		form = walk->form;
		if (page)
			meet_page(walk, page);
	}
	return end;
}

/**
 * memledger_page_walk_flush - add up what is counted
 * @walk: the pages are all of walk->vma, which is still there if there are any
 */
void memledger_page_walk_flush(struct memledger_page_walk *walk)
{
	struct memledger_alike *alike = &walk->alike;
	u32 facts;
	u64 bytes;

	if (!alike->nr_private && !alike->nr_shared && !walk->tally.used)
		return;
	facts = alike->facts | vma_facts(walk->vma);
	bytes = alike->nr_private * (u64)PAGE_SIZE;
	memledger_account_alike(walk->usage, bytes,
				bytes << MEMLEDGER_PSS_SHIFT,
				facts | MEMLEDGER_ENTRY_PRIVATE);
	bytes = alike->nr_shared * (u64)PAGE_SIZE;
	memledger_account_alike(walk->usage, bytes,
				(bytes << MEMLEDGER_PSS_SHIFT) - alike->others,
				facts);
	memledger_alike_clear(alike);
	memledger_account_tally(walk->usage, &walk->tally, PAGE_SIZE,
				vma_facts(walk->vma));
}

/* What a huge entry costs, in others, where its pages are all alike. */
#define HUGE_COST	8

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
/*
 * Which page is the huge zero page is exported to nobody, but no other folio is
 * mapped by an entry without being counted: under the lock, no entire mapping
 * means that it is the zero page.
 */
static bool page_is_huge_zero(struct page *page)
{
	return !memledger_folio_entire_mapcount(page_folio(page));
}

/* As follow_trans_huge_pmd() with FOLL_DUMP; DAX's pages are not counted. */
static struct page *followed_huge_page(struct page *page, pmd_t pmd)
{
	if (pmd_protnone(pmd))
		return NULL;
	if (!memledger_pmd_devmap(pmd) && PageCompound(page) &&
	    page_is_huge_zero(page))
		return NULL;
	return page;
}

/* The page of a present huge entry that smaps counts, or NULL. */
static struct page *normal_huge_page(struct memledger_page_walk *walk,
				     unsigned long addr, pmd_t pmd)
{
	const struct vm_area_struct *vma = walk->vma;
	unsigned long pfn = pmd_pfn(pmd);
	struct page *page;

	if (memledger_pmd_special(pmd) || !find_pfns(walk, pfn))
		return NULL;
	page = pfn_to_page(pfn);
	if (memledger_follows_huge())
		return followed_huge_page(page, pmd);
	if (vma->vm_flags & VM_MIXEDMAP)
		return page;
	if (vma->vm_flags & VM_PFNMAP) {
		unsigned long off = (addr - vma->vm_start) >> PAGE_SHIFT;

		if (pfn == vma->vm_pgoff + off ||
		    !is_cow_mapping(vma->vm_flags))
			return NULL;
	}
	if (memledger_pmd_devmap(pmd))
		return NULL;
	return page_is_huge_zero(page) ? NULL : page;
}

/*
 * What lies below @addr has been counted, page by page, if the entry was made
 * huge between two slices: only [@addr, @end) counts. As a rule that is all.
 */
static void account_pmd(struct memledger_page_walk *walk, unsigned long addr,
			unsigned long end, pmd_t pmd)
{
	unsigned long size = end - addr;
	struct page *page = NULL;
	struct folio *folio;

	if (pmd_present(pmd))
		page = normal_huge_page(walk, addr & HPAGE_PMD_MASK, pmd);
	else if (thp_migration_supported())
		page = memledger_leaf_page(memledger_pmd_leaf(pmd));
	if (!page)
		return;

	folio = page_folio(page);
	if (folio_test_anon(folio))
		walk->usage->anon_huge += size;
	else if (folio_test_swapbacked(folio))
		walk->usage->shmem_pmd_mapped += size;
	else if (!folio_is_zone_device(folio))
		walk->usage->file_pmd_mapped += size;

	/* DAX maps pages that are no folio together; smaps counts the first. */
	if (folio_test_large(folio))
		page += (addr & ~HPAGE_PMD_MASK) >> PAGE_SHIFT;
	else
		size = PAGE_SIZE;
	if (pmd_present(pmd))
		account_present_page(walk, page, size >> PAGE_SHIFT,
				     pmd_dirty(pmd));
	else
		account_nonpresent_page(walk, page, size >> PAGE_SHIFT,
					pmd_dirty(pmd), false);
}

/* False if the entry is no longer huge: the caller looks again. */
static bool walk_huge_pmd(struct memledger_page_walk *walk, pmd_t *pmd,
			  unsigned long addr, unsigned long end)
{
	struct mm_struct *mm = walk->vma->vm_mm;
	spinlock_t *ptl = pmd_lock(mm, pmd);
	pmd_t entry = memledger_pmd_read(pmd);
	bool huge = !pmd_none(entry) &&
		    (!pmd_present(entry) || pmd_trans_huge(entry) ||
		     memledger_pmd_devmap(entry));

	if (huge)
		account_pmd(walk, addr, end, entry);
	spin_unlock(ptl);
	return huge;
}
#endif

/*
 * [@addr, @end) lies in walk->table. Returns how far it came: @addr itself if
 * the table is no longer there.
 */
static unsigned long walk_table(struct memledger_page_walk *walk,
				unsigned long addr, unsigned long end)
{
	struct memledger_pte_table *table = &walk->table;

	spin_lock(table->ptl);
	if (likely(pmd_same(table->entry, memledger_pmd_read(table->pmd))))
		addr = walk_ptes(walk, table->ptes + pte_index(addr), addr,
				 end);
	else
		table->addr = NO_TABLE;
	spin_unlock(table->ptl);
	/* Charged last, so that the smallest of slices gets on. */
	walk->budget--;
	return addr;
}

/*
 * [@addr, @end) lies in one entry of a middle directory, which was @entry when
 * it was read under the RCU read lock that is still held. Returns how far it
 * came: @addr itself where there is a table to look into, walk->table, or where
 * the entry changed under it and is to be read again.
 */
static unsigned long walk_pmd(struct memledger_page_walk *walk, pmd_t *pmd,
			      pmd_t entry, unsigned long addr,
			      unsigned long end)
{
	if (pmd_none(entry))
		return walk_hole(walk, addr, end);
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	if (!pmd_present(entry) || pmd_trans_huge(entry) ||
	    memledger_pmd_devmap(entry)) {
		walk->budget -= HUGE_COST;
		return walk_huge_pmd(walk, pmd, addr, end) ? end : addr;
	}
#endif
	if (unlikely(pmd_bad(entry))) {
		walk->budget--;
		return end;
	}

	/*
	 * RCU, which the caller has entered, comes first: the table that the
	 * entry points to may be unhooked (khugepaged,
	 * retract_page_tables()) at any time, but is not freed before a grace
	 * period. Then its lock, which is found through the copy of the entry;
	 * then, in walk_table(), whether the entry is still the same.
	 *
	 * So the table can be kept for the next VMA, which mostly is in it as
	 * well. The directory around it stays, too: it would go away with the
	 * last mapping of its range, and the one at hand is there for as long
	 * as the mmap lock is held.
	 */
	walk->table = (struct memledger_pte_table){
		.addr = addr & PMD_MASK,
		.pmd = pmd,
		.entry = entry,
		.ptes = pte_offset_kernel(&entry, addr & PMD_MASK),
		.ptl = pte_lockptr(walk->vma->vm_mm, &entry),
	};
	return addr;
}

/*
 * [@addr, @end) lies in walk->pmds. Reserves have long rows of entries with
 * nothing in them, which are passed in a row. Returns as walk_pmd() does.
 */
static unsigned long walk_pmds(struct memledger_page_walk *walk,
			       unsigned long addr, unsigned long end)
{
	pmd_t *pmd = walk->pmds + pmd_index(addr);
	pmd_t entry = memledger_pmd_read(pmd);

	while (pmd_none(entry) && !walk->holes && walk->budget > 0) {
		walk->budget--;
		addr = pmd_addr_end(addr, end);
		if (addr == end)
			return end;
		entry = memledger_pmd_read(++pmd);
	}
	return walk_pmd(walk, pmd, entry, addr, pmd_addr_end(addr, end));
}

/*
 * From the top down to the entry for @addr. Each level's end is cut by that of
 * the level above: where a level is folded, its own addr_end() does not cut at
 * all. The last level is kept, for the next entry or VMA, as the table below it
 * is, and for the same reason. Returns as walk_pmd() does.
 */
static unsigned long walk_down(struct memledger_page_walk *walk,
			       unsigned long addr, unsigned long end)
{
	pgd_t *pgd;
	p4d_t *p4d;
	pud_t *pud, entry;

	if (walk->pmds && (addr & PUD_MASK) == walk->pmds_addr)
		return walk_pmds(walk, addr,
				 min(end, walk->pmds_addr + PUD_SIZE));

	pgd = pgd_offset(walk->vma->vm_mm, addr);
	end = pgd_addr_end(addr, end);
	if (pgd_none(*pgd) || unlikely(pgd_bad(*pgd)))
		return walk_hole(walk, addr, end);
	p4d = p4d_offset(pgd, addr);
	end = p4d_addr_end(addr, end);
	if (p4d_none(*p4d) || unlikely(p4d_bad(*p4d)))
		return walk_hole(walk, addr, end);
	pud = pud_offset(p4d, addr);
	end = pud_addr_end(addr, end);
	entry = READ_ONCE(*pud);
	if (pud_none(entry))
		return walk_hole(walk, addr, end);
	/* DAX may have huge entries here; smaps splits these away. */
	if (unlikely(pud_leaf(entry) || pud_bad(entry))) {
		walk->budget--;
		return end;
	}
	walk->pmds = pmd_offset(pud, 0);
	walk->pmds_addr = addr & PUD_MASK;
	return walk_pmds(walk, addr, end);
}

/**
 * memledger_page_walk_begin - begin a slice
 * @walk: the walk; vma, usage and holes are still to be set
 * @budget: how many entries may be looked at
 *
 * Nothing is remembered from one slice to the next: meanwhile page tables may
 * have been freed, and memory unplugged.
 *
 * Context: the mmap lock is held for reading, and rcu_read_lock().
 */
void memledger_page_walk_begin(struct memledger_page_walk *walk, long budget)
{
	*walk = (struct memledger_page_walk){
		.budget = budget,
		.form = walk->forms,
		.like.mapcount = NO_MAPCOUNT,
		.table.addr = NO_TABLE,
	};
}

/**
 * memledger_page_walk_range - count the entries of a range of a VMA
 * @walk: the VMA, and where the numbers go; in the end memledger_page_walk_flush()
 *	takes them there, unless the caller can do with walk->alike
 * @addr: first address
 * @end: first address behind the range, above @addr, not above the VMA's end
 *
 * Stops when the budget, above 0 at first, is used up, so that the caller
 * decides how long the locks are held. Not for hugetlb VMAs.
 *
 * Context: the mmap lock is held for reading, and rcu_read_lock(). Takes
 * page-table locks. Does not sleep.
 * Return: the first address that was not looked at; @end when done.
 */
unsigned long memledger_page_walk_range(struct memledger_page_walk *walk,
					unsigned long addr, unsigned long end)
{
	if ((walk->vma->vm_flags & VM_PFNMAP) && !memledger_walks_pfnmap())
		return walk_hole(walk, addr, end);

	do {
		if ((addr & PMD_MASK) == walk->table.addr)
			addr = walk_table(walk, addr,
					  min(end, walk->table.addr + PMD_SIZE));
		else
			addr = walk_down(walk, addr, end);
	} while (addr < end && walk->budget > 0);
	return addr;
}

#ifdef CONFIG_HUGETLB_PAGE
/* Where the entry of a hugetlb page of @size bytes at @addr is, if anywhere. */
static pte_t *hugetlb_entry(struct mm_struct *mm, unsigned long addr,
			    unsigned long size)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (!pgd_present(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (!p4d_present(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (size >= PUD_SIZE)
		return (pte_t *)pud;
	if (!pud_present(*pud))
		return NULL;
	pmd = pmd_offset(pud, addr);
	if (size >= PMD_SIZE)
		return (pte_t *)pmd;
	if (!pmd_present(*pmd))
		return NULL;
	return pte_offset_kernel(pmd, addr);
}

static void account_hugetlb(struct memledger_page_walk *walk, pte_t *pte,
			    unsigned long size)
{
	pte_t entry = ptep_get(pte);
	bool present = pte_present(entry);
	struct page *page = NULL;

	if (present)
		page = pte_page(entry);
	else if (!pte_none(entry))
		page = memledger_leaf_page(memledger_pte_leaf(entry));
	if (!page)
		return;
	if (memledger_hugetlb_shared(page_folio(page), pte, present))
		walk->usage->shared_hugetlb += size;
	else
		walk->usage->private_hugetlb += size;
}

/**
 * memledger_page_walk_hugetlb - the same for a hugetlb VMA
 * @walk: the VMA, and where the numbers go
 * @addr: first address
 * @end: first address behind the range
 *
 * Context: the mmap lock and the file's i_mmap_rwsem are held for reading: a
 * page table may be shared with other processes, and unsharing it, which could
 * free it, takes the latter for writing.
 * Return: the first address that was not looked at; @end when done.
 */
unsigned long memledger_page_walk_hugetlb(struct memledger_page_walk *walk,
					  unsigned long addr,
					  unsigned long end)
{
	struct vm_area_struct *vma = walk->vma;
	struct hstate *hstate = hstate_vma(vma);
	unsigned long size = huge_page_size(hstate);
	spinlock_t *ptl;
	pte_t *pte;

	for (; addr < end && walk->budget > 0; addr += size) {
		walk->budget--;
		pte = hugetlb_entry(vma->vm_mm, addr, size);
		if (!pte)
			continue;
		ptl = huge_pte_lockptr(hstate, vma->vm_mm, pte);
		spin_lock(ptl);
		account_hugetlb(walk, pte, size);
		spin_unlock(ptl);
	}
	return min(addr, end);
}
#endif
