/* SPDX-License-Identifier: GPL-2.0-only */
/* How the times that the mmap lock was held are told apart, for the stats. */
#ifndef _MEMLEDGER_HOLD_H
#define _MEMLEDGER_HOLD_H

/*
 * By their length: below 1,024 ns, below twice that, and so on; the last are
 * all that are longer.
 */
#define MEMLEDGER_HOLD_SHIFT	10
#define MEMLEDGER_NR_HOLDS	16

#endif
