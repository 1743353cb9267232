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
	void *entry;

	rcu_read_lock();
	xas_for_each(&xas, entry, end - 1) {
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
	*index = end;
out:
	rcu_read_unlock();
	return (u64)swapped << PAGE_SHIFT;
}

/*
 * Nothing is mapped at [@addr, @end): for private mappings of shmem, what the
 * object has in swap there counts. Returns how far it came.
 */
static unsigned long walk_hole(struct memledger_page_walk *walk,
			       unsigned long addr, unsigned long end)
{
	struct vm_area_struct *vma = walk->vma;
	pgoff_t index;

	walk->budget--;
	if (!walk->holes)
		return end;

	index = linear_page_index(vma, addr);
	walk->usage->swap += memledger_shmem_swap(walk->holes, &index,
						  linear_page_index(vma, end),
						  &walk->budget);
	return vma->vm_start + ((index - vma->vm_pgoff) << PAGE_SHIFT);
}

static u32 folio_facts(struct vm_area_struct *vma, struct folio *folio,
		       bool dirty)
{
	u32 flags = 0;

	dirty |= folio_test_dirty(folio);
	if (dirty)
		flags |= MEMLEDGER_ENTRY_DIRTY;
	if (vma->vm_flags & VM_LOCKED)
		flags |= MEMLEDGER_ENTRY_LOCKED;
	if (folio_test_anon(folio)) {
		flags |= MEMLEDGER_ENTRY_ANON;
		if (!folio_test_swapbacked(folio) && !dirty)
			flags |= MEMLEDGER_ENTRY_LAZYFREE;
	}
	if (memledger_folio_ksm(folio))
		flags |= MEMLEDGER_ENTRY_KSM;
	return flags;
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
	struct memledger_entry entry = {
		.bytes = PAGE_SIZE,
		.flags = folio_facts(walk->vma, folio, dirty),
	};
	u32 flags = entry.flags;
	unsigned int i, run;

	/* One reference: the entry at hand is the only one there is. */
	if (!mapcounts || folio_ref_count(folio) == 1) {
		if (mapcounts || private)
			entry.flags |= MEMLEDGER_ENTRY_PRIVATE;
		entry.nr = nr;
		memledger_account_resident(walk->usage, &entry);
		return;
	}

	for (i = 0; i < nr; i += run) {
		entry.mapcount = memledger_page_mapcount(folio, page + i);
		for (run = 1; i + run < nr; run++) {
			if (memledger_page_mapcount(folio, page + i + run) !=
			    entry.mapcount)
				break;
		}
		entry.nr = run;
		entry.flags = flags;
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

/* The page of a present entry that smaps counts, or NULL. */
static struct page *normal_page(struct vm_area_struct *vma, unsigned long addr,
				pte_t pte)
{
	unsigned long pfn = pte_pfn(pte);
	struct page *page;

	if (unlikely(pte_special(pte))) {
		/* The zero page, KSM's, or a frame without a struct page. */
		if (memledger_vma_special_page(vma, addr, &page))
			return page;
		return NULL;
	}
	/* A corrupted entry must not take us to a page that is not there. */
	return pfn_valid(pfn) ? pfn_to_page(pfn) : NULL;
}

static void account_pte(struct memledger_page_walk *walk, unsigned long addr,
			pte_t pte)
{
	struct page *page;
	swp_entry_t entry;

	if (pte_present(pte)) {
		page = normal_page(walk->vma, addr, pte);
		if (page)
			account_present_page(walk, page, 1, pte_dirty(pte));
		return;
	}

	entry = memledger_pte_leaf(pte);
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

/* Returns how far the budget took it; @end if it sufficed. */
static unsigned long walk_pte_table(struct memledger_page_walk *walk,
				    pte_t *pte, unsigned long addr,
				    unsigned long end)
{
	for (; addr < end && walk->budget > 0; pte++) {
		pte_t entry = ptep_get(pte);

		if (pte_none(entry)) {
			addr = walk_hole(walk, addr, addr + PAGE_SIZE);
			continue;
		}
		account_pte(walk, addr, entry);
		walk->budget--;
		addr += PAGE_SIZE;
	}
	return addr;
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
/* The page of a present huge entry that smaps counts, or NULL. */
static struct page *normal_huge_page(struct vm_area_struct *vma,
				     unsigned long addr, pmd_t pmd)
{
	unsigned long pfn = pmd_pfn(pmd);
	struct page *page;

	if (memledger_pmd_special(pmd) || !pfn_valid(pfn))
		return NULL;
	page = pfn_to_page(pfn);
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
	/*
	 * Which page is the huge zero page is exported to nobody, but nothing
	 * else is mapped by an entry without being counted: under the lock,
	 * no entire mapping means that it is the zero page.
	 */
	if (!memledger_folio_entire_mapcount(page_folio(page)))
		return NULL;
	return page;
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
		page = normal_huge_page(walk->vma, addr & HPAGE_PMD_MASK, pmd);
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
 * [@addr, @end) lies in one entry of a middle directory. Returns how far it
 * came: @addr itself where the entry changed under it and is to be read again.
 */
static unsigned long walk_pmd(struct memledger_page_walk *walk, pmd_t *pmd,
			      unsigned long addr, unsigned long end)
{
	struct mm_struct *mm = walk->vma->vm_mm;
	spinlock_t *ptl;
	pmd_t entry;

	/*
	 * RCU first: the table that the entry points to may be unhooked and
	 * freed (khugepaged, retract_page_tables()) at any time, but not
	 * before a grace period. Then its lock, which is found through the
	 * copy of the entry; then whether the entry is still the same.
	 */
	rcu_read_lock();
	entry = memledger_pmd_read(pmd);
	if (pmd_none(entry)) {
		rcu_read_unlock();
		return walk_hole(walk, addr, end);
	}
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	if (!pmd_present(entry) || pmd_trans_huge(entry) ||
	    memledger_pmd_devmap(entry)) {
		rcu_read_unlock();
		walk->budget -= HPAGE_PMD_NR / 8;
		return walk_huge_pmd(walk, pmd, addr, end) ? end : addr;
	}
#endif
	if (unlikely(pmd_bad(entry))) {
		addr = end;
		goto out;
	}

	ptl = pte_lockptr(mm, &entry);
	spin_lock(ptl);
	if (likely(pmd_same(entry, memledger_pmd_read(pmd))))
		addr = walk_pte_table(walk, pte_offset_kernel(&entry, addr),
				      addr, end);
	spin_unlock(ptl);
out:
	rcu_read_unlock();
	/* Charged last, so that the smallest of slices gets on. */
	walk->budget--;
	return addr;
}

/**
 * memledger_page_walk_range - add up the entries of a range of a VMA
 * @walk: the VMA, and where the numbers go
 * @addr: first address
 * @end: first address behind the range, not above the VMA's end
 *
 * Stops when the budget is used up, so that the caller decides how long the
 * locks are held. Not for hugetlb VMAs.
 *
 * Context: the mmap lock is held for reading. Takes page-table locks. Does not
 * sleep.
 * Return: the first address that was not looked at; @end when done.
 */
unsigned long memledger_page_walk_range(struct memledger_page_walk *walk,
					unsigned long addr, unsigned long end)
{
	struct mm_struct *mm = walk->vma->vm_mm;

	if ((walk->vma->vm_flags & VM_PFNMAP) && !memledger_walks_pfnmap())
		return walk_hole(walk, addr, end);

	/*
	 * Each level's end is cut by that of the level above: where a level is
	 * folded, its own addr_end() does not cut at all.
	 */
	while (addr < end && walk->budget > 0) {
		pgd_t *pgd = pgd_offset(mm, addr);
		unsigned long next = pgd_addr_end(addr, end);
		p4d_t *p4d;
		pud_t *pud, entry;

		if (pgd_none(*pgd) || unlikely(pgd_bad(*pgd))) {
			addr = walk_hole(walk, addr, next);
			continue;
		}
		p4d = p4d_offset(pgd, addr);
		next = p4d_addr_end(addr, next);
		if (p4d_none(*p4d) || unlikely(p4d_bad(*p4d))) {
			addr = walk_hole(walk, addr, next);
			continue;
		}
		pud = pud_offset(p4d, addr);
		next = pud_addr_end(addr, next);
		entry = READ_ONCE(*pud);
		if (pud_none(entry)) {
			addr = walk_hole(walk, addr, next);
			continue;
		}
		/* DAX may have huge entries here; smaps splits these away. */
		if (unlikely(pud_leaf(entry) || pud_bad(entry))) {
			walk->budget--;
			addr = next;
			continue;
		}
		addr = walk_pmd(walk, pmd_offset(pud, addr), addr,
				pmd_addr_end(addr, next));
	}
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
