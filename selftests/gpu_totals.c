// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU totals: what is left of events that a driver of the tests fires, against
 * a list of what must be; and that nothing is lost, or left behind, while they
 * come from everywhere and memledger is switched, read and unloaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testlib.h"

#include "kselftest_harness.h"

#define DRIVER	"memledger_gpuevents"
#define DEVICE	"/dev/" DRIVER
#define GPUMEM	DETAILS "gpumem"

/* More than any process's number, so that no process can have it. */
#define PID	5000000U

/* How many zeros are kept. */
#define ZEROS	4096

#define MAX_THREADS	8

/*
 * Events
 */

static int emit(const char *fmt, ...)
{
	char text[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return file_write(DEVICE, text);
}

static long long driver_read(const char *what)
{
	char text[64], *at;

	if (file_read(DEVICE, text, sizeof(text)) < 0)
		return -1;
	at = strstr(text, what);
	return at ? strtoll(at + strlen(what), NULL, 10) : -1;
}

static bool is_attached(void)
{
	return driver_read("attached ");
}

static long long nr_emitted(void)
{
	return driver_read("emitted ");
}

/*
 * What must be
 */

struct value {
	unsigned int gpu;
	unsigned int pid;
	unsigned long long size;
};

/* The text up to the comments below it; @values are in order. For free(). */
static char *expected_values(const struct value *values, size_t nr)
{
	char *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	for (i = 0; f && i < nr; i++) {
		const struct value *v = &values[i];

		if (!i || v[-1].gpu != v->gpu) {
			fprintf(f, "Memory snapshot for GPU %u:\n", v->gpu);
			if (v->pid)
				fprintf(f, "Global total: N/A\n");
		}
		if (v->pid)
			fprintf(f, "Proc %u total: %llu\n", v->pid, v->size);
		else
			fprintf(f, "Global total: %llu\n", v->size);
	}
	if (f && !nr)
		fprintf(f, "# no events yet\n");
	if (f)
		fclose(f);
	return text;
}

/* The comments, but for the first. */
static void expected_end(char *text, size_t size)
{
	char name[32] = "";

	snprintf(text, size,
		 "# what was allocated before is unknown until its process's next event\n");
	size -= strlen(text);
	text += strlen(text);
	if (!node_read("features/gpu_provider")) {
		snprintf(text, size, "# no provider\n");
		return;
	}
	file_read(NODES "gpu/provider", name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	snprintf(text, size, "# provider %s total %lld\n", name,
		 node_read("gpu/total"));
}

/* Where texts differ, with the lines there. */
static bool same_text(const char *have, const char *want)
{
	size_t at = 0, line = 0;

	if (!have || !want)
		return false;
	while (have[at] && have[at] == want[at]) {
		if (have[at++] == '\n')
			line = at;
	}
	if (have[at] == want[at])
		return true;
	printf("# have \"%.60s\", want \"%.60s\"\n", have + line, want + line);
	return false;
}

/**
 * gpumem_is() - whether gpumem has these values and counts, and nothing else
 * @values: in order
 * @nr: how many
 * @events: how many events there have been
 * @lost: of these
 * @forgotten: zeros
 * Return: false, after printing where it differs
 */
static bool gpumem_is(const struct value *values, size_t nr,
		      unsigned long long events, unsigned long long lost,
		      unsigned long long forgotten)
{
	char *have = file_slurp(GPUMEM), *want = expected_values(values, nr);
	unsigned long long since = 0;
	char *text = NULL;
	bool same;

	if (have && want) {
		char end[256], *info = strstr(have, "# since ");

		expected_end(end, sizeof(end));
		if (info)
			since = strtoull(info + strlen("# since "), NULL, 10);
		if (asprintf(&text,
			     "%s# since %llu, events %llu, lost %llu, forgotten %llu\n%s",
			     want, since, events, lost, forgotten, end) < 0)
			text = NULL;
	}
	same = same_text(have, text) &&
	       node_read("gpu/events") == (long long)events &&
	       node_read("gpu/lost") == (long long)lost &&
	       node_read("gpu/forgotten") == (long long)forgotten;
	free(have);
	free(want);
	free(text);
	return same;
}

/* Goes past a number between two texts, if these are what comes. */
static bool take(const char **line, const char *before, const char *after,
		 unsigned long long *number)
{
	size_t len = strlen(before);
	char *end;

	if (strncmp(*line, before, len))
		return false;
	errno = 0;
	*number = strtoull(*line + len, &end, 10);
	if (errno || end == *line + len || strncmp(end, after, strlen(after)))
		return false;
	*line = end + strlen(after);
	return true;
}

static bool take_text(const char **line, const char *text)
{
	if (strncmp(*line, text, strlen(text)))
		return false;
	*line += strlen(text);
	return true;
}

/*
 * Whether a text that was read while events came is one that can be: GPUs and
 * processes in order, each once, and everything in its place.
 */
static bool makes_sense(const char *text, int *zeros)
{
	unsigned long long gpu = 0, pid = 0, number, size;
	const char *line = text;
	bool any = false;

	*zeros = 0;
	while (*line && *line != '#') {
		if (take(&line, "Memory snapshot for GPU ", ":\n", &number)) {
			if (any && number <= gpu)
				return false;
			any = true;
			gpu = number;
			pid = 0;
			if (!take(&line, "Global total: ", "\n", &size) &&
			    !take_text(&line, "Global total: N/A\n"))
				return false;
		} else {
			if (!any || !take(&line, "Proc ", " total: ", &number) ||
			    !take(&line, "", "\n", &size) || number <= pid)
				return false;
			pid = number;
			*zeros += !size;
		}
	}
	if (!any && !take_text(&line, "# no events yet\n"))
		return false;
	return take_text(&line, "# since ") &&
	       strstr(line, "until its process's next event\n# ");
}

static bool switched_off(void)
{
	static const char *const files[] = {
		"gpu/mem_total", "gpu/events", "gpu/lost", "gpu/forgotten",
	};
	char text[16];
	bool off = node_read("gpu_totals") == 0 && !is_attached() &&
		   file_read(GPUMEM, text, sizeof(text)) == -EOPNOTSUPP;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		off = off && node_read("%s", files[i]) == -EOPNOTSUPP;
	return off;
}

static unsigned long long boottime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/**
 * prepare() - have the driver, and memledger switched off
 * @loaded: gets whether the driver was loaded for it
 * Return: NULL, or why it cannot be had
 */
static const char *prepare(bool *loaded)
{
	const char *why = nodes_missing();
	int err;

	if (why)
		return why;
	if (!node_read("features/gpu_totals"))
		return "no tracepoint gpu_mem_total (CONFIG_TRACE_GPU_MEM)";
	if (access(DEVICE, F_OK)) {
		err = module_load(beside_me("drivers/" DRIVER ".ko"), "");
		if (err)
			return "cannot load drivers/" DRIVER ".ko (built with KDIR)";
		*loaded = true;
	}
	return setting_set(NODES "gpu_totals", "0");
}

static int clean_up(bool loaded)
{
	settings_restore();
	return loaded ? module_unload(DRIVER) : 0;
}

FIXTURE(totals)
{
	bool loaded;
};

FIXTURE_SETUP(totals)
{
	const char *why = prepare(&self->loaded);

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(switched_off());
}

FIXTURE_TEARDOWN(totals)
{
	EXPECT_EQ(clean_up(self->loaded), 0);
}

static int on(void)
{
	return node_write("gpu_totals", "1\n");
}

static int off(void)
{
	return node_write("gpu_totals", "0\n");
}

TEST_F_TIMEOUT(totals, off_at_load, TIMEOUT)
{
	if (access(memledger_ko(), R_OK))
		SKIP(return, "no memledger.ko: set MEMLEDGER_KO");
	ASSERT_EQ(on(), 0);
	ASSERT_EQ(module_unload("memledger"), 0);
	EXPECT_FALSE(is_attached());
	ASSERT_EQ(module_load(memledger_ko(), ""), 0);
	EXPECT_TRUE(switched_off());
	/* Events go by. */
	ASSERT_EQ(emit("0 0 1\n0 %u 2", PID), 0);
	EXPECT_TRUE(switched_off());
}

TEST_F_TIMEOUT(totals, switching, TIMEOUT)
{
	const struct value one = { 0, PID, 1 };
	unsigned long long before, since, after;
	char *text;

	ASSERT_EQ(off(), 0);
	EXPECT_TRUE(switched_off());
	before = boottime_ns();
	ASSERT_EQ(on(), 0);
	after = boottime_ns();
	EXPECT_EQ(node_read("gpu_totals"), 1);
	EXPECT_TRUE(is_attached());
	EXPECT_TRUE(gpumem_is(NULL, 0, 0, 0, 0));
	EXPECT_EQ(node_read("gpu/mem_total"), -ENODATA);

	/* On, again: everything stays. */
	ASSERT_EQ(emit("0 %u 1", PID), 0);
	ASSERT_EQ(on(), 0);
	EXPECT_TRUE(gpumem_is(&one, 1, 1, 0, 0));
	text = file_slurp(GPUMEM);
	ASSERT_NE(text, NULL);
	ASSERT_NE(strstr(text, "# since "), NULL);
	since = strtoull(strstr(text, "# since ") + 8, NULL, 10);
	EXPECT_GE(since, before);
	EXPECT_LE(since, after);
	free(text);

	/* Off and on: nothing does. */
	ASSERT_EQ(off(), 0);
	EXPECT_TRUE(switched_off());
	ASSERT_EQ(emit("0 %u 2", PID), 0);
	ASSERT_EQ(on(), 0);
	EXPECT_TRUE(gpumem_is(NULL, 0, 0, 0, 0));
}

TEST_F_TIMEOUT(totals, what_was_opened_stays, TIMEOUT)
{
	const struct value one = { 0, PID, 1 };
	char *want = expected_values(&one, 1), text[512];
	int fd;

	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit("0 %u 1", PID), 0);
	fd = open(GPUMEM, O_RDONLY);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(emit("0 %u 2", PID), 0);
	ASSERT_EQ(off(), 0);
	ASSERT_GT(read(fd, text, sizeof(text)), (ssize_t)strlen(want));
	EXPECT_EQ(strncmp(text, want, strlen(want)), 0);
	close(fd);
	free(want);
}

/* Events in the order in which they come, and what is there after the last. */
static const struct events_case {
	const char *name;
	const char *events;
	struct value want[6];
	size_t nr;
	unsigned int nr_events;
} events_cases[] = {
	{ "global only", "0 0 4096", { { 0, 0, 4096 } }, 1, 1 },
	{ "no global", "0 5000007 12", { { 0, 5000007, 12 } }, 1, 1 },
	{ "the last counts", "0 5000007 12\n0 5000007 11\n0 5000007 13",
	  { { 0, 5000007, 13 } }, 1, 3 },
	{ "in order", "0 5000009 1\n0 5000007 2\n0 0 3\n0 5000008 4",
	  { { 0, 0, 3 }, { 0, 5000007, 2 }, { 0, 5000008, 4 },
	    { 0, 5000009, 1 } }, 4, 4 },
	{ "several GPUs", "2 5000001 1\n0 5000009 2\n2 0 3\n1 5000009 4\n1 0 0",
	  { { 0, 5000009, 2 }, { 1, 0, 0 }, { 1, 5000009, 4 }, { 2, 0, 3 },
	    { 2, 5000001, 1 } }, 5, 5 },
	{ "a zero is no absence", "0 5000001 0\n0 5000003 0\n0 5000003 9",
	  { { 0, 5000001, 0 }, { 0, 5000003, 9 } }, 2, 3 },
	{ "to zero and back", "0 5000001 5\n0 5000001 0\n0 5000001 6",
	  { { 0, 5000001, 6 } }, 1, 3 },
	{ "to zero", "0 5000001 5\n0 5000001 0", { { 0, 5000001, 0 } }, 1, 2 },
	{ "as large as can be", "4294967295 4294967295 18446744073709551615",
	  { { -1U, -1U, -1ULL } }, 1, 1 },
	{ "interrupts off", "off 0 5000001 1\noff 0 5000001 2\noff 0 0 3",
	  { { 0, 0, 3 }, { 0, 5000001, 2 } }, 2, 3 },
	{ "in an interrupt", "irq 0 5000001 1\nirq 0 5000001 2\nirq 0 0 3",
	  { { 0, 0, 3 }, { 0, 5000001, 2 } }, 2, 3 },
};

TEST_F_TIMEOUT(totals, values, TIMEOUT)
{
	for (size_t i = 0; i < ARRAY_SIZE(events_cases); i++) {
		const struct events_case *c = &events_cases[i];

		ASSERT_EQ(on(), 0);
		ASSERT_EQ(file_write(DEVICE, c->events), 0);
		EXPECT_TRUE(gpumem_is(c->want, c->nr, c->nr_events, 0, 0))
			TH_LOG("%s", c->name);
		ASSERT_EQ(off(), 0);
	}
}

TEST_F_TIMEOUT(totals, mem_total, TIMEOUT)
{
	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit("1 0 5\n0 %u 6", PID), 0);
	EXPECT_EQ(node_read("gpu/mem_total"), -ENODATA);
	ASSERT_EQ(emit("0 0 123456789012"), 0);
	EXPECT_EQ(node_read("gpu/mem_total"), 123456789012);
	ASSERT_EQ(emit("1 0 7"), 0);
	EXPECT_EQ(node_read("gpu/mem_total"), 123456789012);
	ASSERT_EQ(emit("0 0 0"), 0);
	EXPECT_EQ(node_read("gpu/mem_total"), 0);
}

