// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/memledger_exporter: makes DMA-BUFs that the tests know everything about,
 * keeps some where no process holds them, and pretends to be a GPU driver that
 * has imported some. See ../exporter.h.
 */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/platform_device.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <memledger/provider.h>

#include "../../module/compat.h"
#include "../exporter.h"

MEMLEDGER_IMPORT_DMA_BUF_NS;

/* Where the memory that a buffer of pages or frames has ends. */
#define MAX_PAGES	16384

struct buffer {
	u32 flags;
	unsigned long nr;
	struct page *pages[];
};

/* Somebody has a reference that is no descriptor: the driver, or an import. */
struct holder {
	struct list_head node;
	struct dma_buf *dmabuf;
	struct pid *pid;
};

/* Guards what follows. */
static DEFINE_MUTEX(holders_lock);
static LIST_HEAD(held);
static LIST_HEAD(imports);
static int provider_error;

/* Guards that, and is never taken by the provider's operations. */
static DEFINE_MUTEX(provider_lock);
static struct platform_device *provider;

static void free_buffer(struct buffer *buffer)
{
	while (buffer->nr)
		__free_page(buffer->pages[--buffer->nr]);
	kvfree(buffer);
}

static struct buffer *alloc_buffer(u64 size, u32 flags)
{
	unsigned long nr = 0;
	struct buffer *buffer;

	if (flags & (EXPORTER_PAGES | EXPORTER_FRAMES)) {
		if (size > (u64)MAX_PAGES << PAGE_SHIFT)
			return NULL;
		nr = PFN_UP(size);
	}
	buffer = kvzalloc(struct_size(buffer, pages, nr), GFP_KERNEL);
	if (!buffer)
		return NULL;
	buffer->flags = flags;
	for (; buffer->nr < nr; buffer->nr++) {
		buffer->pages[buffer->nr] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!buffer->pages[buffer->nr]) {
			free_buffer(buffer);
			return NULL;
		}
	}
	return buffer;
}

static struct sg_table *buffer_map_dma(struct dma_buf_attachment *attachment,
				       enum dma_data_direction direction)
{
	return ERR_PTR(-ENODEV);
}

static void buffer_unmap_dma(struct dma_buf_attachment *attachment,
			     struct sg_table *table,
			     enum dma_data_direction direction)
{
}

static int buffer_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct buffer *buffer = dmabuf->priv;
	unsigned long addr, i = vma->vm_pgoff;
	int err = -EINVAL;

	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE, i++) {
		if (i >= buffer->nr)
			return -EINVAL;
		if (buffer->flags & EXPORTER_PAGES)
			err = vm_insert_page(vma, addr, buffer->pages[i]);
		else
			err = remap_pfn_range(vma, addr,
					      page_to_pfn(buffer->pages[i]),
					      PAGE_SIZE, vma->vm_page_prot);
		if (err)
			break;
	}
	return err;
}

static void buffer_release(struct dma_buf *dmabuf)
{
	free_buffer(dmabuf->priv);
}

static const struct dma_buf_ops buffer_ops = {
	.map_dma_buf = buffer_map_dma,
	.unmap_dma_buf = buffer_unmap_dma,
	.mmap = buffer_mmap,
	.release = buffer_release,
};

static int create(struct exporter_create *args)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	int fd;

	if (!args->size || args->size > SIZE_MAX ||
	    args->flags & ~(EXPORTER_PAGES | EXPORTER_FRAMES |
			    EXPORTER_ODD_NAME))
		return -EINVAL;
	info.ops = &buffer_ops;
	info.size = args->size;
	info.flags = O_RDWR;
	info.exp_name = args->flags & EXPORTER_ODD_NAME ? "a b\\c\n1" :
			EXPORTER_NAME;
	info.priv = alloc_buffer(args->size, args->flags);
	if (!info.priv)
		return -ENOMEM;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		free_buffer(info.priv);
		return PTR_ERR(dmabuf);
	}
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

static int add_holder(struct list_head *holders, int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct holder *holder;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	holder = kzalloc(sizeof(*holder), GFP_KERNEL);
	if (!holder) {
		dma_buf_put(dmabuf);
		return -ENOMEM;
	}
	holder->dmabuf = dmabuf;
	holder->pid = get_pid(task_tgid(current));
	mutex_lock(&holders_lock);
	list_add_tail(&holder->node, holders);
	mutex_unlock(&holders_lock);
	return 0;
}

