// SPDX-License-Identifier: GPL-2.0-only
/*
 * References to DMA-BUFs in, in any order and with duplicates; buffers,
 * holders and shares out, each table sorted for binary search.
 *
 * Processes are looked at one after the other, so a buffer's latest holder is
 * the one that a reference of the same process belongs to: duplicates are
 * merged as they come, and 100,000 descriptors of one buffer take no room.
 *
 * A full table takes seconds to finish: loops that move or sort it let others run.
 */
#include <memledger/dmabuf.h>

/* These return whether the sum is too large, and has stopped at the largest. */
static bool sat_add(u64 *sum, u64 value)
{
	bool stopped = *sum + value < value;

	*sum = stopped ? U64_MAX : *sum + value;
	return stopped;
}

static bool sat_count(u32 *count, u32 nr)
{
	bool stopped = *count + nr < nr;

	*count = stopped ? ~0U : *count + nr;
	return stopped;
}

/* @size: of an element. Returns NULL and leaves all as it was without memory. */
static void *grown(const void *old, u32 nr, u32 max, size_t size)
{
	void *grown = memledger_alloc(max * size);

	if (grown && nr)
		memcpy(grown, old, nr * size);
	return grown;
}

static u32 doubled(u32 max)
{
	return max ? 2 * max : 64;
}

static u32 slot_of(const struct memledger_dmabuf_table *table, u64 ino)
{
	return memledger_hash(&table->key, &ino, sizeof(ino)) &
	       (2 * table->max_buffers - 1);
}

static u32 next_slot(const struct memledger_dmabuf_table *table, u32 slot)
{
	return (slot + 1) & (2 * table->max_buffers - 1);
}

static struct memledger_dmabuf_buffer *
find_slot(const struct memledger_dmabuf_table *table, u64 ino)
{
	u32 slot;

	if (!table->slots)
		return NULL;
	for (slot = slot_of(table, ino); table->slots[slot];
	     slot = next_slot(table, slot)) {
		struct memledger_dmabuf_buffer *buffer =
			&table->buffers[table->slots[slot] - 1];

		if (buffer->ino == ino)
			return buffer;
	}
	return NULL;
}

static void fill_slot(struct memledger_dmabuf_table *table, u32 index)
{
	u32 slot = slot_of(table, table->buffers[index].ino);

	while (table->slots[slot])
		slot = next_slot(table, slot);
	table->slots[slot] = index + 1;
}

/* At most half of the slots are ever taken. */
static int grow_buffers(struct memledger_dmabuf_table *table)
{
	u32 max = doubled(table->max_buffers);
	struct memledger_dmabuf_buffer *buffers;
	u32 *slots;
	u32 i;

	if (max > MEMLEDGER_DMABUF_MAX)
		return -ENOMEM;
	buffers = grown(table->buffers, table->nr_buffers, max,
			sizeof(*buffers));
	slots = memledger_alloc(2 * (size_t)max * sizeof(*slots));
	if (!buffers || !slots) {
		memledger_free(buffers);
		memledger_free(slots);
		return -ENOMEM;
	}
	if (!table->nr_buffers)
		memledger_hash_key_init(&table->key);
	memledger_free(table->buffers);
	memledger_free(table->slots);
	table->buffers = buffers;
	table->slots = slots;
	table->max_buffers = max;
	for (i = 0; i < table->nr_buffers; i++) {
		fill_slot(table, i);
		memledger_rest();
	}
	return 0;
}

static int grow_holders(struct memledger_dmabuf_table *table)
{
	u32 max = doubled(table->max_holders);
	struct memledger_dmabuf_holder *holders;
	u32 *by_process;

	if (max > MEMLEDGER_DMABUF_MAX)
		return -ENOMEM;
	holders = grown(table->holders, table->nr_holders, max,
			sizeof(*holders));
	by_process = memledger_alloc(max * sizeof(*by_process));
	if (!holders || !by_process) {
		memledger_free(holders);
		memledger_free(by_process);
		return -ENOMEM;
	}
	memledger_free(table->holders);
	memledger_free(table->by_process);
	table->holders = holders;
	table->by_process = by_process;
	table->max_holders = max;
	return 0;
}

