/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * How a process talks to the KGSL stand-in: the part of KGSL's interface that
 * deals with memory, with its numbers, layouts and names. Shared by the driver
 * and the tests.
 */
#ifndef _MSM_KGSL_H
#define _MSM_KGSL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Flags of an allocation. */
#define KGSL_MEMFLAGS_SECURE		0x8ULL
#define KGSL_MEMFLAGS_USERMEM_MASK	0xe0ULL
#define KGSL_MEMFLAGS_USERMEM_ADDR	0x60ULL
#define KGSL_MEMFLAGS_USERMEM_ION	0x80ULL
#define KGSL_MEMTYPE_MASK		0xff00ULL
#define KGSL_MEMTYPE_SHIFT		8
#define KGSL_MEMALIGN_MASK		0xff0000ULL
#define KGSL_MEMALIGN_SHIFT		16
#define KGSL_MEMFLAGS_GPUREADONLY	0x1000000ULL
#define KGSL_CACHEMODE_MASK		0xc000000ULL
#define KGSL_CACHEMODE_SHIFT		26
#define KGSL_MEMFLAGS_USE_CPU_MAP	0x10000000ULL
#define KGSL_MEMFLAGS_IOCOHERENT	0x80000000ULL
#define KGSL_MEMFLAGS_FORCE_32BIT	0x100000000ULL
#define KGSL_MEMFLAGS_GUARD_PAGE	0x200000000ULL
#define KGSL_MEMFLAGS_VBO		0x400000000ULL
/*
 * Only here: one contiguous piece, which is mapped as page frames. A GPU
 * without an MMU gets all its memory so, and KGSL needs no flag for it.
 */
#define KGSL_MEMFLAGS_STANDIN_CONTIGUOUS 0x4000000000000000ULL

#define KGSL_CACHEMODE_WRITECOMBINE	0
#define KGSL_CACHEMODE_UNCACHED		1
#define KGSL_CACHEMODE_WRITETHROUGH	2
#define KGSL_CACHEMODE_WRITEBACK	3

/* Memory types: what it is used for. */
#define KGSL_MEMTYPE_OBJECTANY		0
#define KGSL_MEMTYPE_FRAMEBUFFER	1
#define KGSL_MEMTYPE_RENDERBUFFER	2
#define KGSL_MEMTYPE_ARRAYBUFFER	3
#define KGSL_MEMTYPE_ELEMENTARRAYBUFFER	4
#define KGSL_MEMTYPE_VERTEXARRAYBUFFER	5
#define KGSL_MEMTYPE_TEXTURE		6
#define KGSL_MEMTYPE_SURFACE		7
#define KGSL_MEMTYPE_EGL_SURFACE	8
#define KGSL_MEMTYPE_GL			9
#define KGSL_MEMTYPE_CL			10
#define KGSL_MEMTYPE_CL_BUFFER_MAP	11
#define KGSL_MEMTYPE_CL_BUFFER_NOMAP	12
#define KGSL_MEMTYPE_CL_IMAGE_MAP	13
#define KGSL_MEMTYPE_CL_IMAGE_NOMAP	14
#define KGSL_MEMTYPE_CL_KERNEL_STACK	15
#define KGSL_MEMTYPE_COMMAND		16
#define KGSL_MEMTYPE_2D			17
#define KGSL_MEMTYPE_EGL_IMAGE		18
#define KGSL_MEMTYPE_EGL_SHADOW		19
#define KGSL_MEMTYPE_MULTISAMPLE	20
#define KGSL_MEMTYPE_KERNEL		255

/* Whose memory is imported; an entry's type is one more. */
#define KGSL_USER_MEM_TYPE_PMEM		0
#define KGSL_USER_MEM_TYPE_ASHMEM	1
#define KGSL_USER_MEM_TYPE_ADDR		2
#define KGSL_USER_MEM_TYPE_ION		3
#define KGSL_USER_MEM_TYPE_DMABUF	3
#define KGSL_USER_MEM_TYPE_MAX		7

#define KGSL_IOC_TYPE			0x09

#define KGSL_PROP_DEVICE_INFO		0x1
#define KGSL_PROP_VERSION		0x8

struct kgsl_devinfo {
	unsigned int device_id;
	unsigned int chip_id;
	unsigned int mmu_enabled;
	unsigned long gmem_gpubaseaddr;
	unsigned int gpu_id;
	__kernel_size_t gmem_sizebytes;
};

struct kgsl_version {
	unsigned int drv_major;
	unsigned int drv_minor;
	unsigned int dev_major;
	unsigned int dev_minor;
};

struct kgsl_device_getproperty {
	unsigned int type;
	void *value;
	__kernel_size_t sizebytes;
};

#define IOCTL_KGSL_DEVICE_GETPROPERTY \
	_IOWR(KGSL_IOC_TYPE, 0x2, struct kgsl_device_getproperty)

struct kgsl_map_user_mem {
	int fd;
	unsigned long gpuaddr;
	__kernel_size_t len;
	__kernel_size_t offset;
	unsigned long hostptr;
	unsigned int memtype;
	unsigned int flags;
};

#define IOCTL_KGSL_MAP_USER_MEM \
	_IOWR(KGSL_IOC_TYPE, 0x15, struct kgsl_map_user_mem)

struct kgsl_sharedmem_free {
	unsigned long gpuaddr;
};

#define IOCTL_KGSL_SHAREDMEM_FREE \
	_IOW(KGSL_IOC_TYPE, 0x21, struct kgsl_sharedmem_free)

