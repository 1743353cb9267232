/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build-id of a library, which says exactly which build it is.
 */
#ifndef _MEMLEDGER_TOOLS_BUILD_ID_H
#define _MEMLEDGER_TOOLS_BUILD_ID_H

#include <memledger/env.h>

char *memledger_build_id_read(const char *path, u64 inode);

#endif
