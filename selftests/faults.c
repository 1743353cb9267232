// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation below memledger's functions fails once, the first, the
 * second, and so on, until what was asked for does without failing any; and so
 * does each call of its callbacks. Whatever fails has to say so, change nothing,
 * and work the next time. That nothing is leaked the machine's runner says
 * (kmemleak).
 *
 * The kernel's fault injection counts allocations of a task by itself
 * (fail-nth), and only those below given functions: its own ways from a system
 * call to the module are not ours to test.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compare.h"
#include "kgsl.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define INJECT	"/sys/kernel/debug/"
#define NEEDED	INJECT "failslab/require-start"
#define FAIL_NTH "/proc/thread-self/fail-nth"
#define FUNCTIONS INJECT "fail_function/"
#define TIMES	FUNCTIONS "times"
#define PROVIDER "memledger_badprovider"

/* One after the other first; then one here and there of many alike. */
#define EACH	16
#define NEVER	100000
#define SETTLES	5

static pid_t victim;

static void hold(void *arg)
{
	size_t len = 50 * page_size();
	int fd;

	(void)arg;
	for (int i = 0; i < 20; i++)
		touch(map_alone(len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), len);
	fd = dmabuf_from_heap(len);
	if (fd >= 0)
		touch(map_alone(len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
		      len);
}

/* The addresses of the functions that allocate, or are below on the stack. */
struct range {
	u64 start, end;
};

/*
 * Of a module all its functions; of the kernel one function, up to the next.
 * Return: false if there is no such symbol to be seen
 */
static bool find_range(struct range *range, const char *module,
		       const char *function)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[512], name[256], in[64];
	u64 addr;
	char type;

	*range = (struct range){ .start = -1ULL, .end = function ? -1ULL : 0 };
	while (file && fgets(line, sizeof(line), file)) {
		*in = '\0';
		if (sscanf(line, "%llx %c %255s [%63[^]]", &addr, &type, name,
			   in) < 3)
			continue;
		if (function && !*in && !strcmp(name, function))
			range->start = addr;
		if (module && !strcmp(in, module) && strchr("tT", type)) {
			range->start = addr < range->start ? addr :
				       range->start;
			range->end = addr > range->end ? addr : range->end;
		}
	}
	if (file && function) {
		rewind(file);
		while (fgets(line, sizeof(line), file)) {
			addr = strtoull(line, NULL, 16);
			if (addr > range->start && addr < range->end)
				range->end = addr;
		}
	}
	if (file)
		fclose(file);
	return range->start && range->start < range->end;
}

static const char *const kinds[] = { "failslab", "fail_page_alloc" };

static const struct {
	const char *kind;
	const char *file;
	const char *value;
} inject[] = {
	{ "failslab", "ignore-gfp-wait", "N" },
	{ "fail_page_alloc", "ignore-gfp-wait", "N" },
	{ "fail_page_alloc", "ignore-gfp-highmem", "N" },
	{ "fail_page_alloc", "min-order", "0" },
	{ "failslab", "verbose", "0" },
	{ "fail_page_alloc", "verbose", "0" },
};

/* Return: NULL, or why nothing can be injected. */
static const char *inject_below(const struct range *range)
{
	char path[128], value[32];
	const char *why = NULL;

	for (size_t i = 0; !why && i < ARRAY_SIZE(inject); i++) {
		snprintf(path, sizeof(path), INJECT "%s/%s", inject[i].kind,
			 inject[i].file);
		why = setting_set(path, inject[i].value);
	}
	for (size_t i = 0; !why && i < 2 * ARRAY_SIZE(kinds); i++) {
		snprintf(path, sizeof(path), INJECT "%s/require-%s",
			 kinds[i / 2], i % 2 ? "end" : "start");
		snprintf(value, sizeof(value), "0x%llx",
			 i % 2 ? range->end : range->start);
		why = setting_set(path, value);
	}
	return why;
}

static bool set_nth(unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	return !file_write(FAIL_NTH, text);
}

/* How many more it would have taken; 0 if one has failed. */
static unsigned int left_of_nth(void)
{
	char text[16] = "";

	file_read(FAIL_NTH, text, sizeof(text));
	return strtoul(text, NULL, 10);
}

/*
 * What may fail
 */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* The text of the process's file, which holds still; or NULL and errno. */
static char *text_of(const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), file, victim);
	return file_slurp(path);
}

