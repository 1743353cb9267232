/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What KGSL calls to let memledger ask it: two functions, from
 * kgsl_core_init() and kgsl_core_exit(). docs/providers.rst has the lines.
 */
#ifndef _MEMLEDGER_KGSL_H
#define _MEMLEDGER_KGSL_H

struct device;

int memledger_kgsl_register(struct device *parent);
void memledger_kgsl_unregister(void);

#endif
