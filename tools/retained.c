// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process had at a mark, and what it, or anybody, has now, in; what has
 * been retained, out. Objects are told by what is not used again: DMA-BUFs by
 * inode number, GPU memory by the driver's number with usage and size, mappings
 * by name and range.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "array.h"
#include "escape.h"
#include "holders.h"
#include "json.h"
#include "process.h"
#include "retained.h"
#include "sizes.h"

static const char *const kinds[NR_MEMLEDGER_RETAINED] = {
	[MEMLEDGER_RETAINED_DMABUF] = "dmabuf",
	[MEMLEDGER_RETAINED_GPU] = "gpu",
	[MEMLEDGER_RETAINED_VMA] = "vma",
};

static const char exited[] =
	"The process has exited, and its mappings and GPU memory have gone with it.\n";

static const char *const titles[NR_MEMLEDGER_RETAINED] = {
	[MEMLEDGER_RETAINED_DMABUF] = "DMA-BUFs",
	[MEMLEDGER_RETAINED_GPU] = "GPU memory",
	[MEMLEDGER_RETAINED_VMA] = "Mappings",
};

/* What is looked at while a list is made. */
struct search {
	const struct memledger_expected *expected;
	struct memledger_state *now;
	struct memledger_holders holders;
	u64 time_ns;
	struct memledger_retained_list *list;
};

/* @holders becomes the list's; NULL is no memory. */
static int add_item(struct search *search,
		    const struct memledger_state_object *object, u64 size,
		    char *holders)
{
	struct memledger_retained_list *list = search->list;
	const struct memledger_state *mark = search->expected->mark;
	struct memledger_retained *item =
		memledger_array_grow(list->item, list->nr, sizeof(*item));
	char *what = strdup(object->what);

	if (item)
		list->item = item;
	if (!item || !what || !holders) {
		free(what);
		free(holders);
		return -ENOMEM;
	}
	item[list->nr++] = (struct memledger_retained){
		.time_ns = search->time_ns,
		.age_ns = mark->time_ns && search->time_ns > mark->time_ns ?
			  search->time_ns - mark->time_ns : 0,
		.tgid = search->expected->place->pid,
		.kind = object->kind,
		.id = object->id,
		.size = size,
		.what = what,
		.holders = holders,
	};
	return 0;
}

static int look_for_dmabuf(struct search *search,
			   const struct memledger_state_object *object)
{
	char *holders;
	u64 size;

	if (memledger_holders_find(&search->holders, object->id, &size,
				   &holders))
		return add_item(search, object, size, holders);
	search->list->unsure[MEMLEDGER_RETAINED_DMABUF] += !search->holders.all;
	return 0;
}

/* Who has a mapping or GPU memory is the process itself. */
static char *process_text(const struct search *search, const char *what)
{
	const struct memledger_state *mark = search->expected->mark;
	char *comm = memledger_escape_text(mark->comm ? mark->comm : "", "");
	char *text = NULL;

	if (asprintf(&text, "%s[%d] %s\n", comm ? comm : "",
		     search->expected->place->pid, what) < 0)
		text = NULL;
	free(comm);
	return text;
}

static int look_for_gpu(struct search *search,
			const struct memledger_state_object *object)
{
	const struct memledger_state_object *now =
		memledger_state_find(search->now, object);

	/* What has exited has none any more. */
	if (!search->list->exited &&
	    !search->now->has_object[MEMLEDGER_RETAINED_GPU])
		search->list->unsure[MEMLEDGER_RETAINED_GPU]++;
	if (!now || now->size != object->size || strcmp(now->what, object->what))
		return 0;
	return add_item(search, object, now->size,
			process_text(search, "GPU memory"));
}

/* The bytes that are there now, under that name, in a mapping's place. */
static u64 vma_left(const struct memledger_state *state,
		    const struct memledger_state_object *object, bool *any)
{
	u64 bytes = 0;
	size_t i;

	for (i = 0; i < state->nr_objects; i++) {
		const struct memledger_state_object *now = &state->object[i];
		u64 start, end;

		if (now->kind != MEMLEDGER_RETAINED_VMA ||
		    now->end <= object->id)
			continue;
		if (now->id >= object->end)
			break;
		if (strcmp(now->what, object->what))
			continue;
		start = now->id > object->id ? now->id : object->id;
		end = now->end < object->end ? now->end : object->end;
		*any = true;
		/* Which of a mapping's pages it has is not known here. */
		bytes += now->size < end - start ? now->size : end - start;
	}
	return bytes;
}

static bool was_before(const struct memledger_state *before,
		       const struct memledger_state_object *object)
{
	const struct memledger_state_object *then;
	bool any = false;

	if (!before)
		return false;
	if (object->kind == MEMLEDGER_RETAINED_VMA) {
		vma_left(before, object, &any);
		return any;
	}
	then = memledger_state_find(before, object);
	return then && (object->kind == MEMLEDGER_RETAINED_DMABUF ||
			!strcmp(then->what, object->what));
}

