// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings in, whose names say who called mmap, or the module's owners file; a
 * row for each library, place in it and way of access out.
 */
#include <stdlib.h>

#include "build_id.h"
#include "json.h"
#include "listing.h"
#include "owners.h"
#include "words.h"

static const char heading[] =
	"pss rss private_dirty swap_pss regions perms source owner";

/* What the owner is known from. */
static const char *const sources[] = { "-", "name", "capture" };

enum source { SOURCE_NONE, SOURCE_NAME, SOURCE_CAPTURE };

/* Permissions and source are the class of a row. */
static u32 row_class(const char *perms, enum source source)
{
	return memledger_vma_perm_bits(perms) |
	       (u32)source << MEMLEDGER_VMA_PERM_BITS;
}

static enum source row_source(const struct memledger_name *row)
{
	return row->class >> MEMLEDGER_VMA_PERM_BITS;
}

/* What executes at @addr; it has a name, or nobody could be told it. */
static const struct memledger_vma *find_code(const struct memledger_vmas *vmas,
					     u64 addr)
{
	size_t low = 0, high = vmas->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct memledger_vma *vma = &vmas->vma[mid];

		if (addr < vma->start)
			high = mid;
		else if (addr >= vma->end)
			low = mid + 1;
		else
			return vma->perms[2] == 'x' && *vma->name ? vma : NULL;
	}
	return NULL;
}

/* Return: a text to be freed, NULL without memory. */
static char *owner_of(const struct memledger_vmas *vmas,
		      const struct memledger_vma *vma)
{
	const struct memledger_vma *code;
	const char *path, *dots;
	char *text;
	u64 addr;
	int len;

	if (vma->verdict.unknown != MEMLEDGER_UNKNOWN_MAPPING_OWNER)
		return strdup("unknown caller");
	if (!memledger_unknown_owner(vma->name, strlen(vma->name), &addr)) {
		len = asprintf(&text, "unresolved %s", vma->name);
		return len < 0 ? NULL : text;
	}
	code = find_code(vmas, addr);
	if (code) {
		path = memledger_owner_path(code->name, &dots);
		len = asprintf(&text, "%s%s+0x%llx", dots, path,
			       addr - code->start + code->offset);
	} else {
		len = asprintf(&text, "unresolved 0x%llx", addr);
	}
	return len < 0 ? NULL : text;
}

/**
 * memledger_owners_find - find the owners by the names of mappings
 * @owners: with its vmas; gets the rows, the largest first
 *
 * As the module does without a capture.
 *
 * Return: 0, or -1 if there is no memory.
 */
int memledger_owners_find(struct memledger_owners *owners)
{
	const struct memledger_vmas *vmas = owners->vmas;
	size_t i;

	for (i = 0; i < vmas->nr; i++) {
		const struct memledger_vma *vma = &vmas->vma[i];
		enum source source = SOURCE_NONE;
		char *text;
		int ret;

		if (!memledger_unknown_has_owner(vma->verdict.unknown))
			continue;
		if (vma->verdict.unknown == MEMLEDGER_UNKNOWN_MAPPING_OWNER)
			source = SOURCE_NAME;
		text = owner_of(vmas, vma);
		if (!text)
			return -1;
		ret = memledger_names_add(&owners->names, text, strlen(text),
					  row_class(vma->perms, source),
					  &vma->usage, false);
		free(text);
		if (ret)
			return -1;
	}
	memledger_names_sort(&owners->names);
	return 0;
}

static bool parse_perms(const char *perms)
{
	return perms && strlen(perms) == 4 && strchr("r-", perms[0]) &&
	       strchr("w-", perms[1]) && strchr("x-", perms[2]) &&
	       strchr("ps", perms[3]);
}

static bool parse_source(const char *word, enum source *source)
{
	unsigned int i;

	for (i = 0; word && i < ARRAY_SIZE(sources); i++) {
		if (!strcmp(word, sources[i])) {
			*source = i;
			return true;
		}
	}
	return false;
}

/* Return: 0, -EINVAL for no row of an owner, or -errno. */
static int parse_row(struct memledger_names *names, char *line)
{
	struct memledger_usage usage = {};
	enum source source;
	const char *perms;

	if (!memledger_words_number(&line, &usage.pss) ||
	    !memledger_words_number(&line, &usage.rss) ||
	    !memledger_words_number(&line, &usage.private_dirty) ||
	    !memledger_words_optional(&line, &usage.swap_pss) ||
	    !memledger_words_number(&line, &usage.vmas))
		return -EINVAL;
	usage.pss <<= MEMLEDGER_PSS_SHIFT;
	usage.swap_pss <<= MEMLEDGER_PSS_SHIFT;
	perms = memledger_words_next(&line);
	if (!parse_perms(perms) ||
	    !parse_source(memledger_words_next(&line), &source) ||
	    !line || !*line)
		return -EINVAL;
	return memledger_listing_add(names, line, row_class(perms, source),
				     &usage);
}

