// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-table entries in, the fields of smaps out: page_walk.c, with entries
 * that no program can hold still, or make at all.
 *
 * The entries are values on pages of the test's own; no process has them.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/xarray.h>

#include <kunit/test.h>

#include "../module/page_walk.c"

#include "expect.h"

#define ADDR		0x10000000UL
#define PGOFF		100UL
#define SHIFT		MEMLEDGER_PSS_SHIFT
#define PAGE_PSS	((u64)PAGE_SIZE << SHIFT)

/* What stands in for swap_count.c: it answers, and notes what it was asked. */
static u32 swap_sharers;
static swp_entry_t swap_asked;

u32 memledger_swap_count(swp_entry_t entry)
{
	swap_asked = entry;
	return swap_sharers;
}

/**
 * struct fixture - a VMA, a page, and a walk that adds up
 * @vma: a private one of 16 pages, without an mm
 * @order: of @folio
 * @folio: one reference, mapped nowhere
 * @object: for @walk.holes: a shmem object's pages
 * @usage: where @walk adds
 * @walk: the walk
 */
struct fixture {
	struct vm_area_struct vma;
	unsigned int order;
	struct folio *folio;
	struct address_space object;
	struct memledger_vma_usage usage;
	struct memledger_page_walk walk;
};

/* Since 6.3 the field is const, so that the kernel's own users lock the VMA. */
static void set_vm_flags(struct vm_area_struct *vma, unsigned long flags)
{
	*(unsigned long *)&vma->vm_flags = flags;
}

static void begin_walk(struct fixture *f)
{
	memledger_page_walk_begin(&f->walk, 1000);
	f->walk.vma = &f->vma;
	f->walk.usage = &f->usage;
}

static int fixture_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->vma.vm_start = ADDR;
	f->vma.vm_end = ADDR + 16 * PAGE_SIZE;
	f->vma.vm_pgoff = PGOFF;
	set_vm_flags(&f->vma, VM_READ | VM_WRITE);
	xa_init(&f->object.i_pages);
	begin_walk(f);
	swap_sharers = 1;
	swap_asked = (swp_entry_t){};
	test->priv = f;
	return 0;
}

/* Give the folio back as it was got. */
static void put_folio(struct fixture *f)
{
	struct folio *folio = f->folio;

	if (!folio)
		return;
	atomic_set(&folio_page(folio, 0)->_mapcount, -1);
	folio->mapping = NULL;
	folio_clear_dirty(folio);
	folio_clear_swapbacked(folio);
	if (folio_test_locked(folio))
		folio_unlock(folio);
	while (folio_ref_count(folio) > 1)
		folio_put(folio);
	free_pages((unsigned long)folio_address(folio), f->order);
	f->folio = NULL;
}

static void fixture_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (!f)
		return;
	put_folio(f);
	xa_destroy(&f->object.i_pages);
}

#define FOLIO_DIRTY		0x01
#define FOLIO_ANON		0x02
#define FOLIO_KSM		0x04
#define FOLIO_SWAPBACKED	0x08
#define FOLIO_LOCKED		0x10

/* What a folio is like: FOLIO_*, references, and mapcount of its first page. */
struct folio_state {
	u32 flags;
	unsigned int refs;
	int mapcount;
};

static struct folio *get_folio(struct kunit *test, unsigned int order,
			       const struct folio_state *state)
{
	struct fixture *f = test->priv;
	unsigned long addr;
	unsigned int i;

	addr = __get_free_pages(GFP_KERNEL | __GFP_COMP, order);
	KUNIT_ASSERT_NE(test, addr, 0UL);
	f->order = order;
	f->folio = page_folio(virt_to_page((void *)addr));
	for (i = 1; i < state->refs; i++)
		folio_get(f->folio);
	atomic_set(&folio_page(f->folio, 0)->_mapcount, state->mapcount - 1);
	if (state->flags & FOLIO_DIRTY)
		folio_set_dirty(f->folio);
	if (state->flags & FOLIO_SWAPBACKED)
		folio_set_swapbacked(f->folio);
	/* The bits that tell anonymous folios, whatever their name is. */
	if (state->flags & FOLIO_KSM)
		f->folio->mapping = (void *)0x3UL;
	else if (state->flags & FOLIO_ANON)
		f->folio->mapping = (void *)0x1UL;
	if (state->flags & FOLIO_LOCKED)
		KUNIT_ASSERT_TRUE(test, folio_trylock(f->folio));
	return f->folio;
}

/* Entries on page tables, by what they mean. */
enum entry_kind {
	PAGE_CLEAN,
	PAGE_DIRTY,
	PAGE_NO_ACCESS,
	ZERO_PAGE_ENTRY,
	SPECIAL_FRAME,
	NO_SUCH_FRAME,
	MIGRATION_READ,
	MIGRATION_WRITE,
	MIGRATION_READ_EXCLUSIVE,
	HWPOISON,
	DEVICE_PRIVATE,
	DEVICE_EXCLUSIVE,
	UFFD_WP_MARKER,
	SWAP,
	SWAP_WITH_BITS,
};

