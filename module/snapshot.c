// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a target's VMAs to the record that is exported: walk, classify, add up,
 * and remember when. Also hands out the VMAs themselves, one at a time.
 */
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/kdev_t.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <memledger/names.h>

#include "compat.h"
#include "gpu.h"
#include "process.h"
#include "snapshot.h"
#include "target.h"
#include "walk.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

struct memledger_settings memledger_settings = {
	.max_age_ms = MEMLEDGER_MAX_AGE_MS_DEFAULT,
	.slice_entries = MEMLEDGER_SLICE_DEFAULT,
};

/**
 * memledger_snapshot_has_swap_pss - whether SwapPss is known on this kernel
 *
 * Return: true if swap_pss fields mean anything.
 */
bool memledger_snapshot_has_swap_pss(void)
{
	return !IS_ENABLED(CONFIG_SWAP) || memledger_swap_count_available();
}

/**
 * memledger_snapshot_has_anon_names - whether this kernel names anonymous VMAs
 *
 * Return: true with CONFIG_ANON_VMA_NAME.
 */
bool memledger_snapshot_has_anon_names(void)
{
	return IS_ENABLED(CONFIG_ANON_VMA_NAME);
}

/**
 * memledger_snapshot_pss_method - by what PSS divides a page
 *
 * Return: "page": the mapcount of each page; "average": that of its folio.
 */
const char *memledger_snapshot_pss_method(void)
{
	return IS_ENABLED(CONFIG_NO_PAGE_MAPCOUNT) ? "average" : "page";
}

/**
 * memledger_snapshot_init - find out what this kernel can tell
 *
 * Return: 0 or -EINVAL if the rules lack the default profile.
 */
int memledger_snapshot_init(void)
{
	memledger_settings.profile =
		memledger_profile_find(MEMLEDGER_DEFAULT_PROFILE);
	if (!memledger_settings.profile)
		return -EINVAL;
	memledger_settings.imported_rule = memledger_default_imported_rule();
	memledger_swap_count_init();
	return 0;
}

static unsigned int vma_prot(const struct memledger_vma *vma)
{
	static_assert(MEMLEDGER_PROT_READ == VM_READ &&
		      MEMLEDGER_PROT_WRITE == VM_WRITE &&
		      MEMLEDGER_PROT_EXEC == VM_EXEC);

	return vma->flags & MEMLEDGER_PROT_ALL;
}

static struct memledger_verdict
classify_vma(struct memledger_classifier *classifier,
	     const struct memledger_vma *vma)
{
	const struct memledger_mapping mapping = {
		.start = vma->start,
		.end = vma->end,
		.name = vma->name,
		.len = vma->len,
		.prot = vma_prot(vma),
		.deleted = vma->deleted,
	};

	return memledger_classifier_next(classifier, &mapping);
}

/**
 * struct memledger_known - names that walks have seen
 * @profile: whose rules placed them
 * @slots: the names
 * @verdict: where each is counted
 * @device: it is that of another GPU driver's device than of the one that told
 *	us its entries
 *
 * As large as memory is still easily had in one piece.
 */
struct memledger_known {
	const struct memledger_profile *profile;
	struct memledger_name_slots slots;
	struct memledger_verdict verdict[MEMLEDGER_NAME_SLOTS];
	bool device[MEMLEDGER_NAME_SLOTS];
};

static_assert(sizeof(struct memledger_known) <= SZ_32K);

/**
 * struct totals_builder - what a walk for the totals needs
 * @classifier: knows the VMA before
 * @known: knows the names
 * @record: where it all goes
 */
struct totals_builder {
	struct memledger_classifier classifier;
	struct memledger_known *known;
	struct memledger_record *record;
};

static bool learn_name(struct memledger_name_slots *slots, unsigned int slot,
		       const char *name, size_t len, bool deleted, bool tail)
{
	struct memledger_known *known =
		container_of(slots, struct memledger_known, slots);
	struct memledger_verdict *verdict = &known->verdict[slot];

	if (tail) {
		known->device[slot] = false;
		return memledger_classify_tail(known->profile, name, len,
					       deleted, verdict);
	}
	*verdict = memledger_classify_name(known->profile, name, len, deleted);
	known->device[slot] = verdict->category == MEMLEDGER_CAT_OTHER_DEV &&
			      memledger_graphics_is_device(name, len);
	return true;
}

