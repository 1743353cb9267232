/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a journal: what its writer and its reader agree on, and
 * docs/recording.rst describes.
 */
#ifndef _MEMLEDGER_TOOLS_JOURNAL_FORMAT_H
#define _MEMLEDGER_TOOLS_JOURNAL_FORMAT_H

#include "journal.h"

/* A file begins with these, the version, and four bytes of 0. */
#define MEMLEDGER_JOURNAL_MAGIC		"memlrec\n"
#define MEMLEDGER_JOURNAL_HEAD		16

/* A record is its length, its type, as many bytes, and a checksum of all. */
#define MEMLEDGER_JOURNAL_RECORD_HEAD	8
#define MEMLEDGER_JOURNAL_RECORD_TAIL	4
#define MEMLEDGER_JOURNAL_RECORD_MAX	(1U << 20)

/**
 * enum memledger_journal_type - what a record is
 * @MEMLEDGER_JOURNAL_SESSION: where the samples that follow come from; the
 *	numbers of names begin anew
 * @MEMLEDGER_JOURNAL_SAMPLE: a sample
 * @MEMLEDGER_JOURNAL_NAME: a name, and the number that stands for it
 * @MEMLEDGER_JOURNAL_MARK: a mark
 * @MEMLEDGER_JOURNAL_RETAINED: a retained object
 */
enum memledger_journal_type {
	MEMLEDGER_JOURNAL_SESSION = 1,
	MEMLEDGER_JOURNAL_SAMPLE = 2,
	MEMLEDGER_JOURNAL_NAME = 3,
	MEMLEDGER_JOURNAL_MARK = 4,
	MEMLEDGER_JOURNAL_RETAINED = 5,
};

/* Of a sample. */
#define MEMLEDGER_JOURNAL_COMPLETE	0x1
#define MEMLEDGER_JOURNAL_NAMES_CUT	0x2

/* Numbers of struct memledger_graphics: its fields, then the usages. */
#define MEMLEDGER_JOURNAL_GRAPHICS \
	(sizeof(struct memledger_graphics) / sizeof(u64))

#endif
