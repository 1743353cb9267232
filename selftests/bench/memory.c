// SPDX-License-Identifier: GPL-2.0-only
/*
 * What memory memledger takes: for a tracked process, and for the module's
 * code. The peer is what it may be.
 *
 * Many processes are tracked, so that the kernel's lists of free pages make no
 * difference, and as many before them, which take what is left over in slabs
 * that somebody else has used.
 */
#include <elf.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure.h"
#include "ways.h"

#define NR_TRACKED	64
#define TRACKED_LIMIT	(128ULL << 10)
#define TEXT_LIMIT	(256ULL << 10)

static u64 memory_free(void)
{
	char *text = file_slurp("/proc/meminfo"), *line;
	u64 kb;

	must(text);
	line = strstr(text, "MemFree:");
	must(line && sscanf(line, "MemFree: %llu", &kb) == 1);
	free(text);
	return kb << 10;
}

/* Names and inodes of files that were looked up, of sysfs in particular. */
static void forget_inodes(void)
{
	sync();
	must(!file_write("/proc/sys/vm/drop_caches", "2\n"));
	/* Some are freed only after a while: RCU. */
	sleep(1);
}

static void hold_still(void *unused)
{
	(void)unused;
}

static int read_file(const char *path, const struct stat *stat, int type,
		     struct FTW *where)
{
	char text[8192];

	(void)stat;
	(void)where;
	/* What cannot be told, or read, has an inode all the same. */
	if (type == FTW_F)
		file_read(path, text, sizeof(text));
	return 0;
}

static void track(const pid_t *pid)
{
	for (int i = 0; i < NR_TRACKED; i++) {
		pid_t tgid = pid[i];

		must(!node_write_number("track", tgid));
		take_snapshot(&tgid);
	}
	forget_inodes();
}

static void measure_tracked(void)
{
	pid_t pid[2 * NR_TRACKED];
	u64 before, tracked, looked_up;
	char path[64];

	for (int i = 0; i < 2 * NR_TRACKED; i++) {
		pid[i] = start_process(hold_still, NULL);
		must(pid[i] > 0 && !wait_stopped(pid[i]));
	}
	track(pid);
	before = memory_free();
	track(pid + NR_TRACKED);
	tracked = memory_free();
	for (int i = NR_TRACKED; i < 2 * NR_TRACKED; i++) {
		snprintf(path, sizeof(path), NODES "processes/%d", pid[i]);
		must(!nftw(path, read_file, 16, FTW_PHYS));
	}
	looked_up = memory_free();
	report("memory/tracked", (before - tracked) / NR_TRACKED,
	       TRACKED_LIMIT);
	/* That much goes when the kernel needs the memory. */
	printf("# %llu bytes more in inodes when all its files were read\n",
	       (tracked - looked_up) / NR_TRACKED);
	for (int i = 0; i < 2 * NR_TRACKED; i++) {
		must(!node_write_number("untrack", pid[i]));
		end_process(pid[i]);
	}
}

/* The code that stays when the module is loaded. */
static u64 text_size(const char *path)
{
	FILE *file = fopen(path, "rb");
	const Elf64_Shdr *section;
	const Elf64_Ehdr *header;
	const char *names;
	char *image;
	u64 size = 0;
	long len;

	must(file && !fseek(file, 0, SEEK_END));
	len = ftell(file);
	rewind(file);
	image = malloc(len);
	must(image && fread(image, 1, len, file) == (size_t)len);
	fclose(file);

	header = (void *)image;
	must(!memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	     header->e_ident[EI_CLASS] == ELFCLASS64);
	section = (void *)(image + header->e_shoff);
	names = image + section[header->e_shstrndx].sh_offset;
	for (int i = 0; i < header->e_shnum; i++) {
		if ((section[i].sh_flags & SHF_EXECINSTR) &&
		    strncmp(names + section[i].sh_name, ".init", 5))
			size += section[i].sh_size;
	}
	free(image);
	return size;
}

int main(void)
{
	const char *why = nodes_missing();
	char core[32];

	if (!why)
		why = setting_set(NODES "max_age_ms", "0") ?:
		      setting_set(NODES "max_tracked", "128");
	if (why)
		give_up("%s", why);
	printf("# memory: %d tracked processes\n", NR_TRACKED);
	measure_tracked();
	report("memory/module_text", text_size(memledger_ko()), TEXT_LIMIT);
	must(file_read("/sys/module/memledger/coresize", core,
		       sizeof(core)) > 0);
	printf("# %s bytes with its data\n", strtok(core, "\n"));
	settings_restore();
	return 0;
}
