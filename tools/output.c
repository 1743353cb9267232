// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name of a file in; a file to print to, which gets that name once it is
 * complete, out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "escape.h"
#include "output.h"
#include "privileges.h"

static int fail(const char *path, int err, struct memledger_error *error)
{
	char *shown = memledger_escape_text(path, "");

	memledger_error_set(error, "cannot write %s: %s%s", shown ? shown : "",
			    strerror(err), memledger_privileges_advice(err));
	free(shown);
	return -1;
}

/* Return: a new file beside the one that it will be, or NULL with errno set. */
static FILE *make_temporary(char *name, mode_t mode)
{
	mode_t mask = umask(077);
	FILE *file = NULL;
	int fd;

	memledger_privileges_write(true);
	fd = mkostemp(name, O_CLOEXEC);
	memledger_privileges_write(false);
	umask(mask);
	if (fd >= 0 && !fchmod(fd, mode & ~mask))
		file = fdopen(fd, "w");
	if (fd >= 0 && !file) {
		unlink(name);
		close(fd);
	}
	return file;
}

/**
 * memledger_output_open - begin a file
 * @output: what to fill; to be closed unless this fails
 * @path: the file; an older one is replaced, if all succeeds, but nothing else
 *	than a file is. NULL for standard output
 * @mode: who may read it, as for open()
 * @error: what went wrong
 *
 * No file that is there is written to, whatever it is called.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_output_open(struct memledger_output *output, const char *path,
			  mode_t mode, struct memledger_error *error)
{
	struct stat st;
	int err;

	*output = (struct memledger_output){ .path = path, .file = stdout };
	if (!path)
		return 0;
	/* /dev/null is not for replacing, and neither is a link. */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return fail(path, S_ISDIR(st.st_mode) ? EISDIR : EEXIST, error);
	if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0)
		return memledger_error_set(error, "no memory");
	output->file = make_temporary(output->temporary, mode);
	if (output->file)
		return 0;
	err = errno;
	free(output->temporary);
	return fail(path, err, error);
}

/**
 * memledger_output_close - give a file its name
 * @output: of no use afterwards
 * @failed: there is to be no file; @error says why already
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_output_close(struct memledger_output *output, bool failed,
			   struct memledger_error *error)
{
	FILE *file = output->file;
	int err = 0;

	if (!output->path)
		return failed ? -1 : 0;
	if (fflush(file) || fsync(fileno(file)))
		err = errno;
	/* Of what failed earlier there is no errno any more. */
	if (ferror(file) && !err)
		err = EIO;
	if (fclose(file) && !err)
		err = errno;
	memledger_privileges_write(true);
	if (!failed && !err && rename(output->temporary, output->path))
		err = errno;
	if (failed || err)
		unlink(output->temporary);
	memledger_privileges_write(false);
	free(output->temporary);
	if (err && !failed)
		fail(output->path, err, error);
	return failed || err ? -1 : 0;
}
