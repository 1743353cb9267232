/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that differs between kernels 6.1 and 7.x, one project-named
 * inline a difference, so that dropping a kernel is deleting an #else.
 *
 * Presence of a CONFIG_ or a header decides where it can (vendors backport),
 * the version only where nothing else tells. Nothing outside this file tests a
 * kernel version.
 */
#ifndef _MEMLEDGER_COMPAT_H
#define _MEMLEDGER_COMPAT_H

#include <linux/version.h>

/* First, before another difference stops the build with a riddle. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "memledger needs Linux 6.1 or newer"
#endif
/* What it does not know it would count wrongly, and not notice. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(8, 0, 0)
#error "memledger knows Linux 6.1 to 7.x; see module/compat.h about newer ones"
#endif

#include <linux/bits.h>
#include <linux/compat.h>
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pgtable.h>
#include <linux/ptrace.h>
#include <linux/shmem_fs.h>
#include <linux/swapops.h>
#include <linux/sysfs.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#include <linux/leafops.h>
#endif

#include <memledger/graphics.h>

#ifndef CONFIG_64BIT
#error "memledger needs a 64-bit kernel"
#endif
#ifndef CONFIG_ARCH_HAS_PTE_SPECIAL
#error "memledger needs an architecture with special page-table entries"
#endif

/*
 * Android's kernels refuse symbols outside their lists (android/abi_gki_*).
 * sparse has no __has_include, and checks no Android kernel.
 */
#define MEMLEDGER_ANDROID_KERNEL	0
#ifndef __CHECKER__
#if __has_include(<linux/android_kabi.h>)
#undef MEMLEDGER_ANDROID_KERNEL
#define MEMLEDGER_ANDROID_KERNEL	1
#endif
#endif

/*
 * Processes
 */

/* The last one unmaps all: a kernel thread does where that can be asked for. */
static inline void memledger_mmput(struct mm_struct *mm)
{
#if MEMLEDGER_ANDROID_KERNEL
	mmput(mm);
#else
	mmput_async(mm);
#endif
}

/*
 * Names
 */

/*
 * Of files opened through a stacking file system maps shows what the user opened.
 * That is in f_path up to 6.6; nobody keeps up what is between that and 6.12. The
 * helpers take a const pointer since 6.17, and in later releases of 6.12.
 */
static inline const struct path *memledger_file_path(const struct file *file)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) && !MEMLEDGER_ANDROID_KERNEL
	return file_user_path((struct file *)file);
#else
	return &file->f_path;
#endif
}

static inline const struct inode *memledger_file_inode(const struct file *file)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) && !MEMLEDGER_ANDROID_KERNEL
	return file_user_inode((struct file *)file);
#else
	return file_inode(file);
#endif
}

/*
 * anon_vma_name() is exported to nobody. 6.2 lets shared anonymous memory have
 * a name; before, the field is in a union that means something else there.
 */
static inline const char *memledger_vma_anon_name(struct vm_area_struct *vma)
{
#ifdef CONFIG_ANON_VMA_NAME
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	if (vma->vm_file)
		return NULL;
#endif
	lockdep_assert_held(&vma->vm_mm->mmap_lock);
	return vma->anon_name ? vma->anon_name->name : NULL;
#else
	return NULL;
#endif
}

/* 6.6 moved both tests out of fs/proc and changed the one for the heap. */
static inline bool memledger_vma_is_heap(struct vm_area_struct *vma)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return vma_is_initial_heap(vma);
#else
	return vma->vm_start <= vma->vm_mm->brk &&
	       vma->vm_end >= vma->vm_mm->start_brk;
#endif
}

static inline bool memledger_vma_is_stack(struct vm_area_struct *vma)
{
	return vma->vm_start <= vma->vm_mm->start_stack &&
	       vma->vm_end >= vma->vm_mm->start_stack;
}

/*
 * Page-table entries
 */

static inline pmd_t memledger_pmd_read(pmd_t *pmd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return pmdp_get_lockless(pmd);
#else
	return READ_ONCE(*pmd);
#endif
}

/**
 * struct memledger_pte_block - entries that arm64 keeps as one
 * @start: the first of them; NULL for no block
 * @dirty: one of them is
 */
struct memledger_pte_block {
	const pte_t *start;
	bool dirty;
};

/*
 * As ptep_get(), but whether an entry is young. Any entry of a contiguous block may
 * have been made dirty for all of them, so arm64's looks at all, of which there are
 * 128 where pages are of 16 kB, for each. Here once for neighbours in a block.
 */
