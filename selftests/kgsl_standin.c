// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the KGSL stand-in is like KGSL: what each system call does and
 * refuses, which mappings count in RSS, what survives what, and what its files
 * and gpu_mem_total say. Tests of memledger rely on all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kgsl.h"
#include "testlib.h"
#include "vmas.h"

#include "kselftest_harness.h"

#define STANDIN	"kgsl_standin"
#define PIXEL	"kgsl_standin_pixel"

/* Older headers lack it. */
#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file {
	__u32 flags;
	__s32 fd;
};

#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE \
	_IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#endif

FIXTURE(standin)
{
	int fd;
	pid_t me;
	size_t page;
	long long page_alloc;
};

FIXTURE_SETUP(standin)
{
	const char *why = geteuid() ? "must be root" : NULL;

	if (!why)
		why = kgsl_load(STANDIN, "");
	if (!why && access("/sys/kernel/debug/kgsl", F_OK))
		why = "no /sys/kernel/debug/kgsl";
	if (why)
		SKIP(return, "%s", why);
	self->me = getpid();
	self->page = page_size();
	self->page_alloc = kgsl_read_global("page_alloc");
	self->fd = kgsl_open();
	ASSERT_GE(self->fd, 0);
}

/* The process has gone, and all memory with it. */
FIXTURE_TEARDOWN(standin)
{
	settings_restore();
	if (self->fd > 0)
		close(self->fd);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", -ENOENT), -ENOENT);
	EXPECT_EQ(kgsl_wait(0, "page_alloc", self->page_alloc),
		  self->page_alloc);
	EXPECT_EQ(kgsl_wait(0, "coherent", 0), 0);
	EXPECT_EQ(kgsl_wait(0, "secure", 0), 0);
	EXPECT_EQ(kgsl_wait(0, "mapped", 0), 0);
}

/* Resident bytes of the mapping that begins at @start; -1 if there is none. */
static long long rss_at(const void *start)
{
	struct vma_list list;
	long long rss = -1;
	size_t i;

	if (vmas_read_smaps(&list, getpid()))
		return -1;
	for (i = 0; i < list.nr; i++)
		if (list.vma[i].start == (uintptr_t)start)
			rss = list.vma[i].value[FIELD_rss] << 10;
	vmas_free(&list);
	return rss;
}

/*
 * Nodes
 */

TEST_F_TIMEOUT(standin, nodes, TIMEOUT)
{
	static const char *const files[] = {
		"vmalloc", "vmalloc_max", "page_alloc", "page_alloc_max",
		"coherent", "coherent_max", "secure", "secure_max", "mapped",
		"mapped_max", "full_cache_threshold",
	};
	static const char *const process_files[] = {
		"kernel", "kernel_max", "user", "user_max", "ion", "ion_max",
		"imported_mem", "gpumem_mapped", "gpumem_unmapped",
		"gpumem_reclaimed", "memtype/any(0)", "memtype/framebuffer",
		"memtype/texture", "memtype/egl_surface", "memtype/egl_image",
		"memtype/egl_multisample", "memtype/2d", "memtype/kernel",
	};
	char text[32];
	struct stat st;
	size_t i;

	ASSERT_EQ(stat(KGSL_DEVICE, &st), 0);
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(access("/sys/class/kgsl/kgsl-3d0/dev", R_OK), 0);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_GE(kgsl_read_global(files[i]), 0)
			TH_LOG("%s", files[i]);
	}
	for (i = 0; i < ARRAY_SIZE(process_files); i++) {
		EXPECT_EQ(kgsl_read(self->me, process_files[i]), 0)
			TH_LOG("%s", process_files[i]);
	}
	/* The driver has something for itself. */
	EXPECT_GT(kgsl_read_global("page_alloc"), 0);

	ASSERT_EQ(read(self->fd, text, sizeof(text)), 12);
	EXPECT_STREQ(text, "OH HAI GPU\n");
	EXPECT_EQ(read(self->fd, text, sizeof(text)), 0);
}

/*
 * Allocation
 */

TEST_F_TIMEOUT(standin, alloc, TIMEOUT)
{
	struct kgsl_gpumem_alloc alloc = { .size = 3 * self->page - 1 };
	struct kgsl_gpumem_alloc_id alloc_id = {
		.size = 1,
		.flags = KGSL_TYPE(TEXTURE),
	};
	struct kgsl_gpuobj_alloc obj = {
		.size = 2 * self->page,
		.flags = KGSL_MEMFLAGS_GUARD_PAGE,
	};
	struct kgsl_sharedmem_free by_addr;
	struct kgsl_gpumem_free_id by_id;
	struct kgsl_gpumem_get_info get;
	struct kgsl_gpuobj_info info;

	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUMEM_ALLOC, &alloc), 0);
	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUMEM_ALLOC_ID, &alloc_id),
		  0);
	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_ALLOC, &obj), 0);
	EXPECT_EQ(alloc.size, 3 * self->page);
	EXPECT_NE(alloc.gpuaddr, 0);
	EXPECT_EQ(alloc_id.size, self->page);
	EXPECT_EQ(alloc_id.mmapsize, self->page);
	EXPECT_NE(alloc_id.id, 0);
	EXPECT_EQ(obj.size, 2 * self->page);
	EXPECT_EQ(obj.mmapsize, 3 * self->page);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 6 * self->page);
	EXPECT_EQ(kgsl_read(self->me, "kernel_max"), 6 * self->page);
	EXPECT_EQ(kgsl_read_global("page_alloc"),
		  self->page_alloc + 6 * self->page);

	get = (struct kgsl_gpumem_get_info){ .gpuaddr = alloc.gpuaddr + 1 };
	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUMEM_GET_INFO, &get), 0);
	EXPECT_EQ(get.gpuaddr, alloc.gpuaddr);
	EXPECT_EQ(get.size, 3 * self->page);
	info = (struct kgsl_gpuobj_info){ .gpuaddr = alloc_id.gpuaddr };
	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_INFO, &info), 0);
	EXPECT_EQ(info.id, alloc_id.id);
	EXPECT_EQ(info.flags & KGSL_MEMTYPE_MASK, KGSL_TYPE(TEXTURE));
	ASSERT_EQ(kgsl_info(self->fd, obj.id, &info), 0);
	EXPECT_EQ(info.va_len, 3 * self->page);

	by_addr.gpuaddr = alloc.gpuaddr + 2 * self->page;
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_SHAREDMEM_FREE, &by_addr),
		  0);
	by_id = (struct kgsl_gpumem_free_id){ .id = alloc_id.id };
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUMEM_FREE_ID, &by_id), 0);
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUMEM_FREE_ID, &by_id),
		  -EINVAL);
	EXPECT_EQ(kgsl_free(self->fd, obj.id), 0);
	EXPECT_EQ(kgsl_free(self->fd, obj.id), -EINVAL);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 0);
	EXPECT_EQ(kgsl_read(self->me, "kernel_max"), 6 * self->page);
}

/* Programs of other releases have shorter and longer structs. */
TEST_F_TIMEOUT(standin, struct_sizes, TIMEOUT)
{
	struct {
		struct kgsl_gpuobj_alloc alloc;
		u64 more;
	} longer = { .alloc.size = self->page, .more = ~0ULL };
	struct {
		struct kgsl_gpumem_alloc_id alloc;
	} shorter = { .alloc.size = self->page, .alloc.mmapsize = 1 };
	unsigned long cmd;

	cmd = _IOC(_IOC_READ | _IOC_WRITE, KGSL_IOC_TYPE, 0x45,
		   sizeof(longer));
	EXPECT_EQ(kgsl_ioctl(self->fd, cmd, &longer), 0);
	EXPECT_EQ(longer.more, ~0ULL);
	/* Up to the size: what is behind it stays as it was. */
	cmd = _IOC(_IOC_READ | _IOC_WRITE, KGSL_IOC_TYPE, 0x34, 16);
	EXPECT_EQ(kgsl_ioctl(self->fd, cmd, &shorter), 0);
	EXPECT_NE(shorter.alloc.id, 0);
	EXPECT_EQ(shorter.alloc.mmapsize, 1);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 2 * self->page);
}

/*
 * Errors: each leaves everything as it was.
 */

struct bad {
	const char *what;
	int err;
	unsigned long cmd;
	union {
		struct kgsl_device_getproperty property;
		struct kgsl_map_user_mem map;
		struct kgsl_sharedmem_free sharedmem_free;
		struct kgsl_gpumem_alloc gpumem_alloc;
		struct kgsl_gpumem_alloc_id alloc_id;
		struct kgsl_gpumem_free_id free_id;
		struct kgsl_gpumem_get_info get_info;
		struct kgsl_gpuobj_alloc alloc;
		struct kgsl_gpuobj_free free;
		struct kgsl_gpuobj_info info;
		struct kgsl_gpuobj_import import;
		struct kgsl_gpuobj_sync sync;
		struct kgsl_gpuobj_set_info set_info;
		struct kgsl_gpumem_bind_ranges bind;
	};
};

static int not_a_dmabuf;
static char anywhere[64];

#define AT(p)		((uintptr_t)(p))
#define RANGE(...)	(&(struct kgsl_gpumem_bind_range){ __VA_ARGS__ })
#define BIND(vbo, ...)	.cmd = IOCTL_KGSL_GPUMEM_BIND_RANGES, .bind = {	\
		.id = vbo,						\
		.ranges = AT(RANGE(__VA_ARGS__)),			\
		.ranges_nents = 1,					\
		.ranges_size = sizeof(struct kgsl_gpumem_bind_range),	\
	}
#define SYNC(...)	.cmd = IOCTL_KGSL_GPUOBJ_SYNC, .sync = {	\
		.objs = AT((&(struct kgsl_gpuobj_sync_obj){ __VA_ARGS__ })), \
		.obj_len = sizeof(struct kgsl_gpuobj_sync_obj),		\
		.count = 1,						\
	}
#define DMABUF(n)	AT((&(struct kgsl_gpuobj_import_dma_buf){ n }))
#define USERADDR(n)	AT((&(struct kgsl_gpuobj_import_useraddr){ n }))

