// SPDX-License-Identifier: GPL-2.0-only
/*
 * DRM clients in; text, in kB, and JSON, in bytes, out. Nothing is added up:
 * clients and regions may share their buffers.
 */
#include <stdlib.h>

#include "drm.h"
#include "escape.h"
#include "json.h"

static const char *const names[NR_MEMLEDGER_DRM_STATS] = {
	[MEMLEDGER_DRM_RESIDENT] = "resident",
	[MEMLEDGER_DRM_TOTAL] = "total",
	[MEMLEDGER_DRM_SHARED] = "shared",
	[MEMLEDGER_DRM_PURGEABLE] = "purgeable",
	[MEMLEDGER_DRM_ACTIVE] = "active",
};

/* One a line. */
static const char *const caveats[] = {
	"In no number above. Each client counts the buffers that it has a handle of:",
	"imported DMA-BUFs are included, shared ones are whole in each client, and what",
	"has no handle any more is not there. Regions are the driver's own.",
};

static void print_text(FILE *out, const char *format, const char *name)
{
	char *text = memledger_escape_text(name, "");

	fprintf(out, format, text ? text : "(out of memory)");
	free(text);
}

static void print_client(FILE *out, const struct memledger_drm_client *client)
{
	unsigned int stat;
	size_t i;

	print_text(out, "%s", client->driver);
	if (client->pdev)
		print_text(out, " %s", client->pdev);
	if (client->has_id)
		fprintf(out, ", client %llu", client->id);
	else
		fputs(", client without a number, so this may be another one's duplicate",
		      out);
	if (client->name)
		print_text(out, " \"%s\"", client->name);
	fprintf(out, ", fd%s", client->nr_fds == 1 ? "" : "s");
	for (i = 0; i < client->nr_fds; i++)
		fprintf(out, " %u", client->fds[i]);
	putc('\n', out);

	if (!client->nr_regions)
		fputs("    tells nothing of memory\n", out);
	for (i = 0; i < client->nr_regions; i++) {
		const struct memledger_drm_region *region =
			&client->regions[i];

		if (!i) {
			fprintf(out, "%20s", "region");
			for (stat = 0; stat < NR_MEMLEDGER_DRM_STATS; stat++)
				fprintf(out, " %12s", names[stat]);
			putc('\n', out);
		}
		print_text(out, "%20s", region->name);
		for (stat = 0; stat < NR_MEMLEDGER_DRM_STATS; stat++)
			if (region->known[stat])
				fprintf(out, " %12llu",
					region->bytes[stat] >> 10);
			else
				fprintf(out, " %12s", "-");
		putc('\n', out);
	}
	if (client->unreadable)
		fprintf(out, "    %u lines of the driver could not be read\n",
			client->unreadable);
}

/**
 * memledger_drm_print - print DRM clients as text
 * @out: where to
 * @drm: the clients
 */
void memledger_drm_print(FILE *out, const struct memledger_drm *drm)
{
	unsigned int line;
	size_t i;

	fputs("DRM clients (fdinfo)\n", out);
	if (*drm->reason)
		print_text(out, "    Unavailable: %s\n", drm->reason);
	else if (!drm->nr)
		fputs("    None.\n", out);
	for (i = 0; i < drm->nr; i++)
		print_client(out, &drm->clients[i]);
	for (line = 0; drm->nr && line < ARRAY_SIZE(caveats); line++)
		fprintf(out, "%s\n", caveats[line]);
}

static void print_json_region(FILE *out,
			      const struct memledger_drm_region *region)
{
	bool first = true;
	unsigned int stat;

	putc('{', out);
	memledger_json_string(out, &first, "region", region->name);
	for (stat = 0; stat < NR_MEMLEDGER_DRM_STATS; stat++)
		memledger_json_number(out, &first, names[stat],
				      region->bytes[stat],
				      region->known[stat]);
	memledger_json_bool(out, &first, "legacy", region->legacy);
	putc('}', out);
}

static void print_json_client(FILE *out,
			      const struct memledger_drm_client *client)
{
	bool first = true;
	size_t i;

	putc('{', out);
	memledger_json_string(out, &first, "driver", client->driver);
	memledger_json_string(out, &first, "pdev", client->pdev);
	memledger_json_number(out, &first, "client_id", client->id,
			      client->has_id);
	memledger_json_string(out, &first, "client_name", client->name);
	memledger_json_key(out, &first, "fds");
	putc('[', out);
	for (i = 0; i < client->nr_fds; i++)
		fprintf(out, "%s%u", i ? "," : "", client->fds[i]);
	putc(']', out);
	memledger_json_number(out, &first, "unreadable_lines",
			      client->unreadable, true);
	memledger_json_key(out, &first, "regions");
	putc('[', out);
	for (i = 0; i < client->nr_regions; i++) {
		if (i)
			putc(',', out);
		print_json_region(out, &client->regions[i]);
	}
	fputs("]}", out);
}

/**
 * memledger_drm_print_json - print DRM clients as a member of an object
 * @out: where to
 * @first: as for memledger_json_key()
 * @drm: the clients; null is printed where they are unavailable
 */
void memledger_drm_print_json(FILE *out, bool *first,
			      const struct memledger_drm *drm)
{
	size_t i;

	memledger_json_key(out, first, "drm");
	if (*drm->reason) {
		fputs("null", out);
		return;
	}
	putc('[', out);
	for (i = 0; i < drm->nr; i++) {
		if (i)
			putc(',', out);
		print_json_client(out, &drm->clients[i]);
	}
	putc(']', out);
}
