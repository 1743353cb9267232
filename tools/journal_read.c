// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes of a journal in; samples, marks, retained objects and environments
 * out. Reading ends where a record is torn, or is none: what comes before it is
 * whole, for each record has a checksum.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "journal_format.h"
#include "wire.h"

/**
 * struct session - what records refer to
 * @recording: what is being filled
 * @names: names by their numbers
 * @nr_names: how many
 */
struct session {
	struct memledger_recording *recording;
	char **names;
	size_t nr_names;
};

static void forget_names(struct session *session)
{
	while (session->nr_names)
		free(session->names[--session->nr_names]);
	free(session->names);
	session->names = NULL;
}

static bool read_session(struct session *session,
			 struct memledger_wire_reader *reader)
{
	struct memledger_recording *recording = session->recording;
	struct memledger_environment *environment;

	environment = memledger_array_grow(recording->environment,
					   recording->nr_environments,
					   sizeof(*environment));
	if (!environment)
		return false;
	recording->environment = environment;
	environment += recording->nr_environments;
	environment->time_ns = memledger_wire_get(reader);
	environment->realtime_ns = memledger_wire_get(reader);
	environment->pairs = memledger_wire_get_string(reader,
						       &environment->len);
	if (reader->failed ||
	    (environment->len &&
	     environment->pairs[environment->len - 1] != '\0')) {
		free(environment->pairs);
		return false;
	}
	recording->nr_environments++;
	forget_names(session);
	return true;
}

static bool read_name(struct session *session,
		      struct memledger_wire_reader *reader)
{
	char **names = memledger_array_grow(session->names, session->nr_names,
					    sizeof(*names));
	char *name;

	if (!names)
		return false;
	session->names = names;
	if (memledger_wire_get(reader) != session->nr_names)
		return false;
	name = memledger_wire_get_string(reader, NULL);
	if (!name)
		return false;
	names[session->nr_names++] = name;
	return true;
}

static bool read_rows(struct memledger_sample *sample,
		      struct memledger_wire_reader *reader)
{
	u64 nr = memledger_wire_get(reader);

	while (nr-- && !reader->failed) {
		u64 index = memledger_wire_get(reader);

		if (index >= MEMLEDGER_SAMPLE_ROWS)
			return false;
#define X(field) sample->row[index].field = memledger_wire_get(reader);
		MEMLEDGER_SAMPLE_FIELDS(X)
#undef X
	}
	return !reader->failed;
}

static bool read_graphics(struct memledger_sample *sample,
			  struct memledger_wire_reader *reader)
{
	u64 numbers[MEMLEDGER_JOURNAL_GRAPHICS] = {};
	u64 nr = memledger_wire_get(reader);

	while (nr-- && !reader->failed) {
		u64 index = memledger_wire_get(reader);

		if (index >= MEMLEDGER_JOURNAL_GRAPHICS)
			return false;
		numbers[index] = memledger_wire_get(reader);
	}
	memcpy(&sample->graphics, numbers, sizeof(numbers));
	sample->dmabuf_count = memledger_wire_get(reader);
	sample->dmabuf_rss = memledger_wire_get(reader);
	sample->dmabuf_pss = memledger_wire_get(reader);
	return !reader->failed;
}

static bool read_names(const struct session *session,
		       struct memledger_sample *sample,
		       struct memledger_wire_reader *reader)
{
	u64 nr = memledger_wire_get(reader);

	while (nr-- && !reader->failed) {
		u64 name = memledger_wire_get(reader);
		u64 what = memledger_wire_get(reader);
		u64 category = memledger_wire_get(reader);
		u64 bytes = memledger_wire_get(reader);
		u64 count = memledger_wire_get(reader);

		if (name >= session->nr_names ||
		    what >= NR_MEMLEDGER_SAMPLE_NAMES ||
		    category >= NR_MEMLEDGER_CATEGORIES ||
		    memledger_sample_add_name(sample, what, category,
					      session->names[name], bytes,
					      count))
			return false;
	}
	return !reader->failed;
}

static bool read_sample(struct session *session,
			struct memledger_wire_reader *reader)
{
	struct memledger_samples *samples = &session->recording->samples;
	struct memledger_sample *sample = memledger_samples_add(samples);
	u64 flags;

