// SPDX-License-Identifier: GPL-2.0-only
/*
 * A test for each sentence of docs/security.rst: who gets nothing, however he
 * came by a file, and what nobody gets.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "kgsl.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"

#define OWNER_NAME	"mappingowner"

/*
 * Said to be mapped by what is no code, so that the address is all there is to
 * tell. In capitals, which memledger itself does not write.
 */
static void map_unresolved(void)
{
	size_t len = page_size();
	void *p = map_alone(len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];

	snprintf(name, sizeof(name), OWNER_NAME " %lX", (unsigned long)p);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, len, name);
	touch(p, len);
}

/* Something for each file to tell of, where the kernel has it. */
static void hold(void *arg)
{
	size_t len = 50 * page_size();
	int kgsl = kgsl_open();
	int fd = dmabuf_from_heap(len);

	(void)arg;
	touch(map_alone(len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), len);
	map_unresolved();
	if (fd >= 0)
		mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (kgsl >= 0)
		kgsl_alloc(kgsl, len, 0);
}

FIXTURE(security)
{
	pid_t pid;
	pid_t other;
	bool has_kgsl;
	char before[4096];
	char after[4096];
};

FIXTURE_SETUP(security)
{
	const char *why = nodes_missing();

	/* One snapshot for all files, and not for ever. */
	if (!why)
		why = setting_set(NODES "max_age_ms", "60000");
	if (!why)
		why = setting_set(NODES "max_tracked", "128");
	if (why) {
		settings_restore();
		SKIP(return, "%s", why);
	}
	/* Without these a file or two have less to tell. */
	setting_set(NODES "owner_capture", "1");
	setting_set(NODES "gpu_totals", "1");
	self->has_kgsl = !kgsl_load("kgsl_standin", "");
	self->pid = start_process(hold, NULL);
	ASSERT_GT(self->pid, 0);
	ASSERT_EQ(wait_stopped(self->pid), 0);
	ASSERT_EQ(node_write_number("track", self->pid), 0);
	nodes_describe(self->before, sizeof(self->before));
}

FIXTURE_TEARDOWN(security)
{
	node_write_number("untrack", self->pid);
	end_process(self->pid);
	if (self->other > 0) {
		node_write_number("untrack", self->other);
		end_process(self->other);
	}
	settings_restore();
	if (self->has_kgsl)
		module_unload("kgsl_standin");
}

#define EXPECT_UNCHANGED()						\
	do {								\
		nodes_describe(self->after, sizeof(self->after));	\
		EXPECT_STREQ(self->before, self->after);		\
	} while (0)

/*
 * Who may not, gets nothing
 */

/* There are more, for one tracked process. A walk must have seen so many. */
#define NR_FILES	300

static int count_file(const char *path)
{
	(void)path;
	return 1;
}

static int is_allowed(const char *path, const char *how)
{
	printf("# %s can be %s\n", path, how);
	return 1;
}

/* Modes are the first fence: nobody but root, and only what the file is for. */
static int is_too_open(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return is_allowed(path, "not even looked at");
	if (!strcmp(path, NODES "/abi"))
		return (st.st_mode & 07777) != 0444;
	return st.st_uid || st.st_gid || st.st_mode & 07177 ?
	       is_allowed(path, "opened by others than root") : 0;
}

TEST_F_TIMEOUT(security, modes, TIMEOUT)
{
	EXPECT_GT(tree_walk(NODES, count_file), NR_FILES);
	EXPECT_GE(tree_walk(DETAILS, count_file), 8);
	EXPECT_EQ(tree_walk(NODES, is_too_open), 0);
	EXPECT_EQ(tree_walk(DETAILS, is_too_open), 0);
}

/* Whether anything but EPERM comes of a file; the ABI's version is free. */
static int not_refused(const char *path)
{
	char text[16];
	struct stat st;
	int bad = 0;

	if (!strcmp(path, NODES "/abi"))
		return file_read(path, text, sizeof(text)) <= 0;
	if (stat(path, &st))
		return is_allowed(path, "not even looked at");
	if (st.st_mode & 0400 &&
	    file_read(path, text, sizeof(text)) != -EPERM)
		bad += is_allowed(path, "read");
	if (st.st_mode & 0200 && file_write(path, "1\n") != -EPERM)
		bad += is_allowed(path, "written");
	return bad;
}

