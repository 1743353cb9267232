// SPDX-License-Identifier: GPL-2.0-only
/*
 * All processes: 300 apps of 800 mappings. memledger's snapshot of the system
 * against what procrank does, with smaps or with smaps_rollup: each process's
 * file is read, one after the other.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lean_smaps.h"
#include "measure.h"
#include "pass.h"
#include "processes.h"
#include "ways.h"

#define SNAPSHOT	DETAILS "snapshot"
#define NR_APPS		300
#define NR_APPS_ONCE	10
#define SHARED_CYCLES	30
#define OWN_CYCLES	(APP_CYCLES(800) - SHARED_CYCLES)

static struct system apps = {
	.shared = SHARED_CYCLES,
	.own = OWN_CYCLES,
	.apps = NR_APPS,
};

static const char *const category_names[] = {
#define X(id, name, label) #name,
	MEMLEDGER_CATEGORIES(X)
#undef X
};

static char *snapshot;

static void read_snapshot(void *unused)
{
	(void)unused;
	free(snapshot);
	snapshot = file_slurp(SNAPSHOT);
	must(snapshot);
}

static void call_for_all(void (*run)(void *pid))
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	must(proc);
	while ((entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0)
			run(&pid);
	}
	closedir(proc);
}

static void parse_each(void *unused)
{
	(void)unused;
	call_for_all(parse_smaps_if_any);
}

static void rollup_each(void *unused)
{
	(void)unused;
	call_for_all(read_rollup_if_any);
}

static void same(const struct pass *pass, int line, int category,
		 const char *field, u64 peer)
{
	char column[64];
	long long ours;

	snprintf(column, sizeof(column), "%s.%s", category_names[category],
		 field);
	ours = pass_number(pass, line, column);
	/* A row that there is not is one that nothing in smaps leads to. */
	if (ours == NOT_KNOWN)
		ours = 0;
	if (ours < 0 || (u64)ours >> 10 != peer)
		give_up("%s of process %s is %lld, but %llu kB in smaps",
			column, pass_cell(pass, line, "tgid"), ours, peer);
}

/* Both ways come to the same, app by app and category by category. */
static void compare(void)
{
	struct lean_smaps smaps;
	struct pass pass;

	read_snapshot(NULL);
	must(!pass_parse(&pass, snapshot));
	snapshot = NULL;
	for (unsigned int app = 0; app < apps.apps; app++) {
		int line = pass_find(&pass, apps.pid[app]);

		must(line >= 0 && !lean_smaps_read(apps.pid[app], &smaps));
		for (int i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
			const struct lean_row *row = &smaps.row[i];

			same(&pass, line, i, "pss_floor", row->pss);
			same(&pass, line, i, "rss", row->rss);
			same(&pass, line, i, "uss",
			     row->private_clean + row->private_dirty);
			same(&pass, line, i, "swap", row->swap);
		}
	}
	pass_free(&pass);
}

int main(void)
{
	struct way ways[] = {
		{ "memledger", .run = read_snapshot },
		{ "smaps_rollup", .run = rollup_each },
		{ "smaps_parsed", .run = parse_each },
	};
	const char *why = nodes_missing();
	pid_t zygote;

	if (why)
		give_up("%s", why);
	if (!file_readable(SNAPSHOT))
		give_up("no %s: this memledger has no snapshot of the system",
			SNAPSHOT);
	if (once())
		apps.apps = NR_APPS_ONCE;
	apps.pid = mmap(NULL, NR_APPS * sizeof(*apps.pid),
			PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	must(apps.pid != MAP_FAILED);
	files_make();
	zygote = start_process(run_system, &apps);
	must(zygote > 0 && !wait_stopped(zygote));
	printf("# system: %u apps\n", apps.apps);
	fflush(stdout);
	compare();
	measure(ways, ARRAY_SIZE(ways));
	report_ways("system", ways, ways + 1, ARRAY_SIZE(ways) - 1);
	end_process(zygote);
	files_remove();
	return 0;
}
