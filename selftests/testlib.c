// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helpers of the tests; see testlib.h. Functions that can fail return a
 * negative errno, as the kernel's do, so that a table can hold what to expect.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <memledger/abi.h>

#include "testlib.h"

/**
 * file_write() - write a text in one go
 * @path: file, which must exist
 * @text: what to write
 * Return: 0, or a negative errno of open() or write()
 */
int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/**
 * file_read() - read a file as a number of read() calls up to its end
 * @path: file
 * @buf: gets the content and a NUL behind it
 * @size: of @buf
 * Return: bytes read without the NUL, or a negative errno
 */
ssize_t file_read(const char *path, void *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t nr = 0;

	if (fd < 0)
		return -errno;
	while (len < size - 1) {
		nr = read(fd, (char *)buf + len, size - 1 - len);
		if (nr <= 0)
			break;
		len += nr;
	}
	if (nr < 0)
		nr = -errno;
	close(fd);
	((char *)buf)[len] = '\0';
	return nr < 0 ? nr : (ssize_t)len;
}

/**
 * file_slurp() - read a whole file of any length
 * @path: file
 * Return: NUL-terminated text for free(), or NULL with errno set
 */
char *file_slurp(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 1 << 16, len = 0;
	char *text = malloc(size);
	ssize_t nr = -1;

	while (fd >= 0 && text) {
		nr = read(fd, text + len, size - len - 1);
		if (nr <= 0)
			break;
		len += nr;
		if (size - len < 1 << 15) {
			char *more = realloc(text, size *= 2);

			if (!more)
				free(text);
			text = more;
		}
	}
	if (fd >= 0)
		close(fd);
	if (nr < 0 || !text) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

bool file_readable(const char *path)
{
	return !access(path, R_OK);
}

/**
 * tree_walk() - call a function with each file below a directory
 * @path: the directory; it need not be there
 * @file: the function
 * Return: the sum of what it returned
 */
int tree_walk(const char *path, int (*file)(const char *path))
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int sum = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		char below[512];

		if (*entry->d_name == '.')
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR)
			sum += tree_walk(below, file);
		else
			sum += file(below);
	}
	closedir(dir);
	return sum;
}

int node_write(const char *node, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), NODES "%s", node);
	return file_write(path, text);
}

int node_write_number(const char *node, long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld\n", number);
	return node_write(node, text);
}

/* Takes a snapshot of a tracked process. */
int node_refresh(pid_t tgid)
{
	char node[64];

	snprintf(node, sizeof(node), "processes/%d/refresh", tgid);
	return node_write(node, "1\n");
}

/**
 * node_read() - the number in a file of memledger's
 * @fmt: path below /sys/kernel/memledger, as for printf
 * Return: the number, or a negative errno; EBADMSG where the file is not one
 *	decimal number and a newline
 */
long long node_read(const char *fmt, ...)
{
	char path[256] = NODES, text[64], *end;
	long long number;
	va_list args;
	ssize_t len;

	va_start(args, fmt);
	vsnprintf(path + strlen(NODES), sizeof(path) - strlen(NODES), fmt,
		  args);
	va_end(args);
	len = file_read(path, text, sizeof(text));
	if (len < 0)
		return len;
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || strcmp(end, "\n"))
		return -EBADMSG;
	return number;
}

/**
 * nodes_missing() - whether there is anything to test
 * Return: NULL, or why not
 */
const char *nodes_missing(void)
{
	if (geteuid())
		return "must be root";
	if (node_read("abi") != MEMLEDGER_ABI_VERSION)
		return "no " NODES ": is memledger.ko loaded?";
	if (access(DETAILS, F_OK))
		mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	if (access(DETAILS, F_OK))
		return "no " DETAILS;
	return NULL;
}

bool node_tracked(pid_t tgid)
{
	char path[64];

	snprintf(path, sizeof(path), NODES "processes/%d", tgid);
	return !access(path, F_OK);
}

/* Everything that a write could have changed, as a text. */
void nodes_describe(char *text, size_t size)
{
	static const char *const names[] = {
		"profile", "max_tracked", "max_age_ms", "slice_entries",
		"owner_capture",
	};
	DIR *dir = opendir(NODES "processes");
	struct dirent *entry;
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[64];

		snprintf(path, sizeof(path), NODES "%s", names[i]);
		if (file_read(path, text + len, size - len) > 0)
			len += strlen(text + len);
	}
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		len += snprintf(text + len, size - len, "%s: %lld %lld\n",
				entry->d_name,
				node_read("processes/%s/generation",
					  entry->d_name),
				node_read("processes/%s/capture",
					  entry->d_name));
	}
	if (dir)
		closedir(dir);
}

