// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsers of /proc/TGID/smaps and of memledger's processes/TGID/vmas and
 * unknown. All are strict: what they do not understand is an error and never skipped, since a
 * row that is not compared is a test that cannot fail.
 */
#include <errno.h>
#include <stdlib.h>

#include "testlib.h"
#include "vmas.h"

const char *const field_labels[NR_FIELDS] = {
#define X(field, label, shift) label,
	MEMLEDGER_VMA_FIELDS(X)
#undef X
};

static struct vma *vma_add(struct vma_list *list)
{
	if (!(list->nr & (list->nr - 1))) {
		size_t room = list->nr ? 2 * list->nr : 1;

		list->vma = realloc(list->vma, room * sizeof(*list->vma));
		if (!list->vma)
			abort();
	}
	memset(&list->vma[list->nr], 0, sizeof(*list->vma));
	return &list->vma[list->nr++];
}

/* The part that a line of maps, smaps and vmas begins with. */
static char *parse_head(struct vma *vma, char *line)
{
	int len = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu%n", &vma->start,
		   &vma->end, vma->perms, &vma->offset, &vma->major,
		   &vma->minor, &vma->inode, &len) < 7)
		return NULL;
	return line + len;
}

static void skip_vsyscall(struct vma_list *list)
{
	if (list->nr && !strcmp(list->vma[list->nr - 1].name, "[vsyscall]"))
		list->nr--;
}

/**
 * vmas_read_smaps() - what the kernel says
 * @list: gets the mappings, but for [vsyscall], which is in no process's tree
 * @tgid: of the process
 * Return: 0, or a negative errno; EBADMSG for a line that makes no sense
 */
