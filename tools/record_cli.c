// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of a command line in; a recording, or what is made of one, out:
 *
 *	memledger record PID|NAME -o FILE
 *	memledger export FILE --chrome|--csv [-o OUT]
 *	memledger report FILE -o OUT.html
 */
#include <getopt.h>

#include "command.h"
#include "escape.h"
#include "export.h"
#include "html_report.h"
#include "output.h"
#include "privileges.h"
#include "record_cli.h"
#include "recorder.h"
#include "subject.h"
#include "verdict.h"

const char memledger_record_usage[] =
"record:\n"
"  -o FILE            where to; samples are added to a recording that is there\n"
"      --every TIME   from one sample to the next: 500ms, 1s (the usual), 2m\n"
"      --rounds N     so many samples; else until the process exits, or Ctrl-C\n"
"      --names N      also the N largest names, by a second walk each time\n"
"      --buffers      also the DMA-BUFs that it holds, by exporter\n"
"                     SIGUSR1 makes a mark\n"
"export:\n"
"      --chrome       counters for Perfetto's UI, as Chrome's trace events\n"
"      --csv          a line for each sample, in bytes\n"
"      --names        with --csv: a line for each name in each sample\n"
"  -o FILE            where to, instead of standard output\n"
"report:\n"
"  -o FILE            where to: one page of HTML, which needs nothing else\n";

enum form {
	FORM_NONE,
	FORM_CHROME,
	FORM_CSV,
};

/* What a command line asks for. */
struct options {
	struct memledger_recorder_wanted record;
	enum form form;
	bool names;
	const char *sysfs;
	const char *proc;
};

struct command {
	const char *name;
	const char *operand;	/* that it needs, in words */
	const struct option *words;
	int (*run)(const char *operand, struct options *options);
};

enum word {
	WORD_EVERY = 256,
	WORD_ROUNDS,
	WORD_NAMES,
	WORD_BUFFERS,
	WORD_CHROME,
	WORD_CSV,
	WORD_CSV_NAMES,
	WORD_SYSFS,
	WORD_PROC,
};