#pragma GCC diagnostic pop

/* Whether a reading says of itself that it is not all. */
static bool says_incomplete(const char *text)
{
	return strstr(text, "incomplete") || strstr(text, "INCOMPLETE") ||
	       strstr(text, "complete 0");
}

/*
 * Two readings without a fault. Lines that are not the same in both are about
 * times; all others must be as they are, or the reading say that it is not all.
 */
static char *known[2];

static size_t next_line(const char **text)
{
	size_t len = strcspn(*text, "\n");

	*text += len + !!(*text)[len];
	return len;
}

static bool is_as_known(const char *text)
{
	const char *first = known[0], *second = known[1];

	while (*first && *second && *text) {
		const char *one = first, *two = second, *is = text;
		size_t len = next_line(&first), len_two = next_line(&second);
		size_t len_is = next_line(&text);

		if (len == len_two && !memcmp(one, two, len) &&
		    (len != len_is || memcmp(one, is, len)))
			return false;
	}
	return !*first && !*second && !*text;
}

static void forget_text(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		free(known[i]);
		known[i] = NULL;
	}
}

static bool know_text(const char *file)
{
	forget_text();
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		known[i] = text_of(file);
	return known[0] && known[1];
}

/*
 * Pages that the victim shares with others may be mapped by one more now. Then it
 * is without faults that everything is looked at once more.
 */
struct faults {
	unsigned int nth;
	char times[16];
};

static void pause_faults(struct faults *faults)
{
	faults->nth = left_of_nth();
	set_nth(0);
	if (file_read(TIMES, faults->times, sizeof(faults->times)) > 0)
		file_write(TIMES, "0");
}

static void resume_faults(const struct faults *faults)
{
	set_nth(faults->nth);
	if (*faults->times)
		file_write(TIMES, faults->times);
}

static int read_text(const char *file)
{
	char *text = text_of(file);
	int err = text ? 0 : -errno;
	struct faults faults = {};

	if (text && known[0] && !says_incomplete(text) && !is_as_known(text)) {
		pause_faults(&faults);
		err = know_text(file) && is_as_known(text) ? 0 : -EBADMSG;
		resume_faults(&faults);
	}
	free(text);
	return err;
}

/*
 * A text about all processes: other lines may come and go, but the victim's are as
 * many as in the first reading, which is without a fault.
 */
static int known_lines;

static const char *const line_kinds[] = { "", "process ", "mapping " };

static int lines_of_victim(const char *text)
{
	char name[16];
	int nr = 0;

	snprintf(name, sizeof(name), "%d ", victim);
	for (; *text; next_line(&text)) {
		const char *line = text;

		for (size_t i = 0; i < ARRAY_SIZE(line_kinds); i++) {
			size_t len = strlen(line_kinds[i]);

			nr += !strncmp(line, line_kinds[i], len) &&
			      !strncmp(line + len, name, strlen(name));
		}
	}
	return nr;
}

static int read_all(const char *file)
{
	char *text = text_of(file);
	int err = text ? 0 : -errno;

	if (text && !known_lines)
		known_lines = lines_of_victim(text);
	if (text && !says_incomplete(text) &&
	    (!known_lines || lines_of_victim(text) != known_lines))
		err = -EBADMSG;
	free(text);
	return err;
}

/* No number that is read takes a snapshot. */
static const char *keep_nothing(void)
{
	return setting_set(NODES "max_age_ms", "0") ?:
	       setting_set(NODES "dmabuf/max_age_ms", "0");
}

/* Nothing of the victim changes by itself, nor what is said of all of it. */
static struct memledger_record known_record;

static bool are_same(const struct memledger_record *a,
		     const struct memledger_record *b)
{
	return !memcmp(&a->totals, &b->totals, sizeof(a->totals)) &&
	       !memcmp(&a->graphics, &b->graphics, sizeof(a->graphics));
}

static int same_record(void)
{
	struct faults faults = {};
	struct memledger_record record;
	int err = record_read(&record, victim);

	if (err || !record.complete)
		return err;
	if (known_record.complete && are_same(&record, &known_record))
		return 0;
	pause_faults(&faults);
	err = node_refresh(victim) ?: record_read(&known_record, victim);
	resume_faults(&faults);
	if (err)
		return err;
	return are_same(&record, &known_record) ? 0 : -EBADMSG;
}

