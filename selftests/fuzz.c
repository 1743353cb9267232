// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes what nobody meant to every file of memledger's that can be written,
 * while others read every file in pieces. Each write has to succeed or to fail
 * with an errno that docs/ABI/testing names for some file, and one that fails
 * changes nothing. The same writes in each run; argv is the harness's, so the
 * environment may ask for more: FUZZ_ROUNDS, FUZZ_SEED.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"

#include "kselftest_harness.h"

#define ROUNDS		5000
#define NR_VICTIMS	4
#define NR_READERS	2
#define MAX_FILES	8192
#define MAX_TEXT	8192

struct random {
	unsigned int seed;
};

static unsigned int below(struct random *random, unsigned int n)
{
	return rand_r(&random->seed) % n;
}

static unsigned int from_environment(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* The files below a directory that may be opened in a mode; nftw() needs it. */
static struct list {
	char *paths[MAX_FILES];
	unsigned int nr;
	mode_t mode;
} list;

static int add_file(const char *path, const struct stat *stat, int type,
		    struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && stat->st_mode & list.mode && list.nr < MAX_FILES)
		list.paths[list.nr++] = strdup(path);
	return 0;
}

static void list_files(mode_t mode)
{
	while (list.nr)
		free(list.paths[--list.nr]);
	list.mode = mode;
	nftw(NODES, add_file, 16, FTW_PHYS);
	nftw(DETAILS, add_file, 16, FTW_PHYS);
}

/* Reads in pieces of any size, at any offset, with any pause between. */
static void read_for_ever(void *arg)
{
	struct random random = { .seed = (unsigned long)arg };
	static char buf[MAX_TEXT];
	unsigned int i, pieces;
	const char *path;
	int fd;

	while (getppid() != 1) {
		list_files(0400);
		for (i = 0; i < 200 && list.nr; i++) {
			path = list.paths[below(&random, list.nr)];
			fd = open(path, O_RDONLY);
			if (fd < 0)
				continue;
			for (pieces = below(&random, 50); pieces; pieces--) {
				size_t len = below(&random, 3) ? 1 :
					     below(&random, sizeof(buf));

				if (!below(&random, 8))
					lseek(fd, below(&random, 1 << 16),
					      SEEK_SET);
				if (read(fd, buf, len) <= 0)
					break;
			}
			close(fd);
		}
	}
	exit(0);
}

static void hold(void *arg)
{
	(void)arg;
	touch(map_alone(64 * page_size(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 64 * page_size());
	raise(SIGSTOP);
	pause();
}

FIXTURE(fuzz)
{
	pid_t victims[NR_VICTIMS];
	pid_t readers[NR_READERS];
	struct random random;
};

static const char *const settings[] = {
	NODES "profile", NODES "imported_rule", NODES "max_tracked",
	NODES "max_age_ms", NODES "slice_entries", NODES "owner_capture",
	NODES "gpu_totals", NODES "dmabuf/max_age_ms",
};

/* Written as it is read: what a list shows as chosen, or a number. */
static const char *keep_setting(const char *path)
{
	static char text[256];
	char *word = text;
	char *end;
	ssize_t len = file_read(path, text, sizeof(text));

	if (len < 0)
		return "a setting cannot be read";
	if (strchr(text, '['))
		word = strchr(text, '[') + 1;
	end = strpbrk(word, "]\n");
	if (end)
		*end = '\0';
	return setting_set(path, word);
}

FIXTURE_SETUP(fuzz)
{
	const char *why = nodes_missing();
	unsigned int i;

	for (i = 0; !why && i < ARRAY_SIZE(settings); i++)
		why = keep_setting(settings[i]);
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	self->random.seed = from_environment("FUZZ_SEED", 7);
	for (i = 0; i < NR_VICTIMS; i++) {
		self->victims[i] = start_process(hold, NULL);
		ASSERT_GT(self->victims[i], 0);
		ASSERT_EQ(wait_stopped(self->victims[i]), 0);
	}
	for (i = 0; i < NR_READERS; i++) {
		self->readers[i] = start_process(read_for_ever,
						 (void *)(i + 1UL));
		ASSERT_GT(self->readers[i], 0);
	}
}

FIXTURE_TEARDOWN(fuzz)
{
	unsigned int i;

	for (i = 0; i < NR_READERS; i++)
		end_process(self->readers[i]);
	for (i = 0; i < NR_VICTIMS; i++) {
		node_write_number("untrack", self->victims[i]);
		end_process(self->victims[i]);
	}
	settings_restore();
}

/* What a setting holds, or nothing where the file is no setting. */
static void setting_text(const char *path, char *text, size_t size)
{
	unsigned int i;

	*text = '\0';
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		if (!strcmp(settings[i], path))
			file_read(path, text, size);
	}
}

/* Words that some file knows, and some that none does. */
static const char *const words[] = {
	"0", "1", "2", "-1", "01", "1 1", "", " ", "\n", "on", "android10",
	"android11", "android16", "android17", "[android17]", "pixel", "equal",
	"100", "4096", "4097", "3600000", "3600001", "1048576", "1048577",
	"2147483647", "-2147483648", "4294967295", "4294967296",
	"18446744073709551615", "18446744073709551616", "0x1", "1.5", "1e3",
	"%s%n", "../../1", "self",
};

static size_t make_text(struct random *random, const pid_t *victims, char *text)
{
	size_t len, i;

	switch (below(random, 6)) {
	case 0:		/* bytes */
		len = below(random, below(random, 16) ? 24 : MAX_TEXT);
		for (i = 0; i < len; i++)
			text[i] = below(random, 256);
		return len;
	case 1:		/* digits */
		len = below(random, 24);
		for (i = 0; i < len; i++)
			text[i] = '0' + below(random, 10);
		return len;
	case 2:		/* a process there is */
		return sprintf(text, "%d\n",
			       victims[below(random, NR_VICTIMS)]);
	case 3:		/* one there may be; and not the test's own */
		return sprintf(text, "%u\n", 1 + below(random, 64));
	default:
		len = sprintf(text, "%s",
			      words[below(random, ARRAY_SIZE(words))]);
		if (below(random, 2))
			text[len++] = '\n';
		/* A byte more than was meant. */
		if (!below(random, 8))
			text[len++] = below(random, 256);
		return len;
	}
}

/* What docs/ABI/testing names for a write; signals and memory are not ours. */
static bool documented(int err)
{
	static const int errs[] = {
		EINVAL, ESRCH, EEXIST, ENOSPC, ENOENT, ENXIO, ENODEV,
		EOPNOTSUPP,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errs); i++) {
		if (errs[i] == err)
			return true;
	}
	return false;
}