#define SWAP_TYPE	1
#define SWAP_OFFSET	0x12345

/* Those on a page that need not be present; a pfn is all they hold. */
static bool make_nonpresent(enum entry_kind kind, unsigned long pfn,
			    swp_entry_t *entry)
{
	switch (kind) {
#ifdef CONFIG_MIGRATION
	case MIGRATION_READ:
		*entry = make_readable_migration_entry(pfn);
		return true;
	case MIGRATION_WRITE:
		*entry = make_writable_migration_entry(pfn);
		return true;
	case MIGRATION_READ_EXCLUSIVE:
		*entry = make_readable_exclusive_migration_entry(pfn);
		return true;
#endif
#ifdef CONFIG_MEMORY_FAILURE
	case HWPOISON:
		*entry = make_hwpoison_entry(pfn_to_page(pfn));
		return true;
#endif
#ifdef CONFIG_DEVICE_PRIVATE
	case DEVICE_PRIVATE:
		*entry = swp_entry(SWP_DEVICE_WRITE, pfn);
		return true;
	case DEVICE_EXCLUSIVE:
#ifdef SWP_DEVICE_EXCLUSIVE
		*entry = swp_entry(SWP_DEVICE_EXCLUSIVE, pfn);
#else
		*entry = swp_entry(SWP_DEVICE_EXCLUSIVE_WRITE, pfn);
#endif
		return true;
#endif
#ifdef CONFIG_PTE_MARKER_UFFD_WP
	case UFFD_WP_MARKER:
		*entry = make_pte_marker_entry(PTE_MARKER_UFFD_WP);
		return true;
#endif
	case SWAP:
	case SWAP_WITH_BITS:
		*entry = swp_entry(SWAP_TYPE, SWAP_OFFSET);
		return true;
	default:
		return false;
	}
}

static pte_t make_pte(struct kunit *test, enum entry_kind kind,
		      struct folio *folio)
{
	pgprot_t prot = vm_get_page_prot(VM_READ | VM_WRITE);
	unsigned long pfn = folio_pfn(folio);
	pte_t pte = pfn_pte(pfn, prot);
	swp_entry_t entry;

	switch (kind) {
	case PAGE_CLEAN:
		return pte;
	case PAGE_DIRTY:
		return pte_mkdirty(pte);
	case PAGE_NO_ACCESS:
		return pte_modify(pte, vm_get_page_prot(0));
	case ZERO_PAGE_ENTRY:
		return pte_mkspecial(mk_pte(ZERO_PAGE(ADDR), prot));
	case SPECIAL_FRAME:
		return pte_mkspecial(pte);
	case NO_SUCH_FRAME:
		return pfn_pte((1UL << (MAX_PHYSMEM_BITS - PAGE_SHIFT)) - 1,
			       prot);
	default:
		if (!make_nonpresent(kind, pfn, &entry))
			kunit_skip(test, "this kernel has no such entries");
		pte = swp_entry_to_pte(entry);
		if (kind == SWAP_WITH_BITS)
			pte = pte_swp_mkexclusive(pte_swp_mksoft_dirty(pte));
		return pte;
	}
}

/* Whether the kernel at hand has a say in what is private. */
enum sharing {
	AS_GIVEN,
	NONPRESENT,	/* 6.1 counts it as private, later ones as shared */
};

struct entry_case {
	const char *desc;
	enum entry_kind kind;
	struct folio_state folio;
	unsigned long vm_flags;
	enum sharing sharing;
	struct memledger_vma_usage want;	/* see scale() */
};

