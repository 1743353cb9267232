// SPDX-License-Identifier: GPL-2.0-only
/*
 * memledger: what a process uses memory for, as dumpsys meminfo shows it, of a
 * running process or of a saved smaps text:
 *
 *	memledger meminfo PID|NAME
 *	memledger smaps FILE|-
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>

#include "escape.h"
#include "live.h"
#include "process.h"
#include "smaps.h"

#define VERSION		"0.1"

enum exit_code {
	EXIT_OK,
	EXIT_FAILED,
	EXIT_USAGE,
};

enum format {
	FORMAT_TABLE,
	FORMAT_CHECKIN,
	FORMAT_JSON,
};

/* What the command line asks for. */
struct options {
	unsigned int table_flags;
	enum format format;
	const char *profile;	/* NULL: not given */
	const char *sysfs;
};

static const char usage[] =
"Usage: memledger meminfo PID|NAME [OPTION]...\n"
"       memledger smaps FILE|- [OPTION]...\n"
"       memledger help\n"
"\n"
"What a process uses memory for, in the rows of Android's dumpsys meminfo.\n"
"\n"
"  meminfo PID|NAME   a running process, measured by the kernel module; NAME is\n"
"                     its comm, its first argument, or the last part of that\n"
"  smaps FILE|-       a saved copy of /proc/PID/smaps; - is standard input\n"
"\n"
"  -a, --all          all columns, and what -d adds\n"
"  -d, --dalvik       the details of the Dalvik rows\n"
"  -s, --summary      the App Summary alone\n"
"      --checkin      one line of comma-separated values, as dumpsys has it\n"
"      --json         every number, in bytes, as JSON\n"
"      --profile P    rules of another Android release: android10, android11\n"
"                     (11 to 15 QPR1), android16 (15 QPR2 and 16), android17;\n"
"                     with meminfo it is the kernel module's for that moment\n"
"      --sysfs DIR    where sysfs is mounted (/sys)\n"
"  -h, --help         print this\n"
"  -V, --version      print the version\n"
"\n"
"Tables and --checkin are in kB of 1024 bytes, as in dumpsys.\n"
"Exit status: 0; 1 if it could not be done; 2 if the command line is wrong.\n";

static int fail(const char *text)
{
	fprintf(stderr, "memledger: %s\n", text);
	return EXIT_FAILED;
}

static int fail_usage(void)
{
	fputs("Try 'memledger help'.\n", stderr);
	return EXIT_USAGE;
}

static void print_report(const struct memledger_report *report,
			 const struct options *options)
{
	switch (options->format) {
	case FORMAT_TABLE:
		memledger_report_print_table(stdout, report,
					     options->table_flags);
		break;
	case FORMAT_CHECKIN:
		memledger_report_print_checkin(stdout, report);
		break;
	case FORMAT_JSON:
		memledger_report_print_json(stdout, report);
		break;
	}
	if (!report->complete)
		fail("the walk had to stop early, so that the numbers are too small: try again");
}

static bool parse_pid(const char *text, pid_t *pid)
{
	long number;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	number = strtol(text, NULL, 10);
	/* What no process can have for a number is for the module to refuse. */
	*pid = errno || number > INT_MAX ? INT_MAX : number;
	return *pid > 0;
}

static int command_meminfo(const char *process, const struct options *options)
{
	struct memledger_error error;
	struct memledger_live live;
	pid_t pid;

	if (!parse_pid(process, &pid) &&
	    memledger_process_find(process, &pid, &error))
		return fail(error.text);
	if (memledger_live_read(options->sysfs, pid, options->profile, &live,
				&error))
		return fail(error.text);
	print_report(&live.report, options);
	return EXIT_OK;
}

static int command_smaps(const char *path, const struct options *options)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "standard input" : path;
	const char *profile = options->profile ? options->profile :
						 MEMLEDGER_DEFAULT_PROFILE;
	struct memledger_report report;
	struct memledger_error error;
	char *shown;
	FILE *file;
	int ret;

	shown = memledger_escape_text(name, "");
	if (!shown)
		return fail("no memory");
	file = is_stdin ? stdin : fopen(path, "re");
	if (!file) {
		memledger_error_set(&error, "%s: %s", shown, strerror(errno));
		free(shown);
		return fail(error.text);
	}
	ret = memledger_smaps_read(file, shown, memledger_profile_find(profile),
				   &report, &error);
	if (!is_stdin)
		fclose(file);
	free(shown);
	if (ret)
		return fail(error.text);
	report.source = name;
	print_report(&report, options);
	return EXIT_OK;
}

/* Return: -1 to go on, else what to exit with. */
static int parse_options(int argc, char **argv, struct options *options)
{
	enum { CHECKIN = 256, JSON, PROFILE, SYSFS };
	static const struct option long_options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "dalvik", no_argument, NULL, 'd' },
		{ "summary", no_argument, NULL, 's' },
		{ "checkin", no_argument, NULL, CHECKIN },
		{ "json", no_argument, NULL, JSON },
		{ "profile", required_argument, NULL, PROFILE },
		{ "sysfs", required_argument, NULL, SYSFS },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	enum format format;
	int option;

	while ((option = getopt_long(argc, argv, "adshV", long_options,
				     NULL)) != -1) {
		switch (option) {
		case 'a':
			options->table_flags |= MEMLEDGER_TABLE_FULL |
						MEMLEDGER_TABLE_DALVIK;
			break;
		case 'd':
			options->table_flags |= MEMLEDGER_TABLE_DALVIK;
			break;
		case 's':
			options->table_flags |= MEMLEDGER_TABLE_SUMMARY_ONLY;
			break;
		case CHECKIN:
		case JSON:
			format = option == JSON ? FORMAT_JSON : FORMAT_CHECKIN;
			if (options->format && options->format != format) {
				fail("--checkin and --json exclude each other");
				return fail_usage();
			}
			options->format = format;
			break;
		case PROFILE:
			if (!memledger_profile_find(optarg)) {
				fail("there is no such profile");
				return fail_usage();
			}
			options->profile = optarg;
			break;
		case SYSFS:
			options->sysfs = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_OK;
		case 'V':
			printf("memledger %s (ABI %d)\n", VERSION,
			       MEMLEDGER_ABI_VERSION);
			return EXIT_OK;
		default:
			return fail_usage();
		}
	}
	return -1;
}

static int run(int argc, char **argv)
{
	static const struct {
		const char *name;
		const char *operand;
		int (*run)(const char *operand, const struct options *options);
	} commands[] = {
		{ "meminfo", "PID or NAME", command_meminfo },
		{ "smaps", "FILE or -", command_smaps },
	};
	struct options options = { .sysfs = "/sys" };
	const char *name;
	unsigned int i;
	int ret;

	ret = parse_options(argc, argv, &options);
	if (ret >= 0)
		return ret;

	name = optind < argc ? argv[optind++] : "";
	if (!strcmp(name, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name))
			continue;
		if (optind + 1 != argc || !*argv[optind]) {
			fprintf(stderr, "memledger: %s needs one %s\n", name,
				commands[i].operand);
			return fail_usage();
		}
		return commands[i].run(argv[optind], &options);
	}
	fail(*name ? "there is no such command" : "no command given");
	return fail_usage();
}

int main(int argc, char **argv)
{
	int ret = run(argc, argv);

	/* A full disk or a closed pipe must not look like success. */
	if ((fflush(stdout) || ferror(stdout)) && ret == EXIT_OK)
		return fail("cannot write the output");
	return ret;
}
