/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What DRM drivers tell of a process in /proc/PID/fdinfo, client by client.
 */
#ifndef _MEMLEDGER_TOOLS_DRM_H
#define _MEMLEDGER_TOOLS_DRM_H

#include <sys/types.h>

#include <memledger/env.h>

/**
 * enum memledger_drm_stat - what a driver may tell of a region of memory
 * @MEMLEDGER_DRM_RESIDENT: bytes that have pages; under a kernel's older name
 *	drm-memory-REGION as well
 * @MEMLEDGER_DRM_TOTAL: bytes of all buffers, with or without pages
 * @MEMLEDGER_DRM_SHARED: bytes of those that others have a handle of, too
 * @MEMLEDGER_DRM_PURGEABLE: bytes that may be thrown away
 * @MEMLEDGER_DRM_ACTIVE: bytes that the device works with
 * @NR_MEMLEDGER_DRM_STATS: how many there are
 */
enum memledger_drm_stat {
	MEMLEDGER_DRM_RESIDENT,
	MEMLEDGER_DRM_TOTAL,
	MEMLEDGER_DRM_SHARED,
	MEMLEDGER_DRM_PURGEABLE,
	MEMLEDGER_DRM_ACTIVE,
	NR_MEMLEDGER_DRM_STATS
};

/**
 * struct memledger_drm_region - a region of memory, as a client uses it
 * @name: as the driver calls it
 * @bytes: by enum memledger_drm_stat
 * @known: which of @bytes the driver told, and in a form that can be read
 * @legacy: the resident bytes are from drm-memory-REGION
 */
struct memledger_drm_region {
	char *name;
	u64 bytes[NR_MEMLEDGER_DRM_STATS];
	bool known[NR_MEMLEDGER_DRM_STATS];
	bool legacy;
};

/**
 * struct memledger_drm_client - an open DRM device
 * @driver: the driver's name
 * @pdev: the device's address on its bus; NULL if not told
 * @name: what the client calls itself; NULL if not told
 * @id: its number
 * @has_id: false if not told: then nobody knows which file descriptors are
 *	duplicates, and each is a client here
 * @unreadable: lines about it that could not be read
 * @fds: the process's file descriptors of it
 * @nr_fds: how many
 * @regions: in the driver's order
 * @nr_regions: how many
 */
struct memledger_drm_client {
	char *driver;
	char *pdev;
	char *name;
	u64 id;
	bool has_id;
	unsigned int unreadable;
	unsigned int *fds;
	size_t nr_fds;
	struct memledger_drm_region *regions;
	size_t nr_regions;
};

/**
 * struct memledger_drm - the DRM clients of a process
 * @clients: by their first file descriptor
 * @nr: how many
 * @reason: empty, or why they are unavailable
 *
 * All zero is an empty list.
 */
struct memledger_drm {
	struct memledger_drm_client *clients;
	size_t nr;
	char reason[256];
};

int memledger_drm_parse(struct memledger_drm *drm, unsigned int fd,
			char *text);
int memledger_drm_read(struct memledger_drm *drm, const char *proc, pid_t pid);
void memledger_drm_print(FILE *out, const struct memledger_drm *drm);
void memledger_drm_print_json(FILE *out, bool *first,
			      const struct memledger_drm *drm);
void memledger_drm_free(struct memledger_drm *drm);

#endif