/* Makes @known, if it is not there yet, and of use by the rules of @profile. */
static int prepare_known(struct memledger_known **known,
			 const struct memledger_profile *profile)
{
	if (!*known) {
		*known = kvmalloc(sizeof(**known), GFP_KERNEL_ACCOUNT);
		if (!*known)
			return -ENOMEM;
		(*known)->profile = NULL;
	}
	if ((*known)->profile == profile)
		return 0;
	(*known)->profile = profile;
	memledger_name_slots_init(&(*known)->slots, learn_name);
	return 0;
}

/**
 * memledger_known_free - forget names
 * @known: of memledger_snapshot_process(), or NULL
 */
void memledger_known_free(struct memledger_known *known)
{
	kvfree(known);
}

/* A VMA that has more to tell than how many pages it has that are alike. */
static noinline int add_special_vma(struct memledger_record *record,
				    struct memledger_usage *row,
				    const struct memledger_vma *vma,
				    bool swappable, bool device)
{
	struct memledger_usage usage = {};

	if (vma->alike)
		memledger_usage_add_alike(&usage, vma->alike, PAGE_SIZE,
					  vma->usage.size, swappable);
	else
		memledger_usage_add(&usage, &vma->usage, swappable);
	memledger_usage_merge(row, &usage);
	if (device) {
		record->device_rss += usage.rss;
		record->device_pss += usage.pss;
	}
	return 0;
}

static int add_vma(const struct memledger_vma *vma, void *arg)
{
	struct totals_builder *builder = arg;
	struct memledger_record *record = builder->record;
	const struct memledger_known *known = builder->known;
	const struct memledger_verdict *verdict;
	struct memledger_usage *row;

	verdict = memledger_classifier_place(&builder->classifier,
					     &known->verdict[vma->slot],
					     vma->start, vma->end,
					     vma_prot(vma));
	row = memledger_totals_row(&record->totals, verdict);
	if (unlikely(!vma->alike || known->device[vma->slot]))
		return add_special_vma(record, row, vma, verdict->swappable,
				       known->device[vma->slot]);
	memledger_usage_add_alike(row, vma->alike, PAGE_SIZE, vma->usage.size,
				  verdict->swappable);
	return 0;
}
ALLOW_ERROR_INJECTION(add_vma, ERRNO);

/*
 * One walk from begin to end. -ESRCH: the mm went away, with the process or
 * for another program. @walked: NULL, or gets the mm with a reference, also
 * where this fails after it was found.
 */
static int walk_totals(struct pid *pid, const bool *stop,
		       struct memledger_known *known,
		       struct memledger_record *record,
		       u64 *hold_max_ns, struct mm_struct **walked)
{
	struct totals_builder builder = { .known = known, .record = record };
	struct memledger_walk walk;
	struct mm_struct *mm;
	int ret;

	memset(record, 0, sizeof(*record));
	mm = memledger_process_mm(pid);
	if (!mm)
		return -ESRCH;
	if (walked) {
		mmgrab(mm);
		*walked = mm;
	}
	ret = memledger_walk_begin(&walk, mm, stop);
	if (ret)
		return ret;
	memledger_classifier_init(&builder.classifier, known->profile);
	walk.slots = &known->slots;
	ret = memledger_walk_run(&walk,
				 READ_ONCE(memledger_settings.slice_entries),
				 add_vma, &builder);
	*hold_max_ns = max(*hold_max_ns, walk.stats.lock_hold_max_ns);
	memledger_walk_end(&walk);
	memledger_totals_sum(&record->totals);
	return ret;
}

struct graphics_builder {
	const bool *stop;
	struct memledger_graphics *graphics;
	enum memledger_imported_rule rule;
	bool saturated;
	bool rule_applies;
};

/* What cannot be counted is told in the end: the others go on. */
static int add_gpu_entry(void *arg, const struct memledger_gpu_entry *entry)
{
	struct graphics_builder *builder = arg;
	unsigned int failed;

	if (READ_ONCE(*builder->stop))
		return -ENODEV;
	failed = memledger_graphics_add(builder->graphics, builder->rule, entry);
	if (failed & MEMLEDGER_GRAPHICS_OVERFLOW)
		builder->saturated = true;
	if (failed & MEMLEDGER_GRAPHICS_UNKNOWN)
		builder->rule_applies = false;
	return 0;
}
ALLOW_ERROR_INJECTION(add_gpu_entry, ERRNO);

