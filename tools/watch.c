// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process in, round after round; pictures, and a verdict in the end, out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "sampler.h"
#include "subject.h"
#include "watch_picture.h"

/**
 * struct watch - what is being watched
 * @view: what is shown
 * @sampler: the process
 * @open: there is one
 * @comm: its name
 * @polled: its file that tells of new snapshots, and that it has exited; -1
 *	where there is none
 * @input: what was read of standard input
 * @nr_input: how many bytes
 * @terminal: where the pictures go
 */
struct watch {
	struct memledger_watch_view view;
	struct memledger_sampler sampler;
	bool open;
	char comm[16];
	int polled;
	char input[256];
	size_t nr_input;
	struct memledger_terminal terminal;
};

/* What to do next; below 0 an error is set. */
enum step {
	STEP_WAIT,
	STEP_DRAW,
	STEP_ROUND,
	STEP_END,
};

/* Its file that can be polled; without, the next round finds out. */
static void open_polled(struct watch *watch)
{
	char path[512];

	snprintf(path, sizeof(path),
		 "%s/kernel/memledger/processes/%d/generation",
		 watch->sampler.module.sysfs, watch->sampler.pid);
	watch->polled = open(path, O_RDONLY | O_CLOEXEC);
}

static void close_polled(struct watch *watch)
{
	if (watch->polled >= 0)
		close(watch->polled);
	watch->polled = -1;
}

/* Until the next snapshot poll() has nothing to say. */
static void read_polled(struct watch *watch)
{
	char text[32];

	/* Of a process that was untracked it would for ever. */
	if (watch->polled >= 0 &&
	    pread(watch->polled, text, sizeof(text), 0) < 0 && errno == ENODEV)
		close_polled(watch);
}

static int open_process(struct watch *watch, struct memledger_error *error)
{
	const struct memledger_watch_wanted *wanted = watch->view.wanted;
	pid_t pid;

	if (memledger_subject_find(wanted->process, wanted->proc, &pid, error))
		return -1;
	watch->sampler = (struct memledger_sampler){
		.module = { wanted->sysfs, error },
		.proc = wanted->proc,
		.pid = pid,
		.names = wanted->names,
		.buffers = true,
	};
	if (memledger_sampler_open(&watch->sampler))
		return -1;
	watch->open = true;
	watch->view.pid = pid;
	watch->view.exited = false;
	open_polled(watch);
	return 0;
}

static void close_process(struct watch *watch)
{
	if (watch->open)
		memledger_sampler_close(&watch->sampler);
	close_polled(watch);
	watch->open = false;
}

/* The oldest quarter goes at once: most rounds move nothing. */
static void forget_oldest(struct memledger_samples *samples)
{
	size_t nr = MEMLEDGER_WATCH_MOST / 4, i;

	if (samples->nr < MEMLEDGER_WATCH_MOST)
		return;
	for (i = 0; i < nr; i++)
		memledger_sample_free(&samples->sample[i]);
	samples->nr -= nr;
	memmove(samples->sample, samples->sample + nr,
		samples->nr * sizeof(*samples->sample));
}

static int add_sample(struct watch *watch, struct memledger_sample *sample,
		      struct memledger_error *error)
{
	struct memledger_watch_view *view = &watch->view;
	struct memledger_sample *place;

	memcpy(watch->comm, watch->sampler.record.comm, sizeof(watch->comm));
	forget_oldest(&view->samples);
	place = memledger_samples_add(&view->samples);
	if (!place) {
		memledger_sample_free(sample);
		return memledger_error_set(error, "no memory");
	}
	*place = *sample;
	memledger_finding_free(&view->finding);
	if (memledger_finding_make(&view->finding, &view->samples))
		return memledger_error_set(error, "no memory");
	return 0;
}

/*
 * What is known of DMA-BUFs may be a second old. A new pass over all processes is
 * worth it where rounds are what counts, and not time.
 */
static void renew_dmabufs(struct watch *watch)
{
	/* If it fails reading does, too, and knows why. */
	if (watch->view.wanted->lines)
		memledger_module_write(&watch->sampler.module,
				       "dmabuf/refresh", "1");
}