/**
 * memledger_owners_parse - read the module's owners file
 * @owners: gets the rows and the comments
 * @text: the file's, which is cut up, and has to stay
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_owners_parse(struct memledger_owners *owners, char *text,
			   struct memledger_error *error)
{
	bool in_rows = false;
	char *to = text;
	char *line;

	/* Comments are moved to the front of the text, one behind the other. */
	owners->comments = text;
	while ((line = memledger_words_line(&text))) {
		int ret = 0;

		if (*line == '#') {
			line += strspn(line, "# ");
			memmove(to, line, strlen(line));
			to += text - line - 1;
			*to++ = '\n';
		} else if (in_rows) {
			ret = parse_row(&owners->names, line);
		} else {
			ret = strcmp(line, heading) ? -EINVAL : 0;
			in_rows = true;
		}
		if (ret == -ENOMEM)
			return memledger_error_set(error, "no memory");
		if (ret)
			return memledger_error_set(error,
						   "the module's owners file is not as expected: use the tool that was built with the module");
	}
	if (!in_rows || *text)
		return memledger_error_set(error,
					   "the module's owners file is cut off: try again");
	*to = '\0';
	memledger_names_sort(&owners->names);
	return 0;
}

/*
 * "PATH+0x12": the path or the end of it, to be freed, and the number. Neither
 * "unknown caller" nor "unresolved ..." is one.
 */
static char *split_owner(const char *text, u64 *offset)
{
	const char *plus = strrchr(text, '+');
	char *end;

	if (!strchr("/[.", *text) || !plus || strncmp(plus, "+0x", 3))
		return NULL;
	*offset = strtoull(plus + 1, &end, 16);
	return *end ? NULL : strndup(text, plus - text);
}

/* Of a saved text the inode says whether it is the file on this machine. */
static char *build_id(const struct memledger_owners *owners,
		      const char *library)
{
	char *path, *id;
	size_t i;

	if (*library != '/')
		return NULL;
	if (owners->report->pid < 0) {
		for (i = 0; i < owners->vmas->nr; i++)
			if (!strcmp(owners->vmas->vma[i].name, library))
				break;
		if (i == owners->vmas->nr || !owners->vmas->vma[i].inode)
			return NULL;
		return memledger_build_id_read(library,
					       owners->vmas->vma[i].inode);
	}
	/* The process may have another root directory than we have. */
	if (asprintf(&path, "/proc/%d/root%s", owners->report->pid,
		     library) < 0)
		return NULL;
	id = memledger_build_id_read(path, 0);
	free(path);
	return id;
}

static void print_tail(FILE *out, const struct memledger_name *row,
		       void *data)
{
	u64 offset;
	char *library = split_owner(row->text, &offset);
	char *id = library ? build_id(data, library) : NULL;
	char perms[5];

	memledger_vma_perm_text(row->class, perms);
	fprintf(out, "%-5s %s", perms, sources[row_source(row)]);
	if (id)
		fprintf(out, "%*s %s",
			7 - (int)strlen(sources[row_source(row)]), "", id);
	free(library);
	free(id);
}

static void print_members(FILE *out, bool *first,
			  const struct memledger_name *row, void *data)
{
	enum source source = row_source(row);
	u64 offset = 0;
	char *library = split_owner(row->text, &offset);
	char *id = library ? build_id(data, library) : NULL;
	char perms[5];

	memledger_vma_perm_text(row->class, perms);
	memledger_json_string(out, first, "perms", perms);
	memledger_json_string(out, first, "owner_source",
			      source == SOURCE_NONE ? NULL : sources[source]);
	memledger_json_string(out, first, "library", library);
	memledger_json_number(out, first, "offset", offset, library);
	memledger_json_string(out, first, "build_id", id);
	free(library);
	free(id);
}

static struct memledger_listing owners_listing(struct memledger_owners *owners,
					       u32 top)
{
	u32 unavailable = owners->report->unavailable;

	return (struct memledger_listing){
		.names = &owners->names,
		.top = top,
		.brief = true,
		.swap_pss = !(unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS),
		.key = "owner",
		.count = "regions",
		.heading = "Perms Source  Build-id",
		.tail = print_tail,
		.members = print_members,
		.data = owners,
	};
}

/**
 * memledger_owners_print - print owners as a table
 * @out: where to
 * @owners: the owners
 * @top: how many, 0 for all
 */
void memledger_owners_print(FILE *out, struct memledger_owners *owners,
			    u32 top)
{
	struct memledger_listing listing = owners_listing(owners, top);

	memledger_listing_print(out, &listing);
	if (owners->comments && *owners->comments)
		fprintf(out, "\n%s", owners->comments);
}

/**
 * memledger_owners_print_json - print owners as members of a JSON object
 * @out: where to
 * @first: as for memledger_json_key()
 * @owners: the owners
 * @top: how many, 0 for all
 */
void memledger_owners_print_json(FILE *out, bool *first,
				 struct memledger_owners *owners, u32 top)
{
	struct memledger_listing listing = owners_listing(owners, top);

	memledger_listing_print_json(out, first, &listing);
	memledger_json_string(out, first, "comments", owners->comments);
}