TEST_F_TIMEOUT(standin, errors, TIMEOUT)
{
	size_t page = self->page;
	int id = kgsl_alloc(self->fd, 2 * page, 0);
	int cached = kgsl_alloc(self->fd, page, KGSL_CACHE(WRITEBACK));
	int vbo = kgsl_alloc(self->fd, 4 * page, KGSL_MEMFLAGS_VBO);
	int secure = kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_SECURE);
	char *gpumem = kgsl_map(self->fd, id, 2 * page);
	char *own = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *hole = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kgsl_gpumem_bind_range *bound =
		RANGE(.child_id = id, .length = page, .op = 1);
	const struct bad table[] = {
		{ "no such call", ENOTTY, _IOWR(KGSL_IOC_TYPE, 0x7f, int) },
		{ "a call that KGSL has, but not here", ENOTTY,
		  _IOWR(KGSL_IOC_TYPE, 0x4a, int) },
		{ "another driver's call", ENOTTY,
		  _IOWR(0x0a, 0x45, struct kgsl_gpuobj_alloc) },
		{ "a call in the wrong direction", ENOTTY,
		  _IOW(KGSL_IOC_TYPE, 0x45, struct kgsl_gpuobj_alloc) },

		{ "nothing", EINVAL, IOCTL_KGSL_GPUOBJ_ALLOC, .alloc = {} },
		{ "too much", EINVAL, IOCTL_KGSL_GPUOBJ_ALLOC,
		  .alloc.size = 1ULL << 32 },
		{ "too much when rounded", EINVAL, IOCTL_KGSL_GPUOBJ_ALLOC,
		  .alloc.size = ~0U },
		{ "all that can be said", EINVAL, IOCTL_KGSL_GPUOBJ_ALLOC,
		  .alloc.size = ~0ULL },
		{ "more than there is", ENOMEM, IOCTL_KGSL_GPUOBJ_ALLOC,
		  .alloc.size = 4000ULL << 20 },
		{ "more in one piece than there can be", ENOMEM,
		  IOCTL_KGSL_GPUOBJ_ALLOC, .alloc.size = 512 << 20,
		  .alloc.flags = KGSL_MEMFLAGS_STANDIN_CONTIGUOUS },
		{ "nothing, the old way", EINVAL, IOCTL_KGSL_GPUMEM_ALLOC,
		  .gpumem_alloc = {} },
		{ "too much, the old way", EINVAL, IOCTL_KGSL_GPUMEM_ALLOC_ID,
		  .alloc_id.size = 1UL << 40 },
		{ "a cached virtual object", EINVAL, IOCTL_KGSL_GPUOBJ_ALLOC,
		  .alloc.size = page, .alloc.flags = KGSL_MEMFLAGS_VBO |
		  KGSL_CACHE(WRITEBACK) },
		{ "a read-only virtual object", EINVAL, IOCTL_KGSL_GPUOBJ_ALLOC,
		  .alloc.size = page, .alloc.flags = KGSL_MEMFLAGS_VBO |
		  KGSL_MEMFLAGS_GPUREADONLY },
		{ "a virtual object where the CPU has it", EINVAL,
		  IOCTL_KGSL_GPUOBJ_ALLOC, .alloc.size = page,
		  .alloc.flags = KGSL_MEMFLAGS_VBO |
		  KGSL_MEMFLAGS_USE_CPU_MAP },
		{ "an empty virtual object", EINVAL, IOCTL_KGSL_GPUOBJ_ALLOC,
		  .alloc.flags = KGSL_MEMFLAGS_VBO },
		{ "a virtual object of more than all addresses", EINVAL,
		  IOCTL_KGSL_GPUOBJ_ALLOC, .alloc.size = ~0ULL,
		  .alloc.flags = KGSL_MEMFLAGS_VBO },

		{ "free: no such id", EINVAL, IOCTL_KGSL_GPUOBJ_FREE,
		  .free.id = 12345 },
		{ "free: id 0", EINVAL, IOCTL_KGSL_GPUOBJ_FREE, .free = {} },
		{ "free: the largest id", EINVAL, IOCTL_KGSL_GPUMEM_FREE_ID,
		  .free_id.id = ~0U },
		{ "free: no such address", EINVAL, IOCTL_KGSL_SHAREDMEM_FREE,
		  .sharedmem_free.gpuaddr = page },
		{ "free: address 0", EINVAL, IOCTL_KGSL_SHAREDMEM_FREE,
		  .sharedmem_free = {} },
		{ "free on a timestamp of no context", EINVAL,
		  IOCTL_KGSL_GPUOBJ_FREE, .free = { .id = id,
		  .flags = KGSL_GPUOBJ_FREE_ON_EVENT,
		  .type = KGSL_GPU_EVENT_TIMESTAMP, .priv = AT(anywhere),
		  .len = 8 } },
		{ "free on what is no fence", EINVAL, IOCTL_KGSL_GPUOBJ_FREE,
		  .free = { .id = id, .flags = KGSL_GPUOBJ_FREE_ON_EVENT,
		  .type = KGSL_GPU_EVENT_FENCE,
		  .priv = DMABUF(not_a_dmabuf), .len = sizeof(int) } },
		{ "free on a fence from nowhere", EFAULT,
		  IOCTL_KGSL_GPUOBJ_FREE, .free = { .id = id,
		  .flags = KGSL_GPUOBJ_FREE_ON_EVENT,
		  .type = KGSL_GPU_EVENT_FENCE, .len = sizeof(int) } },

		{ "info: no such id", EINVAL, IOCTL_KGSL_GPUOBJ_INFO,
		  .info.id = 12345 },
		{ "info: neither id nor address", EINVAL,
		  IOCTL_KGSL_GPUOBJ_INFO, .info = {} },
		{ "info, the old way: neither", EINVAL,
		  IOCTL_KGSL_GPUMEM_GET_INFO, .get_info = {} },

		{ "import: a kind that is no more", KGSL_ENOTSUPP,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import.type = KGSL_USER_MEM_TYPE_PMEM },
		{ "import: a kind that never was", KGSL_ENOTSUPP,
		  IOCTL_KGSL_GPUOBJ_IMPORT, .import.type = 12345 },
		{ "import: virtual", EINVAL, IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_DMABUF,
		  .flags = KGSL_MEMFLAGS_VBO } },
		{ "import: an fd from nowhere", EFAULT,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_DMABUF,
		  .priv_len = sizeof(int) } },
		{ "import: a closed fd", EBADF, IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_DMABUF,
		  .priv = DMABUF(1000), .priv_len = sizeof(int) } },
		{ "import: a negative fd", EINVAL, IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_DMABUF,
		  .priv = DMABUF(-1), .priv_len = sizeof(int) } },
		{ "import: no DMA-BUF", EINVAL, IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_DMABUF,
		  .priv = DMABUF(not_a_dmabuf), .priv_len = sizeof(int) } },
		{ "import: an address from nowhere", EINVAL,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv_len = page } },
		{ "import: address 0", EINVAL, IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(0), .priv_len = page } },
		{ "import: not a page's address", EINVAL,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(AT(own) + 8), .priv_len = page } },
		{ "import: no length", EINVAL, IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(AT(own)) } },
		{ "import: not a page's length", EINVAL,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(AT(own)), .priv_len = page + 1 } },
		{ "import: past all addresses", EINVAL,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(-page), .priv_len = 2 * page } },
		{ "import: nothing there", EFAULT, IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(page), .priv_len = page } },
		{ "import: a hole in the second page", EFAULT,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(AT(hole)), .priv_len = 2 * page } },
		{ "import: what comes from the driver", EFAULT,
		  IOCTL_KGSL_GPUOBJ_IMPORT,
		  .import = { .type = KGSL_USER_MEM_TYPE_ADDR,
		  .priv = USERADDR(AT(gpumem)), .priv_len = page } },

		{ "map: a kind that is no more", EOPNOTSUPP,
		  IOCTL_KGSL_MAP_USER_MEM,
		  .map.memtype = KGSL_USER_MEM_TYPE_ASHMEM },
		{ "map: protected, and where the CPU has it", EINVAL,
		  IOCTL_KGSL_MAP_USER_MEM, .map = {
		  .memtype = KGSL_USER_MEM_TYPE_ADDR,
		  .flags = KGSL_MEMFLAGS_SECURE | KGSL_MEMFLAGS_USE_CPU_MAP } },
		{ "map: own memory as protected", EINVAL,
		  IOCTL_KGSL_MAP_USER_MEM, .map = {
		  .memtype = KGSL_USER_MEM_TYPE_ADDR, .hostptr = AT(own),
		  .len = page, .flags = KGSL_MEMFLAGS_SECURE } },
		{ "map: with an offset", EINVAL, IOCTL_KGSL_MAP_USER_MEM,
		  .map = { .memtype = KGSL_USER_MEM_TYPE_ADDR,
		  .hostptr = AT(own), .len = page, .offset = page } },
		{ "map: a DMA-BUF with an offset", EINVAL,
		  IOCTL_KGSL_MAP_USER_MEM, .map = {
		  .memtype = KGSL_USER_MEM_TYPE_ION, .fd = not_a_dmabuf,
		  .offset = 1 } },
		{ "map: a closed fd", EBADF, IOCTL_KGSL_MAP_USER_MEM, .map = {
		  .memtype = KGSL_USER_MEM_TYPE_ION, .fd = -1 } },

		{ "set: no such id", EINVAL, IOCTL_KGSL_GPUOBJ_SET_INFO,
		  .set_info = { .id = 12345 } },
		{ "set: id 0", EINVAL, IOCTL_KGSL_GPUOBJ_SET_INFO,
		  .set_info = { .flags = KGSL_GPUOBJ_SET_INFO_TYPE } },
		{ "set: no such type", EINVAL, IOCTL_KGSL_GPUOBJ_SET_INFO,
		  .set_info = { .id = id, .type = 256,
		  .flags = KGSL_GPUOBJ_SET_INFO_TYPE } },

		{ "sync: nothing", EINVAL, IOCTL_KGSL_GPUOBJ_SYNC,
		  .sync = { .objs = AT(anywhere), .obj_len = 24 } },
		{ "sync: too many", EINVAL, IOCTL_KGSL_GPUOBJ_SYNC,
		  .sync = { .objs = AT(anywhere), .obj_len = 24,
		  .count = 129 } },
		{ "sync: objects of no size", EINVAL, IOCTL_KGSL_GPUOBJ_SYNC,
		  .sync = { .objs = AT(anywhere), .count = 1 } },
		{ "sync: from nowhere", EFAULT, IOCTL_KGSL_GPUOBJ_SYNC,
		  .sync = { .obj_len = 24, .count = 1 } },
		{ "sync: no operation", EINVAL, SYNC(.id = cached) },
		{ "sync: an empty range", EINVAL, SYNC(.id = cached,
		  .op = KGSL_GPUMEM_CACHE_CLEAN | KGSL_GPUMEM_CACHE_RANGE) },
		{ "sync: past the end", ERANGE, SYNC(.id = cached,
		  .offset = 1, .length = page,
		  .op = KGSL_GPUMEM_CACHE_CLEAN | KGSL_GPUMEM_CACHE_RANGE) },
		{ "sync: an offset that wraps around", ERANGE,
		  SYNC(.id = cached, .offset = ~0ULL, .length = 2,
		       .op = KGSL_GPUMEM_CACHE_CLEAN | KGSL_GPUMEM_CACHE_RANGE) },

		{ "bind: later", EOPNOTSUPP, IOCTL_KGSL_GPUMEM_BIND_RANGES,
		  .bind = { .id = vbo, .flags = 1, .ranges = AT(bound),
		  .ranges_nents = 1, .ranges_size = sizeof(*bound) } },
		{ "bind: nothing", EINVAL, IOCTL_KGSL_GPUMEM_BIND_RANGES,
		  .bind = { .id = vbo, .ranges = AT(bound),
		  .ranges_size = sizeof(*bound) } },
		{ "bind: ranges of no size", EINVAL,
		  IOCTL_KGSL_GPUMEM_BIND_RANGES,
		  .bind = { .id = vbo, .ranges = AT(bound),
		  .ranges_nents = 1 } },
		{ "bind: from nowhere", EFAULT, IOCTL_KGSL_GPUMEM_BIND_RANGES,
		  .bind = { .id = vbo, .ranges_nents = 1,
		  .ranges_size = sizeof(*bound) } },
		{ "bind: no such target", EINVAL, BIND(12345, .child_id = id,
		  .length = page, .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: to what is not virtual", EINVAL, BIND(id,
		  .child_id = cached, .length = page,
		  .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: no operation", EINVAL, BIND(vbo, .child_id = id,
		  .length = page) },
		{ "bind: no such child", EINVAL, BIND(vbo, .child_id = 12345,
		  .length = page, .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: a virtual child", EINVAL, BIND(vbo, .child_id = vbo,
		  .length = page, .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: a protected child", EINVAL, BIND(vbo,
		  .child_id = secure, .length = page,
		  .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: no length", EINVAL, BIND(vbo, .child_id = id,
		  .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: half a page", EINVAL, BIND(vbo, .child_id = id,
		  .length = page / 2, .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: past the child's end", EINVAL, BIND(vbo,
		  .child_id = id, .child_offset = page, .length = 2 * page,
		  .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: past the target's end", EINVAL, BIND(vbo,
		  .child_id = id, .target_offset = 3 * page,
		  .length = 2 * page, .op = KGSL_GPUMEM_RANGE_OP_BIND) },
		{ "bind: an offset that wraps around", EINVAL, BIND(vbo,
		  .child_id = id, .target_offset = -page,
		  .length = 2 * page, .op = KGSL_GPUMEM_RANGE_OP_BIND) },

		{ "property: none", EINVAL, IOCTL_KGSL_DEVICE_GETPROPERTY,
		  .property.value = anywhere },
		{ "property: too short", EINVAL, IOCTL_KGSL_DEVICE_GETPROPERTY,
		  .property = { KGSL_PROP_VERSION, anywhere, 8 } },
		{ "property: to nowhere", EFAULT,
		  IOCTL_KGSL_DEVICE_GETPROPERTY, .property = {
		  KGSL_PROP_VERSION, NULL, sizeof(struct kgsl_version) } },
	};
	struct kgsl_row before[8], after[8];
	struct bad bad;
	size_t i;
	int nr;

	not_a_dmabuf = STDIN_FILENO;
	ASSERT_GT(id, 0);
	ASSERT_GT(cached, 0);
	ASSERT_GT(vbo, 0);
	ASSERT_GT(secure, 0);
	ASSERT_NE(gpumem, MAP_FAILED);
	ASSERT_NE(own, MAP_FAILED);
	ASSERT_EQ(munmap(hole + page, page), 0);
	nr = kgsl_rows(self->me, before, ARRAY_SIZE(before));
	ASSERT_EQ(nr, 4);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		bad = table[i];
		EXPECT_EQ(kgsl_ioctl(self->fd, bad.cmd, &bad.alloc), -bad.err)
			TH_LOG("%s", bad.what);
		EXPECT_EQ(kgsl_ioctl(self->fd, bad.cmd, NULL),
			  bad.err == ENOTTY ? -ENOTTY : -EFAULT)
			TH_LOG("%s, from nowhere", bad.what);
		ASSERT_EQ(kgsl_rows(self->me, after, ARRAY_SIZE(after)), nr)
			TH_LOG("%s", bad.what);
		EXPECT_EQ(memcmp(before, after, nr * sizeof(*after)), 0)
			TH_LOG("%s", bad.what);
	}
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 4 * page);
	EXPECT_EQ(kgsl_read(self->me, "user"), 0);
	EXPECT_EQ(kgsl_read(self->me, "ion"), 0);
	munmap(gpumem, 2 * page);
	munmap(own, 2 * page);
	munmap(hole, page);
}

