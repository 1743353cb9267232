// SPDX-License-Identifier: GPL-2.0-only
/*
 * A running process in, a report out: tracks the process for as long as it
 * takes, reads its record and, if asked to, a table in debugfs, and leaves the
 * module's settings as they were.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "live.h"

/* So often can somebody else be in the way: replace the record, or untrack. */
#define MAX_TRIES	16

/* What can come of reading a record, beside -1 with the error set. */
enum outcome {
	GOT_RECORD,
	NO_SNAPSHOT,	/* there is none, and reading does not make one */
	NOT_TRACKED,	/* any more */
};

/* The module's files, and whom to tell what went wrong with one. */
struct module_dir {
	const char *sysfs;
	struct memledger_error *error;
};

/* Return: a file descriptor or -errno. */
static int module_open(const struct module_dir *dir, const char *file,
		       int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/kernel/memledger/%s", dir->sysfs,
		 file);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Return: 0 or -errno. */
static int module_write(const struct module_dir *dir, const char *file,
			const char *value)
{
	int fd = module_open(dir, file, O_WRONLY);
	int ret = 0;

	if (fd < 0)
		return fd;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Return: 0 or -errno; @value without its newline. */
static int module_read(const struct module_dir *dir, const char *file,
		       char *value, size_t size)
{
	int fd = module_open(dir, file, O_RDONLY);
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

static int fail_errno(const struct module_dir *dir, const char *what, int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return memledger_error_set(dir->error,
					   "%s: not permitted: run as root, with CAP_SYS_PTRACE in the initial user namespace",
					   what);
	case -EINTR:
		return memledger_error_set(dir->error, "%s: interrupted", what);
	default:
		return memledger_error_set(dir->error, "%s: %s", what,
					   strerror(-err));
	}
}

/* Is there a module that we understand? */
static int check_module(const struct module_dir *dir)
{
	char path[512];
	char abi[32];
	int ret;

	ret = module_read(dir, "abi", abi, sizeof(abi));
	if (ret == -ENOENT || ret == -ENOTDIR) {
		snprintf(path, sizeof(path), "%s/kernel", dir->sysfs);
		if (access(path, F_OK))
			return memledger_error_set(dir->error,
						   "there is no %s: sysfs has to be mounted on %s",
						   path, dir->sysfs);
		return memledger_error_set(dir->error,
					   "there is no %s/memledger: the kernel module is not loaded: insmod memledger.ko",
					   path);
	}
	if (ret)
		return fail_errno(dir, "reading the module's abi", ret);
	if (atoi(abi) != MEMLEDGER_ABI_VERSION)
		return memledger_error_set(dir->error,
					   "the kernel module speaks version %s of the ABI, this tool version %d: use the tool that was built with the module",
					   abi, MEMLEDGER_ABI_VERSION);
	return 0;
}

/* Return: 1 if we track it now, 0 if somebody did already, or -1. */
static int track(const struct module_dir *dir, pid_t pid)
{
	char number[16];
	int ret;

	snprintf(number, sizeof(number), "%d", pid);
	ret = module_write(dir, "track", number);
	switch (ret) {
	case 0:
		return 1;
	case -EEXIST:
		return 0;
	case -ESRCH:
		return memledger_error_set(dir->error,
					   "no process %d: it has exited, or it is the number of a thread: see ps -e",
					   pid);
	case -EINVAL:
		return memledger_error_set(dir->error,
					   "%d is a kernel thread, which has no memory of its own",
					   pid);
	case -ENOSPC:
		return memledger_error_set(dir->error,
					   "too many processes are tracked already: write the number of one to %s/kernel/memledger/untrack, or more to max_tracked there",
					   dir->sysfs);
	default:
		return fail_errno(dir, "tracking the process", ret);
	}
}

static void untrack(const struct module_dir *dir, pid_t pid)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	module_write(dir, "untrack", number);
}

/* Return: bytes read, fewer than @size at the end of file, or -errno. */
static ssize_t read_all(int fd, void *buffer, size_t size)
{
	size_t done = 0;
	ssize_t len;

	while (done < size) {
		len = pread(fd, (char *)buffer + done, size - done, done);
		if (len < 0)
			return -errno;
		if (!len)
			break;
		done += len;
	}
	return done;
}