	if (!sample)
		return false;
	sample->time_ns = memledger_wire_get(reader);
	sample->walk_ns = memledger_wire_get(reader);
	sample->tgid = memledger_wire_get(reader);
	sample->start_ticks = memledger_wire_get(reader);
	sample->generation = memledger_wire_get(reader);
	flags = memledger_wire_get(reader);
	sample->complete = flags & MEMLEDGER_JOURNAL_COMPLETE;
	sample->names_cut = flags & MEMLEDGER_JOURNAL_NAMES_CUT;
	sample->unavailable = memledger_wire_get(reader);
	if (read_rows(sample, reader) && read_graphics(sample, reader) &&
	    read_names(session, sample, reader))
		return true;
	memledger_sample_free(sample);
	samples->nr--;
	return false;
}

static bool read_mark(struct session *session,
		      struct memledger_wire_reader *reader)
{
	struct memledger_recording *recording = session->recording;
	struct memledger_mark *mark;

	mark = memledger_array_grow(recording->mark, recording->nr_marks,
				    sizeof(*mark));
	if (!mark)
		return false;
	recording->mark = mark;
	mark += recording->nr_marks;
	mark->time_ns = memledger_wire_get(reader);
	mark->tgid = memledger_wire_get(reader);
	mark->label = memledger_wire_get_string(reader, NULL);
	if (!mark->label)
		return false;
	recording->nr_marks++;
	return true;
}

static bool read_retained(struct session *session,
			  struct memledger_wire_reader *reader)
{
	struct memledger_recording *recording = session->recording;
	struct memledger_retained *retained;
	u64 kind;

	retained = memledger_array_grow(recording->retained,
					recording->nr_retained,
					sizeof(*retained));
	if (!retained)
		return false;
	recording->retained = retained;
	retained += recording->nr_retained;
	retained->time_ns = memledger_wire_get(reader);
	retained->age_ns = memledger_wire_get(reader);
	retained->tgid = memledger_wire_get(reader);
	kind = memledger_wire_get(reader);
	retained->kind = kind;
	retained->id = memledger_wire_get(reader);
	retained->size = memledger_wire_get(reader);
	retained->what = memledger_wire_get_string(reader, NULL);
	retained->holders = memledger_wire_get_string(reader, NULL);
	if (reader->failed || kind >= NR_MEMLEDGER_RETAINED) {
		free(retained->what);
		free(retained->holders);
		return false;
	}
	recording->nr_retained++;
	return true;
}

/* Return: whether it makes sense; of a type that we do not know all does. */
static bool read_payload(struct session *session, u32 type,
			 const unsigned char *data, size_t len)
{
	struct memledger_wire_reader reader = { data, len, false };

	switch (type) {
	case MEMLEDGER_JOURNAL_SESSION:
		return read_session(session, &reader);
	case MEMLEDGER_JOURNAL_SAMPLE:
		return read_sample(session, &reader);
	case MEMLEDGER_JOURNAL_NAME:
		return read_name(session, &reader);
	case MEMLEDGER_JOURNAL_MARK:
		return read_mark(session, &reader);
	case MEMLEDGER_JOURNAL_RETAINED:
		return read_retained(session, &reader);
	default:
		return true;
	}
}

/* What a crash leaves behind the last record: part of one, or nothing. */
static bool is_torn(const unsigned char *data, size_t left)
{
	size_t i;

	for (i = 0; i < left && !data[i]; i++)
		;
	if (i == left || left < MEMLEDGER_JOURNAL_RECORD_HEAD)
		return true;
	return memledger_wire_get_u32(data) <= MEMLEDGER_JOURNAL_RECORD_MAX &&
	       memledger_wire_get_u32(data) + MEMLEDGER_JOURNAL_RECORD_HEAD +
	       MEMLEDGER_JOURNAL_RECORD_TAIL > left;
}

/* Return: bytes of a whole record, 0 where there is none. */
static size_t read_record(struct session *session, const unsigned char *data,
			  size_t left)
{
	size_t len, size;

	if (left < MEMLEDGER_JOURNAL_RECORD_HEAD +
		   MEMLEDGER_JOURNAL_RECORD_TAIL)
		return 0;
	len = memledger_wire_get_u32(data);
	size = len + MEMLEDGER_JOURNAL_RECORD_HEAD;
	if (len > MEMLEDGER_JOURNAL_RECORD_MAX ||
	    size + MEMLEDGER_JOURNAL_RECORD_TAIL > left ||
	    memledger_wire_get_u32(data + size) !=
	    memledger_wire_checksum(data, size) ||
	    !read_payload(session, memledger_wire_get_u32(data + 4),
			  data + MEMLEDGER_JOURNAL_RECORD_HEAD, len))
		return 0;
	return size + MEMLEDGER_JOURNAL_RECORD_TAIL;
}

