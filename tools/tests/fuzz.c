// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes in, by libFuzzer: the smaps reader, the readers of the module's
 * tables, of fdinfo and of recordings, the classifier and all outputs must stand
 * them, under every profile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../bufinfo.h"
#include "../diff.h"
#include "../dmabuf_listing.h"
#include "../drm.h"
#include "../explain.h"
#include "../export.h"
#include "../gpu_entries.h"
#include "../gpumem.h"
#include "../html_report.h"
#include "../journal_format.h"
#include "../librank.h"
#include "../procrank.h"
#include "../showmap.h"
#include "../smaps.h"
#include "../unknown.h"
#include "../wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere(void)
{
	static FILE *out;

	if (!out)
		out = fopen("/dev/null", "we");
	if (!out)
		abort();
	return out;
}

static void print_report(const struct memledger_report *report)
{
	memledger_report_print_table(nowhere(), report, 0);
	memledger_report_print_table(nowhere(), report, MEMLEDGER_TABLE_FULL |
				     MEMLEDGER_TABLE_DALVIK);
	memledger_report_print_checkin(nowhere(), report);
	memledger_report_print_json(nowhere(), report);
}

static int print_unknown(struct memledger_subject *subject, unsigned int by,
			 bool json)
{
	struct memledger_error error;

	return memledger_unknown_print(nowhere(), subject, by, !json, json,
				       &error);
}

static int print_explained(struct memledger_subject *subject, bool json)
{
	struct memledger_error error;

	return memledger_explain_print(nowhere(), subject,
				       MEMLEDGER_EXPLAIN_ALL, !json, json,
				       &error);
}

/* What has been read can be printed in any way. */
static void print_text(struct memledger_subject *subject)
{
	unsigned int way;

	print_report(&subject->report);
	for (way = 0; way < 8; way++) {
		if (way / 2 <= MEMLEDGER_UNKNOWN_BY_OWNER ?
		    print_unknown(subject, way / 2, way % 2) :
		    print_explained(subject, way % 2))
			abort();
	}
}

/* The bytes as each of the module's tables; that may be an error. */
static void print_tables(const uint8_t *data, size_t size,
			 const struct memledger_profile *profile)
{
	unsigned int table;

	for (table = 0; table < 3; table++) {
		struct memledger_subject subject = {
			.report = { .profile = profile, .source = "fuzz" },
			.details = strndup((const char *)data, size),
		};

		if (!subject.details)
			abort();
		if (table < 2)
			print_unknown(&subject, table ?
				      MEMLEDGER_UNKNOWN_BY_NAME :
				      MEMLEDGER_UNKNOWN_BY_OWNER, true);
		else
			print_explained(&subject, true);
		memledger_vmas_free(&subject.vmas);
		free(subject.details);
	}
}

static char *copy(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	if (!text)
		abort();
	return text;
}

static void print_dmabufs(char *text, s32 pid)
{
	struct memledger_dmabuf_listing listing = {
		.pid = pid,
		.source = "fuzz",
		.kernel = "fuzz",
	};
	struct memledger_error error;
	unsigned int way;

	/* There is no such directory, and so no list of the kernel's. */
	if (!memledger_dmabuf_listing_make(&listing, text, "/nowhere",
					   &error)) {
		for (way = 0; way <= MEMLEDGER_DMABUF_GRID; way++) {
			memledger_dmabuf_print(nowhere(), &listing, way,
					       false);
			memledger_dmabuf_print(nowhere(), &listing, way, true);
		}
		memledger_dmabuf_print_json(nowhere(), &listing);
	}
	memledger_dmabuf_listing_free(&listing);
}

static void print_gpu_entries(char *text)
{
	struct memledger_gpu_entries entries = {};
	struct memledger_error error;
	bool first = true;

	if (!memledger_gpu_entries_parse(&entries, text, &error)) {
		memledger_gpu_entries_print_usage(nowhere(), &entries);
		memledger_gpu_entries_print(nowhere(), &entries);
		memledger_gpu_entries_print_json(nowhere(), &first, &entries);
	}
	memledger_gpu_entries_free(&entries);
}

/* As two file descriptors, which may be one client. */
static void print_drm(const uint8_t *data, size_t size)
{
	struct memledger_drm drm = {};
	bool first = true;
	unsigned int fd;

	for (fd = 0; fd < 2; fd++) {
		char *text = copy(data, size);

		if (memledger_drm_parse(&drm, fd, text))
			abort();
		free(text);
	}
	memledger_drm_print(nowhere(), &drm);
	memledger_drm_print_json(nowhere(), &first, &drm);
	memledger_drm_free(&drm);
}

/* The bytes as each of the tables of graphics memory. */
static void print_graphics(const uint8_t *data, size_t size)
{
	struct memledger_error error;
	unsigned int table;

	for (table = 0; table < 5; table++) {
		char *text = copy(data, size);

		if (table < 2)
			print_dmabufs(text, table ? 1 : -1);
		else if (table == 2)
			print_gpu_entries(text);
		else
			memledger_gpumem_print(nowhere(), text, "fuzz", "fuzz",
					       table == 3, &error);
		free(text);
	}
	print_drm(data, size);
}

static void print_processes(struct memledger_system_live *live)
{
	struct memledger_error error;
	struct memledger_ram ram;
	bool first = true;

	if (memledger_system_add_names(&live->system, "/nowhere", &error) ||
	    memledger_ram_read_meminfo(&ram, "/nowhere", "/proc", &error))
		abort();
	memledger_ram_finish(&ram, &live->system);
	memledger_procrank_print(nowhere(), live, &ram, true, 0);
	memledger_system_print(nowhere(), live, &ram);
	memledger_system_print_json(nowhere(), &first, live, 0);
	memledger_ram_print_json(nowhere(), &first, &ram);
}

