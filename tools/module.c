// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of the module's files in; what they hold, or what to do where they
 * hold nothing, out. A process is tracked for as long as it is read, unless
 * somebody tracks it already.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <memledger/abi.h>

#include "module.h"

/**
 * memledger_module_open - open a file in sysfs
 * @module: the module
 * @file: below /sys/kernel/memledger
 * @flags: as for open()
 *
 * Return: a file descriptor or -errno.
 */
int memledger_module_open(const struct memledger_module *module,
			  const char *file, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/kernel/memledger/%s", module->sysfs,
		 file);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/**
 * memledger_module_write - write to a file in sysfs
 * @module: the module
 * @file: as for memledger_module_open()
 * @value: what to write
 *
 * Return: 0 or -errno.
 */
int memledger_module_write(const struct memledger_module *module,
			   const char *file, const char *value)
{
	int fd = memledger_module_open(module, file, O_WRONLY);
	int ret = 0;

	if (fd < 0)
		return fd;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/**
 * memledger_module_read - read a file in sysfs
 * @module: the module
 * @file: as for memledger_module_open()
 * @value: gets its first line, without the newline
 * @size: of @value
 *
 * Return: 0 or -errno.
 */
int memledger_module_read(const struct memledger_module *module,
			  const char *file, char *value, size_t size)
{
	int fd = memledger_module_open(module, file, O_RDONLY);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = read(fd, value, size - 1);
	if (len < 0)
		len = -errno;
	close(fd);
	if (len < 0)
		return len;
	value[len] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return 0;
}

/**
 * memledger_module_read_number - read a number from a file in sysfs
 * @module: the module
 * @file: as for memledger_module_open()
 * @number: gets it
 *
 * Return: 0 or -errno; -EBADMSG where it holds no number.
 */
int memledger_module_read_number(const struct memledger_module *module,
				 const char *file, u64 *number)
{
	char value[64];
	char *end;
	int ret;

	ret = memledger_module_read(module, file, value, sizeof(value));
	if (ret)
		return ret;
	if (*value < '0' || *value > '9')
		return -EBADMSG;
	errno = 0;
	*number = strtoull(value, &end, 10);
	return *end || errno ? -EBADMSG : 0;
}

/**
 * memledger_module_fail - say that something could not be done
 * @module: whose error is set
 * @what: what was tried
 * @err: -errno
 *
 * Return: -1.
 */
int memledger_module_fail(const struct memledger_module *module,
			  const char *what, int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return memledger_error_set(module->error,
					   "%s: not permitted: run as root, with CAP_SYS_PTRACE in the initial user namespace",
					   what);
	case -EINTR:
		return memledger_error_set(module->error, "%s: interrupted",
					   what);
	default:
		return memledger_error_set(module->error, "%s: %s", what,
					   strerror(-err));
	}
}

/**
 * memledger_module_check - see whether there is a module that we understand
 * @module: the module
 *
 * Return: 0, or -1 with the error set.
 */
int memledger_module_check(const struct memledger_module *module)
{
	char path[512];
	char abi[32];
	int ret;

	ret = memledger_module_read(module, "abi", abi, sizeof(abi));
	if (ret == -ENOENT || ret == -ENOTDIR) {
		snprintf(path, sizeof(path), "%s/kernel", module->sysfs);
		if (access(path, F_OK))
			return memledger_error_set(module->error,
						   "there is no %s: sysfs has to be mounted on %s",
						   path, module->sysfs);
		return memledger_error_set(module->error,
					   "there is no %s/memledger: the kernel module is not loaded: insmod memledger.ko",
					   path);
	}
	if (ret)
		return memledger_module_fail(module,
					     "reading the module's abi", ret);
	if (atoi(abi) != MEMLEDGER_ABI_VERSION)
		return memledger_error_set(module->error,
					   "the kernel module speaks version %s of the ABI, this tool version %d: use the tool that was built with the module",
					   abi, MEMLEDGER_ABI_VERSION);
	return 0;
}

/**
 * memledger_module_outcome - tell what a process's file not read means
 * @module: whose error is set where nothing but an error can come of it
 * @what: what was tried
 * @err: -errno
 *
 * Return: enum memledger_outcome, or -1 with the error set.
 */
int memledger_module_outcome(const struct memledger_module *module,
			     const char *what, int err)
{
	switch (err) {
	case -ENODATA:
		return MEMLEDGER_NO_SNAPSHOT;
	case -ENOENT:
	case -ENODEV:
	case -EIO:	/* debugfs, of a file that has been removed */
		return MEMLEDGER_NOT_TRACKED;
	case -ESRCH:
		memledger_error_set(module->error,
				    "%s: the process has exited", what);
		return MEMLEDGER_EXITED;
	case -EAGAIN:
		return memledger_error_set(module->error,
					   "%s: the process begins other programs again and again; try again",
					   what);
	default:
		return memledger_module_fail(module, what, err);
	}
}