static int by_place(const void *a, const void *b)
{
	const struct value *v = a, *w = b;

	if (v->gpu != w->gpu)
		return v->gpu < w->gpu ? -1 : 1;
	return v->pid < w->pid ? -1 : v->pid > w->pid;
}

static unsigned int next_random(unsigned int *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

static void shuffle(struct value *values, size_t nr, unsigned int seed)
{
	for (size_t i = nr; i > 1; i--) {
		size_t k = next_random(&seed) % i;
		struct value v = values[i - 1];

		values[i - 1] = values[k];
		values[k] = v;
	}
}

/* All of them in as few writes as the driver takes. */
static int emit_all(const struct value *values, size_t nr)
{
	char text[32768];
	size_t len = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		len += snprintf(text + len, sizeof(text) - len,
				"%u %u %llu\n", values[i].gpu, values[i].pid,
				values[i].size);
		if (i + 1 == nr || len > sizeof(text) - 64) {
			err = file_write(DEVICE, text);
			len = 0;
		}
	}
	return err;
}

#define MANY	5000

TEST_F_TIMEOUT(totals, many_processes, TIMEOUT)
{
	static struct value values[MANY];

	for (unsigned int i = 0; i < MANY; i++)
		values[i] = (struct value) { i % 3, PID + i, i + 1ULL };
	shuffle(values, MANY, 6);
	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit_all(values, MANY), 0);
	qsort(values, MANY, sizeof(*values), by_place);
	EXPECT_TRUE(gpumem_is(values, MANY, MANY, 0, 0));
}