static __always_inline pte_t
memledger_ptep_get(pte_t *ptep, struct memledger_pte_block *block)
{
#ifdef CONFIG_ARM64_CONTPTE
	pte_t *start = PTR_ALIGN_DOWN(ptep, CONT_PTES * sizeof(*ptep));
	pte_t pte = __ptep_get(ptep);

	if (likely(!pte_valid_cont(pte)))
		return pte;
	if (block->start != start) {
		unsigned int i = 0;

		while (i < CONT_PTES && !pte_dirty(__ptep_get(start + i)))
			i++;
		block->dirty = i < CONT_PTES;
		block->start = start;
	}
	return block->dirty ? pte_mkdirty(pte) : pte;
#else
	return ptep_get(ptep);
#endif
}

static inline bool memledger_pmd_devmap(pmd_t pmd)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	return pmd_devmap(pmd);
#else
	return false;
#endif
}

/* 6.12 marks huge PFN mappings special, later kernels the huge zero page too. */
static inline bool memledger_pmd_special(pmd_t pmd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return pmd_special(pmd);
#else
	return false;
#endif
}

/*
 * Up to 6.5 smaps counts what follow_trans_huge_pmd() finds behind a huge entry,
 * as a core dump does: DAX's pages, too, but nothing where access has been taken
 * away for NUMA balancing, or by mprotect(). Later it is vm_normal_page_pmd().
 */
static inline bool memledger_follows_huge(void)
{
	return LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0);
}

/*
 * Since walk_page_vma() asks nobody which mappings to leave out (6.3 at the latest)
 * smaps walks VM_PFNMAP mappings, and counts the pages that were copied on write
 * into them. 6.1 passes them over, and so does Android's 6.6, whose smaps walks a
 * range: a mapping without the padding that its linker adds.
 */
static inline bool memledger_walks_pfnmap(void)
{
	return LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0) &&
	       !MEMLEDGER_ANDROID_KERNEL;
}

/*
 * 6.1 counts a page under migration as private; later kernels count every
 * non-present entry as shared.
 */
static inline bool memledger_migration_is_private(void)
{
	return LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0);
}

/*
 * Entries that are not present. 6.19 gave what they are a vocabulary of its own.
 */

static inline swp_entry_t memledger_pte_leaf(pte_t pte)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return softleaf_from_pte(pte);
#else
	return pte_to_swp_entry(pte);
#endif
}

static inline swp_entry_t memledger_pmd_leaf(pmd_t pmd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return softleaf_from_pmd(pmd);
#else
	return pmd_to_swp_entry(pmd);
#endif
}

static inline bool memledger_leaf_is_swap(swp_entry_t entry)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return softleaf_is_swap(entry);
#else
	return !non_swap_entry(entry);
#endif
}

/* The page that the entry stands for, or NULL. */
static inline struct page *memledger_leaf_page(swp_entry_t entry)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return softleaf_has_pfn(entry) ? softleaf_to_page(entry) : NULL;
#else
	return is_pfn_swap_entry(entry) ? pfn_swap_entry_to_page(entry) : NULL;
#endif
}

/* 6.1 trusts the mapcount of every entry but migration's, present or not. */
static inline bool memledger_leaf_has_mapcount(swp_entry_t entry)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return softleaf_is_device_private(entry);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return is_device_private_entry(entry);
#else
	return !is_migration_entry(entry);
#endif
}

/*
 * Whether @page is one of the later pages of a folio. PageTail() also knows the
 * first pages of a hugetlb folio that are later ones in truth: up to 7.0 they
 * look the same, PG_head included, where memory for struct pages is saved.
 */
static inline bool memledger_page_is_tail(const struct page *page)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
	return READ_ONCE(page->compound_head) & 1;
#else
	return PageTail(page);
#endif
}

/* How often the page of a folio that is not large is mapped. */
static inline u32 memledger_small_mapcount(struct folio *folio)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	return page_mapcount(&folio->page);
#elif defined(CONFIG_NO_PAGE_MAPCOUNT)
	return atomic_read(&folio->_mapcount) + 1;
#else
	int mapcount = atomic_read(&folio->_mapcount) + 1;

	/* The field holds the type of pages that have one. */
	return page_mapcount_is_type(mapcount) ? 0 : mapcount;
#endif
}

/*
 * How often a page is mapped. The kernel's own function for smaps is private
 * to fs/proc from 6.12 on; this must give what it gives.
 */
static inline u32 memledger_page_mapcount(struct folio *folio,
					  struct page *page)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	return page_mapcount(page);
#elif defined(CONFIG_NO_PAGE_MAPCOUNT)
	int entire, mapcount;

	if (!folio_test_large(folio))
		return memledger_small_mapcount(folio);
	mapcount = folio_large_mapcount(folio);
	if (mapcount <= 0)
		return 0;
	entire = folio_entire_mapcount(folio);
	if (mapcount <= entire)
		return entire;
	/* The average, rounded to the nearest, but not to none. */
	mapcount = (unsigned int)(mapcount - entire +
				  (int)(folio_large_nr_pages(folio) / 2)) >>
		   folio_large_order(folio);
	return max(mapcount + entire, 1);
