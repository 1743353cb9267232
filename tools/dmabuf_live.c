// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process, or none for all of them, in; the DMA-BUFs that it holds, ready to
 * be printed, out.
 */
#include <stdlib.h>
#include <sys/utsname.h>

#include "dmabuf_live.h"

/* With a max_age_ms of 0 reading does not take the first snapshot. */
static int read_text(const struct memledger_module *module, const char *file,
		     char **text)
{
	int ret = memledger_module_read_table(module, file, text);

	if (ret != -ENODATA)
		return ret;
	ret = memledger_module_write(module, "dmabuf/refresh", "1");
	return ret ? ret : memledger_module_read_table(module, file, text);
}

/* Return: as memledger_module_fail_table(). */
static int fail(const struct memledger_module *module, const char *file,
		int err)
{
	switch (err) {
	case -EOPNOTSUPP:
		return memledger_error_set(module->error,
					   "this kernel has no DMA-BUFs: it was built without CONFIG_DMA_SHARED_BUFFER");
	case -ENODATA:
		return memledger_error_set(module->error,
					   "there is no snapshot of DMA-BUFs, and none could be taken: try again");
	default:
		return memledger_module_fail_table(module, file, err);
	}
}

static int read_process(const struct memledger_module *module,
			const struct memledger_live *live, void *data)
{
	struct memledger_dmabuf_live *dmabuf = data;
	char file[64];
	int ret;

	snprintf(file, sizeof(file), "processes/%d/dmabuf",
		 live->record.tgid);
	ret = read_text(module, file, &dmabuf->text);
	return ret ? fail(module, file, ret) : MEMLEDGER_GOT;
}

static int read_all(const struct memledger_module *module,
		    struct memledger_dmabuf_live *dmabuf)
{
	int ret;

	if (memledger_module_check(module))
		return -1;
	ret = read_text(module, "dmabuf", &dmabuf->text);
	return ret ? fail(module, "dmabuf", ret) : 0;
}

/**
 * memledger_dmabuf_live_read - find out about DMA-BUFs
 * @dmabuf: what to fill; to be freed, also where this fails
 * @sysfs: where sysfs is mounted
 * @pid: the process, by its number in the initial pid namespace, or -1
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_dmabuf_live_read(struct memledger_dmabuf_live *dmabuf,
			       const char *sysfs, pid_t pid,
			       struct memledger_error *error)
{
	const struct memledger_module module = { sysfs, error };
	const struct memledger_live_wanted wanted = {
		.more = read_process,
		.data = dmabuf,
	};
	struct memledger_dmabuf_listing *listing = &dmabuf->listing;
	struct utsname uts;
	char process[32] = "";
	int ret;

	memset(dmabuf, 0, sizeof(*dmabuf));
	if (pid >= 0)
		ret = memledger_live_read(sysfs, pid, &wanted, &dmabuf->live,
					  error);
	else
		ret = read_all(&module, dmabuf);
	if (ret)
		return ret;

	uname(&uts);
	if (pid >= 0)
		snprintf(process, sizeof(process), "processes/%d/", pid);
	snprintf(dmabuf->kernel, sizeof(dmabuf->kernel), "%s", uts.release);
	snprintf(dmabuf->source, sizeof(dmabuf->source),
		 "%s/kernel/debug/memledger/%sdmabuf", sysfs, process);
	listing->pid = pid;
	listing->comm = pid >= 0 ? dmabuf->live.record.comm : NULL;
	listing->source = dmabuf->source;
	listing->kernel = dmabuf->kernel;
	return memledger_dmabuf_listing_make(listing, dmabuf->text, sysfs,
					     error);
}

/**
 * memledger_dmabuf_live_free - free what has been read
 * @dmabuf: of no use afterwards
 */
void memledger_dmabuf_live_free(struct memledger_dmabuf_live *dmabuf)
{
	memledger_dmabuf_listing_free(&dmabuf->listing);
	free(dmabuf->text);
}
