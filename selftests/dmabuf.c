// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who holds which DMA-BUFs: what the snapshot of all buffers says of processes
 * that do as they are told, against what they were told, the kernel's own list
 * of buffers, and smaps.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "dmabufs.h"
#include "exporter.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define MB	(1ULL << 20)
#define BUFFERS	"/sys/kernel/dmabuf/buffers"

FIXTURE(dmabuf)
{
	struct actors actors;
	struct dmabuf_list list;
	size_t page;
};

FIXTURE_SETUP(dmabuf)
{
	struct rlimit files = { 200000, 200000 };
	const char *why = nodes_missing();

	if (!why)
		why = setting_set("/sys/kernel/memledger/dmabuf/max_age_ms",
				  "0");
	if (!why)
		why = exporter_load();
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	setrlimit(RLIMIT_NOFILE, &files);
	self->page = page_size();
	memset(&self->list, 0, sizeof(self->list));
	ASSERT_EQ(actors_init(&self->actors), 0);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(actor_start(&self->actors, i), 0);
}

FIXTURE_TEARDOWN(dmabuf)
{
	dmabufs_free(&self->list);
	actors_end(&self->actors);
	exporter_unload();
	settings_restore();
}

#define DO(i, ...)	ACT(&self->actors, i, __VA_ARGS__)
#define PID(i)		(self->actors.pid[i])

/* Takes a new snapshot into self->list. */
#define REFRESH()							\
do {									\
	dmabufs_free(&self->list);					\
	ASSERT_EQ(dmabufs_refresh(&self->list), 0);			\
} while (0)

/* A buffer of any size that actor 0 has in slot 0. */
#define CREATE(flags, bytes)						\
({									\
	long long ino = DO(0, ACTOR_CREATE, .to = (flags), .size = (bytes)); \
	ASSERT_GT(ino, 0);						\
	ino;								\
})

/* A holder that has nothing of a buffer, so that tests need no NULL checks. */
static const struct dmabuf_holder *holder(const struct dmabuf_list *list,
					  u64 ino, pid_t tgid)
{
	static const struct dmabuf_holder none;

	return dmabufs_holder(list, ino, tgid) ?: &none;
}

static u64 nr_holders(const struct dmabuf_list *list, u64 ino)
{
	const struct dmabuf *buffer = dmabufs_find(list, ino);

	return buffer ? buffer->holders : 0;
}

TEST_F_TIMEOUT(dmabuf, shared_by_three, TIMEOUT)
{
	u64 ino = CREATE(EXPORTER_PAGES, 6 * MB);

	/* B has one page of it and no descriptor, C has it three times. */
	for (int i = 1; i < 3; i++) {
		ASSERT_EQ(DO(0, ACTOR_SEND, .to = i), 0);
		ASSERT_EQ(DO(i, ACTOR_RECEIVE), (long long)ino);
	}
	ASSERT_EQ(DO(1, ACTOR_MAP, .size = self->page), 0);
	ASSERT_EQ(DO(1, ACTOR_CLOSE), 0);
	ASSERT_EQ(DO(2, ACTOR_DUP, .to = 1), (long long)ino);
	ASSERT_EQ(DO(2, ACTOR_DUP, .to = 2), (long long)ino);
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	EXPECT_EQ(self->list.nr_buffers, 1);
	EXPECT_EQ(nr_holders(&self->list, ino), 3);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(holder(&self->list, ino, PID(i))->pss, 2 * MB);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(1))->fds, 0);
	EXPECT_EQ(holder(&self->list, ino, PID(1))->maps, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(1))->mapped, self->page);
	EXPECT_EQ(holder(&self->list, ino, PID(1))->smaps_rss, self->page);
	EXPECT_EQ(holder(&self->list, ino, PID(2))->fds, 3);

	ASSERT_EQ(DO(1, ACTOR_UNMAP), 0);
	REFRESH();
	EXPECT_EQ(nr_holders(&self->list, ino), 2);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->pss, 3 * MB);
	EXPECT_EQ(holder(&self->list, ino, PID(2))->pss, 3 * MB);
	EXPECT_EQ(node_read("dmabuf/count"), 1);
	EXPECT_EQ(node_read("dmabuf/size"), 6 * (long long)MB);
	EXPECT_EQ(node_read("dmabuf/holders"), 2);
}

TEST_F_TIMEOUT(dmabuf, once_however_often, TIMEOUT)
{
	u64 ino = CREATE(EXPORTER_PAGES, 8 * MB);

	ASSERT_EQ(DO(0, ACTOR_DUP, .to = 1), (long long)ino);
	ASSERT_EQ(DO(0, ACTOR_MAP, .to = 0, .size = 8 * MB), 0);
	ASSERT_EQ(DO(0, ACTOR_MAP, .to = 1, .size = 8 * MB), 0);
	REFRESH();
	EXPECT_EQ(self->list.nr_buffers, 1);
	EXPECT_EQ(nr_holders(&self->list, ino), 1);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 2);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->maps, 2);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->mapped, 16 * MB);
	/* smaps counts each mapping, and divides each page by them. */
	EXPECT_EQ(holder(&self->list, ino, PID(0))->smaps_rss, 16 * MB);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->smaps_pss, 8 * MB);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->pss, 8 * MB);
}

/* What smaps has of a process's DMA-BUFs. */
static int smaps_sum(pid_t pid, u64 *rss, u64 *pss, int *vmas)
{
	char path[64], *text, *line, *rest = NULL;
	bool inside = false;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	text = file_slurp(path);
	if (!text)
		return -errno;
	*rss = 0;
	*pss = 0;
	*vmas = 0;
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		u64 kb;

		if (strchr("0123456789abcdef", *line)) {
			inside = strstr(line, " /dmabuf:");
			*vmas += inside;
		} else if (inside && sscanf(line, "Rss: %llu", &kb) == 1) {
			*rss += kb << 10;
		} else if (inside && sscanf(line, "Pss: %llu", &kb) == 1) {
			*pss += kb << 10;
		}
	}
	free(text);
	return 0;
}

/*
 * Which exporters' pages smaps counts: then they are in it and in ours. udmabuf
 * maps pages at first, and frames on later kernels.
 */
static const struct {
	const char *name;
	const char *device;
	enum actor_op op;
	int flags;
	enum { ABSENT, PRESENT, EITHER } in_smaps;
} exporters[] = {
	{ EXPORTER_NAME, "/dev/" EXPORTER_NAME, ACTOR_CREATE, EXPORTER_PAGES,
	  PRESENT },
	{ EXPORTER_NAME, "/dev/" EXPORTER_NAME, ACTOR_CREATE, EXPORTER_FRAMES,
	  ABSENT },
	{ "system", "/dev/dma_heap/system", ACTOR_HEAP, 0, ABSENT },
	{ "udmabuf", "/dev/udmabuf", ACTOR_UDMABUF, 0, EITHER },
};