/* An id that is not there is passed over; other things succeed as they should. */
TEST_F_TIMEOUT(standin, no_errors, TIMEOUT)
{
	struct kgsl_version version;
	struct kgsl_devinfo info;
	struct kgsl_device_getproperty property = {
		KGSL_PROP_VERSION, &version, sizeof(version),
	};
	struct kgsl_gpuobj_sync_obj objs[128] = {};
	struct kgsl_gpuobj_sync sync = {
		.objs = AT(objs),
		.obj_len = sizeof(objs[0]),
		.count = ARRAY_SIZE(objs),
	};
	int secure = kgsl_alloc(self->fd, self->page, KGSL_MEMFLAGS_SECURE);

	objs[1].id = 12345;
	objs[2].id = secure;
	ASSERT_GT(secure, 0);
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_SYNC, &sync), 0);
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_DEVICE_GETPROPERTY,
			     &property), 0);
	EXPECT_EQ(version.drv_major, 3);
	property = (struct kgsl_device_getproperty){
		KGSL_PROP_DEVICE_INFO, &info, sizeof(info),
	};
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_DEVICE_GETPROPERTY,
			     &property), 0);
	EXPECT_EQ(info.mmu_enabled, 1);
}

/*
 * Mappings
 */

TEST_F_TIMEOUT(standin, mmap_errors, TIMEOUT)
{
	size_t page = self->page;
	int dmabuf = dmabuf_from_heap(page);
	char *own = mmap(NULL, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct {
		const char *what;
		int id;
		size_t len;
		int flags;
		int err;
	} table[] = {
		{ "no such entry", 12345, page, MAP_SHARED, EINVAL },
		{ "too little", kgsl_alloc(self->fd, 2 * page, 0), page,
		  MAP_SHARED, ERANGE },
		{ "too much", kgsl_alloc(self->fd, page, 0), 2 * page,
		  MAP_SHARED, ERANGE },
		{ "more than the guard page",
		  kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_GUARD_PAGE),
		  3 * page, MAP_SHARED, ERANGE },
		{ "protected", kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_SECURE),
		  page, MAP_SHARED, EPERM },
		{ "virtual", kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_VBO),
		  page, MAP_SHARED, EINVAL },
		{ "own memory", kgsl_import_addr(self->fd, own, page, 0), page,
		  MAP_SHARED, EBUSY },
		{ "a DMA-BUF", kgsl_import_dmabuf(self->fd, dmabuf, 0), page,
		  MAP_SHARED, EINVAL },
		{ "page frames that would be copied",
		  kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_STANDIN_CONTIGUOUS),
		  page, MAP_PRIVATE, EINVAL },
		{ "without the guard page, where the CPU has it",
		  kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_USE_CPU_MAP |
			     KGSL_MEMFLAGS_GUARD_PAGE), page, MAP_SHARED,
		  ERANGE },
	};
	size_t i;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		ASSERT_GT(table[i].id, 0)
			TH_LOG("%s", table[i].what);
		errno = 0;
		EXPECT_EQ(mmap(NULL, table[i].len, PROT_READ | PROT_WRITE,
			       table[i].flags, self->fd, table[i].id * page),
			  MAP_FAILED);
		EXPECT_EQ(errno, table[i].err)
			TH_LOG("%s", table[i].what);
	}
	EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), 0);
	munmap(own, page);
	close(dmabuf);
}

TEST_F_TIMEOUT(standin, mapped_counts_in_rss, TIMEOUT)
{
	static const struct {
		const char *what;
		u64 flags;
		const char *shmem;
		bool in_rss;
		bool at_once;
		const char *name;
	} table[] = {
		{ "pages", 0, "0", true, false, "/dev/kgsl-3d0" },
		{ "cached pages", KGSL_CACHE(WRITEBACK), "0", true, true,
		  "/dev/kgsl-3d0" },
		{ "one piece", KGSL_MEMFLAGS_STANDIN_CONTIGUOUS, "0", false,
		  false, "/dev/kgsl-3d0" },
		{ "shmem", 0, "1", true, false, "/kgsl-3d0 (deleted)" },
		{ "cached shmem", KGSL_CACHE(WRITETHROUGH), "1", true, true,
		  "/kgsl-3d0 (deleted)" },
	};
	size_t size = 5 * self->page, i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct vma_list list;
		char *p;
		int id;

		ASSERT_EQ(setting_set(KGSL_PARAMETERS "shmem", table[i].shmem),
			  NULL);
		id = kgsl_alloc(self->fd, size, table[i].flags);
		ASSERT_GT(id, 0);
		p = kgsl_map(self->fd, id, size);
		ASSERT_NE(p, MAP_FAILED);
		EXPECT_EQ(rss_at(p), table[i].at_once ? size : 0)
			TH_LOG("%s", table[i].what);
		touch(p, size);
		EXPECT_EQ(rss_at(p), table[i].in_rss ? size : 0)
			TH_LOG("%s", table[i].what);
		ASSERT_EQ(vmas_read_smaps(&list, self->me), 0);
		EXPECT_NE(vmas_find(&list, table[i].name), NULL)
			TH_LOG("%s", table[i].what);
		vmas_free(&list);
		/* The GPU has what the process wrote. */
		EXPECT_EQ(munmap(p, size), 0);
		p = kgsl_map(self->fd, id, size);
		ASSERT_NE(p, MAP_FAILED);
		EXPECT_EQ(((pid_t *)(p + 4 * self->page))[2], self->me);
		munmap(p, size);
		EXPECT_EQ(kgsl_free(self->fd, id), 0);
	}
}

