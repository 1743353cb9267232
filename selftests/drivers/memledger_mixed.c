// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/memledger_mixed: a mapping of it is a VM_MIXEDMAP one. Its first half
 * holds pages of the kernel's, inserted as ordinary pages, and its second half
 * page frames that no struct page describes. smaps counts the first only.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "../../module/compat.h"

/*
 * Where a machine has neither memory nor, in the tests' virtual machines, a
 * device: just below the local APIC. Nobody reads it through the mapping.
 */
#define NO_MEMORY	0xfe000000UL

static int mixed_insert(struct vm_area_struct *vma, unsigned long i)
{
	unsigned long addr = vma->vm_start + i * PAGE_SIZE;
	struct page *page;
	int err;

	if (i >= vma_pages(vma) / 2) {
		vm_fault_t fault = vmf_insert_pfn(vma, addr,
						  PHYS_PFN(NO_MEMORY) + i);

		return fault == VM_FAULT_NOPAGE ? 0 : -EFAULT;
	}
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	err = vm_insert_page(vma, addr, page);
	/* The mapping has a reference of its own now, or nobody has. */
	put_page(page);
	return err;
}

static int mixed_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long i;
	int err = 0;

	memledger_vma_flags_set(vma, VM_MIXEDMAP | VM_DONTEXPAND);
	for (i = 0; i < vma_pages(vma) && !err; i++)
		err = mixed_insert(vma, i);
	return err;
}

static const struct file_operations mixed_fops = {
	.owner = THIS_MODULE,
	.mmap = mixed_mmap,
};

static struct miscdevice mixed_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memledger_mixed",
	.fops = &mixed_fops,
	.mode = 0600,
};

module_misc_device(mixed_device);

MODULE_DESCRIPTION("A mixed mapping for memledger's tests");
MODULE_LICENSE("GPL");