#define MAX_SETTINGS	16
static struct {
	char path[128];
	char old[128];
} settings[MAX_SETTINGS];
static int nr_settings;

/**
 * setting_set() - change a file under /proc/sys or /sys for this test
 * @path: the file
 * @value: what to write
 * Return: NULL, or why it cannot be had: a text for SKIP
 */
const char *setting_set(const char *path, const char *value)
{
	static char reason[200];
	char old[128], *word;
	int err;

	err = file_read(path, old, sizeof(old));
	if (err >= 0)
		err = file_write(path, value);
	if (err < 0) {
		snprintf(reason, sizeof(reason), "cannot set %s to %s: %s",
			 path, value, strerror(-err));
		return reason;
	}
	if (nr_settings == MAX_SETTINGS)
		return "too many settings";
	/* "always [madvise] never": the word in brackets is the setting. */
	word = strchr(old, '[');
	word = strtok(word ? word + 1 : old, "]\n");
	snprintf(settings[nr_settings].path, sizeof(settings[0].path), "%s",
		 path);
	snprintf(settings[nr_settings].old, sizeof(settings[0].old), "%s",
		 word ? word : "");
	nr_settings++;
	return NULL;
}

void settings_restore(void)
{
	while (nr_settings) {
		nr_settings--;
		file_write(settings[nr_settings].path,
			   settings[nr_settings].old);
	}
}

/* Naps of 2 ms: a minute. */
#define MODULE_TRIES	30000
#define MODULE_NAP_US	2000

/**
 * module_load() - load a kernel module
 * @path: its file
 * @parameters: as for insmod
 *
 * One that is being unloaded is waited for.
 * Return: 0, or a negative errno of opening or loading it
 */
int module_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err, tries;

	if (fd < 0)
		return -errno;
	for (tries = 0; tries < MODULE_TRIES; tries++) {
		err = syscall(__NR_finit_module, fd, parameters, 0) ?
		      -errno : 0;
		if (err != -EBUSY)
			break;
		usleep(MODULE_NAP_US);
	}
	close(fd);
	return err;
}

/**
 * module_unload() - unload a kernel module
 * @name: which
 *
 * Files that were just closed keep it for a moment, and so may a reader.
 * Return: 0 or a negative errno; EWOULDBLOCK where somebody has it for long
 */
int module_unload(const char *name)
{
	int tries;

	for (tries = 0; tries < MODULE_TRIES; tries++) {
		if (!syscall(__NR_delete_module, name, O_NONBLOCK))
			return 0;
		if (errno != EWOULDBLOCK && errno != EBUSY)
			break;
		usleep(MODULE_NAP_US);
	}
	return -errno;
}

/* For tests that load memledger anew; where it is not, they are skipped. */
const char *memledger_ko(void)
{
	return getenv("MEMLEDGER_KO") ?: "/lib/memledger/memledger.ko";
}

/**
 * tool_missing() - whether the command memledger is there
 * Return: NULL, or why it cannot be used: a text for SKIP
 */
const char *tool_missing(void)
{
	return system("memledger --version > /dev/null 2>&1") ?
	       "no memledger in PATH" : NULL;
}

/**
 * tool_run() - what a shell command prints, errors included
 * @fmt: the command, as for printf
 * Return: text for free(), or NULL
 */
char *tool_run(const char *fmt, ...)
{
	char *command, *text = NULL;
	size_t room = 0;
	va_list args;
	FILE *pipe;
	int ret;

	va_start(args, fmt);
	ret = vasprintf(&command, fmt, args);
	va_end(args);
	if (ret < 0)
		return NULL;
	pipe = popen(command, "re");
	free(command);
	if (!pipe)
		return NULL;
	if (getdelim(&text, &room, '\0', pipe) < 0) {
		free(text);
		text = strdup("");
	}
	pclose(pipe);
	return text;
}

/* Root in all but the one capability, for good: by exec root gets what may be had. */
int drop_cap_sys_ptrace(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE) ||
	    syscall(__NR_capget, &header, data))
		return -errno;
	data[0].effective &= ~(1U << CAP_SYS_PTRACE);
	data[0].permitted &= ~(1U << CAP_SYS_PTRACE);
	data[0].inheritable &= ~(1U << CAP_SYS_PTRACE);
	return syscall(__NR_capset, &header, data) ? -errno : 0;
}

static bool is_refused(long ret, const char *what, const char *path)
{
	if (ret == -1 && errno == EPERM)
		return true;
	printf("# %s %s: %ld\n", what, path, ret);
	fflush(stdout);
	return false;
}

/**
 * nr_seen() - how often one sees what one must not, each of which is told
 * @paths: files
 * @fds: the same, open since before the right was dropped
 * @nr: how many
 */
