// SPDX-License-Identifier: GPL-2.0-only
/*
 * What capturing owners adds to mmap and munmap: the time of a pair without a
 * probe, in a process that is captured, and in one that is not while others
 * are. The caller is as deep in functions with frame pointers as a capture
 * looks, and has a frame of a size that is common, as each of its words is
 * looked at.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "measure.h"

#define NR_PAIRS	100000
#define DEPTH		10
#define FRAME_WORDS	8

/*
 * What earlier calls have left on the stack may look like a return address; a
 * capture then says that it does not know, and is done sooner.
 */
static __attribute__((noinline)) void clear_stack(void)
{
	char room[65536];

	memset(room, 0, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* Returns how long a pair takes, in ns; with -icount, how many instructions. */
static __attribute__((noinline)) u64 time_pairs(unsigned int depth, size_t len)
{
	unsigned long frame[FRAME_WORDS] = { 0 };
	u64 start, taken;

	/* Whatever this does with it, it has to be there. */
	__asm__ volatile("" : : "r"(frame) : "memory");
	if (depth) {
		taken = time_pairs(depth - 1, len);
		/* Not the last thing here, or it would be a jump. */
		__asm__ volatile("" : "+r"(taken));
		return taken;
	}
	start = now_ns();
	for (int i = 0; i < NR_PAIRS; i++) {
		void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(p != MAP_FAILED && !munmap(p, len));
	}
	return (now_ns() - start) / NR_PAIRS;
}

static u64 time_deep_pairs(void)
{
	size_t len = 2 * page_size();

	clear_stack();
	return time_pairs(DEPTH, len);
}

static void set(const char *node, const char *value)
{
	int err = node_write(node, value);

	if (err)
		give_up(NODES "%s: %s", node, strerror(-err));
}

int main(void)
{
	const char *why = nodes_missing();
	u64 off, others, on;
	char capture[64];

	if (why)
		give_up("%s", why);
	puts("# capture_mmap");
	snprintf(capture, sizeof(capture), "processes/%d/capture", getpid());
	set("owner_capture", "0\n");
	off = time_deep_pairs();
	set("owner_capture", "1\n");
	others = time_deep_pairs();
	must(!node_write_number("track", getpid()));
	set(capture, "1\n");
	on = time_deep_pairs();
	node_write_number("untrack", getpid());
	set("owner_capture", "0\n");

	report("capture_mmap/captured", on, off);
	report("capture_mmap/others", others, off);
	return 0;
}
