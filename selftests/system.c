// SPDX-License-Identifier: GPL-2.0-only
/*
 * All processes in one pass: the numbers are those of smaps and of each
 * process's own snapshot, memory that is shared counts once, and nothing is
 * lost or made up while processes come and go and readers are slow, many, or
 * killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <memledger/category.h>

#include "kgsl.h"
#include "pass.h"
#include "testlib.h"
#include "vmas.h"

#include "kselftest_harness.h"

#define NR_PROCESSES	4
/* Pages of each kind that process 0 has; process N has N more of each. */
#define PAGES		5

/* Written to before the processes are forked, so that they share it. */
static char *common;

static void name_anon(void *start, size_t len, const char *name)
{
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, len, name);
}

/* Memory of several kinds, some of it in swap. */
static void use_memory(void *arg)
{
	size_t len = (PAGES + (long)arg) * page_size();
	int fd = syscall(__NR_memfd_create, "jit-cache", 0);
	char *p;

	p = map_alone(len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	touch(p, len);
	p = map_alone(2 * len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	touch(p, 2 * len);
	name_anon(p, 2 * len, "libc_malloc");
	madvise(p, len, MADV_PAGEOUT);
	if (ftruncate(fd, 3 * len))
		_exit(1);
	p = map_alone(3 * len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	touch(p, 3 * len);
	/* Of what all of them share, some is its own from now on. */
	touch(common, (long)arg * page_size());
	read_pages(common, 16 * page_size());
}

FIXTURE(system)
{
	pid_t pid[NR_PROCESSES];
};

FIXTURE_SETUP(system)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (!why)
		why = setting_set(NODES "slice_entries", "2048");
	if (!why)
		why = setting_set(NODES "profile", "android16");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	common = map_alone(16 * page_size(), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	touch(common, 16 * page_size());
	for (long i = 0; i < NR_PROCESSES; i++) {
		self->pid[i] = start_process(use_memory, (void *)i);
		ASSERT_GT(self->pid[i], 0);
		ASSERT_EQ(wait_stopped(self->pid[i]), 0);
	}
}

FIXTURE_TEARDOWN(system)
{
	for (int i = 0; i < NR_PROCESSES; i++)
		end_process(self->pid[i]);
	settings_restore();
}

/*
 * What the stopped processes have may still change, as somebody else maps or
 * unmaps pages of theirs: what is compared is read between two readings of
 * smaps that agree.
 */
#define TRIES	20

static bool smaps_are(const pid_t *pid, const struct vma_list *smaps)
{
	bool same = true;

	for (int i = 0; i < NR_PROCESSES; i++) {
		struct vma_list now;

		if (vmas_read_smaps(&now, pid[i]))
			return false;
		same &= vmas_same(&now, &smaps[i]);
		vmas_free(&now);
	}
	return same;
}

static int read_smaps(const pid_t *pid, struct vma_list *smaps)
{
	for (int i = 0; i < NR_PROCESSES; i++)
		if (vmas_read_smaps(&smaps[i], pid[i]))
			return -1;
	return 0;
}

static void free_smaps(struct vma_list *smaps)
{
	for (int i = 0; i < NR_PROCESSES; i++)
		vmas_free(&smaps[i]);
}

/* Return: 0 with a pass and the smaps of that moment, both to be freed. */
static int read_both(const pid_t *pid, struct pass *pass,
		     struct vma_list *smaps)
{
	for (int i = 0; i < TRIES; i++) {
		if (read_smaps(pid, smaps) || pass_read(pass, 0))
			return -1;
		if (smaps_are(pid, smaps))
			return 0;
		pass_free(pass);
		free_smaps(smaps);
	}
	return -1;
}

/* The sum of a field of smaps, in bytes. */
static long long sum(const struct vma_list *smaps, enum field field)
{
	return vmas_sum(smaps, 0, ~0ULL, field) << 10;
}

TEST_F_TIMEOUT(system, totals_are_those_of_smaps, TIMEOUT)
{
	static const struct {
		const char *column;
		enum field field;
		enum field and;
	} cases[] = {
		{ "vss", FIELD_size, NR_FIELDS },
		{ "rss", FIELD_rss, NR_FIELDS },
		{ "pss_floor", FIELD_pss, NR_FIELDS },
		{ "uss", FIELD_private_dirty, FIELD_private_clean },
		{ "swap", FIELD_swap, NR_FIELDS },
		{ "swap_pss_floor", FIELD_swap_pss, NR_FIELDS },
		{ "private_dirty", FIELD_private_dirty, NR_FIELDS },
		{ "private_clean", FIELD_private_clean, NR_FIELDS },
		{ "shared_dirty", FIELD_shared_dirty, NR_FIELDS },
		{ "shared_clean", FIELD_shared_clean, NR_FIELDS },
	};
	struct vma_list smaps[NR_PROCESSES];
	struct pass pass;

	ASSERT_EQ(read_both(self->pid, &pass, smaps), 0);
	EXPECT_EQ(pass_check(&pass), 0);
	EXPECT_EQ(pass_says(pass.end, "complete"), 1);
	for (int i = 0; i < NR_PROCESSES; i++) {
		int line = pass_find(&pass, self->pid[i]);

		ASSERT_GE(line, 0);
		for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
			long long want = sum(&smaps[i], cases[c].field);

			if (cases[c].and != NR_FIELDS)
				want += sum(&smaps[i], cases[c].and);
			EXPECT_EQ(pass_number(&pass, line, cases[c].column),
				  want)
				TH_LOG("%d: %s", i, cases[c].column);
		}
		EXPECT_EQ(pass_number(&pass, line, "vmas"),
			  (long long)smaps[i].nr);
		/* In swap is what was put there, and it is not all. */
		EXPECT_GT(pass_number(&pass, line, "swap"), 0);
		EXPECT_STREQ(pass_cell(&pass, line, "comm"), "system");
		EXPECT_STREQ(pass_cell(&pass, line, "shares"), "-");
		EXPECT_EQ(pass_number(&pass, line, "complete"), 1);
	}
	free_smaps(smaps);
	pass_free(&pass);
}

static const char *const category_names[] = {
#define X(id, name, label) #name,
	MEMLEDGER_CATEGORIES(X)
#undef X
};

/* Of a column of a row the file under processes/TGID that says the same. */
static long long node_number(pid_t pid, const char *row, const char *column)
{
	long long dirty, clean;

	if (strcmp(column, "uss"))
		return node_read("processes/%d/%s/%s", pid, row, column);
	dirty = node_read("processes/%d/%s/private_dirty", pid, row);
	clean = node_read("processes/%d/%s/private_clean", pid, row);
	return dirty < 0 ? dirty : dirty + clean;
}

/*
 * The columns from rss to swap_pss_floor of the process or of a category; a
 * test of its own makes sure that the files are right.
 * Return: how many are not those of the process's own snapshot
 */
static int compare_row(const struct pass *pass, pid_t pid, const char *row,
		       const char *prefix)
{
	static const char *const columns[] = {
		"rss", "pss", "uss", "swap", "swap_pss", "pss_floor",
		"swap_pss_floor",
	};
	int line = pass_find(pass, pid), bad = 0;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		long long want = node_number(pid, row, columns[i]), is;
		char column[64];

		if (want == -EOPNOTSUPP)
			want = NOT_KNOWN;
		snprintf(column, sizeof(column), "%s%s", prefix, columns[i]);
		is = pass_number(pass, line, column);
		if (is != want) {
			printf("# %d: %s: %lld, in %s %lld\n", pid, column, is,
			       row, want);
			bad++;
		}
	}
	return bad;
}

static int compare_rows(const struct pass *pass, pid_t pid)
{
	int bad = compare_row(pass, pid, "total", "");

	for (size_t i = 0; i < ARRAY_SIZE(category_names); i++) {
		char row[64], prefix[64];

		snprintf(row, sizeof(row), "category/%s", category_names[i]);
		snprintf(prefix, sizeof(prefix), "%s.", category_names[i]);
		bad += compare_row(pass, pid, row, prefix);
	}
	return bad;
}

TEST_F_TIMEOUT(system, rows_are_those_of_each_process, TIMEOUT)
{
	static const char *const profiles[] = {
		"android10", "android16", "android17",
	};
	struct vma_list smaps[NR_PROCESSES];
	struct pass pass;
	int bad = 0, tries;

	for (int i = 0; i < NR_PROCESSES; i++)
		ASSERT_EQ(node_write_number("track", self->pid[i]), 0);
	for (size_t p = 0; p < ARRAY_SIZE(profiles); p++) {
		ASSERT_EQ(node_write("profile", profiles[p]), 0);
		for (tries = 0; tries < TRIES; tries++) {
			ASSERT_EQ(read_both(self->pid, &pass, smaps), 0);
			for (int i = 0; i < NR_PROCESSES; i++)
				ASSERT_EQ(node_refresh(self->pid[i]), 0);
			if (smaps_are(self->pid, smaps))
				break;
			pass_free(&pass);
			free_smaps(smaps);
		}
		ASSERT_LT(tries, TRIES);
		for (int i = 0; i < NR_PROCESSES; i++)
			bad += compare_rows(&pass, self->pid[i]);
		EXPECT_EQ(bad, 0) TH_LOG("%s", profiles[p]);
		EXPECT_NE(strstr(pass.begin, profiles[p]), NULL);
		free_smaps(smaps);
		pass_free(&pass);
	}
	for (int i = 0; i < NR_PROCESSES; i++)
		EXPECT_EQ(node_write_number("untrack", self->pid[i]), 0);
}

/* Numbers of a line of mappings, in their order in the file. */
#define MAPPING_NUMBERS	14

struct mapping_sums {
	bool seen;
	long long number[MAPPING_NUMBERS];
};

/* Adds up a process's mappings; returns -1 for a text that makes no sense. */
static int sum_mappings(char *text, pid_t pid, struct mapping_sums *sums)
{
	char *line;

	memset(sums, 0, sizeof(*sums));
	while ((line = strsep(&text, "\n"))) {
		char *at;

		if (!strncmp(line, "process ", 8)) {
			if (strtol(line + 8, NULL, 10) == pid)
				sums->seen = true;
			continue;
		}
		if (strncmp(line, "mapping ", 8) ||
		    strtol(line + 8, &at, 10) != pid)
			continue;
		for (int i = 0; i < MAPPING_NUMBERS; i++)
			sums->number[i] += strtoll(at, &at, 10);
		/* perms, deleted, and a name that may be empty */
		if (*at != ' ' || strlen(at) < 8 || at[5] != ' ')
			return -1;
	}
	return sums->seen ? 0 : -1;
}

TEST_F_TIMEOUT(system, mappings_add_up_to_smaps, TIMEOUT)
{
	/* vmas vss rss pss uss swap swap_pss pss_floor ... */
	static const struct {
		int at;
		enum field field;
	} cases[] = {
		{ 1, FIELD_size }, { 2, FIELD_rss }, { 5, FIELD_swap },
		{ 7, FIELD_pss }, { 8, FIELD_swap_pss },
		{ 9, FIELD_private_dirty }, { 10, FIELD_shared_dirty },
		{ 11, FIELD_private_clean }, { 12, FIELD_shared_clean },
	};
	struct vma_list smaps[NR_PROCESSES];
	struct mapping_sums sums;
	char *text = NULL, *copy;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		ASSERT_EQ(read_smaps(self->pid, smaps), 0);
		text = file_slurp(DETAILS "mappings");
		ASSERT_NE(text, NULL);
		if (smaps_are(self->pid, smaps))
			break;
		free_smaps(smaps);
		free(text);
	}
	ASSERT_LT(tries, TRIES);
	ASSERT_NE(strstr(text, " complete 1\n"), NULL);
	for (int i = 0; i < NR_PROCESSES; i++) {
		copy = strdup(text);
		ASSERT_EQ(sum_mappings(copy, self->pid[i], &sums), 0);
		EXPECT_EQ(sums.number[0], (long long)smaps[i].nr);
		for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
			EXPECT_EQ(sums.number[cases[c].at],
				  sum(&smaps[i], cases[c].field))
				TH_LOG("%d: number %d", i, cases[c].at);
		}
		free(copy);
	}
	free(text);
	free_smaps(smaps);
}