static int grow_processes(struct memledger_dmabuf_table *table)
{
	u32 max = doubled(table->max_processes);
	struct memledger_dmabuf_process *processes;

	processes = grown(table->processes, table->nr_processes, max,
			  sizeof(*processes));
	if (!processes)
		return -ENOMEM;
	memledger_free(table->processes);
	table->processes = processes;
	table->max_processes = max;
	return 0;
}

static int grow_exporters(struct memledger_dmabuf_table *table)
{
	u32 max = doubled(table->max_exporters);
	struct memledger_dmabuf_exporter *exporters;

	exporters = grown(table->exporters, table->nr_exporters, max,
			  sizeof(*exporters));
	if (!exporters)
		return -ENOMEM;
	memledger_free(table->exporters);
	table->exporters = exporters;
	table->max_exporters = max;
	return 0;
}

/* A kernel has few of them. */
static struct memledger_dmabuf_exporter *
find_exporter(const struct memledger_dmabuf_table *table, const char *name)
{
	u32 i;

	for (i = 0; i < table->nr_exporters; i++) {
		const char *other = table->exporters[i].name;

		if (name && other ? !strcmp(name, other) : name == other)
			return &table->exporters[i];
	}
	return NULL;
}

/* Our copy of the name, which lives as long as the table. */
static int intern_exporter(struct memledger_dmabuf_table *table,
			   const char *name, const char **copy)
{
	struct memledger_dmabuf_exporter *exporter;
	char *text = NULL;

	exporter = find_exporter(table, name);
	if (!exporter) {
		if (table->nr_exporters == table->max_exporters &&
		    grow_exporters(table))
			return -ENOMEM;
		if (name) {
			text = memledger_alloc(strlen(name) + 1);
			if (!text)
				return -ENOMEM;
			memcpy(text, name, strlen(name));
		}
		exporter = &table->exporters[table->nr_exporters++];
		exporter->name = text;
	}
	*copy = exporter->name;
	return 0;
}

static int insert_buffer(struct memledger_dmabuf_table *table,
			 const struct memledger_dmabuf_desc *desc)
{
	struct memledger_dmabuf_buffer *buffer;
	const char *exporter;

	/* The exporter first, as one without a buffer does no harm. */
	if (intern_exporter(table, desc->exporter, &exporter))
		return -ENOMEM;
	buffer = find_slot(table, desc->ino);
	if (!buffer) {
		if (table->nr_buffers == table->max_buffers &&
		    grow_buffers(table))
			return -ENOMEM;
		buffer = &table->buffers[table->nr_buffers];
		buffer->ino = desc->ino;
		fill_slot(table, table->nr_buffers++);
	}
	buffer->size = desc->size;
	buffer->exporter = exporter;
	if (desc->name)
		memcpy(buffer->name, desc->name,
		       strnlen(desc->name, sizeof(buffer->name) - 1));
	buffer->listed |= desc->listed;
	return 0;
}

/**
 * memledger_dmabuf_is_described - whether a buffer has said what it is
 * @table: being filled
 * @ino: the buffer
 *
 * Return: false if the table does not have it, or only from an importer.
 */
bool memledger_dmabuf_is_described(const struct memledger_dmabuf_table *table,
				   u64 ino)
{
	const struct memledger_dmabuf_buffer *buffer = find_slot(table, ino);

	return buffer && buffer->exporter;
}

/**
 * memledger_dmabuf_add_buffer - what a buffer is
 * @table: being filled
 * @desc: the buffer; may be there already: what was said first counts, but
 *	what the buffer says counts more than what an importer says
 *
 * Context: process context; may sleep.
 * Return: 0, or -ENOMEM and the table is marked incomplete, and otherwise as it
 * was.
 */
int memledger_dmabuf_add_buffer(struct memledger_dmabuf_table *table,
				const struct memledger_dmabuf_desc *desc)
{
	struct memledger_dmabuf_buffer *buffer = find_slot(table, desc->ino);

	if (buffer && (buffer->exporter || !desc->exporter)) {
		buffer->listed |= desc->listed;
		return 0;
	}
	if (!insert_buffer(table, desc))
		return 0;
	table->incomplete = true;
	return -ENOMEM;
}

