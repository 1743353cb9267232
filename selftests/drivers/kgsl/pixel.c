// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stand-in as Google's KGSL is: kgsl_get_egl_counts() has a third output,
 * and the provider knows of it. All in one, since nearly every file depends on
 * that.
 */
#define MEMLEDGER_KGSL_COUNTS_IMPORTERS

#include "kgsl.c"
#include "kgsl_debugfs.c"
#include "kgsl_dmabuf.c"
#include "kgsl_entry.c"
#include "kgsl_ioctl.c"
#include "kgsl_mmu.c"
#include "kgsl_sharedmem.c"
#include "kgsl_sysfs.c"
#include "kgsl_vbo.c"
#include "provider.c"