/*
 * Who shares memory with whom
 */

static int told[2];

static int tell_and_pause(void *arg)
{
	pid_t pid = getpid();

	(void)arg;
	if (write(told[1], &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	for (;;)
		pause();
}

/* Shares all memory with a process that is no thread of it. */
static void clone_vm(void *arg)
{
	char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (clone(tell_and_pause, stack + (1 << 16), CLONE_VM | SIGCHLD,
		  NULL) < 0)
		_exit(1);
}

/* Waits for a child that uses its memory and does not exec. */
static void vfork_and_wait(void *arg)
{
	(void)arg;
	if (!vfork())
		tell_and_pause(NULL);
	_exit(1);
}

TEST_F_TIMEOUT(system, shared_memory_counts_once, TIMEOUT)
{
	static const struct {
		const char *name;
		void (*run)(void *arg);
		bool stops;
	} cases[] = {
		{ "CLONE_VM", clone_vm, true },
		{ "vfork", vfork_and_wait, false },
	};
	struct mapping_sums sums;
	struct pass pass;
	pid_t first, second, pid, child;
	char *text;

	ASSERT_EQ(pipe(told), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pid = start_process(cases[i].run, NULL);
		ASSERT_EQ(read(told[0], &child, sizeof(child)),
			  (ssize_t)sizeof(child));
		if (cases[i].stops)
			ASSERT_EQ(wait_stopped(pid), 0);
		first = pid < child ? pid : child;
		second = pid < child ? child : pid;

		ASSERT_EQ(pass_read(&pass, 0), 0);
		EXPECT_EQ(pass_check(&pass), 0) TH_LOG("%s", cases[i].name);
		EXPECT_GT(pass_number(&pass, pass_find(&pass, first), "rss"),
			  0) TH_LOG("%s", cases[i].name);
		EXPECT_EQ(pass_number(&pass, pass_find(&pass, first),
				      "shares"), NOT_KNOWN);
		/* pass_check() has seen that this line has no numbers. */
		EXPECT_EQ(pass_number(&pass, pass_find(&pass, second),
				      "shares"), first)
			TH_LOG("%s", cases[i].name);
		EXPECT_EQ(pass_says(pass.end, "shared"), 1);
		pass_free(&pass);

		text = file_slurp(DETAILS "mappings");
		ASSERT_NE(text, NULL);
		EXPECT_EQ(sum_mappings(text, second, &sums), 0);
		EXPECT_EQ(sums.number[0], 0);
		free(text);
		kill(child, SIGKILL);
		end_process(pid);
	}
	close(told[0]);
	close(told[1]);
}

static int exec_now[2], has_execed[2];

/* Execs, when told, and so gets memory of its own. */
static int exec_when_told(void *arg)
{
	char byte;

	if (read(exec_now[0], &byte, 1) == 1)
		execl("/bin/sleep", "sleep", arg, NULL);
	_exit(1);
}

/* Once one of two has other memory, it has numbers of its own. */
TEST_F_TIMEOUT(system, sharing_ends_with_exec, TIMEOUT)
{
	char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pass pass;
	pid_t child;
	char byte;
	int line;

	ASSERT_EQ(pipe2(exec_now, O_CLOEXEC), 0);
	ASSERT_EQ(pipe2(has_execed, O_CLOEXEC), 0);
	child = clone(exec_when_told, stack + (1 << 16), CLONE_VM | SIGCHLD,
		      "1000");
	ASSERT_GT(child, 0);
	close(has_execed[1]);
	ASSERT_EQ(pass_read(&pass, 0), 0);
	EXPECT_EQ(pass_check(&pass), 0);
	EXPECT_EQ(pass_number(&pass, pass_find(&pass, child), "shares"),
		  getpid());
	EXPECT_EQ(pass_says(pass.end, "shared"), 1);
	pass_free(&pass);

	ASSERT_EQ(write(exec_now[1], "", 1), 1);
	/* Its end of the pipe is closed by the exec. */
	ASSERT_EQ(read(has_execed[0], &byte, 1), 0);
	ASSERT_EQ(pass_read(&pass, 0), 0);
	EXPECT_EQ(pass_check(&pass), 0);
	line = pass_find(&pass, child);
	EXPECT_STREQ(pass_cell(&pass, line, "comm"), "sleep");
	EXPECT_GT(pass_number(&pass, line, "rss"), 0);
	EXPECT_GT(pass_number(&pass, pass_find(&pass, getpid()), "rss"), 0);
	EXPECT_EQ(pass_says(pass.end, "shared"), 0);
	pass_free(&pass);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/*
 * Who has a line
 */

static void *pause_thread(void *arg)
{
	tell_and_pause(arg);
	return NULL;
}

static void lose_leader(void *arg)
{
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, pause_thread, NULL))
		_exit(1);
	syscall(__NR_exit, 0);
}

static void exit_at_once(void *arg)
{
	(void)arg;
	_exit(0);
}

TEST_F_TIMEOUT(system, who_has_a_line, TIMEOUT)
{
	struct pass pass;
	siginfo_t info;
	pid_t zombie, leaderless, pid;

	ASSERT_EQ(pipe(told), 0);
	zombie = start_process(exit_at_once, NULL);
	ASSERT_EQ(waitid(P_PID, zombie, &info, WEXITED | WNOWAIT), 0);
	leaderless = start_process(lose_leader, NULL);
	ASSERT_EQ(read(told[0], &pid, sizeof(pid)), (ssize_t)sizeof(pid));
	ASSERT_EQ(pid, leaderless);

	ASSERT_EQ(pass_read(&pass, 0), 0);
	EXPECT_EQ(pass_check(&pass), 0);
	EXPECT_EQ(pass_find(&pass, zombie), -1);
	/* kthreadd, and the leader's only thread that is left */
	EXPECT_EQ(pass_find(&pass, 2), -1);
	EXPECT_GT(pass_number(&pass, pass_find(&pass, leaderless), "rss"), 0);
	EXPECT_GT(pass_number(&pass, pass_find(&pass, 1), "rss"), 0);
	EXPECT_GT(pass_number(&pass, pass_find(&pass, getpid()), "rss"), 0);
	pass_free(&pass);
	end_process(zombie);
	end_process(leaderless);
	close(told[0]);
	close(told[1]);
}

TEST_F_TIMEOUT(system, names_are_harmless, TIMEOUT)
{
	struct pass pass;
	int line;

	ASSERT_EQ(prctl(PR_SET_NAME, "a b\nc\\d\x1b"), 0);
	ASSERT_EQ(pass_read(&pass, 0), 0);
	line = pass_find(&pass, getpid());
	EXPECT_STREQ(pass_cell(&pass, line, "comm"),
		     "a b\\012c\\134d\\033");
	pass_free(&pass);
}

TEST_F_TIMEOUT(system, says_when, TIMEOUT)
{
	struct timespec before, after;
	struct pass pass;
	long long start, end;

	clock_gettime(CLOCK_BOOTTIME, &before);
	ASSERT_EQ(pass_read(&pass, 0), 0);
	clock_gettime(CLOCK_BOOTTIME, &after);
	start = pass_says(pass.begin, "start_ns");
	end = pass_says(pass.end, "end_ns");
	EXPECT_GE(start, before.tv_sec * 1000000000LL + before.tv_nsec);
	EXPECT_GE(end, start);
	EXPECT_LE(end, after.tv_sec * 1000000000LL + after.tv_nsec);
	EXPECT_LE(pass_says(pass.end, "walk_ns"), end - start);
	EXPECT_EQ(pass_says(pass.begin, "page_size"), (long long)page_size());
	pass_free(&pass);
}

/*
 * Readers
 */

/* The lines of the stopped processes, one behind the other. */
static void lines_of(const pid_t *pid, const struct pass *pass, char *lines,
		     size_t size)
{
	size_t len = 0;

	*lines = '\0';
	for (int i = 0; i < NR_PROCESSES; i++) {
		int line = pass_find(pass, pid[i]);

		for (int c = 0; line >= 0 && c < pass->columns; c++)
			len += snprintf(lines + len, size - len, "%s ",
					pass->cells[line * pass->columns + c]);
	}
}

#define LINES_SIZE	32768

TEST_F_TIMEOUT(system, read_in_pieces, TIMEOUT)
{
	static const size_t pieces[] = { 1, 7, 100, 4095, 4096, 4097, 65536 };
	static char want[LINES_SIZE], is[LINES_SIZE];
	struct vma_list smaps[NR_PROCESSES];
	struct pass pass;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		int tries;

		for (tries = 0; tries < TRIES; tries++) {
			ASSERT_EQ(read_both(self->pid, &pass, smaps), 0);
			lines_of(self->pid, &pass, want, sizeof(want));
			pass_free(&pass);
			ASSERT_EQ(pass_read(&pass, pieces[i]), 0);
			EXPECT_EQ(pass_check(&pass), 0);
			lines_of(self->pid, &pass, is, sizeof(is));
			pass_free(&pass);
			if (smaps_are(self->pid, smaps))
				break;
			free_smaps(smaps);
		}
		ASSERT_LT(tries, TRIES);
		free_smaps(smaps);
		EXPECT_STREQ(is, want) TH_LOG("%zu bytes", pieces[i]);
	}
}