/*
 * What the GPU driver says about the process, and the rows that are made of
 * it. Where the driver fails, nothing of it is used. Fails only with -EINTR, or
 * -ENODEV if told to stop.
 */
static int add_graphics(struct pid *pid, const bool *stop,
			struct memledger_record *record)
{
	struct graphics_builder builder = {
		.stop = stop,
		.graphics = &record->graphics,
		.rule = READ_ONCE(memledger_settings.imported_rule),
		.rule_applies = true,
	};
	int ret;

	record->imported_rule = builder.rule;
	ret = memledger_gpu_entries(pid, add_gpu_entry, &builder);
	if (ret == -EINTR || ret == -ENODEV)
		return ret;
	if (ret) {
		memset(&record->graphics, 0, sizeof(record->graphics));
		record->unavailable |= MEMLEDGER_UNAVAILABLE_MTRACK;
		/* To have no driver is no failure. */
		if (ret != -EOPNOTSUPP)
			record->complete = 0;
		return 0;
	}
	if (!builder.rule_applies) {
		record->graphics.imported_mem = 0;
		record->unavailable |= MEMLEDGER_UNAVAILABLE_IMPORTED;
	}
	if (memledger_totals_add_mtrack(&record->totals, &record->graphics))
		builder.saturated = true;
	if (builder.saturated)
		record->complete = 0;
	return 0;
}

static u32 unavailable(void)
{
	u32 bits = 0;

	if (!memledger_snapshot_has_swap_pss())
		bits |= MEMLEDGER_UNAVAILABLE_SWAP_PSS;
	if (!memledger_snapshot_has_anon_names())
		bits |= MEMLEDGER_UNAVAILABLE_ANON_NAMES;
	return bits;
}

static void put_walked(struct mm_struct **walked)
{
	if (walked && *walked)
		mmdrop(*walked);
	if (walked)
		*walked = NULL;
}

/* One that execs under us is walked again. */
static int walk_process(struct pid *pid, const bool *stop,
			struct memledger_known *known,
			struct memledger_record *record,
			u64 *hold_max_ns, struct mm_struct **walked)
{
	unsigned int tries = 0;
	int ret;

	do {
		put_walked(walked);
		ret = walk_totals(pid, stop, known, record, hold_max_ns,
				  walked);
	} while (memledger_walk_again(ret, pid, &tries));
	record->complete = !ret;
	/* As much as there is room for. */
	if (ret == -EOVERFLOW)
		return 0;
	if (tries < MEMLEDGER_WALK_TRIES)
		return ret;
	/* It keeps changing: what the last walk saw of it is a part. */
	put_walked(walked);
	return 0;
}

/**
 * memledger_snapshot_process - the numbers of a process, tracked or not
 * @pid: of its thread group leader
 * @stop: this ends with -ENODEV when that becomes true
 * @known: NULL for the first process; then what this leaves there, to be freed
 *	by memledger_known_free(), also where this fails. The names of one
 *	process need not be placed again for the next
 * @record: gets them; its generation is 0
 * @walked: NULL, or gets the memory that was walked, with an mmgrab()
 *	reference; NULL where this fails, or the memory was another each time
 *
 * Context: process context; may sleep, and holds nothing in between.
 * Return: 0; -ESRCH if the process has exited or is a kernel thread, -EINTR,
 * -ENOMEM, or -ENODEV if told to stop.
 */
int memledger_snapshot_process(struct pid *pid, const bool *stop,
			       struct memledger_known **known,
			       struct memledger_record *record,
			       struct mm_struct **walked)
{
	const struct memledger_profile *profile =
		READ_ONCE(memledger_settings.profile);
	u64 start = ktime_get_ns(), hold_max_ns = 0;
	int ret;