static void drop_holders(struct list_head *holders)
{
	struct holder *holder, *next;
	LIST_HEAD(dropped);

	mutex_lock(&holders_lock);
	list_splice_init(holders, &dropped);
	mutex_unlock(&holders_lock);
	list_for_each_entry_safe(holder, next, &dropped, node) {
		dma_buf_put(holder->dmabuf);
		put_pid(holder->pid);
		kfree(holder);
	}
}

/*
 * The GPU driver
 */

static int provider_total(u64 *bytes)
{
	*bytes = 0;
	return 0;
}

/* Copied first: whoever is told may not be told under the lock. */
static int provider_entries(struct pid *pid, memledger_gpu_entry_fn fn,
			    void *arg)
{
	struct memledger_gpu_entry *entries;
	unsigned int i = 0, nr = 0;
	struct holder *holder;
	int ret = 0;

	mutex_lock(&holders_lock);
	list_for_each_entry(holder, &imports, node)
		nr += holder->pid == pid;
	entries = kvcalloc(nr + 1, sizeof(*entries), GFP_KERNEL);
	if (!entries) {
		mutex_unlock(&holders_lock);
		return -ENOMEM;
	}
	list_for_each_entry(holder, &imports, node) {
		if (holder->pid != pid)
			continue;
		entries[i] = (struct memledger_gpu_entry) {
			.id = i + 1,
			.size = holder->dmabuf->size,
			.dmabuf_ino = file_inode(holder->dmabuf->file)->i_ino,
			.kind = MEMLEDGER_GPU_DMABUF,
			.usage = MEMLEDGER_GPU_EGL_IMAGE,
			.flags = MEMLEDGER_GPU_IMPORTED,
		};
		i++;
	}
	mutex_unlock(&holders_lock);
	for (i = 0; i < nr && !ret; i++)
		ret = fn(arg, &entries[i]);
	kvfree(entries);
	return ret ?: READ_ONCE(provider_error);
}

static int provider_on(void)
{
	static const struct memledger_provider_ops ops = {
		.version = MEMLEDGER_PROVIDER_VERSION,
		.size = sizeof(ops),
		.name = "exporter",
		.total = provider_total,
		.entries = provider_entries,
	};
	struct platform_device *pdev;
	int ret = 0;

	mutex_lock(&provider_lock);
	if (!provider) {
		pdev = platform_device_register_data(NULL,
						     MEMLEDGER_PROVIDER_DEVICE,
						     PLATFORM_DEVID_NONE, &ops,
						     sizeof(ops));
		if (IS_ERR(pdev))
			ret = PTR_ERR(pdev);
		else
			provider = pdev;
	}
	mutex_unlock(&provider_lock);
	return ret;
}

static void provider_off(void)
{
	mutex_lock(&provider_lock);
	platform_device_unregister(provider);
	provider = NULL;
	mutex_unlock(&provider_lock);
}

static long exporter_create(unsigned long arg)
{
	struct exporter_create __user *user = (void __user *)arg;
	struct exporter_create args;

	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	args.fd = create(&args);
	if (args.fd < 0)
		return args.fd;
	/* A descriptor that is not told of stays until its process exits. */
	return put_user(args.fd, &user->fd);
}

static long exporter_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	switch (cmd) {
	case EXPORTER_CREATE:
		return exporter_create(arg);
	case EXPORTER_HOLD:
		return add_holder(&held, arg);
	case EXPORTER_RELEASE:
		drop_holders(&held);
		return 0;
	case EXPORTER_IMPORT:
		return add_holder(&imports, arg);
	case EXPORTER_UNIMPORT:
		drop_holders(&imports);
		return 0;
	case EXPORTER_PROVIDER_ON:
		return provider_on();
	case EXPORTER_PROVIDER_OFF:
		provider_off();
		return 0;
	case EXPORTER_PROVIDER_ERROR:
		WRITE_ONCE(provider_error, (int)arg);
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
};

static struct miscdevice exporter_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = EXPORTER_NAME,
	.fops = &exporter_fops,
	.mode = 0600,
};

static int __init exporter_init(void)
{
	return misc_register(&exporter_device);
}

static void __exit exporter_exit(void)
{
	misc_deregister(&exporter_device);
	provider_off();
	/* None of ours can be among them: those keep the module. */
	drop_holders(&imports);
	drop_holders(&held);
}

module_init(exporter_init);
module_exit(exporter_exit);

MODULE_DESCRIPTION("DMA-BUFs for memledger's tests");
MODULE_LICENSE("GPL");