/* Of another layout, or no record at all. */
static int check_record(const struct module_dir *dir,
			const struct memledger_record *record)
{
	if (record->magic != MEMLEDGER_RECORD_MAGIC ||
	    record->version != MEMLEDGER_ABI_VERSION ||
	    record->size != sizeof(*record) ||
	    record->nr_categories != NR_MEMLEDGER_CATEGORIES ||
	    record->nr_subcategories != NR_MEMLEDGER_SUBCATEGORIES ||
	    record->nr_unknown != NR_MEMLEDGER_UNKNOWN_CLASSES)
		return memledger_error_set(dir->error,
					   "the module's record is of version %u and %u bytes, not of version %u and %zu bytes: use the tool that was built with the module",
					   record->version, record->size,
					   MEMLEDGER_ABI_VERSION,
					   sizeof(*record));
	return 0;
}

static int outcome_of(const struct module_dir *dir, const char *what, int err)
{
	switch (err) {
	case -ENODATA:
		return NO_SNAPSHOT;
	case -ENOENT:
	case -ENODEV:
	case -EIO:	/* debugfs, of a file that has been removed */
		return NOT_TRACKED;
	case -ESRCH:
		return memledger_error_set(dir->error,
					   "%s: the process has exited", what);
	default:
		return fail_errno(dir, what, err);
	}
}

/* kernfs gives a page a read: what we get may be of two snapshots. */
static int read_record(const struct module_dir *dir, pid_t pid,
		       struct memledger_record *record)
{
	const ssize_t head = offsetof(struct memledger_record, totals);
	char file[64];
	ssize_t len;
	int fd, i;

	snprintf(file, sizeof(file), "processes/%d/record", pid);
	for (i = 0; i < MAX_TRIES; i++) {
		fd = module_open(dir, file, O_RDONLY);
		len = fd < 0 ? fd : read_all(fd, record, sizeof(*record));
		if (fd >= 0)
			close(fd);
		if (len < 0)
			return outcome_of(dir, "reading the record", len);
		if (len >= head && check_record(dir, record))
			return -1;
		if (len == sizeof(*record) &&
		    record->generation == record->generation_end)
			return GOT_RECORD;
	}
	return memledger_error_set(dir->error,
				   "the record is replaced faster than it can be read: somebody refreshes process %d all the time; write a larger number to %s/kernel/memledger/max_age_ms, or stop them",
				   pid, dir->sysfs);
}

static bool wrong_profile(const struct memledger_record *record,
			  const char *profile)
{
	return profile && strncmp(record->profile, profile,
				  sizeof(record->profile));
}

/*
 * Reading refreshes by itself, unless max_age_ms is 0: then there may be no
 * snapshot yet, or an older one that was made by other rules.
 */
static int read_fresh_record(const struct module_dir *dir, pid_t pid,
			     const char *profile,
			     struct memledger_record *record)
{
	char file[64];
	int ret;

	ret = read_record(dir, pid, record);
	if (ret != NO_SNAPSHOT &&
	    (ret != GOT_RECORD || !wrong_profile(record, profile)))
		return ret;

