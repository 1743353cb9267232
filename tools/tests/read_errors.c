// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of the stand-in for sysfs that cannot be read, as those of the module
 * cannot: where a file holds "!" and a number, reading it fails with that errno.
 * Linked into the host tests' command in the place of read().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read_errors.h"

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	ssize_t len = __real_read(fd, buffer, size);
	char number[16] = "";

	if (len < 2 || len > (ssize_t)sizeof(number) ||
	    *(const char *)buffer != '!')
		return len;
	memcpy(number, (const char *)buffer + 1, len - 1);
	errno = atoi(number);
	return -1;
}