static int nr_not_refused(void)
{
	int nr = tree_walk(NODES, not_refused) +
		 tree_walk(DETAILS, not_refused);

	fflush(NULL);
	return nr;
}

static void without_capability(void *arg)
{
	(void)arg;
	if (drop_cap_sys_ptrace())
		_exit(2);
	_exit(!!nr_not_refused());
}

TEST_F_TIMEOUT(security, root_without_the_capability, TIMEOUT)
{
	EXPECT_EQ(exit_status(start_process(without_capability, NULL)), 0);
	EXPECT_UNCHANGED();
}

static int go[2];

/* The test gives it a map of users, and root of it is root of the files. */
static bool become_root_here(void)
{
	char byte;

	raise(SIGSTOP);
	return read(go[0], &byte, 1) == 1 && !geteuid();
}

static void in_user_namespace(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWUSER))
		_exit(2);
	_exit(become_root_here() ? !!nr_not_refused() : 3);
}

/* All that a container has of its own; all capabilities there are its root's. */
static void in_container(void *arg)
{
	pid_t pid;

	(void)arg;
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS))
		_exit(2);
	if (!become_root_here())
		_exit(3);
	pid = fork();
	if (pid)
		_exit(exit_status(pid) ? 4 : 0);
	_exit(!!nr_not_refused());
}

static void with_own_sysfs(void *arg)
{
	int bad;

	(void)arg;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET))
		_exit(2);
	if (!become_root_here())
		_exit(3);
	if (mount("sysfs", "/sys", "sysfs", 0, NULL))
		_exit(4);
	if (tree_walk(NODES, count_file) <= NR_FILES)
		_exit(5);
	bad = tree_walk(NODES, not_refused);
	fflush(NULL);
	_exit(!!bad);
}

/* Its status, once it has ended; -1 where it did not come to that. */
static int status_in_namespace(void (*run)(void *arg))
{
	int status = -1;
	char path[64];
	pid_t pid;

	if (pipe(go))
		return -1;
	pid = start_process(run, NULL);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	if (!wait_stopped(pid) && !file_write(path, "0 0 1\n") &&
	    !kill(pid, SIGCONT) && write(go[1], "", 1) == 1)
		status = exit_status(pid);
	else
		end_process(pid);
	close(go[0]);
	close(go[1]);
	return status;
}

static const struct {
	const char *name;
	void (*run)(void *arg);
} namespaces[] = {
	{ "user namespace", in_user_namespace },
	{ "container", in_container },
};

TEST_F_TIMEOUT(security, root_in_a_user_namespace, TIMEOUT)
{
	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
		EXPECT_EQ(status_in_namespace(namespaces[i].run), 0)
			TH_LOG("%s", namespaces[i].name);
	}
	EXPECT_UNCHANGED();
}

/* The kernel lets him mount one who is root of his network namespace, too. */
TEST_F_TIMEOUT(security, root_with_a_sysfs_of_his_own, TIMEOUT)
{
	if (access("/proc/self/ns/net", F_OK))
		SKIP(return, "no network namespaces (CONFIG_NET_NS)");
	EXPECT_EQ(status_in_namespace(with_own_sysfs), 0);
	EXPECT_UNCHANGED();
}

/* The number that a process has in its namespace is not the one that counts. */
static void in_pid_namespace(void *arg)
{
	bool had_init = node_tracked(1);
	pid_t pid;

	(void)arg;
	if (unshare(CLONE_NEWPID))
		_exit(2);
	pid = fork();
	if (!pid) {
		/* We are 1 here. The machine's own init is 1 to memledger. */
		if (getpid() != 1)
			_exit(3);
		if (node_write("track", "1\n") != (had_init ? -EEXIST : 0))
			_exit(4);
		_exit(0);
	}
	if (exit_status(pid))
		_exit(5);
	if (!node_tracked(1) || node_tracked(pid))
		_exit(6);
	if (!had_init && node_write("untrack", "1\n"))
		_exit(7);
	_exit(0);
}

TEST_F_TIMEOUT(security, in_a_pid_namespace, TIMEOUT)
{
	EXPECT_EQ(exit_status(start_process(in_pid_namespace, NULL)), 0);
	EXPECT_UNCHANGED();
}