TEST_F_TIMEOUT(dmabuf, what_smaps_counts, TIMEOUT)
{
	const char *missing = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(exporters); i++) {
		u64 size = (4 + i) * MB, rss, pss;
		const struct dmabuf_holder *has;
		long long ino;
		int vmas;

		if (!file_readable(exporters[i].device)) {
			missing = exporters[i].device;
			continue;
		}
		ino = DO(0, exporters[i].op, .to = exporters[i].flags,
			 .size = size);
		ASSERT_GT(ino, 0) TH_LOG("%s: %lld", exporters[i].name, ino);
		ASSERT_EQ(DO(0, ACTOR_MAP, .size = size), 0);
		REFRESH();
		ASSERT_EQ(smaps_sum(PID(0), &rss, &pss, &vmas), 0);
		ASSERT_EQ(vmas, 1);
		if (exporters[i].in_smaps != EITHER || rss)
			ASSERT_EQ(rss, exporters[i].in_smaps ? size : 0);
		has = holder(&self->list, ino, PID(0));
		ASSERT_EQ(has->smaps_rss, rss);
		ASSERT_EQ(has->smaps_pss, pss);
		ASSERT_EQ(has->mapped, size);
		ASSERT_EQ(has->pss, size);
		ASSERT_EQ(self->list.nr_buffers, 1);
		ASSERT_EQ(self->list.buffers[0].size, size);
		ASSERT_STREQ(self->list.buffers[0].exporter,
			     exporters[i].name);
		/* Only mapped: the rest is told by the mapping. */
		ASSERT_EQ(DO(0, ACTOR_CLOSE), 0);
		REFRESH();
		has = holder(&self->list, ino, PID(0));
		ASSERT_EQ(has->fds, 0);
		ASSERT_EQ(has->pss, size);
		ASSERT_EQ(self->list.nr_buffers, 1);
		ASSERT_STREQ(self->list.buffers[0].exporter,
			     exporters[i].name);
		ASSERT_EQ(DO(0, ACTOR_UNMAP), 0);
		REFRESH();
		ASSERT_EQ(self->list.nr_buffers, 0);
	}
	if (missing)
		SKIP(return, "no %s; the others as they should be", missing);
}

/* More mappings than are noted at once, of buffers without a descriptor. */
TEST_F_TIMEOUT(dmabuf, many_mappings, TIMEOUT)
{
	const int nr = 114;
	u64 rss, pss, sum = 0;
	int vmas;

	for (int i = 0; i < nr; i++) {
		CREATE(EXPORTER_PAGES, MB);
		ASSERT_EQ(DO(0, ACTOR_MAP, .size = MB), 0);
		ASSERT_EQ(DO(0, ACTOR_CLOSE), 0);
	}
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	EXPECT_EQ(self->list.nr_buffers, nr);
	EXPECT_EQ(self->list.nr_holders, nr);
	for (size_t i = 0; i < self->list.nr_holders; i++)
		sum += self->list.holders[i].smaps_pss;
	ASSERT_EQ(smaps_sum(PID(0), &rss, &pss, &vmas), 0);
	EXPECT_EQ(vmas, nr);
	EXPECT_EQ(sum, nr * MB);
	EXPECT_EQ(sum, pss);
}

TEST_F_TIMEOUT(dmabuf, in_flight, TIMEOUT)
{
	u64 ino = CREATE(0, 5 * MB);
	char path[64];

	ASSERT_EQ(DO(0, ACTOR_SEND, .to = 1), 0);
	ASSERT_EQ(DO(0, ACTOR_EXIT), 0);
	REFRESH();
	/* It is there, and only the kernel's own list could tell us. */
	snprintf(path, sizeof(path), BUFFERS "/%llu/size", ino);
	if (file_readable(BUFFERS))
		EXPECT_TRUE(file_readable(path));
	EXPECT_EQ(!!dmabufs_find(&self->list, ino), self->list.list);
	EXPECT_EQ(nr_holders(&self->list, ino), 0);
	ASSERT_EQ(DO(1, ACTOR_RECEIVE), (long long)ino);
	REFRESH();
	EXPECT_EQ(nr_holders(&self->list, ino), 1);
	EXPECT_EQ(holder(&self->list, ino, PID(1))->pss, 5 * MB);
	ASSERT_EQ(DO(1, ACTOR_CLOSE), 0);
	REFRESH();
	EXPECT_EQ(dmabufs_find(&self->list, ino), NULL);
}

TEST_F_TIMEOUT(dmabuf, forked, TIMEOUT)
{
	u64 ino = CREATE(EXPORTER_PAGES, MB);

	ASSERT_EQ(DO(0, ACTOR_MAP, .size = MB), 0);
	ASSERT_EQ(DO(0, ACTOR_FORK, .to = 4), 0);
	REFRESH();
	EXPECT_EQ(nr_holders(&self->list, ino), 2);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->fds, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->maps, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->smaps_rss, MB);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->smaps_pss, MB / 2);
	ASSERT_EQ(DO(0, ACTOR_EXIT), 0);
	REFRESH();
	EXPECT_EQ(nr_holders(&self->list, ino), 1);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->pss, MB);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->smaps_pss, MB);
}

TEST_F_TIMEOUT(dmabuf, thread_with_a_table_of_its_own, TIMEOUT)
{
	u64 ino = CREATE(0, MB);

	ASSERT_EQ(DO(0, ACTOR_HIDE_IN_THREAD), 0);
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	EXPECT_EQ(nr_holders(&self->list, ino), 1);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 1);
	/* A second one has what the leader has, and the leader has it, too. */
	ino = CREATE(0, 2 * MB);
	ASSERT_EQ(DO(0, ACTOR_DUP, .to = 1), (long long)ino);
	ASSERT_EQ(DO(0, ACTOR_HIDE_IN_THREAD), 0);
	REFRESH();
	EXPECT_EQ(nr_holders(&self->list, ino), 1);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 3);
}

TEST_F_TIMEOUT(dmabuf, table_shared_by_processes, TIMEOUT)
{
	u64 ino = CREATE(0, MB);

	ASSERT_EQ(DO(0, ACTOR_SHARE_TABLE, .to = 4), 0);
	REFRESH();
	EXPECT_EQ(nr_holders(&self->list, ino), 2);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->fds, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(4))->pss, MB / 2);
	/* The child closes it for both. */
	ASSERT_EQ(DO(4, ACTOR_CLOSE), 0);
	REFRESH();
	EXPECT_EQ(nr_holders(&self->list, ino), 0);
}

