/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a GPU driver tells memledger what memory its processes use, without a
 * symbol between the two modules: the driver registers a platform device named
 * MEMLEDGER_PROVIDER_DEVICE whose platform data is a struct
 * memledger_provider_ops (the device has a copy, so it may be on the stack),
 * and memledger is the platform driver that binds to it:
 *
 *	static const struct memledger_provider_ops ops = {
 *		.version = MEMLEDGER_PROVIDER_VERSION,
 *		.size = sizeof(ops),
 *		...
 *	};
 *
 *	pdev = platform_device_register_data(parent, MEMLEDGER_PROVIDER_DEVICE,
 *					     PLATFORM_DEVID_AUTO, &ops,
 *					     sizeof(ops));
 *	...
 *	platform_device_unregister(pdev);
 *
 * Either module may be loaded first, go, and come back. Once
 * platform_device_unregister() has returned, no operation is running and none
 * will be called; so it must not be called with a lock held that an operation
 * takes. One provider is bound at a time; others wait, unbound.
 *
 * This file is an ABI between modules: a struct only ever grows at its end,
 * with @size telling how much of it is there, and another meaning of what is
 * there is another version.
 */
#ifndef _MEMLEDGER_PROVIDER_H
#define _MEMLEDGER_PROVIDER_H

#include <memledger/graphics.h>

struct pid;

#define MEMLEDGER_PROVIDER_DEVICE	"memledger-provider"
#define MEMLEDGER_PROVIDER_VERSION	1

/* Bytes of a provider's name, the NUL included. */
#define MEMLEDGER_PROVIDER_NAME_SIZE	16

/**
 * typedef memledger_gpu_entry_fn - told of each entry
 * @arg: what the provider was given
 * @entry: valid during the call
 *
 * Context: process context, may sleep: no spinlock may be held, and no lock
 * that freeing an entry takes.
 * Return: 0 to go on; anything else ends the enumeration, and the provider
 * returns it.
 */
typedef int (*memledger_gpu_entry_fn)(void *arg,
				      const struct memledger_gpu_entry *entry);

/**
 * struct memledger_provider_ops - what a GPU driver can tell
 * @version: MEMLEDGER_PROVIDER_VERSION
 * @size: sizeof(struct memledger_provider_ops) as the driver was compiled
 * @name: of the driver, ASCII without blanks, NUL-terminated
 * @total: gets the bytes that the driver has allocated for all processes and
 *	for itself; imported memory and memory of processes not included.
 *	Returns 0 or a negative errno
 * @entries: calls @fn for each entry of the process whose thread group leader
 *	has the pid @pid, in any order, each once. Entries that come or go
 *	meanwhile may be missed. Returns 0 at the end, also for a process that
 *	the driver does not know; what @fn returned; or a negative errno
 *
 * Both may sleep and are called from process context, by several threads at
 * once, with no spinlock held and not under RCU. They must not wait for user
 * space.
 */
struct memledger_provider_ops {
	u32 version;
	u32 size;
	char name[MEMLEDGER_PROVIDER_NAME_SIZE];
	int (*total)(u64 *bytes);
	int (*entries)(struct pid *pid, memledger_gpu_entry_fn fn, void *arg);
};

#endif