static sigjmp_buf on_sigbus;

static void sigbus(int sig)
{
	siglongjmp(on_sigbus, sig);
}

static bool faults(char *p)
{
	struct sigaction old, action = { .sa_handler = sigbus };
	bool fault = true;

	sigaction(SIGBUS, &action, &old);
	if (!sigsetjmp(on_sigbus, 1)) {
		(void)*(volatile char *)p;
		fault = false;
	}
	sigaction(SIGBUS, &old, NULL);
	return fault;
}

/* Mapped with the rest, but there is no page, and its size counts nowhere. */
TEST_F_TIMEOUT(standin, guard_page, TIMEOUT)
{
	size_t size = 2 * self->page;
	int id = kgsl_alloc(self->fd, size, KGSL_MEMFLAGS_GUARD_PAGE);
	char *p = kgsl_map(self->fd, id, size + self->page);

	ASSERT_NE(p, MAP_FAILED);
	touch(p, size);
	EXPECT_FALSE(faults(p + size - 1));
	EXPECT_TRUE(faults(p + size));
	EXPECT_EQ(rss_at(p), size);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), size);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), size);
	munmap(p, size + self->page);
}

/* However often it is mapped, until the last piece of the last has gone. */
TEST_F_TIMEOUT(standin, mapped_once, TIMEOUT)
{
	size_t page = self->page;
	int id = kgsl_alloc(self->fd, 3 * page, 0);
	int other = kgsl_alloc(self->fd, page, 0);
	struct kgsl_gpuobj_info info;
	struct kgsl_row row;
	char *p, *q;

	ASSERT_GT(id, 0);
	ASSERT_GT(other, 0);
	p = kgsl_map(self->fd, id, 3 * page);
	ASSERT_NE(p, MAP_FAILED);
	/* By its address, which also is an offset. */
	ASSERT_EQ(kgsl_info(self->fd, id, &info), 0);
	q = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
		 info.gpuaddr);
	ASSERT_NE(q, MAP_FAILED);
	*p = 'x';
	EXPECT_EQ(*q, 'x');
	EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), 3 * page);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_unmapped"), page);
	ASSERT_EQ(kgsl_row(self->me, id, &row), 0);
	EXPECT_EQ(row.mapcnt, 2);
	EXPECT_EQ(row.flags[6], 'Y');

	munmap(q, 3 * page);
	EXPECT_EQ(munmap(p, page), 0);
	EXPECT_EQ(munmap(p + 2 * page, page), 0);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), 3 * page);
	/* What is left is still the middle. */
	q = kgsl_map(self->fd, id, 3 * page);
	ASSERT_NE(q, MAP_FAILED);
	p[page] = 'y';
	EXPECT_EQ(q[page], 'y');
	EXPECT_EQ(munmap(p + page, page), 0);
	EXPECT_EQ(munmap(q, 3 * page), 0);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), 0);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_unmapped"), 4 * page);
}

/* What is mapped stays, and counts, but nobody finds it any more. */
TEST_F_TIMEOUT(standin, free_while_mapped, TIMEOUT)
{
	size_t page = self->page;
	int id = kgsl_alloc(self->fd, page, 0);
	char *p = kgsl_map(self->fd, id, page);
	struct kgsl_row row;

	ASSERT_NE(p, MAP_FAILED);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
	EXPECT_EQ(kgsl_free(self->fd, id), -EINVAL);
	EXPECT_EQ(kgsl_map(self->fd, id, page), MAP_FAILED);
	*p = 1;
	EXPECT_EQ(kgsl_read(self->me, "kernel"), page);
	EXPECT_EQ(kgsl_row(self->me, id, &row), 0);
	munmap(p, page);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 0), 0);
}

/* The last file goes, the memory stays as long as it is mapped. */
TEST_F_TIMEOUT(standin, mapping_survives_last_close, TIMEOUT)
{
	static const char *const shmem[] = { "0", "1" };
	size_t page = self->page, i;

	for (i = 0; i < ARRAY_SIZE(shmem); i++) {
		int id, idle;
		char *p;

		ASSERT_EQ(setting_set(KGSL_PARAMETERS "shmem", shmem[i]),
			  NULL);
		id = kgsl_alloc(self->fd, page, 0);
		idle = kgsl_alloc(self->fd, 2 * page, 0);
		ASSERT_GT(id, 0);
		ASSERT_GT(idle, 0);
		p = kgsl_map(self->fd, id, page);
		ASSERT_NE(p, MAP_FAILED);
		*p = 'x';
		close(self->fd);
		/* A mapping of the device is a use of the file. */
		EXPECT_EQ(kgsl_wait(self->me, "kernel", i ? page : 3 * page),
			  i ? page : 3 * page);
		EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), page);
		EXPECT_EQ(*p, 'x');
		/* Nor may the driver go, whoever's file it is. */
		EXPECT_EQ(syscall(__NR_delete_module, STANDIN, O_NONBLOCK), -1);
		EXPECT_EQ(errno, EWOULDBLOCK);
		/* Whoever opens it meanwhile finds what there is. */
		self->fd = kgsl_open();
		ASSERT_GE(self->fd, 0);
		EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), page);
		close(self->fd);
		munmap(p, page);
		EXPECT_EQ(kgsl_wait(self->me, "kernel", -ENOENT), -ENOENT);
		self->fd = kgsl_open();
		ASSERT_GE(self->fd, 0);
	}
}

/* The GPU has it at the address where the process has it first. */
TEST_F_TIMEOUT(standin, shared_address, TIMEOUT)
{
	size_t page = self->page;
	int id = kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_USE_CPU_MAP);
	struct kgsl_gpuobj_info info;
	struct kgsl_row row;
	char *p, *own;

	ASSERT_GT(id, 0);
	ASSERT_EQ(kgsl_info(self->fd, id, &info), 0);
	EXPECT_EQ(info.gpuaddr, 0);
	p = kgsl_map(self->fd, id, page);
	ASSERT_NE(p, MAP_FAILED);
	ASSERT_EQ(kgsl_info(self->fd, id, &info), 0);
	EXPECT_EQ(info.gpuaddr, AT(p));
	errno = 0;
	EXPECT_EQ(kgsl_map(self->fd, id, page), MAP_FAILED);
	EXPECT_EQ(errno, EBUSY);
	ASSERT_EQ(kgsl_row(self->me, id, &row), 0);
	EXPECT_EQ(row.flags[5], 'p');
	munmap(p, page);

	own = mmap(p, page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	ASSERT_EQ(own, p);
	/* There the GPU still has it. */
	EXPECT_EQ(kgsl_import_addr(self->fd, own, page,
				   KGSL_MEMFLAGS_USE_CPU_MAP), -EBUSY);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
	id = kgsl_import_addr(self->fd, own, page, KGSL_MEMFLAGS_USE_CPU_MAP);
	ASSERT_GT(id, 0);
	ASSERT_EQ(kgsl_info(self->fd, id, &info), 0);
	EXPECT_EQ(info.gpuaddr, AT(own));
	munmap(own, page);
}

/*
 * Processes
 */

struct child {
	int fd;
	const char *mapped;
	int id;
	size_t page;
};

static void in_child(void *arg)
{
	struct child *child = arg;
	bool mapped = rss_at(child->mapped) >= 0;
	int own;

	/* Through the file it inherited it works for its parent. */
	if (mapped || kgsl_alloc(child->fd, child->page, 0) < 0)
		_exit(1);
	if (kgsl_read(getpid(), "kernel") != -ENOENT)
		_exit(2);
	own = kgsl_open();
	if (own < 0 || kgsl_alloc(own, 2 * child->page, 0) < 0)
		_exit(3);
	if (kgsl_read(getpid(), "kernel") != (long long)(2 * child->page))
		_exit(4);
	/* What its parent has it does not find. */
	if (kgsl_free(own, child->id + 1) != -EINVAL)
		_exit(5);
}

TEST_F_TIMEOUT(standin, fork, TIMEOUT)
{
	struct child child = { .fd = self->fd, .page = self->page };
	long long page = self->page;
	pid_t pid;
	char *p;

	child.id = kgsl_alloc(self->fd, page, 0);
	p = kgsl_map(self->fd, child.id, page);
	ASSERT_NE(p, MAP_FAILED);
	*p = 1;
	child.mapped = p;
	pid = start_process(in_child, &child);
	ASSERT_GT(pid, 0);
	ASSERT_EQ(wait_stopped(pid), 0);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 2 * page);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_mapped"), page);
	EXPECT_EQ(kgsl_read(pid, "kernel"), 2 * page);
	end_process(pid);
	EXPECT_EQ(kgsl_wait(pid, "kernel", -ENOENT), -ENOENT);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 2 * page);
	munmap(p, page);
}

static void *in_thread(void *arg)
{
	int *fd = arg;

	*fd = kgsl_open();
	return NULL;
}

/* Whichever thread opens it, and however often: the process has it. */
TEST_F_TIMEOUT(standin, threads_share, TIMEOUT)
{
	pthread_t thread;
	int fd = -1, id;

	ASSERT_EQ(pthread_create(&thread, NULL, in_thread, &fd), 0);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	ASSERT_GE(fd, 0);
	id = kgsl_alloc(fd, self->page, 0);
	ASSERT_GT(id, 0);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), self->page);
	close(fd);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), self->page);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
}

