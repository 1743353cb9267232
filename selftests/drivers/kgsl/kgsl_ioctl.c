// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls: from what user space says, all of it doubted, to entries.
 * Errors are KGSL's. Callers are 64-bit ones.
 */
#include <linux/ctype.h>
#include <linux/dma-fence.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sync_file.h>
#include <linux/uaccess.h>

#include "kgsl_sharedmem.h"

/* KGSL's limits of lists. */
#define MAX_SYNC_OBJS	128
#define MAX_BIND_RANGES	4096

static void copy_metadata(struct kgsl_mem_entry *entry, u64 metadata, u32 len)
{
	char text[KGSL_GPUOBJ_ALLOC_METADATA_MAX + 1] = "";
	unsigned int i;

	if (!len)
		return;
	if (copy_from_user(text, u64_to_user_ptr(metadata),
			   min_t(u32, len, KGSL_GPUOBJ_ALLOC_METADATA_MAX)))
		memset(text, 0, sizeof(text));
	for (i = 0; text[i]; i++)
		if (!isascii(text[i]) || !isprint(text[i]))
			text[i] = '?';
	spin_lock(&entry->priv->mem_lock);
	memcpy(entry->metadata, text, sizeof(text));
	spin_unlock(&entry->priv->mem_lock);
}

/* Lets an entry go that was not attached. */
static void discard_entry(struct kgsl_mem_entry *entry)
{
	kgsl_sharedmem_free(&entry->memdesc);
	if (entry->pin)
		fput(entry->pin);
	kfree(entry);
}

/*
 * Allocate
 */

static int allocate(struct kgsl_mem_entry *entry, u64 size, u64 flags)
{
	int ret;

	flags &= KGSL_MEMFLAGS_GPUREADONLY | KGSL_CACHEMODE_MASK |
		 KGSL_MEMTYPE_MASK | KGSL_MEMALIGN_MASK |
		 KGSL_MEMFLAGS_USE_CPU_MAP | KGSL_MEMFLAGS_SECURE |
		 KGSL_MEMFLAGS_FORCE_32BIT | KGSL_MEMFLAGS_IOCOHERENT |
		 KGSL_MEMFLAGS_GUARD_PAGE | KGSL_MEMFLAGS_STANDIN_CONTIGUOUS;
	if (!size || size > UINT_MAX || PAGE_ALIGN(size) > UINT_MAX)
		return -EINVAL;
	ret = kgsl_allocate_user(&entry->memdesc, PAGE_ALIGN(size), flags);
	if (!ret && entry->memdesc.shmem_filp)
		ret = kgsl_entry_pin(entry);
	return ret;
}

static int allocate_vbo(struct kgsl_mem_entry *entry, u64 size, u64 flags)
{
	if (flags & (KGSL_MEMFLAGS_GPUREADONLY | KGSL_CACHEMODE_MASK |
		     KGSL_MEMFLAGS_USE_CPU_MAP | KGSL_MEMFLAGS_IOCOHERENT))
		return -EINVAL;
	if (!size || size > kgsl_mmu_va_size(flags))
		return -EINVAL;
	flags &= KGSL_MEMFLAGS_SECURE | KGSL_MEMFLAGS_VBO | KGSL_MEMTYPE_MASK |
		 KGSL_MEMALIGN_MASK | KGSL_MEMFLAGS_FORCE_32BIT;
	return kgsl_allocate_vbo(&entry->memdesc, PAGE_ALIGN(size), flags);
}

/* Has a reference for the caller beside user space's. */
static struct kgsl_mem_entry *alloc_entry(struct kgsl_process_private *private,
					  u64 size, u64 flags)
{
	struct kgsl_mem_entry *entry = kgsl_mem_entry_create();
	int ret;

	if (!entry)
		return ERR_PTR(-ENOMEM);
	if (flags & KGSL_MEMFLAGS_VBO)
		ret = allocate_vbo(entry, size, flags);
	else
		ret = allocate(entry, size, flags);
	if (!ret)
		ret = kgsl_mem_entry_attach(private, entry);
	if (ret) {
		discard_entry(entry);
		return ERR_PTR(ret);
	}
	kgsl_mem_entry_commit(entry);
	return entry;
}

