// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process's name in, its number out.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "process.h"

/* In the initial pid namespace; Linux has always had this number for it. */
#define INITIAL_PID_NAMESPACE	"pid:[4026531836]"

/**
 * memledger_process_read - read a file of a process
 * @proc: where proc is mounted
 * @pid: the process
 * @file: which file
 * @text: gets what it begins with, NUL-terminated; of several strings, like
 *	those of cmdline, it reads as the first. Empty where there is none
 * @size: of @text
 */
void memledger_process_read(const char *proc, pid_t pid, const char *file,
			    char *text, size_t size)
{
	char path[512];
	size_t len = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/%s", proc, pid, file);
	f = fopen(path, "re");
	if (f) {
		len = fread(text, 1, size - 1, f);
		fclose(f);
	}
	text[len] = '\0';
}

/* Its comm, the whole of its first argument, or the last part of that. */
static bool process_is_called(pid_t pid, const char *name)
{
	char text[4096];
	const char *slash;

	memledger_process_read("/proc", pid, "comm", text, sizeof(text));
	if (*text && text[strlen(text) - 1] == '\n')
		text[strlen(text) - 1] = '\0';
	if (!strcmp(text, name))
		return true;

	memledger_process_read("/proc", pid, "cmdline", text, sizeof(text));
	slash = strrchr(text, '/');
	return !strcmp(text, name) || (slash && !strcmp(slash + 1, name));
}

static void add_candidate(struct memledger_error *error, pid_t pid)
{
	size_t len = strlen(error->text);
	char text[4096];
	char *shown;

	memledger_process_read("/proc", pid, "cmdline", text, sizeof(text));
	shown = memledger_escape_text(text, "");
	snprintf(error->text + len, sizeof(error->text) - len, "\n%8d %.64s",
		 pid, shown ? shown : "");
	free(shown);
}

/* Return: whether a process, or who reads "self", is in the initial one. */
static bool in_initial_pid_namespace(const char *proc, const char *process)
{
	char path[512], name[64];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%s/ns/pid", proc, process);
	len = readlink(path, name, sizeof(name) - 1);
	/* Without CONFIG_PID_NS there is only one. */
	if (len < 0)
		return true;
	name[len] = '\0';
	return !strcmp(name, INITIAL_PID_NAMESPACE);
}

/**
 * memledger_process_has_numbers - whether proc goes by the module's numbers
 * @proc: where proc is mounted
 *
 * Return: false for the proc of another pid namespace than the initial one,
 * where the same numbers are other processes.
 */
bool memledger_process_has_numbers(const char *proc)
{
	/* It shows a namespace, whose first process is in that. */
	return in_initial_pid_namespace(proc, "1");
}

/**
 * memledger_process_find - look up a process by its name
 * @name: its comm, its first argument (an Android process's name), or what
 *	follows the last slash of that
 * @pid: its number
 * @error: what went wrong; lists the candidates where there is more than one
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_process_find(const char *name, pid_t *pid,
			   struct memledger_error *error)
{
	char *shown = memledger_escape_text(name, "");
	unsigned int found = 0;
	struct dirent *entry;
	DIR *proc;
	int ret;

	if (!in_initial_pid_namespace("/proc", "self")) {
		free(shown);
		return memledger_error_set(error,
					   "names cannot be looked up outside the initial pid namespace: give the number that the process has there");
	}
	proc = opendir("/proc");
	if (!proc) {
		free(shown);
		return memledger_error_set(error,
					   "cannot look into /proc: mount proc there, or give the process's number");
	}

	memledger_error_set(error,
			    "more than one process is called %s: give the number of one of them:",
			    shown ? shown : "so");
	while ((entry = readdir(proc))) {
		pid_t nr = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    nr == getpid() || !process_is_called(nr, name))
			continue;
		found++;
		*pid = nr;
		add_candidate(error, nr);
	}
	closedir(proc);

	ret = found == 1 ? 0 : -1;
	if (!found)
		memledger_error_set(error,
				    "no process is called %s: see ps -e",
				    shown ? shown : "so");
	free(shown);
	return ret;
}