/* All mappings of a name are one item. */
struct vma_item {
	struct memledger_state_object object;
	u64 nr;
};

static int compare_names(const void *a, const void *b)
{
	const struct vma_item *left = a, *right = b;
	int ret = strcmp(left->object.what, right->object.what);

	if (ret)
		return ret;
	return left->object.id < right->object.id ? -1 :
	       left->object.id > right->object.id;
}

static int add_vmas(struct search *search, struct vma_item *vmas, size_t nr)
{
	size_t i, j;
	int ret = 0;

	if (nr)
		qsort(vmas, nr, sizeof(*vmas), compare_names);
	for (i = 0; i < nr && !ret; i = j) {
		struct vma_item *item = &vmas[i];
		char text[64];

		for (j = i + 1; j < nr && !strcmp(vmas[j].object.what,
						  item->object.what); j++) {
			item->object.size += vmas[j].object.size;
			item->nr += vmas[j].nr;
		}
		snprintf(text, sizeof(text), "%llu mapping%s, first at %llx",
			 item->nr, item->nr == 1 ? "" : "s", item->object.id);
		ret = add_item(search, &item->object, item->object.size,
			       process_text(search, text));
	}
	return ret;
}

static int look_for_vmas(struct search *search)
{
	const struct memledger_state *mark = search->expected->mark;
	struct vma_item *vmas = NULL, *more;
	size_t i, nr = 0;
	int ret = 0;

	for (i = 0; i < mark->nr_objects && !ret; i++) {
		const struct memledger_state_object *object = &mark->object[i];
		bool any = false;
		u64 left;

		if (object->kind != MEMLEDGER_RETAINED_VMA ||
		    was_before(search->expected->before, object))
			continue;
		search->list->expected++;
		left = vma_left(search->now, object, &any);
		if (!any)
			continue;
		more = memledger_array_grow(vmas, nr, sizeof(*more));
		if (!more) {
			ret = -ENOMEM;
			break;
		}
		vmas = more;
		vmas[nr] = (struct vma_item){ .object = *object, .nr = 1 };
		vmas[nr++].object.size = left;
	}
	if (!ret)
		ret = add_vmas(search, vmas, nr);
	free(vmas);
	return ret;
}

static int compare_items(const void *a, const void *b)
{
	const struct memledger_retained *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

static int look_for_all(struct search *search)
{
	const struct memledger_state *mark = search->expected->mark;
	struct memledger_retained_list *list = search->list;
	size_t i;
	int ret = 0;

	for (i = 0; i < mark->nr_objects && !ret; i++) {
		const struct memledger_state_object *object = &mark->object[i];

		if (object->kind == MEMLEDGER_RETAINED_VMA ||
		    was_before(search->expected->before, object))
			continue;
		list->expected++;
		ret = object->kind == MEMLEDGER_RETAINED_DMABUF ?
		      look_for_dmabuf(search, object) :
		      look_for_gpu(search, object);
	}
	if (!ret)
		ret = look_for_vmas(search);
	if (list->nr)
		qsort(list->item, list->nr, sizeof(*list->item),
		      compare_items);
	return ret;
}

static bool has_exited(const struct memledger_expected *expected)
{
	return memledger_process_has_exited(expected->place->proc,
					    expected->place->pid,
					    expected->mark->start_ticks);
}

/* What the process has now, if it is the one that was marked. */
static int read_now(struct search *search, struct memledger_error *error)
{
	const struct memledger_expected *expected = search->expected;
	const struct memledger_mark_place *place = expected->place;
	char *text;
	size_t len;

	search->list->exited = has_exited(expected);
	if (search->list->exited)
		return 0;
	if (memledger_mark_take(place, &text, &len, error)) {
		/* Just now. */
		search->list->exited = has_exited(expected);
		return search->list->exited ? 0 : -1;
	}
	return memledger_state_parse(search->now, text, len, error);
}

/**
 * memledger_retained_find - find what has not been released
 * @list: what to fill; to be freed, also where this fails
 * @now: gets what the process has now, unless it has exited; to be freed, also
 *	where this fails
 * @expected: what should have been; the grace time is over
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_retained_find(struct memledger_retained_list *list,
			    struct memledger_state *now,
			    const struct memledger_expected *expected,
			    struct memledger_error *error)
{
	const struct memledger_mark_place *place = expected->place;
	struct search search = {
		.expected = expected,
		.now = now,
		.list = list,
	};
	struct timespec time;
	int ret;

	memset(list, 0, sizeof(*list));
	memset(now, 0, sizeof(*now));
	ret = read_now(&search, error);
	/* Where DMA-BUFs are not known the mark has none either. */
	if (!ret && expected->mark->has_object[MEMLEDGER_RETAINED_DMABUF])
		ret = memledger_holders_read(&search.holders, place->sysfs,
					     place->proc, error);
	clock_gettime(CLOCK_BOOTTIME, &time);
	search.time_ns = time.tv_sec * 1000000000ULL + time.tv_nsec;
	if (!ret && look_for_all(&search))
		ret = memledger_error_set(error, "no memory");
	memledger_holders_free(&search.holders);
	return ret;
}