	if (walked)
		*walked = NULL;
	ret = prepare_known(known, profile);
	if (ret)
		return ret;
	ret = walk_process(pid, stop, *known, record, &hold_max_ns,
			   walked);
	if (ret)
		goto err_put;
	record->unavailable = unavailable();
	ret = add_graphics(pid, stop, record);
	if (ret)
		goto err_put;
	ret = memledger_process_comm(pid, record->comm, sizeof(record->comm));
	if (ret)
		goto err_put;
	record->magic = MEMLEDGER_RECORD_MAGIC;
	record->version = MEMLEDGER_ABI_VERSION;
	record->size = sizeof(*record);
	record->nr_categories = NR_MEMLEDGER_CATEGORIES;
	record->nr_subcategories = NR_MEMLEDGER_SUBCATEGORIES;
	record->nr_unknown = NR_MEMLEDGER_UNKNOWN_CLASSES;
	record->nr_gpu_usages = NR_MEMLEDGER_GPU_USAGES;
	record->page_size = PAGE_SIZE;
	record->tgid = pid_nr(pid);
	record->timestamp_ns = ktime_get_boottime_ns();
	record->walk_ns = ktime_get_ns() - start;
	record->lock_hold_max_ns = hold_max_ns;
	strscpy(record->profile, profile->name, sizeof(record->profile));
	return 0;

err_put:
	put_walked(walked);
	return ret;
}

/* For whoever listens; without, nothing is looked at. */
static void trace_record(const struct memledger_record *record)
{
	const struct memledger_profile *profile =
		memledger_profile_find(record->profile);
	unsigned int row;

	trace_snapshot(record);
	if (!trace_category_enabled())
		return;
	for (row = 0; row < NR_MEMLEDGER_CATEGORIES; row++) {
		if (memledger_profile_has_category(profile, row,
						   record->unavailable))
			trace_category(record, memledger_category_names[row],
				       &record->totals.category[row]);
	}
}

/* A failed one leaves the last as it was. */
static int take_snapshot(struct memledger_target *target)
{
	struct memledger_record *record = &target->scratch;
	struct memledger_known *known = NULL;
	int ret;

	lockdep_assert_held(&target->lock);
	ret = memledger_snapshot_process(target->pid, &target->dying, &known,
					 record, NULL);
	memledger_known_free(known);
	if (ret)
		return ret;
	record->generation = target->record.generation + 1;
	record->generation_end = record->generation;
	target->record = *record;
	trace_record(record);
	memledger_sysfs_notify(target);
	return 0;
}

static bool is_stale(const struct memledger_record *record,
		     unsigned int max_age_ms)
{
	u64 age = ktime_get_boottime_ns() - record->timestamp_ns;

	return !record->generation || age > (u64)max_age_ms * NSEC_PER_MSEC ||
	       record->imported_rule !=
			READ_ONCE(memledger_settings.imported_rule) ||
	       strcmp(record->profile,
		      READ_ONCE(memledger_settings.profile)->name);
}

/* Makes target->record what @mode asks for. */
static int update_snapshot(struct memledger_target *target,
			   enum memledger_snapshot_mode mode)
{
	unsigned int max_age_ms = READ_ONCE(memledger_settings.max_age_ms);

	switch (mode) {
	case MEMLEDGER_SNAPSHOT_LAST:
		return 0;
	case MEMLEDGER_SNAPSHOT_NEW:
		return take_snapshot(target);
	case MEMLEDGER_SNAPSHOT_FRESH:
		break;
	}
	if (!memledger_target_is_alive(target))
		return -ESRCH;
	if (max_age_ms)
		return is_stale(&target->record, max_age_ms) ?
		       take_snapshot(target) : 0;
	return target->record.generation ? 0 : -ENODATA;
}

/**
 * memledger_snapshot_lock - get at a target's snapshot
 * @target: the process
 * @mode: which snapshot
 *
 * On success target->lock is held and target->record is the snapshot; call
 * memledger_snapshot_unlock() when done with it. On failure nothing is held
 * and the last snapshot is as it was.
 *
 * Context: process context; may sleep for as long as a walk takes.
 * Return: 0; -ESRCH if the process has exited, -ENODATA if there is no
 * snapshot and only an order would take one, -EINTR, -ENOMEM, or -ENODEV if
 * the target is being untracked.
 */
int memledger_snapshot_lock(struct memledger_target *target,
			    enum memledger_snapshot_mode mode)
{
	int ret;

	ret = mutex_lock_killable(&target->lock);
	if (ret)
		return ret;
	ret = update_snapshot(target, mode);
	if (ret)
		mutex_unlock(&target->lock);
	return ret;
}

/**
 * memledger_snapshot_unlock - done with the snapshot
 * @target: locked by memledger_snapshot_lock()
 */
void memledger_snapshot_unlock(struct memledger_target *target)
{
	mutex_unlock(&target->lock);
}