static int start_victim(void)
{
	known_record.complete = 0;
	known_lines = 0;
	forget_text();
	victim = start_process(hold, NULL);
	return victim > 0 ? wait_stopped(victim) : -ECHILD;
}

/* A GPU driver that says of each process that it has five entries. */
static const char *load_provider(void)
{
	return module_load(beside_me("drivers/" PROVIDER ".ko"), "nr=5") ?
	       "cannot load drivers/" PROVIDER ".ko (built with KDIR)" : NULL;
}

static int write_node(const char *node)
{
	return node_write(node, "1\n");
}

static int track(const char *arg)
{
	(void)arg;
	return node_write_number("track", victim);
}

static void untrack(void)
{
	node_write_number("untrack", victim);
}

static int refresh(const char *arg)
{
	(void)arg;
	return node_refresh(victim) ?: same_record();
}

/* Takes a snapshot, too, where the last one is too old. */
static int read_record(const char *arg)
{
	int err;

	(void)arg;
	node_write("max_age_ms", "1\n");
	usleep(2000);
	err = same_record();
	node_write("max_age_ms", "0\n");
	return err;
}

static int start_capture(const char *arg)
{
	char node[64];

	(void)arg;
	snprintf(node, sizeof(node), "processes/%d/capture", victim);
	return node_write(node, "1\n");
}

static void end_capture(void)
{
	char node[64];

	snprintf(node, sizeof(node), "processes/%d/capture", victim);
	node_write(node, "0\n");
}

static void totals_off(void)
{
	node_write("gpu_totals", "0\n");
}

static void capture_off(void)
{
	node_write("owner_capture", "0\n");
}

/**
 * struct work - what has to stand it
 * @name: what it is called
 * @run: does it; 0 or a negative errno
 * @arg: for @run
 * @undo: what leads back to before, after a success; may be NULL
 * @same: what is read says the same each time
 * @untracked: to be done while the process is not tracked
 * @least: allocations that it must have, or the test tests nothing
 */
static const struct work {
	const char *name;
	int (*run)(const char *arg);
	const char *arg;
	void (*undo)(void);
	bool same;
	bool untracked;
	unsigned int least;
} works[] = {
	{ "track", track, .undo = untrack, .untracked = true, .least = 16 },
	{ "refresh", refresh, .least = 1 },
	{ "record", read_record, .least = 1 },
	{ "meminfo", read_text, DETAILS "processes/%d/meminfo", .same = true,
	  .least = 1 },
	{ "vmas", read_text, DETAILS "processes/%d/vmas", .same = true,
	  .least = 3 },
	{ "unknown", read_text, DETAILS "processes/%d/unknown", .same = true,
	  .least = 3 },
	{ "owners", read_text, DETAILS "processes/%d/owners", .same = true,
	  .least = 3 },
	{ "gpu", read_text, DETAILS "processes/%d/gpu", .same = true,
	  .least = 2 },
	{ "dmabuf of a process", read_text, DETAILS "processes/%d/dmabuf",
	  .same = true, .least = 2 },
	{ "dmabuf", read_text, DETAILS "dmabuf", .same = true, .least = 2 },
	{ "dmabuf/refresh", write_node, "dmabuf/refresh", .least = 3 },
	{ "snapshot", read_all, DETAILS "snapshot", .least = 4 },
	{ "mappings", read_all, DETAILS "mappings", .least = 4 },
	{ "stats", read_text, DETAILS "stats", .least = 1 },
	{ "gpu_totals", write_node, "gpu_totals", .undo = totals_off,
	  .least = 1 },
	{ "capture", start_capture, .undo = end_capture, .least = 2 },
	{ "owner_capture", write_node, "owner_capture", .undo = capture_off,
	  .least = 16 },
};

static unsigned int next_n(unsigned int n)
{
	return n < EACH ? n + 1 : 2 * n;
}

FIXTURE(faults)
{
	char before[4096];
	char after[4096];
};

FIXTURE_SETUP(faults)
{
	const char *why = nodes_missing();
	struct range range;

	if (!why && access(NEEDED, F_OK))
		why = "no " NEEDED " (CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_STACKTRACE_FILTER)";
	if (!why && !find_range(&range, "memledger", NULL))
		why = "no addresses in /proc/kallsyms";
	why = why ?: keep_nothing();
	why = why ?: inject_below(&range);
	/* The last, since what skips is not torn down. */
	why = why ?: load_provider();
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	ASSERT_EQ(start_victim(), 0);
}

