// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tells of itself: tracepoints and poll() when there is a new snapshot,
 * and a uevent when a tracked process has exited, in whichever way it does, in
 * the middle of being tracked and untracked too.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testlib.h"

#include "kselftest_harness.h"

#define TRACING		"/sys/kernel/tracing/"
#define INSTANCE	TRACING "instances/memledger_events/"
#define EXIT_MMAP	"events/mmap/exit_mmap/enable"

/* Longer than an event takes on any machine. */
#define EVENT_MS	60000

/*
 * Exits
 */

static int open_uevents(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int size = 1 << 22;
	int sock = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
			  NETLINK_KOBJECT_UEVENT);

	if (sock < 0)
		return -errno;
	setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr))) {
		close(sock);
		return -errno;
	}
	return sock;
}

struct uevent {
	char text[4096];
	size_t len;
};

static const char *uevent_value(const struct uevent *event, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = event->text; p < event->text + event->len;
	     p += strlen(p) + 1) {
		if (!strncmp(p, key, len) && p[len] == '=')
			return p + len + 1;
	}
	return "";
}

/* The next of memledger's. */
static bool uevent_receive(int sock, struct uevent *event, int timeout_ms)
{
	struct pollfd pfd = { .fd = sock, .events = POLLIN };
	ssize_t len;

	while (poll(&pfd, 1, timeout_ms) > 0) {
		len = recv(sock, event->text, sizeof(event->text) - 1, 0);
		event->len = len > 0 ? len : 0;
		event->text[event->len] = '\0';
		if (!strcmp(uevent_value(event, "SUBSYSTEM"), "memledger"))
			return true;
	}
	return false;
}

static void *idle_thread(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void start_idle_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, idle_thread, NULL))
		_exit(1);
}

static void holds_still(void *arg)
{
	(void)arg;
}

static void has_threads(void *arg)
{
	(void)arg;
	start_idle_thread();
	start_idle_thread();
}

/* Its leader leaves when it is continued; the process lives on. */
static void leader_leaves(void *arg)
{
	(void)arg;
	start_idle_thread();
	raise(SIGSTOP);
	syscall(SYS_exit, 0);
}

static int exec_now;

static void *exec_thread(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&exec_now, __ATOMIC_ACQUIRE))
		usleep(1000);
	execl(beside_me("hold"), "hold", "1", NULL);
	_exit(1);
}

/* Another thread than the leader execs when it is continued. */
static void thread_execs(void *arg)
{
	int null = open("/dev/null", O_WRONLY);
	pthread_t thread;

	(void)arg;
	dup2(null, STDOUT_FILENO);
	if (pthread_create(&thread, NULL, exec_thread, NULL))
		_exit(1);
	raise(SIGSTOP);
	__atomic_store_n(&exec_now, 1, __ATOMIC_RELEASE);
	pause();
}

static bool leader_is_dead(pid_t pid)
{
	/* Or gone: the NUL behind them. */
	return strchr("XZ", process_state(pid));
}

static bool has_execed(pid_t pid)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), NODES "processes/%d/comm", pid);
	return file_read(path, text, sizeof(text)) > 0 &&
	       !strcmp(text, "hold\n");
}

/* @survives: what happens, when it is continued, without the process exiting */
static const struct exit_case {
	const char *name;
	void (*run)(void *arg);
	bool (*survives)(pid_t pid);
	int signal;
	bool unreaped;
} exit_cases[] = {
	{ "killed", holds_still, NULL, SIGKILL, true },
	{ "returns", holds_still, NULL, SIGCONT, true },
	{ "nobody waits for it", holds_still, NULL, SIGKILL, false },
	{ "with threads", has_threads, NULL, SIGKILL, true },
	{ "leader first", leader_leaves, leader_is_dead, SIGKILL, true },
	{ "thread execs", thread_execs, has_execed, SIGKILL, true },
};

FIXTURE(exits)
{
	int sock;
	struct uevent event;
};

FIXTURE_SETUP(exits)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	self->sock = open_uevents();
	if (self->sock < 0) {
		settings_restore();
		SKIP(return, "no uevents: %s", strerror(-self->sock));
	}
}