static int check_head(const unsigned char *data, size_t size,
		      struct memledger_error *error)
{
	u32 version;

	if (size < MEMLEDGER_JOURNAL_HEAD ||
	    memcmp(data, MEMLEDGER_JOURNAL_MAGIC,
		   strlen(MEMLEDGER_JOURNAL_MAGIC)))
		return memledger_error_set(error,
					   "not a recording: memledger record makes one");
	version = memledger_wire_get_u32(data +
					 strlen(MEMLEDGER_JOURNAL_MAGIC));
	if (version != MEMLEDGER_JOURNAL_VERSION)
		return memledger_error_set(error,
					   "a recording of version %u, this tool reads version %d: use the tool that made it",
					   version, MEMLEDGER_JOURNAL_VERSION);
	return 0;
}

/**
 * memledger_recording_parse - read a recording
 * @recording: what to fill; to be freed, also where this fails
 * @data: all bytes of the file
 * @size: how many
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set: it is no recording. One that is torn or
 * damaged is read up to there, and says so.
 */
int memledger_recording_parse(struct memledger_recording *recording,
			      const unsigned char *data, size_t size,
			      struct memledger_error *error)
{
	struct session session = { .recording = recording };
	size_t len;

	memset(recording, 0, sizeof(*recording));
	if (check_head(data, size, error))
		return -1;
	recording->end = MEMLEDGER_JOURNAL_HEAD;
	do {
		len = read_record(&session, data + recording->end,
				  size - recording->end);
		recording->end += len;
	} while (len);
	forget_names(&session);
	recording->dropped = size - recording->end;
	recording->damaged = recording->dropped &&
			     !is_torn(data + recording->end,
				      recording->dropped);
	return 0;
}

/* Return: bytes read into @data, which is to be freed, or -errno. */
static ssize_t read_file(const char *path, unsigned char **data)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t done = 0, got = -1;

	*data = NULL;
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st)) {
		*data = malloc(st.st_size + 1);
		do {
			got = *data ? pread(fd, *data + done,
					    st.st_size - done, done) : -1;
			done += got > 0 ? got : 0;
		} while (got > 0 && done < st.st_size);
	}
	done = got < 0 ? -errno : done;
	close(fd);
	return done;
}

/**
 * memledger_recording_read - read a file of samples
 * @recording: what to fill; to be freed, also where this fails
 * @path: the file
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set, as memledger_recording_parse().
 */
int memledger_recording_read(struct memledger_recording *recording,
			     const char *path, struct memledger_error *error)
{
	char *shown = memledger_escape_text(path, "");
	struct memledger_error why = {};
	unsigned char *data;
	ssize_t size = read_file(path, &data);
	int ret = -1;

	memset(recording, 0, sizeof(*recording));
	if (size < 0)
		memledger_error_set(&why, "%s", strerror(-size));
	else
		ret = memledger_recording_parse(recording, data, size, &why);
	if (ret)
		memledger_error_set(error, "%s: %s", shown ? shown : "",
				    why.text);
	free(data);
	free(shown);
	return ret;
}

/**
 * memledger_environment_free - free what an environment holds
 * @environment: becomes an empty one
 */
void memledger_environment_free(struct memledger_environment *environment)
{
	free(environment->pairs);
	memset(environment, 0, sizeof(*environment));
}

/**
 * memledger_recording_free - free what a recording holds
 * @recording: becomes an empty one
 */
void memledger_recording_free(struct memledger_recording *recording)
{
	memledger_samples_free(&recording->samples);
	while (recording->nr_marks)
		free(recording->mark[--recording->nr_marks].label);
	free(recording->mark);
	while (recording->nr_retained) {
		free(recording->retained[--recording->nr_retained].what);
		free(recording->retained[recording->nr_retained].holders);
	}
	free(recording->retained);
	while (recording->nr_environments)
		memledger_environment_free(&recording->environment[--recording->nr_environments]);
	free(recording->environment);
	memset(recording, 0, sizeof(*recording));
}