/*
 * Files that somebody with the right has opened, and passed on
 */

#define MAX_FILES	2048

/* All files, found by who may look everywhere. */
static char *files[MAX_FILES];
static int nr_files;
static int passed_write;

static int note_file(const char *path)
{
	if (nr_files == MAX_FILES)
		return 1;
	files[nr_files] = strdup(path);
	return !files[nr_files++];
}

/* Whether anything but EACCES comes of opening a file; the ABI's is for all. */
static int not_denied(const char *path)
{
	char text[16];
	int bad = 0;

	if (!strcmp(path, NODES "/abi"))
		bad += file_read(path, text, sizeof(text)) <= 0;
	else if (file_read(path, text, sizeof(text)) != -EACCES)
		bad += is_allowed(path, "read");
	if (file_write(path, "1\n") != -EACCES)
		bad += is_allowed(path, "written");
	return bad;
}

static void as_nobody(void *arg)
{
	int nr_nodes = tree_walk(NODES, count_file);
	int bad = 0;

	if (become_nobody())
		_exit(2);
	for (int i = 0; i < nr_files; i++)
		bad += not_denied(files[i]);
	/* Directories are open. */
	if (tree_walk(NODES, count_file) != nr_nodes ||
	    !node_tracked(*(pid_t *)arg))
		bad += is_allowed(NODES, "hidden");
	if (write(passed_write, "1\n", 2) != -1 || errno != EPERM)
		bad += is_allowed("track", "written when it is passed on");
	fflush(NULL);
	_exit(!!bad);
}

TEST_F_TIMEOUT(security, not_root, TIMEOUT)
{
	ASSERT_EQ(tree_walk(NODES, note_file), 0);
	EXPECT_GT(nr_files, NR_FILES);
	ASSERT_EQ(tree_walk(DETAILS, note_file), 0);
	passed_write = open(NODES "track", O_WRONLY);
	ASSERT_GE(passed_write, 0);
	EXPECT_EQ(exit_status(start_process(as_nobody, &self->pid)), 0);
	EXPECT_UNCHANGED();
}

#define MAX_OPEN	2048

static struct passed {
	int fd;
	bool begun;
	char path[160];
} passed[MAX_OPEN];
static int nr_passed;

/* What is in debugfs may have text left that was made for the first read. */
static int open_to_pass(const char *path)
{
	struct passed *file = &passed[nr_passed];
	struct stat st;
	char byte;

	if (stat(path, &st) || !(st.st_mode & 0400) ||
	    !strcmp(path, NODES "/abi"))
		return 0;
	file->fd = open(path, O_RDONLY);
	if (file->fd < 0 || nr_passed == MAX_OPEN - 1)
		return file->fd < 0 && errno == EOPNOTSUPP ? 0 :
		       is_allowed(path, "not opened by root");
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->begun = strstr(path, "/debug/") && read(file->fd, &byte, 1) == 1;
	nr_passed++;
	return 0;
}

static void read_passed(void *arg)
{
	int bad = 0;
	char byte;

	(void)arg;
	if (drop_cap_sys_ptrace())
		_exit(2);
	for (int i = 0; i < nr_passed; i++) {
		int fd = passed[i].fd;

		if (read(fd, &byte, 1) != -1 || errno != EPERM)
			bad += is_allowed(passed[i].path, "read on");
		if (pread(fd, &byte, 1, 0) != -1 || errno != EPERM)
			bad += is_allowed(passed[i].path, "read again");
		if (pread(fd, &byte, 1, 100) != -1 || errno != EPERM)
			bad += is_allowed(passed[i].path, "read further on");
		/* There the text before the offset is made, and thrown away. */
		if (strstr(passed[i].path, "/debug/") &&
		    (lseek(fd, 1 << 20, SEEK_SET) != -1 || errno != EPERM))
			bad += is_allowed(passed[i].path, "sought in");
	}
	fflush(NULL);
	_exit(!!bad);
}

