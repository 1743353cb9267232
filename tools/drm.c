// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of /proc/PID/fdinfo in; the DRM clients behind them, each once,
 * with their regions of memory as the driver named them, out.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

#include "array.h"
#include "drm.h"
#include "words.h"

/* "drm-" STAT "-" REGION; by enum memledger_drm_stat. */
static const char *const stats[NR_MEMLEDGER_DRM_STATS] = {
	[MEMLEDGER_DRM_RESIDENT] = "drm-resident-",
	[MEMLEDGER_DRM_TOTAL] = "drm-total-",
	[MEMLEDGER_DRM_SHARED] = "drm-shared-",
	[MEMLEDGER_DRM_PURGEABLE] = "drm-purgeable-",
	[MEMLEDGER_DRM_ACTIVE] = "drm-active-",
};

static const char legacy[] = "drm-memory-";

/* "12 KiB": bytes without a unit. */
static bool parse_bytes(const char *text, u64 *bytes)
{
	unsigned int shift;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (errno)
		return false;
	end += strspn(end, " \t");
	if (!*end)
		shift = 0;
	else if (!strcmp(end, "KiB"))
		shift = 10;
	else if (!strcmp(end, "MiB"))
		shift = 20;
	else
		return false;
	if (*bytes > U64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

static struct memledger_drm_region *
find_region(struct memledger_drm_client *client, const char *name)
{
	struct memledger_drm_region *region;
	size_t i;

	for (i = 0; i < client->nr_regions; i++)
		if (!strcmp(client->regions[i].name, name))
			return &client->regions[i];
	region = memledger_array_grow(client->regions, i, sizeof(*region));
	if (!region)
		return NULL;
	client->regions = region;
	region[i] = (struct memledger_drm_region){ .name = strdup(name) };
	if (!region[i].name)
		return NULL;
	client->nr_regions++;
	return &region[i];
}

/* A driver that tells the resident bytes under both names means the new one. */
static int parse_stat(struct memledger_drm_client *client,
		      enum memledger_drm_stat stat, bool is_legacy,
		      const char *name, const char *value)
{
	struct memledger_drm_region *region;
	u64 bytes;

	if (!*name) {
		client->unreadable++;
		return 0;
	}
	region = find_region(client, name);
	if (!region)
		return -ENOMEM;
	if (region->known[stat] && is_legacy != region->legacy) {
		if (is_legacy)
			return 0;
		region->known[stat] = false;
	}
	if (region->known[stat] || !parse_bytes(value, &bytes)) {
		client->unreadable++;
		return 0;
	}
	region->bytes[stat] = bytes;
	region->known[stat] = true;
	if (stat == MEMLEDGER_DRM_RESIDENT)
		region->legacy = is_legacy;
	return 0;
}

/* The first one counts. */
static int set_string(struct memledger_drm_client *client, char **to,
		      const char *value)
{
	if (*to || !*value) {
		client->unreadable++;
		return 0;
	}
	*to = strdup(value);
	return *to ? 0 : -ENOMEM;
}

static void set_id(struct memledger_drm_client *client, const char *value)
{
	u64 id;
	char *end;

	errno = 0;
	id = strtoull(value, &end, 10);
	if (client->has_id || !isdigit((unsigned char)*value) || *end ||
	    errno) {
		client->unreadable++;
		return;
	}
	client->id = id;
	client->has_id = true;
}

/* Engines and clocks are not what this is about. */
static int parse_line(struct memledger_drm_client *client, const char *key,
		      const char *value)
{
	unsigned int i;
	size_t len;

	if (!strcmp(key, "drm-driver"))
		return set_string(client, &client->driver, value);
	if (!strcmp(key, "drm-pdev"))
		return set_string(client, &client->pdev, value);
	if (!strcmp(key, "drm-client-name"))
		return set_string(client, &client->name, value);
	if (!strcmp(key, "drm-client-id"))
		set_id(client, value);

	for (i = 0; i < NR_MEMLEDGER_DRM_STATS; i++) {
		len = strlen(stats[i]);
		if (!strncmp(key, stats[i], len))
			return parse_stat(client, i, false, key + len, value);
	}
	len = strlen(legacy);
	if (!strncmp(key, legacy, len))
		return parse_stat(client, MEMLEDGER_DRM_RESIDENT, true,
				  key + len, value);
	return 0;
}

static void free_client(struct memledger_drm_client *client)
{
	size_t i;

	for (i = 0; i < client->nr_regions; i++)
		free(client->regions[i].name);
	free(client->regions);
	free(client->fds);
	free(client->driver);
	free(client->pdev);
	free(client->name);
}

static bool same(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

/* Numbers of clients are the driver's, or the device's. */
static struct memledger_drm_client *
find_client(const struct memledger_drm *drm,
	    const struct memledger_drm_client *client)
{
	size_t i;

	for (i = 0; i < drm->nr && client->has_id; i++) {
		struct memledger_drm_client *other = &drm->clients[i];

		if (other->has_id && other->id == client->id &&
		    same(other->pdev, client->pdev) &&
		    same(other->driver, client->driver))
			return other;
	}
	return NULL;
}

static int add_client(struct memledger_drm *drm,
		      struct memledger_drm_client *client, unsigned int fd)
{
	struct memledger_drm_client *to = find_client(drm, client);
	unsigned int *fds;

	if (to) {
		free_client(client);
	} else {
		to = memledger_array_grow(drm->clients, drm->nr, sizeof(*to));
		if (!to) {
			free_client(client);
			return -ENOMEM;
		}
		drm->clients = to;
		to += drm->nr++;
		*to = *client;
	}
	fds = memledger_array_grow(to->fds, to->nr_fds, sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	to->fds = fds;
	fds[to->nr_fds++] = fd;
	return 0;
}

/**
 * memledger_drm_parse - read what a driver tells of a file descriptor
 * @drm: the clients so far; gets the one behind @fd, if it is a DRM device
 *	that is not among them
 * @fd: its number
 * @text: of its file in fdinfo, which is cut up
 *
 * Return: 0, or -ENOMEM; @drm can be freed in either case.
 */
int memledger_drm_parse(struct memledger_drm *drm, unsigned int fd, char *text)
{
	struct memledger_drm_client client = {};
	int ret = 0;
	char *line;

	while (!ret && (line = memledger_words_line(&text))) {
		char *value = strchr(line, ':');

		if (!value)
			continue;
		*value++ = '\0';
		value += strspn(value, " \t");
		value[strcspn(value, "\r")] = '\0';
		ret = parse_line(&client, line, value);
	}
	/* Of half a line, half a number would be read. */
	client.unreadable += *text != '\0';
	if (ret || !client.driver) {
		free_client(&client);
		return ret;
	}
	return add_client(drm, &client, fd);
}

/* Empty where the file has gone: the descriptor was closed meanwhile. */
static void read_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t len = 0;

	if (file) {
		len = fread(text, 1, size - 1, file);
		fclose(file);
	}
	text[len] = '\0';
}

static int compare_fds(const void *a, const void *b)
{
	unsigned int one = *(const unsigned int *)a;
	unsigned int other = *(const unsigned int *)b;

	return one < other ? -1 : one > other;
}

/* In ascending order, so that two readings look alike. */
static int list_fds(DIR *dir, unsigned int **fds, size_t *nr)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;
		unsigned int *fd;

		if (!isdigit((unsigned char)*name))
			continue;
		fd = memledger_array_grow(*fds, *nr, sizeof(*fd));
		if (!fd)
			return -ENOMEM;
		*fds = fd;
		fd[(*nr)++] = strtoul(name, NULL, 10);
	}
	memledger_sort(*fds, *nr, sizeof(**fds), compare_fds);
	return 0;
}

/**
 * memledger_drm_read - find the DRM clients of a process
 * @drm: an empty list; gets them, or the reason why it does not. The caller
 *	frees it, also where this fails
 * @proc: where proc is mounted
 * @pid: the process
 *
 * File descriptors that only some of its threads have are not seen.
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_drm_read(struct memledger_drm *drm, const char *proc, pid_t pid)
{
	unsigned int *fds = NULL;
	char path[PATH_MAX];
	char text[65536];
	size_t i, nr = 0;
	int ret;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/fdinfo", proc, pid);
	dir = opendir(path);
	if (!dir) {
		snprintf(drm->reason, sizeof(drm->reason), "%.200s: %s", path,
			 strerror(errno));
		return 0;
	}
	ret = list_fds(dir, &fds, &nr);
	closedir(dir);
	for (i = 0; i < nr && !ret; i++) {
		snprintf(path, sizeof(path), "%s/%d/fdinfo/%u", proc, pid,
			 fds[i]);
		read_file(path, text, sizeof(text));
		ret = memledger_drm_parse(drm, fds[i], text);
	}
	free(fds);
	return ret;
}

/**
 * memledger_drm_free - free what a list holds
 * @drm: empty afterwards
 */
void memledger_drm_free(struct memledger_drm *drm)
{
	size_t i;

	for (i = 0; i < drm->nr; i++)
		free_client(&drm->clients[i]);
	free(drm->clients);
	*drm = (struct memledger_drm){};
}