#else
	int mapcount;

	if (!folio_test_large(folio))
		return memledger_small_mapcount(folio);
	mapcount = atomic_read(&page->_mapcount) + 1;
	if (page_mapcount_is_type(mapcount))
		mapcount = 0;
	return mapcount + folio_entire_mapcount(folio);
#endif
}

/* Whether smaps calls a page private that is mapped @mapcount times. */
static inline bool memledger_page_private(struct folio *folio, u32 mapcount)
{
#ifdef CONFIG_NO_PAGE_MAPCOUNT
	return !folio_maybe_mapped_shared(folio);
#else
	return mapcount < 2;
#endif
}

/*
 * By its average, a page may be mapped more than once although one process has
 * the whole folio: it is private then, and divided all the same.
 */
static inline bool memledger_divides_private(void)
{
	return IS_ENABLED(CONFIG_NO_PAGE_MAPCOUNT);
}

/* PG_*. 6.18 gave them a type. */
static inline unsigned long memledger_folio_flags(struct folio *folio)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return READ_ONCE(folio->flags.f);
#else
	return READ_ONCE(folio->flags);
#endif
}

static inline u32 memledger_folio_entire_mapcount(struct folio *folio)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	return compound_mapcount(&folio->page);
#else
	return folio_entire_mapcount(folio);
#endif
}

/*
 * What folio_test_anon() and folio_test_ksm() say of a folio with this mapping,
 * for who looks at the mapping but once. Before 6.16 the bits had the name of
 * the page.
 */
#ifdef FOLIO_MAPPING_FLAGS
#define MEMLEDGER_MAPPING_ANON		FOLIO_MAPPING_ANON
#define MEMLEDGER_MAPPING_KSM		FOLIO_MAPPING_KSM
#else
#define MEMLEDGER_MAPPING_ANON		PAGE_MAPPING_ANON
#define MEMLEDGER_MAPPING_KSM		PAGE_MAPPING_KSM
#endif

static inline bool
memledger_mapping_is_anon(const struct address_space *mapping)
{
	return (unsigned long)mapping & MEMLEDGER_MAPPING_ANON;
}

static inline bool
memledger_mapping_is_ksm(const struct address_space *mapping)
{
	return IS_ENABLED(CONFIG_KSM) &&
	       ((unsigned long)mapping & MEMLEDGER_MAPPING_KSM) ==
	       MEMLEDGER_MAPPING_KSM;
}

/*
 * Of any mapping but hugetlb's. For these 6.1's linear_page_index() calls a
 * function that Android's kernels do not list.
 */
static inline pgoff_t memledger_page_index(const struct vm_area_struct *vma,
					   unsigned long addr)
{
	return ((addr - vma->vm_start) >> PAGE_SHIFT) + vma->vm_pgoff;
}

/* Xen's grant mappings name their pages themselves; since 6.18 by another name. */
static inline bool memledger_vma_special_page(struct vm_area_struct *vma,
					      unsigned long addr,
					      struct page **page)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
	if (vma->vm_ops && vma->vm_ops->find_special_page) {
		*page = vma->vm_ops->find_special_page(vma, addr);
		return true;
	}
#elif defined(CONFIG_FIND_NORMAL_PAGE)
	if (vma->vm_ops && vma->vm_ops->find_normal_page) {
		*page = vma->vm_ops->find_normal_page(vma, addr);
		return true;
	}
#endif
	return false;
}

#ifdef CONFIG_HUGETLB_PAGE
static inline bool memledger_hugetlb_shared(struct folio *folio, pte_t *pte,
					    bool present)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	return !present || folio_maybe_mapped_shared(folio) ||
	       hugetlb_pmd_shared(pte);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return !present || folio_likely_mapped_shared(folio) ||
	       hugetlb_pmd_shared(pte);
#else
	return page_mapcount(&folio->page) >= 2 || hugetlb_pmd_shared(pte);
#endif
}
#endif

/*
 * User space
 */

/* Without its pointer authentication; of an address that has none, itself. */
static inline unsigned long memledger_user_pc(unsigned long pc)
{
#ifdef CONFIG_ARM64
	return pc & GENMASK(VA_BITS_MIN - 1, 0);
#else
	return pc;
#endif
}

/* Without its tag, as the system calls for mappings take it. */
static inline unsigned long memledger_untag(unsigned long addr)
{
#ifdef CONFIG_ARM64
	return untagged_addr(addr);
#else
	return addr;
#endif
}