int nr_seen(const char *const *paths, const int *fds, size_t nr)
{
	int seen = 0;
	char byte;

	for (size_t i = 0; i < nr; i++) {
		seen += !is_refused(open(paths[i], O_RDONLY), "open", paths[i]);
		seen += !is_refused(read(fds[i], &byte, 1), "read", paths[i]);
	}
	return seen;
}

/* A user to whom nothing belongs, with no capability, for good. */
int become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return -errno;
	return 0;
}

size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* What a page table maps, which is where huge pages begin. */
static size_t alone_align(void)
{
	return page_size() / sizeof(void *) * page_size();
}

/**
 * map_alone() - mmap() where no neighbour can be merged with
 * @len: bytes
 * @prot: as for mmap
 * @flags: as for mmap
 * @fd: as for mmap
 * @offset: as for mmap
 *
 * The mapping begins where a huge page may, inside a larger PROT_NONE one.
 * Return: the address, or MAP_FAILED with errno set
 */
void *map_alone(size_t len, int prot, int flags, int fd, off_t offset)
{
	size_t align = alone_align();
	size_t room = (len + 3 * align) & ~(align - 1);
	char *around = mmap(NULL, room, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long start = (unsigned long)around;

	if (around == MAP_FAILED)
		return MAP_FAILED;
	start = (start + 2 * align - 1) & ~(align - 1);
	return mmap((void *)start, len, prot, flags | MAP_FIXED, fd, offset);
}

/* Writes to every page, so that no two have the same content. */
void touch(void *start, size_t len)
{
	for (size_t at = 0; at < len; at += page_size()) {
		unsigned long *word = (void *)((char *)start + at);

		word[0] = (unsigned long)word;
		word[1] = getpid();
	}
}

/* Reads from every page. */
void read_pages(const void *start, size_t len)
{
	for (size_t at = 0; at < len; at += page_size())
		(void)*((const volatile char *)start + at);
}

/**
 * beside_me() - a file in the directory of the running program
 * @name: its name
 * Return: path, in a buffer that the next call uses again
 */
const char *beside_me(const char *name)
{
	static char path[512];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		len = 0;
	while (len && path[len - 1] != '/')
		len--;
	snprintf(path + len, sizeof(path) - len, "%s", name);
	return path;
}

/**
 * use_one_processor() - stay on one, and so does whoever is started
 *
 * For what changes instructions while others run them: QEMU before 8.1 may
 * translate one while another processor changes it, and keep what was there.
 */
void use_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/*
 * What we write to of our stack is the child's alone from then on, and its share
 * of that larger: now, and not between two readings that are to be equal.
 */
static void leave_stack_to_child(void)
{
	char used[1 << 16];

	explicit_bzero(used, sizeof(used));
}

/**
 * start_process() - a child that runs a function and then holds still
 * @run: called in the child, which stops itself when it returns
 * @arg: for @run
 *
 * The child leads a process group of its own, which end_process() ends.
 * Return: its number, or a negative errno
 */
pid_t start_process(void (*run)(void *arg), void *arg)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(arg);
		raise(SIGSTOP);
		_exit(0);
	}
	setpgid(pid, pid);
	leave_stack_to_child();
	return pid;
}

static void run_program(void *arg)
{
	char *const *argv = arg;

	execv(argv[0], argv);
	_exit(127);
}

pid_t start_program(char *const argv[])
{
	return start_process(run_program, (void *)argv);
}

/**
 * wait_stopped() - until a child has stopped itself
 * @pid: the child
 * Return: 0, or -ECHILD if it ended instead
 */
int wait_stopped(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return -ECHILD;
	return 0;
}

/* As ps shows it of any process, or of its leader; 0 if there is none. */
char process_state(pid_t pid)
{
	char path[64], text[512];
	const char *name_end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_read(path, text, sizeof(text)) < 0)
		return 0;
	name_end = strrchr(text, ')');
	return name_end ? name_end[2] : 0;
}

/* Until it is in one of these, or gone. */
void wait_for_state(pid_t pid, const char *states)
{
	while (!memchr(states, process_state(pid), strlen(states) + 1))
		usleep(1000);
}

/* How long a process has run on a processor, ns; 0 where it is gone. */
long long processor_ns(pid_t pid)
{
	struct timespec time = {};
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Kills the child's process group and waits for the child. */
void end_process(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Has a process killed in so many us. Return: the child that does it. */
pid_t kill_later(pid_t pid, useconds_t delay)
{
	pid_t killer = fork();

	if (!killer) {
		usleep(delay);
		kill(pid, SIGKILL);
		_exit(0);
	}
	return killer;
}

/* The child's status once it has ended, as waitpid() has it; -1 without one. */
int exit_status(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}
