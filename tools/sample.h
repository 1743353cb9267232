/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process had at one moment, small enough to keep thousands of: the
 * rows of a record, its graphics numbers and, where asked for, its largest
 * names.
 */
#ifndef _MEMLEDGER_TOOLS_SAMPLE_H
#define _MEMLEDGER_TOOLS_SAMPLE_H

#include <memledger/abi.h>

/* Beside MEMLEDGER_UNAVAILABLE_*: nobody asked, or it could not be read. */
#define MEMLEDGER_SAMPLE_NO_DMABUF	0x10000
#define MEMLEDGER_SAMPLE_NO_NAMES	0x20000
#define MEMLEDGER_SAMPLE_NO_START	0x40000

/* X(field): of struct memledger_sample_row, in the order of the file. */
#define MEMLEDGER_SAMPLE_FIELDS(X)					\
	X(pss)								\
	X(swap_pss)							\
	X(rss)								\
	X(private_dirty)						\
	X(private_clean)						\
	X(shared_dirty)							\
	X(shared_clean)							\
	X(swap)								\
	X(vmas)

/**
 * struct memledger_sample_row - a row of the record
 *
 * Bytes, vmas apart; pss and swap_pss are rounded down to a byte. swap_pss is
 * 0 where MEMLEDGER_UNAVAILABLE_SWAP_PSS is set.
 */
struct memledger_sample_row {
#define X(field) u64 field;
	MEMLEDGER_SAMPLE_FIELDS(X)
#undef X
};

/* The rows: the total, then the categories, then what is in Unknown. */
#define MEMLEDGER_SAMPLE_TOTAL		0
#define MEMLEDGER_SAMPLE_CATEGORIES	1
#define MEMLEDGER_SAMPLE_UNKNOWN \
	(MEMLEDGER_SAMPLE_CATEGORIES + NR_MEMLEDGER_CATEGORIES)
#define MEMLEDGER_SAMPLE_ROWS \
	(MEMLEDGER_SAMPLE_UNKNOWN + NR_MEMLEDGER_UNKNOWN_CLASSES)

/**
 * enum memledger_sample_names - what a name in a sample is the name of
 * @MEMLEDGER_SAMPLE_MAPPINGS: mappings of a name; bytes are Pss and SwapPss
 *	without clean pages of files, see memledger_sample_value()
 * @MEMLEDGER_SAMPLE_EXPORTERS: DMA-BUFs of an exporter; bytes are the
 *	process's share
 * @NR_MEMLEDGER_SAMPLE_NAMES: how many there are
 */
enum memledger_sample_names {
	MEMLEDGER_SAMPLE_MAPPINGS,
	MEMLEDGER_SAMPLE_EXPORTERS,
	NR_MEMLEDGER_SAMPLE_NAMES
};

/**
 * struct memledger_sample_name - what goes by a name
 * @text: the name; owned by the sample
 * @what: enum memledger_sample_names
 * @category: enum memledger_category of mappings; else 0
 * @bytes: how large
 * @count: how many mappings or buffers
 */
struct memledger_sample_name {
	char *text;
	u8 what;
	u8 category;
	u64 bytes;
	u64 count;
};

/**
 * struct memledger_sample - a process at one moment
 * @time_ns: when the snapshot was finished, CLOCK_BOOTTIME
 * @walk_ns: how long it took
 * @start_ticks: when the process began, in clock ticks after boot, which with
 *	@tgid tells it from a later one of the same number; 0 where
 *	MEMLEDGER_SAMPLE_NO_START is set
 * @generation: which snapshot of this target
 * @tgid: the process, in the initial pid namespace
 * @complete: whether the walk saw all of it
 * @unavailable: MEMLEDGER_UNAVAILABLE_* and MEMLEDGER_SAMPLE_*
 * @row: the rows; see MEMLEDGER_SAMPLE_TOTAL and so on
 * @graphics: what the GPU driver says, 0 where MEMLEDGER_UNAVAILABLE_MTRACK
 * @dmabuf_count: DMA-BUFs that the process holds; 0 where
 *	MEMLEDGER_SAMPLE_NO_DMABUF, and so are the next two
 * @dmabuf_rss: bytes of these
 * @dmabuf_pss: its share of them, bytes
 * @name: the largest names, the largest first; NULL where there is none
 * @nr_names: how many
 * @names_cut: whether there are smaller mappings that were left out
 *
 * All zero is an empty one. What is unavailable is 0 here and must be looked
 * up in @unavailable: memledger_sample_value() does.
 */