static long ioctl_gpumem_alloc(struct kgsl_process_private *private, void *data)
{
	struct kgsl_gpumem_alloc *param = data;
	struct kgsl_mem_entry *entry;

	entry = alloc_entry(private, param->size,
			    param->flags & ~KGSL_MEMFLAGS_USE_CPU_MAP);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	param->gpuaddr = entry->memdesc.gpuaddr;
	param->size = entry->memdesc.size;
	param->flags = entry->memdesc.flags;
	kgsl_mem_entry_put(entry);
	return 0;
}

static long ioctl_gpumem_alloc_id(struct kgsl_process_private *private,
				  void *data)
{
	struct kgsl_gpumem_alloc_id *param = data;
	struct kgsl_mem_entry *entry;

	entry = alloc_entry(private, param->size, param->flags);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	param->id = entry->id;
	param->flags = entry->memdesc.flags;
	param->size = entry->memdesc.size;
	param->mmapsize = kgsl_memdesc_footprint(&entry->memdesc);
	param->gpuaddr = entry->memdesc.gpuaddr;
	kgsl_mem_entry_put(entry);
	return 0;
}

static long ioctl_gpuobj_alloc(struct kgsl_process_private *private, void *data)
{
	struct kgsl_gpuobj_alloc *param = data;
	struct kgsl_mem_entry *entry;

	entry = alloc_entry(private, param->size, param->flags);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	copy_metadata(entry, param->metadata, param->metadata_len);
	param->size = entry->memdesc.size;
	param->flags = entry->memdesc.flags;
	param->mmapsize = kgsl_memdesc_footprint(&entry->memdesc);
	param->id = entry->id;
	kgsl_mem_entry_put(entry);
	return 0;
}

/*
 * Import
 */

static int import_addr(struct kgsl_mem_entry *entry,
		       struct kgsl_gpuobj_import *param, u64 *addr)
{
	struct kgsl_gpuobj_import_useraddr useraddr;

	kgsl_memdesc_init(&entry->memdesc, param->flags &
			  (KGSL_MEMFLAGS_GPUREADONLY | KGSL_CACHEMODE_MASK |
			   KGSL_MEMTYPE_MASK | KGSL_MEMFLAGS_USE_CPU_MAP |
			   KGSL_MEMFLAGS_FORCE_32BIT |
			   KGSL_MEMFLAGS_IOCOHERENT));
	if (copy_from_user(&useraddr, u64_to_user_ptr(param->priv),
			   sizeof(useraddr)))
		return -EINVAL;
	*addr = useraddr.virtaddr;
	return kgsl_pin_user(&entry->memdesc, *addr, param->priv_len);
}

static int import_dmabuf(struct kgsl_mem_entry *entry,
			 struct kgsl_gpuobj_import *param)
{
	struct kgsl_gpuobj_import_dma_buf buf;

	kgsl_memdesc_init(&entry->memdesc, (param->flags &
			  (KGSL_MEMFLAGS_GPUREADONLY | KGSL_MEMTYPE_MASK |
			   KGSL_MEMALIGN_MASK | KGSL_MEMFLAGS_SECURE |
			   KGSL_MEMFLAGS_FORCE_32BIT |
			   KGSL_MEMFLAGS_GUARD_PAGE)) |
			  FIELD_PREP(KGSL_CACHEMODE_MASK,
				     KGSL_CACHEMODE_WRITEBACK));
	if (copy_struct_from_user(&buf, sizeof(buf),
				  u64_to_user_ptr(param->priv),
				  param->priv_len))
		return -EFAULT;
	if (buf.fd < 0)
		return -EINVAL;
	return kgsl_import_dmabuf(entry, buf.fd);
}

