// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process's side of the KGSL stand-in; see kgsl.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kgsl.h"
#include "testlib.h"

/* What goes in the background is waited for that long, in naps. */
#define PATIENCE_MS	60000
#define NAP_MS		2

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_MS * 1000000 }, NULL);
}

/**
 * kgsl_load() - load the stand-in
 * @module: "kgsl_standin" or "kgsl_standin_pixel"
 * @parameters: as for insmod
 * Return: NULL, also where it was loaded, or why it cannot be had: a text for
 * SKIP
 */
const char *kgsl_load(const char *module, const char *parameters)
{
	static char text[200];
	char name[64];
	int err = 0, ms;

	snprintf(name, sizeof(name), "drivers/%s.ko", module);
	/*
	 * Where the kernel releases kobjects late its driver's name is taken
	 * for a while. With the class there, it or the other of the two has
	 * been loaded.
	 */
	for (ms = 0; ms < PATIENCE_MS; ms += NAP_MS) {
		err = -module_load(beside_me(name), parameters);
		if (err != EEXIST || file_readable("/sys/class/kgsl"))
			break;
		nap();
	}
	if (!err)
		return NULL;
	/* It, and not the other one of the two. */
	snprintf(text, sizeof(text), "/sys/module/%s", module);
	if (err == EEXIST && file_readable(text))
		return NULL;
	snprintf(text, sizeof(text), "%s (built with KDIR): %s", name,
		 strerror(err));
	return text;
}

int kgsl_open(void)
{
	int fd = open(KGSL_DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int kgsl_ioctl(int fd, unsigned long cmd, void *data)
{
	return ioctl(fd, cmd, data) ? -errno : 0;
}

/* Returns the new entry's id. */
int kgsl_alloc(int fd, u64 size, u64 flags)
{
	struct kgsl_gpuobj_alloc alloc = { .size = size, .flags = flags };
	int err = kgsl_ioctl(fd, IOCTL_KGSL_GPUOBJ_ALLOC, &alloc);

	return err ?: (int)alloc.id;
}

/* Returns the new entry's id. */
int kgsl_import_dmabuf(int fd, int dmabuf, u64 flags)
{
	struct kgsl_gpuobj_import_dma_buf buf = { .fd = dmabuf };
	struct kgsl_gpuobj_import import = {
		.priv = (uintptr_t)&buf,
		.priv_len = sizeof(buf),
		.flags = flags,
		.type = KGSL_USER_MEM_TYPE_DMABUF,
	};
	int err = kgsl_ioctl(fd, IOCTL_KGSL_GPUOBJ_IMPORT, &import);

	return err ?: (int)import.id;
}

/* Returns the new entry's id. */
int kgsl_import_addr(int fd, void *addr, u64 len, u64 flags)
{
	struct kgsl_gpuobj_import_useraddr useraddr = {
		.virtaddr = (uintptr_t)addr,
	};
	struct kgsl_gpuobj_import import = {
		.priv = (uintptr_t)&useraddr,
		.priv_len = len,
		.flags = flags,
		.type = KGSL_USER_MEM_TYPE_ADDR,
	};
	int err = kgsl_ioctl(fd, IOCTL_KGSL_GPUOBJ_IMPORT, &import);

	return err ?: (int)import.id;
}

int kgsl_free(int fd, unsigned int id)
{
	struct kgsl_gpuobj_free param = { .id = id };

	return kgsl_ioctl(fd, IOCTL_KGSL_GPUOBJ_FREE, &param);
}

int kgsl_info(int fd, unsigned int id, struct kgsl_gpuobj_info *info)
{
	*info = (struct kgsl_gpuobj_info){ .id = id };
	return kgsl_ioctl(fd, IOCTL_KGSL_GPUOBJ_INFO, info);
}

int kgsl_set_type(int fd, unsigned int id, unsigned int type)
{
	struct kgsl_gpuobj_set_info param = {
		.flags = KGSL_GPUOBJ_SET_INFO_TYPE,
		.id = id,
		.type = type,
	};

	return kgsl_ioctl(fd, IOCTL_KGSL_GPUOBJ_SET_INFO, &param);
}

static int bind_range(int fd, unsigned int vbo,
		      struct kgsl_gpumem_bind_range range)
{
	struct kgsl_gpumem_bind_ranges param = {
		.ranges = (uintptr_t)&range,
		.ranges_nents = 1,
		.ranges_size = sizeof(range),
		.id = vbo,
	};

	return kgsl_ioctl(fd, IOCTL_KGSL_GPUMEM_BIND_RANGES, &param);
}

int kgsl_bind(int fd, unsigned int vbo, u64 start, unsigned int child,
	      u64 offset, u64 len)
{
	return bind_range(fd, vbo, (struct kgsl_gpumem_bind_range){
		.child_offset = offset,
		.target_offset = start,
		.length = len,
		.child_id = child,
		.op = KGSL_GPUMEM_RANGE_OP_BIND,
	});
}

int kgsl_unbind(int fd, unsigned int vbo, u64 start, u64 len)
{
	return bind_range(fd, vbo, (struct kgsl_gpumem_bind_range){
		.target_offset = start,
		.length = len,
		.op = KGSL_GPUMEM_RANGE_OP_UNBIND,
	});
}

/* MAP_FAILED with errno set where it fails. */
void *kgsl_map(int fd, unsigned int id, size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)id * page_size());
}

