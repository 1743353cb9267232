// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON of a mark, or of what another command has printed, in; rows and objects
 * that can be compared out.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "escape.h"
#include "state.h"

/* Parts of the kind under one name are one row; see merge_rows(). */
static int add_row(struct memledger_state *state, enum memledger_part_kind kind,
		   const char *name, bool known, u64 bytes, u64 count)
{
	struct memledger_state_row *row =
		memledger_array_grow(state->row, state->nr_rows, sizeof(*row));

	if (!row)
		return -ENOMEM;
	state->row = row;
	row[state->nr_rows] = (struct memledger_state_row){
		.kind = kind,
		.order = state->nr_rows,
		.name = name,
		.known = known,
		.bytes = known ? bytes : 0,
		.count = known ? count : 0,
	};
	state->nr_rows++;
	return 0;
}

static int add_object(struct memledger_state *state,
		      const struct memledger_state_object *object)
{
	struct memledger_state_object *objects =
		memledger_array_grow(state->object, state->nr_objects,
				     sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	state->object = objects;
	objects[state->nr_objects++] = *object;
	return 0;
}

/* Return: whether Pss is there; what is in swap may be unknown. */
static bool held_bytes(struct memledger_state *state,
		       const struct memledger_json_value *row, u64 *bytes)
{
	u64 pss, swap;

	if (!memledger_json_u64(row, "pss", &pss))
		return false;
	if (!memledger_json_u64(row, "swap_pss", &swap)) {
		state->swap_pss = false;
		memledger_json_u64(row, "swap", &swap);
	}
	*bytes = pss + swap;
	return true;
}

static int add_usage(struct memledger_state *state,
		     enum memledger_part_kind kind, const char *name,
		     const struct memledger_json_value *usage)
{
	u64 bytes = 0, count;
	bool known = held_bytes(state, usage, &bytes);

	memledger_json_u64(usage, "vmas", &count);
	return add_row(state, kind, name, known, bytes, count);
}

/* Members of an object, each a row by its key. */
static int add_members(struct memledger_state *state,
		       enum memledger_part_kind kind,
		       const struct memledger_json_value *rows)
{
	const struct memledger_json_value *row;
	int ret = 0;

	if (!rows || rows->kind != MEMLEDGER_JSON_OBJECT)
		return 0;
	state->has[kind] = true;
	for (row = rows->child; row && !ret; row = row->next)
		ret = add_usage(state, kind, row->key, row);
	return ret;
}

static int read_meminfo(struct memledger_state *state,
			const struct memledger_json_value *meminfo)
{
	const struct memledger_json_value *total =
		memledger_json_member(meminfo, "total");
	int ret = 0;

	if (!memledger_json_member(meminfo, "category"))
		return 0;
	if (total) {
		state->has[MEMLEDGER_PART_TOTAL] = true;
		ret = add_usage(state, MEMLEDGER_PART_TOTAL, "total", total);
	}
	if (!ret)
		ret = add_members(state, MEMLEDGER_PART_CATEGORY,
				  memledger_json_member(meminfo, "category"));
	if (!ret)
		ret = add_members(state, MEMLEDGER_PART_UNKNOWN,
				  memledger_json_member(meminfo, "unknown"));
	return ret;
}

/* A mapping without a name goes by its class, or by its category. */
static const char *name_of(const struct memledger_json_value *row)
{
	const char *name = memledger_json_text(row, "name");
	const char *class = memledger_json_text(row, "class");
	const char *category = memledger_json_text(row, "category");
	unsigned int i;

	if (name)
		return name;
	for (i = 0; class && i < NR_MEMLEDGER_UNKNOWN_CLASSES; i++)
		if (!strcmp(class, memledger_unknown_names[i]))
			return memledger_unknown_texts[i];
	return category ? category : "no name";
}

/* @one: each is a mapping, not the sum of several. */
static int add_names(struct memledger_state *state,
		     const struct memledger_json_value *rows, bool one)
{
	const struct memledger_json_value *row;
	u64 bytes, count = 1;
	int ret = 0;

	if (!rows || rows->kind != MEMLEDGER_JSON_ARRAY)
		return 0;
	state->has[MEMLEDGER_PART_NAME] = true;
	state->has_object[MEMLEDGER_RETAINED_VMA] = one;
	state->only_unknown = !one;
	for (row = rows->child; row && !ret; row = row->next) {
		struct memledger_state_object object = {
			.kind = MEMLEDGER_RETAINED_VMA,
			.what = name_of(row),
		};

		if (!held_bytes(state, row, &bytes))
			return -EINVAL;
		if (!one)
			memledger_json_u64(row, "vmas", &count);
		ret = add_row(state, MEMLEDGER_PART_NAME, object.what, true,
			      bytes, count);
		if (!ret)
			state->row[state->nr_rows - 1].unknown =
				memledger_json_text(row, "class");
		if (ret || !one)
			continue;
		object.size = bytes;
		if (!memledger_json_u64(row, "start", &object.id) ||
		    !memledger_json_u64(row, "end", &object.end))
			return -EINVAL;
		ret = add_object(state, &object);
	}
	return ret;
}

/* One object for each, and one row for all of the same exporter or usage. */
static int add_objects(struct memledger_state *state,
		       const struct memledger_json_value *list,
		       enum memledger_retained_kind kind,
		       enum memledger_part_kind part, const char *id,
		       const char *what)
{
	const struct memledger_json_value *element;
	int ret = 0;

	if (!list || list->kind != MEMLEDGER_JSON_ARRAY)
		return 0;
	state->has[part] = true;
	state->has_object[kind] = true;
	for (element = list->child; element && !ret; element = element->next) {
		struct memledger_state_object object = { .kind = kind };

		if (!memledger_json_u64(element, id, &object.id) ||
		    !memledger_json_u64(element, "size", &object.size))
			return -EINVAL;
		object.what = memledger_json_text(element, what);
		if (!object.what)
			object.what = "unknown";
		ret = add_object(state, &object);
		if (!ret)
			ret = add_row(state, part, object.what, true,
				      object.size, 1);
	}
	return ret;
}

static int read_buffers(struct memledger_state *state,
			const struct memledger_json_value *dmabuf)
{
	u64 count, size;
	int ret;

	if (!memledger_json_member(dmabuf, "buffers"))
		return 0;
	if (memledger_json_u64(dmabuf, "count", &count) &&
	    memledger_json_u64(dmabuf, "size", &size)) {
		state->has[MEMLEDGER_PART_DMABUF] = true;
		ret = add_row(state, MEMLEDGER_PART_DMABUF, "dmabuf", true,
			      size, count);
		if (ret)
			return ret;
	}
	return add_objects(state, memledger_json_member(dmabuf, "buffers"),
			   MEMLEDGER_RETAINED_DMABUF, MEMLEDGER_PART_EXPORTER,
			   "inode", "exporter");
}

static bool is_complete(const struct memledger_json_value *object)
{
	const struct memledger_json_value *complete =
		memledger_json_member(object, "complete");

	return !complete || complete->kind == MEMLEDGER_JSON_NULL ||
	       complete->number;
}

/* What one command prints, by which members it has. */
static int read_output(struct memledger_state *state,
		       const struct memledger_json_value *object)
{
	int ret = read_meminfo(state, object);

	if (!ret)
		ret = read_buffers(state, object);
	if (!ret && memledger_json_member(object, "by"))
		ret = add_names(state, memledger_json_member(object, "rows"),
				false);
	if (!ret)
		ret = add_objects(state,
				  memledger_json_member(object, "gpu_entries"),
				  MEMLEDGER_RETAINED_GPU, MEMLEDGER_PART_GPU,
				  "id", "usage");
	state->complete &= is_complete(object);
	return ret;
}

/* Of unknown, only --by name has names; classes are in meminfo as well. */
static bool is_output(const struct memledger_json_value *object)
{
	const char *by = memledger_json_text(object, "by");

	return memledger_json_member(object, "category") ||
	       memledger_json_member(object, "buffers") ||
	       memledger_json_member(object, "gpu_entries") ||
	       (by && !strcmp(by, "name"));
}

static void read_head(struct memledger_state *state,
		      const struct memledger_json_value *object)
{
	state->comm = memledger_json_text(object, "comm");
	state->kernel = memledger_json_text(object, "kernel");
	memledger_json_u64(object, "pid", &state->pid);
	memledger_json_u64(object, "start_ticks", &state->start_ticks);
	memledger_json_u64(object, "timestamp_ns", &state->time_ns);
}

/* Return: 0, -ENOMEM, or -EINVAL for what is neither. */
static int read_tree(struct memledger_state *state)
{
	static const char *const outputs[] = { "meminfo", "dmabuf", "gpu" };
	const struct memledger_json_value *root = state->json;
	unsigned int i;
	u64 version;
	int ret = 0;

	state->complete = true;
	state->swap_pss = true;
	read_head(state, root);
	if (!memledger_json_u64(root, "mark", &version))
		return is_output(root) ? read_output(state, root) : -EINVAL;
	if (version != MEMLEDGER_MARK_VERSION)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(outputs) && !ret; i++)
		ret = read_output(state,
				  memledger_json_member(root, outputs[i]));
	return ret ? ret : add_names(state, memledger_json_member(root, "vmas"),
				     true);
}