TEST_F_TIMEOUT(security, each_read_asks_not_the_open, TIMEOUT)
{
	const struct rlimit room = { 2 * MAX_OPEN, 2 * MAX_OPEN };
	int begun = 0;

	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &room), 0);
	/* An older snapshot would have no data of our process. */
	ASSERT_EQ(node_write("dmabuf/refresh", "1\n"), 0);
	ASSERT_EQ(tree_walk(NODES, open_to_pass), 0);
	ASSERT_EQ(tree_walk(DETAILS, open_to_pass), 0);
	EXPECT_GT(nr_passed, NR_FILES);
	for (int i = 0; i < nr_passed; i++)
		begun += passed[i].begun;
	/* meminfo, vmas, unknown, owners, dmabuf; stats, snapshot, mappings. */
	EXPECT_GE(begun, 8);
	EXPECT_EQ(exit_status(start_process(read_passed, NULL)), 0);
	while (nr_passed)
		close(passed[--nr_passed].fd);
}

/*
 * The one exception, which is the kernel's: of a number in sysfs that was read
 * half, the rest is in a buffer of the open file.
 */
static void read_the_rest(void *arg)
{
	int fd = *(int *)arg;
	char rest[32];

	if (drop_cap_sys_ptrace())
		_exit(2);
	if (read(fd, rest, sizeof(rest)) <= 0)
		_exit(3);
	if (pread(fd, rest, sizeof(rest), 0) != -1 || errno != EPERM)
		_exit(4);
	_exit(0);
}

TEST_F_TIMEOUT(security, rest_of_a_number, TIMEOUT)
{
	char path[128], byte;
	int fd;

	snprintf(path, sizeof(path), NODES "processes/%d/total/rss",
		 self->pid);
	fd = open(path, O_RDONLY);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(read(fd, &byte, 1), 1);
	EXPECT_EQ(exit_status(start_process(read_the_rest, &fd)), 0);
	close(fd);
}

/*
 * System calls of 32-bit programs
 */

static const char *const files_for_32_bit[] = {
	NODES "processes/%d/total/rss",
	NODES "processes/%d/record",
	DETAILS "processes/%d/meminfo",
	DETAILS "processes/%d/vmas",
};

static char path_for_32_bit[128];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void choose_for_32_bit(size_t i, pid_t pid)
{
	snprintf(path_for_32_bit, sizeof(path_for_32_bit), files_for_32_bit[i],
		 pid);
}

#pragma GCC diagnostic pop

static void exec_read32(void *out)
{
	char *argv[] = { (char *)beside_me("read32"), path_for_32_bit, NULL };

	dup2(*(int *)out, STDOUT_FILENO);
	execv(argv[0], argv);
	_exit(errno);
}

static void exec_read32_without_capability(void *out)
{
	if (drop_cap_sys_ptrace())
		_exit(255);
	exec_read32(out);
}

/* What the program copies of the chosen file; its length or a negative errno. */
static ssize_t read32(void (*exec)(void *out), char *buf, size_t size)
{
	ssize_t len = 0, nr = -1;
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = start_process(exec, &fds[1]);
	close(fds[1]);
	do {
		nr = read(fds[0], buf + len, size - len);
		len += nr > 0 ? nr : 0;
	} while (nr > 0);
	close(fds[0]);
	status = exit_status(pid);
	if (!WIFEXITED(status))
		return -EFAULT;
	return WEXITSTATUS(status) ? -WEXITSTATUS(status) : len;
}

TEST_F_TIMEOUT(security, system_calls_of_32_bit_programs, TIMEOUT)
{
	static char text[1 << 20], text32[1 << 20];

	if (access(beside_me("read32"), X_OK))
		SKIP(return, "no 32-bit program beside the test");
	for (size_t i = 0; i < ARRAY_SIZE(files_for_32_bit); i++) {
		ssize_t len;

		choose_for_32_bit(i, self->pid);
		len = read32(exec_read32, text32, sizeof(text32));
		if (!i && len == -ENOEXEC)
			SKIP(return, "no 32-bit programs (CONFIG_COMPAT)");
		ASSERT_GT(len, 0)
			TH_LOG("%s: %zd", path_for_32_bit, len);
		EXPECT_EQ(file_read(path_for_32_bit, text, sizeof(text)), len);
		EXPECT_EQ(memcmp(text32, text, len), 0);
		EXPECT_EQ(read32(exec_read32_without_capability, text32,
				 sizeof(text32)), -EPERM)
			TH_LOG("%s", path_for_32_bit);
	}
}

/*
 * What nobody gets: addresses of the kernel
 */

