// SPDX-License-Identifier: GPL-2.0-only
/*
 * memledger: per-process memory attribution inside the kernel. Loads and
 * unloads; the way from a process number to the numbers is
 *
 *   target.c -> vma_walk.c -> page_walk.c, vma_name.c -> lib/ -> snapshot.c
 *            -> gpu.c -> lib/graphics.c ----------------------->
 *   dmabuf.c -> vma_walk.c, gpu.c -> lib/dmabuf.c
 *   system.c, of all processes -> snapshot.c
 *   carveouts.c, of the device tree
 *   -> sysfs.c, debugfs.c
 *   exit_watch.c, of a target -> sysfs.c
 *
 * and of all processes, while it is switched on, gpu_totals.c -> gpu_values.c.
 */
#include <linux/module.h>

#include "capture.h"
#include "carveouts.h"
#include "dmabuf.h"
#include "gpu.h"
#include "gpu_totals.h"
#include "snapshot.h"
#include "target.h"

static int __init memledger_init(void)
{
	int ret;

	ret = memledger_snapshot_init();
	if (ret)
		return ret;
	ret = memledger_carveouts_init();
	if (ret)
		return ret;
	ret = memledger_gpu_init();
	if (ret)
		goto err_carveouts;
	memledger_debugfs_init();
	ret = memledger_sysfs_init();
	if (ret)
		goto err_debugfs;
	memledger_debugfs_add_files();
	return 0;

err_debugfs:
	memledger_debugfs_exit();
	memledger_capture_exit();
	memledger_gpu_totals_exit();
	memledger_dmabuf_exit();
	memledger_gpu_exit();
err_carveouts:
	memledger_carveouts_exit();
	return ret;
}

static void __exit memledger_exit(void)
{
	memledger_dmabuf_stop();
	memledger_sysfs_close();
	memledger_target_untrack_all();
	memledger_sysfs_exit();
	memledger_debugfs_exit();
	memledger_capture_exit();
	memledger_gpu_totals_exit();
	memledger_dmabuf_exit();
	memledger_gpu_exit();
	memledger_carveouts_exit();
}

module_init(memledger_init);
module_exit(memledger_exit);

MODULE_DESCRIPTION("Per-process memory attribution as in Android's dumpsys meminfo");
MODULE_LICENSE("GPL");