TEST_F_TIMEOUT(dmabuf, without_a_leader, TIMEOUT)
{
	u64 ino = CREATE(EXPORTER_FRAMES, MB);

	ASSERT_EQ(DO(0, ACTOR_MAP, .size = MB), 0);
	ASSERT_EQ(DO(0, ACTOR_LOSE_LEADER), 0);
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->maps, 1);
}

/* Numbers at which a batch of descriptors begins or ends, and beyond. */
static const int nr_fds[] = { 250, 251, 252, 253, 254, 255, 256, 257, 258, 511,
			      512, 513, 10000 };

TEST_F_TIMEOUT(dmabuf, many_descriptors, TIMEOUT)
{
	u64 ino = CREATE(0, MB), had = 1;

	for (size_t i = 0; i < ARRAY_SIZE(nr_fds); i++) {
		ASSERT_EQ(DO(0, ACTOR_DUP_MANY, .size = nr_fds[i] - had), 0);
		had = nr_fds[i];
		REFRESH();
		EXPECT_EQ(nr_holders(&self->list, ino), 1);
		EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, had);
	}
}

TEST_F_TIMEOUT(dmabuf, far_descriptors, TIMEOUT)
{
	static const int numbers[] = { 255, 256, 1023, 65535, 65536, 150000 };
	u64 ino = CREATE(0, MB);

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		ASSERT_EQ(DO(0, ACTOR_DUP_TO, .to = 1, .size = numbers[i]),
			  (long long)ino);
		REFRESH();
		EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, i + 2);
	}
}

/* Such a descriptor can do nothing but keep the buffer, which it does. */
TEST_F_TIMEOUT(dmabuf, opened_with_o_path, TIMEOUT)
{
	u64 ino = CREATE(0, MB);
	const struct dmabuf *buffer;

	ASSERT_EQ(DO(0, ACTOR_NAME, .text = "only_a_path"), 0);
	ASSERT_EQ(DO(0, ACTOR_OPEN_PATH, .to = 1), (long long)ino);
	REFRESH();
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 2);
	ASSERT_EQ(DO(0, ACTOR_CLOSE, .slot = 0), 0);
	REFRESH();
	EXPECT_EQ(self->list.nr_buffers, 1);
	buffer = dmabufs_find(&self->list, ino);
	ASSERT_NE(buffer, NULL);
	EXPECT_EQ(buffer->size, MB);
	EXPECT_STREQ(buffer->exporter, EXPORTER_NAME);
	EXPECT_STREQ(buffer->name, "only_a_path");
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 1);
	ASSERT_EQ(DO(0, ACTOR_CLOSE, .slot = 1), 0);
	REFRESH();
	EXPECT_EQ(self->list.nr_buffers, 0);
}

/* Nobody waits for a lock for as long as such a table would take: it is said. */
TEST_F_TIMEOUT(dmabuf, table_too_large, TIMEOUT)
{
	struct rlimit files = { 5000000, 5000000 };
	const char *why = setting_set("/proc/sys/fs/nr_open", "5000000");
	u64 ino = CREATE(0, MB), held;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
	ASSERT_EQ(actor_start(&self->actors, 3), 0);
	held = DO(3, ACTOR_CREATE, .size = MB);
	ASSERT_EQ(DO(3, ACTOR_DUP_TO, .to = 1, .size = 4000000),
		  (long long)held);
	REFRESH();
	EXPECT_EQ(self->list.complete, 0);
	EXPECT_EQ(nr_holders(&self->list, held), 0);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 1);
	ASSERT_EQ(DO(3, ACTOR_EXIT), 0);
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
}

/* A buffer of its own at every number, so that none is counted for another. */
TEST_F_TIMEOUT(dmabuf, many_buffers, TIMEOUT)
{
	/* Where each is looked after by kmemleak as well, that takes minutes. */
	const int nr = access("/sys/kernel/debug/kmemleak", F_OK) ? 10000 : 600;
	struct rlimit files = { 2 * nr, 2 * nr };
	u64 page = page_size(), size = 0;

	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
	ASSERT_EQ(actor_start(&self->actors, 3), 0);
	for (int i = 1; i <= nr; i++) {
		ASSERT_GT(DO(3, ACTOR_CREATE, .size = i * page), 0);
		size += i * page;
	}
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	ASSERT_EQ(self->list.nr_buffers, nr);
	ASSERT_EQ(self->list.nr_holders, nr);
	for (int i = 0; i < nr; i++) {
		/* Inode numbers go up with time. */
		EXPECT_EQ(self->list.buffers[i].size, (i + 1) * page);
		EXPECT_EQ(self->list.holders[i].fds, 1);
		EXPECT_EQ(self->list.holders[i].pss, (i + 1) * page);
	}
	ASSERT_EQ(self->list.nr_exporters, 1);
	EXPECT_EQ(self->list.exporters[0].count, nr);
	EXPECT_EQ(self->list.exporters[0].size, size);
	EXPECT_EQ(node_read("dmabuf/size"), (long long)size);
}

TEST_F_TIMEOUT(dmabuf, held_by_a_driver_only, TIMEOUT)
{
	u64 ino = CREATE(0, 7 * MB);

	ASSERT_EQ(DO(0, ACTOR_HOLD), 0);
	ASSERT_EQ(DO(0, ACTOR_CLOSE), 0);
	REFRESH();
	EXPECT_EQ(self->list.list, node_read("features/dmabuf_list"));
	EXPECT_EQ(nr_holders(&self->list, ino), 0);
	if (self->list.list) {
		EXPECT_NE(dmabufs_find(&self->list, ino), NULL);
		EXPECT_EQ(node_read("dmabuf/unattributed_count"), 1);
		EXPECT_EQ(node_read("dmabuf/unattributed_size"),
			  7 * (long long)MB);
	} else {
		EXPECT_EQ(dmabufs_find(&self->list, ino), NULL);
		EXPECT_EQ(node_read("dmabuf/unattributed_count"), -EOPNOTSUPP);
		EXPECT_EQ(node_read("dmabuf/unattributed_size"), -EOPNOTSUPP);
	}
}