/* The first process of a namespace cannot stop itself. */
static void alloc_and_wait(void *arg)
{
	size_t page = page_size();
	int dmabuf = dmabuf_from_heap(4 * page);
	int fd = kgsl_open();
	char *p;

	if (fd < 0 || kgsl_alloc(fd, page, KGSL_MEMFLAGS_SECURE) < 0 ||
	    kgsl_alloc(fd, page, KGSL_MEMFLAGS_STANDIN_CONTIGUOUS) < 0 ||
	    kgsl_import_dmabuf(fd, dmabuf, 0) < 0)
		_exit(1);
	p = kgsl_map(fd, kgsl_alloc(fd, page, 0), page);
	if (p == MAP_FAILED)
		_exit(2);
	touch(p, page);
	p = mmap(NULL, page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (kgsl_import_addr(fd, p, page, 0) < 0 ||
	    write(*(int *)arg, "!", 1) != 1)
		_exit(3);
	pause();
}

static void alloc_in_namespace(void *arg)
{
	int *to = arg, ready[2];
	pid_t pid;
	char c;

	if (pipe(ready) || unshare(CLONE_NEWPID))
		_exit(1);
	pid = start_process(alloc_and_wait, &ready[1]);
	close(ready[1]);
	if (pid < 0 || read(ready[0], &c, 1) != 1 ||
	    write(*to, &pid, sizeof(pid)) != sizeof(pid))
		_exit(2);
}

/* Numbers are those of the initial namespace; nothing stays of who is killed. */
TEST_F_TIMEOUT(standin, killed_in_namespace, TIMEOUT)
{
	long long page = self->page;
	pid_t pid, inner = 0;
	int pipes[2];

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	ASSERT_EQ(pipe(pipes), 0);
	pid = start_process(alloc_in_namespace, &pipes[1]);
	ASSERT_GT(pid, 0);
	ASSERT_EQ(wait_stopped(pid), 0);
	ASSERT_EQ(read(pipes[0], &inner, sizeof(inner)), sizeof(inner));
	EXPECT_EQ(kgsl_read(inner, "kernel"), 3 * page);
	EXPECT_EQ(kgsl_read(inner, "ion"), 4 * page);
	EXPECT_EQ(kgsl_read(inner, "user"), page);
	EXPECT_EQ(kgsl_read(inner, "gpumem_mapped"), page);
	EXPECT_EQ(kgsl_read_global("secure"), page);
	EXPECT_EQ(kgsl_read_global("coherent"), page);
	EXPECT_EQ(kgsl_read_global("mapped"), 5 * page);
	EXPECT_EQ(kgsl_read_global("page_alloc"), self->page_alloc + page);
	kill(inner, SIGKILL);
	end_process(pid);
	EXPECT_EQ(kgsl_wait(inner, "kernel", -ENOENT), -ENOENT);
	close(pipes[0]);
	close(pipes[1]);
}

/*
 * Kinds of memory
 */

TEST_F_TIMEOUT(standin, secure, TIMEOUT)
{
	int id = kgsl_alloc(self->fd, 2 * self->page,
			    KGSL_MEMFLAGS_SECURE | KGSL_MEMFLAGS_USE_CPU_MAP);
	struct kgsl_gpuobj_info info;
	struct kgsl_row row;

	ASSERT_GT(id, 0);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 2 * self->page);
	EXPECT_EQ(kgsl_read_global("secure"), 2 * self->page);
	EXPECT_EQ(kgsl_read_global("page_alloc"), self->page_alloc);
	/* It cannot be where the CPU has it: the CPU does not. */
	ASSERT_EQ(kgsl_info(self->fd, id, &info), 0);
	EXPECT_EQ(info.flags & KGSL_MEMFLAGS_USE_CPU_MAP, 0);
	EXPECT_NE(info.gpuaddr, 0);
	ASSERT_EQ(kgsl_row(self->me, id, &row), 0);
	EXPECT_EQ(row.flags[7], 's');
	EXPECT_GT(row.sglen, 0);
}

TEST_F_TIMEOUT(standin, virtual_object, TIMEOUT)
{
	size_t page = self->page;
	int vbo = kgsl_alloc(self->fd, 8 * page, KGSL_MEMFLAGS_VBO |
			     KGSL_TYPE(TEXTURE));
	int id = kgsl_alloc(self->fd, 4 * page, 0);
	struct kgsl_gpuobj_info info;
	struct kgsl_row row;
	char path[64];
	char *text;

	ASSERT_GT(vbo, 0);
	ASSERT_GT(id, 0);
	/* It is among the entries and in their sums, but has no memory. */
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 4 * page);
	EXPECT_EQ(kgsl_read(self->me, "memtype/texture"), 8 * page);
	ASSERT_EQ(kgsl_info(self->fd, vbo, &info), 0);
	EXPECT_EQ(info.va_len, 0);
	EXPECT_EQ(info.size, 8 * page);
	ASSERT_EQ(kgsl_row(self->me, vbo, &row), 0);
	EXPECT_EQ(row.flags[9], 'v');
	EXPECT_EQ(row.sglen, 0);

	EXPECT_EQ(kgsl_bind(self->fd, vbo, 2 * page, id, 0, 4 * page), 0);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 4 * page);
	/* A hole, and both ends: three ways to lose a part. */
	EXPECT_EQ(kgsl_unbind(self->fd, vbo, 3 * page, page), 0);
	EXPECT_EQ(kgsl_unbind(self->fd, vbo, 0, 3 * page), 0);
	EXPECT_EQ(kgsl_unbind(self->fd, vbo, 5 * page, 3 * page), 0);
	snprintf(path, sizeof(path), KGSL_DETAILS "%d/vbos", self->me);
	text = file_slurp(path);
	ASSERT_NE(text, NULL);
	snprintf(path, sizeof(path), "start %zu end %zu child %d offset %zu\n",
		 4 * page, 5 * page, id, 2 * page);
	EXPECT_NE(strstr(text, path), NULL)
		TH_LOG("%s", text);
	free(text);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 4 * page);
	EXPECT_EQ(kgsl_unbind(self->fd, vbo, 4 * page, page), 0);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 0), 0);

	/* What takes the place of another frees it; so does the object's end. */
	id = kgsl_alloc(self->fd, page, 0);
	EXPECT_EQ(kgsl_bind(self->fd, vbo, 0, id, 0, page), 0);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
	id = kgsl_alloc(self->fd, 2 * page, 0);
	EXPECT_EQ(kgsl_bind(self->fd, vbo, 0, id, 0, 2 * page), 0);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 2 * page), 2 * page);
	EXPECT_EQ(kgsl_free(self->fd, vbo), 0);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 0), 0);
}

TEST_F_TIMEOUT(standin, own_memory, TIMEOUT)
{
	size_t size = 3 * self->page;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kgsl_map_user_mem map = {
		.memtype = KGSL_USER_MEM_TYPE_ADDR,
		.len = size,
	};
	struct kgsl_row row;
	int id;

	ASSERT_NE(p, MAP_FAILED);
	id = kgsl_import_addr(self->fd, p, size, KGSL_TYPE(VERTEXARRAYBUFFER));
	ASSERT_GT(id, 0);
	/* Pinning has made it resident. */
	EXPECT_EQ(rss_at(p), size);
	map.hostptr = AT(p);
	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_MAP_USER_MEM, &map), 0);
	EXPECT_NE(map.gpuaddr, 0);
	EXPECT_EQ(kgsl_read(self->me, "user"), 2 * size);
	EXPECT_EQ(kgsl_read(self->me, "user_max"), 2 * size);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), 0);
	EXPECT_EQ(kgsl_read(self->me, "imported_mem"), 0);
	EXPECT_EQ(kgsl_read_global("mapped"), 2 * size);
	EXPECT_EQ(kgsl_read_global("page_alloc"), self->page_alloc);
	ASSERT_EQ(kgsl_row(self->me, id, &row), 0);
	EXPECT_STREQ(row.type, "usermem");
	EXPECT_STREQ(row.usage, "vertexarraybuff");
	EXPECT_EQ(row.inode, 0);
	/* It stays pinned when it is unmapped. */
	munmap(p, size);
	EXPECT_EQ(kgsl_read(self->me, "user"), 2 * size);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
	EXPECT_EQ(kgsl_read(self->me, "user"), size);
}

TEST_F_TIMEOUT(standin, dmabufs, TIMEOUT)
{
	static const struct {
		const char *exporter;
		int (*create)(size_t size);
	} table[] = {
		{ "system heap", dmabuf_from_heap },
		{ "udmabuf", dmabuf_from_memfd },
	};
	size_t size = 300 * self->page, i;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		int fd = table[i].create(size), id, again;
		struct kgsl_map_user_mem map = {
			.memtype = KGSL_USER_MEM_TYPE_ION,
			.fd = fd,
		};
		struct kgsl_row row;

		ASSERT_GE(fd, 0)
			TH_LOG("%s", table[i].exporter);
		id = kgsl_import_dmabuf(self->fd, fd, KGSL_TYPE(EGL_IMAGE));
		again = kgsl_import_dmabuf(self->fd, fd, KGSL_TYPE(TEXTURE));
		ASSERT_GT(id, 0);
		ASSERT_GT(again, 0);
		EXPECT_EQ(kgsl_read(self->me, "ion"), 2 * size);
		EXPECT_EQ(kgsl_read(self->me, "kernel"), 0);
		EXPECT_EQ(kgsl_read_global("mapped"), 2 * size);
		EXPECT_EQ(kgsl_read_global("page_alloc"), self->page_alloc);
		ASSERT_EQ(kgsl_row(self->me, again, &row), 0);
		EXPECT_STREQ(row.type, "ion");
		EXPECT_EQ(row.size, size);
		EXPECT_EQ(row.inode, dmabuf_inode(fd));
		EXPECT_EQ(row.images, 1);
		EXPECT_EQ(row.surfaces, 0);
		EXPECT_GT(row.sglen, 0);
		/* The old way, to an entry that is freed by its address. */
		ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_MAP_USER_MEM, &map),
			  0);
		EXPECT_EQ(kgsl_read(self->me, "ion"), 3 * size);
		/* The GPU has it, whoever else has not. */
		close(fd);
		EXPECT_EQ(kgsl_free(self->fd, id), 0);
		ASSERT_EQ(kgsl_row(self->me, again, &row), 0);
		EXPECT_EQ(row.images, 0);
		EXPECT_EQ(kgsl_free(self->fd, again), 0);
		EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_SHAREDMEM_FREE,
				     &map.gpuaddr), 0);
		EXPECT_EQ(kgsl_read(self->me, "ion"), 0);
	}
}

#define IMPORTS_MAX	4

/* Imports of one buffer by two processes, and what each pays. */
struct division {
	const char *rule;
	int mine[IMPORTS_MAX];
	int theirs[IMPORTS_MAX];
	int my_share;
	int their_share;
};

#define NO		-1
#define ANY		KGSL_MEMTYPE_OBJECTANY
#define TEXTURE		KGSL_MEMTYPE_TEXTURE
#define SURFACE		KGSL_MEMTYPE_EGL_SURFACE
#define IMAGE		KGSL_MEMTYPE_EGL_IMAGE

