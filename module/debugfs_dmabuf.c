// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the snapshot of all DMA-BUFs to the two files called dmabuf under
 * /sys/kernel/debug/memledger: every buffer with its holders, and those of one
 * process. docs/ABI/testing/debugfs-memledger-dmabuf has the form.
 *
 * A reader keeps the snapshot that it got when it opened the file. The position
 * in the file is the number of the line, from which the table tells the rest.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string_helpers.h>

#include "dmabuf.h"
#include "target.h"

/**
 * struct dmabuf_reader - what a reader was given
 * @target: the process whose buffers are read, with a reference; NULL: all
 * @snapshot: with a reference
 * @process: in @snapshot; NULL: it holds nothing, or all are read
 * @pos: number of the line at hand; 0 is the heading
 */
struct dmabuf_reader {
	struct memledger_target *target;
	struct memledger_dmabuf_snapshot *snapshot;
	const struct memledger_dmabuf_process *process;
	loff_t pos;
};

/*
 * NULL, which is not known, is "-", and nothing else is; nor can anything be
 * taken for a blank or for the end of a line.
 */
static void print_text(struct seq_file *m, const char *text)
{
	if (!text)
		seq_putc(m, '-');
	else if (!*text || !strcmp(text, "-"))
		seq_printf(m, "\\%03o", *text);
	else
		seq_escape_mem(m, text, strlen(text),
			       ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND,
			       " \\");
}

static void print_heading(struct seq_file *m,
			  const struct memledger_dmabuf_snapshot *snapshot,
			  bool all)
{
	seq_printf(m, "# generation %llu timestamp_ns %llu walk_ns %llu complete %d list %d\n",
		   snapshot->generation, snapshot->timestamp_ns,
		   snapshot->walk_ns, snapshot->complete, snapshot->listed);
	seq_puts(m, "# buffer ino size holders exporter name\n");
	seq_puts(m, "# holder ino tgid fds maps imports mapped_bytes smaps_rss smaps_pss pss comm\n");
	if (all)
		seq_puts(m, "# exporter count size name\n");
}

static void print_buffer(struct seq_file *m,
			 const struct memledger_dmabuf_buffer *buffer)
{
	seq_printf(m, "buffer %llu %llu %u ", buffer->ino, buffer->size,
		   buffer->nr_holders);
	print_text(m, buffer->exporter);
	seq_putc(m, ' ');
	print_text(m, *buffer->name ? buffer->name : NULL);
	seq_putc(m, '\n');
}

static void print_holder(struct seq_file *m,
			 const struct memledger_dmabuf_buffer *buffer,
			 const struct memledger_dmabuf_holder *holder,
			 const struct memledger_dmabuf_process *process)
{
	char comm[MEMLEDGER_COMM_TEXT_LEN];

	memledger_comm_escape(process->comm, comm, sizeof(comm));
	seq_printf(m, "holder %llu %d %u %u %u %llu %llu %llu %llu %s\n",
		   holder->ino, holder->tgid, holder->fds, holder->maps,
		   holder->imports, holder->mapped, holder->smaps_rss,
		   holder->smaps_pss >> MEMLEDGER_PSS_SHIFT,
		   memledger_dmabuf_pss(buffer), comm);
}

/* The buffer that has line @line, counted from 0, of buffers and holders. */
static const struct memledger_dmabuf_buffer *
buffer_at(const struct memledger_dmabuf_table *table, u64 line)
{
	u32 low = 0, high = table->nr_buffers - 1;

	while (low < high) {
		u32 middle = low + (high - low + 1) / 2;

		if (middle + (u64)table->buffers[middle].first <= line)
			low = middle;
		else
			high = middle - 1;
	}
	return &table->buffers[low];
}

static void print_line(struct seq_file *m,
		       const struct memledger_dmabuf_table *table, u64 line)
{
	const struct memledger_dmabuf_exporter *exporter;
	const struct memledger_dmabuf_holder *holder;
	const struct memledger_dmabuf_buffer *buffer;
	u64 nr = (u64)table->nr_buffers + table->nr_holders;

	if (line >= nr) {
		exporter = &table->exporters[line - nr];
		seq_printf(m, "exporter %llu %llu ", exporter->count,
			   exporter->size);
		print_text(m, exporter->name);
		seq_putc(m, '\n');
		return;
	}
	buffer = buffer_at(table, line);
	nr = line - (buffer - table->buffers) - buffer->first;
	if (!nr) {
		print_buffer(m, buffer);
		return;
	}
	holder = &table->holders[buffer->first + nr - 1];
	print_holder(m, buffer, holder,
		     memledger_dmabuf_find_process(table, holder->tgid));
}