/* Return: 0, or -1 with @error set; the process may have exited. */
static int take_round(struct watch *watch, struct memledger_error *error)
{
	struct memledger_watch_view *view = &watch->view;
	struct memledger_sample sample = {};
	int ret;

	view->round++;
	/* By its name, one that was started again is found, some time. */
	if (!watch->open) {
		if (open_process(watch, error)) {
			snprintf(view->note, sizeof(view->note), "%.*s",
				 (int)strcspn(error->text, "\n"), error->text);
			return 0;
		}
		*view->note = '\0';
	}
	renew_dmabufs(watch);
	ret = memledger_sampler_read(&watch->sampler, &sample);
	read_polled(watch);
	if (ret == MEMLEDGER_SAMPLED) {
		/* Somebody untracked it: it is tracked again. */
		if (watch->polled < 0)
			open_polled(watch);
		return add_sample(watch, &sample, error);
	}
	if (ret < 0)
		return ret;
	view->exited = true;
	close_process(watch);
	return 0;
}

static void take_mark(struct watch *watch)
{
	const struct memledger_watch_wanted *wanted = watch->view.wanted;
	const struct memledger_mark_place place = {
		.sysfs = wanted->sysfs,
		.proc = wanted->proc,
		.pid = watch->view.pid,
	};
	struct memledger_error error;
	char path[200], *text;
	size_t len;

	if (memledger_mark_default(place.pid, path, sizeof(path), &error) ||
	    memledger_mark_take(&place, &text, &len, &error)) {
		snprintf(watch->view.note, sizeof(watch->view.note),
			 "no mark: %.200s", error.text);
		return;
	}
	if (memledger_mark_save(path, text, len, &error))
		snprintf(watch->view.note, sizeof(watch->view.note),
			 "no mark: %.200s", error.text);
	else
		snprintf(watch->view.note, sizeof(watch->view.note),
			 "marked in %s in round %u", path, watch->view.round);
	free(text);
}

static int draw(struct watch *watch, struct memledger_error *error)
{
	struct memledger_terminal *terminal = &watch->terminal;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	memledger_terminal_measure(terminal);
	out = open_memstream(&text, &len);
	if (!out)
		return memledger_error_set(error, "no memory");
	if (terminal->live)
		memledger_watch_draw(out, &watch->view, terminal);
	else if (!watch->view.wanted->json)
		memledger_watch_print_round(out, &watch->view);
	if (fclose(out)) {
		free(text);
		return memledger_error_set(error, "no memory");
	}
	memledger_terminal_show(terminal, text, len);
	free(text);
	/* Of a note once is enough. */
	if (!terminal->live)
		*watch->view.note = '\0';
	return terminal->live || !fflush(stdout) ? 0 :
	       memledger_error_set(error, "cannot write the output");
}

static enum step press(struct watch *watch, char key)
{
	if (key == watch->view.wanted->mark_key) {
		take_mark(watch);
		return STEP_DRAW;
	}
	if (key == 'q')
		return STEP_END;
	return key == ' ' || (key == '\n' && watch->view.wanted->lines) ?
	       STEP_ROUND : STEP_WAIT;
}

/* A line of standard input, where no keys are pressed. */
static enum step take_line(struct watch *watch)
{
	char *end = memchr(watch->input, '\n', watch->nr_input);
	size_t len = end ? (size_t)(end - watch->input) : watch->nr_input;

	if (!end && len < sizeof(watch->input))
		return STEP_WAIT;
	if (len && *watch->input == watch->view.wanted->mark_key)
		take_mark(watch);
	len += !!end;
	watch->nr_input -= len;
	memmove(watch->input, watch->input + len, watch->nr_input);
	return end ? STEP_ROUND : STEP_WAIT;
}

static enum step read_input(struct watch *watch)
{
	ssize_t len = read(STDIN_FILENO, watch->input + watch->nr_input,
			   sizeof(watch->input) - watch->nr_input);

