// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has not been released in; records of it in a recording, whose report
 * then has it, out.
 */
#include <sys/utsname.h>
#include <time.h>

#include "command.h"
#include "retained.h"

static u64 now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Return: 0, or non-zero without memory. */
static int describe(struct memledger_environment *environment,
		    const struct memledger_expected *expected)
{
	const char *comm = expected->mark->comm;
	struct utsname uts;
	char process[64], kernel[sizeof(uts)];
	int ret;

	*environment = (struct memledger_environment){
		.time_ns = now(CLOCK_BOOTTIME),
		.realtime_ns = now(CLOCK_REALTIME),
	};
	uname(&uts);
	snprintf(process, sizeof(process), "%.32s [%d]", comm ? comm : "",
		 expected->place->pid);
	snprintf(kernel, sizeof(kernel), "%s %s", uts.release, uts.machine);
	ret = memledger_environment_add(environment, "process", process);
	ret |= memledger_environment_add(environment, "kernel", kernel);
	ret |= memledger_environment_add(environment, "source",
					 expected->mark->source);
	ret |= memledger_environment_add(environment, "tool",
					 MEMLEDGER_VERSION);
	return ret;
}

static int write_items(struct memledger_journal *journal,
		       const struct memledger_retained_list *list,
		       const struct memledger_environment *environment,
		       struct memledger_error *error)
{
	size_t i;
	int ret = memledger_journal_begin(journal, environment, error);

	for (i = 0; i < list->nr && !ret; i++)
		ret = memledger_journal_add_retained(journal, &list->item[i],
						     error);
	return ret;
}

/**
 * memledger_retained_record - add what has not been released to a recording
 * @list: what has not been
 * @expected: what should have been
 * @path: the recording; it is made if it is not there
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_retained_record(const struct memledger_retained_list *list,
			      const struct memledger_expected *expected,
			      const char *path, struct memledger_error *error)
{
	struct memledger_environment environment;
	struct memledger_journal journal;
	struct memledger_error ignored;
	int ret = describe(&environment, expected);

	if (ret)
		memledger_error_set(error, "no memory");
	else
		ret = memledger_journal_open(&journal, path, error);
	if (!ret) {
		ret = write_items(&journal, list, &environment, error);
		if (memledger_journal_close(&journal, ret ? &ignored : error))
			ret = -1;
	}
	memledger_environment_free(&environment);
	return ret ? -1 : 0;
}