FIXTURE_TEARDOWN(exits)
{
	signal(SIGCHLD, SIG_DFL);
	close(self->sock);
	settings_restore();
}

/* A process that is tracked and exits; all that was told before is read. */
static pid_t other_exit(int sock, struct uevent *event)
{
	pid_t pid = start_process(holds_still, NULL);
	pid_t told = 0;

	if (pid < 0 || wait_stopped(pid) ||
	    node_write_number("track", pid))
		return -1;
	kill(pid, SIGKILL);
	if (uevent_receive(sock, event, EVENT_MS))
		told = atoi(uevent_value(event, "TGID"));
	end_process(pid);
	node_write_number("untrack", pid);
	return told == pid ? 0 : told;
}

TEST_F_TIMEOUT(exits, each_way, TIMEOUT)
{
	char devpath[64];

	for (size_t i = 0; i < ARRAY_SIZE(exit_cases); i++) {
		const struct exit_case *way = &exit_cases[i];
		pid_t pid = start_process(way->run, NULL);

		ASSERT_GT(pid, 0);
		ASSERT_EQ(wait_stopped(pid), 0);
		ASSERT_EQ(node_write_number("track", pid), 0);
		if (way->survives) {
			kill(pid, SIGCONT);
			while (!way->survives(pid))
				usleep(1000);
			/* Whatever is told next is not this. */
			EXPECT_EQ(other_exit(self->sock, &self->event), 0)
				TH_LOG("%s: told too early", way->name);
		}
		signal(SIGCHLD, way->unreaped ? SIG_DFL : SIG_IGN);
		kill(pid, way->signal);
		ASSERT_TRUE(uevent_receive(self->sock, &self->event, EVENT_MS))
			TH_LOG("%s: not told", way->name);
		EXPECT_EQ(atoi(uevent_value(&self->event, "TGID")), pid);
		EXPECT_STREQ(uevent_value(&self->event, "ACTION"), "change");
		EXPECT_STREQ(uevent_value(&self->event, "EVENT"), "exit");
		snprintf(devpath, sizeof(devpath),
			 "/kernel/memledger/processes/%d", pid);
		EXPECT_STREQ(uevent_value(&self->event, "DEVPATH"), devpath);

		/* Once; and the directory is still there. */
		signal(SIGCHLD, SIG_DFL);
		end_process(pid);
		EXPECT_EQ(other_exit(self->sock, &self->event), 0)
			TH_LOG("%s: told twice", way->name);
		EXPECT_EQ(node_write_number("untrack", pid), 0);
	}
}

/* What docs/ABI has, and the number that the kernel gives to each uevent. */
static const char *const event_keys[] = {
	"ACTION", "DEVPATH", "SUBSYSTEM", "EVENT", "TGID", "SEQNUM",
};

static bool has_key(const char *word, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(word, key, len) && word[len] == '=';
}

/* Its words behind the first: each of the keys once, and nothing else. */
static bool is_as_documented(const struct uevent *event)
{
	int times[ARRAY_SIZE(event_keys)] = {};
	const char *word = event->text;
	bool good = true;
	size_t i;

	for (word += strlen(word) + 1; word < event->text + event->len;
	     word += strlen(word) + 1) {
		for (i = 0; i < ARRAY_SIZE(event_keys); i++) {
			if (has_key(word, event_keys[i]))
				break;
		}
		if (i < ARRAY_SIZE(event_keys) && !times[i]++)
			continue;
		printf("# is told, too: %s\n", word);
		good = false;
	}
	for (i = 0; i < ARRAY_SIZE(event_keys); i++)
		good &= times[i] == 1;
	return good;
}