/* Between two reads nothing is held: the pass goes on where it was. */
TEST_F_TIMEOUT(system, a_slow_reader_holds_nothing, TIMEOUT)
{
	char text[65536], *more;
	struct pass pass;
	size_t len = 0;
	ssize_t nr;
	pid_t late;
	int fd;

	fd = open(DETAILS "snapshot", O_RDONLY);
	ASSERT_GE(fd, 0);
	/* The heading, and what seq_file has of the first processes. */
	nr = read(fd, text, 100);
	ASSERT_EQ(nr, 100);
	len = nr;
	/* Whoever comes now has a higher number, and is in it. */
	late = start_process(use_memory, (void *)3L);
	ASSERT_EQ(wait_stopped(late), 0);
	for (int i = 0; i < NR_PROCESSES; i++)
		end_process(self->pid[i]);
	while ((nr = read(fd, text + len, sizeof(text) - len - 1)) > 0)
		len += nr;
	ASSERT_EQ(nr, 0);
	text[len] = '\0';
	more = strdup(text);
	ASSERT_EQ(pass_parse(&pass, more), 0);
	EXPECT_EQ(pass_check(&pass), 0);
	EXPECT_GT(pass_number(&pass, pass_find(&pass, late), "rss"), 0);
	pass_free(&pass);
	end_process(late);
	close(fd);
	for (int i = 0; i < NR_PROCESSES; i++)
		self->pid[i] = 0;
}

