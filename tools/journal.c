// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples, marks, retained objects and environments in, bytes of a file out.
 * A record is one write: a program that is killed leaves whole ones. Where the
 * disk is full what was begun is cut off again.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "journal_format.h"
#include "privileges.h"
#include "wire.h"

static int fail(const struct memledger_journal *journal, const char *why,
		struct memledger_error *error)
{
	char *shown = memledger_escape_text(journal->path, "");

	memledger_error_set(error, "%s: %s", shown ? shown : "", why);
	free(shown);
	return -1;
}

/* All of it, or nothing. */
static int append(struct memledger_journal *journal,
		  const unsigned char *data, size_t size,
		  struct memledger_error *error)
{
	char why[256];
	size_t done = 0;
	ssize_t len = 0;

	while (done < size) {
		len = pwrite(journal->fd, data + done, size - done,
			     journal->end + done);
		if (len < 0 && errno == EINTR)
			continue;
		if (len <= 0)
			break;
		done += len;
	}
	if (done == size) {
		journal->end += size;
		return 0;
	}
	snprintf(why, sizeof(why),
		 "%s: what was recorded before is complete and can be read",
		 len ? strerror(errno) : "cannot be written to");
	/* What cannot be cut off now is dropped by who reads it. */
	if (ftruncate(journal->fd, journal->end))
		done = 0;
	return fail(journal, why, error);
}

/* A record from its payload, which is freed. */
static int append_record(struct memledger_journal *journal, u32 type,
			 struct memledger_wire *payload,
			 struct memledger_error *error)
{
	struct memledger_wire record = {};
	int ret;

	memledger_wire_put_u32(&record, payload->len);
	memledger_wire_put_u32(&record, type);
	memledger_wire_put_bytes(&record, (const char *)payload->data,
				 payload->failed ? 0 : payload->len);
	if (!record.failed)
		memledger_wire_put_u32(&record,
				       memledger_wire_checksum(record.data,
							       record.len));
	if (record.failed || payload->failed)
		ret = memledger_error_set(error, "no memory");
	else if (payload->len > MEMLEDGER_JOURNAL_RECORD_MAX)
		ret = fail(journal, "a record would be too large: record fewer names",
			   error);
	else
		ret = append(journal, record.data, record.len, error);
	free(record.data);
	free(payload->data);
	return ret;
}

/* Where to go on in a file that is there: behind its last whole record. */
static int find_end(struct memledger_journal *journal,
		    struct memledger_error *error)
{
	struct memledger_recording recording;
	int ret = memledger_recording_read(&recording, journal->path, error);

	if (!ret && recording.damaged)
		ret = fail(journal,
			   "damaged, and more behind that may be of use: record to another file",
			   error);
	journal->end = recording.end;
	journal->dropped = recording.dropped;
	memledger_recording_free(&recording);
	if (!ret && journal->dropped && ftruncate(journal->fd, journal->end))
		ret = fail(journal, strerror(errno), error);
	return ret;
}

static int begin_file(struct memledger_journal *journal,
		      struct memledger_error *error)
{
	struct memledger_wire head = {};
	int ret;

	memledger_wire_put_bytes(&head, MEMLEDGER_JOURNAL_MAGIC,
				 strlen(MEMLEDGER_JOURNAL_MAGIC));
	memledger_wire_put_u32(&head, MEMLEDGER_JOURNAL_VERSION);
	memledger_wire_put_u32(&head, 0);
	ret = head.failed ? memledger_error_set(error, "no memory") :
	      append(journal, head.data, head.len, error);
	free(head.data);
	return ret;
}

static int fail_to_open(const struct memledger_journal *journal, int err,
			struct memledger_error *error)
{
	char why[256];

	snprintf(why, sizeof(why), "%s%s", strerror(err),
		 memledger_privileges_advice(err));
	return fail(journal, why, error);
}

