// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads owners, and finds out what addr2line would say of its offsets: from
 * the offset in the file by way of its program headers to an address, and by
 * way of its symbols to a function.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "owner_rows.h"
#include "testlib.h"

#define HEADINGS \
	"pss rss private_dirty swap_pss regions perms source owner"

/* Where in memory the code at an offset of the file is meant to be, or 0. */
static u64 code_address(const char *file, u64 offset)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Phdr *segment = (const void *)(file + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    offset >= segment->p_offset &&
		    offset < segment->p_offset + segment->p_filesz)
			return offset - segment->p_offset + segment->p_vaddr;
	}
	return 0;
}

static const char *function_name(const char *file, u64 addr)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);

	for (int i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbol =
			(const void *)(file + sections[i].sh_offset);
		const char *names =
			file + sections[sections[i].sh_link].sh_offset;
		u64 nr = sections[i].sh_size / sizeof(*symbol);

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		for (; nr--; symbol++) {
			if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
			    addr >= symbol->st_value &&
			    addr < symbol->st_value + symbol->st_size)
				return names + symbol->st_name;
		}
	}
	return NULL;
}

/**
 * elf_function_at() - the function at an offset of a program or library
 * @path: the file, which is not stripped
 * @offset: in the file
 * @name: gets the name, without what compilers append to that of a clone
 * @size: of @name
 * Return: 0, or a negative errno: ENOENT where there is no function
 */
int elf_function_at(const char *path, u64 offset, char *name, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = -ENOENT;
	const char *found = NULL;
	struct stat st;
	char *file;
	u64 addr;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		close(fd);
		return -errno;
	}
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return -errno;
	addr = code_address(file, offset);
	if (addr)
		found = function_name(file, addr);
	if (found) {
		snprintf(name, size, "%.*s", (int)strcspn(found, "."), found);
		err = 0;
	}
	munmap(file, st.st_size);
	return err;
}

/* Takes "PATH+0xOFFSET" apart, where it is that. */
static void resolve(struct owner_row *row)
{
	char path[256], *plus, *end;
	u64 offset;

	snprintf(path, sizeof(path), "%s", row->owner);
	plus = strrchr(path, '+');
	if (*path != '/' || !plus)
		return;
	offset = strtoull(plus + 1, &end, 16);
	if (*end || strncmp(plus, "+0x", 3))
		return;
	*plus = '\0';
	snprintf(row->library, sizeof(row->library), "%s",
		 strrchr(path, '/') + 1);
	elf_function_at(path, offset, row->function, sizeof(row->function));
}

static int parse_first_line(struct owner_rows *rows, const char *line)
{
	if (!strcmp(line, "# capture: off"))
		return 0;
	if (sscanf(line, "# capture: on, %llu ranges, %llu dropped",
		   &rows->ranges, &rows->dropped) != 2)
		return -EBADMSG;
	rows->capturing = true;
	return 0;
}

static int parse_row(struct owner_rows *rows, const char *line)
{
	struct owner_row *row = &rows->row[rows->nr];
	char swap_pss[24];

	if (rows->nr == ARRAY_SIZE(rows->row))
		return -E2BIG;
	if (sscanf(line, "%llu %llu %llu %23s %llu %7s %15s %255[^\n]",
		   &row->pss, &row->rss, &row->private_dirty, swap_pss,
		   &row->regions, row->perms, row->source, row->owner) != 8)
		return -EBADMSG;
	resolve(row);
	rows->nr++;
	return 0;
}

/**
 * owner_rows_read() - read the owners of a tracked process
 * @rows: gets them
 * @tgid: the process
 * Return: 0, or a negative errno; EBADMSG where a line is not what it should be
 */
int owner_rows_read(struct owner_rows *rows, pid_t tgid)
{
	char path[64], *text, *line, *rest;
	int err;

	memset(rows, 0, sizeof(*rows));
	snprintf(path, sizeof(path), DETAILS "processes/%d/owners", tgid);
	text = file_slurp(path);
	if (!text)
		return -errno;
	rest = text;
	line = strsep(&rest, "\n");
	err = parse_first_line(rows, line);
	line = strsep(&rest, "\n");
	if (!err && (!line || strcmp(line, HEADINGS)))
		err = -EBADMSG;
	while (!err && (line = strsep(&rest, "\n")) && *line)
		err = parse_row(rows, line);
	free(text);
	return err;
}

/* For people who want to know what went wrong. */
void owner_rows_print(const struct owner_rows *rows)
{
	printf("# capturing %d, %llu ranges, %llu dropped\n", rows->capturing,
	       rows->ranges, rows->dropped);
	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct owner_row *row = &rows->row[i];

		printf("# pss %llu rss %llu private_dirty %llu regions %llu %s %s %s (%s)\n",
		       row->pss, row->rss, row->private_dirty, row->regions,
		       row->perms, row->source, row->owner, row->function);
	}
}
