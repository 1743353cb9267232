// SPDX-License-Identifier: GPL-2.0-only
/*
 * A running process in, a file of its samples out. Signals that would end this
 * program wait until a sample is written, so that the process is untracked and
 * the file is whole whenever it ends.
 */
#include <signal.h>
#include <time.h>

#include "journal.h"
#include "recorder.h"

/**
 * struct recorder - what is being recorded
 * @wanted: how
 * @sampler: the process
 * @journal: the file
 * @signals: those that are waited for
 * @rounds: samples so far
 * @marks: marks so far
 * @error: what went wrong
 */
struct recorder {
	const struct memledger_recorder_wanted *wanted;
	struct memledger_sampler sampler;
	struct memledger_journal journal;
	sigset_t signals;
	u64 rounds;
	u64 marks;
	struct memledger_error *error;
};

static u64 now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Before the first sample, whose record it is about. */
static int begin(struct recorder *recorder)
{
	struct memledger_environment environment;
	char every[32];
	int ret;

	snprintf(every, sizeof(every), "%llu", recorder->wanted->every_ms);
	ret = memledger_environment_take(&environment,
					 recorder->sampler.module.sysfs,
					 &recorder->sampler.record);
	if (!ret)
		ret = memledger_environment_add(&environment, "every_ms",
						every);
	if (ret)
		ret = memledger_error_set(recorder->error, "no memory");
	else
		ret = memledger_journal_begin(&recorder->journal, &environment,
					      recorder->error);
	memledger_environment_free(&environment);
	return ret;
}

/* Return: enum memledger_sampled, or -1 with the error set. */
static int take_sample(struct recorder *recorder)
{
	struct memledger_sample sample;
	int ret = memledger_sampler_read(&recorder->sampler, &sample);

	if (ret)
		return ret;
	if (!recorder->rounds)
		ret = begin(recorder);
	if (!ret)
		ret = memledger_journal_add_sample(&recorder->journal, &sample,
						   recorder->error);
	memledger_sample_free(&sample);
	recorder->rounds += !ret;
	return ret;
}

static int make_mark(struct recorder *recorder)
{
	char label[32];
	const struct memledger_mark mark = {
		.time_ns = now(CLOCK_BOOTTIME),
		.tgid = recorder->sampler.pid,
		.label = label,
	};

	snprintf(label, sizeof(label), "mark %llu", ++recorder->marks);
	return memledger_journal_add_mark(&recorder->journal, &mark,
					  recorder->error);
}

/*
 * Until the time has come, or a signal that ends us. Return: 1 to go on, 0 to
 * end, or -1 with the error set.
 */
static int wait_until(struct recorder *recorder, u64 time)
{
	for (;;) {
		u64 at = now(CLOCK_MONOTONIC);
		u64 left = time > at ? time - at : 0;
		const struct timespec timeout = {
			.tv_sec = left / 1000000000,
			.tv_nsec = left % 1000000000,
		};
		int got = sigtimedwait(&recorder->signals, NULL, &timeout);

		if (got < 0 && errno == EAGAIN)
			return 1;
		if (got == SIGUSR1 && make_mark(recorder))
			return -1;
		if (got > 0 && got != SIGUSR1)
			return 0;
	}
}

/* Samples on time; those that could not be are left out, not made up for. */
static int loop(struct recorder *recorder)
{
	u64 step = recorder->wanted->every_ms * 1000000;
	u64 time = now(CLOCK_MONOTONIC), late;
	int ret;

	do {
		ret = take_sample(recorder);
		if (ret == MEMLEDGER_SAMPLER_EXITED)
			return 0;
		if (ret || recorder->rounds == recorder->wanted->rounds)
			return ret;
		late = now(CLOCK_MONOTONIC) - time;
		time += (late / step + 1) * step;
		ret = wait_until(recorder, time);
	} while (ret > 0);
	return ret;
}

static int record(struct recorder *recorder)
{
	struct memledger_error ignored;
	int ret;

	if (memledger_journal_open(&recorder->journal, recorder->wanted->path,
				   recorder->error))
		return -1;
	ret = memledger_sampler_open(&recorder->sampler);
	if (!ret) {
		ret = loop(recorder);
		memledger_sampler_close(&recorder->sampler);
	}
	if (!ret && !recorder->rounds)
		ret = memledger_error_set(recorder->error,
					  "process %d has exited",
					  recorder->sampler.pid);
	/* What went wrong first is what to tell. */
	if (memledger_journal_close(&recorder->journal,
				    ret ? &ignored : recorder->error))
		ret = -1;
	return ret;
}

/*
 * What ends us, or makes a mark. What is ignored, as by nohup, remains so: blocked
 * it would be waited for all the same.
 */
static void choose_signals(sigset_t *set)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
				       SIGUSR1 };
	struct sigaction before;
	size_t i;

	sigemptyset(set);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaddset(set, signals[i]);
}

/**
 * memledger_recorder_run - record samples of a process
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @pid: the process, by its number in the initial pid namespace
 * @wanted: what to record
 * @rounds: gets how many samples were recorded
 * @error: what went wrong
 *
 * Ends after as many samples as are wanted, when the process exits, or by a
 * signal that would end this program; SIGUSR1 makes a mark. Signals that are
 * ignored do neither.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_recorder_run(const char *sysfs, const char *proc, pid_t pid,
			   const struct memledger_recorder_wanted *wanted,
			   u64 *rounds, struct memledger_error *error)
{
	struct recorder recorder = {
		.wanted = wanted,
		.sampler = {
			.module = { sysfs, error },
			.proc = proc,
			.pid = pid,
			.names = wanted->names,
			.buffers = wanted->buffers,
		},
		.error = error,
	};
	sigset_t before;
	int ret;

	choose_signals(&recorder.signals);
	sigprocmask(SIG_BLOCK, &recorder.signals, &before);
	/* A file that may not grow any more is an error like any other. */
	signal(SIGXFSZ, SIG_IGN);
	ret = record(&recorder);
	sigprocmask(SIG_SETMASK, &before, NULL);
	*rounds = recorder.rounds;
	return ret;
}