/* In twelfths of the buffer. */
static const struct division divisions[] = {
	{ "surface-full", { SURFACE, NO }, { IMAGE, NO }, 12, 0 },
	{ "surface-full", { SURFACE, NO }, { SURFACE, NO }, 12, 12 },
	{ "surface-full", { SURFACE, IMAGE, NO }, { ANY, NO }, 12, 0 },
	{ "surface-full", { IMAGE, NO }, { IMAGE, NO }, 6, 6 },
	{ "surface-full", { IMAGE, IMAGE, NO }, { IMAGE, NO }, 8, 4 },
	{ "surface-full", { TEXTURE, NO }, { IMAGE, IMAGE, NO }, 6, 12 },
	{ "surface-full", { ANY, NO }, { TEXTURE, NO }, 12, 12 },
	{ "shared", { SURFACE, NO }, { IMAGE, NO }, 6, 6 },
	{ "shared", { SURFACE, IMAGE, NO }, { IMAGE, NO }, 8, 4 },
	{ "shared", { ANY, NO }, { SURFACE, IMAGE, NO }, 6, 12 },
	{ "shared", { ANY, NO }, { ANY, NO }, 12, 12 },
	{ "pixel", { SURFACE, NO }, { IMAGE, NO }, 12, 0 },
	{ "pixel", { SURFACE, NO }, { SURFACE, NO }, 6, 6 },
	{ "pixel", { IMAGE, NO }, { IMAGE, IMAGE, NO }, 4, 8 },
	{ "pixel", { ANY, NO }, { NO }, 12, 0 },
	{ "pixel", { ANY, NO }, { ANY, NO }, 0, 12 },
	{ "pixel", { ANY, NO }, { ANY, ANY, NO }, 0, 12 },
	{ "pixel", { ANY, NO }, { IMAGE, IMAGE, NO }, 0, 8 },
	{ "pixel", { TEXTURE, NO }, { ANY, TEXTURE, NO }, 4, 10 },
};

struct importer {
	int dmabuf;
	const int *types;
};

static int import_all(int fd, int dmabuf, const int *types)
{
	for (int i = 0; types[i] != NO; i++) {
		int id = kgsl_import_dmabuf(fd, dmabuf,
					    KGSL_TYPE_NR(types[i]));

		if (id < 0)
			return id;
	}
	return 0;
}

static void import_in_child(void *arg)
{
	struct importer *importer = arg;
	int fd = kgsl_open();

	if (fd < 0 || import_all(fd, importer->dmabuf, importer->types))
		_exit(1);
}

TEST_F_TIMEOUT(standin, divisions, TIMEOUT)
{
	size_t size = 12 * self->page, i;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	for (i = 0; i < ARRAY_SIZE(divisions); i++) {
		const struct division *division = &divisions[i];
		struct importer importer = {
			.dmabuf = dmabuf_from_heap(size),
			.types = division->theirs,
		};
		pid_t pid;

		ASSERT_GE(importer.dmabuf, 0);
		ASSERT_EQ(setting_set(KGSL_PARAMETERS "imported_rule",
				      division->rule), NULL);
		close(self->fd);
		self->fd = kgsl_open();
		ASSERT_GE(self->fd, 0);
		ASSERT_EQ(import_all(self->fd, importer.dmabuf,
				     division->mine), 0);
		pid = start_process(import_in_child, &importer);
		ASSERT_GT(pid, 0);
		ASSERT_EQ(wait_stopped(pid), 0);
		EXPECT_EQ(kgsl_read(self->me, "imported_mem"),
			  division->my_share * self->page)
			TH_LOG("mine in case %zu", i);
		EXPECT_EQ(kgsl_read(pid, "imported_mem"),
			  division->their_share * self->page)
			TH_LOG("theirs in case %zu", i);
		end_process(pid);
		EXPECT_EQ(kgsl_wait(pid, "ion", -ENOENT), -ENOENT);
		close(importer.dmabuf);
		settings_restore();
	}
}

/* Surfaces of the older kind are surfaces to KGSL's count as well. */
TEST_F_TIMEOUT(standin, counts, TIMEOUT)
{
	static const int types[] = {
		SURFACE, KGSL_MEMTYPE_SURFACE, IMAGE, TEXTURE, IMAGE, NO,
	};
	int dmabuf = dmabuf_from_heap(self->page);
	struct kgsl_row rows[8];
	int i;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	ASSERT_EQ(import_all(self->fd, dmabuf, types), 0);
	ASSERT_EQ(kgsl_rows(self->me, rows, ARRAY_SIZE(rows)), 5);
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(rows[i].surfaces, 2);
		EXPECT_EQ(rows[i].images, 2);
	}
	close(dmabuf);
}

/*
 * Words
 */

TEST_F_TIMEOUT(standin, memory_types, TIMEOUT)
{
	static const struct {
		unsigned int type;
		const char *name;
		bool file;
	} table[] = {
		{ KGSL_MEMTYPE_OBJECTANY, "any(0)", true },
		{ KGSL_MEMTYPE_FRAMEBUFFER, "framebuffer", true },
		{ KGSL_MEMTYPE_RENDERBUFFER, "renderbuffer", true },
		{ KGSL_MEMTYPE_ARRAYBUFFER, "arraybuffer", true },
		{ KGSL_MEMTYPE_TEXTURE, "texture", true },
		{ KGSL_MEMTYPE_SURFACE, "surface", true },
		{ KGSL_MEMTYPE_EGL_SURFACE, "egl_surface", true },
		{ KGSL_MEMTYPE_CL_BUFFER_NOMAP, "cl_buffer_nomap", true },
		{ KGSL_MEMTYPE_COMMAND, "command", true },
		{ KGSL_MEMTYPE_2D, "2d", true },
		{ KGSL_MEMTYPE_EGL_IMAGE, "egl_image", true },
		{ KGSL_MEMTYPE_EGL_SHADOW, "egl_shadow", true },
		{ KGSL_MEMTYPE_MULTISAMPLE, "egl_multisample", true },
		{ KGSL_MEMTYPE_KERNEL, "kernel", true },
		{ 21, "VK/others( 21)", false },
		{ 254, "VK/others(254)", false },
	};
	int id = kgsl_alloc(self->fd, self->page, 0);
	struct kgsl_row row;
	char file[64];
	size_t i;

	ASSERT_GT(id, 0);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		ASSERT_EQ(kgsl_set_type(self->fd, id, table[i].type), 0);
		ASSERT_EQ(kgsl_row(self->me, id, &row), 0);
		/* KGSL has room for 15 bytes. */
		EXPECT_EQ(strncmp(row.usage, table[i].name, 15), 0)
			TH_LOG("%s is not %s", row.usage, table[i].name);
		snprintf(file, sizeof(file), "memtype/%s", table[i].name);
		EXPECT_EQ(kgsl_read(self->me, file),
			  table[i].file ? (long long)self->page : -ENOENT)
			TH_LOG("%s", file);
	}
	EXPECT_EQ(kgsl_read(self->me, "memtype/any(0)"), 0);
}

TEST_F_TIMEOUT(standin, metadata, TIMEOUT)
{
	char text[100] = "render target\t\x80 1";
	struct kgsl_gpuobj_alloc alloc = {
		.size = self->page,
		.metadata = AT(text),
		.metadata_len = sizeof(text),
	};
	struct kgsl_gpuobj_set_info set = {
		.flags = KGSL_GPUOBJ_SET_INFO_METADATA,
		.metadata = AT(text),
		.metadata_len = 70,
	};
	struct kgsl_row row;

	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_ALLOC, &alloc), 0);
	ASSERT_EQ(kgsl_row(self->me, alloc.id, &row), 0);
	EXPECT_STREQ(row.metadata, "render target?? 1");
	memset(text, 'x', sizeof(text));
	set.id = alloc.id;
	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_SET_INFO, &set), 0);
	ASSERT_EQ(kgsl_row(self->me, alloc.id, &row), 0);
	EXPECT_EQ(strlen(row.metadata), KGSL_GPUOBJ_ALLOC_METADATA_MAX);
	/* What cannot be read leaves none. */
	set.metadata = 8;
	ASSERT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_SET_INFO, &set), 0);
	ASSERT_EQ(kgsl_row(self->me, alloc.id, &row), 0);
	EXPECT_STREQ(row.metadata, "");
}

/*
 * Time
 */

struct allocation {
	int fd;
	u64 size;
	int id;
};

static void *allocate(void *arg)
{
	struct allocation *allocation = arg;

	allocation->id = kgsl_alloc(allocation->fd, allocation->size, 0);
	return NULL;
}

/* An entry has a slot before it is in it: it counts, and nobody finds it. */
TEST_F_TIMEOUT(standin, uncommitted, TIMEOUT)
{
	struct allocation allocation = {
		.fd = self->fd,
		.size = 3 * self->page,
	};
	int id = kgsl_alloc(self->fd, self->page, 0);
	struct kgsl_gpuobj_info info;
	struct kgsl_row rows[4];
	pthread_t thread;

	ASSERT_GT(id, 0);
	ASSERT_EQ(setting_set(KGSL_PARAMETERS "hold_commit", "1"), NULL);
	ASSERT_EQ(pthread_create(&thread, NULL, allocate, &allocation), 0);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 4 * self->page),
		  4 * self->page);
	EXPECT_EQ(kgsl_rows(self->me, rows, ARRAY_SIZE(rows)), 1);
	EXPECT_EQ(kgsl_read(self->me, "memtype/any(0)"), self->page);
	EXPECT_EQ(kgsl_info(self->fd, id + 1, &info), -EINVAL);
	EXPECT_EQ(kgsl_free(self->fd, id + 1), -EINVAL);
	settings_restore();
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(allocation.id, id + 1);
	EXPECT_EQ(kgsl_rows(self->me, rows, ARRAY_SIZE(rows)), 2);
	EXPECT_EQ(kgsl_read(self->me, "memtype/any(0)"), 4 * self->page);
}

