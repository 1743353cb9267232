// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of a command line in; one of the commands about all processes, or
 * about all mappings of one, out.
 */
#include <getopt.h>
#include <stdlib.h>

#include "command.h"
#include "dmabuf_live.h"
#include "librank.h"
#include "mappings.h"
#include "procrank.h"
#include "showmap.h"
#include "system_cli.h"
#include "top.h"

const char memledger_system_usage[] =
"system:\n"
"      --proc DIR     where proc is mounted (/proc)\n"
"procrank, librank and top (these options come behind the command):\n"
"  -v -r -p -u -s     sort by VSS, RSS, PSS (the usual), USS, swap\n"
"  -R                 the smallest first\n"
"      --top N        the N first\n"
"      --proc DIR     where proc is mounted (/proc)\n"
"procrank:\n"
"  -o                 show oom_score_adj, and sort by it\n"
"librank:\n"
"  -a                 also stacks, heaps, and what has no name\n"
"  -P PREFIX          names that begin so\n"
"  -m [r][w][x]       mappings with exactly these permissions\n"
"top:\n"
"      --by CATEGORY  native_heap and so on: sort by that part of a process\n"
"  -d SECONDS         between two pictures (2)\n"
"  -n N               so many pictures\n"
"  -b, --batch        for a file: no keys, all processes\n"
"      --once         the same as -b -n 1\n"
"                     keys: q(uit), p, r, u, s, v: sort, R(everse),\n"
"                     c(ategory): the next one, blank: now\n"
"showmap:\n"
"  -a                 by address\n"
"  -v                 one by one, with permissions\n"
"  -t                 only what has private pages\n"
"  -q                 no message where a process cannot be read\n"
"  -f FILE            a saved smaps text\n";

/* What a command line asks for. */
struct options {
	struct memledger_system_order order;
	struct memledger_librank_wanted librank;
	struct memledger_top_wanted top;
	bool oom;
	bool quiet;
	bool by;
	bool once;
	unsigned int showmap;	/* MEMLEDGER_SHOWMAP_* */
	const char *file;	/* NULL: none */
	size_t first;		/* --top, 0 for all */
	bool json;
	const char *profile;	/* NULL: not given */
	const char *sysfs;
	const char *proc;
};

struct command {
	const char *name;
	const char *letters;
	const struct option *words;
	bool takes_process;
	int (*run)(const char *operand, struct options *options);
};

static const char incomplete[] =
	"not everything could be seen, so that the numbers are too small: try again";

static bool parse_number(const char *text, double min, double max,
			 double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end && *number >= min && *number <= max;
}

static bool parse_category(const char *text, unsigned int *category)
{
	for (*category = 0; *category < NR_MEMLEDGER_CATEGORIES; ++*category)
		if (!strcmp(text, memledger_category_names[*category]))
			return true;
	return false;
}

/*
 * All RAM. Without DMA-BUFs what they take is not known, and that is said.
 */
static int read_ram(struct memledger_ram *ram,
		    const struct memledger_system *system, const char *sysfs,
		    const char *proc, struct memledger_error *error)
{
	struct memledger_dmabuf_live dmabuf;
	struct memledger_error why;

	if (memledger_ram_read_meminfo(ram, sysfs, proc, error))
		return -1;
	if (memledger_dmabuf_live_read(&dmabuf, sysfs, -1, &why))
		memledger_ram_no_dmabufs(ram, why.text);
	else
		memledger_ram_add_dmabufs(ram, &dmabuf.listing.dmabufs);
	memledger_dmabuf_live_free(&dmabuf);
	memledger_ram_finish(ram, system);
	return 0;
}

static int show_system(struct memledger_system_live *live, const char *sysfs,
		       const char *proc, bool json,
		       struct memledger_error *error)
{
	const struct memledger_system_order order = {
		.key = MEMLEDGER_SORT_TOTAL,
		.category = NR_MEMLEDGER_CATEGORIES,
	};
	struct memledger_ram ram;
	bool first = true, first_member = true;

	if (memledger_system_live_read(live, sysfs, proc, error) ||
	    read_ram(&ram, &live->system, sysfs, proc, error))
		return -1;
	if (!json) {
		memledger_system_print(stdout, live, &ram);
		return 0;
	}
	memledger_system_sort(&live->system, &order);
	putchar('{');
	memledger_system_print_json(stdout, &first, live, 0);
	memledger_json_key(stdout, &first, "ram");
	putchar('{');
	memledger_ram_print_json(stdout, &first_member, &ram);
	puts("}}");
	return 0;
}

/**
 * memledger_system_show - print what dumpsys meminfo does without a process
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @json: as JSON
 *
 * Return: what to exit with.
 */
int memledger_system_show(const char *sysfs, const char *proc, bool json)
{
	struct memledger_system_live live;
	struct memledger_error error;
	int ret = EXIT_OK;

	if (show_system(&live, sysfs, proc, json, &error))
		ret = memledger_fail(error.text);
	else if (!live.system.info.complete)
		memledger_fail(incomplete);
	memledger_system_live_free(&live);
	return ret;
}

