// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many page tables share a swap slot, which SwapPss divides by.
 *
 * No kernel exports the function that knows, so this file, and no other, asks
 * the kprobes layer for its address. Where it is not to be had, SwapPss is
 * unavailable and nothing else changes.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include <linux/swap.h>

#include "compat.h"
#include "walk.h"

#ifdef CONFIG_KPROBES

static int no_swap_count(swp_entry_t entry)
{
	return 0;
}

/*
 * A direct call: kernels with indirect branch tracking take the landing pad
 * away from functions whose address nobody takes.
 */
DEFINE_STATIC_CALL(memledger_swap_count_call, no_swap_count);
static bool available;

/*
 * With indirect branch tracking a kprobe sits behind the landing pad, or what
 * is left of it, so that its address need not be that of the function. %pS
 * tells the difference.
 */
static unsigned long function_start(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long offset;
	const char *plus;

	snprintf(text, sizeof(text), "%pS", (void *)addr);
	plus = strchr(text, '+');
	if (!plus || sscanf(plus, "+0x%lx", &offset) != 1)
		return 0;
	return addr - offset;
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
	unsigned long addr;

	if (register_kprobe(&probe))
		return;
	addr = function_start((unsigned long)probe.addr);
	unregister_kprobe(&probe);
	if (!addr)
		return;
	static_call_update(memledger_swap_count_call,
			   (int (*)(swp_entry_t))addr);
	available = true;
}

bool memledger_swap_count_available(void)
{
	return available;
}

/**
 * memledger_swap_count - sharers of a swap slot
 * @entry: from a page table whose lock is held
 *
 * Where static calls are indirect after all, the function need not have a
 * type hash to check them against, hence no CFI.
 *
 * Return: how many page tables refer to it; 0 if that is unavailable.
 */
__nocfi u32 memledger_swap_count(swp_entry_t entry)
{
	int count;

	if (!available)
		return 0;
	count = static_call(memledger_swap_count_call)(entry);
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
