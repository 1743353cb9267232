// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading memledger's snapshot file; see pass.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "pass.h"
#include "testlib.h"

/* Splits a line at each blank; the last word takes what is left. */
static int split(char *line, const char **words, int max)
{
	int nr = 0;

	while (nr < max) {
		words[nr++] = line;
		if (nr == max)
			break;
		line = strchr(line, ' ');
		if (!line)
			break;
		*line++ = '\0';
	}
	return nr;
}

/**
 * pass_parse() - take a text apart
 * @pass: gets it; owns @text from now on, also where this fails
 * @text: the file's
 * Return: 0, or -EBADMSG for a text that is not as documented
 */
int pass_parse(struct pass *pass, char *text)
{
	char *line, *next = text;
	int lines = 0;

	memset(pass, 0, sizeof(*pass));
	pass->text = text;
	for (char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	if (lines < 3 || text[strlen(text) - 1] != '\n')
		return -EBADMSG;
	pass->begin = strsep(&next, "\n");
	pass->columns = split(strsep(&next, "\n"), pass->column, MAX_COLUMNS);
	pass->cells = calloc((size_t)lines * pass->columns,
			     sizeof(*pass->cells));
	if (!pass->cells)
		abort();
	while ((line = strsep(&next, "\n")) && *line != '#') {
		if (split(line, &pass->cells[pass->nr * pass->columns],
			  pass->columns) != pass->columns)
			return -EBADMSG;
		pass->nr++;
	}
	pass->end = line;
	return line && next && !*next && pass->nr == lines - 3 ? 0 : -EBADMSG;
}

/**
 * pass_read() - read the file
 * @pass: gets it
 * @piece: bytes to ask for at a time, 0 for many
 * Return: 0, or a negative errno; EBADMSG for a text that is not as documented
 */
int pass_read(struct pass *pass, size_t piece)
{
	size_t size = 1 << 20, len = 0;
	ssize_t nr = -1;
	char *text;
	int fd;

	memset(pass, 0, sizeof(*pass));
	fd = open(DETAILS "snapshot", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	text = malloc(size);
	if (!text)
		abort();
	while (len < size - 1) {
		size_t left = size - 1 - len;

		nr = read(fd, text + len, piece && piece < left ? piece : left);
		if (nr <= 0)
			break;
		len += nr;
	}
	if (nr < 0)
		nr = -errno;
	close(fd);
	text[len] = '\0';
	if (nr < 0) {
		free(text);
		return nr;
	}
	return pass_parse(pass, text);
}

void pass_free(struct pass *pass)
{
	free(pass->cells);
	free(pass->text);
	memset(pass, 0, sizeof(*pass));
}

/* Return: the line of a process, or -1. */
int pass_find(const struct pass *pass, pid_t tgid)
{
	for (int i = 0; i < pass->nr; i++)
		if (pass_number(pass, i, "tgid") == tgid)
			return i;
	return -1;
}

/* Return: a word, or NULL where there is no such column or line. */
const char *pass_cell(const struct pass *pass, int line, const char *column)
{
	for (int i = 0; line >= 0 && line < pass->nr && i < pass->columns; i++)
		if (!strcmp(pass->column[i], column))
			return pass->cells[line * pass->columns + i];
	return NULL;
}

/* Return: a number, NOT_KNOWN for "-", or a smaller one for anything else. */
long long pass_number(const struct pass *pass, int line, const char *column)
{
	const char *cell = pass_cell(pass, line, column);
	char *end;
	long long number;

	if (!cell)
		return -ENOENT;
	if (!strcmp(cell, "-"))
		return NOT_KNOWN;
	number = strtoll(cell, &end, 10);
	return end == cell || *end || number < 0 ? -EBADMSG : number;
}

/* Return: the number behind a word in the first or the last line, or -1. */
long long pass_says(const char *line, const char *what)
{
	size_t len = strlen(what);

	for (const char *at = line; (at = strstr(at, what)); at++)
		if (at > line && at[-1] == ' ' && at[len] == ' ')
			return strtoll(at + len + 1, NULL, 10);
	return -1;
}

static bool is_word(const char *column)
{
	return !strcmp(column, "comm") || !strcmp(column, "shares");
}

/**
 * pass_check() - whether a pass agrees with itself
 * @pass: the pass
 *
 * Processes ascend, every word is a number or "-", categories add up to the
 * process, who shares has no numbers, and the last line counts right.
 * Return: 0, or the number of the line that does not, counted from 1
 */
int pass_check(const struct pass *pass)
{
	static const char *const sums[] = { "rss", "uss", "swap", "pss_floor" };
	long long last = 0, shared = 0;
	size_t len;

	for (int i = 0; i < pass->nr; i++) {
		bool shares = pass_number(pass, i, "shares") > 0;

		if (pass_number(pass, i, "tgid") <= last)
			return i + 1;
		last = pass_number(pass, i, "tgid");
		for (int c = 1; c < pass->columns; c++) {
			const char *name = pass->column[c];
			long long number = pass_number(pass, i, name);

			if (is_word(name))
				continue;
			if (number < NOT_KNOWN ||
			    (shares && number != NOT_KNOWN))
				return i + 1;
		}
		shared += shares;
		if (shares)
			continue;
		for (size_t s = 0; s < ARRAY_SIZE(sums); s++) {
			long long sum = 0;

			for (int c = 0; c < pass->columns; c++) {
				const char *dot = strchr(pass->column[c], '.');
				long long number;

				if (!dot || strcmp(dot + 1, sums[s]))
					continue;
				number = pass_number(pass, i, pass->column[c]);
				sum += number > 0 ? number : 0;
			}
			if (sum != pass_number(pass, i, sums[s]))
				return i + 1;
		}
	}
	len = strlen(pass->end);
	return len && pass_says(pass->end, "processes") == pass->nr &&
	       pass_says(pass->end, "shared") == shared ? 0 : pass->nr + 1;
}