/**
 * struct memledger_vma_cursor - a walk that pauses at each VMA
 * @walk: the walk
 * @classifier: knows the VMA before
 * @pid: the process where VMAs are told apart by owner, else NULL
 */
struct memledger_vma_cursor {
	struct memledger_walk walk;
	struct memledger_classifier classifier;
	struct pid *pid;
};

static unsigned long next_owner(void *arg, unsigned long addr)
{
	struct memledger_vma_cursor *cursor = arg;
	unsigned long pcs[MEMLEDGER_CAPTURE_PCS], end;

	memledger_capture_lookup(cursor->pid, cursor->walk.mm, addr, &end, pcs);
	return end;
}

/**
 * memledger_vma_cursor_open_pid - begin to list the VMAs of any process
 * @pid: of its thread group leader; the caller keeps it for as long as the
 *	cursor
 * @stop: the list ends with -ENODEV when this becomes true
 * @by_owner: whether a VMA that several callers mapped is as many
 *
 * Return: a cursor before the first VMA, or ERR_PTR() of -ESRCH or -ENOMEM.
 */
struct memledger_vma_cursor *
memledger_vma_cursor_open_pid(struct pid *pid, const bool *stop, bool by_owner)
{
	struct memledger_vma_cursor *cursor;
	struct mm_struct *mm;
	int ret;

	cursor = kzalloc(sizeof(*cursor), GFP_KERNEL);
	if (!cursor)
		return ERR_PTR(-ENOMEM);
	ret = -ESRCH;
	mm = memledger_process_mm(pid);
	if (!mm)
		goto err_free;
	ret = memledger_walk_begin(&cursor->walk, mm, stop);
	if (ret)
		goto err_free;
	memledger_classifier_init(&cursor->classifier,
				  READ_ONCE(memledger_settings.profile));
	if (by_owner) {
		cursor->pid = pid;
		cursor->walk.cut = next_owner;
		cursor->walk.cut_arg = cursor;
	}
	return cursor;

err_free:
	kfree(cursor);
	return ERR_PTR(ret);
}

/**
 * memledger_vma_cursor_open - begin to list a target's VMAs
 * @target: the process; the caller keeps it for as long as the cursor
 * @by_owner: whether a VMA that several callers mapped is as many
 *
 * Return: a cursor before the first VMA, or ERR_PTR() of -ESRCH or -ENOMEM.
 */
struct memledger_vma_cursor *
memledger_vma_cursor_open(struct memledger_target *target, bool by_owner)
{
	return memledger_vma_cursor_open_pid(target->pid, &target->dying,
					     by_owner);
}

/**
 * memledger_vma_cursor_mm - the memory whose VMAs are listed
 * @cursor: the cursor
 *
 * Return: the mm; the cursor has the reference.
 */
struct mm_struct *
memledger_vma_cursor_mm(const struct memledger_vma_cursor *cursor)
{
	return cursor->walk.mm;
}

static int pause_walk(const struct memledger_vma *vma, void *arg)
{
	return 1;
}
ALLOW_ERROR_INJECTION(pause_walk, ERRNO);

/**
 * memledger_vma_cursor_next - the next VMA
 * @cursor: the cursor
 * @line: gets the VMA; its name is valid until the next call
 *
 * Nothing is held on return: the process goes on between VMAs.
 *
 * Return: 1 and a VMA; 0 if there are no more; -ESRCH if the process has
 * exited or execs, -EINTR, -ENODEV if the target is being untracked, -EOVERFLOW
 * where new VMAs come faster than this goes on, or a lock is not to be had for 5 s.
 */
int memledger_vma_cursor_next(struct memledger_vma_cursor *cursor,
			      struct memledger_vma_line *line)
{
	const struct memledger_vma *vma = &cursor->walk.vma;
	unsigned long end;
	int ret;

	ret = memledger_walk_run(&cursor->walk,
				 READ_ONCE(memledger_settings.slice_entries),
				 pause_walk, NULL);
	if (ret <= 0)
		return ret;