static long long read_number(const char *path)
{
	char text[64], *end;
	long long number;
	ssize_t len = file_read(path, text, sizeof(text));

	if (len < 0)
		return len;
	number = strtoll(text, &end, 10);
	return end == text || strcmp(end, "\n") ? -EBADMSG : number;
}

/**
 * kgsl_read() - a number that the stand-in gives of a process
 * @tgid: the process
 * @file: below its directory in sysfs
 * Return: the number, or a negative errno; ENOENT for a process that has
 * nothing
 */
long long kgsl_read(pid_t tgid, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), KGSL_NODES "proc/%d/%s", tgid, file);
	return read_number(path);
}

long long kgsl_read_global(const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), KGSL_NODES "%s", file);
	return read_number(path);
}

/**
 * kgsl_wait() - until a number is what it will be
 * @tgid: the process; 0: a number of the whole driver
 * @file: as for kgsl_read()
 * @value: what to wait for; a negative errno too
 *
 * Some memory is freed in the background.
 * Return: what it was at last: @value, unless it took too long
 */
long long kgsl_wait(pid_t tgid, const char *file, long long value)
{
	long long now;
	int ms;

	for (ms = 0; ms < PATIENCE_MS; ms += NAP_MS) {
		now = tgid ? kgsl_read(tgid, file) : kgsl_read_global(file);
		if (now == value)
			break;
		nap();
	}
	return now;
}

static bool parse_row(const char *line, struct kgsl_row *row)
{
	int end = 0;

	memset(row, 0, sizeof(*row));
	/* The addresses are nothing to compare with. */
	if (sscanf(line, "%*s %*s %llu %u %15s %15s", &row->size, &row->id,
		   row->flags, row->type) != 4)
		return false;
	line = strstr(line, row->type) + strlen(row->type);
	if (sscanf(line, " VK/others(%*d) %n", &end) == 0 && end &&
	    sscanf(line, " %22[^)]", row->usage) == 1) {
		strcat(row->usage, ")");
	} else if (sscanf(line, " %23s %n", row->usage, &end) != 1) {
		return false;
	}
	return sscanf(line + end, "%d %d %d %d %llu %71[^\n]", &row->sglen,
		      &row->mapcnt, &row->surfaces, &row->images, &row->inode,
		      row->metadata) >= 5;
}

/**
 * kgsl_rows() - a process's entries, as debugfs has them
 * @tgid: the process
 * @rows: gets them
 * @max: how many there is room for; more are counted only
 * Return: how many there are, or a negative errno; EBADMSG for a line that is
 * not understood
 */
int kgsl_rows(pid_t tgid, struct kgsl_row *rows, int max)
{
	char path[64], *text, *line;
	struct kgsl_row spare;
	int nr = -1;

	snprintf(path, sizeof(path), KGSL_DETAILS "%d/mem", tgid);
	text = file_slurp(path);
	if (!text)
		return -errno;
	/* The first line has the names of the columns. */
	for (line = text; line && *line; nr++) {
		char *next = strchr(line, '\n');

		if (next)
			*next++ = '\0';
		if (nr >= 0 &&
		    !parse_row(line, nr < max ? &rows[nr] : &spare)) {
			nr = -EBADMSG;
			break;
		}
		line = next;
	}
	free(text);
	return nr;
}

/* The row of one entry; ENOENT if there is none. */
int kgsl_row(pid_t tgid, unsigned int id, struct kgsl_row *row)
{
	static struct kgsl_row rows[256];
	int i, nr = kgsl_rows(tgid, rows, ARRAY_SIZE(rows));

	if (nr < 0)
		return nr;
	for (i = 0; i < nr && i < (int)ARRAY_SIZE(rows); i++) {
		if (rows[i].id == id) {
			*row = rows[i];
			return 0;
		}
	}
	return -ENOENT;
}

/* Why buffers cannot be imported on this kernel, for SKIP, or NULL. */
const char *dmabuf_missing(void)
{
	if (!file_readable("/dev/dma_heap/system"))
		return "no /dev/dma_heap/system (CONFIG_DMABUF_HEAPS_SYSTEM)";
	if (!file_readable("/dev/udmabuf"))
		return "no /dev/udmabuf (CONFIG_UDMABUF)";
	return NULL;
}

/* Returns the fd of a DMA-BUF of the system heap. */
int dmabuf_from_heap(size_t size)
{
	struct dma_heap_allocation_data data = {
		.len = size,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (heap < 0)
		return -errno;
	if (ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data))
		err = -errno;
	close(heap);
	return err ?: (int)data.fd;
}

/* Returns the fd of a DMA-BUF that is made of a memfd. */
int dmabuf_from_memfd(size_t size)
{
	struct udmabuf_create create = { .size = size };
	int udmabuf = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int fd = -1;

	if (udmabuf < 0)
		return -errno;
	create.flags = UDMABUF_FLAGS_CLOEXEC;
	create.memfd = syscall(__NR_memfd_create, "udmabuf", 2);
	if ((int)create.memfd >= 0 && !ftruncate(create.memfd, size) &&
	    !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(udmabuf, UDMABUF_CREATE, &create);
	if (fd < 0)
		fd = -errno;
	if ((int)create.memfd >= 0)
		close(create.memfd);
	close(udmabuf);
	return fd;
}

u64 dmabuf_inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}
