// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what is Unknown in a process to the code that mapped it: as the name of
 * the memory says, or as capture.c has noted. One row an owner and kind of
 * access, the largest first.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <memledger/names.h>

#include "capture.h"
#include "snapshot.h"
#include "target.h"
#include "walk.h"

/**
 * struct code - executable mappings of a process, in ascending order
 * @names: what they are called, each once
 * @maps: the mappings
 * @nr: how many
 * @max: for how many there is room
 */
struct code {
	struct memledger_names names;
	struct code_map {
		unsigned long start;
		unsigned long end;
		u64 offset;
		const char *name;
		bool runtime;
	} *maps;
	unsigned int nr;
	unsigned int max;
};

/* Libraries that map memory on behalf of their callers. */
static const char *const runtime_prefixes[] = {
	"libc.so", "libc-", "libc.musl", "libpthread", "ld-", "ld.so", "linker",
};

static bool is_runtime(const char *path)
{
	const char *name = kbasename(path);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(runtime_prefixes); i++) {
		if (str_has_prefix(name, runtime_prefixes[i]))
			return true;
	}
	return !strcmp(path, "[vdso]");
}

/*
 * The name of a mapping, or ERR_PTR(). Most have that of others, and a process
 * can have one long name for all the mappings that there may be.
 */
static const char *intern_name(struct code *code,
			       const struct memledger_vma_line *line,
			       char *text, size_t size)
{
	const char *told, *dots;
	u32 index;
	int ret;

	/* A file of that name need no longer be this one. */
	scnprintf(text, size, "%s%s", line->name,
		  line->deleted ? " (deleted)" : "");
	told = memledger_owner_path(text, &dots);
	if (told != text) {
		told -= strlen(dots);
		memcpy(&text[told - text], dots, strlen(dots));
	}
	ret = memledger_names_intern(&code->names, told, strlen(told), 0,
				     &index);
	return ret ? ERR_PTR(ret) : code->names.rows[index].text;
}

static int add_code(struct code *code, const struct memledger_vma_line *line,
		    char *text, size_t size)
{
	struct code_map *map;

	if (code->nr == code->max) {
		unsigned int max = code->max ? 2 * code->max : 64;
		struct code_map *maps = kvmalloc_array(max, sizeof(*maps),
						       GFP_KERNEL_ACCOUNT);

		if (!maps)
			return -ENOMEM;
		if (code->nr)
			memcpy(maps, code->maps, code->nr * sizeof(*maps));
		kvfree(code->maps);
		code->maps = maps;
		code->max = max;
	}
	map = &code->maps[code->nr];
	map->start = line->start;
	map->end = line->end;
	map->offset = line->offset;
	map->runtime = is_runtime(line->name);
	map->name = intern_name(code, line, text, size);
	if (IS_ERR(map->name))
		return PTR_ERR(map->name);
	code->nr++;
	return 0;
}

static void free_code(struct code *code)
{
	memledger_names_free(&code->names);
	kvfree(code->maps);
}

static int read_code(struct memledger_target *target, struct code *code,
		     char *text, size_t size)
{
	struct memledger_vma_cursor *cursor;
	struct memledger_vma_line line;
	int ret;

	cursor = memledger_vma_cursor_open(target, false);
	if (IS_ERR(cursor))
		return PTR_ERR(cursor);
	while ((ret = memledger_vma_cursor_next(cursor, &line)) > 0) {
		if (line.perms[2] != 'x' || !*line.name)
			continue;
		ret = add_code(code, &line, text, size);
		if (ret)
			break;
	}
	memledger_vma_cursor_close(cursor);
	return ret;
}

static const struct code_map *find_code(const struct code *code,
					unsigned long addr)
{
	unsigned int low = 0, high = code->nr;

	while (low < high) {
		unsigned int mid = (low + high) / 2;
		const struct code_map *map = &code->maps[mid];

		if (addr < map->start)
			high = mid;
		else if (addr >= map->end)
			low = mid + 1;
		else
			return map;
	}
	return NULL;
}

/*
 * The first caller that is neither libc nor the loader. An address that is not
 * in code breaks the chain: what it leads to could be anybody.
 */
static const struct code_map *find_caller(const struct code *code,
					  const unsigned long *pcs,
					  unsigned int nr, unsigned long *pc)
{
	const struct code_map *map;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		/* These are return addresses: the call is right before. */
		map = find_code(code, pcs[i] - 1);
		if (!map)
			return NULL;
		if (!map->runtime) {
			*pc = pcs[i] - 1;
			return map;
		}
	}
	return NULL;
}

static int print_place(char *text, size_t size, const char *source,
		       const struct code_map *map, unsigned long addr)
{
	return scnprintf(text, size, "%s %s+0x%llx", source, map->name,
			 addr - map->start + map->offset);
}

/* What stands behind the numbers of a row: permissions, source and owner. */
static void describe_owner(const struct code *code,
			   const struct memledger_vma_line *line,
			   char *text, size_t size)
{
	const struct code_map *map;
	int len = scnprintf(text, size, "%s ", line->perms);
	unsigned long pc;
	u64 addr;

	text += len;
	size -= len;
	if (line->verdict.unknown == MEMLEDGER_UNKNOWN_MAPPING_OWNER) {
		if (!memledger_unknown_owner(line->name, strlen(line->name),
					     &addr)) {
			scnprintf(text, size, "name unresolved %s",
				  line->name);
			return;
		}
		map = find_code(code, addr);
		if (map)
			print_place(text, size, "name", map, addr);
		else
			scnprintf(text, size, "name unresolved 0x%llx", addr);
		return;
	}
	map = find_caller(code, line->pcs, line->nr_pcs, &pc);
	if (map)
		print_place(text, size, "capture", map, pc);
	else
		scnprintf(text, size, "%s unknown caller",
			  line->nr_pcs ? "capture" : "-");
}

#define OWNER_TEXT_SIZE		(MEMLEDGER_NAME_SIZE + 64)

/**
 * memledger_owners_read - who mapped what is Unknown in a process
 * @target: the process
 * @owners: an empty table; gets a row for each owner and access, its text
 *	being permissions, source and owner. The caller frees it, also where
 *	this fails
 *
 * Walks the process twice: first for its code, then for its memory.
 *
 * Context: process context; may sleep.
 * Return: 0; -ESRCH if the process has exited or execs, -EINTR, -ENOMEM,
 * -ENODEV if the target is being untracked, or -EOVERFLOW as of
 * memledger_snapshot_unknown().
 */
int memledger_owners_read(struct memledger_target *target,
			  struct memledger_names *owners)
{
	struct memledger_vma_cursor *cursor;
	struct memledger_vma_line line;
	struct code code = {};
	char *text;
	int ret;

	text = kvmalloc(OWNER_TEXT_SIZE, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	ret = read_code(target, &code, text, OWNER_TEXT_SIZE);
	if (ret)
		goto out_free;
	cursor = memledger_vma_cursor_open(target, true);
	if (IS_ERR(cursor)) {
		ret = PTR_ERR(cursor);
		goto out_free;
	}
	while ((ret = memledger_vma_cursor_next(cursor, &line)) > 0) {
		if (!memledger_unknown_has_owner(line.verdict.unknown))
			continue;
		describe_owner(&code, &line, text, OWNER_TEXT_SIZE);
		ret = memledger_names_add(owners, text, strlen(text), 0,
					  &line.usage, false);
		if (ret)
			break;
	}
	memledger_vma_cursor_close(cursor);
	if (!ret)
		memledger_names_sort(owners);
out_free:
	free_code(&code);
	kvfree(text);
	return ret;
}