/* Listens without any right from before the process is tracked. */
static void listen_as_nobody(void *arg)
{
	static struct uevent event;
	pid_t pid = *(pid_t *)arg;
	char path[128];
	int sock, bad;

	if (become_nobody())
		_exit(2);
	sock = open_uevents();
	if (sock < 0)
		_exit(3);
	raise(SIGSTOP);
	if (!uevent_receive(sock, &event, EVENT_MS))
		_exit(4);
	snprintf(path, sizeof(path),
		 "change@/kernel/memledger/processes/%d", pid);
	bad = !is_as_documented(&event) || strcmp(event.text, path) ||
	      strcmp(uevent_value(&event, "DEVPATH"), strchr(path, '/')) ||
	      strcmp(uevent_value(&event, "EVENT"), "exit") ||
	      atoi(uevent_value(&event, "TGID")) != pid;
	fflush(NULL);
	/* Until it is untracked, of which nothing is told. */
	raise(SIGSTOP);
	bad |= uevent_receive(sock, &event, 0);
	_exit(bad);
}

TEST_F_TIMEOUT(exits, what_nobody_is_told, TIMEOUT)
{
	pid_t pid = start_process(holds_still, NULL);
	pid_t nobody;

	ASSERT_EQ(wait_stopped(pid), 0);
	nobody = start_process(listen_as_nobody, &pid);
	ASSERT_EQ(wait_stopped(nobody), 0);
	ASSERT_EQ(node_write_number("track", pid), 0);
	EXPECT_EQ(node_refresh(pid), 0);
	end_process(pid);
	kill(nobody, SIGCONT);
	EXPECT_EQ(wait_stopped(nobody), 0);
	EXPECT_EQ(node_write_number("untrack", pid), 0);
	kill(nobody, SIGCONT);
	EXPECT_EQ(exit_status(nobody), 0);
}

/* As many as there is time for: tracking is slow on a debug kernel. */
#define RACES	300
#define RACE_SECONDS 60
/* The last one is no race, so that one at least is told. */
#define LAST_US	5000000

static bool is_late(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec - begin->tv_sec >= RACE_SECONDS;
}

/* Either it could not be tracked any more, or it is told. */
TEST_F_TIMEOUT(exits, while_being_tracked, TIMEOUT)
{
	unsigned int told = 0, i;
	struct timespec begin;
	bool last = false;

	clock_gettime(CLOCK_BOOTTIME, &begin);
	for (i = 0; !last; i++) {
		pid_t pid;
		int err;

		last = i == RACES || is_late(&begin);
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid) {
			usleep(last ? LAST_US : i);
			_exit(0);
		}
		err = node_write_number("track", pid);
		if (!err) {
			ASSERT_TRUE(uevent_receive(self->sock, &self->event,
						   EVENT_MS));
			EXPECT_EQ(atoi(uevent_value(&self->event, "TGID")),
				  pid);
			EXPECT_EQ(node_write_number("untrack", pid), 0);
			told++;
		} else {
			EXPECT_EQ(err, -ESRCH);
		}
		waitpid(pid, NULL, 0);
	}
	EXPECT_GT(told, 0);
	TH_LOG("%u of %u tracked in time", told, i);
}

/* Whether it is told or not: once at the most, and nothing breaks. */
TEST_F_TIMEOUT(exits, while_being_untracked, TIMEOUT)
{
	unsigned int told = 0, i;
	struct timespec begin;
	bool last = false;

	clock_gettime(CLOCK_BOOTTIME, &begin);
	for (i = 0; !last; i++) {
		pid_t pid = fork();

		last = i == RACES || is_late(&begin);
		ASSERT_GE(pid, 0);
		if (!pid)
			idle_thread(NULL);
		ASSERT_EQ(node_write_number("track", pid), 0);
		kill(pid, SIGKILL);
		usleep(last ? LAST_US : i);
		ASSERT_EQ(node_write_number("untrack", pid), 0);
		waitpid(pid, NULL, 0);
		if (!uevent_receive(self->sock, &self->event, 0))
			continue;
		EXPECT_EQ(atoi(uevent_value(&self->event, "TGID")), pid);
		told++;
		EXPECT_FALSE(uevent_receive(self->sock, &self->event, 0));
	}
	EXPECT_GT(told, 0);
	TH_LOG("%u of %u told", told, i);
}

/*
 * New snapshots
 */

FIXTURE(snapshots)
{
	pid_t pid;
	pid_t other;
};

FIXTURE_SETUP(snapshots)
{
	const char *why = nodes_missing();

	if (!why)
		why = setting_set(NODES "max_age_ms", "0");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	self->pid = start_process(holds_still, NULL);
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
}