TEST_F_TIMEOUT(dmabuf, imported, TIMEOUT)
{
	u64 ino = CREATE(0, 3 * MB);
	const struct dmabuf *buffer;

	if (exporter_tell(EXPORTER_PROVIDER_ON, 0))
		SKIP(return, "no GPU driver can be registered");
	ASSERT_EQ(DO(0, ACTOR_IMPORT), 0);
	ASSERT_EQ(DO(0, ACTOR_IMPORT), 0);
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 1);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->imports, 2);
	/* What only the GPU driver knows of says nothing of itself. */
	ASSERT_EQ(DO(0, ACTOR_CLOSE), 0);
	REFRESH();
	EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 0);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->imports, 2);
	buffer = dmabufs_find(&self->list, ino);
	ASSERT_NE(buffer, NULL);
	EXPECT_EQ(buffer->size, 3 * MB);
	if (!self->list.list) {
		EXPECT_STREQ(buffer->exporter, "-");
		ASSERT_EQ(self->list.nr_exporters, 1);
		EXPECT_STREQ(self->list.exporters[0].name, "-");
	}
	/* It fails: what it said counts, but may not be all. */
	ASSERT_EQ(exporter_tell(EXPORTER_PROVIDER_ERROR, -EIO), 0);
	REFRESH();
	EXPECT_EQ(self->list.complete, 0);
	EXPECT_EQ(node_read("dmabuf/complete"), 0);
	EXPECT_EQ(holder(&self->list, ino, PID(0))->imports, 2);
	ASSERT_EQ(exporter_tell(EXPORTER_PROVIDER_ERROR, 0), 0);
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	ASSERT_EQ(exporter_tell(EXPORTER_PROVIDER_OFF, 0), 0);
	REFRESH();
	EXPECT_EQ(self->list.complete, 1);
	EXPECT_EQ(nr_holders(&self->list, ino), 0);
}

static const struct {
	const char *name;
	const char *printed;
} names[] = {
	{ "", "-" },
	{ "camera", "camera" },
	{ "a b", "a\\040b" },
	{ "-", "\\055" },
	{ "--", "--" },
	{ "tab\tnew\nline\\", "tab\\011new\\012line\\134" },
	{ "\xc3\xa9", "\\303\\251" },
	{ "0123456789012345678901234567890", "0123456789012345678901234567890" },
};

TEST_F_TIMEOUT(dmabuf, names_are_harmless, TIMEOUT)
{
	u64 ino = CREATE(EXPORTER_ODD_NAME, MB);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct actor_order order = { ACTOR_NAME };
		const struct dmabuf *buffer;

		snprintf(order.text, sizeof(order.text), "%s", names[i].name);
		ASSERT_EQ(actor_do(&self->actors, 0, &order), 0);
		REFRESH();
		buffer = dmabufs_find(&self->list, ino);
		ASSERT_NE(buffer, NULL);
		EXPECT_STREQ(buffer->name, names[i].printed);
		EXPECT_STREQ(buffer->exporter, "a\\040b\\134c\\0121");
	}
	ASSERT_EQ(self->list.nr_exporters, 1);
	EXPECT_STREQ(self->list.exporters[0].name, "a\\040b\\134c\\0121");
}

TEST_F_TIMEOUT(dmabuf, as_the_kernel_lists_them, TIMEOUT)
{
	struct dirent *entry;
	u64 size = 0;
	size_t nr = 0;
	DIR *dir;

	dir = opendir(BUFFERS);
	if (!dir)
		SKIP(return, "no " BUFFERS " (CONFIG_DMABUF_SYSFS_STATS)");
	if (!file_readable("/dev/dma_heap/system"))
		SKIP(return, "no /dev/dma_heap/system");
	for (int i = 0; i < NR_SLOTS; i++) {
		ASSERT_GT(DO(i % 3, i % 2 ? ACTOR_HEAP : ACTOR_CREATE,
			     .slot = i, .size = (i + 1) * MB), 0);
		if (i % 3 == 1)
			ASSERT_EQ(DO(1, ACTOR_SEND, .slot = i, .to = 2), 0);
	}
	REFRESH();
	while ((entry = readdir(dir))) {
		u64 ino = strtoull(entry->d_name, NULL, 10);
		const struct dmabuf *buffer = dmabufs_find(&self->list, ino);
		char path[300], text[64];

		if (*entry->d_name == '.')
			continue;
		ASSERT_NE(buffer, NULL) TH_LOG("inode %llu", ino);
		snprintf(path, sizeof(path), BUFFERS "/%s/size",
			 entry->d_name);
		ASSERT_GT(file_read(path, text, sizeof(text)), 0);
		EXPECT_EQ(buffer->size, strtoull(text, NULL, 10));
		snprintf(path, sizeof(path), BUFFERS "/%s/exporter_name",
			 entry->d_name);
		ASSERT_GT(file_read(path, text, sizeof(text)), 0);
		text[strcspn(text, "\n")] = '\0';
		EXPECT_STREQ(buffer->exporter, text);
		size += buffer->size;
		nr++;
	}
	closedir(dir);
	EXPECT_EQ(nr, NR_SLOTS);
	EXPECT_EQ(self->list.nr_buffers, nr);
	EXPECT_EQ(node_read("dmabuf/size"), (long long)size);
}

/* The file of a process has the same lines, of its buffers only. */
TEST_F_TIMEOUT(dmabuf, of_one_process, TIMEOUT)
{
	struct dmabuf_list own;
	char path[128];
	pid_t late;
	u64 ino[3];

	for (int i = 0; i < 3; i++) {
		ino[i] = DO(i % 2, ACTOR_CREATE, .slot = i, .size = MB << i);
		ASSERT_GT((long long)ino[i], 0);
	}
	ASSERT_EQ(DO(0, ACTOR_SEND, .slot = 0, .to = 2), 0);
	ASSERT_GT(DO(2, ACTOR_RECEIVE), 0);
	ASSERT_EQ(node_write_number("track", PID(0)), 0);
	REFRESH();
	snprintf(path, sizeof(path), DETAILS "processes/%d/dmabuf", PID(0));
	ASSERT_EQ(dmabufs_read(&own, path), 0);
	EXPECT_EQ(own.generation, self->list.generation);
	EXPECT_EQ(own.nr_exporters, 0);
	ASSERT_EQ(own.nr_buffers, 2);
	ASSERT_EQ(own.nr_holders, 2);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(own.buffers[i].ino, ino[2 * i]);
		EXPECT_EQ(own.buffers[i].holders, 2 - i);
		EXPECT_EQ(own.holders[i].tgid, PID(0));
		EXPECT_EQ(memcmp(&own.holders[i],
				 holder(&self->list, ino[2 * i], PID(0)),
				 sizeof(own.holders[i])), 0);
	}
	dmabufs_free(&own);
	ASSERT_EQ(node_write_number("untrack", PID(0)), 0);

	/* One that came after the snapshot is not in it: that is not 0. */
	ASSERT_EQ(actor_start(&self->actors, 3), 0);
	late = PID(3);
	ASSERT_EQ(node_write_number("track", late), 0);
	snprintf(path, sizeof(path), DETAILS "processes/%d/dmabuf", late);
	EXPECT_EQ(dmabufs_read(&own, path), -ENODATA);
	/* Without a GPU driver nothing is missed. */
	if (!node_read("features/gpu_provider"))
		EXPECT_EQ(node_read("processes/%d/graphics/total", late),
			  -EOPNOTSUPP);
	ASSERT_EQ(node_write("dmabuf/max_age_ms", "3600000"), 0);
	ASSERT_EQ(dmabufs_read(&own, path), 0);
	EXPECT_EQ(own.generation, self->list.generation + 1);
	EXPECT_EQ(own.nr_buffers, 0);
	dmabufs_free(&own);
	/* Now it is, and is not replaced. */
	ASSERT_EQ(dmabufs_read(&own, path), 0);
	EXPECT_EQ(own.generation, self->list.generation + 1);
	dmabufs_free(&own);
	ASSERT_EQ(DO(3, ACTOR_EXIT), 0);
	EXPECT_EQ(dmabufs_read(&own, path), -ESRCH);
	EXPECT_EQ(node_write_number("untrack", late), 0);
}

