/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who mapped what: noted while it happens, on request.
 */
#ifndef _MEMLEDGER_CAPTURE_H
#define _MEMLEDGER_CAPTURE_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct pid;

/*
 * Addresses noted for a mapping: where the system call was made, where that
 * function returns to, and the callers that frame pointers lead to.
 */
#define MEMLEDGER_CAPTURE_PCS		8

/**
 * struct memledger_capture_info - what a capture has to say of itself
 * @ranges: mappings noted now: anonymous ones, and code
 * @dropped: mappings whose caller could not be noted: no room, or the probes
 *	were all in use; the latter is counted for all processes together
 */
struct memledger_capture_info {
	u64 ranges;
	u64 dropped;
};

bool memledger_capture_supported(void);
bool memledger_capture_enabled(void);
int memledger_capture_enable(bool on);
void memledger_capture_exit(void);

int memledger_capture_start(struct pid *pid);
void memledger_capture_stop(struct pid *pid);
bool memledger_capture_info(struct pid *pid,
			    struct memledger_capture_info *info);
unsigned int memledger_capture_lookup(struct pid *pid,
				      const struct mm_struct *mm,
				      unsigned long addr, unsigned long *end,
				      unsigned long *pcs);

#endif