/* The bytes as each of the tables of all processes. */
static void print_system(const uint8_t *data, size_t size)
{
	const struct memledger_librank_wanted wanted = { .all = true };
	struct memledger_system_live live = {
		.file = {
			.text = copy(data, size),
			.source = "fuzz",
			.kernel = "fuzz",
		},
	};
	struct memledger_mappings mappings = {};
	struct memledger_error error;
	char *text = copy(data, size);

	if (!memledger_system_parse(&live.system, live.file.text, &error))
		print_processes(&live);
	memledger_system_live_free(&live);
	if (!memledger_mappings_parse(&mappings, text, &error) &&
	    (memledger_system_add_names(&mappings.system, "/nowhere", &error) ||
	     memledger_librank_print(nowhere(), &mappings, &wanted, false,
				     "fuzz", "fuzz")))
		abort();
	memledger_mappings_free(&mappings);
	free(text);
}

static void print_showmap(struct memledger_subject *subject)
{
	struct memledger_error error;
	unsigned int flags;

	for (flags = 0; flags < 8; flags++)
		if (memledger_showmap_print(nowhere(), subject, flags,
					    flags & 1, &error))
			abort();
}

/* Rows must add up to the total, whatever the text. */
static void check_sums(const struct memledger_totals *totals)
{
	u64 rss = 0, pss = 0, vmas = 0;
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		rss += totals->category[i].rss;
		pss += totals->category[i].pss;
		vmas += totals->category[i].vmas;
	}
	if (rss != totals->total.rss || pss != totals->total.pss ||
	    vmas != totals->total.vmas || pss != totals->total.pss_floor << 12)
		abort();
}

static void print_recording(const uint8_t *data, size_t size)
{
	struct memledger_recording recording;
	struct memledger_error error;

	if (!memledger_recording_parse(&recording, data, size, &error)) {
		if (recording.end + recording.dropped != size)
			abort();
		memledger_export_csv(nowhere(), &recording);
		memledger_export_csv_names(nowhere(), &recording);
		memledger_export_chrome(nowhere(), &recording);
		if (recording.samples.nr &&
		    memledger_html_report_print(nowhere(), &recording))
			abort();
	}
	memledger_recording_free(&recording);
}

/*
 * As it is, and as records whose checksums are right, which no fuzzer finds: a
 * byte for the type, one for the length, and so on.
 */
static void print_recordings(const uint8_t *data, size_t size)
{
	struct memledger_wire wire = {};

	print_recording(data, size);
	memledger_wire_put_bytes(&wire, MEMLEDGER_JOURNAL_MAGIC,
				 strlen(MEMLEDGER_JOURNAL_MAGIC));
	memledger_wire_put_u32(&wire, MEMLEDGER_JOURNAL_VERSION);
	memledger_wire_put_u32(&wire, 0);
	while (size > 2) {
		size_t begin = wire.len, len = data[1];

		if (len > size - 2)
			len = size - 2;
		memledger_wire_put_u32(&wire, len);
		memledger_wire_put_u32(&wire, data[0] % 7);
		memledger_wire_put_bytes(&wire, (const char *)data + 2, len);
		if (wire.failed)
			abort();
		memledger_wire_put_u32(&wire,
				       memledger_wire_checksum(wire.data + begin,
							       wire.len -
							       begin));
		data += len + 2;
		size -= len + 2;
	}
	print_recording(wire.data, wire.len);
	free(wire.data);
}

/* As a mark that is compared with nothing, and with itself. */
static void print_marks(const uint8_t *data, size_t size)
{
	struct memledger_state state, none = { .source = "none" };
	struct memledger_error error;
	struct memledger_diff diff;
	char *text = malloc(size);
	bool first = true;
	unsigned int kind;

	if (!text)
		abort();
	memcpy(text, data, size);
	for (kind = 0; kind < NR_MEMLEDGER_PARTS; kind++)
		none.has[kind] = true;
	if (!memledger_state_parse(&state, text, size, &error)) {
		state.source = "fuzz";
		if (memledger_diff_make(&diff, &none, &state))
			abort();
		memledger_diff_print(nowhere(), &diff, 3);
		memledger_diff_print_json(nowhere(), &first, &diff);
		memledger_diff_free(&diff);
		if (memledger_diff_make(&diff, &state, &state) || diff.nr)
			abort();
		memledger_diff_free(&diff);
	}
	memledger_state_free(&state);
}

static void print_bufinfo(const uint8_t *data, size_t size)
{
	struct memledger_bufinfo bufinfo = {};
	char *text = copy(data, size);

	memledger_bufinfo_parse(&bufinfo, text);
	memledger_bufinfo_find(&bufinfo, 1);
	memledger_bufinfo_free(&bufinfo);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int i;

	/* fmemopen() takes no empty buffer. */
	if (!size)
		return 0;
	print_graphics(data, size);
	print_system(data, size);
	print_recordings(data, size);
	print_marks(data, size);
	print_bufinfo(data, size);
	for (i = 0; i < nr_memledger_profiles; i++) {
		struct memledger_subject subject = {};
		struct memledger_error error;
		FILE *file;

		print_tables(data, size, &memledger_profiles[i]);
		file = fmemopen((void *)data, size, "r");
		if (!file)
			abort();
		if (!memledger_smaps_read(file, "fuzz",
					  &memledger_profiles[i],
					  &subject.report, &subject.vmas,
					  &error)) {
			subject.report.source = "fuzz";
			check_sums(&subject.report.totals);
			print_text(&subject);
			print_showmap(&subject);
		}
		memledger_vmas_free(&subject.vmas);
		fclose(file);
	}
	return 0;
}
