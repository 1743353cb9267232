// SPDX-License-Identifier: GPL-2.0-only
/*
 * memledger: what a process uses memory for, as dumpsys meminfo shows it, of a
 * running process or of a saved smaps text:
 *
 *	memledger meminfo PID|NAME
 *	memledger smaps FILE|-
 *	memledger unknown PID|NAME|FILE|-
 *	memledger explain PID|NAME|FILE|- [ROW]
 *
 * what it, or the system, has of graphics memory:
 *
 *	memledger gpu PID|NAME
 *	memledger dmabuf [PID|NAME]
 *	memledger gpumem
 *
 * how that has changed (marks_cli.c):
 *
 *	memledger mark PID|NAME
 *	memledger diff PID|NAME
 *	memledger diff FILE FILE
 *	memledger watch PID|NAME
 *
 * what all processes have (system_cli.c):
 *
 *	memledger meminfo
 *	memledger procrank
 *	memledger librank
 *	memledger top
 *	memledger showmap PID|NAME|FILE|-
 *
 * and what a process has over time (record_cli.c):
 *
 *	memledger record PID|NAME -o FILE
 *	memledger export FILE --chrome|--csv
 *	memledger report FILE -o OUT
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "command.h"
#include "privileges.h"
#include "dmabuf_live.h"
#include "explain.h"
#include "gpu.h"
#include "gpumem.h"
#include "marks_cli.h"
#include "record_cli.h"
#include "subject.h"
#include "system_cli.h"
#include "unknown.h"

enum format {
	FORMAT_TABLE,
	FORMAT_CHECKIN,
	FORMAT_CSV,
	FORMAT_JSON,
};

/* Options that not every command takes. */
#define TAKES_TABLE	0x1	/* -d, -s */
#define TAKES_CHECKIN	0x2
#define TAKES_BY	0x4
#define TAKES_TOP	0x8
#define TAKES_ALL	0x10	/* -a */
#define TAKES_BUFFERS	0x20	/* -b */
#define TAKES_CSV	0x40	/* -o, --csv */
#define TAKES_ENTRIES	0x80
#define TAKES_PROC	0x100
#define TAKES_PROFILE	0x200

/* What the command line asks for. */
struct options {
	unsigned int given;	/* TAKES_* */
	unsigned int table_flags;
	const char *by;		/* NULL: not given */
	u32 top;		/* 0: all */
	const char *row;	/* NULL: not given */
	enum format format;
	const char *profile;	/* NULL: not given */
	const char *sysfs;
	const char *proc;
};

