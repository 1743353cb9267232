// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit process for the layout of that name: maps and names some memory,
 * forks a child that shares it, and stops. One more mapping has no name, and
 * a hole, for the test of owners. Freestanding, since a machine that
 * builds this need not have a 32-bit C library.
 */
#define NR_exit		1
#define NR_fork		2
#define NR_getpid	20
#define NR_pause	29
#define NR_kill		37
#define NR_old_mmap	90
#define NR_munmap	91
#define NR_prctl	172
#define NR_mmap2	192

#define SIGSTOP		19
#define PR_SET_PDEATHSIG 1
#define SIGKILL		9

#define LEN		(40 * 4096)

static long call5(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return ret;
}

/* The sixth argument, in ebp, is 0 here. */
static long call6(long nr, long a, long b, long c, long d, long e)
{
	long ret;

	__asm__ volatile("push %%ebp; xor %%ebp, %%ebp; int $0x80; pop %%ebp"
			 : "=a"(ret)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return ret;
}

static long call3(long nr, long a, long b, long c)
{
	return call5(nr, a, b, c, 0, 0);
}

static char *map(unsigned long addr, unsigned long flags)
{
	unsigned long args[6] = { addr, LEN, 3, flags, -1UL, 0 };

	return (char *)call3(NR_old_mmap, (long)args, 0, 0);
}

void _start(void)
{
	/* Private; and shared at the very top of what 32 bits can reach. */
	char *p = map(0, 0x22);
	char *top = map(0xff000000UL, 0x31);
	char *nameless = (char *)call6(NR_mmap2, 0, LEN, 3, 0x22, -1);

	for (int i = 0; i < 25 * 4096; i += 4096) {
		p[i] = i >> 12;
		top[i] = i >> 12;
	}
	call3(NR_munmap, (long)nameless + 4096, 4096, 0);
	call5(NR_prctl, 0x53564d41, 0, (long)p, LEN, (long)"i386");
	if (!call3(NR_fork, 0, 0, 0)) {
		call3(NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
		for (;;)
			call3(NR_pause, 0, 0, 0);
	}
	for (int i = 0; i < 5 * 4096; i += 4096)
		p[i] = 1;
	call3(NR_kill, call3(NR_getpid, 0, 0, 0), SIGSTOP, 0);
	call3(NR_exit, 0, 0, 0);
	__builtin_unreachable();
}