/* Whatever a reader takes at a time, and wherever it begins. */
TEST_F_TIMEOUT(totals, read_in_parts, TIMEOUT)
{
	static const size_t sizes[] = { 1, 7, 4096, 65536 };
	static struct value values[1000];
	static char text[65536], part[65536];

	for (unsigned int i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = (struct value) { i / 500, PID + i, 1ULL << i % 64 };
	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit_all(values, ARRAY_SIZE(values)), 0);
	ASSERT_GT(file_read(GPUMEM, text, sizeof(text)), 30000);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int fd = open(GPUMEM, O_RDONLY);
		size_t len = 0;
		ssize_t nr;

		ASSERT_GE(fd, 0);
		while (len < sizeof(part) - 1 &&
		       (nr = read(fd, part + len,
				  sizes[i] < sizeof(part) - 1 - len ? sizes[i] :
				  sizeof(part) - 1 - len)) > 0)
			len += nr;
		part[len] = '\0';
		EXPECT_TRUE(same_text(part, text));
		ASSERT_EQ(pread(fd, part, 100, 20000), 100);
		EXPECT_EQ(memcmp(part, text + 20000, 100), 0);
		ASSERT_EQ(pread(fd, part, 100, 0), 100);
		EXPECT_EQ(memcmp(part, text, 100), 0);
		close(fd);
	}
}

