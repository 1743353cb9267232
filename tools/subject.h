/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that a command is about: a running one, or a saved smaps text.
 */
#ifndef _MEMLEDGER_TOOLS_SUBJECT_H
#define _MEMLEDGER_TOOLS_SUBJECT_H

#include "live.h"
#include "vmas.h"

/**
 * struct memledger_subject - what is known of a process
 * @report: the rows and where they come from
 * @vmas: its mappings, of a saved text only
 * @details: text of the file in debugfs that was asked for, of a running
 *	process only
 * @live: what @report and @details refer to
 */
struct memledger_subject {
	struct memledger_report report;
	struct memledger_vmas vmas;
	char *details;
	struct memledger_live live;
};

int memledger_subject_find(const char *process, const char *proc, pid_t *pid,
			   struct memledger_error *error);
int memledger_subject_read_process(struct memledger_subject *subject,
				   const char *process, const char *profile,
				   const char *sysfs, const char *proc,
				   const char *file,
				   struct memledger_error *error);
int memledger_subject_read_text(struct memledger_subject *subject,
				const char *path, const char *profile,
				struct memledger_error *error);
bool memledger_subject_is_text(const char *operand);
void memledger_subject_free(struct memledger_subject *subject);

#endif
