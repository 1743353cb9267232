/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What watch shows: a picture on a terminal, a line in a file, and the end.
 */
#ifndef _MEMLEDGER_TOOLS_WATCH_PICTURE_H
#define _MEMLEDGER_TOOLS_WATCH_PICTURE_H

#include "terminal.h"
#include "watch.h"

/**
 * struct memledger_watch_view - what there is to show
 * @wanted: what was asked for
 * @pid: the process
 * @comm: its name; empty before the first sample
 * @samples: all of them
 * @finding: of these
 * @round: how many rounds there have been
 * @exited: there is no such process now
 * @note: the last thing that happened; may be empty
 */
struct memledger_watch_view {
	const struct memledger_watch_wanted *wanted;
	pid_t pid;
	const char *comm;
	struct memledger_samples samples;
	struct memledger_finding finding;
	u32 round;
	bool exited;
	char note[256];
};

void memledger_watch_draw(FILE *out, const struct memledger_watch_view *view,
			  const struct memledger_terminal *terminal);
void memledger_watch_print_round(FILE *out,
				 const struct memledger_watch_view *view);
void memledger_watch_print_end(FILE *out,
			       const struct memledger_watch_view *view);

#endif
