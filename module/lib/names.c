// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings in, one row a name out. The only part of lib/ that allocates, which
 * it does through env.h, and therefore only where sleeping is allowed.
 */
#include <memledger/names.h>

static void insert_slot(struct memledger_names *names, u32 row)
{
	u32 i = names->rows[row].hash;

	while (names->slots[i & (names->nr_slots - 1)])
		i++;
	names->slots[i & (names->nr_slots - 1)] = row + 1;
}

/*
 * Doubles the room, so that at most half of the slots are taken. A process may
 * have 65,530 names, and more where it is allowed to: loops let others run.
 */
static int grow(struct memledger_names *names)
{
	u32 max = names->max ? 2 * names->max : 64;
	struct memledger_name *rows;
	u32 *slots;
	u32 i;

	rows = memledger_alloc(max * sizeof(*rows));
	slots = memledger_alloc(2 * max * sizeof(*slots));
	if (!rows || !slots) {
		memledger_free(rows);
		memledger_free(slots);
		return -ENOMEM;
	}
	if (names->nr)
		memcpy(rows, names->rows, names->nr * sizeof(*rows));
	memledger_free(names->rows);
	memledger_free(names->slots);
	names->rows = rows;
	names->max = max;
	names->slots = slots;
	names->nr_slots = 2 * max;
	for (i = 0; i < names->nr; i++) {
		insert_slot(names, i);
		memledger_rest();
	}
	return 0;
}

/* The index of a row plus 1, or 0 if there is none. */
static u32 find(const struct memledger_names *names, const char *text,
		size_t len, u32 class, u32 hash)
{
	u32 i, slot;

	for (i = hash; names->nr_slots; i++) {
		const struct memledger_name *row;

		slot = names->slots[i & (names->nr_slots - 1)];
		if (!slot)
			break;
		row = &names->rows[slot - 1];
		if (row->hash == hash && row->class == class &&
		    row->len == len && !memcmp(row->text, text, len))
			return slot;
	}
	return 0;
}

static int add_row(struct memledger_names *names, const char *text, size_t len,
		   u32 class, u32 hash)
{
	char *copy;

	if (names->nr == MEMLEDGER_MAX_NAMES ||
	    len > MEMLEDGER_MAX_NAMES_TEXT - names->text)
		return -EOVERFLOW;
	if (names->nr == names->max && grow(names))
		return -ENOMEM;
	copy = memledger_alloc(len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	names->text += len;
	names->rows[names->nr] = (struct memledger_name){
		.text = copy,
		.len = len,
		.hash = hash,
		.class = class,
	};
	insert_slot(names, names->nr++);
	return 0;
}

/**
 * memledger_names_intern - the row of a name
 * @names: the table, not sorted yet
 * @text: the name; not necessarily NUL-terminated
 * @len: of @text
 * @class: as in struct memledger_name; equal names of different classes are
 *	different rows
 * @index: gets which row it is, until the table is sorted; a new one has no
 *	mappings
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -EOVERFLOW where a table has had enough; it stays as
 * it was then.
 */
int memledger_names_intern(struct memledger_names *names, const char *text,
			   size_t len, u32 class, u32 *index)
{
	u32 hash, slot;

	if (!names->nr)
		memledger_hash_key_init(&names->key);
	/* Odd, so that it takes no two classes to the same slots. */
	hash = memledger_hash(&names->key, text, len) ^ class * 0x9e3779b9U;
	slot = find(names, text, len, class, hash);
	*index = slot ? slot - 1 : names->nr;
	return slot ? 0 : add_row(names, text, len, class, hash);
}

/**
 * memledger_names_add - add a mapping to the row of its name
 * @names: the table, not sorted yet
 * @text: as for memledger_names_intern()
 * @len: of @text
 * @class: as for memledger_names_intern()
 * @vma: the mapping's numbers
 * @swappable: as the rule says that placed it
 *
 * Context: may sleep.
 * Return: as for memledger_names_intern().
 */
int memledger_names_add(struct memledger_names *names, const char *text,
			size_t len, u32 class,
			const struct memledger_vma_usage *vma, bool swappable)
{
	u32 index;
	int ret = memledger_names_intern(names, text, len, class, &index);

	if (!ret)
		memledger_usage_add(&names->rows[index].usage, vma, swappable);
	return ret;
}

/* Largest PSS first, then largest RSS, then by name: the same every time. */
static int compare_rows(const void *a, const void *b)
{
	const struct memledger_name *x = a, *y = b;

	memledger_rest();
	if (x->usage.pss != y->usage.pss)
		return x->usage.pss < y->usage.pss ? 1 : -1;
	if (x->usage.rss != y->usage.rss)
		return x->usage.rss < y->usage.rss ? 1 : -1;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return strcmp(x->text, y->text);
}

/**
 * memledger_names_sort - put the largest first
 * @names: the table; nothing can be added afterwards
 */
void memledger_names_sort(struct memledger_names *names)
{
	memledger_sort(names->rows, names->nr, sizeof(*names->rows),
		       compare_rows);
}

/**
 * memledger_names_free - free what a table holds
 * @names: empty afterwards
 */
void memledger_names_free(struct memledger_names *names)
{
	u32 i;

	for (i = 0; i < names->nr; i++) {
		memledger_free(names->rows[i].text);
		memledger_rest();
	}
	memledger_free(names->rows);
	memledger_free(names->slots);
	*names = (struct memledger_names){};
}

static void print_usage(struct memledger_out *out,
			const struct memledger_usage *usage, bool swap_pss)
{
	const unsigned int shift = MEMLEDGER_PSS_SHIFT;

	memledger_print(out, "%llu %llu %llu %llu %llu %llu %llu %llu ",
			usage->pss >> shift, usage->swappable_pss, usage->rss,
			usage->private_dirty, usage->shared_dirty,
			usage->private_clean, usage->shared_clean,
			usage->swap);
	if (swap_pss)
		memledger_print(out, "%llu", usage->swap_pss >> shift);
	else
		memledger_print(out, "-");
	memledger_print(out, " %llu", usage->vmas);
}

/**
 * memledger_names_print - print a table, a row a line
 * @out: where to
 * @names: the table
 * @swap_pss: whether SwapPss means anything; "-" otherwise
 *
 * Bytes. The first row is the sum of all, and has no class; its fractions are
 * those of the process's row Unknown. The name comes last, since it may hold
 * any character but a newline; what has none is described without brackets,
 * which every name has.
 */
void memledger_names_print(struct memledger_out *out,
			   const struct memledger_names *names, bool swap_pss)
{
	struct memledger_usage total = {};
	u32 i;

#define X(field) memledger_print(out, #field " ");
	MEMLEDGER_USAGE_FIELDS(X)
#undef X
	memledger_print(out, "vmas class name\n");
	for (i = 0; i < names->nr; i++)
		memledger_usage_merge(&total, &names->rows[i].usage);
	print_usage(out, &total, swap_pss);
	memledger_print(out, " - Total\n");
	for (i = 0; i < names->nr; i++) {
		const struct memledger_name *row = &names->rows[i];

		print_usage(out, &row->usage, swap_pss);
		memledger_print(out, " %s %s\n",
				memledger_unknown_names[row->class],
				row->len ? row->text :
				memledger_unknown_texts[row->class]);
		memledger_rest();
	}
}