TEST_F_TIMEOUT(standin, free_on_fence, TIMEOUT)
{
	struct dma_buf_export_sync_file sync = { .flags = DMA_BUF_SYNC_RW };
	int dmabuf = dmabuf_from_heap(self->page);
	int id = kgsl_alloc(self->fd, self->page, 0);
	struct kgsl_gpu_event_fence event;
	struct kgsl_gpuobj_free param = {
		.flags = KGSL_GPUOBJ_FREE_ON_EVENT,
		.type = KGSL_GPU_EVENT_FENCE,
		.priv = AT(&event),
		.len = sizeof(event),
	};

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	ASSERT_GE(dmabuf, 0);
	/* Nobody uses the buffer, so this one has signalled. */
	if (ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &sync)) {
		close(dmabuf);
		SKIP(return, "DMA_BUF_IOCTL_EXPORT_SYNC_FILE: %s",
		     strerror(errno));
	}
	event.fd = sync.fd;
	param.id = id;
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_FREE, &param), 0);
	EXPECT_EQ(kgsl_ioctl(self->fd, IOCTL_KGSL_GPUOBJ_FREE, &param),
		  -EINVAL);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 0), 0);
	close(sync.fd);
	close(dmabuf);
}

/* Pages of shmem files may be swapped while nobody maps them. */
TEST_F_TIMEOUT(standin, reclaim, TIMEOUT)
{
	long long size = 4 * self->page;
	char state[64], *p;
	struct kgsl_row row;
	int id, mapped;

	ASSERT_EQ(setting_set(KGSL_PARAMETERS "shmem", "1"), NULL);
	id = kgsl_alloc(self->fd, size, 0);
	mapped = kgsl_alloc(self->fd, self->page, 0);
	ASSERT_GT(id, 0);
	p = kgsl_map(self->fd, id, size);
	ASSERT_NE(p, MAP_FAILED);
	touch(p, size);
	munmap(p, size);
	p = kgsl_map(self->fd, mapped, self->page);
	ASSERT_NE(p, MAP_FAILED);

	snprintf(state, sizeof(state), KGSL_NODES "proc/%d/state", self->me);
	EXPECT_EQ(file_write(state, "asleep"), -EINVAL);
	EXPECT_EQ(file_write(state, "background"), 0);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_reclaimed"), size);
	EXPECT_EQ(kgsl_read(self->me, "kernel"), size + self->page);
	munmap(p, self->page);
	/* Whoever touches it gets it back, as it was. */
	p = kgsl_map(self->fd, id, size);
	ASSERT_NE(p, MAP_FAILED);
	EXPECT_EQ(((pid_t *)(p + 3 * self->page))[2], self->me);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_reclaimed"), 0);
	munmap(p, size);
	EXPECT_EQ(file_write(state, "background"), 0);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_reclaimed"), size + self->page);
	EXPECT_EQ(file_write(state, "foreground"), 0);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_reclaimed"), 0);
	/* Freed while reclaimed: the numbers go with it. */
	EXPECT_EQ(file_write(state, "background"), 0);
	EXPECT_EQ(kgsl_free(self->fd, id), 0);
	EXPECT_EQ(kgsl_read(self->me, "gpumem_reclaimed"), self->page);
	EXPECT_EQ(kgsl_row(self->me, id, &row), -ENOENT);
}

/*
 * gpu_mem_total
 */

#define TRACING	"/sys/kernel/tracing/"

/* Where in the trace the last look ended, in events. */
struct events {
	int seen;
};

/* The next event, or -1. */
static int next_event(struct events *events, pid_t *pid, u64 *size)
{
	char *text = file_slurp(TRACING "trace"), *at = text;
	int ret = -1;

	for (int i = 0; at; i++) {
		at = strstr(at, "gpu_mem_total: ");
		if (!at)
			break;
		at += strlen("gpu_mem_total: ");
		if (i < events->seen)
			continue;
		if (sscanf(at, "gpu_id=0 pid=%d size=%llu", pid, size) == 2) {
			events->seen++;
			ret = 0;
		}
		break;
	}
	free(text);
	return ret;
}

struct step {
	const char *what;
	u64 mine;
	s64 total;
};

#define EXPECT_STEP(is_mine, is_total, says) do {			\
	pid_t pid;							\
	u64 size;							\
									\
	mine += (is_mine);						\
	if (is_mine) {							\
		ASSERT_EQ(next_event(&events, &pid, &size), 0)		\
			TH_LOG("%s: no event of the process", says);	\
		EXPECT_EQ(pid, self->me)				\
			TH_LOG("%s", says);				\
		EXPECT_EQ(size, mine * self->page)			\
			TH_LOG("%s", says);				\
	}								\
	if (is_total) {							\
		ASSERT_EQ(next_event(&events, &pid, &size), 0)		\
			TH_LOG("%s: no event of the total", says);	\
		EXPECT_EQ(pid, 0)					\
			TH_LOG("%s", says);				\
		if (total < 0)						\
			total = size / self->page - (is_total);		\
		total += (is_total);					\
		EXPECT_EQ(size, total * self->page)			\
			TH_LOG("%s", says);				\
	}								\
	EXPECT_EQ(next_event(&events, &pid, &size), -1)			\
		TH_LOG("%s: one more, pid %d size %llu", says, pid, size); \
} while (0)

/* The total of an import comes before the process's; else it is behind. */
#define EXPECT_IMPORT(is_mine, is_total, says) do {			\
	pid_t pid;							\
	u64 size;							\
									\
	total += (is_total);						\
	if (is_total) {							\
		ASSERT_EQ(next_event(&events, &pid, &size), 0)		\
			TH_LOG("%s: no event of the total", says);	\
		EXPECT_EQ(pid, 0)					\
			TH_LOG("%s", says);				\
		EXPECT_EQ(size, total * self->page)			\
			TH_LOG("%s", says);				\
	}								\
	EXPECT_STEP(is_mine, 0, says);					\
} while (0)

TEST_F_TIMEOUT(standin, gpu_mem_total, TIMEOUT)
{
	size_t page = self->page;
	struct events events = {};
	s64 mine = 0, total = -1;
	int plain, guard, secure, vbo, addr, one, two, svm, dmabuf;
	const char *why;
	char *own, *p;

	why = dmabuf_missing();
	if (!why)
		why = setting_set(TRACING "events/gpu_mem/gpu_mem_total/enable",
				  "1");
	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(file_write(TRACING "trace", ""), 0);
	own = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	dmabuf = dmabuf_from_heap(5 * page);
	ASSERT_GE(dmabuf, 0);

	plain = kgsl_alloc(self->fd, 3 * page, 0);
	EXPECT_STEP(3, 3, "plain");
	/* The driver's own is in the total. */
	EXPECT_GT(total, 3);
	guard = kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_GUARD_PAGE);
	EXPECT_STEP(2, 2, "with a guard page");
	secure = kgsl_alloc(self->fd, 4 * page, KGSL_MEMFLAGS_SECURE);
	EXPECT_STEP(0, 4, "protected");
	vbo = kgsl_alloc(self->fd, 8 * page, KGSL_MEMFLAGS_VBO);
	EXPECT_STEP(0, 0, "virtual");
	EXPECT_EQ(kgsl_bind(self->fd, vbo, 0, plain, 0, page), 0);
	EXPECT_STEP(0, 0, "bound");
	addr = kgsl_import_addr(self->fd, own, 2 * page, 0);
	EXPECT_STEP(2, 2, "own memory");
	one = kgsl_import_dmabuf(self->fd, dmabuf, 0);
	EXPECT_IMPORT(5, 5, "a DMA-BUF");
	two = kgsl_import_dmabuf(self->fd, dmabuf, 0);
	EXPECT_IMPORT(5, 0, "the same again");
	svm = kgsl_alloc(self->fd, page, KGSL_MEMFLAGS_USE_CPU_MAP);
	EXPECT_STEP(0, 0, "without an address yet");
	p = kgsl_map(self->fd, svm, page);
	ASSERT_NE(p, MAP_FAILED);
	EXPECT_STEP(1, 1, "with one");
	munmap(p, page);
	EXPECT_STEP(0, 0, "unmapped from the CPU");

	EXPECT_EQ(kgsl_free(self->fd, svm), 0);
	EXPECT_STEP(-1, -1, "free: where the CPU had it");
	EXPECT_EQ(kgsl_free(self->fd, one), 0);
	EXPECT_STEP(-5, 0, "free: the first import");
	EXPECT_EQ(kgsl_free(self->fd, two), 0);
	EXPECT_STEP(-5, -5, "free: the second");
	EXPECT_EQ(kgsl_free(self->fd, addr), 0);
	EXPECT_STEP(-2, -2, "free: own memory");
	EXPECT_EQ(kgsl_free(self->fd, vbo), 0);
	EXPECT_STEP(0, 0, "free: virtual");
	EXPECT_EQ(kgsl_free(self->fd, secure), 0);
	EXPECT_STEP(0, -4, "free: protected");
	EXPECT_EQ(kgsl_free(self->fd, guard), 0);
	EXPECT_STEP(-2, -2, "free: with a guard page");
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 3 * page), 3 * page);
	EXPECT_EQ(kgsl_free(self->fd, plain), 0);
	EXPECT_EQ(kgsl_wait(self->me, "kernel", 0), 0);
	EXPECT_STEP(-3, -3, "free: plain");
	EXPECT_EQ(mine, 0);
	munmap(own, 2 * page);
	close(dmabuf);
}

/*
 * Many at once
 */

#define WORKERS		3
#define ROUNDS		300

struct worker {
	int fd;
	int dmabuf;
	unsigned int seed;
	int errors;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	size_t page = page_size();
	char *own = mmap(NULL, page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < ROUNDS; i++) {
		int id, fd = -1;
		char *p;

		switch (rand_r(&worker->seed) % 5) {
		case 0:
			id = kgsl_import_dmabuf(worker->fd, worker->dmabuf,
						KGSL_TYPE(EGL_IMAGE));
			break;
		case 1:
			id = kgsl_import_addr(worker->fd, own, page, 0);
			break;
		case 2:
			fd = kgsl_open();
			id = kgsl_alloc(fd, page, 0);
			break;
		case 3:
			id = kgsl_alloc(worker->fd, page, KGSL_MEMFLAGS_VBO);
			break;
		default:
			id = kgsl_alloc(worker->fd, page,
					KGSL_CACHE(WRITEBACK));
			p = kgsl_map(worker->fd, id, page);
			if (p == MAP_FAILED)
				worker->errors++;
			else if (rand_r(&worker->seed) % 2)
				munmap(p, page);
			/* Else it is left to the end. */
			break;
		}
		if (id < 0 || kgsl_free(worker->fd, id))
			worker->errors++;
		if (fd >= 0)
			close(fd);
	}
	munmap(own, page);
	return NULL;
}

