// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a pass over all processes to the two files of
 * /sys/kernel/debug/memledger that are about all of them: snapshot, a line a
 * process, and mappings, a line a process and a line a name of its mappings.
 * docs/ABI/testing/debugfs-memledger-system has the form.
 *
 * The pass goes on as the file is read: a process is walked when its line is
 * due, and between two lines nothing is held, however slowly they are read.
 */
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <memledger/names.h>

#include "snapshot.h"
#include "system.h"
#include "target.h"

enum system_state {
	SYSTEM_HEADING,
	SYSTEM_PROCESS,
	SYSTEM_ROW,
	SYSTEM_END,
	SYSTEM_DONE,
};

/**
 * struct system_reader - where a reader of either file is
 * @by_name: it reads mappings
 * @begun: there is a pass
 * @pass: the pass
 * @profile: whose rules it goes by
 * @record: snapshot: the numbers of the process at hand
 * @names: mappings: the rows of the process at hand
 * @row: mappings: the row at hand
 * @process_complete: whether all of the process at hand was seen
 * @state: what is at hand
 * @pos: its number
 * @walk_ns: time spent in the pass, not between reads
 * @end_ns: when the pass ended, CLOCK_BOOTTIME
 * @processes: how many there were
 * @shared: how many of these have no numbers of their own
 * @complete: nothing was missed so far
 *
 * seq_file asks for the same element again when its buffer was too small, and
 * for the next one at the next read: both find it here. Only a reader that
 * seeks makes another pass begin.
 */
struct system_reader {
	bool by_name;
	bool begun;
	struct memledger_pass pass;
	const struct memledger_profile *profile;
	struct memledger_record record;
	struct memledger_names names;
	u32 row;
	bool process_complete;
	enum system_state state;
	loff_t pos;
	u64 walk_ns;
	u64 end_ns;
	u64 processes;
	u64 shared;
	bool complete;
};

static void end_pass(struct system_reader *reader)
{
	if (!reader->begun)
		return;
	memledger_names_free(&reader->names);
	memledger_pass_end(&reader->pass);
	reader->begun = false;
}

static void begin_pass(struct system_reader *reader)
{
	end_pass(reader);
	memledger_pass_begin(&reader->pass);
	reader->begun = true;
	reader->profile = READ_ONCE(memledger_settings.profile);
	reader->state = SYSTEM_HEADING;
	reader->pos = 0;
	reader->walk_ns = 0;
	reader->processes = 0;
	reader->shared = 0;
	reader->complete = true;
}

/* What is to be printed of the process at hand. */
static int read_process(struct system_reader *reader)
{
	struct memledger_pass *pass = &reader->pass;
	int ret;

	reader->process_complete = true;
	if (pass->shares)
		return 0;
	if (reader->by_name)
		return memledger_pass_names(pass, &reader->names,
					    &reader->process_complete);
	ret = memledger_pass_record(pass, &reader->record);
	if (ret)
		return ret;
	/* Of other rules, if somebody has just changed them. */
	reader->process_complete = reader->record.complete &&
				   !strcmp(reader->record.profile,
					   reader->profile->name);
	return 0;
}

/*
 * Who exits before it was walked has no line, as if it had exited earlier.
 * Returns 1, 0 at the end, or an error.
 */
static int next_process(struct system_reader *reader)
{
	int ret;

	do {
		memledger_names_free(&reader->names);
		ret = memledger_pass_next(&reader->pass);
		if (ret <= 0)
			return ret;
		ret = read_process(reader);
	} while (ret == -ESRCH);
	if (ret)
		return ret;
	/* Of memory that has turned out to be another's nothing is printed. */
	if (reader->pass.shares) {
		memledger_names_free(&reader->names);
		reader->process_complete = true;
	}
	reader->processes++;
	reader->shared += !!reader->pass.shares;
	reader->complete &= reader->process_complete;
	return 1;
}

static void advance_process(struct system_reader *reader)
{
	u64 start = ktime_get_ns();
	int ret;

	reader->row = 0;
	ret = next_process(reader);
	reader->walk_ns += ktime_get_ns() - start;
	if (ret > 0) {
		reader->state = SYSTEM_PROCESS;
		return;
	}
	reader->state = SYSTEM_END;
	reader->end_ns = ktime_get_boottime_ns();
	reader->complete &= !ret;
	/* Not when the file is closed: some keep theirs open. */
	memledger_pass_end(&reader->pass);
}

static void advance(struct system_reader *reader)
{
	reader->pos++;
	switch (reader->state) {
	case SYSTEM_ROW:
		reader->row++;
		fallthrough;
	case SYSTEM_PROCESS:
		if (reader->row < reader->names.nr) {
			reader->state = SYSTEM_ROW;
			break;
		}
		fallthrough;
	case SYSTEM_HEADING:
		advance_process(reader);
		break;
	case SYSTEM_END:
	case SYSTEM_DONE:
		reader->state = SYSTEM_DONE;
		break;
	}
}