/* @gpuaddr: of memory that the GPU shall have where the process has it */
static int attach_import(struct kgsl_process_private *private,
			 struct kgsl_mem_entry *entry, u64 gpuaddr)
{
	struct kgsl_memdesc *memdesc = &entry->memdesc;
	int ret;

	if (kgsl_memdesc_use_cpu_map(memdesc)) {
		ret = kgsl_mmu_set_gpuaddr(private->pagetable, memdesc,
					   gpuaddr);
		if (ret)
			return ret;
	}
	ret = kgsl_mem_entry_attach(private, entry);
	if (ret)
		return ret;
	kgsl_mem_entry_commit(entry);
	return 0;
}

static long ioctl_gpuobj_import(struct kgsl_process_private *private,
				void *data)
{
	struct kgsl_gpuobj_import *param = data;
	struct kgsl_mem_entry *entry;
	u64 addr = 0;
	int ret;

	if (param->type != KGSL_USER_MEM_TYPE_ADDR &&
	    param->type != KGSL_USER_MEM_TYPE_DMABUF)
		return -ENOTSUPP;
	if (param->flags & KGSL_MEMFLAGS_VBO)
		return -EINVAL;
	entry = kgsl_mem_entry_create();
	if (!entry)
		return -ENOMEM;
	if (param->type == KGSL_USER_MEM_TYPE_ADDR)
		ret = import_addr(entry, param, &addr);
	else
		ret = import_dmabuf(entry, param);
	if (!ret)
		ret = attach_import(private, entry, addr);
	if (ret) {
		discard_entry(entry);
		return ret;
	}
	param->flags = entry->memdesc.flags;
	param->id = entry->id;
	kgsl_mem_entry_put(entry);
	return 0;
}

static long ioctl_map_user_mem(struct kgsl_process_private *private, void *data)
{
	struct kgsl_map_user_mem *param = data;
	struct kgsl_mem_entry *entry;
	int ret = -EOPNOTSUPP;

	param->gpuaddr = 0;
	if (param->flags & KGSL_MEMFLAGS_SECURE &&
	    param->flags & KGSL_MEMFLAGS_USE_CPU_MAP)
		return -EINVAL;
	entry = kgsl_mem_entry_create();
	if (!entry)
		return -ENOMEM;
	kgsl_memdesc_init(&entry->memdesc, param->flags &
			  (KGSL_MEMFLAGS_GPUREADONLY | KGSL_MEMTYPE_MASK |
			   KGSL_MEMALIGN_MASK | KGSL_MEMFLAGS_USE_CPU_MAP |
			   KGSL_MEMFLAGS_SECURE | KGSL_MEMFLAGS_IOCOHERENT));
	if (param->memtype == KGSL_USER_MEM_TYPE_ADDR) {
		if (param->flags & KGSL_MEMFLAGS_SECURE || param->offset)
			ret = -EINVAL;
		else
			ret = kgsl_pin_user(&entry->memdesc, param->hostptr,
					    param->len);
	} else if (param->memtype == KGSL_USER_MEM_TYPE_DMABUF) {
		entry->memdesc.flags &= ~KGSL_MEMFLAGS_USE_CPU_MAP;
		ret = param->offset ? -EINVAL :
		      kgsl_import_dmabuf(entry, param->fd);
	}
	if (!ret)
		ret = attach_import(private, entry, param->hostptr);
	if (ret) {
		discard_entry(entry);
		return ret;
	}
	param->flags = entry->memdesc.flags;
	param->gpuaddr = entry->memdesc.gpuaddr;
	kgsl_mem_entry_put(entry);
	return 0;
}

/*
 * Free
 */

/* Whether it is destroyed here and now depends on who else has it. */
static long free_entry(struct kgsl_mem_entry *entry)
{
	if (!kgsl_mem_entry_set_pend(entry))
		return -EBUSY;
	kgsl_mem_entry_put(entry);
	return 0;
}