static const struct option record_words[] = {
	{ "every", required_argument, NULL, WORD_EVERY },
	{ "rounds", required_argument, NULL, WORD_ROUNDS },
	{ "names", required_argument, NULL, WORD_NAMES },
	{ "buffers", no_argument, NULL, WORD_BUFFERS },
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "proc", required_argument, NULL, WORD_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct option export_words[] = {
	{ "chrome", no_argument, NULL, WORD_CHROME },
	{ "csv", no_argument, NULL, WORD_CSV },
	{ "names", no_argument, NULL, WORD_CSV_NAMES },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct option report_words[] = {
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* The file, up to what is torn; what is left out is told. */
static int read_recording(struct memledger_recording *recording,
			  const char *path, struct memledger_error *error)
{
	if (memledger_recording_read(recording, path, error))
		return -1;
	if (recording->dropped)
		fprintf(stderr,
			"memledger: %s: the last %llu bytes are left out: %s\n",
			path, recording->dropped, recording->damaged ?
			"they are damaged" : "a record that was cut short");
	if (!recording->samples.nr)
		return memledger_error_set(error, "%s: there is no sample in it",
					   path);
	return 0;
}

/* What there is to say of what was recorded; of too little, nothing. */
static int print_finding(const char *path, struct memledger_error *error)
{
	struct memledger_recording recording;
	struct memledger_finding finding = {};
	int ret = memledger_recording_read(&recording, path, error);

	if (!ret && memledger_finding_make(&finding, &recording.samples))
		ret = memledger_error_set(error, "no memory");
	if (!ret)
		memledger_finding_print(stdout, &finding);
	memledger_finding_free(&finding);
	memledger_recording_free(&recording);
	return ret;
}

static int run_record(const char *process, struct options *options)
{
	struct memledger_error error;
	u64 rounds = 0;
	pid_t pid;
	int ret;

	if (!options->record.path)
		return memledger_fail_option("record needs -o FILE");
	if (memledger_subject_find(process, options->proc, &pid, &error))
		return memledger_fail(error.text);
	ret = memledger_recorder_run(options->sysfs, options->proc, pid,
				     &options->record, &rounds, &error);
	if (rounds)
		printf("%llu samples of process %d recorded.\n", rounds, pid);
	if (ret || print_finding(options->record.path, &error))
		return memledger_fail(error.text);
	return EXIT_OK;
}

/* Reads a recording, and prints what @print makes of it. */
static int convert(const char *path, const char *to,
		   int (*print)(FILE *out,
				const struct memledger_recording *recording))
{
	struct memledger_recording recording;
	struct memledger_error error;
	struct memledger_output output;
	int ret;

	memledger_privileges_drop(to);
	ret = read_recording(&recording, path, &error);
	if (!ret)
		ret = memledger_output_open(&output, to, 0666, &error);
	if (!ret) {
		ret = print(output.file, &recording);
		if (ret)
			memledger_error_set(&error, "no memory");
		ret = memledger_output_close(&output, ret, &error);
	}
	memledger_recording_free(&recording);
	return ret ? memledger_fail(error.text) : EXIT_OK;
}

static int print_csv(FILE *out, const struct memledger_recording *recording)
{
	memledger_export_csv(out, recording);
	return 0;
}

static int print_names(FILE *out, const struct memledger_recording *recording)
{
	memledger_export_csv_names(out, recording);
	return 0;
}

static int print_chrome(FILE *out, const struct memledger_recording *recording)
{
	memledger_export_chrome(out, recording);
	return 0;
}

static int run_export(const char *path, struct options *options)
{
	if (options->names && options->form != FORM_CSV)
		return memledger_fail_option("--names goes with --csv");
	if (options->form == FORM_NONE)
		return memledger_fail_option("export needs --chrome or --csv");
	return convert(path, options->record.path,
		       options->form == FORM_CHROME ? print_chrome :
		       options->names ? print_names : print_csv);
}

static int run_report(const char *path, struct options *options)
{
	if (!options->record.path)
		return memledger_fail_option("report needs -o FILE");
	return convert(path, options->record.path,
		       memledger_html_report_print);
}

static const struct command commands[] = {
	{ "record", "one PID or NAME", record_words, run_record },
	{ "export", "one FILE", export_words, run_export },
	{ "report", "one FILE", report_words, run_report },
};

static const struct command *find_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Return: -1 to go on, else what to exit with. */
static int parse_option(int option, struct options *options)
{
	u32 number;

	switch (option) {
	case 'o':
		options->record.path = optarg;
		return -1;
	case WORD_EVERY:
		if (memledger_parse_ms(optarg, &options->record.every_ms))
			return -1;
		return memledger_fail_option("--every takes a time, 10ms or more: 500ms, 1s, 2m");
	case WORD_ROUNDS:
		if (!memledger_parse_count(optarg, 1, UINT32_MAX, &number))
			return memledger_fail_option("--rounds takes a number from 1 on");
		options->record.rounds = number;
		return -1;
	case WORD_NAMES:
		if (!memledger_parse_count(optarg, 1, 1000, &number))
			return memledger_fail_option("--names takes a number from 1 to 1000");
		options->record.names = number;
		return -1;
	case WORD_BUFFERS:
		options->record.buffers = true;
		return -1;
	case WORD_CHROME:
	case WORD_CSV:
		if (options->form)
			return memledger_fail_option("--chrome and --csv exclude each other");
		options->form = option == WORD_CSV ? FORM_CSV : FORM_CHROME;
		return -1;
	case WORD_CSV_NAMES:
		options->names = true;
		return -1;
	case WORD_SYSFS:
		options->sysfs = optarg;
		return -1;
	case WORD_PROC:
		options->proc = optarg;
		return -1;
	case 'h':
		fputs(memledger_record_usage, stdout);
		return EXIT_OK;
	default:
		return memledger_fail_usage();
	}
}

/**
 * memledger_record_is_command - whether a word is one of these commands
 * @name: the word
 *
 * Return: true if memledger_record_command() knows it.
 */
bool memledger_record_is_command(const char *name)
{
	return find_command(name);
}

/**
 * memledger_record_command - do what a command line says
 * @argc: how many words there are
 * @argv: the words, the first of which is the command
 *
 * Return: what to exit with.
 */
int memledger_record_command(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	struct options options = {
		.record.every_ms = 1000,
		.sysfs = "/sys",
		.proc = "/proc",
	};
	int option, ret;

	while ((option = getopt_long(argc, argv, "o:h", command->words,
				     NULL)) != -1) {
		ret = parse_option(option, &options);
		if (ret >= 0)
			return ret;
	}
	if (argc - optind != 1 || !*argv[optind]) {
		fprintf(stderr, "memledger: %s needs %s\n", command->name,
			command->operand);
		return memledger_fail_usage();
	}
	return command->run(argv[optind], &options);
}