/* The last ZEROS zeros are kept, and whatever is not zero. */
TEST_F_TIMEOUT(totals, zeros_are_bounded, TIMEOUT)
{
	static struct value values[MANY + 1];
	size_t nr = 0;

	ASSERT_EQ(on(), 0);
	for (unsigned int i = 0; i < MANY; i++)
		values[i] = (struct value) { 0, PID + i, 0 };
	ASSERT_EQ(emit_all(values, ZEROS), 0);
	EXPECT_TRUE(gpumem_is(values, ZEROS, ZEROS, 0, 0));

	/* The first has memory again, the second says its zero again. */
	ASSERT_EQ(emit("0 %u 77\n0 %u 0", PID, PID + 1), 0);
	ASSERT_EQ(emit_all(values + ZEROS, MANY - ZEROS), 0);

	values[nr++] = (struct value) { 0, PID, 77 };
	values[nr++] = (struct value) { 0, PID + 1, 0 };
	for (unsigned int i = 2 + MANY - ZEROS - 1; i < MANY; i++)
		values[nr++] = (struct value) { 0, PID + i, 0 };
	EXPECT_TRUE(gpumem_is(values, nr, MANY + 2, 0, MANY - ZEROS - 1));
	/* As many as can be, and one with memory. */
	EXPECT_EQ(nr, ZEROS + 1U);
}