static const struct entry_case entry_cases[] = {
	{
		"present, one reference",
		PAGE_CLEAN, { .refs = 1, .mapcount = 1 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		/* Whatever the mapcount says: there is just this one. */
		"present, one reference, mapcount 3",
		PAGE_CLEAN, { .refs = 1, .mapcount = 3 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"present, mapcount 0",
		PAGE_CLEAN, { .refs = 2, .mapcount = 0 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"present, mapcount 1",
		PAGE_CLEAN, { .refs = 2, .mapcount = 1 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"present, mapcount 2",
		PAGE_CLEAN, { .refs = 3, .mapcount = 2 },
		.want = { .rss = 1, .pss = 2, .shared_clean = 1 },
	}, {
		"dirty entry",
		PAGE_DIRTY, { .refs = 2, .mapcount = 1 },
		.want = { .rss = 1, .pss = 1, .pss_dirty = 1,
			  .private_dirty = 1 },
	}, {
		"clean entry of a dirty folio",
		PAGE_CLEAN, { FOLIO_DIRTY, 3, 2 },
		.want = { .rss = 1, .pss = 2, .pss_dirty = 2,
			  .shared_dirty = 1 },
	}, {
		"no access, but present",
		PAGE_NO_ACCESS, { .refs = 2, .mapcount = 1 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"anonymous",
		PAGE_DIRTY, { FOLIO_ANON | FOLIO_SWAPBACKED, 1, 1 },
		.want = { .rss = 1, .pss = 1, .pss_dirty = 1,
			  .private_dirty = 1, .anonymous = 1 },
	}, {
		"anonymous, clean, not to be freed",
		PAGE_CLEAN, { FOLIO_ANON | FOLIO_SWAPBACKED, 1, 1 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1,
			  .anonymous = 1 },
	}, {
		"lazyfree",
		PAGE_CLEAN, { FOLIO_ANON, 1, 1 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1,
			  .anonymous = 1, .lazyfree = 1 },
	}, {
		"lazyfree, written again",
		PAGE_DIRTY, { FOLIO_ANON, 1, 1 },
		.want = { .rss = 1, .pss = 1, .pss_dirty = 1,
			  .private_dirty = 1, .anonymous = 1 },
	}, {
		"lazyfree, dirty folio",
		PAGE_CLEAN, { FOLIO_ANON | FOLIO_DIRTY, 1, 1 },
		.want = { .rss = 1, .pss = 1, .pss_dirty = 1,
			  .private_dirty = 1, .anonymous = 1 },
	}, {
		"file page, not swap-backed: no lazyfree",
		PAGE_CLEAN, { 0, 1, 1 },
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"KSM",
		PAGE_CLEAN, { FOLIO_KSM | FOLIO_SWAPBACKED, 3, 2 },
		.want = { .rss = 1, .pss = 2, .shared_clean = 1,
			  .anonymous = 1, .ksm = 1 },
	}, {
		"locked",
		PAGE_CLEAN, { .refs = 3, .mapcount = 2 }, VM_LOCKED,
		.want = { .rss = 1, .pss = 2, .shared_clean = 1,
			  .locked = 2 },
	}, {
		"zero page",
		ZERO_PAGE_ENTRY, { .refs = 1 },
	}, {
		"special frame with a page",
		SPECIAL_FRAME, { .refs = 2, .mapcount = 1 },
	}, {
		"special frame in a PFN mapping",
		SPECIAL_FRAME, { .refs = 2, .mapcount = 1 }, VM_PFNMAP,
	}, {
		"page in a mixed mapping",
		PAGE_CLEAN, { .refs = 2, .mapcount = 1 }, VM_MIXEDMAP,
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"frame without a page",
		NO_SUCH_FRAME, { .refs = 1 },
	}, {
		"migration, read",
		MIGRATION_READ, { FOLIO_LOCKED, 1, 0 },
		.sharing = NONPRESENT,
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"migration, write",
		MIGRATION_WRITE, { FOLIO_LOCKED, 1, 0 },
		.sharing = NONPRESENT,
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"migration, mapcount 3, which is not to be read",
		MIGRATION_WRITE, { FOLIO_LOCKED, 4, 3 },
		.sharing = NONPRESENT,
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"migration of an anonymous page, dirty, locked",
		MIGRATION_READ_EXCLUSIVE,
		{ FOLIO_LOCKED | FOLIO_ANON | FOLIO_SWAPBACKED | FOLIO_DIRTY,
		  2, 0 },
		VM_LOCKED, NONPRESENT,
		.want = { .rss = 1, .pss = 1, .pss_dirty = 1,
			  .private_dirty = 1, .anonymous = 1, .locked = 1 },
	}, {
		"hardware poison",
		HWPOISON, { FOLIO_LOCKED, 2, 1 },
		.sharing = NONPRESENT,
		.want = { .rss = 1, .pss = 1, .private_clean = 1 },
	}, {
		"device-exclusive",
		DEVICE_EXCLUSIVE, { FOLIO_ANON | FOLIO_SWAPBACKED, 2, 1 },
		.sharing = NONPRESENT,
		.want = { .rss = 1, .pss = 1, .private_clean = 1,
			  .anonymous = 1 },
	}, {
		"device-private counts as present",
		DEVICE_PRIVATE, { FOLIO_ANON | FOLIO_SWAPBACKED, 3, 2 },
		.want = { .rss = 1, .pss = 2, .shared_clean = 1,
			  .anonymous = 1 },
	}, {
		"userfaultfd marker",
		UFFD_WP_MARKER, { .refs = 1 },
	}, {
		"swap",
		SWAP, { .refs = 1 },
		.want = { .swap = 1, .swap_pss = 1 },
	}, {
		"swap with soft-dirty and exclusive bits",
		SWAP_WITH_BITS, { .refs = 1 },
		.want = { .swap = 1, .swap_pss = 1 },
	},
};

static void entry_desc(const struct entry_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(entry, entry_cases, entry_desc);

static void as_shared(struct memledger_vma_usage *usage)
{
	swap(usage->private_clean, usage->shared_clean);
	swap(usage->private_dirty, usage->shared_dirty);
}

/*
 * The cases say 1 where they mean a page of @bytes, and in proportional fields
 * by how many it is divided.
 */
static struct memledger_vma_usage
scale(const struct memledger_vma_usage *want, u64 bytes)
{
	struct memledger_vma_usage out;

#define X(field, label, shift)						\
	out.field = !(shift) ? want->field * bytes :			\
		    want->field ? (bytes << SHIFT) / want->field : 0;
	MEMLEDGER_VMA_FIELDS(X)
#undef X
	return out;
}

static unsigned long walk_entries(struct fixture *f, pte_t *pte,
				  unsigned long addr, unsigned long end)
{
	addr = walk_ptes(&f->walk, pte, addr, end);
	memledger_page_walk_flush(&f->walk);
	return addr;
}

static void entry_test(struct kunit *test)
{
	const struct entry_case *c = test->param_value;
	struct memledger_vma_usage want = scale(&c->want, PAGE_SIZE);
	struct fixture *f = test->priv;
	struct folio *folio = get_folio(test, 0, &c->folio);
	pte_t pte = make_pte(test, c->kind, folio);

	if (c->want.ksm && !IS_ENABLED(CONFIG_KSM))
		kunit_skip(test, "this kernel has no KSM");
	set_vm_flags(&f->vma, VM_READ | VM_WRITE | c->vm_flags);
	if (c->sharing == NONPRESENT && !memledger_migration_is_private())
		as_shared(&want);

	KUNIT_ASSERT_FALSE(test, pte_none(pte));
	KUNIT_EXPECT_EQ(test, walk_entries(f, &pte, ADDR, ADDR + PAGE_SIZE),
			ADDR + PAGE_SIZE);
	memledger_expect_vma(test, c->desc, &f->usage, &want);

	/* Nor is it a hole, where what a shmem object has in swap counts. */
	memset(&f->usage, 0, sizeof(f->usage));
	f->walk.holes = &f->object;
	KUNIT_ASSERT_FALSE(test, xa_err(xa_store(&f->object.i_pages, PGOFF,
						 xa_mk_value(1), GFP_KERNEL)));
	KUNIT_EXPECT_EQ(test, walk_entries(f, &pte, ADDR, ADDR + PAGE_SIZE),
			ADDR + PAGE_SIZE);
	memledger_expect_vma(test, c->desc, &f->usage, &want);
}

/* Who shares a slot is asked for the slot that the entry names. */
static void swap_entry_test(struct kunit *test)
{
	static const struct folio_state state = { .refs = 1 };
	static const u32 sharers[] = { 0, 1, 3 };
	struct fixture *f = test->priv;
	struct folio *folio = get_folio(test, 0, &state);
	pte_t pte = make_pte(test, SWAP_WITH_BITS, folio);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sharers); i++) {
		const struct memledger_vma_usage want = {
			.swap = PAGE_SIZE,
			.swap_pss = sharers[i] ? PAGE_PSS / sharers[i] : 0,
		};

		swap_sharers = sharers[i];
		memset(&f->usage, 0, sizeof(f->usage));
		walk_entries(f, &pte, ADDR, ADDR + PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, (unsigned long)swp_type(swap_asked),
				(unsigned long)SWAP_TYPE);
		KUNIT_EXPECT_EQ(test, (unsigned long)swp_offset(swap_asked),
				(unsigned long)SWAP_OFFSET);
		memledger_expect_vma(test, "swap", &f->usage, &want);
	}
}

/*
 * A table of six entries, and below each what the object has in swap:
 *
 *   table:   none   page   none   none   swap   marker
 *   object:  swap   swap   page   -      swap   swap
 *   counts:  hole   page   -      -      swap   -
 */
static void pte_table_test(struct kunit *test)
{
	static const struct folio_state state = { .refs = 2, .mapcount = 1 };
	static const long budgets[] = { 1, 2, 3, 5, 6, 7, 1000 };
	const struct memledger_vma_usage want = {
		.rss = PAGE_SIZE, .pss = PAGE_PSS,
		.private_clean = PAGE_SIZE,
		.swap = 2 * PAGE_SIZE, .swap_pss = PAGE_PSS,
	};
	struct fixture *f = test->priv;
	struct folio *folio = get_folio(test, 0, &state);
	const unsigned long end = ADDR + 6 * PAGE_SIZE;
	void *swapped = xa_mk_value(1);
	void *object[6] = {
		swapped, swapped, folio_page(folio, 0), NULL, swapped, swapped,
	};
	pte_t table[6] = {};
	unsigned int i;

	table[1] = make_pte(test, PAGE_CLEAN, folio);
	table[4] = make_pte(test, SWAP, folio);
	table[5] = make_pte(test, UFFD_WP_MARKER, folio);
	f->walk.holes = &f->object;
	for (i = 0; i < ARRAY_SIZE(object); i++)
		KUNIT_ASSERT_FALSE(test,
				   xa_err(xa_store(&f->object.i_pages,
						   PGOFF + i, object[i],
						   GFP_KERNEL)));

	for (i = 0; i < ARRAY_SIZE(budgets); i++) {
		unsigned long addr = ADDR, next;

		memset(&f->usage, 0, sizeof(f->usage));
		/* However small the slices, each entry counts just once. */
		while (addr < end) {
			f->walk.budget = budgets[i];
			next = walk_entries(f,
					    &table[(addr - ADDR) >> PAGE_SHIFT],
					    addr, end);
			KUNIT_ASSERT_GT(test, next, addr);
			KUNIT_ASSERT_LE(test, next, end);
			if (next < end)
				KUNIT_EXPECT_LE(test, f->walk.budget, 0L);
			addr = next;
		}
		memledger_expect_vma(test, "table", &f->usage, &want);
	}

	/* Only private mappings of shmem ask what is behind a hole. */
	memset(&f->usage, 0, sizeof(f->usage));
	f->walk.holes = NULL;
	f->walk.budget = 1000;
	KUNIT_EXPECT_EQ(test, walk_entries(f, table, ADDR, end), end);
	KUNIT_EXPECT_EQ(test, f->usage.swap, (u64)PAGE_SIZE);
}

/* All that a row of entries may consist of, each on a folio of its own. */
static const struct {
	enum entry_kind kind;
	struct folio_state folio;
} neighbours[] = {
	{ PAGE_CLEAN, { 0, 2, 1 } },
	{ PAGE_CLEAN, { 0, 4, 3 } },
	{ PAGE_CLEAN, { FOLIO_DIRTY, 2, 1 } },
	{ PAGE_DIRTY, { 0, 2, 1 } },
	{ PAGE_NO_ACCESS, { 0, 2, 1 } },
	{ PAGE_CLEAN, { FOLIO_ANON | FOLIO_SWAPBACKED, 2, 1 } },
	{ PAGE_CLEAN, { FOLIO_ANON | FOLIO_SWAPBACKED, 1, 1 } },
	{ PAGE_DIRTY, { FOLIO_ANON | FOLIO_SWAPBACKED, 3, 2 } },
	{ PAGE_NO_ACCESS, { FOLIO_ANON | FOLIO_SWAPBACKED, 2, 1 } },
	{ PAGE_CLEAN, { FOLIO_ANON, 2, 1 } },
	{ PAGE_CLEAN, { FOLIO_KSM | FOLIO_SWAPBACKED, 6, 5 } },
	{ ZERO_PAGE_ENTRY, { 0, 1, 0 } },
	{ NO_SUCH_FRAME, { 0, 1, 0 } },
	{ SWAP, { 0, 1, 0 } },
};

static void walk_afresh(struct fixture *f, pte_t *pte, unsigned int nr,
			struct memledger_vma_usage *usage)
{
	begin_walk(f);
	f->walk.usage = usage;
	walk_entries(f, pte, ADDR, ADDR + nr * PAGE_SIZE);
}

static void add_vma_usage(struct memledger_vma_usage *sum,
			  const struct memledger_vma_usage *usage)
{
#define X(field, label, shift) sum->field += usage->field;
	MEMLEDGER_VMA_FIELDS(X)
#undef X
}

/*
 * An entry is compared with the one before. Whatever that was, it counts as it
 * does alone: in all rows of A B, and once more A.
 */
static void neighbours_test(struct kunit *test)
{
	struct memledger_vma_usage *alone, want, is;
	struct folio *folio[ARRAY_SIZE(neighbours)];
	pte_t pte[ARRAY_SIZE(neighbours)];
	struct fixture *f = test->priv;
	char row_name[16];
	unsigned int i, k;

	alone = kunit_kcalloc(test, ARRAY_SIZE(neighbours), sizeof(*alone),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, alone);
	for (i = 0; i < ARRAY_SIZE(neighbours); i++) {
		folio[i] = get_folio(test, 0, &neighbours[i].folio);
		f->folio = NULL;
		pte[i] = make_pte(test, neighbours[i].kind, folio[i]);
		walk_afresh(f, &pte[i], 1, &alone[i]);
	}
	for (i = 0; i < ARRAY_SIZE(neighbours); i++) {
		for (k = 0; k < ARRAY_SIZE(neighbours); k++) {
			pte_t row[] = { pte[i], pte[k], pte_mkold(pte[i]) };

			/* Elsewhere the bit may mean something else. */
			if (!pte_present(pte[i]))
				row[2] = pte[i];
			want = alone[i];
			add_vma_usage(&want, &alone[k]);
			add_vma_usage(&want, &alone[i]);
			is = (struct memledger_vma_usage){};
			walk_afresh(f, row, ARRAY_SIZE(row), &is);
			snprintf(row_name, sizeof(row_name), "%u %u", i, k);
			memledger_expect_vma(test, row_name, &is, &want);
		}
	}
	/* More forms than are remembered, and each again. */
	want = (struct memledger_vma_usage){};
	is = (struct memledger_vma_usage){};
	begin_walk(f);
	f->walk.usage = &is;
	for (i = 0; i < 3 * ARRAY_SIZE(neighbours); i++) {
		k = i * 5 % ARRAY_SIZE(neighbours);
		walk_entries(f, &pte[k], ADDR, ADDR + PAGE_SIZE);
		add_vma_usage(&want, &alone[k]);
		memledger_expect_vma(test, "again", &is, &want);
	}
	for (i = 0; i < ARRAY_SIZE(neighbours); i++) {
		f->folio = folio[i];
		put_folio(f);
	}
}

/* What is remembered of a table holds while the entry for it is the same. */
static void remembered_table_test(struct kunit *test)
{
	static const struct folio_state state = { .refs = 2, .mapcount = 1 };
	const struct memledger_vma_usage want = {
		.rss = PAGE_SIZE, .pss = PAGE_PSS,
		.private_clean = PAGE_SIZE,
	};
	const unsigned long end = ADDR + PAGE_SIZE;
	struct fixture *f = test->priv;
	struct folio *folio = get_folio(test, 0, &state);
	pte_t pte = make_pte(test, PAGE_CLEAN, folio);
	pmd_t pmd = pfn_pmd(folio_pfn(folio), vm_get_page_prot(VM_READ));
	static DEFINE_SPINLOCK(lock);

	f->walk.table = (struct memledger_pte_table){
		.addr = ADDR & PMD_MASK,
		.pmd = &pmd,
		.entry = pmd,
		.ptes = &pte - pte_index(ADDR),
		.ptl = &lock,
	};
	KUNIT_EXPECT_EQ(test, walk_table(&f->walk, ADDR, end), end);
	KUNIT_EXPECT_EQ(test, f->walk.table.addr, ADDR & PMD_MASK);

	pmd = __pmd(0);
	KUNIT_EXPECT_EQ(test, walk_table(&f->walk, ADDR, end), ADDR);
	KUNIT_EXPECT_EQ(test, f->walk.table.addr, NO_TABLE);
	memledger_page_walk_flush(&f->walk);
	memledger_expect_vma(test, "table", &f->usage, &want);

	/* In the next slice it may be another one in the same place. */
	f->walk.table.addr = ADDR & PMD_MASK;
	memledger_page_walk_begin(&f->walk, 1);
	KUNIT_EXPECT_EQ(test, f->walk.table.addr, NO_TABLE);
}

struct shmem_case {
	pgoff_t start;
	pgoff_t end;
	unsigned long pages;
};

static void expect_shmem_swap(struct kunit *test, const struct shmem_case *c)
{
	struct fixture *f = test->priv;
	static const long budgets[] = { 1, 2, 3, 1000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(budgets); i++) {
		pgoff_t index = c->start;
		u64 bytes = 0;

		while (index < c->end) {
			pgoff_t before = index;
			long budget = budgets[i];

			bytes += memledger_shmem_swap(&f->object, &index,
						      c->end, &budget);
			KUNIT_ASSERT_GT(test, index, before);
			KUNIT_ASSERT_LE(test, index, c->end);
			if (index < c->end)
				KUNIT_EXPECT_LE(test, budget, 0L);
		}
		KUNIT_EXPECT_EQ_MSG(test, bytes, (u64)c->pages << PAGE_SHIFT,
				    "[%lu, %lu) by %ld", c->start, c->end,
				    budgets[i]);
	}
}

/* Swapped out: 3, 4, 63, 64 and 4096; resident: 5. */
static void shmem_swap_test(struct kunit *test)
{
	static const struct shmem_case cases[] = {
		{ 0, 1, 0 }, { 0, 3, 0 }, { 0, 4, 1 }, { 3, 4, 1 },
		{ 4, 5, 1 }, { 3, 5, 2 }, { 5, 6, 0 }, { 5, 63, 0 },
		{ 0, 64, 3 }, { 64, 65, 1 }, { 0, 100, 4 }, { 65, 4096, 0 },
		{ 65, 4097, 1 }, { 0, 100000, 5 }, { 4097, 100000, 0 },
	};
	static const pgoff_t swapped[] = { 3, 4, 63, 64, 4096 };
	static const struct folio_state state = { .refs = 1 };
	struct fixture *f = test->priv;
	struct xarray *xa = &f->object.i_pages;
	unsigned int i;

	expect_shmem_swap(test, &(struct shmem_case){ 0, 100000, 0 });

	for (i = 0; i < ARRAY_SIZE(swapped); i++)
		KUNIT_ASSERT_FALSE(test,
				   xa_err(xa_store(xa, swapped[i],
						   xa_mk_value(i + 1),
						   GFP_KERNEL)));
	KUNIT_ASSERT_FALSE(test,
			   xa_err(xa_store(xa, 5, get_folio(test, 0, &state),
					   GFP_KERNEL)));
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		expect_shmem_swap(test, &cases[i]);
}

/* Large entries, of 8 and of 64 pages: one that sticks out counts whole. */
static void shmem_swap_large_test(struct kunit *test)
{
	/* Android's kernels have no means to make such entries from here. */
#if defined(CONFIG_XARRAY_MULTI) && !MEMLEDGER_ANDROID_KERNEL
	static const struct shmem_case cases[] = {
		{ 0, 8, 0 }, { 0, 9, 8 }, { 8, 16, 8 }, { 8, 9, 8 },
		{ 10, 12, 8 }, { 15, 16, 8 }, { 15, 17, 9 }, { 16, 17, 1 },
		{ 0, 64, 9 }, { 17, 128, 0 }, { 17, 129, 64 },
		{ 0, 1000, 73 }, { 128, 192, 64 }, { 150, 151, 64 },
		{ 191, 192, 64 }, { 192, 1000, 0 },
	};
	struct fixture *f = test->priv;
	struct xarray *xa = &f->object.i_pages;
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, xa_err(xa_store_range(xa, 8, 15,
						       xa_mk_value(1),
						       GFP_KERNEL)));
	KUNIT_ASSERT_FALSE(test, xa_err(xa_store(xa, 16, xa_mk_value(2),
						 GFP_KERNEL)));
	KUNIT_ASSERT_FALSE(test, xa_err(xa_store_range(xa, 128, 191,
						       xa_mk_value(3),
						       GFP_KERNEL)));
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		expect_shmem_swap(test, &cases[i]);
#else
	kunit_skip(test, "this kernel makes no large entries for us");
#endif
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
struct pmd_case {
	const char *desc;
	enum entry_kind kind;
	u32 folio_flags;
	struct memledger_vma_usage want;	/* see scale() */
};

static const struct pmd_case pmd_cases[] = {
	{
		"migration of an anonymous huge page, read",
		MIGRATION_READ, FOLIO_LOCKED | FOLIO_ANON | FOLIO_SWAPBACKED,
		{ .rss = 1, .pss = 1, .private_clean = 1, .anonymous = 1,
		  .anon_huge = 1 },
	}, {
		"migration of an anonymous huge page, write",
		MIGRATION_WRITE, FOLIO_LOCKED | FOLIO_ANON | FOLIO_SWAPBACKED,
		{ .rss = 1, .pss = 1, .private_clean = 1, .anonymous = 1,
		  .anon_huge = 1 },
	}, {
		"migration of a shmem huge page",
		MIGRATION_WRITE, FOLIO_LOCKED | FOLIO_SWAPBACKED,
		{ .rss = 1, .pss = 1, .private_clean = 1,
		  .shmem_pmd_mapped = 1 },
	}, {
		"migration of a file's huge page",
		MIGRATION_READ, FOLIO_LOCKED,
		{ .rss = 1, .pss = 1, .private_clean = 1,
		  .file_pmd_mapped = 1 },
	}, {
		"huge page that nobody maps: the huge zero page",
		PAGE_CLEAN, 0, {},
	},
};

static void pmd_desc(const struct pmd_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(pmd, pmd_cases, pmd_desc);

/* The lower part of the entry has been counted when it still was a table. */
static void pmd_part_test(struct kunit *test, const struct pmd_case *c,
			  unsigned long part)
{
	const struct folio_state state = { c->folio_flags, 2, 0 };
	struct memledger_vma_usage want = scale(&c->want, part);
	struct fixture *f = test->priv;
	struct folio *folio = get_folio(test, HPAGE_PMD_ORDER, &state);
	unsigned long pfn = folio_pfn(folio);
	swp_entry_t entry;
	pmd_t pmd;

	if (c->kind == PAGE_CLEAN) {
		pmd = pmd_mkhuge(pfn_pmd(pfn, vm_get_page_prot(VM_READ)));
	} else {
		if (!thp_migration_supported() ||
		    !make_nonpresent(c->kind, pfn, &entry))
			kunit_skip(test, "this kernel has no such entries");
		pmd = swp_entry_to_pmd(entry);
		KUNIT_ASSERT_FALSE(test, pmd_present(pmd));
		if (!memledger_migration_is_private())
			as_shared(&want);
		/* smaps asks this bit of the entry, whatever it means in it. */
		if (pmd_dirty(pmd)) {
			swap(want.private_clean, want.private_dirty);
			swap(want.shared_clean, want.shared_dirty);
			want.pss_dirty = want.pss;
		}
	}
	f->usage = (struct memledger_vma_usage){};
	account_pmd(&f->walk, ADDR + HPAGE_PMD_SIZE - part,
		    ADDR + HPAGE_PMD_SIZE, pmd);
	memledger_page_walk_flush(&f->walk);
	memledger_expect_vma(test, c->desc, &f->usage, &want);
}

static void pmd_test(struct kunit *test)
{
	pmd_part_test(test, test->param_value, HPAGE_PMD_SIZE);
	pmd_part_test(test, test->param_value, HPAGE_PMD_SIZE / 4);
}

/* DAX's pages are no folio together, and nobody counts who maps them. */
static void pmd_devmap_test(struct kunit *test)
{
	/* Kernels without the bit in page-table entries have not this either. */
#ifdef CONFIG_ARCH_HAS_PTE_DEVMAP
	const struct memledger_vma_usage one = {
		.rss = 1, .pss = 1, .private_clean = 1,
	};
	unsigned long pages = __get_free_pages(GFP_KERNEL, HPAGE_PMD_ORDER);
	struct memledger_vma_usage want = {};
	struct fixture *f = test->priv;
	pmd_t pmd;

	KUNIT_ASSERT_NE(test, pages, 0UL);
	pmd = pfn_pmd(page_to_pfn(virt_to_page((void *)pages)),
		      vm_get_page_prot(VM_READ));
	pmd = pmd_mkdevmap(pmd_mkhuge(pmd));
	if (memledger_follows_huge()) {
		want = scale(&one, PAGE_SIZE);
		/* This page, unlike DAX's, is not a device's. */
		want.file_pmd_mapped = HPAGE_PMD_SIZE;
	}
	f->usage = (struct memledger_vma_usage){};
	account_pmd(&f->walk, ADDR, ADDR + HPAGE_PMD_SIZE, pmd);
	memledger_page_walk_flush(&f->walk);
	memledger_expect_vma(test, "devmap", &f->usage, &want);
	free_pages(pages, HPAGE_PMD_ORDER);
#else
	kunit_skip(test, "this kernel has no such entries");
#endif
}
#endif

#ifdef CONFIG_HUGETLB_PAGE
static void hugetlb_entry_test(struct kunit *test)
{
	static const struct folio_state state = { FOLIO_LOCKED, 1, 0 };
	static const enum entry_kind kinds[] = {
		MIGRATION_READ, MIGRATION_WRITE, HWPOISON,
	};
	struct fixture *f = test->priv;
	struct folio *folio = get_folio(test, 0, &state);
	struct memledger_vma_usage want;
	pte_t pte = __pte(0);
	unsigned int i;

	account_hugetlb(&f->walk, &pte, 2 * PAGE_SIZE);
	want = (struct memledger_vma_usage){};
	memledger_expect_vma(test, "none", &f->usage, &want);

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		pte = make_pte(test, kinds[i], folio);
		memset(&f->usage, 0, sizeof(f->usage));
		account_hugetlb(&f->walk, &pte, 2 * PAGE_SIZE);
		want = (struct memledger_vma_usage){};
		if (memledger_migration_is_private())
			want.private_hugetlb = 2 * PAGE_SIZE;
		else
			want.shared_hugetlb = 2 * PAGE_SIZE;
		memledger_expect_vma(test, "not present", &f->usage, &want);
	}

	pte = make_pte(test, UFFD_WP_MARKER, folio);
	memset(&f->usage, 0, sizeof(f->usage));
	account_hugetlb(&f->walk, &pte, 2 * PAGE_SIZE);
	want = (struct memledger_vma_usage){};
	memledger_expect_vma(test, "marker", &f->usage, &want);
}
#endif

static struct kunit_case page_walk_tests[] = {
	KUNIT_CASE_PARAM(entry_test, entry_gen_params),
	KUNIT_CASE(swap_entry_test),
	KUNIT_CASE(pte_table_test),
	KUNIT_CASE(neighbours_test),
	KUNIT_CASE(remembered_table_test),
	KUNIT_CASE(shmem_swap_test),
	KUNIT_CASE(shmem_swap_large_test),
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	KUNIT_CASE_PARAM(pmd_test, pmd_gen_params),
	KUNIT_CASE(pmd_devmap_test),
#endif
#ifdef CONFIG_HUGETLB_PAGE
	KUNIT_CASE(hugetlb_entry_test),
#endif
	{}
};

static struct kunit_suite page_walk_suite = {
	.name = "memledger_page_walk",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = page_walk_tests,
};

kunit_test_suite(page_walk_suite);
