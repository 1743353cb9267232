// SPDX-License-Identifier: GPL-2.0-only
/*
 * One process: what its memory costs to be told, by memledger and by the
 * kernel's own files, and for how long memledger holds its mmap lock. Before
 * anything is measured both must come to the same numbers.
 */
#include "lean_smaps.h"
#include "measure.h"
#include "processes.h"
#include "ways.h"

static unsigned int app_cycles = APP_CYCLES(6000);

/**
 * struct target - a process to measure
 * @name: of the case
 * @run: makes it
 * @arg: for @run
 * @rollup_only: smaps would take as long as smaps_rollup
 */
struct target {
	const char *name;
	void (*run)(void *arg);
	void *arg;
	bool rollup_only;
};

enum { PLAIN = 3, RESERVE, SCATTERED };

static const struct target targets[] = {
	{ "app", run_app, &app_cycles },
	{ "few_vmas", map_few },
	{ "thp", map_thp },
	[PLAIN] = { "plain", map_plain },
	[RESERVE] = { "reserve", map_reserve },
	[SCATTERED] = { "scattered", map_scattered },
	{ "many_times", map_many_times, .rollup_only = true },
};

static void compare_field(int category, const char *field, u64 ours, u64 peer)
{
	if (ours != peer)
		give_up("category %d: %s is %llu kB, but %llu kB by smaps",
			category, field, ours, peer);
}

/*
 * Both ways do the same work only if they come to the same result. The first
 * run is not looked at: whatever it writes to was shared with the process, so
 * that the process's numbers change.
 */
static void compare(pid_t pid)
{
	const struct memledger_record *record = last_record();
	struct lean_smaps smaps;

	for (int run = 0; run < 2; run++) {
		take_snapshot(&pid);
		must(!lean_smaps_read(pid, &smaps));
	}
	for (int i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		const struct memledger_usage *usage =
			&record->totals.category[i];
		const struct lean_row *row = &smaps.row[i];

#define SAME(ours, peer) compare_field(i, #peer, usage->ours >> 10, row->peer)
		SAME(pss_floor, pss);
		SAME(swappable_pss, swappable_pss);
		SAME(rss, rss);
		SAME(private_dirty, private_dirty);
		SAME(shared_dirty, shared_dirty);
		SAME(private_clean, private_clean);
		SAME(shared_clean, shared_clean);
		SAME(swap, swap);
		SAME(swap_pss_floor, swap_pss);
#undef SAME
	}
	printf("# %llu mappings, %llu pages\n", record->totals.total.vmas,
	       record->totals.total.rss / record->page_size);
}

static u64 longest_hold;

static void take_and_note_hold(void *pid)
{
	take_snapshot(pid);
	if (last_record()->lock_hold_max_ns > longest_hold)
		longest_hold = last_record()->lock_hold_max_ns;
}

static struct spread run_target(const struct target *target)
{
	struct way ways[] = {
		{ "memledger", .run = take_and_note_hold },
		{ "smaps_rollup", .run = read_rollup },
		{ "smaps", .run = read_smaps },
		{ "smaps_parsed", .run = parse_smaps },
	};
	int nr_ways = target->rollup_only ? 2 : ARRAY_SIZE(ways);
	char name[100];
	pid_t pid;

	printf("# %s\n", target->name);
	fflush(stdout);
	pid = start_process(target->run, target->arg);
	must(pid > 0 && !wait_stopped(pid));
	must(!node_write_number("track", pid));
	compare(pid);

	longest_hold = 0;
	for (int i = 0; i < nr_ways; i++)
		ways[i].arg = &pid;
	measure(ways, nr_ways);
	report_ways(target->name, ways, ways + 1, nr_ways - 1);
	snprintf(name, sizeof(name), "%s/lock_hold", target->name);
	report(name, longest_hold, ways[1].ns.median);

	must(!node_write_number("untrack", pid));
	end_process(pid);
	return ways[0].ns;
}

int main(void)
{
	const char *why = nodes_missing();
	struct spread ours[ARRAY_SIZE(targets)];

	if (why)
		give_up("%s", why);
	why = setting_set(NODES "max_age_ms", "0");
	if (why)
		give_up("%s", why);
	files_make();
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		ours[i] = run_target(&targets[i]);
	report_spread("reserve/without", &ours[RESERVE], &ours[PLAIN], NULL);
	report_spread("scattered/without", &ours[SCATTERED], &ours[PLAIN],
		      NULL);
	files_remove();
	settings_restore();
	return 0;
}
