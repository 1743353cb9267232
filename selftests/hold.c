// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold BYTES [stop | map]: has so many bytes of memory, in a mapping named
 * "hold" where names are to be had, prints its process number and waits; with
 * "stop" it stops itself instead, with "map" two threads map and unmap memory
 * as fast as they can. A target for scripts, and a program to exec.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "testlib.h"

static void *map_for_ever(void *arg)
{
	size_t len = *(size_t *)arg;

	for (;;) {
		void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED || munmap(p, len))
			_exit(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static size_t len;
	const char *then = argc > 2 ? argv[2] : "";
	pthread_t thread;
	void *p;

	len = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	if (!len) {
		fprintf(stderr, "usage: %s BYTES [stop | map]\n", argv[0]);
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
	if (!strcmp(then, "stop"))
		raise(SIGSTOP);
	if (!strcmp(then, "map") &&
	    !pthread_create(&thread, NULL, map_for_ever, &len))
		map_for_ever(&len);
	for (;;)
		pause();
}