/**
 * memledger_journal_open - open a file to append to, or make one
 * @journal: what to fill
 * @path: the file; is needed as long as @journal is
 * @error: what went wrong
 *
 * A record that is torn, as a crash leaves it, is cut off. The file is locked:
 * two writers would tear each other's records.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_journal_open(struct memledger_journal *journal, const char *path,
			   struct memledger_error *error)
{
	struct stat st;
	int ret;

	*journal = (struct memledger_journal){ .path = path };
	memledger_privileges_write(true);
	journal->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	memledger_privileges_write(false);
	if (journal->fd < 0)
		return fail_to_open(journal, errno, error);
	if (flock(journal->fd, LOCK_EX | LOCK_NB))
		ret = fail(journal, errno == EWOULDBLOCK ?
			   "somebody else is recording to it" :
			   strerror(errno), error);
	else if (fstat(journal->fd, &st))
		ret = fail(journal, strerror(errno), error);
	else if (!S_ISREG(st.st_mode))
		ret = fail(journal, "not a regular file", error);
	else
		ret = st.st_size ? find_end(journal, error) :
				   begin_file(journal, error);
	if (ret)
		close(journal->fd);
	return ret;
}

static void forget_names(struct memledger_journal *journal)
{
	while (journal->nr_names)
		free(journal->names[--journal->nr_names]);
	free(journal->names);
	journal->names = NULL;
}

/**
 * memledger_journal_begin - say where the samples that follow come from
 * @journal: where to
 * @environment: where they come from
 * @error: what went wrong
 *
 * Has to come first, and again whenever something of it has changed.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_journal_begin(struct memledger_journal *journal,
			    const struct memledger_environment *environment,
			    struct memledger_error *error)
{
	struct memledger_wire wire = {};

	forget_names(journal);
	memledger_wire_put(&wire, environment->time_ns);
	memledger_wire_put(&wire, environment->realtime_ns);
	memledger_wire_put(&wire, environment->len);
	memledger_wire_put_bytes(&wire, environment->pairs, environment->len);
	return append_record(journal, MEMLEDGER_JOURNAL_SESSION, &wire, error);
}

/* The number of a name; one that is new is written down first. */
static int number_name(struct memledger_journal *journal, const char *text,
		       size_t *number, struct memledger_error *error)
{
	struct memledger_wire wire = {};
	char **names, *copy;

	for (*number = 0; *number < journal->nr_names; ++*number)
		if (!strcmp(journal->names[*number], text))
			return 0;
	names = memledger_array_grow(journal->names, journal->nr_names,
				     sizeof(*names));
	if (!names)
		return memledger_error_set(error, "no memory");
	journal->names = names;
	copy = strdup(text);
	if (!copy)
		return memledger_error_set(error, "no memory");
	memledger_wire_put(&wire, *number);
	memledger_wire_put_string(&wire, text);
	if (append_record(journal, MEMLEDGER_JOURNAL_NAME, &wire, error)) {
		free(copy);
		return -1;
	}
	names[journal->nr_names++] = copy;
	return 0;
}

