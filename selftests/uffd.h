/* SPDX-License-Identifier: GPL-2.0-only */
/* Write protection by userfaultfd, which leaves markers where no page is. */
#ifndef UFFD_H
#define UFFD_H

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout.h"

/* Newer than the C library's headers may be. */
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM	(1 << 12)
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED	(1 << 13)
#endif

/* Registers a mapping and protects a part of it. */
static inline void uffd_write_protect(void *start, size_t len, void *from,
				      size_t bytes)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_UNPOPULATED |
			    UFFD_FEATURE_WP_HUGETLBFS_SHMEM,
	};
	struct uffdio_register area = {
		.range = { (unsigned long)start, len },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect protect = {
		.range = { (unsigned long)from, bytes },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		layout_skip("userfaultfd: %s (CONFIG_USERFAULTFD)",
			    strerror(errno));
	if (ioctl(fd, UFFDIO_API, &api))
		layout_skip("no uffd-wp of absent pages: %s (CONFIG_PTE_MARKER_UFFD_WP)",
			    strerror(errno));
	must(!ioctl(fd, UFFDIO_REGISTER, &area));
	must(!ioctl(fd, UFFDIO_WRITEPROTECT, &protect));
	/* Left open: closing it would take the markers away. */
}

#endif