	snprintf(file, sizeof(file), "processes/%d/refresh", pid);
	ret = module_write(dir, file, "1");
	if (ret)
		return outcome_of(dir, "taking a snapshot", ret);
	ret = read_record(dir, pid, record);
	if (ret == GOT_RECORD && wrong_profile(record, profile))
		return memledger_error_set(dir->error,
					   "somebody else changes the module's profile at the same time: try again");
	return ret;
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

/* Why is a file of debugfs not there? */
static int missing_details(const struct module_dir *dir, pid_t pid,
			   const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/kernel/debug/memledger", dir->sysfs);
	if (access(path, F_OK))
		return memledger_error_set(dir->error,
					   "there is no %s: mount debugfs: mount -t debugfs none %s/kernel/debug",
					   path, dir->sysfs);
	snprintf(path, sizeof(path), "%s/kernel/debug/memledger/processes/%d",
		 dir->sysfs, pid);
	if (access(path, F_OK))
		return NOT_TRACKED;
	return memledger_error_set(dir->error,
				   "there is no %s/%s: use the tool that was built with the module",
				   path, file);
}

/* Each opening of such a file walks the process afresh. */
static int read_details(const struct module_dir *dir, pid_t pid,
			const char *file, char **text)
{
	char path[512];
	int ret, fd;

	snprintf(path, sizeof(path), "%s/kernel/debug/memledger/processes/%d/%s",
		 dir->sysfs, pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return missing_details(dir, pid, file);
	ret = fd < 0 ? -errno : read_text(fd, text);
	if (fd >= 0)
		close(fd);
	if (!ret)
		return GOT_RECORD;
	free(*text);
	*text = NULL;
	return outcome_of(dir, path, ret);
}

/* What is wanted, from a process that is tracked. */
static int read_wanted(const struct module_dir *dir, pid_t pid,
		       const char *profile, const char *file,
		       struct memledger_live *live)
{
	int ret = read_fresh_record(dir, pid, profile, &live->record);

	if (ret != GOT_RECORD || !file)
		return ret;
	return read_details(dir, pid, file, &live->details);
}

/* The one in brackets. */
static int read_profile(const struct module_dir *dir, char *profile,
			size_t size)
{
	char line[256];
	char *open, *close;
	int ret = module_read(dir, "profile", line, sizeof(line));

	if (ret)
		return fail_errno(dir, "reading the module's profile", ret);
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return memledger_error_set(dir->error,
					   "the module's profile file does not say which profile is in use");
	*close = '\0';
	snprintf(profile, size, "%s", open + 1);
	return 0;
}

/* Under another profile, for as long as it takes. */
static int read_with_profile(const struct module_dir *dir, pid_t pid,
			     const char *profile, const char *file,
			     struct memledger_live *live)
{
	char previous[32];
	int ret, err;

	if (!profile)
		return read_wanted(dir, pid, NULL, file, live);

	if (read_profile(dir, previous, sizeof(previous)))
		return -1;
	if (!strcmp(previous, profile))
		return read_wanted(dir, pid, profile, file, live);

	ret = module_write(dir, "profile", profile);
	if (ret)
		return fail_errno(dir, "selecting the profile", ret);
	ret = read_wanted(dir, pid, profile, file, live);
	err = module_write(dir, "profile", previous);
	if (err && ret >= GOT_RECORD)
		ret = fail_errno(dir, "selecting the former profile again",
				 err);
	return ret;
}

/* Another reader of the same process may untrack it under our feet. */
static int read_tracked(const struct module_dir *dir, pid_t pid,
			const char *profile, const char *file,
			struct memledger_live *live)
{
	int tracked, ret, i;

	for (i = 0; i < MAX_TRIES; i++) {
		tracked = track(dir, pid);
		if (tracked < 0)
			return -1;
		ret = read_with_profile(dir, pid, profile, file, live);
		if (tracked)
			untrack(dir, pid);
		if (ret <= GOT_RECORD)
			return ret;
	}
	return memledger_error_set(dir->error,
				   "process %d is untracked, or its snapshot lost, again and again: is something else using the module? Try again",
				   pid);
}

/**
 * memledger_live_read - take a snapshot of a running process
 * @sysfs: where sysfs is mounted
 * @pid: the process, by its number in the initial pid namespace
 * @profile: the rules to apply, or NULL for those that the module applies
 * @file: a file of the process's directory in debugfs to read as well, or NULL
 * @live: what to fill; says that it is of @file, if there is one
 * @error: what went wrong
 *
 * A process that nobody tracks is tracked for as long as it takes, and the
 * module's profile is changed for as long, for everybody, if @profile is
 * another one. Signals that would end this program wait until all is as before.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_live_read(const char *sysfs, pid_t pid, const char *profile,
			const char *file, struct memledger_live *live,
			struct memledger_error *error)
{
	const struct module_dir dir = { sysfs, error };
	struct memledger_record *record = &live->record;
	sigset_t signals, before;
	struct utsname uts;
	int ret;

	live->details = NULL;
	if (check_module(&dir))
		return -1;

	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	ret = read_tracked(&dir, pid, profile, file, live);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (ret)
		return ret;

	record->comm[sizeof(record->comm) - 1] = '\0';
	record->profile[sizeof(record->profile) - 1] = '\0';
	uname(&uts);
	snprintf(live->kernel, sizeof(live->kernel), "%s", uts.release);
	snprintf(live->source, sizeof(live->source),
		 "%s/kernel/%smemledger/processes/%d/%s", sysfs,
		 file ? "debug/" : "", pid, file ? file : "record");
	live->report = (struct memledger_report){
		.totals = record->totals,
		.profile = memledger_profile_find(record->profile),
		.pid = record->tgid,
		.comm = record->comm,
		/* A table in debugfs is of a walk of its own. */
		.generation = file ? 0 : record->generation,
		.timestamp_ns = file ? 0 : record->timestamp_ns,
		.complete = record->complete,
		.unavailable = record->unavailable,
		.page_size = record->page_size,
		.kernel = live->kernel,
		.source = live->source,
	};
	if (!live->report.profile)
		return memledger_error_set(error,
					   "the module's profile is unknown to this tool: use the tool that was built with the module");
	return 0;
}
