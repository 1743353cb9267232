// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inode number of a DMA-BUF in; all who hold it, in words, out. The module
 * says which processes do, /proc by which descriptors and where, and the
 * kernel's list (bufinfo) has those that nobody's process holds.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"
#include "holders.h"
#include "process.h"

/* Whether there is one or not: it is no file of ours. */
static int read_bufinfo(struct memledger_holders *holders, const char *sysfs)
{
	char path[512];
	size_t len = 0, room = 0;
	FILE *file;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/kernel/debug/dma_buf/bufinfo", sysfs);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* A text has no NUL, so this is all of it. */
	if (getdelim(&holders->text, &room, '\0', file) < 0)
		len = 0;
	else
		len = strlen(holders->text);
	fclose(file);
	if (len)
		ret = memledger_bufinfo_parse(&holders->bufinfo,
					      holders->text);
	holders->all |= len && !ret;
	/* Of one that does not add up nothing is believed. */
	if (ret)
		memledger_bufinfo_free(&holders->bufinfo);
	return ret == -ENOMEM ? ret : 0;
}

/**
 * memledger_holders_read - find out about all DMA-BUFs
 * @holders: what to fill; to be freed, also where this fails
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @error: what went wrong
 *
 * Processes are looked at first: what is handed over afterwards is at least in
 * the kernel's list.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_holders_read(struct memledger_holders *holders, const char *sysfs,
			   const char *proc, struct memledger_error *error)
{
	const struct memledger_module module = { sysfs, error };

	memset(holders, 0, sizeof(*holders));
	holders->proc = proc;
	/* What is a second old is too old. */
	memledger_module_write(&module, "dmabuf/refresh", "1");
	if (memledger_dmabuf_live_read(&holders->live, sysfs, -1, error))
		return -1;
	holders->all = holders->live.listing.dmabufs.list &&
		       holders->live.listing.dmabufs.complete;
	if (read_bufinfo(holders, sysfs))
		return memledger_error_set(error, "no memory");
	return 0;
}

/* Return: whether descriptors were found. */
static bool print_fds(FILE *out, const char *proc, const char *who, u64 pid,
		      u64 inode)
{
	char path[512], target[32];
	struct dirent *entry;
	bool any = false;
	struct stat st;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%llu/fd", proc, pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		len = readlinkat(dirfd(dir), entry->d_name, target,
				 sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		/* Others have inodes of the same number. */
		if (strncmp(target, "/dmabuf:", 8) ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) ||
		    st.st_ino != inode)
			continue;
		if (any)
			fprintf(out, ", %s", entry->d_name);
		else
			fprintf(out, "%s fd %s", who, entry->d_name);
		any = true;
	}
	if (dir)
		closedir(dir);
	if (any)
		putc('\n', out);
	return any;
}

static bool print_maps(FILE *out, const char *proc, const char *who, u64 pid,
		       u64 inode)
{
	char *line = NULL;
	size_t room = 0;
	char path[512];
	bool any = false;
	FILE *maps;

	snprintf(path, sizeof(path), "%s/%llu/maps", proc, pid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &room, maps) > 0) {
		u64 start, end, ino;
		int len = 0;

		if (sscanf(line, "%llx-%llx %*s %*x %*x:%*x %llu %n", &start,
			   &end, &ino, &len) != 3 || ino != inode || !len ||
		    strncmp(line + len, "/dmabuf:", 8))
			continue;
		fprintf(out, "%s mapping %llx-%llx\n", who, start, end);
		any = true;
	}
	if (maps)
		fclose(maps);
	free(line);
	return any;
}

static void print_count(FILE *out, const char *who, u64 count,
			const char *what)
{
	if (count)
		fprintf(out, "%s %llu %s%s\n", who, count, what,
			count == 1 ? "" : "s");
}

static void print_holder(FILE *out, const struct memledger_holders *holders,
			 const struct memledger_dmabuf_holder *holder,
			 u64 inode)
{
	bool numbers = memledger_process_has_numbers(holders->proc);
	char *comm = memledger_escape_text(holder->comm, "");
	char who[128];

	snprintf(who, sizeof(who), "%s[%llu]", comm ? comm : "?", holder->pid);
	free(comm);
	/* Of a thread's own table, or of a process that is gone: how many. */
	if (holder->fds && (!numbers || !print_fds(out, holders->proc, who,
						   holder->pid, inode)))
		print_count(out, who, holder->fds, "fd");
	if (holder->maps && (!numbers || !print_maps(out, holders->proc, who,
						     holder->pid, inode)))
		print_count(out, who, holder->maps, "mapping");
	print_count(out, who, holder->imports, "GPU import");
}

/**
 * memledger_holders_find - who holds a buffer
 * @holders: of memledger_holders_read()
 * @inode: the buffer's inode number
 * @size: gets its size, bytes
 * @text: gets the holders, a line each, for free(); NULL without memory
 *
 * Return: whether there is such a buffer. If @holders->all is false it may be
 * there all the same, in flight or in a driver.
 */
bool memledger_holders_find(const struct memledger_holders *holders, u64 inode,
			    u64 *size, char **text)
{
	const struct memledger_dmabufs *dmabufs =
		&holders->live.listing.dmabufs;
	const struct memledger_dmabuf *buffer =
		memledger_dmabufs_find(dmabufs, inode);
	const struct memledger_bufinfo_dmabuf *kernel =
		memledger_bufinfo_find(&holders->bufinfo, inode);
	size_t len, i;
	FILE *out;

	*text = NULL;
	if (buffer)
		*size = buffer->size;
	else if (kernel)
		*size = kernel->size;
	else
		return false;
	out = open_memstream(text, &len);
	if (!out)
		return true;
	for (i = 0; buffer && i < buffer->nr_listed; i++)
		print_holder(out, holders,
			     &dmabufs->holders[buffer->first + i], inode);
	if (kernel)
		fputs(kernel->devices, out);
	if ((!buffer || !buffer->nr_holders) && (!kernel || !*kernel->devices))
		fputs("in flight: no process has it\n", out);
	if (fclose(out)) {
		free(*text);
		*text = NULL;
	}
	return true;
}

/**
 * memledger_holders_free - free what has been read
 * @holders: of no use afterwards
 */
void memledger_holders_free(struct memledger_holders *holders)
{
	memledger_bufinfo_free(&holders->bufinfo);
	free(holders->text);
	memledger_dmabuf_live_free(&holders->live);
}
