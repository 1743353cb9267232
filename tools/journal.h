/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of samples, marks and retained objects, as docs/recording.rst has
 * them: written record by record, readable up to the last whole one whatever
 * happened to the writer or the disk.
 */
#ifndef _MEMLEDGER_TOOLS_JOURNAL_H
#define _MEMLEDGER_TOOLS_JOURNAL_H

#include "error.h"
#include "sample.h"

#define MEMLEDGER_JOURNAL_VERSION	1

/**
 * struct memledger_mark - a moment that somebody wants to find again
 * @time_ns: CLOCK_BOOTTIME
 * @tgid: the process
 * @label: what it is called; may be empty
 */
struct memledger_mark {
	u64 time_ns;
	s32 tgid;
	char *label;
};

/**
 * enum memledger_retained_kind - what is retained
 * @MEMLEDGER_RETAINED_DMABUF: a DMA-BUF; its number is the inode's
 * @MEMLEDGER_RETAINED_GPU: an entry of the GPU driver; its number is the id
 * @MEMLEDGER_RETAINED_VMA: mappings of a name; their number is the first
 *	address
 * @NR_MEMLEDGER_RETAINED: how many there are
 */
enum memledger_retained_kind {
	MEMLEDGER_RETAINED_DMABUF,
	MEMLEDGER_RETAINED_GPU,
	MEMLEDGER_RETAINED_VMA,
	NR_MEMLEDGER_RETAINED
};

/**
 * struct memledger_retained - an object that should have been released
 * @time_ns: when it was still there, CLOCK_BOOTTIME
 * @age_ns: for how long it is known to have been there by then
 * @tgid: whose it was when it was taken down
 * @kind: enum memledger_retained_kind
 * @id: its number
 * @size: bytes
 * @what: exporter, usage or name
 * @holders: who holds it, a line each, in words: "app[123] fd 7", "app[123]
 *	mapping", "app[123] GPU import", "in flight", "driver"
 */
struct memledger_retained {
	u64 time_ns;
	u64 age_ns;
	s32 tgid;
	enum memledger_retained_kind kind;
	u64 id;
	u64 size;
	char *what;
	char *holders;
};

/**
 * struct memledger_environment - where the samples of a session come from
 * @time_ns: when it began, CLOCK_BOOTTIME
 * @realtime_ns: the same moment, CLOCK_REALTIME
 * @pairs: of words, "key\0value\0" and so on, in the order in which they are
 *	to be shown; keys are in docs/recording.rst
 * @len: of @pairs, bytes
 */
struct memledger_environment {
	u64 time_ns;
	u64 realtime_ns;
	char *pairs;
	size_t len;
};

/**
 * struct memledger_journal - a file that is being written
 * @path: its name
 * @fd: the file, locked
 * @end: where the next record goes
 * @names: the names that this session has written, by their numbers
 * @nr_names: how many
 * @dropped: bytes of a torn record that were cut off when it was opened
 */
struct memledger_journal {
	const char *path;
	int fd;
	u64 end;
	char **names;
	size_t nr_names;
	u64 dropped;
};

/**
 * struct memledger_recording - what a file has
 * @samples: the samples
 * @mark: the marks
 * @nr_marks: how many
 * @retained: the retained objects
 * @nr_retained: how many
 * @environment: one for each session that wrote to the file
 * @nr_environments: how many
 * @end: bytes up to the end of the last whole record
 * @dropped: bytes behind that
 * @damaged: what is behind that is not just the beginning of a record
 */
struct memledger_recording {
	struct memledger_samples samples;
	struct memledger_mark *mark;
	size_t nr_marks;
	struct memledger_retained *retained;
	size_t nr_retained;
	struct memledger_environment *environment;
	size_t nr_environments;
	u64 end;
	u64 dropped;
	bool damaged;
};

int memledger_journal_open(struct memledger_journal *journal, const char *path,
			   struct memledger_error *error);
int memledger_journal_begin(struct memledger_journal *journal,
			    const struct memledger_environment *environment,
			    struct memledger_error *error);
int memledger_journal_add_sample(struct memledger_journal *journal,
				 const struct memledger_sample *sample,
				 struct memledger_error *error);
int memledger_journal_add_mark(struct memledger_journal *journal,
			       const struct memledger_mark *mark,
			       struct memledger_error *error);
int memledger_journal_add_retained(struct memledger_journal *journal,
				   const struct memledger_retained *retained,
				   struct memledger_error *error);
int memledger_journal_close(struct memledger_journal *journal,
			    struct memledger_error *error);

int memledger_environment_add(struct memledger_environment *environment,
			      const char *key, const char *value);
int memledger_environment_take(struct memledger_environment *environment,
			       const char *sysfs,
			       const struct memledger_record *record);
const char *
memledger_environment_next(const struct memledger_environment *environment,
			   const char *key, const char **value);
void memledger_environment_free(struct memledger_environment *environment);

int memledger_recording_read(struct memledger_recording *recording,
			     const char *path, struct memledger_error *error);
int memledger_recording_parse(struct memledger_recording *recording,
			      const unsigned char *data, size_t size,
			      struct memledger_error *error);
void memledger_recording_free(struct memledger_recording *recording);

#endif