/* Seeking back begins another pass; its own end stays the end. */
TEST_F_TIMEOUT(system, seeking, TIMEOUT)
{
	static char one[1 << 20], other[1 << 20];
	ssize_t len = 0, nr;
	long long first;
	int fd;

	fd = open(DETAILS "snapshot", O_RDONLY);
	ASSERT_GE(fd, 0);
	while ((nr = read(fd, one + len, sizeof(one) - len - 1)) > 0)
		len += nr;
	ASSERT_GT(len, 0);
	EXPECT_EQ(read(fd, one + len, 1), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	ASSERT_GT(read(fd, other, sizeof(other) - 1), 0);
	first = pass_says(one, "start_ns");
	EXPECT_GT(pass_says(other, "start_ns"), first);
	/* The same file, read at once from two places by somebody else. */
	EXPECT_EQ(pread(fd, other, 10, 0), 10);
	EXPECT_EQ(memcmp(other, "# memledge", 10), 0);
	EXPECT_EQ(pread(fd, other, 10, 1 << 30), 0);
	close(fd);
}

#define READINGS	20

static void read_often(void *arg)
{
	const pid_t *pid = arg;
	struct pass pass;

	for (int i = 0; i < READINGS; i++) {
		if (pass_read(&pass, 0))
			_exit(2);
		if (pass_check(&pass))
			_exit(3);
		for (int p = 0; p < NR_PROCESSES; p++) {
			int line = pass_find(&pass, pid[p]);

			if (pass_number(&pass, line, "vss") <= 0 ||
			    pass_number(&pass, line, "complete") != 1)
				_exit(4);
		}
		pass_free(&pass);
	}
	_exit(0);
}

TEST_F_TIMEOUT(system, two_readers_at_once, TIMEOUT)
{
	pid_t readers[2];

	for (int r = 0; r < 2; r++)
		readers[r] = start_process(read_often, self->pid);
	for (int r = 0; r < 2; r++) {
		int status = -1;

		waitpid(readers[r], &status, 0);
		EXPECT_EQ(status, 0);
	}
}

/* Forks, execs and exits, all the time. */
static void come_and_go(void *arg)
{
	(void)arg;
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(0);
		}
		if (pid > 0 && pid % 3)
			kill(pid, SIGKILL);
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
}

