// SPDX-License-Identifier: GPL-2.0-only
/*
 * A running process in, a report out: reads its record and, if asked to, a
 * table in debugfs or more of the same snapshot, and leaves the module's
 * settings as they were.
 */
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "live.h"

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
static int check_record(const struct memledger_module *module,
			const struct memledger_record *record)
{
	if (record->magic != MEMLEDGER_RECORD_MAGIC ||
	    record->version != MEMLEDGER_ABI_VERSION ||
	    record->size != sizeof(*record) ||
	    record->nr_categories != NR_MEMLEDGER_CATEGORIES ||
	    record->nr_subcategories != NR_MEMLEDGER_SUBCATEGORIES ||
	    record->nr_unknown != NR_MEMLEDGER_UNKNOWN_CLASSES ||
	    record->nr_gpu_usages != NR_MEMLEDGER_GPU_USAGES ||
	    record->imported_rule >= NR_MEMLEDGER_IMPORTED_RULES)
		return memledger_error_set(module->error,
					   "the module's record is of version %u and %u bytes, not of version %u and %zu bytes: use the tool that was built with the module",
					   record->version, record->size,
					   MEMLEDGER_ABI_VERSION,
					   sizeof(*record));
	return 0;
}

static int fail_replaced(const struct memledger_module *module, pid_t pid)
{
	return memledger_error_set(module->error,
				   "the record is replaced faster than it can be read: somebody refreshes process %d all the time; write a larger number to %s/kernel/memledger/max_age_ms, or stop them",
				   pid, module->sysfs);
}

/* kernfs gives a page a read: what we get may be of two snapshots. */
static int read_record(const struct memledger_module *module, pid_t pid,
		       struct memledger_record *record)
{
	const ssize_t head = offsetof(struct memledger_record, totals);
	char file[64];
	ssize_t len;
	int fd, i;

	snprintf(file, sizeof(file), "processes/%d/record", pid);
	for (i = 0; i < MEMLEDGER_MODULE_TRIES; i++) {
		fd = memledger_module_open(module, file, O_RDONLY);
		len = fd < 0 ? fd : read_all(fd, record, sizeof(*record));
		if (fd >= 0)
			close(fd);
		if (len < 0)
			return memledger_module_outcome(module,
							"reading the record",
							len);
		if (len >= head && check_record(module, record))
			return -1;
		if (len == sizeof(*record) &&
		    record->generation == record->generation_end)
			return MEMLEDGER_GOT;
	}
	return fail_replaced(module, pid);
}

static bool wrong_profile(const struct memledger_record *record,
			  const char *profile)
{
	return profile && strncmp(record->profile, profile,
				  sizeof(record->profile));
}

/**
 * memledger_live_read_record - read the record of a process that is tracked
 * @module: the module
 * @pid: the process, by its number in the initial pid namespace
 * @profile: the rules that it has to be made by, or NULL for any
 * @record: what to fill
 *
 * Reading refreshes by itself, unless max_age_ms is 0: then there may be no
 * snapshot yet, or an older one that was made by other rules.
 *
 * Return: enum memledger_outcome, or -1 with the error set.
 */
int memledger_live_read_record(const struct memledger_module *module,
			       pid_t pid, const char *profile,
			       struct memledger_record *record)
{
	char file[64];
	int ret;

	ret = read_record(module, pid, record);
	if (ret != MEMLEDGER_NO_SNAPSHOT &&
	    (ret != MEMLEDGER_GOT || !wrong_profile(record, profile)))
		return ret;

	snprintf(file, sizeof(file), "processes/%d/refresh", pid);
	ret = memledger_module_write(module, file, "1");
	if (ret)
		return memledger_module_outcome(module, "taking a snapshot",
						ret);
	ret = read_record(module, pid, record);
	if (ret == MEMLEDGER_GOT && wrong_profile(record, profile))
		return memledger_error_set(module->error,
					   "somebody else changes the module's profile at the same time: try again");
	return ret;
}

