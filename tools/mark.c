// SPDX-License-Identifier: GPL-2.0-only
/*
 * A running process in; a mark, which is JSON, out, and into a file: the
 * record, each mapping, the DMA-BUFs that it holds, and its GPU memory, as the
 * other commands print them.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dmabuf_live.h"
#include "gpu.h"
#include "json.h"
#include "mark.h"
#include "output.h"
#include "privileges.h"
#include "process.h"
#include "subject.h"

static void print_vma(FILE *out, const struct memledger_vma *vma, bool swap_pss)
{
	const struct memledger_verdict *verdict = &vma->verdict;
	struct memledger_usage usage = {};
	bool first = true;

	memledger_usage_add(&usage, &vma->usage, verdict->swappable);
	putc('{', out);
	memledger_json_number(out, &first, "start", vma->start, true);
	memledger_json_number(out, &first, "end", vma->end, true);
	memledger_json_string(out, &first, "perms", vma->perms);
	memledger_json_string(out, &first, "name",
			      *vma->name ? vma->name : NULL);
	memledger_json_string(out, &first, "category",
			      memledger_category_names[verdict->category]);
	memledger_json_string(out, &first, "class",
			      verdict->unknown == MEMLEDGER_UNKNOWN_NONE ?
			      NULL :
			      memledger_unknown_names[verdict->unknown]);
	memledger_json_usage(out, &first, &usage, true, swap_pss);
	putc('}', out);
}

/* What meminfo prints, and each mapping. */
static int print_memory(FILE *out, bool *first,
			const struct memledger_mark_place *place,
			struct memledger_error *error)
{
	struct memledger_vmas vmas = {};
	struct memledger_subject subject;
	char number[16];
	bool swap_pss;
	size_t i;
	int ret;

	snprintf(number, sizeof(number), "%d", place->pid);
	if (memledger_subject_read_process(&subject, number, NULL, place->sysfs,
					   place->proc, "vmas", error))
		return -1;
	ret = memledger_vmas_parse(&vmas, subject.details,
				   subject.report.profile, error);
	swap_pss = !(subject.report.unavailable &
		     MEMLEDGER_UNAVAILABLE_SWAP_PSS);
	subject.report.complete &= vmas.complete;
	memledger_json_string(out, first, "comm", subject.report.comm);
	memledger_json_string(out, first, "kernel", subject.report.kernel);
	memledger_json_key(out, first, "meminfo");
	memledger_report_print_json(out, &subject.report);
	memledger_json_key(out, first, "vmas");
	putc('[', out);
	for (i = 0; i < vmas.nr; i++) {
		if (i)
			fputs(",\n", out);
		print_vma(out, &vmas.vma[i], swap_pss);
	}
	putc(']', out);
	memledger_vmas_free(&vmas);
	memledger_subject_free(&subject);
	return ret;
}

/* Where they cannot be had the mark says why, and goes without. */
static void print_dmabufs(FILE *out, bool *first,
			  const struct memledger_mark_place *place)
{
	struct memledger_dmabuf_live dmabuf;
	struct memledger_error why;
	int ret = memledger_dmabuf_live_read(&dmabuf, place->sysfs, place->pid,
					     &why);

	memledger_json_key(out, first, "dmabuf");
	if (ret)
		fputs("null", out);
	else
		memledger_dmabuf_print_json(out, &dmabuf.listing);
	memledger_json_string(out, first, "no_dmabuf", ret ? why.text : NULL);
	memledger_dmabuf_live_free(&dmabuf);
}

static void print_gpu(FILE *out, bool *first,
		      const struct memledger_mark_place *place)
{
	struct memledger_error why;
	struct memledger_gpu gpu;
	int ret = memledger_gpu_read(&gpu, place->sysfs, place->proc,
				     place->pid, &why);

	memledger_json_key(out, first, "gpu");
	if (ret)
		fputs("null", out);
	else
		memledger_gpu_print_json(out, &gpu);
	memledger_json_string(out, first, "no_gpu", ret ? why.text :
			      gpu.details ? NULL : gpu.why);
	memledger_gpu_free(&gpu);
}

