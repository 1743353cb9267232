// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the platform device that a GPU driver registers to its operations, and
 * from what these say to what may be relied upon: each record is looked at
 * before anybody else sees it.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/platform_device.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "compat.h"
#include "gpu.h"

/* Held for reading while an operation runs, so that unbinding waits for it. */
static DECLARE_RWSEM(provider_lock);
static const struct memledger_provider_ops *provider;

/* Its name apart: who only wants to know that waits for no operation. */
static DEFINE_SPINLOCK(name_lock);
static char provider_name[MEMLEDGER_PROVIDER_NAME_SIZE];

/* Of all that a driver of this version has; later members are asked by size. */
#define OPS_SIZE	offsetofend(struct memledger_provider_ops, entries)

static bool name_valid(const char *name, size_t size)
{
	size_t i, len = strnlen(name, size);

	for (i = 0; i < len; i++) {
		if (!isascii(name[i]) || !isgraph(name[i]))
			return false;
	}
	return len && len < size;
}

static bool ops_valid(const struct memledger_provider_ops *ops)
{
	return ops && ops->version == MEMLEDGER_PROVIDER_VERSION &&
	       ops->size >= OPS_SIZE && ops->total && ops->entries &&
	       name_valid(ops->name, sizeof(ops->name));
}

/* @name: NULL: there is none. */
static void set_name(const char *name)
{
	spin_lock(&name_lock);
	strscpy_pad(provider_name, name ?: "", sizeof(provider_name));
	spin_unlock(&name_lock);
}

static int provider_probe(struct platform_device *pdev)
{
	const struct memledger_provider_ops *ops = dev_get_platdata(&pdev->dev);
	int ret = 0;

	/* Whatever a user has told the driver core to bind. */
	if (strcmp(pdev->name, MEMLEDGER_PROVIDER_DEVICE))
		return -ENODEV;
	if (!ops_valid(ops)) {
		dev_err(&pdev->dev, "not a provider of version %d\n",
			MEMLEDGER_PROVIDER_VERSION);
		return -EINVAL;
	}
	down_write(&provider_lock);
	if (provider) {
		ret = -EBUSY;
	} else {
		provider = ops;
		set_name(ops->name);
	}
	up_write(&provider_lock);
	return ret;
}

static memledger_remove_t provider_remove(struct platform_device *pdev)
{
	down_write(&provider_lock);
	provider = NULL;
	set_name(NULL);
	up_write(&provider_lock);
	return memledger_remove_done;
}

static struct platform_driver provider_driver = {
	.probe = provider_probe,
	.remove = provider_remove,
	.driver = {
		.name = MEMLEDGER_PROVIDER_DEVICE,
	},
};

/**
 * memledger_gpu_init - be ready for a GPU driver
 *
 * Return: 0 or a negative errno.
 */
int memledger_gpu_init(void)
{
	return platform_driver_register(&provider_driver);
}

/**
 * memledger_gpu_exit - let go of the GPU driver
 *
 * Waits for operations that are running.
 */
void memledger_gpu_exit(void)
{
	platform_driver_unregister(&provider_driver);
}

/**
 * memledger_gpu_name - which GPU driver there is
 * @name: NULL, or gets its name, empty if there is none;
 *	MEMLEDGER_PROVIDER_NAME_SIZE bytes
 *
 * Context: process context.
 * Return: false if there is none.
 */
bool memledger_gpu_name(char *name)
{
	bool present;

	spin_lock(&name_lock);
	present = *provider_name;
	if (name)
		memcpy(name, provider_name, sizeof(provider_name));
	spin_unlock(&name_lock);
	return present;
}

/*
 * What an operation returned, in our words, lest it be taken for ours. One
 * above 0 means nothing.
 */
static int driver_error(int ret)
{
	if (ret >= 0)
		return 0;
	return fatal_signal_pending(current) ? -EINTR : -EIO;
}

/**
 * memledger_gpu_total - what the GPU driver has allocated
 * @bytes: gets that
 *
 * Return: 0; -EOPNOTSUPP without a GPU driver, -EINTR, or -EIO if it failed.
 */
int memledger_gpu_total(u64 *bytes)
{
	int ret;

	ret = down_read_killable(&provider_lock);
	if (ret)
		return ret;
	ret = provider ? driver_error(provider->total(bytes)) : -EOPNOTSUPP;
	up_read(&provider_lock);
	return ret;
}

struct entries_check {
	memledger_gpu_entry_fn fn;
	void *arg;
	unsigned int nr;
	int ret;
};

static int check_entry(void *arg, const struct memledger_gpu_entry *entry)
{
	struct entries_check *check = arg;

	/* A driver that goes on all the same has nothing more to say. */
	if (check->ret)
		return check->ret;
	if (!memledger_gpu_entry_valid(entry))
		check->ret = -EBADMSG;
	else if (check->nr++ == MEMLEDGER_GPU_ENTRIES_MAX)
		check->ret = -E2BIG;
	else if (fatal_signal_pending(current))
		check->ret = -EINTR;
	else
		check->ret = check->fn(check->arg, entry);
	cond_resched();
	return check->ret;
}
ALLOW_ERROR_INJECTION(check_entry, ERRNO);

/**
 * memledger_gpu_entries - a process's GPU memory, entry by entry
 * @pid: of the thread group leader
 * @fn: told of each entry
 * @arg: for @fn
 *
 * Context: process context; may sleep.
 * Return: 0 at the end, also for a process that has none; -EOPNOTSUPP without a
 * GPU driver; -EINTR; what @fn returned; -EBADMSG for a record that cannot be,
 * -E2BIG for too many of them, -EIO if the driver failed.
 */
int memledger_gpu_entries(struct pid *pid, memledger_gpu_entry_fn fn,
			  void *arg)
{
	struct entries_check check = { .fn = fn, .arg = arg };
	int ret;

	ret = down_read_killable(&provider_lock);
	if (ret)
		return ret;
	ret = provider ?
	      driver_error(provider->entries(pid, check_entry, &check)) :
	      -EOPNOTSUPP;
	up_read(&provider_lock);
	/* Whatever the driver makes of it, what stopped it counts. */
	return check.ret ?: ret;
}