static long find_and_free(struct kgsl_mem_entry *entry)
{
	long ret;

	if (!entry)
		return -EINVAL;
	ret = free_entry(entry);
	kgsl_mem_entry_put(entry);
	return ret;
}

static long ioctl_sharedmem_free(struct kgsl_process_private *private,
				 void *data)
{
	struct kgsl_sharedmem_free *param = data;

	return find_and_free(kgsl_sharedmem_find(private, param->gpuaddr));
}

static long ioctl_gpumem_free_id(struct kgsl_process_private *private,
				 void *data)
{
	struct kgsl_gpumem_free_id *param = data;

	return find_and_free(kgsl_sharedmem_find_id(private, param->id));
}

/*
 * KGSL waits for the fence; here nothing runs that could use the memory, so
 * only fences are taken that have signalled.
 */
static long free_on_fence(struct kgsl_mem_entry *entry,
			  struct kgsl_gpuobj_free *param)
{
	struct kgsl_gpu_event_fence event;
	struct dma_fence *fence;
	bool signalled;

	if (copy_struct_from_user(&event, sizeof(event),
				  u64_to_user_ptr(param->priv), param->len))
		return -EFAULT;
	if (event.fd < 0)
		return -EINVAL;
	fence = sync_file_get_fence(event.fd);
	if (!fence)
		return -EINVAL;
	signalled = dma_fence_is_signaled(fence);
	dma_fence_put(fence);
	if (!signalled || !kgsl_mem_entry_set_pend(entry))
		return -EBUSY;
	kgsl_mem_entry_put_deferred(entry);
	return 0;
}

static long ioctl_gpuobj_free(struct kgsl_process_private *private, void *data)
{
	struct kgsl_gpuobj_free *param = data;
	struct kgsl_mem_entry *entry;
	long ret;

	entry = kgsl_sharedmem_find_id(private, param->id);
	if (!entry)
		return -EINVAL;
	if (!(param->flags & KGSL_GPUOBJ_FREE_ON_EVENT))
		ret = free_entry(entry);
	else if (param->type == KGSL_GPU_EVENT_FENCE)
		ret = free_on_fence(entry, param);
	else
		/* A timestamp is a context's, and there are none. */
		ret = -EINVAL;
	/* What waited for an event goes in the background. */
	if (param->flags & KGSL_GPUOBJ_FREE_ON_EVENT)
		kgsl_mem_entry_put_deferred(entry);
	else
		kgsl_mem_entry_put(entry);
	return ret;
}

/*
 * Ask and change
 */

static long ioctl_gpumem_get_info(struct kgsl_process_private *private,
				  void *data)
{
	struct kgsl_gpumem_get_info *param = data;
	struct kgsl_mem_entry *entry;

	entry = param->id ? kgsl_sharedmem_find_id(private, param->id) :
		kgsl_sharedmem_find(private, param->gpuaddr);
	if (!entry)
		return -EINVAL;
	param->gpuaddr = entry->memdesc.gpuaddr;
	param->id = entry->id;
	param->flags = entry->memdesc.flags;
	param->size = entry->memdesc.size;
	param->mmapsize = kgsl_memdesc_footprint(&entry->memdesc);
	param->useraddr = 0;
	kgsl_mem_entry_put(entry);
	return 0;
}

static long ioctl_gpuobj_info(struct kgsl_process_private *private, void *data)
{
	struct kgsl_gpuobj_info *param = data;
	struct kgsl_mem_entry *entry;

	entry = param->id ? kgsl_sharedmem_find_id(private, param->id) :
		kgsl_sharedmem_find(private, param->gpuaddr);
	if (!entry)
		return -EINVAL;
	param->id = entry->id;
	param->gpuaddr = entry->memdesc.gpuaddr;
	param->flags = entry->memdesc.flags;
	param->size = entry->memdesc.size;
	/* Nobody can map a virtual object. */
	param->va_len = param->flags & KGSL_MEMFLAGS_VBO ? 0 :
			kgsl_memdesc_footprint(&entry->memdesc);
	param->va_addr = 0;
	kgsl_mem_entry_put(entry);
	return 0;
}

