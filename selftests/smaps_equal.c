// SPDX-License-Identifier: GPL-2.0-only
/*
 * smaps_equal PID: says whether memledger's numbers of a process are those of
 * its smaps, and exits with 0 only if so. For scripts, and for people who do
 * not believe it.
 */
#include <errno.h>
#include <stdlib.h>

#include "compare.h"
#include "testlib.h"

int main(int argc, char **argv)
{
	struct vma_list smaps = {};
	const char *why;
	bool tracked_here;
	u64 rss, pss;
	int err;
	pid_t pid;

	pid = argc == 2 ? atoi(argv[1]) : 0;
	if (pid <= 0) {
		fprintf(stderr, "usage: %s PID\n", argv[0]);
		return 2;
	}
	why = nodes_missing();
	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (why) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	err = node_write_number("track", pid);
	tracked_here = !err;
	if (!err || err == -EEXIST)
		err = compare_process(pid, true, &smaps);
	if (tracked_here)
		node_write_number("untrack", pid);
	settings_restore();

	if (err < 0) {
		fprintf(stderr, "%d: %s\n", pid, err == -EAGAIN ?
			"does not hold still: stop it first (kill -STOP)" :
			strerror(-err));
		return 1;
	}
	rss = vmas_sum(&smaps, 0, -1ULL, FIELD_rss);
	pss = vmas_sum(&smaps, 0, -1ULL, FIELD_pss);
	if (err)
		printf("DIFFERS from smaps: %d differences\n", err);
	else
		printf("EQUAL to smaps: %zu mappings, %d fields each; Rss %llu kB, Pss %llu kB\n",
		       smaps.nr, NR_FIELDS, rss, pss);
	vmas_free(&smaps);
	return err ? 1 : 0;
}
