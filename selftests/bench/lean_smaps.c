// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up smaps by category as fast as it can be done without giving up on
 * being right: one buffer, no copies, no stdio, each byte looked at once at
 * the most, labels told apart by the letters in which they differ, rules
 * written out instead of kept in a table.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "lean_smaps.h"

/* "Rss:                1234 kB\n": nearly all lines are so long. */
#define LINE_LEN	28
#define VALUE_AT	16

/**
 * struct lean_parser - where it is in the text
 * @sums: gets the rows
 * @row: of the mapping at hand; NULL before the first one
 * @vma: the mapping's own numbers
 * @swappable: whether clean pages of the mapping are swappable
 * @prev_end: where the mapping before it ended
 * @after_so: that one was a library
 */
struct lean_parser {
	struct lean_smaps *sums;
	struct lean_row *row;
	struct lean_row vma;
	bool swappable;
	u64 prev_end;
	bool after_so;
};

#define STARTS(name, len, text) \
	((len) >= sizeof(text) - 1 && !memcmp(name, text, sizeof(text) - 1))
#define ENDS(name, len, text) \
	((len) >= sizeof(text) - 1 && \
	 !memcmp((name) + (len) - (sizeof(text) - 1), text, sizeof(text) - 1))
#define CONTAINS(name, len, text) \
	(memmem(name, len, text, sizeof(text) - 1))

/* What comes before the rules about files, and begins with a bracket. */
static int bracket_category(const char *name, size_t len)
{
	if (STARTS(name, len, "[anon:")) {
		const char *rest = name + 6;

		len -= 6;
		if (STARTS(rest, len, "scudo:") ||
		    STARTS(rest, len, "libc_malloc]") ||
		    STARTS(rest, len, "GWP-ASan"))
			return MEMLEDGER_CAT_NATIVE_HEAP;
		if (STARTS(rest, len, "stack_and_tls:"))
			return MEMLEDGER_CAT_STACK;
		return -1;
	}
	if (STARTS(name, len, "[heap]"))
		return MEMLEDGER_CAT_NATIVE_HEAP;
	if (STARTS(name, len, "[stack"))
		return MEMLEDGER_CAT_STACK;
	return -1;
}

static int suffix_category(const char *name, size_t len)
{
	switch (name[len - 1]) {
	case 'o':
		if (ENDS(name, len, ".so"))
			return MEMLEDGER_CAT_SO_MMAP;
		break;
	case 'r':
		if (ENDS(name, len, ".jar"))
			return MEMLEDGER_CAT_JAR_MMAP;
		break;
	case 'k':
		if (ENDS(name, len, ".apk"))
			return MEMLEDGER_CAT_APK_MMAP;
		break;
	case 'f':
		if (ENDS(name, len, ".ttf"))
			return MEMLEDGER_CAT_TTF_MMAP;
		break;
	case 'x':
		if (ENDS(name, len, ".odex"))
			return MEMLEDGER_CAT_DEX_MMAP;
		break;
	}
	/* Anywhere in the name. */
	if (len >= 5 && CONTAINS(name, len, ".dex"))
		return MEMLEDGER_CAT_DEX_MMAP;
	switch (name[len - 1]) {
	case 'x':
		if (ENDS(name, len, ".vdex"))
			return MEMLEDGER_CAT_DEX_MMAP;
		break;
	case 't':
		if (ENDS(name, len, ".oat"))
			return MEMLEDGER_CAT_OAT_MMAP;
		if (ENDS(name, len, ".art"))
			return MEMLEDGER_CAT_ART_MMAP;
		break;
	case ']':
		if (ENDS(name, len, ".art]"))
			return MEMLEDGER_CAT_ART_MMAP;
		break;
	}
	return -1;
}

static int dalvik_category(const char *name, size_t len)
{
	if (STARTS(name, len, "main space") ||
	    STARTS(name, len, "alloc space") ||
	    STARTS(name, len, "large object space") ||
	    STARTS(name, len, "free list large object space") ||
	    STARTS(name, len, "non moving space") ||
	    STARTS(name, len, "zygote space"))
		return MEMLEDGER_CAT_DALVIK_HEAP;
	return MEMLEDGER_CAT_DALVIK_OTHER;
}

static int other_category(const char *name, size_t len)
{
	if (CONTAINS(name, len, "kgsl-3d0"))
		return MEMLEDGER_CAT_GFX_DEV;
	if (STARTS(name, len, "/dev/")) {
		if (!STARTS(name, len, "/dev/ashmem"))
			return MEMLEDGER_CAT_OTHER_DEV;
		if (STARTS(name, len, "/dev/ashmem/CursorWindow"))
			return MEMLEDGER_CAT_CURSOR;
		if (STARTS(name, len, "/dev/ashmem/jit-zygote-cache"))
			return MEMLEDGER_CAT_DALVIK_OTHER;
		return MEMLEDGER_CAT_ASHMEM;
	}
	if (STARTS(name, len, "/memfd:jit-cache") ||
	    STARTS(name, len, "/memfd:jit-zygote-cache"))
		return MEMLEDGER_CAT_DALVIK_OTHER;
	if (STARTS(name, len, "[anon:dalvik-"))
		return dalvik_category(name + 13, len - 13);
	if (STARTS(name, len, "[anon:"))
		return MEMLEDGER_CAT_UNKNOWN;
	return MEMLEDGER_CAT_OTHER_MMAP;
}