/* Two lines a buffer. */
static void print_line_of(struct seq_file *m,
			  const struct memledger_dmabuf_table *table,
			  const struct memledger_dmabuf_process *process,
			  u64 line)
{
	const struct memledger_dmabuf_holder *holder =
		&table->holders[table->by_process[process->first + line / 2]];
	const struct memledger_dmabuf_buffer *buffer =
		memledger_dmabuf_find_buffer(table, holder->ino);

	if (line % 2)
		print_holder(m, buffer, holder, process);
	else
		print_buffer(m, buffer);
}

static u64 nr_lines(const struct dmabuf_reader *reader)
{
	const struct memledger_dmabuf_table *table = &reader->snapshot->table;

	if (reader->target)
		return reader->process ? 2ULL * reader->process->nr : 0;
	return (u64)table->nr_buffers + table->nr_holders +
	       table->nr_exporters;
}

static void *dmabuf_start(struct seq_file *m, loff_t *pos)
{
	struct dmabuf_reader *reader = m->private;

	reader->pos = *pos;
	return *pos <= nr_lines(reader) ? reader : NULL;
}

static void *dmabuf_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return dmabuf_start(m, pos);
}

static void dmabuf_stop(struct seq_file *m, void *v)
{
}

static int dmabuf_show(struct seq_file *m, void *v)
{
	const struct dmabuf_reader *reader = v;
	const struct memledger_dmabuf_table *table = &reader->snapshot->table;

	if (!reader->pos)
		print_heading(m, reader->snapshot, !reader->target);
	else if (reader->target)
		print_line_of(m, table, reader->process, reader->pos - 1);
	else
		print_line(m, table, reader->pos - 1);
	return 0;
}

static const struct seq_operations dmabuf_seq_ops = {
	.start = dmabuf_start,
	.next = dmabuf_next,
	.stop = dmabuf_stop,
	.show = dmabuf_show,
};

static int dmabuf_open(struct inode *inode, struct file *file)
{
	struct memledger_target *target = inode->i_private;
	struct memledger_dmabuf_snapshot *snapshot;
	struct dmabuf_reader *reader;

	if (!memledger_access_allowed())
		return -EPERM;
	/* A tracked process that has exited left its number to others. */
	if (target && !memledger_target_is_alive(target))
		return -ESRCH;
	snapshot = memledger_dmabuf_snapshot_get(target ? target->nr : 0,
						 MEMLEDGER_SNAPSHOT_FRESH,
						 target ? &target->dying :
						 NULL);
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	/*
	 * Asked again: only of a process that is alive now it is certain that
	 * the snapshot has nobody else by its number.
	 */
	if (target && !memledger_target_is_alive(target)) {
		memledger_dmabuf_snapshot_put(snapshot);
		return -ESRCH;
	}
	reader = __seq_open_private(file, &dmabuf_seq_ops, sizeof(*reader));
	if (!reader) {
		memledger_dmabuf_snapshot_put(snapshot);
		return -ENOMEM;
	}
	reader->snapshot = snapshot;
	if (target) {
		memledger_target_get(target);
		reader->target = target;
		reader->process =
			memledger_dmabuf_find_process(&snapshot->table,
						      target->nr);
	}
	return 0;
}

static int dmabuf_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct dmabuf_reader *reader = m->private;

	memledger_dmabuf_snapshot_put(reader->snapshot);
	if (reader->target)
		memledger_target_put(reader->target);
	return seq_release_private(inode, file);
}

static const struct file_operations dmabuf_fops = {
	.owner = THIS_MODULE,
	.open = dmabuf_open,
	.read = memledger_debugfs_read,
	.llseek = memledger_debugfs_llseek,
	.release = dmabuf_release,
};

/**
 * memledger_debugfs_dmabuf_add - make processes/TGID/dmabuf
 * @target: the process; its directory is there
 */
void memledger_debugfs_dmabuf_add(struct memledger_target *target)
{
	debugfs_create_file("dmabuf", 0400, target->debugfs, target,
			    &dmabuf_fops);
}

/**
 * memledger_debugfs_dmabuf_init - make dmabuf
 * @root: the directory of all that is not about one process
 */
void __init memledger_debugfs_dmabuf_init(struct dentry *root)
{
	debugfs_create_file("dmabuf", 0400, root, NULL, &dmabuf_fops);
}