/* Several threads at once: every event counts, and each process's last one. */
TEST_F_TIMEOUT(totals, bursts, TIMEOUT)
{
	static const struct burst {
		unsigned int threads, pids, events;
	} bursts[] = {
		{ 1, 1, 1000 }, { 3, 10, 2000 }, { MAX_THREADS, 500, 1700 },
		{ 3, 2000, 2000 },
	};

	for (size_t b = 0; b < ARRAY_SIZE(bursts); b++) {
		const struct burst *burst = &bursts[b];
		size_t total = burst->threads * burst->pids, nr = 0;
		struct value *values = calloc(total, sizeof(*values));

		ASSERT_NE(values, NULL);
		for (unsigned int t = 0; t < burst->threads; t++) {
			for (unsigned int i = 0; i < burst->pids; i++) {
				unsigned int last = (burst->events - 1 - i) /
						    burst->pids;

				values[nr++] = (struct value) {
					5, ((t + 1) << 20) + i,
					last * burst->pids + i + 1,
				};
			}
		}
		ASSERT_EQ(on(), 0);
		ASSERT_EQ(emit("burst 5 %u %u %u", burst->threads, burst->pids,
			       burst->events), 0);
		EXPECT_TRUE(gpumem_is(values, nr,
				      burst->threads * burst->events, 0, 0));
		ASSERT_EQ(off(), 0);
		free(values);
	}
}

static pid_t fork_as(pid_t wanted)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long)&wanted,
		.set_tid_size = 1,
	};
	pid_t pid = syscall(__NR_clone3, &args, sizeof(args));

	if (pid)
		return pid < 0 ? -errno : pid;
	for (;;)
		pause();
}

