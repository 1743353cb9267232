// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver that keeps memory for a GPU that there is not, as Qualcomm's KGSL
 * does for Adreno: for tests of whatever accounts for it. This file has the
 * device, from its node in a device tree or without, and the processes that
 * open it; the others are named after KGSL's.
 */
#include <linux/device.h>
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "../../../module/compat.h"
#include "kgsl_sharedmem.h"
#include "memledger_kgsl.h"

#define MEMSTORE_SIZE	(8 * PAGE_SIZE)
#define COMPATIBLE	"memledger,kgsl-standin"

struct kgsl_driver kgsl_driver = {
	.process_list = LIST_HEAD_INIT(kgsl_driver.process_list),
	.process_mutex = __MUTEX_INITIALIZER(kgsl_driver.process_mutex),
	.proclist_lock = __RW_LOCK_UNLOCKED(kgsl_driver.proclist_lock),
	.full_cache_threshold = SZ_16M,
};

static int kgsl_major;
static struct platform_device *own_device;

/* Processes whose memory is not freed yet; unloading waits for them. */
static atomic_t nr_alive = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(none_alive);

/*
 * Processes
 */

void kgsl_process_release(struct kobject *kobj)
{
	struct kgsl_process_private *private =
		container_of(kobj, struct kgsl_process_private, kobj);

	put_pid(private->pid);
	idr_destroy(&private->mem_idr);
	kfree(private->pagetable);
	kfree(private);
	if (atomic_dec_and_test(&nr_alive))
		wake_up(&none_alive);
}

/* Entered with process_mutex, so that nobody opens it while it goes. */
static void process_destroy(struct kref *kref)
{
	struct kgsl_process_private *private =
		container_of(kref, struct kgsl_process_private, refcount);

	debugfs_remove_recursive(private->debug_root);
	kobject_del(&private->kobj);
	write_lock(&kgsl_driver.proclist_lock);
	list_del(&private->list);
	write_unlock(&kgsl_driver.proclist_lock);
	mutex_unlock(&kgsl_driver.process_mutex);
	kobject_put(&private->kobj);
}

void kgsl_process_private_put(struct kgsl_process_private *private)
{
	if (private)
		kref_put_mutex(&private->refcount, process_destroy,
			       &kgsl_driver.process_mutex);
}

/* On failure @private is freed. */
static int process_publish(struct kgsl_process_private *private)
{
	int ret;

	ret = kobject_init_and_add(&private->kobj, &kgsl_process_ktype,
				   kgsl_driver.prockobj, "%d",
				   pid_nr(private->pid));
	if (ret) {
		kobject_put(&private->kobj);
		return ret;
	}
	kgsl_process_init_debugfs(private);
	write_lock(&kgsl_driver.proclist_lock);
	list_add(&private->list, &kgsl_driver.process_list);
	write_unlock(&kgsl_driver.proclist_lock);
	return 0;
}

static struct kgsl_process_private *process_new(struct pid *pid)
{
	struct kgsl_process_private *private;
	int ret;

	private = kzalloc(sizeof(*private), GFP_KERNEL);
	if (!private)
		return ERR_PTR(-ENOMEM);
	private->pagetable = kzalloc(sizeof(*private->pagetable), GFP_KERNEL);
	if (!private->pagetable) {
		kfree(private);
		return ERR_PTR(-ENOMEM);
	}
	kgsl_mmu_init(private->pagetable, pid_nr(pid));
	kref_init(&private->refcount);
	private->fd_count = 1;
	private->pid = get_pid(pid);
	get_task_comm(private->comm, current->group_leader);
	spin_lock_init(&private->mem_lock);
	mutex_init(&private->private_mutex);
	idr_init(&private->mem_idr);
	atomic_inc(&nr_alive);
	ret = process_publish(private);
	return ret ? ERR_PTR(ret) : private;
}

/* That of the caller's thread group; all its opens share one. */
static struct kgsl_process_private *process_open(void)
{
	struct pid *pid = get_task_pid(current->group_leader, PIDTYPE_PID);
	struct kgsl_process_private *private;