static void *element(struct system_reader *reader)
{
	return reader->state == SYSTEM_DONE ? NULL : reader;
}

static void *system_start(struct seq_file *m, loff_t *pos)
{
	struct system_reader *reader = m->private;

	if (!reader->begun || *pos < reader->pos || !*pos)
		begin_pass(reader);
	while (reader->pos < *pos && reader->state != SYSTEM_DONE)
		advance(reader);
	return element(reader);
}

static void *system_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct system_reader *reader = v;

	advance(reader);
	*pos = reader->pos;
	return element(reader);
}

static void system_stop(struct seq_file *m, void *v)
{
}

static void print_heading(struct seq_file *m,
			  const struct system_reader *reader)
{
	seq_printf(m, "# memledger %d start_ns %llu profile %s page_size %lu pss_method %s swap_pss %d anon_names %d\n",
		   MEMLEDGER_ABI_VERSION, reader->pass.begin_ns,
		   reader->profile->name, PAGE_SIZE,
		   memledger_snapshot_pss_method(),
		   memledger_snapshot_has_swap_pss(),
		   memledger_snapshot_has_anon_names());
}

static void print_end(struct seq_file *m, const struct system_reader *reader)
{
	seq_printf(m, "# end_ns %llu walk_ns %llu processes %llu shared %llu complete %d\n",
		   reader->end_ns, reader->walk_ns, reader->processes,
		   reader->shared, reader->complete);
}

/* The process's number, whose its memory is, whether all of it was seen. */
static void print_process(struct seq_file *m,
			  const struct system_reader *reader)
{
	seq_put_decimal_ull(m, "", reader->pass.tgid);
	if (reader->pass.shares)
		seq_printf(m, " %d -", reader->pass.shares);
	else
		seq_printf(m, " - %d", reader->process_complete);
}

static void print_comm(struct seq_file *m, const char *comm)
{
	char text[MEMLEDGER_COMM_TEXT_LEN];

	memledger_comm_escape(comm, text, sizeof(text));
	seq_printf(m, " %s\n", text);
}

/*
 * snapshot
 */

static void print_number(struct seq_file *m, u64 number, bool available)
{
	if (available)
		seq_put_decimal_ull(m, " ", number);
	else
		seq_write(m, " -", 2);
}

/* X(name, value, whether it takes SwapPss): of the process, then of a row. */
#define PROCESS_COLUMNS(X)						\
	X(vmas, row->vmas, false)					\
	X(vss, row->vss, false)						\
	ROW_COLUMNS(X)							\
	X(private_dirty, row->private_dirty, false)			\
	X(shared_dirty, row->shared_dirty, false)			\
	X(private_clean, row->private_clean, false)			\
	X(shared_clean, row->shared_clean, false)			\
	X(swappable_pss, row->swappable_pss, false)

#define ROW_COLUMNS(X)							\
	X(rss, row->rss, false)						\
	X(pss, row->pss >> MEMLEDGER_PSS_SHIFT, false)			\
	X(uss, memledger_usage_uss(row), false)				\
	X(swap, row->swap, false)					\
	X(swap_pss, row->swap_pss >> MEMLEDGER_PSS_SHIFT, true)		\
	X(pss_floor, row->pss_floor, false)				\
	X(swap_pss_floor, row->swap_pss_floor, true)

static void print_total(struct seq_file *m, const struct memledger_usage *row,
			bool available, bool swap_pss)
{
#define X(name, value, needs_swap_pss)					\
	print_number(m, value, available && (swap_pss || !(needs_swap_pss)));
	PROCESS_COLUMNS(X)
#undef X
}

static void print_row(struct seq_file *m, const struct memledger_usage *row,
		      bool available, bool swap_pss)
{
#define X(name, value, needs_swap_pss)					\
	print_number(m, value, available && (swap_pss || !(needs_swap_pss)));
	ROW_COLUMNS(X)
#undef X
}

static void print_columns(struct seq_file *m)
{
	unsigned int i;

	seq_puts(m, "tgid shares complete");
#define X(name, ...) seq_puts(m, " " #name);
	PROCESS_COLUMNS(X)
#undef X
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
#define X(name, ...) seq_printf(m, " %s." #name, memledger_category_names[i]);
		ROW_COLUMNS(X)
#undef X
	}
	seq_puts(m, " comm\n");
}