static long ioctl_gpuobj_set_info(struct kgsl_process_private *private,
				  void *data)
{
	struct kgsl_gpuobj_set_info *param = data;
	struct kgsl_mem_entry *entry;
	long ret = 0;

	entry = kgsl_sharedmem_find_id(private, param->id);
	if (!entry)
		return -EINVAL;
	if (param->flags & KGSL_GPUOBJ_SET_INFO_METADATA)
		copy_metadata(entry, param->metadata, param->metadata_len);
	if (param->flags & KGSL_GPUOBJ_SET_INFO_TYPE) {
		if (param->type > 0xff) {
			ret = -EINVAL;
		} else {
			u64 *flags = &entry->memdesc.flags;

			/* Whoever looks sees the old type or the new one. */
			spin_lock(&private->mem_lock);
			WRITE_ONCE(*flags, (*flags & ~KGSL_MEMTYPE_MASK) |
				   FIELD_PREP(KGSL_MEMTYPE_MASK, param->type));
			spin_unlock(&private->mem_lock);
		}
	}
	kgsl_mem_entry_put(entry);
	return ret;
}

/* There is no cache to clean; what can be wrong about it is looked at. */
static long sync_object(struct kgsl_process_private *private,
			const struct kgsl_gpuobj_sync_obj *obj)
{
	struct kgsl_mem_entry *entry;
	long ret = 0;

	entry = kgsl_sharedmem_find_id(private, obj->id);
	/* That is no error. */
	if (!entry)
		return 0;
	if (kgsl_memdesc_is_secured(&entry->memdesc))
		goto put;
	if (!(obj->op & KGSL_GPUMEM_CACHE_FLUSH))
		ret = -EINVAL;
	else if (obj->op & KGSL_GPUMEM_CACHE_RANGE &&
		 (!obj->length || obj->length > UINT_MAX))
		ret = -EINVAL;
	else if (obj->op & KGSL_GPUMEM_CACHE_RANGE &&
		 (obj->offset > entry->memdesc.size ||
		  obj->length > entry->memdesc.size - obj->offset))
		ret = -ERANGE;
put:
	kgsl_mem_entry_put(entry);
	return ret;
}

static long ioctl_gpuobj_sync(struct kgsl_process_private *private, void *data)
{
	struct kgsl_gpuobj_sync *param = data;
	struct kgsl_gpuobj_sync_obj obj;
	unsigned int i;
	long ret = 0;

	if (!param->count || param->count > MAX_SYNC_OBJS || !param->obj_len ||
	    param->obj_len > PAGE_SIZE)
		return -EINVAL;
	for (i = 0; i < param->count && !ret; i++) {
		if (copy_struct_from_user(&obj, sizeof(obj),
					  u64_to_user_ptr(param->objs +
							  i * param->obj_len),
					  param->obj_len))
			return -EFAULT;
		ret = sync_object(private, &obj);
	}
	return ret;
}

static long ioctl_gpumem_bind_ranges(struct kgsl_process_private *private,
				     void *data)
{
	struct kgsl_gpumem_bind_ranges *param = data;
	struct kgsl_gpumem_bind_range range;
	struct kgsl_mem_entry *target;
	unsigned int i;
	long ret = 0;

	/* Neither later nor with a fence: at once. */
	if (param->flags)
		return -EOPNOTSUPP;
	if (!param->ranges_nents || param->ranges_nents > MAX_BIND_RANGES ||
	    !param->ranges_size || param->ranges_size > PAGE_SIZE)
		return -EINVAL;
	target = kgsl_sharedmem_find_id(private, param->id);
	if (!target)
		return -EINVAL;
	for (i = 0; i < param->ranges_nents && !ret; i++) {
		if (copy_struct_from_user(&range, sizeof(range),
					  u64_to_user_ptr(param->ranges + i *
							  (u64)param->ranges_size),
					  param->ranges_size))
			ret = -EFAULT;
		else
			ret = kgsl_vbo_bind(private, target, &range);
	}
	kgsl_mem_entry_put(target);
	return ret;
}

