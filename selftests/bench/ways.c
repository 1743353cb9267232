// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways to have the memory of one process; see ways.h. All open and close what
 * they read, as a tool does that looks at processes that come and go.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lean_smaps.h"
#include "measure.h"
#include "ways.h"

static int read_all(const char *name, pid_t pid)
{
	static char buffer[1 << 16];
	char path[64];
	ssize_t nr;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		nr = read(fd, buffer, sizeof(buffer));
	} while (nr > 0);
	nr = nr < 0 ? -errno : 0;
	close(fd);
	return nr;
}

void read_smaps(void *pid)
{
	must(!read_all("smaps", *(pid_t *)pid));
}

void read_rollup(void *pid)
{
	must(!read_all("smaps_rollup", *(pid_t *)pid));
}

void parse_smaps(void *pid)
{
	static struct lean_smaps sums;

	must(!lean_smaps_read(*(pid_t *)pid, &sums));
}

/* The same of any process: kernel threads have files that are not for reading. */
void read_rollup_if_any(void *pid)
{
	int err = read_all("smaps_rollup", *(pid_t *)pid);

	must(!err || err == -ESRCH);
}

void parse_smaps_if_any(void *pid)
{
	static struct lean_smaps sums;
	int err = lean_smaps_read(*(pid_t *)pid, &sums);

	must(!err || err == -ESRCH);
}

/* And the NUL that file_read() puts behind it. */
static char text[sizeof(struct memledger_record) + 1]
	__attribute__((aligned(8)));
static const struct memledger_record *const record = (const void *)text;

/* Of a tracked process. */
void take_snapshot(void *pid)
{
	pid_t tgid = *(pid_t *)pid;
	char path[64];

	must(!node_refresh(tgid));
	snprintf(path, sizeof(path), NODES "processes/%d/record", tgid);
	must(file_read(path, text, sizeof(text)) == sizeof(*record));
	must(record->complete &&
	     record->generation == record->generation_end);
}

/* What the last take_snapshot() has read. */
const struct memledger_record *last_record(void)
{
	return record;
}