/* Execs itself, all the time. */
static char exec_again[] = "exec \"$0\" -c \"$1\" \"$0\" \"$1\"";
static char *exec_for_ever[] = {
	"/bin/sh", "-c", exec_again, "/bin/sh", exec_again, NULL,
};

TEST_F_TIMEOUT(system, while_processes_come_and_go, TIMEOUT)
{
	pid_t busy[3], reader;
	int status = -1;
	char *text;

	busy[0] = start_process(come_and_go, NULL);
	busy[1] = start_process(come_and_go, NULL);
	busy[2] = start_program(exec_for_ever);
	reader = start_process(read_often, self->pid);
	waitpid(reader, &status, 0);
	EXPECT_EQ(status, 0);
	for (int i = 0; i < READINGS; i++) {
		struct mapping_sums sums;

		text = file_slurp(DETAILS "mappings");
		ASSERT_NE(text, NULL);
		EXPECT_NE(strstr(text, "\n# end_ns "), NULL);
		EXPECT_EQ(sum_mappings(text, self->pid[0], &sums), 0);
		EXPECT_GT(sums.number[0], 0);
		free(text);
	}
	/* It is there all the time, and has not failed to exec. */
	EXPECT_EQ(waitpid(busy[2], NULL, WNOHANG), 0);
	for (int i = 0; i < 3; i++)
		end_process(busy[i]);
}

