// SPDX-License-Identifier: GPL-2.0-only
/*
 * memledger: what a process uses memory for, as dumpsys meminfo shows it, of a
 * running process or of a saved smaps text:
 *
 *	memledger meminfo PID|NAME
 *	memledger smaps FILE|-
 *	memledger unknown PID|NAME|FILE|-
 *	memledger explain PID|NAME|FILE|- [ROW]
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "explain.h"
#include "subject.h"
#include "unknown.h"

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

/* Options that not every command takes. */
#define TAKES_TABLE	0x1	/* -a, -d, -s */
#define TAKES_CHECKIN	0x2
#define TAKES_BY	0x4
#define TAKES_TOP	0x8

/* What the command line asks for. */
struct options {
	unsigned int given;	/* TAKES_* */
	unsigned int table_flags;
	enum memledger_unknown_by by;
	u32 top;		/* 0: all */
	const char *row;	/* NULL: not given */
	enum format format;
	const char *profile;	/* NULL: not given */
	const char *sysfs;
};

static const char usage[] =
"Usage: memledger meminfo PID|NAME [OPTION]...\n"
"       memledger smaps FILE|- [OPTION]...\n"
"       memledger unknown PID|NAME|FILE|- [OPTION]...\n"
"       memledger explain PID|NAME|FILE|- [ROW] [OPTION]...\n"
"       memledger help\n"
"\n"
"What a process uses memory for, in the rows of Android's dumpsys meminfo.\n"
"\n"
"  meminfo   the table, of a running process\n"
"  smaps     the table, of a saved text\n"
"  unknown   what the row Unknown is made of\n"
"  explain   what is in a row, or in each, and by which rule\n"
"\n"
"  PID|NAME  a running process, measured by the kernel module; NAME is its\n"
"            comm, its first argument, or the last part of that\n"
"  FILE|-    a saved copy of /proc/PID/smaps; - is standard input\n"
"  ROW       native_heap or \"Native Heap\", and so on\n"
"\n"
"meminfo and smaps:\n"
"  -a, --all          all columns, and what -d adds\n"
"  -d, --dalvik       the details of the Dalvik rows\n"
"  -s, --summary      the App Summary alone\n"
"      --checkin      one line of comma-separated values, as dumpsys has it\n"
"unknown:\n"
"      --by WHAT      class (the usual), name, or owner: who mapped it\n"
"unknown and explain:\n"
"      --top N        the N largest, and the sum of the others\n"
"All:\n"
"      --json         every number, in bytes, as JSON\n"
"      --profile P    rules of another Android release: android10, android11\n"
"                     (11 to 15 QPR1), android16 (15 QPR2 and 16), android17;\n"
"                     of a running process it is the kernel module's for that\n"
"                     moment\n"
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
}

static int finish(struct memledger_subject *subject)
{
	if (!subject->report.complete)
		fail("the walk had to stop early, so that the numbers are too small: try again");
	memledger_subject_free(subject);
	return EXIT_OK;
}

static int command_meminfo(const char *process, const struct options *options)
{
	struct memledger_subject subject;
	struct memledger_error error;

	if (memledger_subject_read_process(&subject, process, options->profile,
					   options->sysfs, NULL, &error))
		return fail(error.text);
	print_report(&subject.report, options);
	return finish(&subject);
}

static int command_smaps(const char *path, const struct options *options)
{
	struct memledger_subject subject;
	struct memledger_error error;

	if (memledger_subject_read_text(&subject, path, options->profile,
					&error))
		return fail(error.text);
	print_report(&subject.report, options);
	return finish(&subject);
}

/* Of a running process with the file of debugfs that has what is wanted. */
static int read_either(struct memledger_subject *subject, const char *operand,
		       const struct options *options, const char *file,
		       struct memledger_error *error)
{
	if (memledger_subject_is_text(operand))
		return memledger_subject_read_text(subject, operand,
						   options->profile, error);
	return memledger_subject_read_process(subject, operand,
					      options->profile, options->sysfs,
					      file, error);
}