/* A word of 16 hexadecimal digits: in the kernel's half, or a hashed %p. */
static bool is_kernel_address(const char *digits, size_t len)
{
	return len == 16 && (!strncasecmp(digits, "ffff", 4) ||
			     !strncmp(digits, "00000000", 8));
}

static bool tells_kernel_address(const char *text)
{
	size_t len;

	if (strstr(text, "ptrval"))
		return true;
	for (; *text; text += len ? len : 1) {
		len = strspn(text, "0123456789abcdefABCDEF");
		if (is_kernel_address(text, len))
			return true;
	}
	return false;
}

TEST(addresses_are_recognised)
{
	static const struct {
		const char *text;
		bool tells;
	} cases[] = {
		{ "at ffff888012345678\n", true },
		{ "0xFFFFFFFF81000000", true },
		{ "owner 00000000deadbeef x", true },
		{ "(____ptrval____)", true },
		{ "7ffc12345000-7ffc12366000 rw-p 00000000 00:00 0", false },
		{ "ffffffffff600000000", false },
		{ "1234567890123456", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(tells_kernel_address(cases[i].text), cases[i].tells)
			TH_LOG("%s", cases[i].text);
	}
}

static int nr_read;

/* Texts, and a record of numbers: read as either, as all files are. */
static int tells_of_kernel(const char *path)
{
	static char text[4 << 20];
	ssize_t len = file_read(path, text, sizeof(text));

	if (len <= 0)
		return 0;
	nr_read++;
	if (strlen(text) == (size_t)len)
		return tells_kernel_address(text) ?
		       is_allowed(path, "read for a kernel's address") : 0;
	for (ssize_t at = 0; at + 8 <= len; at += 8) {
		u64 word;

		memcpy(&word, text + at, sizeof(word));
		if (word >= 0xffff000000000000)
			return is_allowed(path, "read for a kernel's address");
	}
	return 0;
}

TEST_F_TIMEOUT(security, no_address_of_the_kernel, TIMEOUT)
{
	/* So that a hashed address would be one, and a plain one, too. */
	ASSERT_EQ(setting_set("/proc/sys/kernel/kptr_restrict", "0"), NULL);
	ASSERT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(tree_walk(NODES, tells_of_kernel), 0);
	EXPECT_EQ(tree_walk(DETAILS, tells_of_kernel), 0);
	EXPECT_GT(nr_read, NR_FILES);
}

/*
 * Addresses of a process
 */

/* As the kernel prints it, as a number, or as a word of 8 bytes anywhere. */
static bool tells_address(const char *data, size_t len, u64 addr)
{
	char hex[24], decimal[24];

	snprintf(hex, sizeof(hex), "%llx", addr);
	snprintf(decimal, sizeof(decimal), "%llu", addr);
	return memmem(data, len, hex, strlen(hex)) ||
	       memmem(data, len, decimal, strlen(decimal)) ||
	       memmem(data, len, &addr, sizeof(addr));
}

TEST(addresses_are_found)
{
	const u64 addr = 0x7f12345ab000;
	static const struct {
		const char *text;
		bool tells;
	} cases[] = {
		{ "7f12345ab000-7f12345ac000 rw-p", true },
		{ "unresolved 0x7f12345ab000\n", true },
		{ "139716164497408\n", true },
		{ "7f12345ac000", false },
		{ "7F12345AB000", false },
		{ "139716164497409", false },
	};
	char record[32] = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(tells_address(cases[i].text, strlen(cases[i].text),
					addr), cases[i].tells)
			TH_LOG("%s", cases[i].text);
	}
	EXPECT_FALSE(tells_address(record, sizeof(record), addr));
	memcpy(record + 11, &addr, sizeof(addr));
	EXPECT_TRUE(tells_address(record, sizeof(record), addr));
	EXPECT_FALSE(tells_address(record, 18, addr));
}

/* Below it numbers of other things could be meant. */
#define HIGH_ADDRESS	(1ULL << 36)

static u64 addresses[256];
static size_t nr_addresses;

/* How many of them a file tells. */
static int tells_of_process(const char *path)
{
	static char text[4 << 20];
	ssize_t len = file_read(path, text, sizeof(text));
	int nr = 0;

	for (size_t i = 0; len > 0 && i < nr_addresses; i++)
		nr += tells_address(text, len, addresses[i]);
	return nr;
}

