/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes as dumpsys prints them.
 */
#ifndef _MEMLEDGER_TOOLS_SIZES_H
#define _MEMLEDGER_TOOLS_SIZES_H

#include <memledger/env.h>

#define MEMLEDGER_SIZE_TEXT_LEN	32

const char *memledger_size_text(s64 bytes, char text[MEMLEDGER_SIZE_TEXT_LEN]);

#endif