int vmas_read_smaps(struct vma_list *list, pid_t tgid)
{
	char path[64], *line, *rest, *save;
	struct vma *vma = NULL;

	memset(list, 0, sizeof(*list));
	snprintf(path, sizeof(path), "/proc/%d/smaps", tgid);
	list->text = file_slurp(path);
	if (!list->text)
		return -errno;

	for (line = strtok_r(list->text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		size_t label = strcspn(line, ": ");

		if (line[label] == ' ') {
			vma = vma_add(list);
			rest = parse_head(vma, line);
			if (!rest)
				goto bad;
			/* Names are padded to column 73; no name, no blank. */
			vma->name = rest + strspn(rest, " ");
			continue;
		}
		if (!vma)
			goto bad;
		if (!strncmp(line, "VmFlags:", 8)) {
			vma->flags = line + 8;
			continue;
		}
		for (int i = 0; i < NR_FIELDS; i++) {
			if (strlen(field_labels[i]) != label ||
			    strncmp(field_labels[i], line, label))
				continue;
			if (sscanf(line + label, ": %llu kB",
				   &vma->value[i]) != 1)
				goto bad;
			vma->have |= 1U << i;
		}
	}
	skip_vsyscall(list);
	return 0;
bad:
	printf("# smaps: cannot read \"%s\"\n", line);
	return -EBADMSG;
}

static char *next_word(char **rest)
{
	char *word = strsep(rest, " ");

	return word && *word ? word : NULL;
}

/**
 * vmas_read_node() - what memledger says
 * @list: gets the mappings
 * @tgid: of a tracked process
 * Return: 0, or a negative errno; EBADMSG for a text that is not as documented
 */
int vmas_read_node(struct vma_list *list, pid_t tgid)
{
	char path[128], *line, *next, *rest, *word;

	memset(list, 0, sizeof(*list));
	snprintf(path, sizeof(path), DETAILS "processes/%d/vmas", tgid);
	list->text = file_slurp(path);
	if (!list->text)
		return -errno;

	line = list->text;
	next = strchr(line, '\n');
	if (!next)
		goto bad;
	/* The headings, then a line a mapping, then the last line. */
	for (line = next + 1; (next = strchr(line, '\n')); line = next + 1) {
		struct vma *vma;

		*next = '\0';
		if (*line == '#')
			break;
		vma = vma_add(list);
		rest = parse_head(vma, line);
		if (!rest || *rest++ != ' ')
			goto bad;
		for (int i = 0; i < NR_FIELDS; i++) {
			char *end;

			word = next_word(&rest);
			if (!word)
				goto bad;
			if (!strcmp(word, "-"))
				continue;
			vma->value[i] = strtoull(word, &end, 10);
			if (*end)
				goto bad;
			vma->have |= 1U << i;
		}
		vma->category = next_word(&rest);
		vma->subcategory = next_word(&rest);
		vma->rule = next_word(&rest);
		word = next_word(&rest);
		if (!word)
			goto bad;
		vma->deleted = !strcmp(word, "deleted");
		if (!vma->deleted && strcmp(word, "-"))
			goto bad;
		vma->name = rest ? rest : "";
	}
	if (!next || next[1])
		goto bad;
	list->complete = !strcmp(line, "# complete");
	if (!list->complete && strcmp(line, "# incomplete"))
		goto bad;
	return 0;
bad:
	printf("# vmas: cannot read \"%s\"\n", line);
	return -EBADMSG;
}

static const char names_heading[] =
#define X(field) #field " "
	MEMLEDGER_USAGE_FIELDS(X)
#undef X
	"vmas class name";

static bool next_number(char **rest, u64 *number)
{
	char *word = next_word(rest);
	char *end;

	if (!word)
		return false;
	*number = strtoull(word, &end, 10);
	return !*end;
}

static bool parse_name_row(char *line, struct name_row *row)
{
	struct memledger_usage *usage = &row->usage;
	bool good = true;

	memset(row, 0, sizeof(*row));
#define X(field) good = good && next_number(&line, &usage->field);
	X(pss)
	X(swappable_pss)
	X(rss)
	X(private_dirty)
	X(shared_dirty)
	X(private_clean)
	X(shared_clean)
	X(swap)
#undef X
	if (!good)
		return false;
	if (line && !strncmp(line, "- ", 2))
		line += 2;
	else
		good = next_number(&line, &usage->swap_pss);
	good = good && next_number(&line, &usage->vmas);
	usage->pss <<= MEMLEDGER_PSS_SHIFT;
	usage->swap_pss <<= MEMLEDGER_PSS_SHIFT;
	row->class = good ? next_word(&line) : NULL;
	row->name = line;
	return row->class && row->name && *row->name;
}

/**
 * names_read_node() - what Unknown is made of, as memledger says
 * @list: gets the rows
 * @tgid: of a tracked process
 * Return: 0, or a negative errno; EBADMSG for a text that is not as documented
 */
int names_read_node(struct name_list *list, pid_t tgid)
{
	char path[128], *line, *next;
	size_t nr = 0;

	memset(list, 0, sizeof(*list));
	snprintf(path, sizeof(path), DETAILS "processes/%d/unknown", tgid);
	list->text = file_slurp(path);
	if (!list->text)
		return -errno;
	for (next = list->text; (next = strchr(next, '\n')); next++)
		nr++;
	list->row = calloc(nr + 1, sizeof(*list->row));
	if (!list->row)
		abort();

	next = list->text;
	for (size_t i = 0; i < nr; i++) {
		line = strsep(&next, "\n");
		if (i ? !parse_name_row(line, i > 1 ? &list->row[list->nr++] :
						      &list->total) :
		    strcmp(line, names_heading))
			goto bad;
	}
	line = next;
	if (*next || nr < 2 || strcmp(list->total.class, "-") ||
	    strcmp(list->total.name, "Total"))
		goto bad;
	return 0;
bad:
	printf("# unknown: cannot read \"%s\"\n", line);
	return -EBADMSG;
}

void names_free(struct name_list *list)
{
	free(list->row);
	free(list->text);
	memset(list, 0, sizeof(*list));
}

void vmas_free(struct vma_list *list)
{
	free(list->vma);
	free(list->text);
	memset(list, 0, sizeof(*list));
}

/* Whether nothing that is compared has changed from one reading to another. */
bool vmas_same(const struct vma_list *one, const struct vma_list *other)
{
	if (one->nr != other->nr)
		return false;
	for (size_t i = 0; i < one->nr; i++) {
		const struct vma *a = &one->vma[i], *b = &other->vma[i];

		if (a->start != b->start || a->end != b->end ||
		    strcmp(a->perms, b->perms) || strcmp(a->name, b->name) ||
		    memcmp(a->value, b->value, sizeof(a->value)))
			return false;
	}
	return true;
}

/* Sum of a field over the mappings that lie in [start, end). */
u64 vmas_sum(const struct vma_list *list, u64 start, u64 end, enum field field)
{
	u64 sum = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (list->vma[i].start >= start && list->vma[i].end <= end)
			sum += list->vma[i].value[field];
	return sum;
}

const struct vma *vmas_find(const struct vma_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->vma[i].name, name))
			return &list->vma[i];
	return NULL;
}