/* The record, and what belongs to the same snapshot. */
static int read_snapshot(const struct memledger_module *module, pid_t pid,
			 const struct memledger_live_wanted *wanted,
			 struct memledger_live *live)
{
	int ret, i;

	for (i = 0; i < MEMLEDGER_MODULE_TRIES; i++) {
		ret = memledger_live_read_record(module, pid, wanted->profile,
						 &live->record);
		if (ret != MEMLEDGER_GOT || !wanted->more)
			return ret;
		ret = wanted->more(module, live, wanted->data);
		if (ret != MEMLEDGER_NEW_SNAPSHOT)
			return ret;
	}
	return fail_replaced(module, pid);
}

/* What is wanted, from a process that is tracked. */
static int read_wanted(const struct memledger_module *module, pid_t pid,
		       const struct memledger_live_wanted *wanted,
		       struct memledger_live *live)
{
	char file[128];
	int ret = read_snapshot(module, pid, wanted, live);

	if (ret != MEMLEDGER_GOT || !wanted->file)
		return ret;
	/* Each opening of such a file walks the process afresh. */
	snprintf(file, sizeof(file), "processes/%d/%s", pid, wanted->file);
	ret = memledger_module_read_table(module, file, &live->details);
	return ret ? memledger_module_fail_table(module, file, ret) :
		     MEMLEDGER_GOT;
}

/* The one in brackets. */
static int read_profile(const struct memledger_module *module, char *profile,
			size_t size)
{
	char line[256];
	char *open, *close;
	int ret = memledger_module_read(module, "profile", line, sizeof(line));

	if (ret)
		return memledger_module_fail(module,
					     "reading the module's profile",
					     ret);
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return memledger_error_set(module->error,
					   "the module's profile file does not say which profile is in use");
	*close = '\0';
	snprintf(profile, size, "%s", open + 1);
	return 0;
}

/* A process, and what to read of it into what. */
struct tracked {
	const struct memledger_live_wanted *wanted;
	struct memledger_live *live;
};

/* Under another profile, for as long as it takes. */
static int read_tracked(const struct memledger_module *module, pid_t pid,
			void *data)
{
	const struct tracked *tracked = data;
	const struct memledger_live_wanted *wanted = tracked->wanted;
	char previous[32];
	int ret, err;

	if (!wanted->profile)
		return read_wanted(module, pid, wanted, tracked->live);

	if (read_profile(module, previous, sizeof(previous)))
		return -1;
	if (!strcmp(previous, wanted->profile))
		return read_wanted(module, pid, wanted, tracked->live);

	ret = memledger_module_write(module, "profile", wanted->profile);
	if (ret)
		return memledger_module_fail(module, "selecting the profile",
					     ret);
	ret = read_wanted(module, pid, wanted, tracked->live);
	err = memledger_module_write(module, "profile", previous);
	if (err && ret >= MEMLEDGER_GOT)
		ret = memledger_module_fail(module,
					    "selecting the former profile again",
					    err);
	return ret;
}

/**
 * memledger_live_read - take a snapshot of a running process
 * @sysfs: where sysfs is mounted
 * @pid: the process, by its number in the initial pid namespace
 * @wanted: what to read of it
 * @live: what to fill
 * @error: what went wrong
 *
 * A process that nobody tracks is tracked for as long as it takes, and the
 * module's profile is changed for as long, for everybody, if another one is
 * wanted. Signals that would end this program wait until all is as before.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_live_read(const char *sysfs, pid_t pid,
			const struct memledger_live_wanted *wanted,
			struct memledger_live *live,
			struct memledger_error *error)
{
	const struct memledger_module module = { sysfs, error };
	struct tracked tracked = { wanted, live };
	struct memledger_record *record = &live->record;
	const char *file = wanted->file;
	struct utsname uts;
	int ret;

	live->details = NULL;
	if (memledger_module_check(&module))
		return -1;
	ret = memledger_module_track(&module, pid, read_tracked, &tracked);
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