static int category_of(struct lean_parser *parser, const char *name, size_t len,
		       u64 start)
{
	int category = -1;

	parser->swappable = false;
	if (ENDS(name, len, " (deleted)"))
		len -= 10;
	if (!len)
		return parser->after_so && start == parser->prev_end ?
		       MEMLEDGER_CAT_SO_MMAP : MEMLEDGER_CAT_UNKNOWN;
	if (*name == '[')
		category = bracket_category(name, len);
	if (category >= 0)
		return category;
	category = suffix_category(name, len);
	if (category < 0)
		return other_category(name, len);
	parser->swappable = true;
	return category;
}

static void end_mapping(struct lean_parser *parser)
{
	struct lean_row *row = parser->row, *vma = &parser->vma;

	if (!row)
		return;
	if (parser->swappable && vma->pss) {
		u64 shared = vma->shared_clean + vma->shared_dirty;
		u64 uss = vma->private_clean + vma->private_dirty;

		/* Whole numbers, as Android divides them. */
		if (shared && vma->pss > uss)
			row->swappable_pss += (vma->pss - uss) / shared *
					      vma->shared_clean;
		row->swappable_pss += vma->private_clean;
	}
	/* The fields of a mapping without pages are 0. */
	if (vma->rss) {
		row->rss += vma->rss;
		row->pss += vma->pss;
		row->shared_clean += vma->shared_clean;
		row->shared_dirty += vma->shared_dirty;
		row->private_clean += vma->private_clean;
		row->private_dirty += vma->private_dirty;
	}
	row->swap += vma->swap;
	row->swap_pss += vma->swap_pss;
}

static u64 hex(const char **at)
{
	u64 number = 0;

	for (;; (*at)++) {
		unsigned char digit = **at;

		if (digit >= 'a')
			number = number << 4 | (digit - 'a' + 10);
		else if (digit >= '0')
			number = number << 4 | (digit - '0');
		else
			return number;
	}
}

/* start-end perms offset major:minor inode    name */
static void begin_mapping(struct lean_parser *parser, const char *line,
			  const char *end)
{
	u64 start, stop;
	int category;

	end_mapping(parser);
	start = hex(&line);
	line++;
	stop = hex(&line);
	line += sizeof(" rwxp ") - 1;
	for (int blanks = 3; blanks; line++)
		blanks -= *line == ' ';
	while (line < end && *line == ' ')
		line++;
	category = category_of(parser, line, end - line, start);
	parser->row = &parser->sums->row[category];
	parser->prev_end = stop;
	parser->after_so = category == MEMLEDGER_CAT_SO_MMAP;
}

/* The number that a line is about, or NULL where it is of no interest. */
static u64 *field_of(struct lean_row *vma, const char *line)
{
	switch (line[0]) {
	case 'R':	/* Rss: or Referenced: */
		return line[1] == 's' ? &vma->rss : NULL;
	case 'P':	/* Pss: Pss_* Private_Clean: Private_Dirty: ... */
		if (line[1] == 's')
			return line[3] == ':' ? &vma->pss : NULL;
		if (line[1] != 'r' || line[2] != 'i')
			return NULL;
		return line[8] == 'C' ? &vma->private_clean :
		       line[8] == 'D' ? &vma->private_dirty : NULL;
	case 'S':	/* Size: Shared_* ShmemPmdMapped: Swap: SwapPss: */
		if (line[1] == 'w')
			return line[4] == ':' ? &vma->swap : &vma->swap_pss;
		if (line[1] != 'h' || line[2] != 'a')
			return NULL;
		return line[7] == 'C' ? &vma->shared_clean :
		       line[7] == 'D' ? &vma->shared_dirty : NULL;
	}
	return NULL;
}

static void parse_field(struct lean_parser *parser, const char *line)
{
	u64 *field = field_of(&parser->vma, line);
	u64 number = 0;

	if (!field)
		return;
	line += VALUE_AT;
	while (*line == ' ')
		line++;
	while (*line != ' ')
		number = number * 10 + (*line++ - '0');
	*field = number;
}

/* Returns how much of the text is done: up to the last whole line. */
static size_t parse(struct lean_parser *parser, const char *text, size_t len)
{
	const char *line = text, *end = text + len;

	while (line < end) {
		const char *next;

		/* Shorter ones have nothing behind them that could be one. */
		if (end - line >= LINE_LEN && line[LINE_LEN - 1] == '\n')
			next = line + LINE_LEN - 1;
		else
			next = memchr(line, '\n', end - line);
		if (!next)
			break;
		if (*line >= 'A' && *line <= 'Z')
			parse_field(parser, line);
		else
			begin_mapping(parser, line, next);
		line = next + 1;
	}
	return line - text;
}

/**
 * lean_smaps_read() - read and add up a process's smaps
 * @pid: the process
 * @sums: gets the rows
 * Return: 0, or a negative errno
 */
int lean_smaps_read(pid_t pid, struct lean_smaps *sums)
{
	static char text[1 << 16];
	struct lean_parser parser = { .sums = sums };
	char path[32];
	size_t len = 0;
	ssize_t nr;
	int fd;

	memset(sums, 0, sizeof(*sums));
	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((nr = read(fd, text + len, sizeof(text) - len)) > 0) {
		size_t done = parse(&parser, text, len + nr);

		len += nr - done;
		memmove(text, text + done, len);
	}
	if (nr < 0)
		nr = -errno;
	close(fd);
	end_mapping(&parser);
	return nr;
}
