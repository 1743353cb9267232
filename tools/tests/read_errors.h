/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names under which the linker's --wrap has read() and what replaces it.
 */
#ifndef _MEMLEDGER_TOOLS_READ_ERRORS_H
#define _MEMLEDGER_TOOLS_READ_ERRORS_H

#include <sys/types.h>

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);

#endif
