/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mmap() without libc: the system call is made by the function that asks for
 * it, so that this is its owner, in a static program as well.
 */
#ifndef RAW_MMAP_H
#define RAW_MMAP_H

#include <sys/mman.h>
#include <sys/syscall.h>

/* Returns what the kernel does: an address, or a negative errno. */
static inline __attribute__((always_inline)) char *
raw_mmap(void *addr, size_t len, long prot, long flags, long fd, long offset)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = flags;
	register long r8 __asm__("r8") = fd;
	register long r9 __asm__("r9") = offset;
	char *ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"((long)SYS_mmap), "D"(addr), "S"(len), "d"(prot),
			   "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_mmap;
	register void *x0 __asm__("x0") = addr;
	register long x1 __asm__("x1") = len;
	register long x2 __asm__("x2") = prot;
	register long x3 __asm__("x3") = flags;
	register long x4 __asm__("x4") = fd;
	register long x5 __asm__("x5") = offset;

	__asm__ volatile("svc #0" : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			   "r"(x5)
			 : "memory");
	return x0;
#else
#error "How is a system call made here?"
#endif
}

#endif
