/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One pass over all processes. Private to the module.
 */
#ifndef _MEMLEDGER_SYSTEM_H
#define _MEMLEDGER_SYSTEM_H

#include <linux/hashtable.h>
#include <linux/types.h>

#include <memledger/abi.h>

struct memledger_known;
struct memledger_names;
struct pid;

#define MEMLEDGER_PASS_BITS	10

/**
 * struct memledger_pass - where a pass over all processes is
 * @next: the number to look at next
 * @pid: the process at hand, with a reference; NULL before the first
 * @tgid: its number
 * @shares: 0, or the process before it that has the same memory, and with it
 *	the numbers
 * @comm: what it is called, NUL-terminated
 * @known: names that were seen in the processes before
 * @begin_ns: when the pass began, CLOCK_BOOTTIME
 * @seen: the memory of the processes before
 */
struct memledger_pass {
	pid_t next;
	struct pid *pid;
	pid_t tgid;
	pid_t shares;
	char comm[sizeof_field(struct memledger_record, comm)];
	struct memledger_known *known;
	u64 begin_ns;
	DECLARE_HASHTABLE(seen, MEMLEDGER_PASS_BITS);
};

void memledger_pass_begin(struct memledger_pass *pass);
int memledger_pass_next(struct memledger_pass *pass);
int memledger_pass_record(struct memledger_pass *pass,
			  struct memledger_record *record);
int memledger_pass_names(struct memledger_pass *pass,
			 struct memledger_names *names, bool *complete);
void memledger_pass_end(struct memledger_pass *pass);

/* What tells the rows of memledger_pass_names() apart beside their names. */
#define MEMLEDGER_PASS_READ	0x1
#define MEMLEDGER_PASS_WRITE	0x2
#define MEMLEDGER_PASS_EXEC	0x4
#define MEMLEDGER_PASS_SHARED	0x8
#define MEMLEDGER_PASS_DELETED	0x10

#endif
