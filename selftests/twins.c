// SPDX-License-Identifier: GPL-2.0-only
/*
 * twins 0|1: one of two programs that exec each other for ever. What it has
 * tells which of them it is, and whether it has all of it; a target for
 * targets.c.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "testlib.h"
#include "twins.h"

static void map_file(char *start, const char *name, size_t pages)
{
	size_t len = pages * page_size();
	int fd = syscall(__NR_memfd_create, name, 0);

	if (fd < 0 || ftruncate(fd, len) ||
	    mmap(start, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		_exit(1);
	close(fd);
	touch(start, len);
}

/* As long as a walk takes, or longer, or shorter. */
static void nap(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	usleep(now.tv_nsec / 1000 % 4000);
}

int main(int argc, char **argv)
{
	int which = argc > 1 && *argv[1] == '1';
	const struct twin *twin = &twins[which];
	char *next[] = { argv[0], which ? "0" : "1", NULL };
	char *room = map_alone((twin->pages + 2) * page_size(), PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		return 1;
	map_file(room + 2 * page_size(), twin->held, twin->pages);
	/* The last, and below: a walk that has seen it comes to the rest later. */
	map_file(room, twin->mark, 1);
	nap();
	execv(next[0], next);
	return 1;
}