/* Return: 0 or -errno; what is in @text is to be freed in any case. */
static int read_text(int fd, char **text)
{
	size_t room = 0, len = 0;
	ssize_t got;

	do {
		if (len + 1 >= room) {
			char *more;

			room = room ? 2 * room : 65536;
			more = realloc(*text, room);
			if (!more)
				return -ENOMEM;
			*text = more;
		}
		got = read(fd, *text + len, room - len - 1);
		if (got < 0)
			return -errno;
		len += got;
	} while (got);
	(*text)[len] = '\0';
	return 0;
}

/**
 * memledger_module_read_table - read a file in debugfs
 * @module: the module
 * @file: below /sys/kernel/debug/memledger
 * @text: gets its text, to be freed; NULL where this fails
 *
 * Return: 0 or -errno.
 */
int memledger_module_read_table(const struct memledger_module *module,
				const char *file, char **text)
{
	char path[512];
	int ret, fd;

	*text = NULL;
	snprintf(path, sizeof(path), "%s/kernel/debug/memledger/%s",
		 module->sysfs, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = read_text(fd, text);
	close(fd);
	if (ret) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

/**
 * memledger_module_fail_table - say why a file in debugfs could not be read
 * @module: whose error is set
 * @file: as for memledger_module_read_table()
 * @err: what that returned
 *
 * Return: -1; or, of a file of a process, enum memledger_outcome.
 */
int memledger_module_fail_table(const struct memledger_module *module,
				const char *file, int err)
{
	const char *slash = strrchr(file, '/');
	char path[512];

	snprintf(path, sizeof(path), "%s/kernel/debug/memledger",
		 module->sysfs);
	if (err == -ENOENT && access(path, F_OK))
		return memledger_error_set(module->error,
					   "there is no %s: mount debugfs: mount -t debugfs none %s/kernel/debug",
					   path, module->sysfs);
	snprintf(path, sizeof(path), "%s/kernel/debug/memledger/%.*s",
		 module->sysfs, slash ? (int)(slash - file) : 0, file);
	if (err == -ENOENT && !access(path, F_OK))
		return memledger_error_set(module->error,
					   "there is no %s/kernel/debug/memledger/%s: use the tool that was built with the module",
					   module->sysfs, file);
	snprintf(path, sizeof(path), "%s/kernel/debug/memledger/%s",
		 module->sysfs, file);
	if (slash)
		return memledger_module_outcome(module, path, err);
	return memledger_module_fail(module, path, err);
}

/**
 * memledger_module_begin - see to it that a process is tracked
 * @module: the module
 * @pid: the process, by its number in the initial pid namespace
 *
 * Return: 1 if we track it now, to be ended by memledger_module_end(), 0 if
 * somebody did already, MEMLEDGER_EXITED, or -1 with the error set.
 */
int memledger_module_begin(const struct memledger_module *module, pid_t pid)
{
	char number[16];
	int ret;

	snprintf(number, sizeof(number), "%d", pid);
	ret = memledger_module_write(module, "track", number);
	switch (ret) {
	case 0:
		return 1;
	case -EEXIST:
		return 0;
	case -ESRCH:
		memledger_error_set(module->error,
				    "no process %d: it has exited, or it is the number of a thread: see ps -e",
				    pid);
		return MEMLEDGER_EXITED;
	case -EINVAL:
		return memledger_error_set(module->error,
					   "%d is a kernel thread, which has no memory of its own",
					   pid);
	case -ENOSPC:
		return memledger_error_set(module->error,
					   "too many processes are tracked already: write the number of one to %s/kernel/memledger/untrack, or more to max_tracked there",
					   module->sysfs);
	default:
		return memledger_module_fail(module, "tracking the process",
					     ret);
	}
}

/**
 * memledger_module_end - end what memledger_module_begin() began
 * @module: the module
 * @pid: the process
 */
void memledger_module_end(const struct memledger_module *module, pid_t pid)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	memledger_module_write(module, "untrack", number);
}

/* Another reader of the same process may untrack it under our feet. */
static int try_tracked(const struct memledger_module *module, pid_t pid,
		       int (*read)(const struct memledger_module *module,
				   pid_t pid, void *data), void *data)
{
	int tracked, ret, i;

	for (i = 0; i < MEMLEDGER_MODULE_TRIES; i++) {
		tracked = memledger_module_begin(module, pid);
		if (tracked < 0)
			return -1;
		ret = read(module, pid, data);
		if (tracked)
			memledger_module_end(module, pid);
		if (ret <= MEMLEDGER_GOT)
			return ret ? -1 : 0;
	}
	return memledger_error_set(module->error,
				   "process %d is untracked, or its snapshot lost, again and again: is something else using the module? Try again",
				   pid);
}

/**
 * memledger_module_track - read files of a process while it is tracked
 * @module: the module
 * @pid: the process, by its number in the initial pid namespace
 * @read: reads them; returns enum memledger_outcome, or -1 with the error set.
 *	Is called again where somebody else untracked the process meanwhile
 * @data: for @read
 *
 * Signals that would end this program wait until all is as before.
 *
 * Return: 0, or -1 with the error set.
 */
int memledger_module_track(const struct memledger_module *module, pid_t pid,
			   int (*read)(const struct memledger_module *module,
				       pid_t pid, void *data), void *data)
{
	sigset_t signals, before;
	int ret;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	ret = try_tracked(module, pid, read, data);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}