	*line = (struct memledger_vma_line) {
		.start = vma->start,
		.end = vma->end,
		.perms = {
			vma->flags & VM_READ ? 'r' : '-',
			vma->flags & VM_WRITE ? 'w' : '-',
			vma->flags & VM_EXEC ? 'x' : '-',
			vma->flags & VM_MAYSHARE ? 's' : 'p',
		},
		.offset = vma->offset,
		.major = MAJOR(vma->dev),
		.minor = MINOR(vma->dev),
		.ino = vma->ino,
		.name = vma->name,
		.deleted = vma->deleted,
		.usage = vma->usage,
		.verdict = classify_vma(&cursor->classifier, vma),
	};
	if (cursor->pid)
		line->nr_pcs = memledger_capture_lookup(cursor->pid,
							cursor->walk.mm,
							vma->start, &end,
							line->pcs);
	return 1;
}

/**
 * memledger_vma_cursor_close - end the list
 * @cursor: not to be used afterwards
 */
void memledger_vma_cursor_close(struct memledger_vma_cursor *cursor)
{
	memledger_walk_end(&cursor->walk);
	kfree(cursor);
}

/**
 * memledger_snapshot_unknown - what the row Unknown is made of, name by name
 * @target: the process
 * @names: an empty table; gets a row a name, the largest first. The caller
 *	frees it, also where this fails
 *
 * Walks afresh. The names of files are as the caller's root directory has
 * them.
 *
 * Context: process context; may sleep.
 * Return: 0; -ESRCH if the process has exited or execs, -EINTR, -ENOMEM,
 * -ENODEV if the target is being untracked, or -EOVERFLOW where it has too many
 * names, maps faster than it is walked, or keeps a lock for 5 s.
 */
int memledger_snapshot_unknown(struct memledger_target *target,
			       struct memledger_names *names)
{
	struct memledger_vma_cursor *cursor;
	struct memledger_vma_line line;
	int ret;

	cursor = memledger_vma_cursor_open(target, false);
	if (IS_ERR(cursor))
		return PTR_ERR(cursor);
	while ((ret = memledger_vma_cursor_next(cursor, &line)) > 0) {
		if (line.verdict.unknown == MEMLEDGER_UNKNOWN_NONE)
			continue;
		ret = memledger_names_add(names, line.name, strlen(line.name),
					  line.verdict.unknown, &line.usage,
					  line.verdict.swappable);
		if (ret)
			break;
	}
	memledger_vma_cursor_close(cursor);
	if (!ret)
		memledger_names_sort(names);
	return ret;
}

static int add_gpu_line(void *arg, const struct memledger_gpu_entry *entry)
{
	struct memledger_gpu_table *table = arg;
	struct memledger_gpu_entry *entries;
	unsigned int size;

	if (table->nr == table->size) {
		size = table->size ? 2 * table->size : 64;
		entries = kvcalloc(size, sizeof(*entries), GFP_KERNEL_ACCOUNT);
		if (!entries)
			return -ENOMEM;
		if (table->nr)
			memcpy(entries, table->entries,
			       table->nr * sizeof(*entries));
		kvfree(table->entries);
		table->entries = entries;
		table->size = size;
	}
	table->entries[table->nr++] = *entry;
	return 0;
}
ALLOW_ERROR_INJECTION(add_gpu_line, ERRNO);

/**
 * memledger_snapshot_gpu - a process's GPU memory, entry by entry
 * @target: the process
 * @table: an empty one; free it with memledger_gpu_table_free(), also where
 *	this fails
 *
 * Context: process context; may sleep.
 * Return: 0, also where the driver failed on the way and the table is not
 * complete; -EOPNOTSUPP without a GPU driver, -ESRCH if the process has exited,
 * -EINTR, -ENOMEM.
 */
int memledger_snapshot_gpu(struct memledger_target *target,
			   struct memledger_gpu_table *table)
{
	int ret;

	if (!memledger_target_is_alive(target))
		return -ESRCH;
	table->rule = READ_ONCE(memledger_settings.imported_rule);
	if (!memledger_gpu_name(table->provider))
		return -EOPNOTSUPP;
	ret = memledger_gpu_entries(target->pid, add_gpu_line, table);
	/* These are ours: the driver's own errors look otherwise. */
	if (ret == -EOPNOTSUPP || ret == -EINTR || ret == -ENOMEM)
		return ret;
	table->complete = !ret;
	return 0;
}

/**
 * memledger_gpu_table_free - free the entries
 * @table: of memledger_snapshot_gpu()
 */
void memledger_gpu_table_free(struct memledger_gpu_table *table)
{
	kvfree(table->entries);
}
