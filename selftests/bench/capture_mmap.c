// SPDX-License-Identifier: GPL-2.0-only
/*
 * What capturing owners adds to mmap and munmap: the time of a pair without a
 * probe, in a process that is captured, and in one that is not while others
 * are. The caller is as deep in functions with frame pointers as a capture
 * looks, so that this is what it costs at most.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "testlib.h"

#define NR_PAIRS	100000
#define DEPTH		10

static u64 now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Returns how long a pair takes, in ns; with -icount, how many instructions. */
static __attribute__((noinline)) u64 time_pairs(unsigned int depth)
{
	size_t len = 2 * page_size();
	u64 start, taken;

	if (depth) {
		taken = time_pairs(depth - 1);
		/* Not the last thing here, or it would be a jump. */
		__asm__ volatile("" : "+r"(taken));
		return taken;
	}
	start = now_ns();
	for (int i = 0; i < NR_PAIRS; i++) {
		void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED || munmap(p, len)) {
			perror("mmap");
			exit(1);
		}
	}
	return (now_ns() - start) / NR_PAIRS;
}

static void set(const char *node, const char *value)
{
	int err = node_write(node, value);

	if (!err)
		return;
	fprintf(stderr, NODES "%s: %s\n", node, strerror(-err));
	exit(1);
}

static void report(const char *name, u64 off, u64 on)
{
	printf("bench %s off=%llu on=%llu ratio=%.2f\n", name, off, on,
	       (double)on / off);
}

int main(void)
{
	const char *why = nodes_missing();
	u64 off, others, on;
	char capture[64];

	if (why) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	snprintf(capture, sizeof(capture), "processes/%d/capture", getpid());
	set("owner_capture", "0\n");
	off = time_pairs(DEPTH);
	set("owner_capture", "1\n");
	others = time_pairs(DEPTH);
	if (node_write_number("track", getpid())) {
		fprintf(stderr, "cannot be tracked\n");
		return 1;
	}
	set(capture, "1\n");
	on = time_pairs(DEPTH);
	node_write_number("untrack", getpid());
	set("owner_capture", "0\n");

	report("capture_mmap", off, on);
	report("capture_mmap_of_others", off, others);
	return 0;
}