#define BIG	(192UL << 20)

static void use_much(void *arg)
{
	char *p = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	madvise(p, BIG, MADV_NOHUGEPAGE);
	touch(p, BIG);
}

static void read_once(void *arg)
{
	(void)arg;
	free(file_slurp(DETAILS "snapshot"));
	_exit(0);
}

/* The time that a process has had a CPU until now, in microseconds. */
static long long cpu_time(pid_t pid)
{
	struct timespec time = {};
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &time);
	return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

/*
 * What a reader costs; or one that is killed when it has cost @kill_after, from
 * then on.
 */
static long long cost_of_reader(struct __test_metadata *_metadata,
				long long kill_after)
{
	pid_t reader = start_process(read_once, NULL);
	long long before = 0;
	struct rusage usage;
	int status;

	if (kill_after) {
		while ((before = cpu_time(reader)) < kill_after)
			usleep(1000);
		kill(reader, SIGKILL);
	}
	ASSERT_EQ(wait4(reader, &status, 0, &usage), reader);
	EXPECT_EQ(WIFSIGNALED(status), !!kill_after);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec - before;
}

/* It does not go on until the process, or even the pass, is done. */
TEST_F_TIMEOUT(system, a_killed_reader_ends, TIMEOUT)
{
	pid_t big = start_process(use_much, NULL);
	long long whole;

	ASSERT_EQ(wait_stopped(big), 0);
	ASSERT_EQ(node_write("slice_entries", "1"), 0);
	whole = cost_of_reader(_metadata, 0);
	EXPECT_LT(cost_of_reader(_metadata, whole / 20), whole / 2)
		TH_LOG("of %lld us", whole);
	end_process(big);
}

/* So is called only what the next two have. */
static void name_heirloom(void *start, size_t len, long i)
{
	char name[32];

	snprintf(name, sizeof(name), "scudo:heirloom-%ld", i);
	name_anon(start, len, name);
}

static void die_rich(void *arg)
{
	/* It has to take so long that it can be killed meanwhile. */
	size_t len = 6144 * page_size();
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, len, MADV_NOHUGEPAGE);
	name_heirloom(p, len, (long)arg);
	touch(p, len);
}

