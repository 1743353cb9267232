// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ELF file in, its build-id out. Nothing in the file is trusted: what does
 * not fit is taken for a file without one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"

/* More than any file has, and little enough to read. */
#define MAX_SEGMENTS	256
#define MAX_NOTES	65536
#define MAX_BUILD_ID	64

#define PT_NOTE		4
#define NT_GNU_BUILD_ID	3

/* Where the two forms of ELF have what we look at. */
static const struct form {
	unsigned int header;	/* size, as all below */
	unsigned int word;	/* of offsets and sizes */
	unsigned int phoff, phentsize, phnum;
	unsigned int segment;
	unsigned int offset, filesz, align;
} forms[] = {
	{ 52, 4, 28, 42, 44, 32, 4, 16, 28 },	/* ELFCLASS32 */
	{ 64, 8, 32, 54, 56, 56, 8, 32, 48 },	/* ELFCLASS64 */
};

struct elf {
	int fd;
	const struct form *form;
	bool big_endian;
};

static u64 get(const struct elf *elf, const u8 *p, unsigned int size)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		value = value << 8 | p[elf->big_endian ? i : size - 1 - i];
	return value;
}

static bool read_at(const struct elf *elf, void *to, size_t size, u64 offset)
{
	return offset <= INT64_MAX &&
	       pread(elf->fd, to, size, offset) == (ssize_t)size;
}

static char *to_hex(const u8 *bytes, size_t len)
{
	char *text = malloc(2 * len + 1);
	size_t i;

	for (i = 0; text && i < len; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return text;
}

/* A note: three words, a name, and what it is about, each padded. */
static char *find_note(const struct elf *elf, const u8 *notes, size_t len,
		       unsigned int align)
{
	size_t at = 0;

	while (len - at >= 12) {
		u64 namesz = get(elf, notes + at, 4);
		u64 descsz = get(elf, notes + at + 4, 4);
		u64 type = get(elf, notes + at + 8, 4);
		u64 desc = (12 + namesz + align - 1) & ~(u64)(align - 1);
		u64 next = (desc + descsz + align - 1) & ~(u64)(align - 1);

		if (desc + descsz > len - at)
			return NULL;
		if (type == NT_GNU_BUILD_ID && namesz == 4 &&
		    !memcmp(notes + at + 12, "GNU", 4) && descsz &&
		    descsz <= MAX_BUILD_ID)
			return to_hex(notes + at + desc, descsz);
		/* The padding of the last one may be missing. */
		if (next >= len - at)
			return NULL;
		at += next;
	}
	return NULL;
}

static char *read_notes(const struct elf *elf, const u8 *segment)
{
	const struct form *form = elf->form;
	u64 offset = get(elf, segment + form->offset, form->word);
	u64 size = get(elf, segment + form->filesz, form->word);
	u64 align = get(elf, segment + form->align, form->word);
	char *id = NULL;
	u8 *notes;

	if (get(elf, segment, 4) != PT_NOTE || !size || size > MAX_NOTES)
		return NULL;
	notes = malloc(size);
	if (notes && read_at(elf, notes, size, offset))
		id = find_note(elf, notes, size, align == 8 ? 8 : 4);
	free(notes);
	return id;
}

static char *read_file(struct elf *elf)
{
	u64 phoff, phentsize, phnum, i;
	u8 buffer[64];
	char *id = NULL;

	if (!read_at(elf, buffer, 16, 0) || memcmp(buffer, "\177ELF", 4) ||
	    buffer[4] < 1 || buffer[4] > 2 || buffer[5] < 1 || buffer[5] > 2)
		return NULL;
	elf->form = &forms[buffer[4] - 1];
	elf->big_endian = buffer[5] == 2;
	if (!read_at(elf, buffer, elf->form->header, 0))
		return NULL;

	phoff = get(elf, buffer + elf->form->phoff, elf->form->word);
	phentsize = get(elf, buffer + elf->form->phentsize, 2);
	phnum = get(elf, buffer + elf->form->phnum, 2);
	if (phentsize != elf->form->segment || phnum > MAX_SEGMENTS)
		return NULL;
	for (i = 0; i < phnum && !id; i++) {
		if (!read_at(elf, buffer, phentsize, phoff + i * phentsize))
			return NULL;
		id = read_notes(elf, buffer);
	}
	return id;
}

/*
 * To open a device may start something, as a watchdog, and a pipe's other end
 * notices: so it is looked at before. Return: -1 for what is no such file.
 */
static int open_regular(const char *path, u64 inode)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char again[32];
	struct stat st;

	if (place < 0)
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	if (!fstat(place, &st) && S_ISREG(st.st_mode) &&
	    (!inode || st.st_ino == inode))
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(place);
	return fd;
}

/**
 * memledger_build_id_read - read the build-id of a file
 * @path: the file
 * @inode: what number it has to have, or 0 for any
 *
 * Return: hexadecimal digits to be freed; NULL if the file cannot be read, is
 * another one, is no ELF file, or has no build-id.
 */
char *memledger_build_id_read(const char *path, u64 inode)
{
	struct elf elf = { .fd = open_regular(path, inode) };
	char *id;

	if (elf.fd < 0)
		return NULL;
	id = read_file(&elf);
	close(elf.fd);
	return id;
}