static void hold_still(void *arg)
{
	(void)arg;
}

static bool gpumem_has(const char *want)
{
	char *text = file_slurp(GPUMEM);
	bool found = text && strstr(text, want);

	if (!found)
		printf("# not in gpumem: %s\n%s", want, text ?: "");
	free(text);
	return found;
}

TEST_F_TIMEOUT(totals, number_used_again, TIMEOUT)
{
	pid_t first = start_process(hold_still, NULL), second;
	char want[128];

	ASSERT_GT(first, 0);
	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit("0 %d 5", first), 0);
	snprintf(want, sizeof(want), "Proc %d total: 5\n# since", first);
	ASSERT_TRUE(gpumem_has(want));

	/* Its line stays: that it has exited is nothing its driver said. */
	ASSERT_EQ(wait_stopped(first), 0);
	end_process(first);
	ASSERT_TRUE(gpumem_has(want));

	second = fork_as(first);
	if (second == -ENOSYS || second == -EINVAL)
		SKIP(return, "clone3 with set_tid: %s", strerror(-second));
	ASSERT_EQ(second, first);
	snprintf(want, sizeof(want),
		 "Proc %d total: 5\n# Proc %d has exited, and another has its number\n# since",
		 first, first);
	EXPECT_TRUE(gpumem_has(want));

	/* What the new one says is its own. */
	EXPECT_EQ(emit("0 %d 6", second), 0);
	snprintf(want, sizeof(want), "Proc %d total: 6\n# since", second);
	EXPECT_TRUE(gpumem_has(want));
	kill(second, SIGKILL);
	waitpid(second, NULL, 0);
}

#define FAILSLAB	"/sys/kernel/debug/failslab/"

TEST_F_TIMEOUT(totals, no_memory, TIMEOUT)
{
	static const char *const failslab[][2] = {
		{ FAILSLAB "task-filter", "Y" },
		{ FAILSLAB "ignore-gfp-wait", "Y" },
		{ FAILSLAB "verbose", "0" },
		{ FAILSLAB "interval", "1" },
		{ FAILSLAB "times", "-1" },
		{ FAILSLAB "probability", "100" },
	};
	const struct value before[] = { { 0, PID + 1, 2 }, { 0, PID + 3, 0 } };
	const struct value after[] = {
		{ 0, PID + 1, 2 }, { 0, PID + 2, 4 }, { 0, PID + 3, 0 },
	};
	char text[128];
	int fd;

	if (access(FAILSLAB, F_OK))
		SKIP(return, "no " FAILSLAB " (CONFIG_FAILSLAB)");
	for (size_t i = 0; i < ARRAY_SIZE(failslab); i++)
		ASSERT_EQ(setting_set(failslab[i][0], failslab[i][1]), NULL);
	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit("0 %u 1\n0 %u 5", PID + 1, PID + 3), 0);
	fd = open(DEVICE, O_WRONLY);
	ASSERT_GE(fd, 0);
	snprintf(text, sizeof(text), "off 0 %u 2\noff 0 %u 3\n0 %u 3\n0 %u 0",
		 PID + 1, PID + 2, PID + 2, PID + 3);

	/* What is there goes on; what is new is lost, twice. */
	ASSERT_EQ(file_write("/proc/thread-self/make-it-fail", "1"), 0);
	ASSERT_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ASSERT_EQ(file_write("/proc/thread-self/make-it-fail", "0"), 0);
	EXPECT_TRUE(gpumem_is(before, ARRAY_SIZE(before), 6, 2, 0));
	close(fd);

	ASSERT_EQ(emit("0 %u 4", PID + 2), 0);
	EXPECT_TRUE(gpumem_is(after, ARRAY_SIZE(after), 7, 2, 0));
}

static const char *const bad_writes[] = {
	"\n", "2\n", "-1\n", "01\n", "10\n", "1 1\n", "on\n", "yes\n",
	"0x1\n", "1\n\n", " 1\n",
};