static void work_and_exit(void *arg)
{
	pthread_t threads[WORKERS];
	struct worker workers[WORKERS];
	int i, dmabuf = *(int *)arg, fd = kgsl_open();

	for (i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){
			.fd = fd,
			.dmabuf = dmabuf,
			.seed = i,
		};
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			_exit(1);
	}
	for (i = 0; i < WORKERS; i++)
		if (pthread_join(threads[i], NULL) || workers[i].errors)
			_exit(2);
}

/* Readers meet entries and processes at any moment of their lives. */
TEST_F_TIMEOUT(standin, readers_and_writers, TIMEOUT)
{
	static const char *const files[] = {
		"kernel", "imported_mem", "gpumem_mapped", "memtype/any(0)",
		"memtype/egl_image", "gpumem_reclaimed",
	};
	int dmabuf = dmabuf_from_heap(self->page), status = 0;
	struct kgsl_row rows[32];
	pid_t pid;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	ASSERT_GE(dmabuf, 0);
	for (int round = 0; round < 3; round++) {
		pid = start_process(work_and_exit, &dmabuf);
		ASSERT_GT(pid, 0);
		do {
			for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
				long long nr = kgsl_read(pid, files[i]);

				EXPECT_TRUE(nr >= 0 || nr == -ENOENT ||
					    nr == -ENODEV)
					TH_LOG("%s: %lld", files[i], nr);
			}
			EXPECT_NE(kgsl_rows(pid, rows, ARRAY_SIZE(rows)),
				  -EBADMSG);
		} while (!waitpid(pid, &status, WUNTRACED | WNOHANG));
		EXPECT_TRUE(WIFSTOPPED(status))
			TH_LOG("status %x", status);
		end_process(pid);
		EXPECT_EQ(kgsl_wait(pid, "kernel", -ENOENT), -ENOENT);
	}
	close(dmabuf);
}

/*
 * Anything
 */

/* On pages, and as long on shmem files. */
#define FUZZ_SECONDS	5

static const unsigned long commands[] = {
	IOCTL_KGSL_DEVICE_GETPROPERTY, IOCTL_KGSL_MAP_USER_MEM,
	IOCTL_KGSL_SHAREDMEM_FREE, IOCTL_KGSL_GPUMEM_ALLOC,
	IOCTL_KGSL_GPUMEM_ALLOC_ID, IOCTL_KGSL_GPUMEM_FREE_ID,
	IOCTL_KGSL_GPUMEM_GET_INFO, IOCTL_KGSL_GPUOBJ_ALLOC,
	IOCTL_KGSL_GPUOBJ_FREE, IOCTL_KGSL_GPUOBJ_INFO,
	IOCTL_KGSL_GPUOBJ_IMPORT, IOCTL_KGSL_GPUOBJ_SYNC,
	IOCTL_KGSL_GPUOBJ_SET_INFO, IOCTL_KGSL_GPUMEM_BIND_RANGES,
};

struct fuzz {
	unsigned int seed;
	int fd;
	int dmabuf;
	char *own;
	size_t page;
	u64 memory[64];
};

static unsigned int fuzz_below(struct fuzz *fuzz, unsigned int n)
{
	return rand_r(&fuzz->seed) % n;
}

/* Something that may mean something: an id, a size, an address, flags. */
static u64 fuzz_value(struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 14)) {
	case 0: return 0;
	case 1: return fuzz_below(fuzz, 32);
	case 2: return fuzz->page << fuzz_below(fuzz, 12);
	case 3: return fuzz->page * fuzz_below(fuzz, 16);
	case 4: return AT(fuzz->own) + fuzz->page * fuzz_below(fuzz, 16);
	case 5: return AT(fuzz->memory) + fuzz_below(fuzz, 512);
	case 6: return 1ULL << fuzz_below(fuzz, 64);
	case 7: return ~0ULL >> fuzz_below(fuzz, 64);
	case 8: return -1ULL - fuzz_below(fuzz, 3 * fuzz->page);
	case 9: return fuzz->dmabuf;
	case 10: return KGSL_TYPE_NR(fuzz_below(fuzz, 256));
	case 11: return (1ULL << 54) + fuzz->page * fuzz_below(fuzz, 64);
	case 12: return (u64)fuzz_below(fuzz, 32) << 32 | fuzz_below(fuzz, 32);
	}
	return (u64)rand_r(&fuzz->seed) << 33 ^ rand_r(&fuzz->seed);
}

static void fuzz_bytes(struct fuzz *fuzz, void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((u8 *)p)[i] = rand_r(&fuzz->seed);
}

static void fuzz_one(struct fuzz *fuzz)
{
	unsigned long cmd = commands[fuzz_below(fuzz, ARRAY_SIZE(commands))];
	unsigned int size = _IOC_SIZE(cmd), i;
	u64 arg[16];
	char *p;

	for (i = 0; i < ARRAY_SIZE(arg); i++)
		arg[i] = fuzz_value(fuzz);
	for (i = 0; i < ARRAY_SIZE(fuzz->memory); i++)
		fuzz->memory[i] = fuzz_value(fuzz);
	switch (fuzz_below(fuzz, 8)) {
	case 0:
		fuzz_bytes(fuzz, arg, sizeof(arg));
		break;
	case 1:
		/* Another size, or another call altogether. */
		cmd = _IOC(fuzz_below(fuzz, 4), KGSL_IOC_TYPE,
			   fuzz_below(fuzz, 256), fuzz_below(fuzz, 129));
		break;
	case 2:
		cmd = _IOC(_IOC_DIR(cmd), KGSL_IOC_TYPE, _IOC_NR(cmd),
			   fuzz_below(fuzz, size + 1));
		break;
	case 3:
		p = mmap(NULL, fuzz->page * fuzz_below(fuzz, 16),
			 PROT_READ | PROT_WRITE,
			 fuzz_below(fuzz, 2) ? MAP_SHARED : MAP_PRIVATE,
			 fuzz->fd, fuzz_value(fuzz) & ~(fuzz->page - 1));
		if (p != MAP_FAILED) {
			faults(p);
			munmap(p, fuzz->page * (1 + fuzz_below(fuzz, 16)));
		}
		return;
	}
	ioctl(fuzz->fd, cmd, arg);
}

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static u64 fuzz_end;

/*
 * A process that fuzzes: the driver may map things over anything it has, and
 * GETPROPERTY write anywhere.
 */
static void fuzz_process(void *arg)
{
	struct fuzz fuzz = { .seed = *(unsigned int *)arg };
	long calls = 0;

	fuzz.page = page_size();
	fuzz.fd = kgsl_open();
	fuzz.dmabuf = dmabuf_from_heap(4 * fuzz.page);
	fuzz.own = mmap(NULL, 16 * fuzz.page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fuzz.fd < 0 || fuzz.dmabuf < 0 || fuzz.own == MAP_FAILED)
		_exit(1);
	while (now_ms() < fuzz_end) {
		fuzz_one(&fuzz);
		if (++calls % 500 == 0) {
			/* All that it had goes, and once more. */
			close(fuzz.fd);
			fuzz.fd = kgsl_open();
			if (fuzz.fd < 0)
				_exit(2);
		}
	}
	printf("# %ld calls\n", calls);
	fflush(stdout);
}

/*
 * What was written over it may end the process, which is its own affair; the
 * next one goes on with another seed.
 */
static bool fuzz_ended_itself(int status)
{
	return WIFSIGNALED(status) &&
	       (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS ||
		WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGABRT);
}

/* The same calls in each run; KGSL_FUZZ_SEED makes others. */
TEST_F_TIMEOUT(standin, fuzz, TIMEOUT)
{
	const char *text = getenv("KGSL_FUZZ_SEED");
	unsigned int seed = text ? strtoul(text, NULL, 0) : 1;
	int status;
	pid_t pid;

	if (dmabuf_missing())
		SKIP(return, "%s", dmabuf_missing());
	/* Else most of the time goes into a few large ones. */
	ASSERT_EQ(setting_set(KGSL_PARAMETERS "max_alloc_mb", "16"), NULL);
	for (int shmem = 0; shmem < 2; shmem++) {
		ASSERT_EQ(setting_set(KGSL_PARAMETERS "shmem",
				      shmem ? "1" : "0"), NULL);
		fuzz_end = now_ms() + FUZZ_SECONDS * 1000;
		do {
			pid = start_process(fuzz_process, &seed);
			ASSERT_GT(pid, 0);
			ASSERT_EQ(waitpid(pid, &status, WUNTRACED), pid);
			seed++;
			if (WIFSTOPPED(status))
				end_process(pid);
			EXPECT_EQ(kgsl_wait(pid, "kernel", -ENOENT), -ENOENT);
		} while (fuzz_ended_itself(status) && now_ms() < fuzz_end);
		EXPECT_TRUE(WIFSTOPPED(status) || fuzz_ended_itself(status)) {
			TH_LOG("seed %u: status %x", seed - 1, status);
		}
	}
}

/*
 * Coming and going; last, since it ends without a module.
 */

FIXTURE(module)
{
};

FIXTURE_SETUP(module)
{
	const char *why = geteuid() ? "must be root" : kgsl_load(STANDIN, "");

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(module)
{
}

TEST_F_TIMEOUT(module, comes_and_goes, TIMEOUT)
{
	static const char *const modules[] = { PIXEL, STANDIN };

	ASSERT_EQ(module_unload(STANDIN), 0);
	for (int i = 0; i < 4; i++) {
		const char *module = modules[i % 2], *why;
		int fd;

		why = kgsl_load(module, "imported_rule=shared shmem=1");
		ASSERT_EQ(why, NULL)
			TH_LOG("%s", why);
		fd = kgsl_open();
		ASSERT_GE(fd, 0);
		EXPECT_GT(kgsl_alloc(fd, page_size(), 0), 0);
		EXPECT_EQ(syscall(__NR_delete_module, module, O_NONBLOCK), -1);
		EXPECT_EQ(errno, EWOULDBLOCK);
		close(fd);
		ASSERT_EQ(module_unload(module), 0);
		EXPECT_EQ(kgsl_open(), -ENOENT);
	}
	ASSERT_NE(kgsl_load(STANDIN, "imported_rule=none"), NULL);
}

TEST_HARNESS_MAIN