/*
 * A process's numbers, of buffers that two processes have in all ways:
 *
 *	        1  8 MB pages    2  4 MB frames   3  2 MB   4  6 MB frames
 *	A       maps             maps             fd        imported
 *	B       fd               maps                       maps
 */
static const struct {
	const char *field;
	u64 mb[2];
} shares[] = {
	{ "dmabuf_count", { 4, 3 } },
	{ "dmabuf_rss", { 8 + 4 + 2 + 6, 8 + 4 + 6 } },
	{ "dmabuf_pss", { 4 + 2 + 2 + 3, 4 + 2 + 3 } },
	{ "dmabuf_smaps_rss", { 8, 0 } },
	{ "dmabuf_smaps_pss", { 8, 0 } },
	/* Of 1 smaps has all, and 3 is not mapped. */
	{ "dmabuf_memtrack", { 2 + 3, 2 + 3 } },
};

TEST_F_TIMEOUT(dmabuf, share_of_a_process, TIMEOUT)
{
	static const int flags[] = { EXPORTER_PAGES, EXPORTER_FRAMES, 0,
				     EXPORTER_FRAMES };
	static const u64 mb[] = { 8, 4, 2, 6 };

	ASSERT_EQ(exporter_tell(EXPORTER_PROVIDER_ON, 0), 0);
	for (int k = 0; k < 4; k++) {
		ASSERT_GT(DO(0, ACTOR_CREATE, .slot = k, .to = flags[k],
			     .size = mb[k] * MB), 0);
		if (k == 2)
			continue;
		ASSERT_EQ(DO(0, ACTOR_SEND, .slot = k, .to = 1), 0);
		ASSERT_GT(DO(1, ACTOR_RECEIVE, .slot = k), 0);
		ASSERT_EQ(DO(0, k == 3 ? ACTOR_IMPORT : ACTOR_MAP, .slot = k,
			     .to = k, .size = mb[k] * MB), 0);
		ASSERT_EQ(DO(0, ACTOR_CLOSE, .slot = k), 0);
		if (!k)
			continue;
		ASSERT_EQ(DO(1, ACTOR_MAP, .slot = k, .to = k,
			     .size = mb[k] * MB), 0);
		ASSERT_EQ(DO(1, ACTOR_CLOSE, .slot = k), 0);
	}
	ASSERT_EQ(node_write("dmabuf/refresh", "1"), 0);
	EXPECT_EQ(node_read("dmabuf/complete"), 1);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(node_write_number("track", PID(i)), 0);
		for (size_t k = 0; k < ARRAY_SIZE(shares); k++) {
			u64 want = shares[k].mb[i] * (k ? MB : 1);

			EXPECT_EQ(node_read("processes/%d/graphics/%s", PID(i),
					    shares[k].field), (long long)want)
				TH_LOG("%s of %d", shares[k].field, i);
		}
		ASSERT_EQ(node_write_number("untrack", PID(i)), 0);
	}
}

TEST_F_TIMEOUT(dmabuf, age, TIMEOUT)
{
	long long generation, now;

	ASSERT_EQ(node_write("dmabuf/refresh", "1"), 0);
	generation = node_read("dmabuf/generation");
	EXPECT_GT(generation, 0);
	EXPECT_EQ(node_read("dmabuf/count"), 0);
	CREATE(0, MB);
	/* max_age_ms is 0: only an order takes another. */
	EXPECT_EQ(node_read("dmabuf/count"), 0);
	EXPECT_EQ(node_read("dmabuf/generation"), generation);
	ASSERT_EQ(node_write("dmabuf/max_age_ms", "1"), 0);
	do {
		struct timespec time;

		clock_gettime(CLOCK_BOOTTIME, &time);
		now = time.tv_sec * 1000000000LL + time.tv_nsec;
	} while (now - node_read("dmabuf/timestamp_ns") <= 1000000);
	/* These do not take one, however old it is. */
	EXPECT_EQ(node_read("dmabuf/generation"), generation);
	EXPECT_EQ(node_read("dmabuf/complete"), 1);
	EXPECT_GT(node_read("dmabuf/walk_ns"), 0);
	EXPECT_EQ(node_read("dmabuf/generation"), generation);
	EXPECT_EQ(node_read("dmabuf/count"), 1);
	EXPECT_GT(node_read("dmabuf/generation"), generation);
	EXPECT_GT(node_read("dmabuf/timestamp_ns"), now);
}

static const struct {
	const char *node;
	const char *text;
} bad_writes[] = {
	{ "dmabuf/max_age_ms", "-1" },
	{ "dmabuf/max_age_ms", "3600001" },
	{ "dmabuf/max_age_ms", "99999999999999999999" },
	{ "dmabuf/max_age_ms", "1 2" },
	{ "dmabuf/max_age_ms", "0x10" },
	{ "dmabuf/max_age_ms", "fast" },
	{ "dmabuf/max_age_ms", "\n" },
	{ "dmabuf/refresh", "0" },
	{ "dmabuf/refresh", "2" },
	{ "dmabuf/refresh", "11" },
	{ "dmabuf/refresh", "yes" },
	{ "dmabuf/refresh", "\n" },
};