static int command_unknown(const char *operand, const struct options *options)
{
	const char *file = memledger_unknown_file(options->by);
	struct memledger_subject subject;
	struct memledger_error error;

	if (read_either(&subject, operand, options, file, &error))
		return fail(error.text);
	if (memledger_unknown_print(stdout, &subject, options->by,
				    options->top,
				    options->format == FORMAT_JSON, &error)) {
		memledger_subject_free(&subject);
		return fail(error.text);
	}
	return finish(&subject);
}

static int fail_row(const char *row)
{
	unsigned int i;

	fprintf(stderr, "memledger: there is no row \"%s\"; the rows are", row);
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
		fprintf(stderr, "%s %s", i ? "," : "",
			memledger_category_names[i]);
	fputs("\n", stderr);
	return fail_usage();
}

static int command_explain(const char *operand, const struct options *options)
{
	enum memledger_category category = MEMLEDGER_EXPLAIN_ALL;
	struct memledger_subject subject;
	struct memledger_error error;

	if (options->row &&
	    !memledger_explain_parse_row(options->row, &category))
		return fail_row(options->row);
	if (read_either(&subject, operand, options, "vmas", &error))
		return fail(error.text);
	if (memledger_explain_print(stdout, &subject, category, options->top,
				    options->format == FORMAT_JSON, &error)) {
		memledger_subject_free(&subject);
		return fail(error.text);
	}
	return finish(&subject);
}

static bool parse_top(const char *text, u32 *top)
{
	unsigned long number;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	number = strtoul(text, NULL, 10);
	*top = errno || number > UINT32_MAX ? UINT32_MAX : number;
	return *top;
}

/* Return: -1 to go on, else what to exit with. */
static int parse_options(int argc, char **argv, struct options *options)
{
	enum { CHECKIN = 256, JSON, BY, TOP, PROFILE, SYSFS };
	static const struct option long_options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "dalvik", no_argument, NULL, 'd' },
		{ "summary", no_argument, NULL, 's' },
		{ "checkin", no_argument, NULL, CHECKIN },
		{ "json", no_argument, NULL, JSON },
		{ "by", required_argument, NULL, BY },
		{ "top", required_argument, NULL, TOP },
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
			options->given |= TAKES_TABLE;
			options->table_flags |= MEMLEDGER_TABLE_FULL |
						MEMLEDGER_TABLE_DALVIK;
			break;
		case 'd':
			options->given |= TAKES_TABLE;
			options->table_flags |= MEMLEDGER_TABLE_DALVIK;
			break;
		case 's':
			options->given |= TAKES_TABLE;
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
			if (option == CHECKIN)
				options->given |= TAKES_CHECKIN;
			break;
		case BY:
			options->given |= TAKES_BY;
			if (!memledger_unknown_by_parse(optarg,
							&options->by)) {
				fail("--by takes class, name or owner");
				return fail_usage();
			}
			break;
		case TOP:
			options->given |= TAKES_TOP;
			if (!parse_top(optarg, &options->top)) {
				fail("--top takes a number from 1 on");
				return fail_usage();
			}
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

struct command {
	const char *name;
	const char *operand;
	bool row;		/* takes a second operand */
	unsigned int takes;	/* TAKES_* */
	int (*run)(const char *operand, const struct options *options);
};

static int run_command(const struct command *command, int nr, char **operands,
		       struct options *options)
{
	if (nr < 1 || nr > 1 + command->row || !*operands[0]) {
		fprintf(stderr, "memledger: %s needs one %s\n", command->name,
			command->operand);
		return fail_usage();
	}
	if (options->given & ~command->takes) {
		fprintf(stderr, "memledger: %s does not take such options\n",
			command->name);
		return fail_usage();
	}
	options->row = nr > 1 ? operands[1] : NULL;
	return command->run(operands[0], options);
}

static int run(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "meminfo", "PID or NAME", false,
		  TAKES_TABLE | TAKES_CHECKIN, command_meminfo },
		{ "smaps", "FILE or -", false,
		  TAKES_TABLE | TAKES_CHECKIN, command_smaps },
		{ "unknown", "PID, NAME, FILE or -", false,
		  TAKES_BY | TAKES_TOP, command_unknown },
		{ "explain", "PID, NAME, FILE or -, and at most one ROW", true,
		  TAKES_TOP, command_explain },
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
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return run_command(&commands[i], argc - optind,
					   argv + optind, &options);
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