static bool is_empty(const void *data, size_t size)
{
	const unsigned char *bytes = data;

	return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* Rows and numbers of 0 are left out. */
static void put_rows(struct memledger_wire *wire,
		     const struct memledger_sample *sample)
{
	unsigned int i, nr = 0;

	for (i = 0; i < MEMLEDGER_SAMPLE_ROWS; i++)
		nr += !is_empty(&sample->row[i], sizeof(sample->row[i]));
	memledger_wire_put(wire, nr);
	for (i = 0; i < MEMLEDGER_SAMPLE_ROWS; i++) {
		if (is_empty(&sample->row[i], sizeof(sample->row[i])))
			continue;
		memledger_wire_put(wire, i);
#define X(field) memledger_wire_put(wire, sample->row[i].field);
		MEMLEDGER_SAMPLE_FIELDS(X)
#undef X
	}
}

static void put_graphics(struct memledger_wire *wire,
			 const struct memledger_sample *sample)
{
	u64 numbers[MEMLEDGER_JOURNAL_GRAPHICS];
	unsigned int i, nr = 0;

	memcpy(numbers, &sample->graphics, sizeof(numbers));
	for (i = 0; i < MEMLEDGER_JOURNAL_GRAPHICS; i++)
		nr += !!numbers[i];
	memledger_wire_put(wire, nr);
	for (i = 0; i < MEMLEDGER_JOURNAL_GRAPHICS; i++) {
		if (!numbers[i])
			continue;
		memledger_wire_put(wire, i);
		memledger_wire_put(wire, numbers[i]);
	}
	memledger_wire_put(wire, sample->dmabuf_count);
	memledger_wire_put(wire, sample->dmabuf_rss);
	memledger_wire_put(wire, sample->dmabuf_pss);
}

static int put_names(struct memledger_journal *journal,
		     struct memledger_wire *wire,
		     const struct memledger_sample *sample,
		     struct memledger_error *error)
{
	size_t i, number;

	memledger_wire_put(wire, sample->nr_names);
	for (i = 0; i < sample->nr_names; i++) {
		const struct memledger_sample_name *name = &sample->name[i];

		if (number_name(journal, name->text, &number, error))
			return -1;
		memledger_wire_put(wire, number);
		memledger_wire_put(wire, name->what);
		memledger_wire_put(wire, name->category);
		memledger_wire_put(wire, name->bytes);
		memledger_wire_put(wire, name->count);
	}
	return 0;
}

/**
 * memledger_journal_add_sample - write a sample
 * @journal: where to
 * @sample: the sample
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set; the file ends on a whole record then, too.
 */
int memledger_journal_add_sample(struct memledger_journal *journal,
				 const struct memledger_sample *sample,
				 struct memledger_error *error)
{
	struct memledger_wire wire = {};

	memledger_wire_put(&wire, sample->time_ns);
	memledger_wire_put(&wire, sample->walk_ns);
	memledger_wire_put(&wire, sample->tgid);
	memledger_wire_put(&wire, sample->start_ticks);
	memledger_wire_put(&wire, sample->generation);
	memledger_wire_put(&wire,
			   (sample->complete ?
			    MEMLEDGER_JOURNAL_COMPLETE : 0) |
			   (sample->names_cut ?
			    MEMLEDGER_JOURNAL_NAMES_CUT : 0));
	memledger_wire_put(&wire, sample->unavailable);
	put_rows(&wire, sample);
	put_graphics(&wire, sample);
	if (put_names(journal, &wire, sample, error)) {
		free(wire.data);
		return -1;
	}
	return append_record(journal, MEMLEDGER_JOURNAL_SAMPLE, &wire, error);
}

/**
 * memledger_journal_add_mark - write a mark
 * @journal: where to
 * @mark: the mark
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_journal_add_mark(struct memledger_journal *journal,
			       const struct memledger_mark *mark,
			       struct memledger_error *error)
{
	struct memledger_wire wire = {};

	memledger_wire_put(&wire, mark->time_ns);
	memledger_wire_put(&wire, mark->tgid);
	memledger_wire_put_string(&wire, mark->label);
	return append_record(journal, MEMLEDGER_JOURNAL_MARK, &wire, error);
}

/**
 * memledger_journal_add_retained - write a retained object
 * @journal: where to
 * @retained: the object
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_journal_add_retained(struct memledger_journal *journal,
				   const struct memledger_retained *retained,
				   struct memledger_error *error)
{
	struct memledger_wire wire = {};

	memledger_wire_put(&wire, retained->time_ns);
	memledger_wire_put(&wire, retained->age_ns);
	memledger_wire_put(&wire, retained->tgid);
	memledger_wire_put(&wire, retained->kind);
	memledger_wire_put(&wire, retained->id);
	memledger_wire_put(&wire, retained->size);
	memledger_wire_put_string(&wire, retained->what);
	memledger_wire_put_string(&wire, retained->holders);
	return append_record(journal, MEMLEDGER_JOURNAL_RETAINED, &wire,
			     error);
}

/**
 * memledger_journal_close - write everything out, and close the file
 * @journal: of no use afterwards
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_journal_close(struct memledger_journal *journal,
			    struct memledger_error *error)
{
	int ret = 0;

	forget_names(journal);
	if (fsync(journal->fd))
		ret = fail(journal, strerror(errno), error);
	if (close(journal->fd) && !ret)
		ret = fail(journal, strerror(errno), error);
	return ret;
}