TEST_F_TIMEOUT(totals, bad_writes, TIMEOUT)
{
	const struct value one = { 0, PID, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(bad_writes); i++) {
		EXPECT_EQ(node_write("gpu_totals", bad_writes[i]), -EINVAL)
			TH_LOG("\"%s\"", bad_writes[i]);
		EXPECT_TRUE(switched_off());
	}
	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit("0 %u 1", PID), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad_writes); i++) {
		EXPECT_EQ(node_write("gpu_totals", bad_writes[i]), -EINVAL)
			TH_LOG("\"%s\"", bad_writes[i]);
		EXPECT_EQ(node_read("gpu_totals"), 1);
	}
	EXPECT_TRUE(gpumem_is(&one, 1, 1, 0, 0));
}

/* Root opened them; who has them now is not root any more. */
static const struct passed_file {
	const char *path;
	int flags;
} passed_files[] = {
	{ NODES "gpu_totals", O_RDONLY },
	{ NODES "gpu_totals", O_WRONLY },
	{ NODES "features/gpu_totals", O_RDONLY },
	{ NODES "features/gpu_provider", O_RDONLY },
	{ NODES "gpu/provider", O_RDONLY },
	{ NODES "gpu/total", O_RDONLY },
	{ NODES "gpu/mem_total", O_RDONLY },
	{ NODES "gpu/events", O_RDONLY },
	{ NODES "gpu/lost", O_RDONLY },
	{ NODES "gpu/forgotten", O_RDONLY },
	{ GPUMEM, O_RDONLY },
};

static int passed[ARRAY_SIZE(passed_files)];

static void try_as_nobody(void *arg)
{
	char byte;

	(void)arg;
	if (become_nobody())
		_exit(1);
	for (size_t i = 0; i < ARRAY_SIZE(passed_files); i++) {
		ssize_t ret = passed_files[i].flags == O_RDONLY ?
			      read(passed[i], &byte, 1) :
			      write(passed[i], "0\n", 2);

		if (ret != -1 || errno != EPERM)
			_exit(2 + i);
		if (open(passed_files[i].path, passed_files[i].flags) >= 0 ||
		    errno != EACCES)
			_exit(100 + i);
	}
	_exit(0);
}

TEST_F_TIMEOUT(totals, not_root, TIMEOUT)
{
	const struct value one = { 0, PID, 1 };
	int status = -1;
	pid_t pid;

	ASSERT_EQ(on(), 0);
	ASSERT_EQ(emit("0 %u 1", PID), 0);
	for (size_t i = 0; i < ARRAY_SIZE(passed_files); i++) {
		passed[i] = open(passed_files[i].path, passed_files[i].flags);
		ASSERT_GE(passed[i], 0) TH_LOG("%s", passed_files[i].path);
	}
	pid = start_process(try_as_nobody, NULL);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_TRUE(gpumem_is(&one, 1, 1, 0, 0));
	for (size_t i = 0; i < ARRAY_SIZE(passed_files); i++)
		close(passed[i]);
}

/*
 * Storms
 */