/* Where a process has what: vmas tells, and owners what it has nothing else of. */
TEST_F_TIMEOUT(security, addresses_of_a_process_are_in_vmas, TIMEOUT)
{
	bool named = node_read("features/anon_names") == 1;
	int nr_owners = 0;
	struct vma_list list;
	char path[64];

	ASSERT_EQ(node_refresh(self->pid), 0);
	ASSERT_EQ(vmas_read_node(&list, self->pid), 0);
	for (size_t i = 0; i < list.nr; i++) {
		const struct vma *vma = &list.vma[i];

		if (vma->start < HIGH_ADDRESS ||
		    nr_addresses == ARRAY_SIZE(addresses))
			continue;
		nr_owners += !!strstr(vma->name, OWNER_NAME);
		addresses[nr_addresses++] = vma->start;
	}
	vmas_free(&list);
	EXPECT_GT(nr_addresses, 3);
	EXPECT_EQ(nr_owners, named);

	snprintf(path, sizeof(path), DETAILS "processes/%d/vmas", self->pid);
	EXPECT_EQ(tells_of_process(path), (int)nr_addresses);
	snprintf(path, sizeof(path), DETAILS "processes/%d/owners", self->pid);
	EXPECT_EQ(tells_of_process(path), nr_owners);
	EXPECT_EQ(tree_walk(NODES, tells_of_process), 0);
	EXPECT_EQ(tree_walk(DETAILS, tells_of_process),
		  (int)nr_addresses + nr_owners);
}

/*
 * Who may, gets what /proc gives
 */

/* Of somebody else, and with what the kernel calls not dumpable. */
static void be_private(void *arg)
{
	size_t len = 50 * page_size();

	(void)arg;
	touch(map_alone(len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), len);
	if (setresgid(1234, 1234, 1234) || setresuid(1234, 1234, 1234) ||
	    prctl(PR_SET_DUMPABLE, 0))
		_exit(1);
}

TEST_F_TIMEOUT(security, private_process_as_in_proc, TIMEOUT)
{
	struct vma_list smaps = {};

	ASSERT_EQ(node_write("max_age_ms", "0\n"), 0);
	/* A GPU driver has rows of which smaps says nothing. */
	end_process(self->pid);
	if (self->has_kgsl)
		ASSERT_EQ(module_unload("kgsl_standin"), 0);
	self->other = start_process(be_private, NULL);
	ASSERT_EQ(wait_stopped(self->other), 0);
	ASSERT_EQ(node_write_number("track", self->other), 0);
	EXPECT_EQ(compare_process(self->other, true, &smaps), 0);
	vmas_free(&smaps);
}

/*
 * Lockdown. Not to be undone: last, and in the tests' own machine only.
 */

static int nr_readable;

static int is_readable(const char *path)
{
	static char text[4 << 20];

	nr_readable += file_read(path, text, sizeof(text)) >= 0;
	return 0;
}

static int count_readable(void)
{
	nr_readable = 0;
	tree_walk(NODES, is_readable);
	tree_walk(DETAILS, is_readable);
	return nr_readable;
}

TEST_F_TIMEOUT(security, zz_lockdown_changes_nothing, TIMEOUT)
{
	int before;

	if (!getenv("MEMLEDGER_KERNEL"))
		SKIP(return, "would lock this machine down until it is booted");
	if (access("/sys/kernel/security", F_OK) ||
	    (access(LOCKDOWN, F_OK) &&
	     mount("securityfs", "/sys/kernel/security", "securityfs", 0,
		   NULL)) || access(LOCKDOWN, F_OK))
		SKIP(return, "no " LOCKDOWN " (CONFIG_SECURITY_LOCKDOWN_LSM)");
	/* Once for all snapshots to be taken: some files are of the last one. */
	count_readable();
	before = count_readable();
	EXPECT_GT(before, 100);
	ASSERT_EQ(file_write(LOCKDOWN, "confidentiality\n"), 0);
	EXPECT_EQ(count_readable(), before);
	EXPECT_EQ(node_refresh(self->pid), 0);
	EXPECT_EQ(exit_status(start_process(without_capability, NULL)), 0);
	/* But nobody loads it then who has not signed it. */
	EXPECT_EQ(module_load(memledger_ko(), ""), -EPERM);
}

TEST_HARNESS_MAIN