static void merge_holder(struct memledger_dmabuf_table *table,
			 struct memledger_dmabuf_holder *holder,
			 const struct memledger_dmabuf_holder *more)
{
	bool stopped = false;

	stopped |= sat_add(&holder->mapped, more->mapped);
	stopped |= sat_add(&holder->smaps_rss, more->smaps_rss);
	stopped |= sat_add(&holder->smaps_pss, more->smaps_pss);
	stopped |= sat_count(&holder->fds, more->fds);
	stopped |= sat_count(&holder->maps, more->maps);
	stopped |= sat_count(&holder->imports, more->imports);
	table->incomplete |= stopped;
}

static int note_process(struct memledger_dmabuf_table *table,
			const struct memledger_dmabuf_ref *ref)
{
	struct memledger_dmabuf_process *process;

	if (table->nr_processes &&
	    table->processes[table->nr_processes - 1].tgid == ref->tgid)
		return 0;
	if (table->nr_processes == table->max_processes &&
	    grow_processes(table))
		return -ENOMEM;
	process = &table->processes[table->nr_processes++];
	process->tgid = ref->tgid;
	memcpy(process->comm, ref->comm,
	       strnlen(ref->comm, sizeof(process->comm) - 1));
	return 0;
}

static int insert_ref(struct memledger_dmabuf_table *table,
		      const struct memledger_dmabuf_ref *ref)
{
	const struct memledger_dmabuf_desc unknown = { .ino = ref->ino };
	const struct memledger_dmabuf_holder holder = {
		.ino = ref->ino,
		.mapped = ref->mapped,
		.smaps_rss = ref->smaps_rss,
		.smaps_pss = ref->smaps_pss,
		.tgid = ref->tgid,
		.fds = ref->kind == MEMLEDGER_DMABUF_FD,
		.maps = ref->kind == MEMLEDGER_DMABUF_MAP,
		.imports = ref->kind == MEMLEDGER_DMABUF_IMPORT,
	};
	struct memledger_dmabuf_buffer *buffer;

	buffer = find_slot(table, ref->ino);
	if (!buffer) {
		if (insert_buffer(table, &unknown))
			return -ENOMEM;
		buffer = find_slot(table, ref->ino);
	}
	if (buffer->last && table->holders[buffer->last - 1].tgid == ref->tgid) {
		merge_holder(table, &table->holders[buffer->last - 1],
			     &holder);
		return 0;
	}
	if (table->nr_holders == table->max_holders && grow_holders(table))
		return -ENOMEM;
	if (note_process(table, ref))
		return -ENOMEM;
	table->holders[table->nr_holders++] = holder;
	buffer->last = table->nr_holders;
	return 0;
}

/**
 * memledger_dmabuf_add_ref - a process holds a buffer
 * @table: being filled
 * @ref: by what; quickest where those of a process follow each other
 *
 * Context: process context; may sleep.
 * Return: 0, or -ENOMEM and the table is marked incomplete and lacks that
 * reference. It is marked, too, if a sum is too large, which is no error.
 */
int memledger_dmabuf_add_ref(struct memledger_dmabuf_table *table,
			     const struct memledger_dmabuf_ref *ref)
{
	if (!insert_ref(table, ref))
		return 0;
	table->incomplete = true;
	return -ENOMEM;
}

#define COMPARE(a, b)	(((a) > (b)) - ((a) < (b)))

static int compare_buffers(const void *a, const void *b)
{
	const struct memledger_dmabuf_buffer *x = a, *y = b;

	return COMPARE(x->ino, y->ino);
}

static int compare_holders(const void *a, const void *b)
{
	const struct memledger_dmabuf_holder *x = a, *y = b;

	memledger_rest();
	return COMPARE(x->tgid, y->tgid);
}

static int compare_processes(const void *a, const void *b)
{
	const struct memledger_dmabuf_process *x = a, *y = b;

	memledger_rest();
	return COMPARE(x->tgid, y->tgid);
}

static int compare_exporters(const void *a, const void *b)
{
	const struct memledger_dmabuf_exporter *x = a, *y = b;

	if (x->size != y->size)
		return -COMPARE(x->size, y->size);
	if (x->name && y->name)
		return strcmp(x->name, y->name);
	return COMPARE(!x->name, !y->name);
}