static const char usage[] =
"Usage: memledger meminfo [PID|NAME] [OPTION]...\n"
"       memledger smaps FILE|- [OPTION]...\n"
"       memledger unknown PID|NAME|FILE|- [OPTION]...\n"
"       memledger explain PID|NAME|FILE|- [ROW] [OPTION]...\n"
"       memledger gpu PID|NAME [OPTION]...\n"
"       memledger dmabuf [PID|NAME] [OPTION]...\n"
"       memledger gpumem [OPTION]...\n"
"       memledger system|procrank|librank|top [OPTION]...\n"
"       memledger showmap PID|NAME|FILE|- [OPTION]...\n"
"       memledger mark|diff|watch PID|NAME [OPTION]...\n"
"       memledger diff FILE FILE [OPTION]...\n"
"       memledger record PID|NAME -o FILE [OPTION]...\n"
"       memledger export FILE --chrome|--csv [-o FILE]\n"
"       memledger report FILE -o FILE\n"
"       memledger help\n"
"\n"
"What a process uses memory for, in the rows of Android's dumpsys meminfo, and\n"
"what it has of graphics memory.\n"
"\n"
"  meminfo   the table, of a running process; without one the same as system\n"
"  smaps     the table, of a saved text\n"
"  unknown   what the row Unknown is made of\n"
"  explain   what is in a row, or in each, and by which rule\n"
"  gpu       graphics memory of a process: what its GPU driver, DMA-BUFs and DRM\n"
"            drivers (fdinfo) tell, each apart\n"
"  dmabuf    DMA-BUFs and who holds them, as dmabuf_dump prints them\n"
"  gpumem    GPU memory of all processes, as dumpsys gpu --gpumem prints it\n"
"  system    all processes by size, by OOM adjustment and by category, and where\n"
"            all RAM has gone, as dumpsys meminfo without a process\n"
"  procrank  all processes by size, as procrank\n"
"  librank   all files and names that are mapped, and by whom, as librank\n"
"  top       all processes by size, or by a category, again and again\n"
"  showmap   all mappings of a process, as showmap\n"
"  mark      save all that a process has, to compare with later\n"
"  diff      what has changed since the last mark, or between two files: marks,\n"
"            or what --json of meminfo, unknown --by name, dmabuf and gpu prints\n"
"  watch     a process round after round: does it grow, how fast, and what of it\n"
"  record    samples of a process into a file, and whether it grows\n"
"  export    a recording for Perfetto's UI, or as CSV\n"
"  report    a recording as one page for a browser\n"
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
"gpu:\n"
"      --entries      the GPU driver's entries, one by one\n"
"      --proc DIR     where proc is mounted (/proc)\n"
"dmabuf:\n"
"      --by WHAT      process (the usual), buffer, or exporter\n"
"  -b, --per-buffer   the same as --by buffer\n"
"  -a, --all          a grid: buffers down, processes across\n"
"  -o raw|csv, --csv  as dmabuf_dump has it\n";

/* Behind what memledger_system_usage says. */
static const char usage_of_all[] =
"All that are about one process, but gpu and dmabuf:\n"
"      --profile P    rules of another Android release: android10, android11\n"
"                     (11 to 15 QPR1), android16 (15 QPR2 and 16), android17;\n"
"                     of a running process it is the kernel module's for that\n"
"                     moment\n"
"All:\n"
"      --json         every number, in bytes, as JSON\n"
"      --sysfs DIR    where sysfs is mounted (/sys)\n"
"  -h, --help         print this\n"
"  -V, --version      print the version\n"
"\n"
"Tables, --checkin and --csv are in kB of 1024 bytes where they do not say bytes,\n"
"as in dumpsys; gpumem is in bytes.\n"
"Exit status: 0; 1 if it could not be done; 2 if the command line is wrong.\n";

static void print_usage(void)
{
	fputs(usage, stdout);
	fputs(memledger_system_usage, stdout);
	fputs(memledger_marks_usage, stdout);
	fputs(memledger_record_usage, stdout);
	fputs(usage_of_all, stdout);
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
	case FORMAT_CSV:	/* not for reports */
		break;
	}
}

static int finish(struct memledger_subject *subject)
{
	if (!subject->report.complete)
		memledger_fail("the walk had to stop early; the numbers are too small: try again");
	memledger_subject_free(subject);
	return EXIT_OK;
}

static int command_meminfo(const char *process, const struct options *options)
{
	struct memledger_subject subject;
	struct memledger_error error;

	if (!process && options->given & ~TAKES_PROC)
		return memledger_fail_option("without a PID or NAME meminfo takes no such options");
	if (!process)
		return memledger_system_show(options->sysfs, options->proc,
					     options->format == FORMAT_JSON);
	if (memledger_subject_read_process(&subject, process, options->profile,
					   options->sysfs, options->proc, NULL,
					   &error))
		return memledger_fail(error.text);
	print_report(&subject.report, options);
	return finish(&subject);
}

static int command_smaps(const char *path, const struct options *options)
{
	struct memledger_subject subject;
	struct memledger_error error;

	if (memledger_subject_read_text(&subject, path, options->profile,
					&error))
		return memledger_fail(error.text);
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
					      options->proc, file, error);
}