static int compare_rows(const void *a, const void *b)
{
	const struct memledger_state_row *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	/* Of one name, what is in Unknown and what is not are two rows. */
	if (left->unknown != right->unknown)
		return right->unknown ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int compare_objects(const void *a, const void *b)
{
	const struct memledger_state_object *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

/* Sorts, and leaves one row of each name. */
static void merge_rows(struct memledger_state *state)
{
	struct memledger_state_row *row = state->row;
	size_t i, nr = 0;

	if (state->nr_rows)
		qsort(row, state->nr_rows, sizeof(*row), compare_rows);
	for (i = 0; i < state->nr_rows; i++) {
		if (!nr || compare_rows(&row[nr - 1], &row[i])) {
			row[nr++] = row[i];
			continue;
		}
		row[nr - 1].bytes += row[i].bytes;
		row[nr - 1].count += row[i].count;
		row[nr - 1].known &= row[i].known;
	}
	state->nr_rows = nr;
	if (state->nr_objects)
		qsort(state->object, state->nr_objects, sizeof(*state->object),
		      compare_objects);
}

/**
 * memledger_state_parse - read a mark, or JSON that a command has printed
 * @state: what to fill; to be freed, also where this fails
 * @text: the JSON, which is the state's from now on
 * @len: its length, bytes
 * @error: what is wrong with it
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_state_parse(struct memledger_state *state, char *text,
			  size_t len, struct memledger_error *error)
{
	int ret;

	memset(state, 0, sizeof(*state));
	state->text = text;
	state->json = memledger_json_parse(text, len, error);
	if (!state->json)
		return -1;
	ret = read_tree(state);
	if (ret == -ENOMEM)
		return memledger_error_set(error, "no memory");
	if (ret)
		return memledger_error_set(error,
					   "neither a mark nor what --json of meminfo, unknown --by name, dmabuf or gpu prints");
	merge_rows(state);
	return 0;
}

/* Return: 0 or -errno. */
static int slurp(const char *path, char **text, size_t *len)
{
	FILE *file = fopen(path, "re");
	char part[1 << 16];
	FILE *out;
	size_t nr;
	int ret;

	if (!file)
		return -errno;
	out = open_memstream(text, len);
	while (out && (nr = fread(part, 1, sizeof(part), file)))
		fwrite(part, 1, nr, out);
	ret = ferror(file) ? -errno : 0;
	fclose(file);
	if (!out)
		return -ENOMEM;
	if (fclose(out))
		ret = -ENOMEM;
	if (ret)
		free(*text);
	return ret;
}

/**
 * memledger_state_read - read a file of that kind
 * @state: what to fill; to be freed, also where this fails
 * @path: the file, which is the state's source
 * @error: what went wrong
 *
 * Return: 0; -ENOENT with @error set if there is no such file; -1 with @error
 * set.
 */
int memledger_state_read(struct memledger_state *state, const char *path,
			 struct memledger_error *error)
{
	struct memledger_error why;
	char *shown, *text;
	size_t len;
	int ret;

	memset(state, 0, sizeof(*state));
	shown = memledger_escape_text(path, "");
	ret = slurp(path, &text, &len);
	if (ret) {
		memledger_error_set(error, "%s: %s", shown ? shown : "",
				    strerror(-ret));
	} else if (memledger_state_parse(state, text, len, &why)) {
		ret = memledger_error_set(error, "%s: %s", shown ? shown : "",
					  why.text);
	}
	state->source = path;
	free(shown);
	return !ret || ret == -ENOENT ? ret : -1;
}

/**
 * memledger_state_find - look an object up by kind and number
 * @state: where to look
 * @object: an object of the same or of another state
 *
 * Return: the object of @state, or NULL.
 */
const struct memledger_state_object *
memledger_state_find(const struct memledger_state *state,
		     const struct memledger_state_object *object)
{
	if (!state->nr_objects)
		return NULL;
	return bsearch(object, state->object, state->nr_objects,
		       sizeof(*state->object), compare_objects);
}

/**
 * memledger_state_free - free what a state holds
 * @state: empty afterwards
 */
void memledger_state_free(struct memledger_state *state)
{
	memledger_json_free(state->json);
	free(state->text);
	free(state->row);
	free(state->object);
	memset(state, 0, sizeof(*state));
}
