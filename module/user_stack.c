// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the registers of a system call to the addresses of its callers in user
 * space. Reads only, never faults, and would rather say nothing than a wrong
 * thing: who is libc and who is not is found out when the addresses are read.
 */
#include <linux/compat.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "user_stack.h"

static bool read_user(unsigned long addr, void *to, size_t size)
{
	unsigned long left = size;

	if (!access_ok((void __user *)addr, size))
		return false;
	pagefault_disable();
	left = __copy_from_user_inatomic(to, (void __user *)addr, size);
	pagefault_enable();
	return !left;
}

#if defined(CONFIG_X86_64)

/* Whether what is before @pc is a call, so that @pc may be returned to. */
static bool follows_call(unsigned long pc)
{
	u8 text[7];
	int i;

	if (pc < sizeof(text) ||
	    !read_user(pc - sizeof(text), text, sizeof(text)))
		return false;
	if (text[2] == 0xe8)
		return true;
	/* Indirect: ff /2, two to seven bytes long. */
	for (i = 0; i < 6; i++) {
		if (text[i] == 0xff && ((text[i + 1] >> 3) & 7) == 2)
			return true;
	}
	return false;
}

#elif defined(CONFIG_ARM64)

/* Whether what is before @pc is a call, so that @pc may be returned to. */
static bool follows_call(unsigned long pc)
{
	__le32 text;
	u32 insn;

	if (!IS_ALIGNED(pc, sizeof(text)) ||
	    !read_user(pc - sizeof(text), &text, sizeof(text)))
		return false;
	insn = le32_to_cpu(text);
	return (insn & 0xfc000000) == 0x94000000 ||	/* bl */
	       (insn & 0xfffffc1f) == 0xd63f0000 ||	/* blr */
	       (insn & 0xfffff81f) == 0xd63f081f ||	/* blraaz, blrabz */
	       (insn & 0xfffff800) == 0xd73f0800;	/* blraa, blrab */
}

#endif

#if defined(CONFIG_X86_64) || defined(CONFIG_ARM64)

/* A frame record: where the caller's is, and where the function returns to. */
struct frame {
	unsigned long next;
	unsigned long pc;
};

/* Appends the callers that the chain of frame records at @fp leads to. */
static unsigned int walk_frames(unsigned long fp, unsigned long *pcs,
				unsigned int nr, unsigned int max)
{
	struct frame frame;

	while (nr < max && IS_ALIGNED(fp, sizeof(long)) &&
	       read_user(fp, &frame, sizeof(frame))) {
		frame.pc = memledger_user_pc(frame.pc);
		/* No frame record: somebody uses the register otherwise. */
		if (!follows_call(frame.pc))
			break;
		pcs[nr++] = frame.pc;
		/* The stack grows down: callers' records lie above. */
		if (frame.next <= fp)
			break;
		fp = frame.next;
	}
	return nr;
}

#define MAX_FRAME_WORDS	64

/*
 * The frame record that @fp points to is that of the function that @sp is in
 * only if that function keeps frame pointers. Where it does not, @fp is its
 * caller's, or anything, and there is a return address between the two: the
 * chain would then pass over a function, and name the wrong one.
 */
static bool frame_is_next(unsigned long sp, unsigned long fp)
{
	unsigned long words[MAX_FRAME_WORDS];
	unsigned long nr = (fp - sp) / sizeof(long), i;

	if (fp < sp || nr > MAX_FRAME_WORDS ||
	    !read_user(sp, words, nr * sizeof(long)))
		return false;
	for (i = 0; i < nr; i++) {
		if (follows_call(memledger_user_pc(words[i])))
			return false;
	}
	return true;
}

#endif

#if defined(CONFIG_X86_64)

unsigned int memledger_user_stack(unsigned long *pcs, unsigned int max)
{
	const struct pt_regs *regs = task_pt_regs(current);
	unsigned long sp = regs->sp, pc;
	unsigned int nr = 0;

	/* Of 32-bit code we know nothing. */
	if (in_compat_syscall())
		return 0;

	pcs[nr++] = regs->ip;
	/* libc's mmap has no frame: what it returns to is on top. */
	if (!read_user(sp, &pc, sizeof(pc)) || !follows_call(pc))
		return nr;
	pcs[nr++] = pc;
	sp += sizeof(long);
	if (frame_is_next(sp, regs->bp))
		nr = walk_frames(regs->bp, pcs, nr, max);
	return nr;
}

#elif defined(CONFIG_ARM64)

unsigned int memledger_user_stack(unsigned long *pcs, unsigned int max)
{
	const struct pt_regs *regs = task_pt_regs(current);
	unsigned int nr = 0;

	if (in_compat_syscall())
		return 0;

	pcs[nr++] = regs->pc;
	/* The stub that makes the call has no frame; x30 is where it returns. */
	pcs[nr++] = memledger_user_pc(regs->regs[30]);
	if (frame_is_next(regs->sp, regs->regs[29]))
		nr = walk_frames(regs->regs[29], pcs, nr, max);
	return nr;
}

#else

unsigned int memledger_user_stack(unsigned long *pcs, unsigned int max)
{
	return 0;
}

#endif