struct memledger_sample {
	u64 time_ns;
	u64 walk_ns;
	u64 start_ticks;
	u64 generation;
	s32 tgid;
	bool complete;
	u32 unavailable;
	struct memledger_sample_row row[MEMLEDGER_SAMPLE_ROWS];
	struct memledger_graphics graphics;
	u64 dmabuf_count;
	u64 dmabuf_rss;
	u64 dmabuf_pss;
	struct memledger_sample_name *name;
	size_t nr_names;
	bool names_cut;
};

/**
 * enum memledger_part_kind - what a number of a sample is about
 * @MEMLEDGER_PART_TOTAL: the process
 * @MEMLEDGER_PART_CATEGORY: a category
 * @MEMLEDGER_PART_UNKNOWN: a class within Unknown
 * @MEMLEDGER_PART_DMABUF: the DMA-BUFs that it holds
 * @MEMLEDGER_PART_GPU: GPU memory of a usage
 * @MEMLEDGER_PART_NAME: mappings of a name
 * @MEMLEDGER_PART_EXPORTER: DMA-BUFs of an exporter
 */
enum memledger_part_kind {
	MEMLEDGER_PART_TOTAL,
	MEMLEDGER_PART_CATEGORY,
	MEMLEDGER_PART_UNKNOWN,
	MEMLEDGER_PART_DMABUF,
	MEMLEDGER_PART_GPU,
	MEMLEDGER_PART_NAME,
	MEMLEDGER_PART_EXPORTER,
};

/**
 * struct memledger_part - a part of a process
 * @kind: enum memledger_part_kind
 * @index: the category, the class or the usage; of a name its category
 * @name: of MEMLEDGER_PART_NAME and _EXPORTER; whose it is says who made this
 */
struct memledger_part {
	enum memledger_part_kind kind;
	unsigned int index;
	const char *name;
};

/**
 * struct memledger_samples - samples in order of time
 * @sample: the samples
 * @nr: how many
 *
 * All zero is none.
 */
struct memledger_samples {
	struct memledger_sample *sample;
	size_t nr;
};

void memledger_sample_set_row(struct memledger_sample_row *row,
			      const struct memledger_usage *usage);
void memledger_sample_set(struct memledger_sample *sample,
			  const struct memledger_record *record);
int memledger_sample_add_name(struct memledger_sample *sample,
			      enum memledger_sample_names what,
			      enum memledger_category category,
			      const char *text, u64 bytes, u64 count);
void memledger_sample_keep_names(struct memledger_sample *sample, size_t most);
void memledger_sample_free(struct memledger_sample *sample);
bool memledger_sample_has_row(const struct memledger_sample *sample,
			      unsigned int row);
bool
memledger_sample_find_name(const struct memledger_sample *sample,
			   const struct memledger_part *part,
			   const struct memledger_sample_name **name);
u64 memledger_sample_held(const struct memledger_sample_row *row,
			  enum memledger_category category, u32 unavailable);
bool memledger_sample_value(const struct memledger_sample *sample,
			    const struct memledger_part *part, u64 *value);
bool memledger_sample_same_process(const struct memledger_sample *a,
				   const struct memledger_sample *b);
const char *memledger_part_label(const struct memledger_part *part);

struct memledger_sample *
memledger_samples_add(struct memledger_samples *samples);
void memledger_samples_free(struct memledger_samples *samples);
size_t memledger_samples_begin(const struct memledger_samples *samples);

#endif
