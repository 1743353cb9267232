/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of sysfs.c's tree that are made elsewhere have in common with
 * it. Private to the exporters.
 */
#ifndef _MEMLEDGER_SYSFS_H
#define _MEMLEDGER_SYSFS_H

#include <linux/kobject.h>
#include <linux/sysfs.h>

int memledger_sysfs_parse_switch(const char *buf, bool *on);

/* Of sysfs_gpu.c: in the root, in features/, and gpu/ in the root. */
extern struct kobj_attribute memledger_sysfs_gpu_totals;
extern struct kobj_attribute memledger_sysfs_feature_gpu_totals;
extern struct kobj_attribute memledger_sysfs_feature_gpu_provider;
int memledger_sysfs_add_gpu(struct kobject *root);
void memledger_sysfs_remove_gpu(void);

/* Of sysfs_carveouts.c: in features/, and carveouts/ in gpu/. */
extern struct kobj_attribute memledger_sysfs_feature_carveouts;
int memledger_sysfs_add_carveouts(struct kobject *gpu);
void memledger_sysfs_remove_carveouts(void);

#endif