static int command_unknown(const char *operand, const struct options *options)
{
	enum memledger_unknown_by by = MEMLEDGER_UNKNOWN_BY_CLASS;
	struct memledger_subject subject;
	struct memledger_error error;
	const char *file;

	if (options->by && !memledger_unknown_by_parse(options->by, &by))
		return memledger_fail_option("--by takes class, name or owner");
	file = memledger_unknown_file(by);
	if (read_either(&subject, operand, options, file, &error))
		return memledger_fail(error.text);
	if (memledger_unknown_print(stdout, &subject, by, options->top,
				    options->format == FORMAT_JSON, &error)) {
		memledger_subject_free(&subject);
		return memledger_fail(error.text);
	}
	return finish(&subject);
}

static int fail_row(const char *row)
{
	unsigned int i;

	fputs("memledger: there is no row \"", stderr);
	memledger_print_error(row);
	fputs("\"; the rows are", stderr);
	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
		fprintf(stderr, "%s %s", i ? "," : "",
			memledger_category_names[i]);
	fputs("\n", stderr);
	return memledger_fail_usage();
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
		return memledger_fail(error.text);
	if (memledger_explain_print(stdout, &subject, category, options->top,
				    options->format == FORMAT_JSON, &error)) {
		memledger_subject_free(&subject);
		return memledger_fail(error.text);
	}
	return finish(&subject);
}

static const char incomplete[] =
	"not everything could be seen, so that the numbers are too small: try again";

static int command_gpu(const char *process, const struct options *options)
{
	bool entries = options->given & TAKES_ENTRIES;
	bool json = options->format == FORMAT_JSON;
	struct memledger_gpu gpu;
	struct memledger_error error;
	int ret = EXIT_OK;
	pid_t pid;

	if (memledger_subject_find(process, options->proc, &pid, &error))
		return memledger_fail(error.text);
	if (memledger_gpu_read(&gpu, options->sysfs, options->proc, pid,
			       &error)) {
		ret = memledger_fail(error.text);
	} else if (entries && !gpu.details && !json) {
		ret = memledger_fail(gpu.why);
	} else {
		if (json)
			memledger_gpu_print_json(stdout, &gpu);
		else
			memledger_gpu_print(stdout, &gpu, entries);
		if (!memledger_gpu_complete(&gpu))
			memledger_fail(incomplete);
	}
	memledger_gpu_free(&gpu);
	return ret;
}

/* Return: whether the options agree. */
static bool parse_dmabuf_by(const struct options *options,
			    enum memledger_dmabuf_by *by)
{
	unsigned int ways = options->given &
			    (TAKES_BY | TAKES_ALL | TAKES_BUFFERS);

	*by = MEMLEDGER_DMABUF_BY_PROCESS;
	if (ways & (ways - 1)) {
		memledger_fail("-a, -b and --by exclude each other");
		return false;
	}
	if (ways == TAKES_ALL)
		*by = MEMLEDGER_DMABUF_GRID;
	if (ways == TAKES_BUFFERS)
		*by = MEMLEDGER_DMABUF_BY_BUFFER;
	if (ways == TAKES_BY &&
	    !memledger_dmabuf_by_parse(options->by, by)) {
		memledger_fail("--by takes process, buffer or exporter");
		return false;
	}
	return true;
}

static int command_dmabuf(const char *process, const struct options *options)
{
	struct memledger_dmabuf_live dmabuf;
	struct memledger_error error;
	enum memledger_dmabuf_by by;
	int ret = EXIT_OK;
	pid_t pid = -1;

	if (!parse_dmabuf_by(options, &by))
		return memledger_fail_usage();
	if (process && memledger_subject_find(process, options->proc, &pid, &error))
		return memledger_fail(error.text);
	if (memledger_dmabuf_live_read(&dmabuf, options->sysfs, pid, &error)) {
		ret = memledger_fail(error.text);
	} else {
		if (options->format == FORMAT_JSON)
			memledger_dmabuf_print_json(stdout, &dmabuf.listing);
		else
			memledger_dmabuf_print(stdout, &dmabuf.listing, by,
					       options->format == FORMAT_CSV);
		if (!dmabuf.listing.dmabufs.complete)
			memledger_fail(incomplete);
	}
	memledger_dmabuf_live_free(&dmabuf);
	return ret;
}