static void print_record(struct seq_file *m, const struct system_reader *reader)
{
	const struct memledger_record *record = &reader->record;
	bool own = !reader->pass.shares;
	bool swap_pss = own && !(record->unavailable &
				 MEMLEDGER_UNAVAILABLE_SWAP_PSS);
	unsigned int i;

	print_process(m, reader);
	print_total(m, &record->totals.total, own, swap_pss);
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
		print_row(m, &record->totals.category[i],
			  own && memledger_profile_has_category(reader->profile,
						i, record->unavailable),
			  swap_pss);
	print_comm(m, own ? record->comm : reader->pass.comm);
}

static int snapshot_show(struct seq_file *m, void *v)
{
	const struct system_reader *reader = v;

	switch (reader->state) {
	case SYSTEM_HEADING:
		print_heading(m, reader);
		print_columns(m);
		break;
	case SYSTEM_PROCESS:
		print_record(m, reader);
		break;
	case SYSTEM_END:
		print_end(m, reader);
		break;
	case SYSTEM_ROW:
	case SYSTEM_DONE:
		break;
	}
	return 0;
}

/*
 * mappings
 */

static void print_perms(struct seq_file *m, u32 class)
{
	seq_putc(m, class & MEMLEDGER_PASS_READ ? 'r' : '-');
	seq_putc(m, class & MEMLEDGER_PASS_WRITE ? 'w' : '-');
	seq_putc(m, class & MEMLEDGER_PASS_EXEC ? 'x' : '-');
	seq_putc(m, class & MEMLEDGER_PASS_SHARED ? 's' : 'p');
}

static void print_name(struct seq_file *m, const struct system_reader *reader)
{
	const struct memledger_name *name = &reader->names.rows[reader->row];
	const struct memledger_usage *row = &name->usage;
	bool swap_pss = memledger_snapshot_has_swap_pss();

	seq_printf(m, "mapping %d", reader->pass.tgid);
	print_total(m, row, true, swap_pss);
	seq_putc(m, ' ');
	print_perms(m, name->class);
	seq_printf(m, " %s %s\n", name->class & MEMLEDGER_PASS_DELETED ?
		   "deleted" : "-", name->text);
}

static int mappings_show(struct seq_file *m, void *v)
{
	const struct system_reader *reader = v;

	switch (reader->state) {
	case SYSTEM_HEADING:
		print_heading(m, reader);
		seq_puts(m, "# process tgid shares complete comm\n# mapping tgid");
#define X(name, ...) seq_puts(m, " " #name);
		PROCESS_COLUMNS(X)
#undef X
		seq_puts(m, " perms deleted name\n");
		break;
	case SYSTEM_PROCESS:
		seq_puts(m, "process ");
		print_process(m, reader);
		print_comm(m, reader->pass.comm);
		break;
	case SYSTEM_ROW:
		print_name(m, reader);
		break;
	case SYSTEM_END:
		print_end(m, reader);
		break;
	case SYSTEM_DONE:
		break;
	}
	return 0;
}

/*
 * Both
 */

static const struct seq_operations snapshot_seq_ops = {
	.start = system_start,
	.next = system_next,
	.stop = system_stop,
	.show = snapshot_show,
};

static const struct seq_operations mappings_seq_ops = {
	.start = system_start,
	.next = system_next,
	.stop = system_stop,
	.show = mappings_show,
};

static int system_open(struct file *file, const struct seq_operations *ops)
{
	struct system_reader *reader;
	int ret;

	if (!memledger_access_allowed())
		return -EPERM;
	reader = kvzalloc(sizeof(*reader), GFP_KERNEL_ACCOUNT);
	if (!reader)
		return -ENOMEM;
	reader->by_name = ops == &mappings_seq_ops;
	ret = seq_open(file, ops);
	if (ret) {
		kvfree(reader);
		return ret;
	}
	((struct seq_file *)file->private_data)->private = reader;
	return 0;
}

static int snapshot_open(struct inode *inode, struct file *file)
{
	return system_open(file, &snapshot_seq_ops);
}

static int mappings_open(struct inode *inode, struct file *file)
{
	return system_open(file, &mappings_seq_ops);
}

static int system_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct system_reader *reader = m->private;

	end_pass(reader);
	kvfree(reader);
	return seq_release(inode, file);
}

static const struct file_operations snapshot_fops = {
	.owner = THIS_MODULE,
	.open = snapshot_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = system_release,
};

static const struct file_operations mappings_fops = {
	.owner = THIS_MODULE,
	.open = mappings_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = system_release,
};

/**
 * memledger_debugfs_system_init - make snapshot and mappings
 * @root: the directory of all that is not about one process
 */
void __init memledger_debugfs_system_init(struct dentry *root)
{
	debugfs_create_file("snapshot", 0400, root, NULL, &snapshot_fops);
	debugfs_create_file("mappings", 0400, root, NULL, &mappings_fops);
}