/* What is a second old is too old for us. It need not be tracked, or loaded. */
static void renew(const struct memledger_mark_place *place)
{
	struct memledger_error ignored;
	const struct memledger_module module = { place->sysfs, &ignored };
	char file[64];

	snprintf(file, sizeof(file), "processes/%d/refresh", place->pid);
	memledger_module_write(&module, file, "1");
	memledger_module_write(&module, "dmabuf/refresh", "1");
}

/**
 * memledger_mark_take - take down all that a process has
 * @place: which process
 * @text: gets the mark, for free()
 * @len: gets its length, bytes
 * @error: what went wrong
 *
 * DMA-BUFs and GPU memory may be missing; the mark says so and why.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_mark_take(const struct memledger_mark_place *place, char **text,
			size_t *len, struct memledger_error *error)
{
	u64 ticks = memledger_process_start_ticks(place->proc, place->pid);
	FILE *out = open_memstream(text, len);
	struct timespec now;
	bool first = true;
	int ret;

	if (!out)
		return memledger_error_set(error, "no memory");
	renew(place);
	clock_gettime(CLOCK_BOOTTIME, &now);
	putc('{', out);
	memledger_json_number(out, &first, "mark", MEMLEDGER_MARK_VERSION,
			      true);
	memledger_json_number(out, &first, "pid", place->pid, true);
	memledger_json_number(out, &first, "start_ticks", ticks, ticks);
	memledger_json_number(out, &first, "timestamp_ns",
			      now.tv_sec * 1000000000ULL + now.tv_nsec, true);
	ret = print_memory(out, &first, place, error);
	if (!ret) {
		print_dmabufs(out, &first, place);
		print_gpu(out, &first, place);
	}
	fputs("}\n", out);
	if (fclose(out) && !ret)
		ret = memledger_error_set(error, "no memory");
	/* It may have exited meanwhile, and its number be another's. */
	if (!ret &&
	    memledger_process_start_ticks(place->proc, place->pid) != ticks)
		ret = memledger_error_set(error, "the process has exited");
	if (ret)
		free(*text);
	return ret;
}

/**
 * memledger_mark_save - write a mark to a file
 * @path: the file; an older one is replaced, if this succeeds
 * @text: the mark
 * @len: its length, bytes
 * @error: what went wrong
 *
 * The file is there in full or not at all, and only its owner may read it.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_mark_save(const char *path, const char *text, size_t len,
			struct memledger_error *error)
{
	struct memledger_output output;

	if (memledger_output_open(&output, path, 0600, error))
		return -1;
	fwrite(text, 1, len, output.file);
	return memledger_output_close(&output, false, error);
}

/* Ours alone: what is in it is believed. */
static bool make_directory(const char *directory)
{
	struct stat st;
	bool made;

	memledger_privileges_write(true);
	made = !mkdir(directory, 0700) || errno == EEXIST;
	memledger_privileges_write(false);
	if (!made)
		return false;
	if (lstat(directory, &st) || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_mode & 022) {
		errno = EPERM;
		return false;
	}
	return true;
}

/**
 * memledger_mark_default - where the last mark of a process is
 * @pid: the process
 * @path: gets the file's name
 * @size: of @path
 * @error: what went wrong
 *
 * In the directory $MEMLEDGER_MARKS, else in /run/memledger, or where there is
 * no /run, as on Android, in /data/local/memledger: above it all is root's. It is
 * made if it is not there.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_mark_default(pid_t pid, char *path, size_t size,
			   struct memledger_error *error)
{
	const char *directory = getenv("MEMLEDGER_MARKS");

	if (!directory)
		directory = access("/run", F_OK) ?
			    "/data/local/memledger" : "/run/memledger";
	if (!make_directory(directory))
		return memledger_error_set(error,
					   "cannot keep marks in %s: %s; set MEMLEDGER_MARKS to a directory that only you can write to, or give a file",
					   directory, strerror(errno));
	if ((size_t)snprintf(path, size, "%s/%d.json", directory, pid) >= size)
		return memledger_error_set(error,
					   "cannot keep marks in %s: %s",
					   directory, strerror(ENAMETOOLONG));
	return 0;
}
