// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that maps, unmaps, protects and forks all the time, while it is
 * read: what stays mapped throughout must be counted exactly once in every
 * reading, wherever the mmap lock was dropped.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testlib.h"
#include "vmas.h"

#include "kselftest_harness.h"

/*
 * The process's addresses are slots of the same size, by turns one that stays
 * and one that is churned:
 *
 *   | fixed 0 | churn 0 | fixed 1 | churn 1 | ...
 *
 * Each fixed one fills its slot and has its own number of pages resident.
 */
#define NR_FIXED	16
#define SLOT_PAGES	32
/* So many, or as many as there is time for, but some. */
#define READINGS	40
#define READINGS_MIN	3
#define READINGS_S	60

static bool goes_on(int n, time_t start)
{
	return n < READINGS &&
	       (n < READINGS_MIN || time(NULL) - start < READINGS_S);
}

static size_t slot_bytes(void)
{
	return SLOT_PAGES * page_size();
}

static size_t fixed_pages(int i)
{
	return i + 3;
}

static void map_fixed(char *start, int i)
{
	char name[32];
	int fd;

	/* By its name it is in a category that has nothing else in it. */
	snprintf(name, sizeof(name), "jit-cache-%d", i);
	fd = syscall(__NR_memfd_create, name, 0);
	if (fd < 0 || ftruncate(fd, slot_bytes()) ||
	    mmap(start, slot_bytes(), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
	touch(start, fixed_pages(i) * page_size());
}

/*
 * Something else in a slot, or in a part of it, each time. @spare is where pages
 * are made ready: anywhere else they could lie in what the other thread unmaps.
 */
static void churn_slot(char *start, char *spare, unsigned int random)
{
	size_t page = page_size(), from = random / 8 % SLOT_PAGES;
	size_t nr = 1 + random / 256 % (SLOT_PAGES - from);
	char *p = start + from * page;

	switch (random % 8) {
	case 0:
	case 1:
		munmap(p, nr * page);
		break;
	case 2:
		mprotect(p, nr * page, PROT_READ);
		break;
	case 3:
	case 4:
		/* Of these no page is ever touched. */
		mmap(p, nr * page, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	default:
		/* Pages that are there from one moment to the next. */
		if (mmap(spare, nr * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED)
			break;
		touch(spare, nr * page);
		mremap(spare, nr * page, nr * page,
		       MREMAP_MAYMOVE | MREMAP_FIXED, p);
	}
}

/**
 * struct part - every other of the churned slots, which a thread has to itself
 * @first: the first
 * @spare: as long as a slot, for this thread alone
 */
struct part {
	char *first, *spare;
};

static void *churn(void *arg)
{
	const struct part *part = arg;
	unsigned int random = (unsigned long)part->first >> 12;

	for (;;) {
		random = random * 1103515245 + 12345;
		churn_slot(part->first + 4 * slot_bytes() *
			   ((random >> 28) % (NR_FIXED / 2)), part->spare,
			   random >> 3);
	}
	return NULL;
}

static void *fork_often(void *arg)
{
	(void)arg;
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		usleep(20000);
	}
	return NULL;
}

static void run_churn(void *arg)
{
	struct part parts[2];
	pthread_t thread;
	char *start;

	(void)arg;
	start = map_alone((2 * NR_FIXED + 2) * slot_bytes(), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		_exit(1);
	for (int i = 0; i < NR_FIXED; i++)
		map_fixed(start + 2 * i * slot_bytes(), i);
	raise(SIGSTOP);
	for (int i = 0; i < 2; i++) {
		parts[i].first = start + (1 + 2 * i) * slot_bytes();
		parts[i].spare = start + (2 * NR_FIXED + i) * slot_bytes();
	}
	if (pthread_create(&thread, NULL, churn, &parts[0]) ||
	    pthread_create(&thread, NULL, churn, &parts[1]) ||
	    pthread_create(&thread, NULL, fork_often, NULL))
		_exit(1);
	for (;;)
		pause();
}

FIXTURE(churn)
{
	pid_t pid;
};

FIXTURE_VARIANT(churn)
{
	const char *slice_entries;
};

FIXTURE_VARIANT_ADD(churn, slice_1)
{
	.slice_entries = "1",
};

FIXTURE_VARIANT_ADD(churn, slice_7)
{
	.slice_entries = "7",
};

FIXTURE_VARIANT_ADD(churn, slice_64)
{
	.slice_entries = "64",
};

static const char *set_up(const char *slice_entries)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (!why)
		why = setting_set(NODES "profile", "android16");
	if (!why)
		why = setting_set(NODES "slice_entries", slice_entries);
	if (why)
		settings_restore();
	return why;
}

FIXTURE_SETUP(churn)
{
	const char *why = set_up(variant->slice_entries);

	if (why)
		SKIP(return, "%s", why);
	self->pid = start_process(run_churn, NULL);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
	kill(self->pid, SIGCONT);
}

FIXTURE_TEARDOWN(churn)
{
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	settings_restore();
}

/* Rows of the mapping, or -1 if a row is not as it must be. */
static int count_fixed(const struct vma_list *vmas, int i)
{
	char name[64];
	int rows = 0;

	snprintf(name, sizeof(name), "/memfd:jit-cache-%d", i);
	for (size_t k = 0; k < vmas->nr; k++) {
		const struct vma *vma = &vmas->vma[k];

		if (strcmp(vma->name, name))
			continue;
		rows++;
		if (vma->end - vma->start != slot_bytes() ||
		    vma->value[FIELD_rss] != fixed_pages(i) * page_size()) {
			printf("# %s: %llx-%llx, Rss %llu\n", name,
			       vma->start, vma->end, vma->value[FIELD_rss]);
			return -1;
		}
	}
	return rows;
}

/*
 * No address twice, none out of order, and no pages where none can be: they
 * would be those of a mapping that has taken the place of another.
 */
static bool rows_make_sense(const struct vma_list *vmas)
{
	for (size_t i = 0; i < vmas->nr; i++) {
		const struct vma *vma = &vmas->vma[i];

		if (vma->start < vma->end &&
		    (!i || vma->start >= vma[-1].end) &&
		    (strcmp(vma->perms, "---p") || !vma->value[FIELD_rss]))
			continue;
		printf("# %llx-%llx %s, Rss %llu\n", vma->start, vma->end,
		       vma->perms, vma->value[FIELD_rss]);
		return false;
	}
	return true;
}

TEST_F_TIMEOUT(churn, every_mapping_once, TIMEOUT)
{
	time_t start = time(NULL);

	for (int n = 0; goes_on(n, start); n++) {
		struct vma_list vmas;

		ASSERT_EQ(vmas_read_node(&vmas, self->pid), 0);
		EXPECT_TRUE(vmas.complete);
		EXPECT_TRUE(rows_make_sense(&vmas));
		for (int i = 0; i < NR_FIXED; i++) {
			EXPECT_EQ(count_fixed(&vmas, i), 1)
				TH_LOG("reading %d, mapping %d", n, i);
		}
		vmas_free(&vmas);
	}
}

TEST_F_TIMEOUT(churn, sums_of_what_stays, TIMEOUT)
{
	time_t start = time(NULL);
	long long rss = 0;

	for (int i = 0; i < NR_FIXED; i++)
		rss += fixed_pages(i) * page_size();
	for (int n = 0; goes_on(n, start); n++) {
		ASSERT_EQ(node_refresh(self->pid), 0);
		EXPECT_EQ(node_read("processes/%d/complete", self->pid), 1);
		EXPECT_EQ(node_read("processes/%d/subcategory/app_jit/rss",
				    self->pid), rss);
		EXPECT_EQ(node_read("processes/%d/category/dalvik_other/vmas",
				    self->pid), NR_FIXED);
		EXPECT_EQ(node_read("processes/%d/category/dalvik_other/vss",
				    self->pid),
			  (long long)(NR_FIXED * slot_bytes()));
	}
}

/*
 * A mapping that loses its first page and gets it back, while the walk is on its
 * way to the end, where what shmem has in swap is counted.
 */
#define SHRINKING	"shrinking"
#define SHRINKING_FILE	"/memfd:" SHRINKING

static void shrink_and_grow(void *arg)
{
	int fd = syscall(__NR_memfd_create, SHRINKING, 0);
	size_t page = page_size(), len = 2048 * page;
	char *p;

	(void)arg;
	if (ftruncate(fd, len))
		_exit(1);
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		_exit(1);
	touch(p, len);
	/* Some may be in use just then. */
	for (int i = 0; i < 3; i++)
		madvise(p, len, MADV_PAGEOUT);
	raise(SIGSTOP);
	for (;;) {
		munmap(p, page);
		usleep(200);
		if (mmap(p, page, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) != p)
			_exit(1);
		usleep(200);
	}
}

static u64 swap_of_shrinking(const struct vma_list *vmas)
{
	u64 swap = 0;

	/* The rest is " (deleted)" or nothing. */
	for (size_t i = 0; i < vmas->nr; i++)
		if (!strncmp(vmas->vma[i].name, SHRINKING_FILE,
			     strlen(SHRINKING_FILE)))
			swap += vmas->vma[i].value[FIELD_swap];
	return swap;
}

FIXTURE(shrinking)
{
	pid_t pid;
};

FIXTURE_SETUP(shrinking)
{
	const char *why = set_up("1");

	if (why)
		SKIP(return, "%s", why);
	self->pid = start_process(shrink_and_grow, NULL);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
}

FIXTURE_TEARDOWN(shrinking)
{
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	settings_restore();
}

TEST_F_TIMEOUT(shrinking, is_in_swap, TIMEOUT)
{
	time_t start = time(NULL);
	struct vma_list vmas;
	u64 all;

	ASSERT_EQ(vmas_read_smaps(&vmas, self->pid), 0);
	all = swap_of_shrinking(&vmas) << 10;
	vmas_free(&vmas);
	if (!all)
		SKIP(return, "nothing went to swap");
	kill(self->pid, SIGCONT);
	for (int n = 0; goes_on(n, start); n++) {
		u64 swap;

		ASSERT_EQ(vmas_read_node(&vmas, self->pid), 0);
		swap = swap_of_shrinking(&vmas);
		vmas_free(&vmas);
		EXPECT_GE(swap, all - page_size());
		EXPECT_LE(swap, all);
	}
}

TEST_HARNESS_MAIN
