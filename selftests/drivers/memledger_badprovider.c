// SPDX-License-Identifier: GPL-2.0-only
/*
 * A GPU driver without a GPU that tells memledger whatever its parameters say,
 * however wrong: ops that are not, records that cannot be, errors, too much.
 * What is in the ops is read when it is loaded, all else at each call.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/platform_device.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include <memledger/provider.h>

static unsigned int version = MEMLEDGER_PROVIDER_VERSION;
module_param(version, uint, 0400);
MODULE_PARM_DESC(version, "of the ops");

static unsigned int ops_size = sizeof(struct memledger_provider_ops);
module_param(ops_size, uint, 0400);
MODULE_PARM_DESC(ops_size, "what the ops say of their size");

static char *name = "bad";
module_param(name, charp, 0400);
MODULE_PARM_DESC(name, "in the ops, without a NUL where it does not fit");

static bool no_ops;
module_param(no_ops, bool, 0400);
MODULE_PARM_DESC(no_ops, "a device without platform data");

static bool no_total;
module_param(no_total, bool, 0400);
MODULE_PARM_DESC(no_total, "NULL in the ops");

static bool no_entries;
module_param(no_entries, bool, 0400);
MODULE_PARM_DESC(no_entries, "NULL in the ops");

static unsigned long long total;
module_param(total, ullong, 0600);
MODULE_PARM_DESC(total, "bytes that all processes have");

static int total_ret;
module_param(total_ret, int, 0600);
MODULE_PARM_DESC(total_ret, "what the operation returns");

static int entries_ret;
module_param(entries_ret, int, 0600);
MODULE_PARM_DESC(entries_ret, "what the operation returns behind the last record");

static bool deaf;
module_param(deaf, bool, 0600);
MODULE_PARM_DESC(deaf, "go on, and return entries_ret, whatever memledger says");

static int tgid;
module_param(tgid, int, 0600);
MODULE_PARM_DESC(tgid, "only this process has records; 0: each");

static unsigned long long nr;
module_param(nr, ullong, 0600);
MODULE_PARM_DESC(nr, "of records");

static unsigned long long id = 1;
module_param(id, ullong, 0600);
MODULE_PARM_DESC(id, "of the first record; the others count on from there");

static unsigned long long size = PAGE_SIZE;
module_param(size, ullong, 0600);

static unsigned long long mapped;
module_param(mapped, ullong, 0600);

static unsigned long long dmabuf_ino;
module_param(dmabuf_ino, ullong, 0600);

static unsigned short kind;
module_param(kind, ushort, 0600);

static unsigned short usage;
module_param(usage, ushort, 0600);

static unsigned int flags;
module_param(flags, uint, 0600);

static unsigned int surfaces;
module_param(surfaces, uint, 0600);

static unsigned int images;
module_param(images, uint, 0600);

static unsigned int importers;
module_param(importers, uint, 0600);

static struct platform_device *device;

static int bad_total(u64 *bytes)
{
	*bytes = READ_ONCE(total);
	return READ_ONCE(total_ret);
}

static int bad_entries(struct pid *pid, memledger_gpu_entry_fn fn, void *arg)
{
	struct memledger_gpu_entry entry = {
		.size = READ_ONCE(size),
		.mapped = READ_ONCE(mapped),
		.dmabuf_ino = READ_ONCE(dmabuf_ino),
		.kind = READ_ONCE(kind),
		.usage = READ_ONCE(usage),
		.flags = READ_ONCE(flags),
		.surfaces = READ_ONCE(surfaces),
		.images = READ_ONCE(images),
		.importers = READ_ONCE(importers),
	};
	u64 first = READ_ONCE(id), n = READ_ONCE(nr), i;
	int only = READ_ONCE(tgid), ret;

	if (only && pid_nr(pid) != only)
		return 0;
	for (i = 0; i < n; i++) {
		entry.id = first + i;
		ret = fn(arg, &entry);
		if (ret && !READ_ONCE(deaf))
			return ret;
		/* The test wants to go on, even where nobody else does. */
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return READ_ONCE(entries_ret);
}

static int __init bad_init(void)
{
	struct memledger_provider_ops ops = {
		.version = version,
		.size = ops_size,
		.total = no_total ? NULL : bad_total,
		.entries = no_entries ? NULL : bad_entries,
	};

	memcpy(ops.name, name, min(strlen(name), sizeof(ops.name)));
	device = platform_device_register_data(NULL, MEMLEDGER_PROVIDER_DEVICE,
					       PLATFORM_DEVID_AUTO,
					       no_ops ? NULL : &ops,
					       no_ops ? 0 : sizeof(ops));
	return PTR_ERR_OR_ZERO(device);
}
module_init(bad_init);

static void __exit bad_exit(void)
{
	platform_device_unregister(device);
}
module_exit(bad_exit);

MODULE_DESCRIPTION("A GPU driver that tells memledger anything");
MODULE_LICENSE("GPL");