TEST_F_TIMEOUT(fuzz, every_writable_file, 4 * TIMEOUT)
{
	unsigned int rounds = from_environment("FUZZ_ROUNDS", ROUNDS);
	unsigned int i, writes = 0, refused = 0;
	char before[256], after[256];
	static char text[MAX_TEXT + 32];
	const char *path;
	size_t len;
	int fd, err;

	for (i = 0; i < rounds; i++) {
		/* Targets come and go, and their files with them. */
		if (i % 64 == 0)
			list_files(0200);
		ASSERT_GT(list.nr, 0);
		path = list.paths[below(&self->random, list.nr)];
		len = make_text(&self->random, self->victims, text);
		setting_text(path, before, sizeof(before));
		fd = open(path, O_WRONLY);
		if (fd < 0) {
			ASSERT_EQ(errno, ENOENT) {
				TH_LOG("open %s", path);
			}
			continue;
		}
		err = write(fd, text, len) < 0 ? errno : 0;
		close(fd);
		writes++;
		if (!err)
			continue;
		refused++;
		EXPECT_TRUE(documented(err)) {
			TH_LOG("round %u: %s: %s", i, path, strerror(err));
		}
		setting_text(path, after, sizeof(after));
		EXPECT_STREQ(before, after) {
			TH_LOG("round %u: %s", i, path);
		}
	}
	TH_LOG("%u writes, %u refused", writes, refused);
	/* Else the words do not fit the files any more. */
	EXPECT_GT(refused, writes / 10);
	EXPECT_GT(writes - refused, writes / 20);
	for (i = 0; i < NR_READERS; i++)
		EXPECT_EQ(waitpid(self->readers[i], NULL, WNOHANG), 0);
}

/* All that was tracked can be untracked, and nothing stays. */
TEST_F_TIMEOUT(fuzz, nothing_stays, TIMEOUT)
{
	DIR *dir = opendir(NODES "processes");
	unsigned int tracked = 0, left = 0;
	struct dirent *entry;

	ASSERT_NE(dir, NULL);
	for (int i = 0; i < NR_VICTIMS; i++) {
		int err = node_write_number("track", self->victims[i]);

		EXPECT_TRUE(!err || err == -EEXIST);
	}
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		EXPECT_EQ(node_write("untrack", entry->d_name), 0);
		tracked++;
	}
	EXPECT_GE(tracked, NR_VICTIMS);
	rewinddir(dir);
	while ((entry = readdir(dir)))
		left += *entry->d_name != '.';
	closedir(dir);
	EXPECT_EQ(left, 0);
}

TEST_HARNESS_MAIN