FIXTURE_TEARDOWN(snapshots)
{
	rmdir(INSTANCE);
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	if (self->other > 0) {
		node_write_number("untrack", self->other);
		end_process(self->other);
	}
	settings_restore();
}

/* What poll() says, after a read as sysfs wants it. */
static int poll_of(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLPRI };

	poll(&pfd, 1, timeout_ms);
	return pfd.revents;
}

static long long read_again(int fd)
{
	char text[32] = "";

	return pread(fd, text, sizeof(text) - 1, 0) < 0 ? -errno : atoll(text);
}

TEST_F_TIMEOUT(snapshots, poll, TIMEOUT)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), NODES "processes/%d/generation",
		 self->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(fd, 0);
	for (int generation = 0; generation < 3; generation++) {
		ASSERT_EQ(read_again(fd), generation);
		EXPECT_EQ(poll_of(fd, 0), 0);
		ASSERT_EQ(node_refresh(self->pid), 0);
		EXPECT_EQ(poll_of(fd, EVENT_MS), POLLPRI | POLLERR);
	}
	/* One that somebody else's reading took. */
	ASSERT_EQ(read_again(fd), 3);
	ASSERT_EQ(node_write("max_age_ms", "1\n"), 0);
	usleep(2000);
	ASSERT_GT(node_read("processes/%d/total/rss", self->pid), 0);
	EXPECT_EQ(poll_of(fd, EVENT_MS), POLLPRI | POLLERR);
	ASSERT_EQ(read_again(fd), 4);
	ASSERT_EQ(node_write("max_age_ms", "0\n"), 0);

	/* The process exits; it is untracked. */
	EXPECT_EQ(poll_of(fd, 0), 0);
	kill(self->pid, SIGKILL);
	EXPECT_EQ(poll_of(fd, EVENT_MS), POLLPRI | POLLERR);
	ASSERT_EQ(read_again(fd), 4);
	EXPECT_EQ(node_refresh(self->pid), -ESRCH);
	EXPECT_EQ(poll_of(fd, 0), 0);
	ASSERT_EQ(node_write_number("untrack", self->pid), 0);
	EXPECT_EQ(poll_of(fd, EVENT_MS), POLLPRI | POLLERR);
	EXPECT_EQ(read_again(fd), -ENODEV);
	close(fd);
}

static void sleep_in_poll(void *fd)
{
	read_again(*(int *)fd);
	_exit(poll_of(*(int *)fd, EVENT_MS) != (POLLPRI | POLLERR));
}