FIXTURE_TEARDOWN(faults)
{
	set_nth(0);
	end_capture();
	untrack();
	end_process(victim);
	settings_restore();
	module_unload(PROVIDER);
}

FIXTURE_VARIANT(faults)
{
	const struct work *work;
};

/* A variant's data, and what the harness keeps of it. */
struct row {
	FIXTURE_VARIANT(faults) data;
	struct __fixture_variant_metadata variant;
};

/* The variants are the rows of the table. */
static void __attribute__((constructor)) register_works(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
		struct row *row = calloc(1, sizeof(*row));

		if (!row)
			abort();
		row->data.work = &works[i];
		row->variant.name = works[i].name;
		row->variant.data = &row->data;
		__register_fixture_variant(&_faults_fixture_object,
					   &row->variant);
	}
}

/*
 * Without a fault. Pages that this process writes to for the first time it shared
 * with the victim until then, so that what is said of it changes at first.
 */
static int run_settled(int (*run)(const char *arg), const char *arg)
{
	int err = -EBADMSG;

	for (int i = 0; i < SETTLES && err == -EBADMSG; i++)
		err = run(arg);
	return err;
}

/* What the state must be for @work, and what is known of it without a fault. */
static int prepare(const struct work *work)
{
	int err;

	if (work->untracked)
		return 0;
	err = track(NULL) ?: run_settled(refresh, NULL) ?: write_node("dmabuf/refresh");
	if (!err && work->run == start_capture)
		err = write_node("owner_capture");
	return err;
}

TEST_F_TIMEOUT(faults, each_allocation, 3 * TIMEOUT)
{
	const struct work *work = variant->work;
	unsigned int n, injected = 0;
	bool done = false;
	int err;

	ASSERT_EQ(prepare(work), 0);
	err = run_settled(work->run, work->arg);
	if (err == -EOPNOTSUPP)
		SKIP(return, "not on this kernel: %s", work->name);
	ASSERT_EQ(err, 0);
	if (work->undo)
		work->undo();
	if (work->same)
		ASSERT_TRUE(know_text(work->arg));

	for (n = 1; n < NEVER && !done; n = next_n(n)) {
		nodes_describe(self->before, sizeof(self->before));
		ASSERT_TRUE(set_nth(n));
		err = work->run(work->arg);
		done = left_of_nth();
		ASSERT_TRUE(set_nth(0));
		injected += !done;
		if (err) {
			EXPECT_EQ(err, -ENOMEM)
				TH_LOG("%s, %u", work->name, n);
			nodes_describe(self->after, sizeof(self->after));
			EXPECT_STREQ(self->before, self->after);
		} else if (work->undo) {
			work->undo();
		}
		/* And then it works; tried as long as each is another one. */
		if (n > EACH)
			continue;
		ASSERT_EQ(work->run(work->arg), 0)
			TH_LOG("%s, after %u", work->name, n);
		if (work->undo)
			work->undo();
	}
	EXPECT_TRUE(done);
	EXPECT_GE(injected, work->least)
		TH_LOG("%s: %u", work->name, injected);
	TH_LOG("%s: %u of %u allocations failed", work->name, injected, n);
}

/*
 * Callbacks, and what calls them: each call of one fails once. In a handler of
 * the kernel's a task does not count as itself, so these count all calls.
 */

/**
 * struct call - a function, and what fails with it
 * @function: the module's, allowed to fail
 * @run: calls it; 0 or a negative errno
 * @arg: for @run
 * @complete: NULL: @run fails, or what it reads says of itself that it is not
 *	all. Else the node that says so, as for printf
 * @least: calls of it that there must be
 */