TEST_F_TIMEOUT(dmabuf, bad_writes, TIMEOUT)
{
	long long generation;

	ASSERT_EQ(node_write("dmabuf/refresh", "1"), 0);
	generation = node_read("dmabuf/generation");
	for (size_t i = 0; i < ARRAY_SIZE(bad_writes); i++) {
		EXPECT_EQ(node_write(bad_writes[i].node, bad_writes[i].text),
			  -EINVAL)
			TH_LOG("\"%s\"", bad_writes[i].text);
		EXPECT_EQ(node_read("dmabuf/max_age_ms"), 0);
		EXPECT_EQ(node_read("dmabuf/generation"), generation);
	}
	EXPECT_EQ(node_write("dmabuf/max_age_ms", "3600000"), 0);
	EXPECT_EQ(node_read("dmabuf/max_age_ms"), 3600000);
}

static const char *const readable[] = {
	"max_age_ms", "generation", "timestamp_ns", "walk_ns", "complete",
	"count", "size", "holders", "unattributed_count", "unattributed_size",
};

/* Nor by a file that was open before. */
static void lacks_capability(void *arg)
{
	static const char *const path = DETAILS "dmabuf";
	int wrong = 0;

	if (drop_cap_sys_ptrace())
		_exit(255);
	wrong += node_write("dmabuf/refresh", "1") != -EPERM;
	wrong += node_write("dmabuf/max_age_ms", "5") != -EPERM;
	for (size_t i = 0; i < ARRAY_SIZE(readable); i++) {
		if (node_read("dmabuf/%s", readable[i]) == -EPERM)
			continue;
		printf("# dmabuf/%s is told\n", readable[i]);
		fflush(stdout);
		wrong++;
	}
	wrong += node_read("features/dmabuf_list") != -EPERM;
	_exit(wrong + nr_seen(&path, arg, 1));
}

TEST_F_TIMEOUT(dmabuf, without_the_capability, TIMEOUT)
{
	int fd;

	ASSERT_EQ(node_write("dmabuf/refresh", "1"), 0);
	fd = open(DETAILS "dmabuf", O_RDONLY);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(exit_status(start_process(lacks_capability, &fd)), 0);
	close(fd);
}

/* However it is read, the file says the same, also behind a newer snapshot. */
TEST_F_TIMEOUT(dmabuf, read_in_pieces, TIMEOUT)
{
	const int nr = 300;
	unsigned int random = 7;
	char *text, *pieces;
	size_t len, at = 0;
	ssize_t got;
	int fd;

	for (int i = 0; i < nr; i++)
		CREATE(0, MB);
	ASSERT_EQ(node_write("dmabuf/refresh", "1"), 0);
	text = file_slurp(DETAILS "dmabuf");
	ASSERT_NE(text, NULL);
	len = strlen(text);
	/* More than a page, or two. */
	ASSERT_GT(len, 16384);
	fd = open(DETAILS "dmabuf", O_RDONLY);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(DO(0, ACTOR_EXIT), 0);
	ASSERT_EQ(node_write("dmabuf/refresh", "1"), 0);
	pieces = malloc(len + 1);
	ASSERT_NE(pieces, NULL);
	while (at < len) {
		got = read(fd, pieces + at, 1 + at % 97);
		ASSERT_GT(got, 0);
		at += got;
		ASSERT_LE(at, len);
	}
	EXPECT_EQ(read(fd, pieces + len, 1), 0);
	EXPECT_EQ(memcmp(pieces, text, len), 0);
	for (int i = 0; i < 200; i++) {
		char piece[256];

		random = random * 1103515245 + 12345;
		at = (random >> 8) % len;
		got = pread(fd, piece, 1 + random % sizeof(piece), at);
		ASSERT_GT(got, 0);
		EXPECT_EQ(memcmp(piece, text + at, got), 0);
	}
	EXPECT_EQ(pread(fd, pieces, 1, len + 100000), 0);
	close(fd);
	free(text);
	free(pieces);
}

/*
 * Random sequences against a model
 */

#define MODEL_BUFFERS	40
#define MODEL_MAIL	4

/**
 * struct model - what there should be
 * @buffers: each that was made; its inode number, size and flags
 * @fds: by actor and slot: index of the buffer plus 1
 * @maps: by actor and slot: the same, and pages
 * @imports: by actor and buffer: how often
 * @mail: by actor: what is in flight
 */
struct model {
	struct {
		u64 ino;
		u64 size;
		int flags;
	} buffers[MODEL_BUFFERS];
	int nr_buffers;
	bool alive[NR_ACTORS];
	int fds[NR_ACTORS][NR_SLOTS];
	struct {
		int buffer;
		u64 pages;
	} maps[NR_ACTORS][NR_SLOTS];
	int imports[NR_ACTORS][MODEL_BUFFERS];
	int mail[NR_ACTORS][MODEL_MAIL];
	int nr_mail[NR_ACTORS];
};

static unsigned int random_below(unsigned int *state, unsigned int n)
{
	*state = *state * 1103515245 + 12345;
	return (*state >> 8) % n;
}

/* How many mappings of a buffer have a page. */
static u64 model_mapcount(const struct model *model, int buffer, u64 page)
{
	u64 nr = 0;

	for (int i = 0; i < NR_ACTORS; i++) {
		for (int k = 0; k < NR_SLOTS; k++)
			nr += model->maps[i][k].buffer == buffer + 1 &&
			      page < model->maps[i][k].pages;
	}
	return nr;
}

/* What actor @i has of a buffer; all but the PSS, which needs all others. */
static struct dmabuf_holder model_holder(const struct model *model, int i,
					 int buffer)
{
	bool in_smaps = model->buffers[buffer].flags & EXPORTER_PAGES;
	struct dmabuf_holder want = { .ino = model->buffers[buffer].ino };
	u64 page = page_size(), pss = 0;

	for (int k = 0; k < NR_SLOTS; k++) {
		want.fds += model->fds[i][k] == buffer + 1;
		if (model->maps[i][k].buffer != buffer + 1)
			continue;
		want.maps++;
		want.mapped += model->maps[i][k].pages * page;
		for (u64 p = 0; in_smaps && p < model->maps[i][k].pages; p++)
			pss += (page << 12) / model_mapcount(model, buffer, p);
	}
	want.imports = model->imports[i][buffer];
	want.smaps_rss = in_smaps ? want.mapped : 0;
	want.smaps_pss = pss >> 12;
	return want;
}

static bool is_holder(const struct dmabuf_holder *holder)
{
	return holder->fds || holder->maps || holder->imports;
}

