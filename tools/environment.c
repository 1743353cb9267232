// SPDX-License-Identifier: GPL-2.0-only
/*
 * The running kernel and its module in; in words where numbers come from, and
 * what they cannot tell, out.
 */
#include <dirent.h>
#include <sys/utsname.h>
#include <time.h>

#include "command.h"
#include "journal.h"
#include "module.h"
#include "report.h"

/**
 * memledger_environment_add - add a pair of words
 * @environment: to which
 * @key: what it is about
 * @value: what there is to say of it
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_environment_add(struct memledger_environment *environment,
			      const char *key, const char *value)
{
	size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
	char *more = realloc(environment->pairs,
			     environment->len + key_size + value_size);

	if (!more)
		return -ENOMEM;
	environment->pairs = more;
	memcpy(more + environment->len, key, key_size);
	memcpy(more + environment->len + key_size, value, value_size);
	environment->len += key_size + value_size;
	return 0;
}

/**
 * memledger_environment_next - go through the pairs of words
 * @environment: whose
 * @key: the last one, as this returned it; NULL to begin
 * @value: gets what there is to say
 *
 * Return: the next key, NULL after the last.
 */
const char *
memledger_environment_next(const struct memledger_environment *environment,
			   const char *key, const char **value)
{
	const char *end = environment->pairs + environment->len;

	key = key ? *value + strlen(*value) + 1 : environment->pairs;
	if (!key || key >= end)
		return NULL;
	*value = key + strlen(key) + 1;
	return *value < end ? key : NULL;
}

/* A word to a list of them. */
static void append_word(char *list, size_t size, const char *word)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? ", " : "", word);
}

/* What the kernel at hand does not have, by the names of the module's files. */
static void list_missing(const struct memledger_module *module, char *list,
			 size_t size)
{
	char path[512];
	struct dirent *entry;
	DIR *dir;

	*list = '\0';
	snprintf(path, sizeof(path), "%s/kernel/memledger/features",
		 module->sysfs);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		u64 has;

		snprintf(path, sizeof(path), "features/%.64s", entry->d_name);
		if (entry->d_name[0] != '.' &&
		    !memledger_module_read_number(module, path, &has) && !has)
			append_word(list, size, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void list_unavailable(const struct memledger_record *record, char *list,
			     size_t size)
{
	const struct memledger_report report = {
		.unavailable = record->unavailable,
	};
	const char *name;
	unsigned int i;

	*list = '\0';
	for (i = 0; (name = memledger_report_unavailable(&report, i)); i++)
		append_word(list, size, name);
}

/* Values of the module's files, where they have one. */
static const struct {
	const char *key;
	const char *file;
} settings[] = {
	{ "pss_method", "pss_method" },
	{ "gpu_provider", "gpu/provider" },
	{ "max_age_ms", "max_age_ms" },
};

/* Return: 0, or non-zero without memory. */
static int add_settings(struct memledger_environment *environment,
			const struct memledger_module *module)
{
	char value[256];
	size_t i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (!memledger_module_read(module, settings[i].file, value,
					   sizeof(value)))
			ret |= memledger_environment_add(environment,
							 settings[i].key,
							 value);
	return ret;
}

static u64 now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/**
 * memledger_environment_take - describe where a record comes from
 * @environment: what to fill; to be freed, also where this fails
 * @sysfs: where sysfs is mounted
 * @record: the record
 *
 * Return: 0, or -ENOMEM.
 */
int memledger_environment_take(struct memledger_environment *environment,
			       const char *sysfs,
			       const struct memledger_record *record)
{
	struct memledger_error ignored;
	const struct memledger_module module = { sysfs, &ignored };
	char number[32], process[64], source[512];
	char kernel[sizeof(struct utsname)], missing[1024], unavailable[512];
	struct utsname uts;
	int ret;

	*environment = (struct memledger_environment){
		.time_ns = now(CLOCK_BOOTTIME),
		.realtime_ns = now(CLOCK_REALTIME),
	};
	uname(&uts);
	snprintf(kernel, sizeof(kernel), "%s %s", uts.release, uts.machine);
	snprintf(number, sizeof(number), "%u", record->page_size);
	snprintf(process, sizeof(process), "%s [%d]", record->comm,
		 record->tgid);
	snprintf(source, sizeof(source),
		 "%s/kernel/memledger/processes/%d/record", sysfs,
		 record->tgid);
	list_missing(&module, missing, sizeof(missing));
	list_unavailable(record, unavailable, sizeof(unavailable));

	ret = memledger_environment_add(environment, "process", process);
	ret |= memledger_environment_add(environment, "kernel", kernel);
	ret |= memledger_environment_add(environment, "page_size", number);
	ret |= memledger_environment_add(environment, "profile",
					 record->profile);
	ret |= memledger_environment_add(environment, "imported_rule",
					 memledger_imported_rule_names[record->imported_rule]);
	ret |= memledger_environment_add(environment, "source", source);
	ret |= memledger_environment_add(environment, "unavailable",
					 *unavailable ? unavailable : "none");
	ret |= memledger_environment_add(environment, "features_off",
					 *missing ? missing : "none");
	ret |= add_settings(environment, &module);
	ret |= memledger_environment_add(environment, "tool",
					 MEMLEDGER_VERSION);
	return ret ? -ENOMEM : 0;
}