struct kgsl_gpumem_alloc {
	unsigned long gpuaddr;
	__kernel_size_t size;
	unsigned int flags;
};

#define IOCTL_KGSL_GPUMEM_ALLOC \
	_IOWR(KGSL_IOC_TYPE, 0x2f, struct kgsl_gpumem_alloc)

struct kgsl_gpumem_alloc_id {
	unsigned int id;
	unsigned int flags;
	__kernel_size_t size;
	__kernel_size_t mmapsize;
	unsigned long gpuaddr;
	unsigned long pad[2];
};

#define IOCTL_KGSL_GPUMEM_ALLOC_ID \
	_IOWR(KGSL_IOC_TYPE, 0x34, struct kgsl_gpumem_alloc_id)

struct kgsl_gpumem_free_id {
	unsigned int id;
	unsigned int pad;
};

#define IOCTL_KGSL_GPUMEM_FREE_ID \
	_IOWR(KGSL_IOC_TYPE, 0x35, struct kgsl_gpumem_free_id)

struct kgsl_gpumem_get_info {
	unsigned long gpuaddr;
	unsigned int id;
	unsigned int flags;
	__kernel_size_t size;
	__kernel_size_t mmapsize;
	unsigned long useraddr;
	unsigned long pad[4];
};

#define IOCTL_KGSL_GPUMEM_GET_INFO \
	_IOWR(KGSL_IOC_TYPE, 0x36, struct kgsl_gpumem_get_info)

#define KGSL_GPUOBJ_ALLOC_METADATA_MAX	64

struct kgsl_gpuobj_alloc {
	__u64 size;
	__u64 flags;
	__u64 va_len;
	__u64 mmapsize;
	unsigned int id;
	unsigned int metadata_len;
	__u64 metadata;
};

#define IOCTL_KGSL_GPUOBJ_ALLOC \
	_IOWR(KGSL_IOC_TYPE, 0x45, struct kgsl_gpuobj_alloc)

#define KGSL_GPUOBJ_FREE_ON_EVENT	1
#define KGSL_GPU_EVENT_TIMESTAMP	1
#define KGSL_GPU_EVENT_FENCE		2

struct kgsl_gpu_event_fence {
	int fd;
};

struct kgsl_gpuobj_free {
	__u64 flags;
	__u64 priv;
	unsigned int id;
	unsigned int type;
	unsigned int len;
};

#define IOCTL_KGSL_GPUOBJ_FREE \
	_IOW(KGSL_IOC_TYPE, 0x46, struct kgsl_gpuobj_free)

struct kgsl_gpuobj_info {
	__u64 gpuaddr;
	__u64 flags;
	__u64 size;
	__u64 va_len;
	__u64 va_addr;
	unsigned int id;
};

#define IOCTL_KGSL_GPUOBJ_INFO \
	_IOWR(KGSL_IOC_TYPE, 0x47, struct kgsl_gpuobj_info)

struct kgsl_gpuobj_import {
	__u64 priv;
	__u64 priv_len;
	__u64 flags;
	unsigned int type;
	unsigned int id;
};

struct kgsl_gpuobj_import_dma_buf {
	int fd;
};

struct kgsl_gpuobj_import_useraddr {
	__u64 virtaddr;
};

#define IOCTL_KGSL_GPUOBJ_IMPORT \
	_IOWR(KGSL_IOC_TYPE, 0x48, struct kgsl_gpuobj_import)

#define KGSL_GPUMEM_CACHE_CLEAN		0x1
#define KGSL_GPUMEM_CACHE_INV		0x2
#define KGSL_GPUMEM_CACHE_FLUSH \
	(KGSL_GPUMEM_CACHE_CLEAN | KGSL_GPUMEM_CACHE_INV)
#define KGSL_GPUMEM_CACHE_RANGE		0x80000000U

struct kgsl_gpuobj_sync_obj {
	__u64 offset;
	__u64 length;
	unsigned int id;
	unsigned int op;
};

struct kgsl_gpuobj_sync {
	__u64 objs;
	unsigned int obj_len;
	unsigned int count;
};

#define IOCTL_KGSL_GPUOBJ_SYNC \
	_IOW(KGSL_IOC_TYPE, 0x49, struct kgsl_gpuobj_sync)

#define KGSL_GPUOBJ_SET_INFO_METADATA	0x1
#define KGSL_GPUOBJ_SET_INFO_TYPE	0x2

struct kgsl_gpuobj_set_info {
	__u64 flags;
	__u64 metadata;
	unsigned int id;
	unsigned int metadata_len;
	unsigned int type;
};

#define IOCTL_KGSL_GPUOBJ_SET_INFO \
	_IOW(KGSL_IOC_TYPE, 0x4C, struct kgsl_gpuobj_set_info)

#define KGSL_GPUMEM_RANGE_OP_BIND	1
#define KGSL_GPUMEM_RANGE_OP_UNBIND	2

struct kgsl_gpumem_bind_range {
	__u64 child_offset;
	__u64 target_offset;
	__u64 length;
	__u32 child_id;
	__u32 op;
};

struct kgsl_gpumem_bind_ranges {
	__u64 ranges;
	__u32 ranges_nents;
	__u32 ranges_size;
	__u32 id;
	__u32 flags;
	int fence_id;
	__u32 padding;
};

#define IOCTL_KGSL_GPUMEM_BIND_RANGES \
	_IOWR(KGSL_IOC_TYPE, 0x56, struct kgsl_gpumem_bind_ranges)

#endif