static int run_system(const char *operand, struct options *options)
{
	(void)operand;
	return memledger_system_show(options->sysfs, options->proc,
				     options->json);
}

static int print_procrank(struct memledger_system_live *live,
			  const struct options *options,
			  struct memledger_error *error)
{
	struct memledger_ram ram;
	bool first = true;

	if (memledger_system_live_read(live, options->sysfs, options->proc,
				       error))
		return -1;
	memledger_system_sort(&live->system, &options->order);
	if (options->json) {
		putchar('{');
		memledger_system_print_json(stdout, &first, live,
					    options->first);
		puts("}");
		return 0;
	}
	if (memledger_ram_read_meminfo(&ram, options->sysfs, options->proc,
				       error))
		return -1;
	memledger_procrank_print(stdout, live, &ram, options->oom,
				 options->first);
	return 0;
}

static int run_procrank(const char *operand, struct options *options)
{
	struct memledger_system_live live;
	struct memledger_error error;
	int ret = EXIT_OK;

	(void)operand;
	if (print_procrank(&live, options, &error))
		ret = memledger_fail(error.text);
	else if (!live.system.info.complete)
		memledger_fail(incomplete);
	memledger_system_live_free(&live);
	return ret;
}

static int print_librank(struct memledger_mappings *mappings,
			 struct memledger_pass_file *file,
			 const struct options *options,
			 struct memledger_error *error)
{
	if (memledger_pass_file_read(file, options->sysfs, "mappings", error) ||
	    memledger_mappings_parse(mappings, file->text, error) ||
	    memledger_system_add_names(&mappings->system, options->proc,
				       error))
		return -1;
	if (memledger_librank_print(stdout, mappings, &options->librank,
				    options->json, file->source, file->kernel))
		return memledger_error_set(error, "no memory");
	return 0;
}

static int run_librank(const char *operand, struct options *options)
{
	struct memledger_mappings mappings = {};
	struct memledger_pass_file file;
	struct memledger_error error;
	int ret = EXIT_OK;

	(void)operand;
	options->librank.order = options->order;
	options->librank.top = options->first;
	if (print_librank(&mappings, &file, options, &error))
		ret = memledger_fail(error.text);
	else if (!mappings.system.info.complete)
		memledger_fail(incomplete);
	memledger_mappings_free(&mappings);
	memledger_pass_file_free(&file);
	return ret;
}

static int run_top(const char *operand, struct options *options)
{
	struct memledger_error error;

	(void)operand;
	if (options->json && !options->once)
		return memledger_fail_option("of top, --json takes --once as well");
	if (options->by && options->order.key == MEMLEDGER_SORT_VSS)
		return memledger_fail_option("VSS is not known by category");
	if (options->json)
		return run_procrank(NULL, options);
	options->top.order = options->order;
	options->top.lines = options->first;
	if (memledger_top_run(options->sysfs, options->proc, &options->top,
			      &error))
		return memledger_fail(error.text);
	return EXIT_OK;
}

static int read_subject(struct memledger_subject *subject, const char *operand,
			const struct options *options,
			struct memledger_error *error)
{
	if (options->file || memledger_subject_is_text(operand))
		return memledger_subject_read_text(subject, options->file ?
						   options->file : operand,
						   options->profile, error);
	return memledger_subject_read_process(subject, operand,
					      options->profile, options->sysfs,
					      options->proc, "vmas", error);
}

static int run_showmap(const char *operand, struct options *options)
{
	struct memledger_subject subject;
	struct memledger_error error;
	int ret = EXIT_OK;

	if (!operand == !options->file)
		return memledger_fail_option("showmap needs one PID, NAME, FILE or -");
	if (read_subject(&subject, operand, options, &error))
		return options->quiet ? EXIT_FAILED :
		       memledger_fail(error.text);
	if (memledger_showmap_print(stdout, &subject, options->showmap,
				    options->json, &error))
		ret = memledger_fail(error.text);
	else if (!subject.report.complete)
		memledger_fail(incomplete);
	memledger_subject_free(&subject);
	return ret;
}

enum word {
	WORD_JSON = 256,
	WORD_SYSFS,
	WORD_PROC,
	WORD_TOP,
	WORD_BY,
	WORD_ONCE,
	WORD_PROFILE,
};