TEST_F_TIMEOUT(snapshots, wakes_who_sleeps_in_poll, TIMEOUT)
{
	static const char *const news[] = { "snapshot", "exit", "untracked" };
	char path[64];
	int fd, ret, status;

	snprintf(path, sizeof(path), NODES "processes/%d/generation",
		 self->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(fd, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(news); i++) {
		pid_t sleeper = start_process(sleep_in_poll, &fd);

		wait_for_state(sleeper, "S");
		if (i == 0)
			ret = node_refresh(self->pid);
		else if (i == 1)
			ret = kill(self->pid, SIGKILL);
		else
			ret = node_write_number("untrack", self->pid);
		EXPECT_EQ(ret, 0);
		EXPECT_EQ(waitpid(sleeper, &status, 0), sleeper);
		EXPECT_EQ(status, 0) TH_LOG("%s", news[i]);
	}
	close(fd);
}

static const char *tracing_missing(void)
{
	if (access(TRACING "events", F_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	if (access(TRACING "events", F_OK))
		return "no " TRACING "events (CONFIG_EVENT_TRACING)";
	if (mkdir(INSTANCE, 0700) && errno != EEXIST)
		return "no instances in " TRACING;
	return NULL;
}

/* The number behind "KEY=" in a line, or -EBADMSG. */
static long long field_of(const char *line, const char *key)
{
	char text[64];
	const char *at;

	snprintf(text, sizeof(text), " %s=", key);
	at = strstr(line, text);
	return at ? atoll(at + strlen(text)) : -EBADMSG;
}

/* Of the lines of the trace: of that event, with that text. */
static char *find_line(char *trace, const char *event, const char *text)
{
	static char copy[1 << 16];
	char *rest = copy, *line;

	snprintf(copy, sizeof(copy), "%s", trace);
	while ((line = strsep(&rest, "\n"))) {
		if (*line != '#' && strstr(line, event) && strstr(line, text))
			return line;
	}
	return NULL;
}

static const char *const about_fields[] = {
	"generation", "timestamp_ns", "walk_ns", "lock_hold_max_ns", "complete",
};

static const char *const size_fields[] = {
	"vmas", "pss", "rss", "private_dirty", "swap", "swap_pss",
};

static const char *const categories[] = {
	"unknown", "dalvik_heap", "native_heap", "dalvik_other", "stack",
	"cursor", "ashmem", "gfx_dev", "other_dev", "so_mmap", "jar_mmap",
	"apk_mmap", "ttf_mmap", "dex_mmap", "oat_mmap", "art_mmap",
	"other_mmap", "egl_mtrack", "gl_mtrack", "other_mtrack", "memfd",
};

/* In a trace, what cannot be told is -1. */
static long long traced(long long value)
{
	return value == -EOPNOTSUPP ? -1 : value;
}

TEST_F_TIMEOUT(snapshots, traced, TIMEOUT)
{
	const char *why = tracing_missing();
	static char trace[1 << 16];
	char text[64], *line;

	if (why)
		SKIP(return, "%s", why);
	/* Nobody listens. */
	ASSERT_EQ(node_refresh(self->pid), 0);
	ASSERT_GT(file_read(INSTANCE "trace", trace, sizeof(trace)), 0);
	EXPECT_EQ(find_line(trace, "snapshot: ", ""), NULL);

	ASSERT_EQ(file_write(INSTANCE "events/memledger/enable", "1"), 0);
	ASSERT_EQ(node_refresh(self->pid), 0);
	ASSERT_EQ(file_write(INSTANCE "events/memledger/enable", "0"), 0);
	ASSERT_GT(file_read(INSTANCE "trace", trace, sizeof(trace)), 0);
	snprintf(text, sizeof(text), " tgid=%d comm=events ", self->pid);
	line = find_line(trace, "snapshot: ", text);
	ASSERT_NE(line, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(about_fields); i++) {
		EXPECT_EQ(field_of(line, about_fields[i]),
			  node_read("processes/%d/%s", self->pid,
				    about_fields[i]))
			TH_LOG("%s", about_fields[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(size_fields); i++) {
		EXPECT_EQ(field_of(line, size_fields[i]),
			  traced(node_read("processes/%d/total/%s", self->pid,
					   size_fields[i])))
			TH_LOG("%s", size_fields[i]);
	}
	EXPECT_GT(field_of(line, "rss"), 0);

	/* Each row that there is, and no other. */
	for (size_t row = 0; row < ARRAY_SIZE(categories); row++) {
		long long rss = node_read("processes/%d/category/%s/rss",
					  self->pid, categories[row]);

		snprintf(text, sizeof(text), " tgid=%d category=%s ",
			 self->pid, categories[row]);
		line = find_line(trace, "category: ", text);
		if (rss == -EOPNOTSUPP) {
			EXPECT_EQ(line, NULL) TH_LOG("%s", categories[row]);
			continue;
		}
		ASSERT_NE(line, NULL) TH_LOG("%s", categories[row]);
		EXPECT_EQ(field_of(line, "generation"), 2);
		for (size_t i = 0; i < ARRAY_SIZE(size_fields); i++) {
			EXPECT_EQ(field_of(line, size_fields[i]),
				  traced(node_read("processes/%d/category/%s/%s",
						   self->pid, categories[row],
						   size_fields[i])))
				TH_LOG("%s %s", categories[row],
				       size_fields[i]);
		}
	}

	/* And nobody listens any more. */
	ASSERT_EQ(node_refresh(self->pid), 0);
	ASSERT_GT(file_read(INSTANCE "trace", trace, sizeof(trace)), 0);
	EXPECT_EQ(find_line(trace, "snapshot: ", " generation=3 "), NULL);
}

#define RAW_COMM	"\x1b[7m\x9b\xff"

static void has_raw_comm(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, RAW_COMM);
}

/* As in all events, though memledger's own files escape it. */
TEST_F_TIMEOUT(snapshots, names_in_the_trace_are_raw, TIMEOUT)
{
	const char *why = tracing_missing();
	static char trace[1 << 16];
	char text[64];

	if (why)
		SKIP(return, "%s", why);
	self->other = start_process(has_raw_comm, NULL);
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_EQ(node_write_number("track", self->other), 0);
	ASSERT_EQ(file_write(INSTANCE "events/memledger/enable", "1"), 0);
	ASSERT_EQ(node_refresh(self->other), 0);
	ASSERT_EQ(file_write(INSTANCE "events/memledger/enable", "0"), 0);
	ASSERT_GT(file_read(INSTANCE "trace", trace, sizeof(trace)), 0);
	snprintf(text, sizeof(text), " tgid=%d comm=" RAW_COMM " ",
		 self->other);
	EXPECT_NE(find_line(trace, "snapshot: ", text), NULL);
}

static const char *const trace_files[] = {
	TRACING "trace", TRACING "trace_pipe", INSTANCE "trace",
	INSTANCE "trace_pipe", INSTANCE "events/memledger/enable",
	TRACING "events/memledger/snapshot/format",
};

static void trace_as_nobody(void *arg)
{
	bool bad = false;

	(void)arg;
	if (become_nobody())
		_exit(2);
	for (size_t i = 0; i < ARRAY_SIZE(trace_files); i++) {
		if (open(trace_files[i], O_RDONLY | O_NONBLOCK) < 0 &&
		    errno == EACCES)
			continue;
		printf("# %s can be opened\n", trace_files[i]);
		bad = true;
	}
	if (file_write(INSTANCE "events/memledger/enable", "1") != -EACCES)
		bad = true;
	fflush(NULL);
	_exit(bad);
}

TEST_F_TIMEOUT(snapshots, nobody_has_no_trace, TIMEOUT)
{
	const char *why = tracing_missing();

	if (why)
		SKIP(return, "%s", why);
	for (size_t i = 0; i < ARRAY_SIZE(trace_files); i++) {
		EXPECT_EQ(access(trace_files[i], F_OK), 0)
			TH_LOG("%s", trace_files[i]);
	}
	EXPECT_EQ(exit_status(start_process(trace_as_nobody, NULL)), 0);
}

static const char *exit_mmap_missing(void)
{
	struct utsname name;

	if (!uname(&name) && strstr(name.release, "android"))
		return "an Android kernel lets nobody call mmput_async()";
	return access(INSTANCE EXIT_MMAP, F_OK) ?
	       "no event mmap:exit_mmap" : NULL;
}

static void has_pages(void *arg)
{
	size_t len = 4096 * page_size();
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (p == MAP_FAILED)
		_exit(1);
	touch(p, len);
}

/*
 * The last who had a process's memory unmaps it. That may be a reader, who has a
 * kernel thread do it.
 */
TEST_F_TIMEOUT(snapshots, whoever_reads_unmaps_nobody, 2 * TIMEOUT)
{
	const char *why = tracing_missing() ?: exit_mmap_missing();
	static char trace[1 << 16];
	bool left_over = false;
	char me[32];

	if (why)
		SKIP(return, "%s", why);
	snprintf(me, sizeof(me), "-%d ", getpid());
	ASSERT_EQ(setting_set(NODES "slice_entries", "1"), NULL);
	ASSERT_EQ(file_write(INSTANCE EXIT_MMAP, "1"), 0);
	/* Until it died while it was read, and its reader had it last. */
	for (unsigned int us = 1000; !left_over && us < 1000000; us += us / 2) {
		pid_t killer;

		self->other = start_process(has_pages, NULL);
		ASSERT_EQ(wait_stopped(self->other), 0);
		ASSERT_EQ(node_write_number("track", self->other), 0);
		killer = kill_later(self->other, us);
		for (int err = 0; !err;)
			err = node_refresh(self->other);
		EXPECT_EQ(exit_status(killer), 0);
		end_process(self->other);
		node_write_number("untrack", self->other);

		ASSERT_GT(file_read(INSTANCE "trace", trace, sizeof(trace)), 0);
		ASSERT_EQ(find_line(trace, "exit_mmap: ", me), NULL);
		left_over = find_line(trace, "exit_mmap: ", "kworker/");
	}
	ASSERT_EQ(file_write(INSTANCE EXIT_MMAP, "0"), 0);
	EXPECT_TRUE(left_over);
}

/* Numbers of one process, by somebody with whom everybody else goes first. */
static void read_for_ever(void *pid)
{
	char path[128];
	int fd;

	use_one_processor();
	setpriority(PRIO_PROCESS, 0, 19);
	snprintf(path, sizeof(path), NODES "processes/%d/refresh", *(pid_t *)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	while (pwrite(fd, "1", 1, 0) == 1)
		;
	_exit(1);
}

static void wake_up_for_ever(void *arg)
{
	(void)arg;
	use_one_processor();
	for (;;)
		usleep(100);
}

struct interruptions {
	int holds;
	int without_lock;
	int with_lock;
};

/* How often @pid had a lock of memory, and was told to make room in between. */
static struct interruptions count_interruptions(char *trace, pid_t pid)
{
	struct interruptions count = {};
	bool locked = false;
	char prev[32], *line;

	snprintf(prev, sizeof(prev), " prev_pid=%d ", pid);
	while ((line = strsep(&trace, "\n"))) {
		if (strstr(line, " mmap_lock_acquire_returned: ") &&
		    strstr(line, " success=true")) {
			count.holds++;
			locked = true;
		} else if (strstr(line, " mmap_lock_released: ")) {
			locked = false;
		} else if (strstr(line, " sched_switch: ") &&
			   strstr(line, prev)) {
			count.without_lock += !locked;
			count.with_lock += locked;
		}
	}
	return count;
}

#define MMAP_LOCK	INSTANCE "events/mmap_lock/enable"
#define SWITCH		INSTANCE "events/sched/sched_switch/enable"

/*
 * Whoever wants its lock would wait until the reader has a processor again. The
 * events change code of the scheduler, which runs everywhere: only where there is
 * one processor is that safe on any machine, see use_one_processor().
 */
TEST_F_TIMEOUT(snapshots, no_reader_waits_with_a_lock, TIMEOUT)
{
	const char *why = tracing_missing();
	struct interruptions count;
	pid_t reader, waker;
	char *trace, text[32];

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		why = "more than one processor (maxcpus=1)";
	if (!why && (access(MMAP_LOCK, F_OK) || access(SWITCH, F_OK)))
		why = "no events of the mmap lock and of the scheduler";
	if (why)
		SKIP(return, "%s", why);
	self->other = start_process(has_pages, NULL);
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_EQ(node_write_number("track", self->other), 0);
	ASSERT_EQ(file_write(INSTANCE "tracing_on", "0"), 0);
	ASSERT_EQ(file_write(MMAP_LOCK, "1"), 0);
	ASSERT_EQ(file_write(SWITCH, "1"), 0);
	reader = start_process(read_for_ever, &self->other);
	waker = start_process(wake_up_for_ever, NULL);
	snprintf(text, sizeof(text), "%d", reader);
	ASSERT_EQ(file_write(INSTANCE "set_event_pid", text), 0);
	usleep(100000);
	ASSERT_EQ(file_write(INSTANCE "tracing_on", "1"), 0);
	sleep(1);
	ASSERT_EQ(file_write(INSTANCE "tracing_on", "0"), 0);
	end_process(reader);
	end_process(waker);
	ASSERT_EQ(file_write(SWITCH, "0"), 0);
	ASSERT_EQ(file_write(MMAP_LOCK, "0"), 0);
	trace = file_slurp(INSTANCE "trace");
	ASSERT_NE(trace, NULL);
	count = count_interruptions(trace, reader);
	free(trace);
	EXPECT_GT(count.holds, 10);
	EXPECT_GT(count.without_lock, 10);
	EXPECT_EQ(count.with_lock, 0)
		TH_LOG("%d of %d holds", count.with_lock, count.holds);
}

TEST_HARNESS_MAIN