/* What reading says while memledger is switched off, or is not there. */
static bool may_be_gone(int err)
{
	switch (err) {
	case -EOPNOTSUPP:
	case -ENODATA:
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
	case -EIO:
		return true;
	}
	return false;
}

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void set_flag(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

/* What the test tells its readers. */
struct orders {
	bool enough;
	bool not_gpumem;
};

/* Reads until it is told to stop, and fails where it reads what cannot be. */
static void read_all(void *arg)
{
	const struct orders *orders = arg;

	while (!is_set(&orders->enough)) {
		char *text = NULL;
		long long sum;
		int zeros;

		if (!is_set(&orders->not_gpumem)) {
			text = file_slurp(GPUMEM);
			if (!text && !may_be_gone(-errno))
				_exit(2);
		}
		if (text && !makes_sense(text, &zeros))
			_exit(3);
		free(text);
		sum = node_read("gpu/mem_total");
		if (sum < 0 && !may_be_gone(sum))
			_exit(4);
	}
	_exit(0);
}

#define NR_READERS	2

/* Events without end, until the descriptor is closed; or a negative errno. */
static int start_storm(void)
{
	static const char text[] = "storm 3";
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return fd;
}

FIXTURE(storm)
{
	bool loaded;
	struct orders *orders;
	int fd;
	pid_t readers[NR_READERS];
};

FIXTURE_SETUP(storm)
{
	const char *why = prepare(&self->loaded);

	if (why)
		SKIP(return, "%s", why);
	self->fd = -1;
	self->orders = mmap(NULL, page_size(), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->orders, MAP_FAILED);
	for (int i = 0; i < NR_READERS; i++) {
		self->readers[i] = start_process(read_all, self->orders);
		ASSERT_GT(self->readers[i], 0);
	}
}

FIXTURE_TEARDOWN(storm)
{
	close(self->fd);
	set_flag(&self->orders->enough);
	for (int i = 0; i < NR_READERS; i++) {
		int status = -1;

		waitpid(self->readers[i], &status, 0);
		EXPECT_EQ(status, 0);
	}
	EXPECT_EQ(clean_up(self->loaded), 0);
}

TEST_F_TIMEOUT(storm, is_read, TIMEOUT)
{
	long long before;
	char *text;
	int zeros;

	ASSERT_EQ(on(), 0);
	before = nr_emitted();
	self->fd = start_storm();
	ASSERT_GE(self->fd, 0);
	while (node_read("gpu/forgotten") < 5000) {
		text = file_slurp(GPUMEM);
		ASSERT_NE(text, NULL);
		ASSERT_TRUE(makes_sense(text, &zeros));
		free(text);
	}
	close(self->fd);
	self->fd = -1;
	/* While zeros come and go, one reading may find more of them. */
	text = file_slurp(GPUMEM);
	ASSERT_NE(text, NULL);
	ASSERT_TRUE(makes_sense(text, &zeros));
	EXPECT_LE(zeros, ZEROS);
	free(text);
	EXPECT_EQ(node_read("gpu/events"), nr_emitted() - before);
	EXPECT_EQ(node_read("gpu/lost"), 0);
}

TEST_F_TIMEOUT(storm, is_switched, TIMEOUT)
{
	self->fd = start_storm();
	ASSERT_GE(self->fd, 0);
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(on(), 0);
		EXPECT_TRUE(is_attached());
		while (node_read("gpu/events") < 100 * i)
			sched_yield();
		ASSERT_EQ(off(), 0);
		EXPECT_TRUE(switched_off());
	}
}

TEST_F_TIMEOUT(storm, outlives_memledger, TIMEOUT)
{
	if (access(memledger_ko(), R_OK))
		SKIP(return, "no memledger.ko: set MEMLEDGER_KO");
	/* An open file holds the module, and reading this one takes long. */
	set_flag(&self->orders->not_gpumem);
	self->fd = start_storm();
	ASSERT_GE(self->fd, 0);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(on(), 0);
		while (node_read("gpu/events") < 1000)
			sched_yield();
		ASSERT_EQ(module_unload("memledger"), 0);
		EXPECT_FALSE(is_attached());
		ASSERT_EQ(module_load(memledger_ko(), ""), 0);
		EXPECT_TRUE(switched_off());
	}
}

TEST(without_the_tracepoint)
{
	const char *why = nodes_missing();

	if (why)
		SKIP(return, "%s", why);
	if (node_read("features/gpu_totals") != 0)
		SKIP(return, "this kernel has it");
	EXPECT_EQ(node_write("gpu_totals", "1\n"), -EOPNOTSUPP);
	EXPECT_EQ(node_write("gpu_totals", "0\n"), 0);
	EXPECT_EQ(node_read("gpu_totals"), 0);
	EXPECT_EQ(node_read("gpu/mem_total"), -EOPNOTSUPP);
}

TEST_HARNESS_MAIN