static const struct call {
	const char *function;
	int (*run)(const char *arg);
	const char *arg;
	const char *complete;
	unsigned int least;
} calls[] = {
	{ "add_vma", refresh, .least = 16 },
	{ "memledger_walk_run", refresh, .least = 1 },
	{ "memledger_process_comm", refresh, .least = 1 },
	{ "pause_walk", read_text, DETAILS "processes/%d/vmas", .least = 16 },
	{ "pause_walk", read_text, DETAILS "processes/%d/unknown",
	  .least = 16 },
	{ "pause_walk", read_text, DETAILS "processes/%d/owners", .least = 16 },
	{ "add_gpu_line", read_text, DETAILS "processes/%d/gpu", .least = 5 },
	{ "check_entry", read_text, DETAILS "processes/%d/gpu", .least = 5 },
	{ "add_gpu_entry", refresh, .complete = "processes/%d/complete",
	  .least = 5 },
	{ "check_entry", refresh, .complete = "processes/%d/complete",
	  .least = 5 },
	{ "collect_map", write_node, "dmabuf/refresh", "dmabuf/complete", 1 },
	{ "add_import", write_node, "dmabuf/refresh", "dmabuf/complete", 5 },
	{ "memledger_walk_run", write_node, "dmabuf/refresh",
	  "dmabuf/complete", 2 },
};

static const char *function_set(const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), FUNCTIONS "%s", name);
	return setting_set(path, value);
}

/* The nth call from now on returns -ENOMEM, and no other. */
static bool set_nth_call(unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	return !file_write(FUNCTIONS "space", text) &&
	       !file_write(TIMES, "1");
}

/* Whether there have been fewer calls than that. */
static bool nth_call_is_left(void)
{
	char text[16] = "";

	file_read(TIMES, text, sizeof(text));
	return strtoul(text, NULL, 10);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static long long is_complete(const struct call *call)
{
	return call->complete ? node_read(call->complete, victim) : 1;
}

#pragma GCC diagnostic pop

FIXTURE(call)
{
	char before[4096];
	char after[4096];
};

FIXTURE_SETUP(call)
{
	const char *why = nodes_missing();

	(void)self;
	if (!why && access(FUNCTIONS, F_OK))
		why = "no " FUNCTIONS " (CONFIG_FAIL_FUNCTION)";
	why = why ?: keep_nothing();
	why = why ?: function_set("verbose", "0");
	why = why ?: function_set("task-filter", "N");
	why = why ?: function_set("interval", "1");
	why = why ?: function_set("space", "0");
	why = why ?: function_set("times", "0");
	why = why ?: function_set("probability", "100");
	why = why ?: load_provider();
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	ASSERT_EQ(start_victim(), 0);
	ASSERT_EQ(track(NULL), 0);
}

FIXTURE_TEARDOWN(call)
{
	(void)self;
	file_write(FUNCTIONS "inject", "\n");
	untrack();
	end_process(victim);
	settings_restore();
	module_unload(PROVIDER);
}

FIXTURE_VARIANT(call)
{
	const struct call *call;
};

struct call_row {
	FIXTURE_VARIANT(call) data;
	struct __fixture_variant_metadata variant;
	char name[64];
};

static void __attribute__((constructor)) register_calls(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];
		struct call_row *row = calloc(1, sizeof(*row));
		const char *in = call->arg ?: "refresh";

		if (!row)
			abort();
		in = strrchr(in, '%') ? strrchr(in, '/') + 1 : in;
		snprintf(row->name, sizeof(row->name), "%s in %s",
			 call->function, in);
		row->data.call = call;
		row->variant.name = row->name;
		row->variant.data = &row->data;
		__register_fixture_variant(&_call_fixture_object,
					   &row->variant);
	}
}

TEST_F_TIMEOUT(call, each, 3 * TIMEOUT)
{
	const struct call *call = variant->call;
	unsigned int n, injected = 0;
	bool done = false;
	char inject[80], retval[128];
	int err;

	ASSERT_EQ(run_settled(call->run, call->arg), 0);
	ASSERT_EQ(is_complete(call), 1);
	if (call->run == read_text)
		ASSERT_TRUE(know_text(call->arg));
	/* The kernel may have a function of that name, too. */
	snprintf(inject, sizeof(inject), "memledger:%s", call->function);
	snprintf(retval, sizeof(retval), FUNCTIONS "%s/retval", inject);
	ASSERT_EQ(file_write(FUNCTIONS "inject", inject), 0)
		TH_LOG("%s", inject);
	ASSERT_EQ(file_write(retval, "0xfffffffffffffff4"), 0);

	for (n = 1; n < NEVER && !done; n = next_n(n)) {
		nodes_describe(self->before, sizeof(self->before));
		ASSERT_TRUE(set_nth_call(n));
		err = call->run(call->arg);
		done = nth_call_is_left();
		ASSERT_EQ(file_write(TIMES, "0"), 0);
		if (done) {
			EXPECT_EQ(err, 0);
			break;
		}
		injected++;
		if (call->complete) {
			EXPECT_EQ(err, 0);
			EXPECT_EQ(is_complete(call), 0)
				TH_LOG("%s, %u", inject, n);
		} else if (err) {
			EXPECT_EQ(err, -ENOMEM)
				TH_LOG("%s, %u", inject, n);
			nodes_describe(self->after, sizeof(self->after));
			EXPECT_STREQ(self->before, self->after);
		} else {
			/* read_text() has seen to it. */
			EXPECT_TRUE(call->run == read_text);
		}
		ASSERT_EQ(call->run(call->arg), 0)
			TH_LOG("%s, after %u", inject, n);
		EXPECT_EQ(is_complete(call), 1);
	}
	EXPECT_TRUE(done);
	EXPECT_GE(injected, call->least)
		TH_LOG("%s: %u", inject, injected);
	TH_LOG("%s: %u calls failed", inject, injected);
}