/* Argument @n of a system call, at the entry of its function. */
static inline unsigned long memledger_syscall_arg(struct pt_regs *regs,
						  unsigned int n)
{
#if defined(CONFIG_X86_64)
	const struct pt_regs *user = (const struct pt_regs *)regs->di;

	/* x32 has its arguments where 64-bit tasks have them. */
	if (in_ia32_syscall()) {
		switch (n) {
		case 0: return (u32)user->bx;
		case 1: return (u32)user->cx;
		case 2: return (u32)user->dx;
		case 3: return (u32)user->si;
		}
		return 0;
	}
	switch (n) {
	case 0: return user->di;
	case 1: return user->si;
	case 2: return user->dx;
	case 3: return user->r10;
	}
	return 0;
#elif defined(CONFIG_ARM64)
	return ((const struct pt_regs *)regs->regs[0])->regs[n];
#else
	return 0;
#endif
}

/*
 * Drivers
 */

/* KGSL divides imported buffers in another way from the 6.12 trees on. */
static inline enum memledger_imported_rule memledger_default_imported_rule(void)
{
	return LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) ?
	       MEMLEDGER_IMPORTED_SHARED : MEMLEDGER_IMPORTED_SURFACE_FULL;
}

/* What a platform driver's remove() returns: nothing, from 6.11 on. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define memledger_remove_t		void
#define memledger_remove_done
#else
#define memledger_remove_t		int
#define memledger_remove_done		0
#endif

/* Android has the function in 6.1 already. */
static inline void memledger_vma_flags_set(struct vm_area_struct *vma,
					   unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0) || MEMLEDGER_ANDROID_KERNEL
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* 7.0 made the flags a type of their own. No memory is set aside for the file. */
static inline struct file *memledger_shmem_file_setup(const char *name,
						      loff_t size)
{
#ifdef mk_vma_flags
	return shmem_file_setup(name, size, mk_vma_flags(VMA_NORESERVE_BIT));
#else
	return shmem_file_setup(name, size, VM_NORESERVE);
#endif
}

/* 6.4 dropped the module; before, it was a macro. */
#ifdef class_create
#define memledger_class_create(name)	class_create(THIS_MODULE, name)
#else
#define memledger_class_create(name)	class_create(name)
#endif

/*
 * DMA-BUFs
 */

/* From 6.13 on a namespace is a string. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define MEMLEDGER_IMPORT_DMA_BUF_NS	MODULE_IMPORT_NS("DMA_BUF")
#else
#define MEMLEDGER_IMPORT_DMA_BUF_NS	MODULE_IMPORT_NS(DMA_BUF)
#endif

typedef int (*memledger_dmabuf_fn)(const struct dma_buf *dmabuf, void *arg);

/*
 * All DMA-BUFs, whoever holds them: only Android's kernels let modules at them.
 * Up to 6.12 @fn is called under the list's lock, which whoever makes or frees a
 * buffer takes, with buffers among them whose last reference is gone: it must
 * neither take nor drop one, and should not allocate. 6.1 waits for the lock only
 * until any signal arrives: -EINTR.
 */
#if !MEMLEDGER_ANDROID_KERNEL
#define MEMLEDGER_HAS_DMABUF_LIST	0
static inline int memledger_dmabuf_each(memledger_dmabuf_fn fn, void *arg)
{
	return -EOPNOTSUPP;
}
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define MEMLEDGER_HAS_DMABUF_LIST	1
#define MEMLEDGER_IMPORT_DMABUF_LIST_NS	MEMLEDGER_IMPORT_DMA_BUF_NS
static inline int memledger_dmabuf_each(memledger_dmabuf_fn fn, void *arg)
{
	struct dma_buf *dmabuf = dma_buf_iter_begin();
	int ret = 0;

	/* The iterator drops the one that it is given. */
	for (; dmabuf && !ret; dmabuf = dma_buf_iter_next(dmabuf))
		ret = fn(dmabuf, arg);
	if (dmabuf)
		dma_buf_put(dmabuf);
	return ret;
}
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define MEMLEDGER_HAS_DMABUF_LIST	1
#define MEMLEDGER_IMPORT_DMABUF_LIST_NS	MEMLEDGER_IMPORT_DMA_BUF_NS
static inline int memledger_dmabuf_each(memledger_dmabuf_fn fn, void *arg)
{
	return get_dmabuf_debugfs_data(fn, arg);
}
#else
#define MEMLEDGER_HAS_DMABUF_LIST	1
#define MEMLEDGER_IMPORT_DMABUF_LIST_NS	MODULE_IMPORT_NS(MINIDUMP)
static inline int memledger_dmabuf_each(memledger_dmabuf_fn fn, void *arg)
{
	return dma_buf_get_each(fn, arg);
}
#endif
#ifndef MEMLEDGER_IMPORT_DMABUF_LIST_NS
#define MEMLEDGER_IMPORT_DMABUF_LIST_NS	/* nothing is imported */
#endif

/*
 * sysfs
 */

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define memledger_bin_attribute		const struct bin_attribute
#else
#define memledger_bin_attribute		struct bin_attribute
#endif

#endif