/* A page: in the smallest slice a longer mapping is named in any case. */
static void inherit(void *arg)
{
	size_t len = page_size();
	char *p = map_alone(len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	name_heirloom(p, len, (long)arg);
	touch(p, len);
}

/*
 * It ends while the pass is in a mapping of a name that is new. Where mappings
 * of that name belong has to be found out for the next process all the same.
 */
TEST_F_TIMEOUT(system, killed_in_a_new_name, TIMEOUT)
{
	long long whole = 0;
	int killed = 0;

	if (node_read("features/anon_names") != 1)
		SKIP(return, "this kernel does not name anonymous memory");
	ASSERT_EQ(node_write("slice_entries", "1"), 0);
	/* The first one lives, and tells how long it takes. */
	for (long i = 0; i < 8; i++) {
		pid_t rich = start_process(die_rich, (void *)i);
		pid_t heir = start_process(inherit, (void *)i), killer;
		struct pass pass, after;

		ASSERT_EQ(wait_stopped(rich), 0);
		ASSERT_EQ(wait_stopped(heir), 0);
		if (!i)
			whole = cost_of_reader(_metadata, 0);
		killer = kill_later(rich, i ? whole * i / 8 : 10 * whole);
		ASSERT_EQ(pass_read(&pass, 0), 0);
		waitpid(killer, NULL, 0);
		killed += pass_find(&pass, rich) < 0;
		ASSERT_EQ(pass_read(&after, 0), 0);
		EXPECT_EQ(pass_number(&pass, pass_find(&pass, heir),
				      "native_heap.rss"),
			  pass_number(&after, pass_find(&after, heir),
				      "native_heap.rss"))
			TH_LOG("killed after %ld/8 of %lld us", i, whole);
		pass_free(&after);
		pass_free(&pass);
		end_process(rich);
		end_process(heir);
	}
	EXPECT_GT(killed, 0);
}

static const char *const files_of_all[] = {
	DETAILS "snapshot", DETAILS "mappings",
};

/* Nor by a file that was open before, with text left in it. */
static void lacks_capability(void *arg)
{
	if (drop_cap_sys_ptrace())
		_exit(255);
	_exit(nr_seen(files_of_all, arg, ARRAY_SIZE(files_of_all)));
}

TEST_F_TIMEOUT(system, without_the_capability, TIMEOUT)
{
	int fd[ARRAY_SIZE(files_of_all)];
	char byte;

	for (size_t i = 0; i < ARRAY_SIZE(files_of_all); i++) {
		fd[i] = open(files_of_all[i], O_RDONLY);
		ASSERT_GE(fd[i], 0);
		ASSERT_EQ(read(fd[i], &byte, 1), 1);
	}
	EXPECT_EQ(exit_status(start_process(lacks_capability, fd)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(files_of_all); i++)
		close(fd[i]);
}

/*
 * The tool
 */

static char *run_tool(const char *arguments)
{
	size_t size = 1 << 20, len = 0, nr;
	char command[256], *text = malloc(size);
	FILE *tool;

	snprintf(command, sizeof(command), "memledger %s", arguments);
	tool = popen(command, "r");
	if (!tool || !text)
		abort();
	while ((nr = fread(text + len, 1, size - len - 1, tool)) > 0)
		len += nr;
	text[len] = '\0';
	if (pclose(tool)) {
		free(text);
		return NULL;
	}
	return text;
}

/* In JSON without blanks: of the process, the first number with that key. */
static long long json_number(const char *json, pid_t pid, const char *key)
{
	char text[64];
	const char *at;

	snprintf(text, sizeof(text), "{\"pid\":%d,", pid);
	at = strstr(json, text);
	snprintf(text, sizeof(text), "\"%s\":", key);
	at = at ? strstr(at, text) : NULL;
	return at ? strtoll(at + strlen(text), NULL, 10) : -1;
}

TEST_F_TIMEOUT(system, the_tool_says_the_same, TIMEOUT)
{
	static const char *const commands[] = {
		"procrank --json", "top --once --json", "meminfo --json",
		"system --json",
	};
	static const char *const keys[] = {
		"rss", "pss", "uss", "swap", "swap_pss", "vss", "vmas",
	};
	struct vma_list smaps[NR_PROCESSES];
	struct pass pass;
	char *json = NULL;

	if (system("memledger --version > /dev/null 2>&1"))
		SKIP(return, "no memledger in PATH");
	for (size_t c = 0; c < ARRAY_SIZE(commands); c++) {
		int tries;

		for (tries = 0; tries < TRIES; tries++) {
			ASSERT_EQ(read_both(self->pid, &pass, smaps), 0);
			json = run_tool(commands[c]);
			ASSERT_NE(json, NULL) TH_LOG("%s", commands[c]);
			if (smaps_are(self->pid, smaps))
				break;
			pass_free(&pass);
			free_smaps(smaps);
			free(json);
		}
		ASSERT_LT(tries, TRIES);
		for (int i = 0; i < NR_PROCESSES; i++) {
			int line = pass_find(&pass, self->pid[i]);

			for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
				EXPECT_EQ(json_number(json, self->pid[i],
						      keys[k]),
					  pass_number(&pass, line, keys[k]))
					TH_LOG("%s: %s", commands[c], keys[k]);
			}
		}
		free(json);
		free_smaps(smaps);
		pass_free(&pass);
	}
}

/* In kB, of the line that ends in a word. */
static long long column_of(const char *text, const char *end, int column)
{
	const char *line = strstr(text, end);

	if (!line)
		return -1;
	while (line > text && line[-1] != '\n')
		line--;
	for (int i = 0; i < column; i++) {
		line += strspn(line, " ");
		line += strcspn(line, " ");
	}
	return strtoll(line, NULL, 10);
}

TEST_F_TIMEOUT(system, showmap_adds_up_to_smaps, TIMEOUT)
{
	static const enum field fields[] = {
		FIELD_size, FIELD_rss, FIELD_pss, FIELD_shared_clean,
		FIELD_shared_dirty, FIELD_private_clean, FIELD_private_dirty,
		FIELD_swap, FIELD_swap_pss,
	};
	struct vma_list smaps[NR_PROCESSES];
	char command[64], *text = NULL;
	int tries;

	if (system("memledger --version > /dev/null 2>&1"))
		SKIP(return, "no memledger in PATH");
	snprintf(command, sizeof(command), "showmap %d", self->pid[2]);
	for (tries = 0; tries < TRIES; tries++) {
		ASSERT_EQ(read_smaps(self->pid, smaps), 0);
		text = run_tool(command);
		ASSERT_NE(text, NULL);
		if (smaps_are(self->pid, smaps))
			break;
		free_smaps(smaps);
		free(text);
	}
	ASSERT_LT(tries, TRIES);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		EXPECT_EQ(column_of(text, " TOTAL\n", i) << 10,
			  sum(&smaps[2], fields[i]))
			TH_LOG("column %zu", i);
	}
	free(text);
	free_smaps(smaps);
}