static const struct option common_words[] = {
	{ "json", no_argument, NULL, WORD_JSON },
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "proc", required_argument, NULL, WORD_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct option rank_words[] = {
	{ "json", no_argument, NULL, WORD_JSON },
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "proc", required_argument, NULL, WORD_PROC },
	{ "top", required_argument, NULL, WORD_TOP },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct option top_words[] = {
	{ "json", no_argument, NULL, WORD_JSON },
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "proc", required_argument, NULL, WORD_PROC },
	{ "top", required_argument, NULL, WORD_TOP },
	{ "by", required_argument, NULL, WORD_BY },
	{ "batch", no_argument, NULL, 'b' },
	{ "once", no_argument, NULL, WORD_ONCE },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct option showmap_words[] = {
	{ "json", no_argument, NULL, WORD_JSON },
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "profile", required_argument, NULL, WORD_PROFILE },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct command commands[] = {
	{ "system", "h", common_words, false, run_system },
	{ "procrank", "vrpusRoh", rank_words, false, run_procrank },
	{ "librank", "vrpusRaP:m:h", rank_words, false, run_librank },
	{ "top", "vrpusRn:d:bh", top_words, false, run_top },
	{ "showmap", "tvaqf:h", showmap_words, true, run_showmap },
};

static const struct command *find_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Letters that mean the same in procrank, librank and top. */
static bool parse_order(int option, struct memledger_system_order *order)
{
	switch (option) {
	case 'v':
		order->key = MEMLEDGER_SORT_VSS;
		return true;
	case 'r':
		order->key = MEMLEDGER_SORT_RSS;
		return true;
	case 'p':
		order->key = MEMLEDGER_SORT_PSS;
		return true;
	case 'u':
		order->key = MEMLEDGER_SORT_USS;
		return true;
	case 's':
		order->key = MEMLEDGER_SORT_SWAP;
		return true;
	case 'R':
		order->reverse = true;
		return true;
	default:
		return false;
	}
}

static bool parse_showmap(int option, struct options *options)
{
	switch (option) {
	case 't':
		options->showmap |= MEMLEDGER_SHOWMAP_TERSE;
		return true;
	case 'v':
		options->showmap |= MEMLEDGER_SHOWMAP_VERBOSE;
		return true;
	case 'a':
		options->showmap |= MEMLEDGER_SHOWMAP_ADDRESSES;
		return true;
	case 'q':
		options->quiet = true;
		return true;
	case 'f':
		options->file = optarg;
		return true;
	default:
		return false;
	}
}

static bool parse_counts(int option, struct options *options)
{
	double number;

	switch (option) {
	case 'n':
		if (!parse_number(optarg, 1, UINT32_MAX, &number))
			return false;
		options->top.pictures = number;
		return true;
	case 'd':
		if (!parse_number(optarg, 0.01, 86400, &number))
			return false;
		options->top.delay_ms = number * 1000;
		return true;
	default:
		if (!parse_number(optarg, 1, UINT32_MAX, &number))
			return false;
		options->first = number;
		return true;
	}
}

/* Return: -1 to go on, else what to exit with. */
static int parse_option(const struct command *command, int option,
			struct options *options)
{
	if (command->takes_process ? parse_showmap(option, options) :
	    parse_order(option, &options->order))
		return -1;
	switch (option) {
	case 'o':
		options->oom = true;
		options->order.key = MEMLEDGER_SORT_OOM;
		return -1;
	case 'a':
		options->librank.all = true;
		return -1;
	case 'P':
		options->librank.prefix = optarg;
		return -1;
	case 'm':
		options->librank.perms = optarg;
		if (strspn(optarg, "rwx") == strlen(optarg))
			return -1;
		return memledger_fail_option("-m takes r, w and x");
	case 'n':
	case 'd':
	case WORD_TOP:
		if (parse_counts(option, options))
			return -1;
		return memledger_fail_option(option == 'd' ?
					     "-d takes seconds, 0.01 or more" :
					     "-n and --top take a number from 1 on");
	case WORD_ONCE:
		options->once = true;
		options->top.pictures = 1;
		options->top.batch = true;
		return -1;
	case 'b':
		options->top.batch = true;
		return -1;
	case WORD_BY:
		options->by = true;
		if (parse_category(optarg, &options->order.category))
			return -1;
		return memledger_fail_option("--by takes a category: native_heap and so on");
	case WORD_PROFILE:
		options->profile = optarg;
		if (memledger_profile_find(optarg))
			return -1;
		return memledger_fail_option("there is no such profile");
	case WORD_JSON:
		options->json = true;
		return -1;
	case WORD_SYSFS:
		options->sysfs = optarg;
		return -1;
	case WORD_PROC:
		options->proc = optarg;
		return -1;
	case 'h':
		fputs(memledger_system_usage, stdout);
		return EXIT_OK;
	default:
		return memledger_fail_usage();
	}
}

/**
 * memledger_system_is_command - whether a word is one of these commands
 * @name: the word
 *
 * Return: true if memledger_system_command() knows it.
 */
bool memledger_system_is_command(const char *name)
{
	return find_command(name);
}

/**
 * memledger_system_command - do what a command line says
 * @argc: how many words there are
 * @argv: the words, the first of which is the command
 *
 * Return: what to exit with.
 */
int memledger_system_command(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	struct options options = {
		.order.category = NR_MEMLEDGER_CATEGORIES,
		.top.delay_ms = 2000,
		.sysfs = "/sys",
		.proc = "/proc",
	};
	int option, ret;

	while ((option = getopt_long(argc, argv, command->letters,
				     command->words, NULL)) != -1) {
		ret = parse_option(command, option, &options);
		if (ret >= 0)
			return ret;
	}
	if (argc - optind > command->takes_process) {
		fprintf(stderr, "memledger: %s takes no %s\n", command->name,
			command->takes_process ? "second process" : "operand");
		return memledger_fail_usage();
	}
	return command->run(optind < argc ? argv[optind] : NULL, &options);
}