static int command_gpumem(const char *operand, const struct options *options)
{
	struct memledger_error error;
	const struct memledger_module module = { options->sysfs, &error };
	struct utsname uts;
	char source[512];
	char *text;
	int ret;

	(void)operand;
	if (memledger_module_check(&module) ||
	    memledger_gpumem_read_text(&module, &text))
		return memledger_fail(error.text);
	uname(&uts);
	snprintf(source, sizeof(source), "%s/kernel/debug/memledger/gpumem",
		 options->sysfs);
	ret = memledger_gpumem_print(stdout, text, source, uts.release,
				     options->format == FORMAT_JSON, &error);
	free(text);
	return ret ? memledger_fail(error.text) : EXIT_OK;
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

static bool set_format(struct options *options, enum format format)
{
	if (options->format && options->format != format) {
		memledger_fail("--checkin, --csv and --json exclude each other");
		return false;
	}
	options->format = format;
	return true;
}

/* Return: -1 to go on, else what to exit with. */
static int parse_options(int argc, char **argv, struct options *options)
{
	enum { CHECKIN = 256, CSV, JSON, BY, TOP, ENTRIES, PROFILE, SYSFS,
	       PROC };
	static const struct option long_options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "dalvik", no_argument, NULL, 'd' },
		{ "summary", no_argument, NULL, 's' },
		{ "per-buffer", no_argument, NULL, 'b' },
		{ "checkin", no_argument, NULL, CHECKIN },
		{ "csv", no_argument, NULL, CSV },
		{ "json", no_argument, NULL, JSON },
		{ "by", required_argument, NULL, BY },
		{ "top", required_argument, NULL, TOP },
		{ "entries", no_argument, NULL, ENTRIES },
		{ "profile", required_argument, NULL, PROFILE },
		{ "sysfs", required_argument, NULL, SYSFS },
		{ "proc", required_argument, NULL, PROC },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "abdo:shV", long_options,
				     NULL)) != -1) {
		switch (option) {
		case 'a':
			options->given |= TAKES_ALL;
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
		case 'b':
			options->given |= TAKES_BUFFERS;
			break;
		case 'o':
			options->given |= TAKES_CSV;
			if (!strcmp(optarg, "raw"))
				break;
			if (strcmp(optarg, "csv"))
				return memledger_fail_option("-o takes raw or csv");
			if (!set_format(options, FORMAT_CSV))
				return memledger_fail_usage();
			break;
		case CSV:
			options->given |= TAKES_CSV;
			if (!set_format(options, FORMAT_CSV))
				return memledger_fail_usage();
			break;
		case CHECKIN:
			options->given |= TAKES_CHECKIN;
			if (!set_format(options, FORMAT_CHECKIN))
				return memledger_fail_usage();
			break;
		case JSON:
			if (!set_format(options, FORMAT_JSON))
				return memledger_fail_usage();
			break;
		case BY:
			options->given |= TAKES_BY;
			options->by = optarg;
			break;
		case ENTRIES:
			options->given |= TAKES_ENTRIES;
			break;
		case TOP:
			options->given |= TAKES_TOP;
			if (!parse_top(optarg, &options->top))
				return memledger_fail_option("--top takes a number from 1 on");
			break;
		case PROFILE:
			if (!memledger_profile_find(optarg))
				return memledger_fail_option("there is no such profile");
			options->given |= TAKES_PROFILE;
			options->profile = optarg;
			break;
		case SYSFS:
			options->sysfs = optarg;
			break;
		case PROC:
			options->given |= TAKES_PROC;
			options->proc = optarg;
			break;
		case 'h':
			print_usage();
			return EXIT_OK;
		case 'V':
			printf("memledger %s (ABI %d)\n", MEMLEDGER_VERSION,
			       MEMLEDGER_ABI_VERSION);
			return EXIT_OK;
		default:
			return memledger_fail_usage();
		}
	}
	return -1;
}

