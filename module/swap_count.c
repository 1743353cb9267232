// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many page tables share a swap slot, which SwapPss divides by.
 *
 * No kernel exports the function that knows, so this file, and no other, asks
 * the kprobes layer for its address. Where it is not to be had, SwapPss is
 * unavailable and nothing else changes.
 */
#include <linux/kprobes.h>
#include <linux/swap.h>

#include "compat.h"
#include "walk.h"

#ifdef CONFIG_KPROBES

static int (*swap_count)(swp_entry_t entry);

/*
 * With indirect branch tracking a kprobe sits behind the landing pad that an
 * indirect call must hit.
 */
static unsigned long function_start(unsigned long addr)
{
#ifdef CONFIG_X86_KERNEL_IBT
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (!memcmp((void *)addr - sizeof(endbr64), endbr64, sizeof(endbr64)))
		return addr - sizeof(endbr64);
#endif
	return addr;
}

/**
 * memledger_swap_count_init - find the function
 *
 * The probe is registered disabled, so that no text is patched, and gone again
 * on return.
 */
void memledger_swap_count_init(void)
{
	struct kprobe probe = {
		.symbol_name = "swp_swapcount",
		.flags = KPROBE_FLAG_DISABLED,
	};

	if (register_kprobe(&probe))
		return;
	swap_count = (void *)function_start((unsigned long)probe.addr);
	unregister_kprobe(&probe);
}

bool memledger_swap_count_available(void)
{
	return swap_count;
}

/**
 * memledger_swap_count - sharers of a swap slot
 * @entry: from a page table whose lock is held
 *
 * A function whose address no C code takes need not have a type hash to check
 * an indirect call against, hence no CFI.
 *
 * Return: how many page tables refer to it; 0 if that is unavailable.
 */
__nocfi u32 memledger_swap_count(swp_entry_t entry)
{
	int count;

	if (!swap_count)
		return 0;
	count = swap_count(entry);
	/* An entry on its way out: smaps counts it as its owner's alone. */
	return count > 0 ? count : 1;
}

#else

void memledger_swap_count_init(void)
{
}

bool memledger_swap_count_available(void)
{
	return false;
}

u32 memledger_swap_count(swp_entry_t entry)
{
	return 0;
}

#endif
