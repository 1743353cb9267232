// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process's name in, its number out; a number in, what proc says of it out.
 */
#include <ctype.h>
#include <dirent.h>
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
static bool process_is_called(const char *proc, pid_t pid, const char *name)
{
	char text[4096];
	const char *slash;

	memledger_process_read(proc, pid, "comm", text, sizeof(text));
	if (*text && text[strlen(text) - 1] == '\n')
		text[strlen(text) - 1] = '\0';
	if (!strcmp(text, name))
		return true;

	memledger_process_read(proc, pid, "cmdline", text, sizeof(text));
	slash = strrchr(text, '/');
	return !strcmp(text, name) || (slash && !strcmp(slash + 1, name));
}

static void add_candidate(struct memledger_error *error, const char *proc,
			  pid_t pid)
{
	size_t len = strlen(error->text);
	char text[4096];
	char *shown;

	memledger_process_read(proc, pid, "cmdline", text, sizeof(text));
	shown = memledger_escape_text(text, "");
	snprintf(error->text + len, sizeof(error->text) - len, "\n%8d %.64s",
		 pid, shown ? shown : "");
	free(shown);
}

static bool read_link(const char *path, char *text, size_t size)
{
	ssize_t len = readlink(path, text, size - 1);

	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* By the numbers that proc has; those of a stand-in are not ours. */
static pid_t own_number(const char *proc)
{
	char path[512], number[16];

	snprintf(path, sizeof(path), "%s/self", proc);
	return read_link(path, number, sizeof(number)) ? atoi(number) : -1;
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
	char path[512], name[64];

	/* It shows a namespace, whose first process is in that. */
	snprintf(path, sizeof(path), "%s/1/ns/pid", proc);
	/* Without CONFIG_PID_NS there is only one. */
	return !read_link(path, name, sizeof(name)) ||
	       !strcmp(name, INITIAL_PID_NAMESPACE);
}

/* Return: its state, 0 where there is none, and when it began. */
static char read_stat(const char *proc, pid_t pid, u64 *start_ticks)
{
	char text[1024], state;
	const char *at;

	memledger_process_read(proc, pid, "stat", text, sizeof(text));
	/* The name in front of it may have blanks and brackets. */
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1,
			  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			  &state, start_ticks) != 2)
		return 0;
	return state;
}

/**
 * memledger_process_start_ticks - when a process began
 * @proc: where proc is mounted
 * @pid: the process
 *
 * With the number this tells it from a later process of the same number.
 *
 * Return: clock ticks after boot, or 0 if that cannot be told.
 */
u64 memledger_process_start_ticks(const char *proc, pid_t pid)
{
	u64 ticks;

	return memledger_process_has_numbers(proc) &&
	       read_stat(proc, pid, &ticks) ? ticks : 0;
}

/**
 * memledger_process_has_exited - whether proc says that a process has exited
 * @proc: where proc is mounted
 * @pid: the process
 * @start_ticks: when it began, 0 if that is not known
 *
 * Its memory is gone some time before proc says so.
 *
 * Return: true if it has, whether or not somebody has waited for it, or another
 * one has its number now; false where that cannot be told.
 */
bool memledger_process_has_exited(const char *proc, pid_t pid,
				  u64 start_ticks)
{
	char state;
	u64 ticks;

	if (!start_ticks || !memledger_process_has_numbers(proc))
		return false;
	state = read_stat(proc, pid, &ticks);
	return !state || strchr("ZXx", state) || ticks != start_ticks;
}

/**
 * memledger_process_find - look up a process by its name
 * @name: its comm, its first argument (an Android process's name), or what
 *	follows the last slash of that
 * @proc: where proc is mounted
 * @pid: its number
 * @error: what went wrong; lists the candidates where there is more than one
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_process_find(const char *name, const char *proc, pid_t *pid,
			   struct memledger_error *error)
{
	char *shown = memledger_escape_text(name, "");
	unsigned int found = 0;
	pid_t own = own_number(proc);
	struct dirent *entry;
	DIR *directory;
	int ret;

	if (!memledger_process_has_numbers(proc)) {
		free(shown);
		return memledger_error_set(error,
					   "names cannot be looked up in %s, which is not that of the initial pid namespace: give that with --proc, or the number that the process has there",
					   proc);
	}
	directory = opendir(proc);
	if (!directory) {
		free(shown);
		return memledger_error_set(error,
					   "cannot look into %s: mount proc there, or give the process's number",
					   proc);
	}

	memledger_error_set(error,
			    "more than one process is called %s: give the number of one of them:",
			    shown ? shown : "so");
	while ((entry = readdir(directory))) {
		pid_t nr = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    nr == own || !process_is_called(proc, nr, name))
			continue;
		found++;
		*pid = nr;
		add_candidate(error, proc, nr);
	}
	closedir(directory);

	ret = found == 1 ? 0 : -1;
	if (!found)
		memledger_error_set(error,
				    "no process is called %s: see ps -e",
				    shown ? shown : "so");
	free(shown);
	return ret;
}