/*
 * Loading: everything below the call of a module's init function.
 */

static const struct load {
	const char *name;
	const char *path;
	unsigned int least;
} loads[] = {
	{ "memledger", "", 10 },
	{ "kgsl_standin", "drivers/kgsl_standin.ko", 10 },
	{ "memledger_badprovider", "drivers/memledger_badprovider.ko", 3 },
};

FIXTURE(load)
{
	int unused;
};

FIXTURE_VARIANT(load)
{
	const struct load *load;
};

FIXTURE_VARIANT_ADD(load, memledger)
{
	.load = &loads[0],
};

FIXTURE_VARIANT_ADD(load, driver_before_memledger_knows)
{
	.load = &loads[1],
};

FIXTURE_VARIANT_ADD(load, driver)
{
	.load = &loads[2],
};

FIXTURE_SETUP(load)
{
	const char *why = nodes_missing();
	struct range range;

	(void)self;
	if (!why && access(NEEDED, F_OK))
		why = "no " NEEDED " (CONFIG_FAILSLAB, CONFIG_FAULT_INJECTION_STACKTRACE_FILTER)";
	if (!why && !find_range(&range, NULL, "do_init_module"))
		why = "no do_init_module in /proc/kallsyms";
	if (!why)
		why = inject_below(&range);
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
}

FIXTURE_TEARDOWN(load)
{
	(void)self;
	set_nth(0);
	module_load(memledger_ko(), "");
	settings_restore();
}

/*
 * A kernel that releases kobjects late has the names of drivers meanwhile. Then
 * it was no fault that failed, wherever one came: it has to come again.
 * @injected: gets whether allocation @nth was one that failed; 0: none shall
 */
static int load_patiently(const char *path, unsigned int nth, bool *injected)
{
	int err;

	for (int i = 0; i < 100; i++) {
		if (!set_nth(nth))
			return -EIO;
		err = module_load(path, "");
		*injected = nth && !left_of_nth();
		set_nth(0);
		if (err != -EEXIST && err != -EBUSY)
			break;
		usleep(200000);
	}
	return err;
}

TEST_F_TIMEOUT(load, each_allocation, 6 * TIMEOUT)
{
	const struct load *load = variant->load;
	char path[512];
	unsigned int n, injected = 0;
	bool failed, done = false;
	int err;

	snprintf(path, sizeof(path), "%s", *load->path ?
		 beside_me(load->path) : memledger_ko());
	if (access(path, F_OK))
		SKIP(return, "no %s (built with KDIR)", path);
	module_unload(load->name);
	for (n = 1; n < NEVER && !done; n = next_n(n)) {
		err = load_patiently(path, n, &failed);
		done = !failed;
		injected += failed;
		if (!err) {
			ASSERT_EQ(module_unload(load->name), 0);
			continue;
		}
		/*
		 * EINVAL is the driver core's: there is no device without a
		 * name, and no driver without its directory in the module's.
		 */
		EXPECT_TRUE(failed && (err == -ENOMEM || err == -EINVAL))
			TH_LOG("%s, %u: %s", load->name, n, strerror(-err));
	}
	EXPECT_TRUE(done);
	EXPECT_GE(injected, load->least);
	TH_LOG("%s: %u of %u allocations failed", load->name, injected, n);
	ASSERT_EQ(load_patiently(path, 0, &failed), 0);
	ASSERT_EQ(module_unload(load->name), 0);
}

TEST_HARNESS_MAIN