static long ioctl_getproperty(struct kgsl_process_private *private, void *data)
{
	const struct kgsl_devinfo info = {
		.device_id = 1,
		.mmu_enabled = 1,
		.gpu_id = 0,
	};
	const struct kgsl_version version = {
		.drv_major = 3,
		.drv_minor = 14,
		.dev_major = 3,
		.dev_minor = 1,
	};
	struct kgsl_device_getproperty *param = data;
	const void *value;
	size_t size;

	switch (param->type) {
	case KGSL_PROP_DEVICE_INFO:
		value = &info;
		size = sizeof(info);
		break;
	case KGSL_PROP_VERSION:
		value = &version;
		size = sizeof(version);
		break;
	default:
		return -EINVAL;
	}
	if (param->sizebytes != size)
		return -EINVAL;
	if (copy_to_user((void __force __user *)param->value, value, size))
		return -EFAULT;
	return 0;
}

static const struct kgsl_ioctl {
	unsigned int cmd;
	long (*func)(struct kgsl_process_private *private, void *data);
} ioctls[] = {
	{ IOCTL_KGSL_DEVICE_GETPROPERTY, ioctl_getproperty },
	{ IOCTL_KGSL_MAP_USER_MEM, ioctl_map_user_mem },
	{ IOCTL_KGSL_SHAREDMEM_FREE, ioctl_sharedmem_free },
	{ IOCTL_KGSL_GPUMEM_ALLOC, ioctl_gpumem_alloc },
	{ IOCTL_KGSL_GPUMEM_ALLOC_ID, ioctl_gpumem_alloc_id },
	{ IOCTL_KGSL_GPUMEM_FREE_ID, ioctl_gpumem_free_id },
	{ IOCTL_KGSL_GPUMEM_GET_INFO, ioctl_gpumem_get_info },
	{ IOCTL_KGSL_GPUOBJ_ALLOC, ioctl_gpuobj_alloc },
	{ IOCTL_KGSL_GPUOBJ_FREE, ioctl_gpuobj_free },
	{ IOCTL_KGSL_GPUOBJ_INFO, ioctl_gpuobj_info },
	{ IOCTL_KGSL_GPUOBJ_IMPORT, ioctl_gpuobj_import },
	{ IOCTL_KGSL_GPUOBJ_SYNC, ioctl_gpuobj_sync },
	{ IOCTL_KGSL_GPUOBJ_SET_INFO, ioctl_gpuobj_set_info },
	{ IOCTL_KGSL_GPUMEM_BIND_RANGES, ioctl_gpumem_bind_ranges },
};

/* All of it but the size must be right. */
static const struct kgsl_ioctl *find_ioctl(unsigned int cmd)
{
	unsigned int size = IOCSIZE_MASK, i;

	for (i = 0; i < ARRAY_SIZE(ioctls); i++)
		if ((cmd | size) == (ioctls[i].cmd | size))
			return &ioctls[i];
	return NULL;
}

/* A struct may be shorter than here, the rest is 0, or longer. */
long kgsl_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct kgsl_device_private *dev_priv = file->private_data;
	const struct kgsl_ioctl *ioctl = find_ioctl(cmd);
	void __user *user = (void __user *)arg;
	u64 data[16] = {};
	size_t size;
	long ret;

	if (!ioctl)
		return -ENOTTY;
	BUILD_BUG_ON(sizeof(struct kgsl_gpumem_get_info) > sizeof(data));
	size = min(_IOC_SIZE(cmd), _IOC_SIZE(ioctl->cmd));
	if (copy_from_user(data, user, size))
		return -EFAULT;
	ret = ioctl->func(dev_priv->process_priv, data);
	if (_IOC_DIR(cmd) & _IOC_READ && copy_to_user(user, data, size))
		return ret ?: -EFAULT;
	return ret;
}