/* Two buffers of the system heap and two of a memfd; of each kind one mapped. */
static const struct {
	int (*make)(size_t size);
	int pages;
	bool mapped;
} buffers[] = {
	{ dmabuf_from_heap, 64, false },
	{ dmabuf_from_heap, 32, true },
	{ dmabuf_from_memfd, 16, true },
	{ dmabuf_from_memfd, 8, false },
};

static void hold_buffers(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(buffers); i++) {
		size_t size = buffers[i].pages * page_size();
		int fd = buffers[i].make(size);

		if (fd < 0 || (buffers[i].mapped &&
			       mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_SHARED, fd, 0) == MAP_FAILED))
			_exit(1);
	}
}

/* In JSON without blanks: the number behind some text. */
static long long number_behind(const char *json, const char *text)
{
	const char *at = strstr(json, text);

	return at ? strtoll(at + strlen(text), NULL, 10) : -1;
}

TEST_F_TIMEOUT(system, ram_terms_of_dmabufs, TIMEOUT)
{
	static const struct {
		const char *text;
		int pages;
	} cases[] = {
		{ "\"dmabuf_size\":{\"bytes\":", 64 + 32 + 16 + 8 },
		{ "\"dmabuf_mapped\":{\"bytes\":", 32 + 16 },
		{ "\"dmabuf_in_shmem\":{\"bytes\":", 16 + 8 },
		{ "\"dmabuf_mapped_in_shmem\":{\"bytes\":", 16 },
		/* Of the heap's alone: the memfd's are in Shmem. */
		{ "\"dmabuf_unmapped\":", 64 },
	};
	pid_t pid = start_process(hold_buffers, NULL);
	char *json;

	if (system("memledger --version > /dev/null 2>&1"))
		SKIP(end_process(pid); return, "no memledger in PATH");
	if (wait_stopped(pid))
		SKIP(return, "no system heap or no udmabuf");
	ASSERT_EQ(node_write("dmabuf/refresh", "1"), 0);
	json = run_tool("system --json");
	ASSERT_NE(json, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(number_behind(json, cases[i].text),
			  cases[i].pages * (long long)page_size())
			TH_LOG("%s", cases[i].text);
	}
	free(json);
	end_process(pid);
}

/*
 * With a GPU driver
 */

static void use_gpu(void *arg)
{
	int fd = kgsl_open();

	(void)arg;
	if (fd < 0 || kgsl_alloc(fd, 5 * page_size(),
				 KGSL_TYPE(TEXTURE)) < 0)
		_exit(1);
}

TEST_F_TIMEOUT(system, mtrack_rows_where_a_driver_tells, TIMEOUT)
{
	const char *why = kgsl_load("kgsl_standin", "");
	struct pass pass;
	pid_t pid;
	int line;

	if (why)
		SKIP(return, "%s", why);
	pid = start_process(use_gpu, NULL);
	ASSERT_EQ(wait_stopped(pid), 0);
	ASSERT_EQ(pass_read(&pass, 0), 0);
	EXPECT_EQ(pass_check(&pass), 0);
	line = pass_find(&pass, pid);
	EXPECT_EQ(pass_number(&pass, line, "gl_mtrack.pss"),
		  5 * (long long)page_size());
	EXPECT_EQ(pass_number(&pass, line, "egl_mtrack.pss"), 0);
	/* What has nothing there has 0, which is known. */
	line = pass_find(&pass, self->pid[0]);
	EXPECT_EQ(pass_number(&pass, line, "gl_mtrack.pss"), 0);
	pass_free(&pass);
	end_process(pid);
	ASSERT_EQ(module_unload("kgsl_standin"), 0);

	ASSERT_EQ(pass_read(&pass, 0), 0);
	line = pass_find(&pass, self->pid[0]);
	EXPECT_EQ(pass_number(&pass, line, "gl_mtrack.pss"), NOT_KNOWN);
	pass_free(&pass);
}

TEST_HARNESS_MAIN
