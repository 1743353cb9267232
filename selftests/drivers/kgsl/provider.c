// SPDX-License-Identifier: GPL-2.0-only
/*
 * The provider that vendors build into KGSL, unchanged.
 */
#include "../../../providers/memledger_kgsl.c"