	mutex_lock(&kgsl_driver.process_mutex);
	list_for_each_entry(private, &kgsl_driver.process_list, list) {
		if (private->pid != pid)
			continue;
		kref_get(&private->refcount);
		mutex_lock(&private->private_mutex);
		private->fd_count++;
		mutex_unlock(&private->private_mutex);
		goto unlock;
	}
	private = process_new(pid);
unlock:
	mutex_unlock(&kgsl_driver.process_mutex);
	put_pid(pid);
	return private;
}

/* With the last file goes what user space has not freed. */
static void process_close(struct kgsl_process_private *private)
{
	struct kgsl_mem_entry *entry;
	int id = 0;

	mutex_lock(&private->private_mutex);
	if (!--private->fd_count) {
		while ((entry = kgsl_mem_entry_next(private, &id))) {
			if (kgsl_mem_entry_set_pend(entry))
				kgsl_mem_entry_put(entry);
			kgsl_mem_entry_put(entry);
		}
	}
	mutex_unlock(&private->private_mutex);
	kgsl_process_private_put(private);
}

/*
 * The character device
 */

static int kgsl_open(struct inode *inode, struct file *file)
{
	struct kgsl_device_private *dev_priv;

	if (iminor(inode) || !kgsl_driver.devp[0])
		return -ENODEV;
	dev_priv = kzalloc(sizeof(*dev_priv), GFP_KERNEL);
	if (!dev_priv)
		return -ENOMEM;
	dev_priv->device = kgsl_driver.devp[0];
	dev_priv->process_priv = process_open();
	if (IS_ERR(dev_priv->process_priv)) {
		int ret = PTR_ERR(dev_priv->process_priv);

		kfree(dev_priv);
		return ret;
	}
	file->private_data = dev_priv;
	return 0;
}

static int kgsl_release(struct inode *inode, struct file *file)
{
	struct kgsl_device_private *dev_priv = file->private_data;

	process_close(dev_priv->process_priv);
	kfree(dev_priv);
	return 0;
}

static ssize_t kgsl_read(struct file *file, char __user *buf, size_t count,
			 loff_t *pos)
{
	static const char message[] = "OH HAI GPU\n";

	return simple_read_from_buffer(buf, count, pos, message,
				       sizeof(message));
}

static const struct file_operations kgsl_fops = {
	.owner = THIS_MODULE,
	.open = kgsl_open,
	.release = kgsl_release,
	.read = kgsl_read,
	.mmap = kgsl_mmap,
	.unlocked_ioctl = kgsl_ioctl,
};

/*
 * The device
 */

static void kgsl_unprobe(void *data)
{
	struct kgsl_device *device = data;

	device_unregister(device->chrdev);
	kgsl_driver.devp[0] = NULL;
	kgsl_sharedmem_free(&device->memstore);
}