/* What was not found may be there all the same. */
static void print_unsure(FILE *out, const size_t *unsure)
{
	if (unsure[MEMLEDGER_RETAINED_DMABUF])
		fprintf(out,
			"%zu DMA-BUFs are held by no process that was seen; whether they are in flight is not known.\n",
			unsure[MEMLEDGER_RETAINED_DMABUF]);
	if (unsure[MEMLEDGER_RETAINED_GPU])
		fprintf(out,
			"%zu GPU entries may be there: the GPU driver does not tell of any.\n",
			unsure[MEMLEDGER_RETAINED_GPU]);
}

static size_t nr_unsure(const struct memledger_retained_list *list)
{
	size_t nr = 0, i;

	for (i = 0; i < NR_MEMLEDGER_RETAINED; i++)
		nr += list->unsure[i];
	return nr;
}

static void print_item(FILE *out, const struct memledger_retained *item)
{
	char *what = memledger_escape_text(item->what, "");
	const char *line = item->holders;
	char size[MEMLEDGER_SIZE_TEXT_LEN];

	fprintf(out, "%14s %8llu.%llu s  %s", memledger_size_text(item->size,
								  size),
		item->age_ns / 1000000000, item->age_ns / 100000000 % 10,
		what ? what : "(out of memory)");
	if (item->kind != MEMLEDGER_RETAINED_VMA)
		fprintf(out, " %llu", item->id);
	putc('\n', out);
	while (*line) {
		size_t len = strcspn(line, "\n");

		fprintf(out, "%28s%.*s\n", "", (int)len, line);
		line += len + (line[len] == '\n');
	}
	free(what);
}

/**
 * memledger_retained_print - print what has not been released as text
 * @out: where to
 * @list: what has not been
 * @top: how many names of mappings, 0 for all
 */
void memledger_retained_print(FILE *out,
			      const struct memledger_retained_list *list,
			      u32 top)
{
	enum memledger_retained_kind kind = NR_MEMLEDGER_RETAINED;
	size_t i, nr = 0;

	if (list->exited)
		fputs(exited, out);
	if (!list->nr)
		fprintf(out, "Nothing is retained of %zu objects%s.\n",
			list->expected, nr_unsure(list) ?
			", as far as can be seen" : "");
	for (i = 0; i < list->nr; i++) {
		if (list->item[i].kind != kind) {
			kind = list->item[i].kind;
			fprintf(out, "Retained %s\n%14s %10s  %s\n",
				titles[kind], "Size", "At least",
				"What, and who holds it");
		}
		nr += kind == MEMLEDGER_RETAINED_VMA;
		if (!top || nr <= top)
			print_item(out, &list->item[i]);
	}
	if (top && nr > top)
		fprintf(out, "%28s(%zu more, smaller)\n", "", nr - top);
	print_unsure(out, list->unsure);
}

static void print_json_holders(FILE *out, const char *holders)
{
	char *text = strdup(holders), *rest = text, *line;
	const char *comma = "";

	putc('[', out);
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		fputs(comma, out);
		memledger_escape_json(out, line);
		comma = ",";
	}
	putc(']', out);
	free(text);
}

/**
 * memledger_retained_print_json - print what has not been released as members
 *	of an object
 * @out: where to
 * @first: as for memledger_json_key()
 * @list: what has not been
 */
void
memledger_retained_print_json(FILE *out, bool *first,
			      const struct memledger_retained_list *list)
{
	size_t i;

	memledger_json_bool(out, first, "exited", list->exited);
	memledger_json_number(out, first, "expected", list->expected, true);
	memledger_json_number(out, first, "unsure", nr_unsure(list), true);
	memledger_json_key(out, first, "retained");
	putc('[', out);
	for (i = 0; i < list->nr; i++) {
		const struct memledger_retained *item = &list->item[i];
		bool first_member = true;

		fputs(i ? ",{" : "{", out);
		memledger_json_string(out, &first_member, "kind",
				      kinds[item->kind]);
		memledger_json_number(out, &first_member, "id", item->id,
				      true);
		memledger_json_string(out, &first_member, "what", item->what);
		memledger_json_number(out, &first_member, "size", item->size,
				      true);
		memledger_json_number(out, &first_member, "age_ns",
				      item->age_ns, item->age_ns);
		memledger_json_key(out, &first_member, "holders");
		print_json_holders(out, item->holders);
		putc('}', out);
	}
	putc(']', out);
}

/**
 * memledger_retained_free - free what a list holds
 * @list: of no use afterwards
 */
void memledger_retained_free(struct memledger_retained_list *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		free(list->item[i].what);
		free(list->item[i].holders);
	}
	free(list->item);
}
