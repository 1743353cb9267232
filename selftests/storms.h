/* SPDX-License-Identifier: GPL-2.0-only */
/* What may go on in a system while memledger is read; see storms.c. */
#ifndef STORMS_H
#define STORMS_H

#include <sys/types.h>

/* How many processes at a time know each other, so that all can be tracked. */
#define NR_CROWD	32

#define KSM	"/sys/kernel/mm/ksm/"

/**
 * struct storm - something that goes on and on
 * @name: what it is called in the report
 * @needs: a file that must be there, or NULL; the storm is left out otherwise
 * @unsafe: only while one processor runs all of them: it changes code that
 *	others run, which emulated processors may miss
 * @prepare: called once, may be NULL
 * @step: called again and again, with a number that goes up; true if it did
 *	what it is for
 */
struct storm {
	const char *name;
	const char *needs;
	bool unsafe;
	void (*prepare)(void);
	bool (*step)(unsigned int n);
};

/**
 * struct weather - what all storms and the test have in common
 * @crowd: processes that are worth being tracked; 0: none
 * @unloading: who keeps files open for long, or opens them one after the other,
 *	waits: the module cannot be unloaded while one is open in debugfs
 * @bad: how often something went wrong that must not
 * @wraps: how often process numbers have begun anew
 * @steps: of each storm those that did something, in their order
 */
struct weather {
	pid_t crowd[NR_CROWD];
	bool unloading;
	unsigned int bad;
	unsigned int wraps;
	unsigned int steps[64];
};

extern const struct storm storms[];
extern struct weather *weather;

void weather_join(pid_t pid);
void weather_leave(pid_t pid);
void weather_bad(const char *what, long long value);

#endif