static int kgsl_probe(struct platform_device *pdev)
{
	struct kgsl_device *device;
	int ret;

	if (kgsl_driver.devp[0])
		return -EBUSY;
	device = devm_kzalloc(&pdev->dev, sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	device->dev = &pdev->dev;
	kgsl_mmu_init(&device->securepagetable, KGSL_MMU_SECURE_PT);
	ret = dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	/* Of no process, and in no process's page table. */
	ret = kgsl_allocate_user(&device->memstore, MEMSTORE_SIZE, 0);
	if (ret)
		return ret;
	device->memstore.priv |= KGSL_MEMDESC_GLOBAL;
	kgsl_trace_gpu_mem_total(device, device->memstore.size);

	kgsl_driver.devp[0] = device;
	device->chrdev = device_create(kgsl_driver.class, &pdev->dev,
				       MKDEV(kgsl_major, 0), NULL, "kgsl-3d0");
	if (IS_ERR(device->chrdev)) {
		kgsl_driver.devp[0] = NULL;
		kgsl_sharedmem_free(&device->memstore);
		return PTR_ERR(device->chrdev);
	}
	return devm_add_action_or_reset(&pdev->dev, kgsl_unprobe, device);
}

static const struct of_device_id kgsl_of_match[] = {
	{ .compatible = COMPATIBLE },
	{ }
};
MODULE_DEVICE_TABLE(of, kgsl_of_match);

static struct platform_driver kgsl_platform_driver = {
	.probe = kgsl_probe,
	.driver = {
		.name = "kgsl-3d0",
		.of_match_table = kgsl_of_match,
		/* Who has it open keeps the module, not the binding. */
		.suppress_bind_attrs = true,
	},
};

/* One without a node in a device tree, if there is none with. */
static int find_device(void)
{
	if (kgsl_driver.devp[0])
		return 0;
	own_device = platform_device_register_simple("kgsl-3d0",
						     PLATFORM_DEVID_NONE,
						     NULL, 0);
	if (IS_ERR(own_device))
		return PTR_ERR(own_device);
	if (kgsl_driver.devp[0])
		return 0;
	platform_device_unregister(own_device);
	return -ENODEV;
}

static int __init kgsl_init(void)
{
	int ret;

	kgsl_major = register_chrdev(0, "kgsl", &kgsl_fops);
	if (kgsl_major < 0)
		return kgsl_major;
	kgsl_driver.lockless_workqueue = alloc_workqueue("kgsl-lockless",
							 WQ_UNBOUND, 0);
	if (!kgsl_driver.lockless_workqueue) {
		ret = -ENOMEM;
		goto chrdev;
	}
	kgsl_driver.class = memledger_class_create("kgsl");
	if (IS_ERR(kgsl_driver.class)) {
		ret = PTR_ERR(kgsl_driver.class);
		goto workqueue;
	}
	kgsl_driver.virtdev = device_create_with_groups(kgsl_driver.class,
							NULL, 0, NULL,
							kgsl_driver_groups,
							"kgsl");
	if (IS_ERR(kgsl_driver.virtdev)) {
		ret = PTR_ERR(kgsl_driver.virtdev);
		goto class;
	}
	kgsl_driver.prockobj =
		kobject_create_and_add("proc", &kgsl_driver.virtdev->kobj);
	if (!kgsl_driver.prockobj) {
		ret = -ENOMEM;
		goto virtdev;
	}
	kgsl_driver.debugfs = debugfs_create_dir("kgsl", NULL);
	kgsl_driver.debugfs_proc = debugfs_create_dir("proc",
						      kgsl_driver.debugfs);
	ret = platform_driver_register(&kgsl_platform_driver);
	if (ret)
		goto proc;
	ret = find_device();
	if (ret)
		goto driver;
	ret = memledger_kgsl_register(kgsl_driver.devp[0]->dev);
	if (ret)
		goto device;
	return 0;

device:
	platform_device_unregister(own_device);
driver:
	platform_driver_unregister(&kgsl_platform_driver);
proc:
	debugfs_remove_recursive(kgsl_driver.debugfs);
	kobject_put(kgsl_driver.prockobj);
virtdev:
	device_unregister(kgsl_driver.virtdev);
class:
	class_destroy(kgsl_driver.class);
workqueue:
	destroy_workqueue(kgsl_driver.lockless_workqueue);
chrdev:
	unregister_chrdev(kgsl_major, "kgsl");
	return ret;
}
module_init(kgsl_init);

static void __exit kgsl_exit(void)
{
	memledger_kgsl_unregister();
	/* Entries that are going, and processes that go with them. */
	wait_event(none_alive, !atomic_read(&nr_alive));
	destroy_workqueue(kgsl_driver.lockless_workqueue);
	platform_device_unregister(own_device);
	platform_driver_unregister(&kgsl_platform_driver);
	debugfs_remove_recursive(kgsl_driver.debugfs);
	kobject_put(kgsl_driver.prockobj);
	device_unregister(kgsl_driver.virtdev);
	class_destroy(kgsl_driver.class);
	unregister_chrdev(kgsl_major, "kgsl");
}
module_exit(kgsl_exit);

MODULE_DESCRIPTION("A stand-in for Qualcomm's KGSL in memledger's tests");
MODULE_LICENSE("GPL");