/* Prints what differs. Returns whether nothing does. */
static bool model_holder_agrees(const struct dmabuf_list *list, pid_t tgid,
				const struct dmabuf_holder *want)
{
	const struct dmabuf_holder *have = dmabufs_holder(list, want->ino,
							  tgid);
	static const struct dmabuf_holder none;
	bool same = true;

	if (!is_holder(want))
		return !have;
	if (!have)
		have = &none;
#define X(field)							\
	if (have->field != want->field) {				\
		printf("# inode %llu, process %d: %s %llu, not %llu\n",	\
		       want->ino, tgid, #field, have->field, want->field); \
		same = false;						\
	}
	DMABUF_HOLDER_FIELDS(X)
#undef X
	return same;
}

static bool model_agrees(const struct model *model,
			 const struct actors *actors,
			 const struct dmabuf_list *list)
{
	size_t nr_buffers = 0, nr_holders = 0;
	bool same = true;
	u64 size = 0;

	for (int b = 0; b < model->nr_buffers; b++) {
		struct dmabuf_holder want[NR_ACTORS];
		u64 nr = 0;

		for (int i = 0; i < NR_ACTORS; i++) {
			want[i] = model_holder(model, i, b);
			nr += is_holder(&want[i]);
		}
		for (int i = 0; i < NR_ACTORS; i++) {
			want[i].pss = nr ? model->buffers[b].size / nr : 0;
			same &= !model->alive[i] ||
				model_holder_agrees(list, actors->pid[i],
						    &want[i]);
		}
		if (!nr)
			continue;
		nr_buffers++;
		nr_holders += nr;
		size += model->buffers[b].size;
	}
	if (list->nr_buffers != nr_buffers || list->nr_holders != nr_holders ||
	    !list->complete) {
		printf("# %zu buffers, not %zu; %zu holders, not %zu; complete %d\n",
		       list->nr_buffers, nr_buffers, list->nr_holders,
		       nr_holders, list->complete);
		same = false;
	}
	for (size_t i = 0; i < list->nr_exporters; i++)
		size -= list->exporters[i].size;
	return same && !size;
}

/* A slot that holds something, or nothing; -1 if there is none. */
static int find_fd(const struct model *model, int i, bool taken,
		   unsigned int *random)
{
	int from = random_below(random, NR_SLOTS);

	for (int k = 0; k < NR_SLOTS; k++) {
		int slot = (from + k) % NR_SLOTS;

		if (!!model->fds[i][slot] == taken)
			return slot;
	}
	return -1;
}

static int find_map(const struct model *model, int i, bool taken,
		    unsigned int *random)
{
	int from = random_below(random, NR_SLOTS);

	for (int k = 0; k < NR_SLOTS; k++) {
		int slot = (from + k) % NR_SLOTS;

		if (!!model->maps[i][slot].buffer == taken)
			return slot;
	}
	return -1;
}

static void model_forget(struct model *model, int i)
{
	model->alive[i] = false;
	memset(model->fds[i], 0, sizeof(model->fds[i]));
	memset(model->maps[i], 0, sizeof(model->maps[i]));
	memset(model->imports[i], 0, sizeof(model->imports[i]));
}

/* Whether something is done; @done gets whether it was done as it should. */
static bool random_step(struct model *model, struct actors *actors,
			unsigned int *random, bool *done)
{
	int i = random_below(random, NR_ACTORS);
	int what = random_below(random, 20);
	int to = random_below(random, NR_ACTORS);
	int fd = find_fd(model, i, true, random);
	int free_fd = find_fd(model, i, false, random);
	int map = find_map(model, i, true, random);
	int free_map = find_map(model, i, false, random);
	int buffer = fd < 0 ? -1 : model->fds[i][fd] - 1;
	struct actor_order order = { .slot = fd, .to = to };
	long long want = 0;

	if (!model->alive[i]) {
		*done = !actor_start(actors, i);
		model->alive[i] = true;
		return true;
	}
	switch (what) {
	case 0 ... 3:
		if (free_fd < 0 || model->nr_buffers == MODEL_BUFFERS)
			return false;
		buffer = model->nr_buffers++;
		model->buffers[buffer].flags = what % 3;
		model->buffers[buffer].size =
			1 + random_below(random, 16 * page_size());
		order.op = ACTOR_CREATE;
		order.slot = free_fd;
		order.to = model->buffers[buffer].flags;
		order.size = model->buffers[buffer].size;
		want = actor_do(actors, i, &order);
		model->buffers[buffer].ino = want;
		model->fds[i][free_fd] = buffer + 1;
		*done = want > 0;
		return true;
	case 4 ... 5:
		if (fd < 0 || free_fd < 0)
			return false;
		order.op = ACTOR_DUP;
		order.to = free_fd;
		model->fds[i][free_fd] = buffer + 1;
		want = model->buffers[buffer].ino;
		break;
	case 6 ... 8:
		if (fd < 0)
			return false;
		order.op = ACTOR_CLOSE;
		model->fds[i][fd] = 0;
		break;
	case 9 ... 11:
		if (fd < 0 || free_map < 0 || !model->buffers[buffer].flags ||
		    model->buffers[buffer].size < page_size())
			return false;
		order.op = ACTOR_MAP;
		order.to = free_map;
		model->maps[i][free_map].buffer = buffer + 1;
		model->maps[i][free_map].pages = 1 +
			random_below(random, model->buffers[buffer].size /
				     page_size());
		order.size = model->maps[i][free_map].pages * page_size();
		break;
	case 12 ... 13:
		if (map < 0)
			return false;
		order.op = ACTOR_UNMAP;
		order.slot = 0;
		order.to = map;
		model->maps[i][map].buffer = 0;
		break;
	case 14:
		if (fd < 0 || model->nr_mail[to] == MODEL_MAIL)
			return false;
		order.op = ACTOR_SEND;
		model->mail[to][model->nr_mail[to]++] = buffer;
		break;
	case 15 ... 16:
		if (free_fd < 0 || !model->nr_mail[i])
			return false;
		order.op = ACTOR_RECEIVE;
		order.slot = free_fd;
		buffer = model->mail[i][0];
		memmove(model->mail[i], model->mail[i] + 1,
			sizeof(model->mail[i]) - sizeof(int));
		model->nr_mail[i]--;
		model->fds[i][free_fd] = buffer + 1;
		want = model->buffers[buffer].ino;
		break;
	case 17:
		if (fd < 0)
			return false;
		order.op = ACTOR_IMPORT;
		model->imports[i][buffer]++;
		break;
	case 18:
		if (model->alive[to])
			return false;
		order.op = ACTOR_FORK;
		order.slot = 0;
		model->alive[to] = true;
		memcpy(model->fds[to], model->fds[i], sizeof(model->fds[i]));
		memcpy(model->maps[to], model->maps[i],
		       sizeof(model->maps[i]));
		break;
	case 19:
		if (random_below(random, 2))
			return false;
		order.op = ACTOR_EXIT;
		order.slot = 0;
		model_forget(model, i);
		break;
	}
	*done = actor_do(actors, i, &order) == want;
	if (!*done)
		printf("# order %d failed\n", order.op);
	return true;
}

FIXTURE(sequence)
{
	struct actors actors;
};

FIXTURE_VARIANT(sequence)
{
	unsigned int seed;
};

FIXTURE_VARIANT_ADD(sequence, seed_1) { .seed = 1 };
FIXTURE_VARIANT_ADD(sequence, seed_2) { .seed = 2 };
FIXTURE_VARIANT_ADD(sequence, seed_3) { .seed = 3 };
FIXTURE_VARIANT_ADD(sequence, seed_4) { .seed = 4 };

FIXTURE_SETUP(sequence)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set("/sys/kernel/memledger/dmabuf/max_age_ms",
				  "0");
	if (!why)
		why = exporter_load();
	if (!why && node_read("features/dmabuf_list"))
		why = "the model has no buffers without a holder";
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	ASSERT_EQ(exporter_tell(EXPORTER_PROVIDER_ON, 0), 0);
	ASSERT_EQ(actors_init(&self->actors), 0);
}

