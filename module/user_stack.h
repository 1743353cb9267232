/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who in user space made the system call at hand.
 */
#ifndef _MEMLEDGER_USER_STACK_H
#define _MEMLEDGER_USER_STACK_H

/**
 * memledger_user_stack - the callers of the current system call
 * @pcs: gets addresses, the innermost first: where the call was made, then
 *	where that function returns to, and so on for as long as it is sure
 * @max: room in @pcs, at least 2
 *
 * Context: the current task is in a system call. Does not sleep or fault.
 * Return: how many; 0 for 32-bit tasks.
 */
unsigned int memledger_user_stack(unsigned long *pcs, unsigned int max);

#endif