static struct memledger_dmabuf_buffer *
search_buffer(const struct memledger_dmabuf_table *table, u64 ino)
{
	u32 low = 0, high = table->nr_buffers;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		u64 there = table->buffers[middle].ino;

		if (there == ino)
			return &table->buffers[middle];
		if (there < ino)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static struct memledger_dmabuf_process *
search_process(const struct memledger_dmabuf_table *table, s32 tgid)
{
	u32 low = 0, high = table->nr_processes;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		s32 there = table->processes[middle].tgid;

		if (there == tgid)
			return &table->processes[middle];
		if (there < tgid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/**
 * memledger_dmabuf_find_buffer - the buffer of an inode number
 * @table: finished
 * @ino: the number
 *
 * Return: the buffer, or NULL.
 */
const struct memledger_dmabuf_buffer *
memledger_dmabuf_find_buffer(const struct memledger_dmabuf_table *table,
			     u64 ino)
{
	return search_buffer(table, ino);
}

/**
 * memledger_dmabuf_find_process - the process of a number
 * @table: finished
 * @tgid: the number
 *
 * Return: the process, or NULL if it holds no buffer.
 */
const struct memledger_dmabuf_process *
memledger_dmabuf_find_process(const struct memledger_dmabuf_table *table,
			      s32 tgid)
{
	return search_process(table, tgid);
}

/* Those whose number lacks @bit to the front. Returns how many. */
static u32 split_buffers(struct memledger_dmabuf_buffer *buffers, u32 nr,
			 u64 bit)
{
	u32 low = 0, high = nr;

	while (low < high) {
		struct memledger_dmabuf_buffer moved = buffers[low];

		memledger_rest();
		if (!(moved.ino & bit)) {
			low++;
			continue;
		}
		buffers[low] = buffers[--high];
		buffers[high] = moved;
	}
	return low;
}

/* How many buffers are sorted in one go: a millisecond or so. */
#define SORT_RUN	4096

/*
 * A million in one go would take a second or more, and nobody can run in the
 * middle of that: they are split by one bit of their numbers after the other,
 * those below @bit and itself being still to come, until there are few. The
 * smaller part is done by calling ourselves, and so never deeper than 9 times.
 */
static void sort_buffers(struct memledger_dmabuf_buffer *buffers, u32 nr,
			 u64 bit)
{
	while (nr > SORT_RUN && bit) {
		u32 low = split_buffers(buffers, nr, bit);

		bit >>= 1;
		if (low < nr - low) {
			sort_buffers(buffers, low, bit);
			buffers += low;
			nr -= low;
		} else {
			sort_buffers(buffers + low, nr - low, bit);
			nr = low;
		}
	}
	memledger_sort(buffers, nr, sizeof(*buffers), compare_buffers);
	memledger_rest();
}

/*
 * Buffers that only a list has: in one list but not in the other they came or
 * went meanwhile, and may have had a holder that was looked at before or after.
 * And buffers whose reference found no memory.
 */
static void drop_passing(struct memledger_dmabuf_table *table)
{
	u32 i, nr = 0;

	for (i = 0; i < table->nr_buffers; i++) {
		const struct memledger_dmabuf_buffer *buffer =
			&table->buffers[i];

		if (buffer->last || buffer->listed == MEMLEDGER_DMABUF_LISTED)
			table->buffers[nr++] = *buffer;
		memledger_rest();
	}
	table->nr_buffers = nr;
}

/* Sets where each buffer's holders begin from how many there are. */
static void place_buffers(struct memledger_dmabuf_table *table)
{
	u32 i, first = 0;

	for (i = 0; i < table->nr_buffers; i++) {
		table->buffers[i].first = first;
		first += table->buffers[i].nr_holders;
	}
}

/* Holders to their buffers, in place: each swap puts one where it belongs. */
static void group_holders(struct memledger_dmabuf_table *table)
{
	struct memledger_dmabuf_holder *holders = table->holders;
	struct memledger_dmabuf_buffer *buffer;
	u32 i;

	for (i = 0; i < table->nr_holders; i++) {
		search_buffer(table, holders[i].ino)->nr_holders++;
		memledger_rest();
	}
	place_buffers(table);
	for (i = 0; i < table->nr_buffers; i++)
		table->buffers[i].nr_holders = 0;
	for (i = 0; i < table->nr_holders; i++) {
		buffer = search_buffer(table, holders[i].ino);
		holders[i].place = buffer->first + buffer->nr_holders++;
		memledger_rest();
	}
	for (i = 0; i < table->nr_holders; i++) {
		while (holders[i].place != i) {
			struct memledger_dmabuf_holder moved = holders[i];

			holders[i] = holders[moved.place];
			holders[moved.place] = moved;
		}
		memledger_rest();
	}
}

/* In order already where processes were looked at in order, as a pass does. */
static void sort_holders(struct memledger_dmabuf_holder *holders, u32 nr)
{
	u32 i;

	for (i = 1; i < nr; i++) {
		if (holders[i - 1].tgid > holders[i].tgid) {
			memledger_sort(holders, nr, sizeof(*holders),
				       compare_holders);
			return;
		}
	}
}

static void merge_holders(struct memledger_dmabuf_table *table)
{
	struct memledger_dmabuf_holder *holders = table->holders;
	u32 i, k, nr = 0;

	for (i = 0; i < table->nr_buffers; i++) {
		struct memledger_dmabuf_buffer *buffer = &table->buffers[i];
		u32 first = nr;

		sort_holders(&holders[buffer->first], buffer->nr_holders);
		for (k = 0; k < buffer->nr_holders; k++) {
			struct memledger_dmabuf_holder *holder =
				&holders[buffer->first + k];

			if (nr > first && holders[nr - 1].tgid == holder->tgid)
				merge_holder(table, &holders[nr - 1], holder);
			else
				holders[nr++] = *holder;
		}
		buffer->first = first;
		buffer->nr_holders = nr - first;
		buffer->nr_mappers = 0;
		for (k = first; k < nr; k++)
			buffer->nr_mappers += holders[k].maps ||
					      holders[k].imports;
		memledger_rest();
	}
	table->nr_holders = nr;
}

/* Those of a pass are in order, since it goes by number. */
static void merge_processes(struct memledger_dmabuf_table *table)
{
	struct memledger_dmabuf_process *processes = table->processes;
	u32 i, nr = 0;

	for (i = 1; i < table->nr_processes; i++) {
		if (processes[i - 1].tgid > processes[i].tgid) {
			memledger_sort(processes, table->nr_processes,
				       sizeof(*processes), compare_processes);
			break;
		}
	}
	for (i = 0; i < table->nr_processes; i++) {
		if (!nr || processes[nr - 1].tgid != processes[i].tgid)
			processes[nr++] = processes[i];
	}
	table->nr_processes = nr;
}

/* Holders are in the order of buffers: so are those of a process. */
static void index_processes(struct memledger_dmabuf_table *table)
{
	struct memledger_dmabuf_process *process;
	u32 i, first = 0;

	merge_processes(table);
	for (i = 0; i < table->nr_holders; i++) {
		search_process(table, table->holders[i].tgid)->nr++;
		memledger_rest();
	}
	for (i = 0; i < table->nr_processes; i++) {
		process = &table->processes[i];
		process->first = first;
		first += process->nr;
		process->nr = 0;
	}
	for (i = 0; i < table->nr_holders; i++) {
		process = search_process(table, table->holders[i].tgid);
		table->by_process[process->first + process->nr++] = i;
		memledger_rest();
	}
}

static void sum_buffers(struct memledger_dmabuf_table *table)
{
	bool stopped = false;
	u32 i, nr = 0;

	for (i = 0; i < table->nr_buffers; i++) {
		const struct memledger_dmabuf_buffer *buffer =
			&table->buffers[i];
		struct memledger_dmabuf_exporter *exporter =
			find_exporter(table, buffer->exporter);

		memledger_rest();
		exporter->count++;
		stopped |= sat_add(&exporter->size, buffer->size);
		stopped |= sat_add(&table->size, buffer->size);
		if (!buffer->nr_holders) {
			table->unattributed_count++;
			stopped |= sat_add(&table->unattributed_size,
					   buffer->size);
		}
	}
	table->incomplete |= stopped;
	for (i = 0; i < table->nr_exporters; i++) {
		if (table->exporters[i].count)
			table->exporters[nr++] = table->exporters[i];
		else
			memledger_free(table->exporters[i].name);
	}
	table->nr_exporters = nr;
	memledger_sort(table->exporters, nr, sizeof(*table->exporters),
		       compare_exporters);
}

/**
 * memledger_dmabuf_finish - from what was added to what can be looked up
 * @table: not to be added to any more
 *
 * Marks the table incomplete if a sum is too large.
 *
 * Context: process context; may sleep. Takes time with the size of the table.
 */
void memledger_dmabuf_finish(struct memledger_dmabuf_table *table)
{
	memledger_free(table->slots);
	table->slots = NULL;
	drop_passing(table);
	sort_buffers(table->buffers, table->nr_buffers, 1ULL << 63);
	group_holders(table);
	merge_holders(table);
	index_processes(table);
	sum_buffers(table);
}

/**
 * memledger_dmabuf_free - free what a table has
 * @table: finished or not; empty afterwards
 */
void memledger_dmabuf_free(struct memledger_dmabuf_table *table)
{
	u32 i;

	for (i = 0; i < table->nr_exporters; i++)
		memledger_free(table->exporters[i].name);
	memledger_free(table->exporters);
	memledger_free(table->processes);
	memledger_free(table->by_process);
	memledger_free(table->holders);
	memledger_free(table->slots);
	memledger_free(table->buffers);
	memset(table, 0, sizeof(*table));
}

/**
 * memledger_dmabuf_pss - what each holder has of a buffer
 * @buffer: of a finished table
 *
 * Return: bytes, rounded down; the size if no process holds it.
 */
u64 memledger_dmabuf_pss(const struct memledger_dmabuf_buffer *buffer)
{
	return buffer->nr_holders ?
	       div64_u64(buffer->size, buffer->nr_holders) : buffer->size;
}

static u64 memtrack_share(const struct memledger_dmabuf_buffer *buffer,
			  const struct memledger_dmabuf_holder *holder)
{
	u64 in_smaps = holder->smaps_pss >> MEMLEDGER_PSS_SHIFT;
	u64 part;

	if (!holder->maps && !holder->imports)
		return 0;
	part = div64_u64(buffer->size, buffer->nr_mappers);
	return part > in_smaps ? part - in_smaps : 0;
}

/**
 * memledger_dmabuf_sum_share - what a process has of all buffers
 * @table: finished
 * @tgid: the process
 * @share: gets it; what is about the snapshot is left alone
 *
 * Return: true; false if a sum is too large, and stands for what is at least so
 * much.
 */
bool memledger_dmabuf_sum_share(const struct memledger_dmabuf_table *table,
				s32 tgid, struct memledger_dmabuf_share *share)
{
	const struct memledger_dmabuf_process *process =
		search_process(table, tgid);
	bool stopped = false;
	u64 smaps_pss = 0;
	u32 i;

#define X(field) share->field = 0;
	MEMLEDGER_DMABUF_SHARE_FIELDS(X)
#undef X
	for (i = 0; process && i < process->nr; i++) {
		const struct memledger_dmabuf_holder *holder =
			&table->holders[table->by_process[process->first + i]];
		const struct memledger_dmabuf_buffer *buffer =
			search_buffer(table, holder->ino);

		share->dmabuf_count++;
		stopped |= sat_add(&share->dmabuf_rss, buffer->size);
		stopped |= sat_add(&share->dmabuf_pss,
				   memledger_dmabuf_pss(buffer));
		stopped |= sat_add(&share->dmabuf_smaps_rss,
				   holder->smaps_rss);
		stopped |= sat_add(&smaps_pss, holder->smaps_pss);
		stopped |= sat_add(&share->dmabuf_memtrack,
				   memtrack_share(buffer, holder));
	}
	share->dmabuf_smaps_pss = smaps_pss >> MEMLEDGER_PSS_SHIFT;
	return !stopped;
}