	if (len <= 0)
		return len < 0 && errno == EINTR ? STEP_WAIT : STEP_END;
	watch->nr_input += len;
	return take_line(watch);
}

/* Somebody's snapshot, or the end of the process? */
static enum step look_at_polled(struct watch *watch)
{
	char comm[64], text[80];

	read_polled(watch);
	snprintf(text, sizeof(text), "processes/%d/comm", watch->sampler.pid);
	return memledger_module_read(&watch->sampler.module, text, comm,
				     sizeof(comm)) == -ESRCH ?
	       STEP_ROUND : STEP_WAIT;
}

static enum step wait_for(struct watch *watch, u64 until)
{
	const struct memledger_watch_wanted *wanted = watch->view.wanted;
	bool lines = wanted->lines && !watch->terminal.live;
	struct pollfd also = {
		.fd = lines ? STDIN_FILENO : watch->polled,
		.events = lines ? POLLIN : POLLPRI,
	};
	enum step step;
	char key;

	if (lines) {
		step = take_line(watch);
		if (step != STEP_WAIT)
			return step;
	}
	switch (memledger_terminal_wait(&watch->terminal, wanted->lines ?
					UINT64_MAX : until, &also, &key)) {
	case MEMLEDGER_TERMINAL_TIME:
		return STEP_ROUND;
	case MEMLEDGER_TERMINAL_KEY:
		return press(watch, key);
	case MEMLEDGER_TERMINAL_ALSO:
		return lines ? read_input(watch) : look_at_polled(watch);
	case MEMLEDGER_TERMINAL_DRAW:
		return watch->terminal.live ? STEP_DRAW : STEP_WAIT;
	default:
		return STEP_END;
	}
}

static bool is_over(const struct watch *watch)
{
	const struct memledger_watch_view *view = &watch->view;
	const struct memledger_watch_wanted *wanted = view->wanted;
	const char *process = wanted->process;

	if (wanted->rounds && view->round >= wanted->rounds)
		return true;
	/* A number is that of one process, and never comes back for it. */
	if (view->exited && strspn(process, "0123456789") == strlen(process))
		return true;
	return wanted->until < NR_MEMLEDGER_TRENDS &&
	       view->finding.kind == wanted->until && view->samples.nr;
}

static int loop(struct watch *watch, struct memledger_error *error)
{
	const struct memledger_watch_wanted *wanted = watch->view.wanted;
	u64 next = memledger_terminal_now_ms();
	enum step step = wanted->lines ? STEP_WAIT : STEP_ROUND;

	while (step != STEP_END) {
		if (step == STEP_ROUND) {
			/* What has been missed is not made up for. */
			next += wanted->every_ms;
			if (next < memledger_terminal_now_ms())
				next = memledger_terminal_now_ms();
			if (take_round(watch, error))
				return -1;
			step = STEP_DRAW;
		}
		if (step == STEP_DRAW && draw(watch, error))
			return -1;
		if (is_over(watch))
			return 0;
		step = wait_for(watch, next);
	}
	return 0;
}

/**
 * memledger_watch_run - watch a process
 * @wanted: which one, and for how long
 * @error: what went wrong
 *
 * Ends when it has seen enough, with q, by a signal, or when the process, if
 * it was given by number, has exited. What there is to say is printed then.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_watch_run(const struct memledger_watch_wanted *wanted,
			struct memledger_error *error)
{
	struct watch watch = {
		.view.wanted = wanted,
		.view.finding.driver = -1,
		.view.comm = watch.comm,
		.polled = -1,
	};
	int ret;

	if (open_process(&watch, error))
		return -1;
	memledger_terminal_begin(&watch.terminal, wanted->batch);
	ret = loop(&watch, error);
	close_process(&watch);
	memledger_terminal_leave(&watch.terminal);
	if (!ret)
		memledger_watch_print_end(stdout, &watch.view);
	memledger_terminal_end(&watch.terminal);
	memledger_finding_free(&watch.view.finding);
	memledger_samples_free(&watch.view.samples);
	return ret;
}
