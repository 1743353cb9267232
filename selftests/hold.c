// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold BYTES [stop]: has so many bytes of memory, in a mapping named "hold"
 * where names are to be had, prints its process number and waits; with "stop"
 * it stops itself instead. A target for scripts, and a program to exec.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "testlib.h"

int main(int argc, char **argv)
{
	size_t len = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	void *p;

	if (!len) {
		fprintf(stderr, "usage: %s BYTES [stop]\n", argv[0]);
		return 2;
	}
	p = map_alone(len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, len, "hold");
	touch(p, len);
	printf("%d\n", getpid());
	fflush(stdout);
	if (argc > 2)
		raise(SIGSTOP);
	for (;;)
		pause();
}
