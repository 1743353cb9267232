// SPDX-License-Identifier: GPL-2.0-only
/*
 * An app that opens a library when it first needs it, and uses all of it. Its
 * rounds are those of rounds.c, which executes it in the first of them: a byte
 * of standard input each, and one back.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define OPENS_IN	12

static int read_segments(struct dl_phdr_info *info, size_t size, void *path)
{
	long page = sysconf(_SC_PAGESIZE);

	(void)size;
	if (strcmp(info->dlpi_name, path))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];
		Elf64_Addr at = info->dlpi_addr + segment->p_vaddr;
		Elf64_Addr end = at + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		for (at &= -page; at < end; at += page)
			(void)*(const volatile char *)at;
	}
	return 1;
}

int main(int argc, char **argv)
{
	char c = 0;

	if (argc != 2)
		return 1;
	for (int round = 0; write(STDOUT_FILENO, &c, 1) == 1; round++) {
		if (read(STDIN_FILENO, &c, 1) != 1)
			return 0;
		if (round + 1 != OPENS_IN)
			continue;
		if (!dlopen(argv[1], RTLD_NOW) ||
		    dl_iterate_phdr(read_segments, argv[1]) != 1)
			return 1;
	}
	return 0;
}