FIXTURE_TEARDOWN(sequence)
{
	actors_end(&self->actors);
	exporter_unload();
	settings_restore();
}

#define STEPS	250

TEST_F_TIMEOUT(sequence, as_the_model, TIMEOUT)
{
	struct model *model = calloc(1, sizeof(*model));
	unsigned int random = variant->seed;
	bool done = true;

	ASSERT_NE(model, NULL);
	for (int step = 0; step < STEPS; ) {
		struct dmabuf_list list;

		if (!random_step(model, &self->actors, &random, &done))
			continue;
		ASSERT_TRUE(done) TH_LOG("step %d", step);
		ASSERT_EQ(dmabufs_refresh(&list), 0);
		ASSERT_TRUE(model_agrees(model, &self->actors, &list))
			TH_LOG("step %d", step);
		dmabufs_free(&list);
		step++;
	}
	free(model);
}

/*
 * While everything else changes
 */

#define READINGS	40

/* Descriptors, mappings and tables that come and go. */
static void *churn(void *arg)
{
	unsigned int random = (unsigned long)arg;

	for (;;) {
		int kind = random_below(&random, 4);
		struct exporter_create args = {
			.size = 4 * page_size(),
			.flags = EXPORTER_PAGES,
		};
		void *p = MAP_FAILED;

		if (exporter_tell(EXPORTER_CREATE, (long)&args) < 0)
			_exit(1);
		if (kind & 1)
			p = mmap(NULL, args.size, PROT_READ, MAP_SHARED,
				 args.fd, 0);
		if (kind & 2)
			close(dup(args.fd));
		if (!kind)
			unshare(CLONE_FILES);
		close(args.fd);
		if (p != MAP_FAILED)
			munmap(p, args.size);
	}
	return NULL;
}

static void run_churn(void *arg)
{
	pthread_t thread;

	(void)arg;
	for (unsigned long i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, churn, (void *)(i + 1)))
			_exit(1);
	}
	for (;;)
		pause();
}

/* Processes that exit, exec or are killed, whatever is being looked at. */
static void run_exits(void *arg)
{
	char *const argv[] = { "/bin/true", NULL };
	struct exporter_create args = { .size = 4096 };

	(void)arg;
	if (exporter_tell(EXPORTER_CREATE, (long)&args) < 0)
		_exit(1);
	for (unsigned int n = 0;; n++) {
		pid_t pid = fork();

		if (!pid) {
			if (n % 3 == 0)
				execv(argv[0], argv);
			if (n % 3 == 1)
				pause();
			_exit(0);
		}
		if (n % 3 == 1)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static void run_reader(void *arg)
{
	(void)arg;
	for (;;) {
		free(file_slurp(DETAILS "dmabuf"));
		node_read("dmabuf/count");
		node_write("dmabuf/refresh", "1");
	}
}

TEST_F_TIMEOUT(dmabuf, while_others_come_and_go, TIMEOUT)
{
	void (*const run[])(void *arg) = { run_churn, run_exits, run_reader };
	u64 ino[2] = { CREATE(EXPORTER_PAGES, MB) };
	pid_t pid[ARRAY_SIZE(run)];

	/* So that we can wait for children of our children. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ASSERT_EQ(DO(0, ACTOR_MAP, .size = MB), 0);
	ASSERT_EQ(DO(0, ACTOR_DUP_MANY, .size = 599), 0);
	ino[1] = DO(1, ACTOR_CREATE, .size = 2 * MB);
	for (size_t i = 0; i < ARRAY_SIZE(run); i++) {
		pid[i] = start_process(run[i], NULL);
		ASSERT_GT(pid[i], 0);
	}
	for (int n = 0; n < READINGS; n++) {
		REFRESH();
		EXPECT_EQ(nr_holders(&self->list, ino[0]), 1);
		EXPECT_EQ(holder(&self->list, ino[0], PID(0))->fds, 600);
		EXPECT_EQ(holder(&self->list, ino[0], PID(0))->maps, 1);
		EXPECT_EQ(holder(&self->list, ino[0], PID(0))->smaps_rss, MB);
		EXPECT_EQ(holder(&self->list, ino[0], PID(0))->pss, MB);
		EXPECT_EQ(holder(&self->list, ino[1], PID(1))->fds, 1);
	}
	/* And they are gone with those who had them. */
	for (size_t i = 0; i < ARRAY_SIZE(run); i++) {
		EXPECT_EQ(waitpid(pid[i], NULL, WNOHANG), 0);
		end_process(pid[i]);
		while (waitpid(-pid[i], NULL, 0) > 0)
			;
	}
	REFRESH();
	EXPECT_EQ(self->list.nr_buffers, 2);
	EXPECT_EQ(self->list.complete, 1);
}

/* A reader that is killed in the middle of a pass leaves the last snapshot. */
TEST_F_TIMEOUT(dmabuf, reader_is_killed, TIMEOUT)
{
	u64 ino = CREATE(0, MB);

	ASSERT_EQ(DO(0, ACTOR_DUP_MANY, .size = 9999), 0);
	for (int n = 0; n < 20; n++) {
		pid_t pid = start_process(run_reader, NULL);
		long long before = node_read("dmabuf/generation");

		ASSERT_GT(pid, 0);
		while (node_read("dmabuf/generation") == before)
			;
		end_process(pid);
		dmabufs_free(&self->list);
		ASSERT_EQ(dmabufs_read(&self->list, DETAILS "dmabuf"), 0);
		EXPECT_EQ(self->list.complete, 1);
		EXPECT_EQ(holder(&self->list, ino, PID(0))->fds, 10000);
	}
}

TEST_HARNESS_MAIN