struct command {
	const char *name;
	const char *operands;	/* that it takes, in words */
	int min;		/* how many */
	int max;
	unsigned int takes;	/* TAKES_* */
	int (*run)(const char *operand, const struct options *options);
};

static int run_command(const struct command *command, int nr, char **operands,
		       struct options *options)
{
	if (nr < command->min || nr > command->max || (nr && !*operands[0])) {
		fprintf(stderr, "memledger: %s needs %s\n", command->name,
			command->operands);
		return memledger_fail_usage();
	}
	if (options->given & ~command->takes) {
		fprintf(stderr, "memledger: %s does not take such options\n",
			command->name);
		return memledger_fail_usage();
	}
	options->row = nr > 1 ? operands[1] : NULL;
	return command->run(nr ? operands[0] : NULL, options);
}

static int run(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "meminfo", "at most one PID or NAME", 0, 1,
		  TAKES_TABLE | TAKES_ALL | TAKES_CHECKIN | TAKES_PROFILE |
		  TAKES_PROC, command_meminfo },
		{ "smaps", "one FILE or -", 1, 1,
		  TAKES_TABLE | TAKES_ALL | TAKES_CHECKIN | TAKES_PROFILE,
		  command_smaps },
		{ "unknown", "one PID, NAME, FILE or -", 1, 1,
		  TAKES_BY | TAKES_TOP | TAKES_PROFILE, command_unknown },
		{ "explain", "one PID, NAME, FILE or -, and at most one ROW",
		  1, 2, TAKES_TOP | TAKES_PROFILE, command_explain },
		{ "gpu", "one PID or NAME", 1, 1, TAKES_ENTRIES | TAKES_PROC,
		  command_gpu },
		{ "dmabuf", "at most one PID or NAME", 0, 1,
		  TAKES_BY | TAKES_ALL | TAKES_BUFFERS | TAKES_CSV,
		  command_dmabuf },
		{ "gpumem", "nothing else", 0, 0, 0, command_gpumem },
	};
	struct options options = { .sysfs = "/sys", .proc = "/proc" };
	const char *name;
	unsigned int i;
	int ret;

	/* These have options that mean something else in others. */
	if (argc > 1 && memledger_system_is_command(argv[1]))
		return memledger_system_command(argc - 1, argv + 1);
	if (argc > 1 && memledger_marks_is_command(argv[1]))
		return memledger_marks_command(argc - 1, argv + 1);
	if (argc > 1 && memledger_record_is_command(argv[1]))
		return memledger_record_command(argc - 1, argv + 1);
	ret = parse_options(argc, argv, &options);
	if (ret >= 0)
		return ret;

	name = optind < argc ? argv[optind++] : "";
	if (!strcmp(name, "help")) {
		print_usage();
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return run_command(&commands[i], argc - optind,
					   argv + optind, &options);
	if (memledger_system_is_command(name) ||
	    memledger_marks_is_command(name) ||
	    memledger_record_is_command(name))
		return memledger_fail_option("options of this command stand behind it");
	return memledger_fail_option(*name ? "there is no such command" :
				     "no command given");
}

int main(int argc, char **argv)
{
	int ret;

	memledger_privileges_drop(argc > 1 &&
				  (memledger_marks_is_command(argv[1]) ||
				   memledger_record_is_command(argv[1])));
	ret = run(argc, argv);
	/* A full disk or a closed pipe must not look like success. */
	if ((fflush(stdout) || ferror(stdout)) && ret == EXIT_OK)
		return memledger_fail("cannot write the output");
	return ret;
}
