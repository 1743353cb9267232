// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/memledger_locks: whoever asks takes a lock of the kernel's and keeps it
 * until he is killed, as one who waits for somebody else does. By mmap() that is
 * the lock of his own memory, for as many seconds as the offset has pages if it is
 * not 0, and by ioctl(), the argument being a descriptor, the one of that file's
 * mappings.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

static int sleep_until_killed(void)
{
	while (!fatal_signal_pending(current))
		schedule_timeout_killable(HZ);
	return -EINTR;
}

static int locks_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (!vma->vm_pgoff)
		return sleep_until_killed();
	schedule_timeout_killable(vma->vm_pgoff * HZ);
	return -EAGAIN;
}

static long locks_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct file *of = fget(arg);
	int ret;

	if (!of)
		return -EBADF;
	i_mmap_lock_write(of->f_mapping);
	ret = sleep_until_killed();
	i_mmap_unlock_write(of->f_mapping);
	fput(of);
	return ret;
}

static const struct file_operations locks_fops = {
	.owner = THIS_MODULE,
	.mmap = locks_mmap,
	.unlocked_ioctl = locks_ioctl,
};

static struct miscdevice locks_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memledger_locks",
	.fops = &locks_fops,
	.mode = 0600,
};

module_misc_device(locks_device);

MODULE_DESCRIPTION("Locks that are kept, for memledger's tests");
MODULE_LICENSE("GPL");
