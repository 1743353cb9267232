// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the user typed in; what is known of the process that is meant by it
 * out.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "escape.h"
#include "process.h"
#include "smaps.h"
#include "subject.h"

static bool parse_pid(const char *text, pid_t *pid)
{
	long number;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	number = strtol(text, NULL, 10);
	/* What no process can have for a number is for the module to refuse. */
	*pid = errno || number > INT_MAX ? INT_MAX : number;
	return *pid > 0;
}

/**
 * memledger_subject_is_text - tell a saved text from a process
 * @operand: what the user typed
 *
 * Return: true for "-" and for what is no number but a file.
 */
bool memledger_subject_is_text(const char *operand)
{
	struct stat st;
	pid_t pid;

	if (!strcmp(operand, "-"))
		return true;
	return !parse_pid(operand, &pid) && !stat(operand, &st) &&
	       !S_ISDIR(st.st_mode);
}

/**
 * memledger_subject_find - find the process that is meant
 * @process: its number or name
 * @proc: where proc is mounted
 * @pid: gets its number
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_subject_find(const char *process, const char *proc, pid_t *pid,
			   struct memledger_error *error)
{
	if (parse_pid(process, pid))
		return 0;
	return memledger_process_find(process, proc, pid, error);
}

/**
 * memledger_subject_read_process - measure a running process
 * @subject: what to fill; to be freed unless this fails
 * @process: its number or name
 * @profile: as in struct memledger_live_wanted
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @file: as in struct memledger_live_wanted
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_subject_read_process(struct memledger_subject *subject,
				   const char *process, const char *profile,
				   const char *sysfs, const char *proc,
				   const char *file,
				   struct memledger_error *error)
{
	const struct memledger_live_wanted wanted = {
		.profile = profile,
		.file = file,
	};
	pid_t pid;

	memset(subject, 0, sizeof(*subject));
	if (memledger_subject_find(process, proc, &pid, error))
		return -1;
	if (memledger_live_read(sysfs, pid, &wanted, &subject->live, error)) {
		free(subject->live.details);
		return -1;
	}
	subject->report = subject->live.report;
	subject->details = subject->live.details;
	return 0;
}

/**
 * memledger_subject_read_text - read a saved smaps text
 * @subject: what to fill; to be freed unless this fails
 * @path: the text, "-" for standard input
 * @profile: the rules to apply, or NULL for the usual ones
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_subject_read_text(struct memledger_subject *subject,
				const char *path, const char *profile,
				struct memledger_error *error)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "standard input" : path;
	char *shown = memledger_escape_text(name, "");
	FILE *file;
	int ret;

	memset(subject, 0, sizeof(*subject));
	if (!shown)
		return memledger_error_set(error, "no memory");
	file = is_stdin ? stdin : fopen(path, "re");
	if (!file) {
		memledger_error_set(error, "%s: %s", shown, strerror(errno));
		free(shown);
		return -1;
	}
	ret = memledger_smaps_read(file, shown,
				   memledger_profile_find(profile ? profile :
						MEMLEDGER_DEFAULT_PROFILE),
				   &subject->report, &subject->vmas, error);
	if (!is_stdin)
		fclose(file);
	free(shown);
	subject->report.source = name;
	if (ret)
		memledger_subject_free(subject);
	return ret;
}

/**
 * memledger_subject_free - free what a subject holds
 * @subject: of no use afterwards
 */
void memledger_subject_free(struct memledger_subject *subject)
{
	memledger_vmas_free(&subject->vmas);
	free(subject->details);
}
