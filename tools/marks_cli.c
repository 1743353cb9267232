// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of mark, diff and watch: what the words after them mean.
 */
#include <getopt.h>
#include <stdlib.h>
#include <time.h>

#include "command.h"
#include "diff.h"
#include "escape.h"
#include "json.h"
#include "marks_cli.h"
#include "privileges.h"
#include "process.h"
#include "retained.h"
#include "subject.h"
#include "watch.h"

#define DEFAULT_GRACE_MS	5000
#define DEFAULT_EVERY_MS	1000
#define DEFAULT_NAMES		50
#define DEFAULT_TOP		20

const char memledger_marks_usage[] =
"mark (these options come behind the command):\n"
"  -o FILE            save it there; else where diff finds the last one\n"
"diff:\n"
"      --since FILE   compare with this mark, not with the last one\n"
"      --top N        the N largest changes of a kind (20), 0 for all\n"
"      --expect-released\n"
"                     what was there at the mark should be gone: wait, look\n"
"                     again, and show what is left and who holds it\n"
"      --grace TIME   how long to wait (5s)\n"
"      --before FILE  but for what was there at this earlier mark\n"
"      --record FILE  add what is left to a recording, for its report\n"
"watch:\n"
"      --every TIME   between two rounds (1s); \"line\": a round for each line of\n"
"                     standard input, as a script writes it in the same state of\n"
"                     the process again and again\n"
"      --rounds N     so many rounds\n"
"      --until TREND  until the verdict is growing, stable, plateau, warming_up,\n"
"                     saw_tooth or deferred_release\n"
"      --names N      look at the N largest names (50)\n"
"      --mark-on KEY  the key that takes a mark (m), or what a line begins with\n"
"  -b, --batch        a line for each round, as in a file\n"
"                     keys: q(uit), m(ark), blank: a round now\n"
"mark, diff and watch:\n"
"      --proc DIR     where proc is mounted (/proc)\n";

/* What a command line asks for. */
struct options {
	const char *file;	/* -o; NULL: not given */
	const char *since;	/* NULL: the last mark */
	const char *before;	/* NULL: none */
	const char *record;	/* NULL: none */
	bool expect_released;
	u64 grace_ms;
	u32 top;
	struct memledger_watch_wanted watch;
	bool json;
	const char *sysfs;
	const char *proc;
};

struct command {
	const char *name;
	const char *operands;
	int min;
	int max;
	const char *letters;
	const struct option *words;
	int (*run)(char **operands, int nr, struct options *options);
};

static const char incomplete[] =
	"not everything could be seen, so that the numbers are too small: try again";

static int take_mark(const struct memledger_mark_place *place,
		     const char *path, struct memledger_state *state,
		     struct memledger_error *error)
{
	char *text;
	size_t len;
	int ret;

	if (memledger_mark_take(place, &text, &len, error))
		return -1;
	ret = path ? memledger_mark_save(path, text, len, error) : 0;
	if (ret) {
		free(text);
		return ret;
	}
	return memledger_state_parse(state, text, len, error);
}

static size_t nr_of(const struct memledger_state *state,
		    enum memledger_retained_kind kind)
{
	size_t i, nr = 0;

	for (i = 0; i < state->nr_objects; i++)
		nr += state->object[i].kind == kind;
	return nr;
}

static void print_count(const struct memledger_state *state,
			enum memledger_retained_kind kind, const char *what)
{
	if (state->has_object[kind])
		printf(", %zu %s", nr_of(state, kind), what);
	else
		printf(", %s unavailable", what);
}

/* What the mark itself says that it lacks, and why. */
static void print_lacks(const struct memledger_state *state)
{
	const char *dmabuf = memledger_json_text(state->json, "no_dmabuf");
	const char *gpu = memledger_json_text(state->json, "no_gpu");

	if (dmabuf)
		printf("No DMA-BUFs: %s\n", dmabuf);
	if (gpu)
		printf("No GPU memory: %s\n", gpu);
}

static void print_mark(const struct memledger_state *state, pid_t pid,
		       const char *path)
{
	char *comm = memledger_escape_text(state->comm ? state->comm : "", "");

	printf("Marked pid %d [%s] in %s: %zu mappings", pid, comm ? comm : "",
	       path, nr_of(state, MEMLEDGER_RETAINED_VMA));
	print_count(state, MEMLEDGER_RETAINED_DMABUF, "DMA-BUFs");
	print_count(state, MEMLEDGER_RETAINED_GPU, "GPU entries");
	putchar('\n');
	print_lacks(state);
	free(comm);
}

static int run_mark(char **operands, int nr, struct options *options)
{
	struct memledger_mark_place place = { options->sysfs, options->proc, -1 };
	struct memledger_state state = {};
	struct memledger_error error;
	const char *path = options->file;
	char last[512];
	int ret;

	(void)nr;
	if (memledger_subject_find(operands[0], place.proc, &place.pid, &error))
		return memledger_fail(error.text);
	if (!path) {
		if (memledger_mark_default(place.pid, last, sizeof(last),
					   &error))
			return memledger_fail(error.text);
		path = last;
	}
	ret = take_mark(&place, path, &state, &error);
	if (ret)
		ret = memledger_fail(error.text);
	else
		print_mark(&state, place.pid, path);
	if (!ret && !state.complete)
		memledger_fail(incomplete);
	memledger_state_free(&state);
	return ret;
}

static void print_state_json(const char *key, bool *first,
			     const struct memledger_state *state)
{
	bool first_member = true;

	memledger_json_key(stdout, first, key);
	putchar('{');
	memledger_json_string(stdout, &first_member, "source", state->source);
	memledger_json_number(stdout, &first_member, "pid", state->pid,
			      state->pid);
	memledger_json_string(stdout, &first_member, "comm", state->comm);
	memledger_json_number(stdout, &first_member, "timestamp_ns",
			      state->time_ns, state->time_ns);
	memledger_json_bool(stdout, &first_member, "complete",
			    state->complete);
	putchar('}');
}

/* @diff or @list may be NULL. */
static void print_diff(const struct options *options,
		       const struct memledger_diff *diff,
		       const struct memledger_retained_list *list)
{
	bool first = true;

	if (!options->json) {
		if (diff)
			memledger_diff_print(stdout, diff, options->top);
		if (list)
			memledger_retained_print(stdout, list,
						 options->top);
		return;
	}
	putchar('{');
	if (diff) {
		print_state_json("before", &first, diff->before);
		print_state_json("after", &first, diff->after);
		memledger_diff_print_json(stdout, &first, diff);
	}
	if (list)
		memledger_retained_print_json(stdout, &first, list);
	puts("}");
}

static int compare(const struct options *options,
		   const struct memledger_state *before,
		   const struct memledger_state *after,
		   const struct memledger_retained_list *list)
{
	struct memledger_diff diff;
	int ret = EXIT_OK;

	if (memledger_diff_make(&diff, before, after))
		ret = memledger_fail("no memory");
	else
		print_diff(options, &diff, list);
	if (!ret && (!before->complete || !after->complete))
		memledger_fail(incomplete);
	memledger_diff_free(&diff);
	return ret;
}

static int compare_files(char **operands, const struct options *options)
{
	struct memledger_state before = {}, after = {};
	struct memledger_error error;
	int ret;

	if (memledger_state_read(&before, operands[0], &error) ||
	    memledger_state_read(&after, operands[1], &error))
		ret = memledger_fail(error.text);
	else
		ret = compare(options, &before, &after, NULL);
	memledger_state_free(&before);
	memledger_state_free(&after);
	return ret;
}

static int read_mark(struct memledger_state *mark, const char *file,
		     char *path, size_t size, pid_t pid,
		     struct memledger_error *error)
{
	int ret;

	if (file)
		return memledger_state_read(mark, file, error);
	if (memledger_mark_default(pid, path, size, error))
		return -1;
	ret = memledger_state_read(mark, path, error);
	if (ret == -ENOENT)
		return memledger_error_set(error,
					   "there is no mark of process %d: take one with 'memledger mark %d'",
					   pid, pid);
	return ret;
}

/* As long as it takes, whatever wakes us. */
static void wait_ms(u64 ms)
{
	struct timespec until;

	fflush(stdout);
	clock_gettime(CLOCK_BOOTTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
}

static int compare_retained(const struct options *options,
			    const struct memledger_mark_place *place,
			    const struct memledger_state *mark,
			    struct memledger_error *error)
{
	struct memledger_state before = {}, now = {};
	const struct memledger_expected expected = {
		.place = place,
		.mark = mark,
		.before = options->before ? &before : NULL,
	};
	struct memledger_retained_list list = {};
	int ret = 0;

	if (options->before)
		ret = memledger_state_read(&before, options->before, error);
	if (!ret) {
		wait_ms(options->grace_ms);
		ret = memledger_retained_find(&list, &now, &expected, error);
	}
	if (!ret && options->record)
		ret = memledger_retained_record(&list, &expected,
						options->record, error);
	now.source = "now";
	if (!ret && list.exited)
		print_diff(options, NULL, &list);
	else if (!ret)
		ret = compare(options, mark, &now, &list);
	memledger_retained_free(&list);
	memledger_state_free(&before);
	memledger_state_free(&now);
	return ret;
}

static int compare_now(const struct options *options,
		       const struct memledger_mark_place *place,
		       const struct memledger_state *mark,
		       struct memledger_error *error)
{
	struct memledger_state now = {};
	int ret;

	if (memledger_process_has_exited(place->proc, place->pid,
					 mark->start_ticks))
		return memledger_error_set(error,
					   "the process %d that was marked has exited",
					   place->pid);
	ret = take_mark(place, NULL, &now, error);
	now.source = "now";
	if (!ret)
		ret = compare(options, mark, &now, NULL);
	memledger_state_free(&now);
	return ret;
}

static const char bad_files[] =
	"with two files diff takes no --since and no --expect-released";
static const char bad_before[] =
	"--before and --record take --expect-released as well";

static int run_diff(char **operands, int nr, struct options *options)
{
	struct memledger_mark_place place = { options->sysfs, options->proc, -1 };
	struct memledger_state mark = {};
	struct memledger_error error;
	char path[512];
	int ret;

	if (nr == 2 && (options->since || options->expect_released))
		return memledger_fail_option(bad_files);
	if ((options->before || options->record) && !options->expect_released)
		return memledger_fail_option(bad_before);
	memledger_privileges_drop(options->record);
	if (nr == 2)
		return compare_files(operands, options);
	ret = memledger_subject_find(operands[0], place.proc, &place.pid,
				     &error);
	if (!ret)
		ret = read_mark(&mark, options->since, path, sizeof(path),
				place.pid, &error);
	if (!ret)
		ret = options->expect_released ?
		      compare_retained(options, &place, &mark, &error) :
		      compare_now(options, &place, &mark, &error);
	memledger_state_free(&mark);
	return ret < 0 ? memledger_fail(error.text) : ret;
}

static int run_watch(char **operands, int nr, struct options *options)
{
	struct memledger_watch_wanted *wanted = &options->watch;
	struct memledger_error error;

	(void)nr;
	wanted->sysfs = options->sysfs;
	wanted->proc = options->proc;
	wanted->process = operands[0];
	wanted->json = options->json;
	wanted->batch |= options->json;
	if (memledger_watch_run(wanted, &error))
		return memledger_fail(error.text);
	return EXIT_OK;
}

enum word {
	WORD_JSON = 256,
	WORD_SYSFS,
	WORD_PROC,
	WORD_SINCE,
	WORD_BEFORE,
	WORD_EXPECT,
	WORD_GRACE,
	WORD_RECORD,
	WORD_TOP,
	WORD_EVERY,
	WORD_ROUNDS,
	WORD_UNTIL,
	WORD_NAMES,
	WORD_MARK_ON,
};

static const struct option mark_words[] = {
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "proc", required_argument, NULL, WORD_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct option diff_words[] = {
	{ "json", no_argument, NULL, WORD_JSON },
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "proc", required_argument, NULL, WORD_PROC },
	{ "since", required_argument, NULL, WORD_SINCE },
	{ "before", required_argument, NULL, WORD_BEFORE },
	{ "expect-released", no_argument, NULL, WORD_EXPECT },
	{ "grace", required_argument, NULL, WORD_GRACE },
	{ "record", required_argument, NULL, WORD_RECORD },
	{ "top", required_argument, NULL, WORD_TOP },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct option watch_words[] = {
	{ "json", no_argument, NULL, WORD_JSON },
	{ "sysfs", required_argument, NULL, WORD_SYSFS },
	{ "proc", required_argument, NULL, WORD_PROC },
	{ "every", required_argument, NULL, WORD_EVERY },
	{ "rounds", required_argument, NULL, WORD_ROUNDS },
	{ "until", required_argument, NULL, WORD_UNTIL },
	{ "names", required_argument, NULL, WORD_NAMES },
	{ "mark-on", required_argument, NULL, WORD_MARK_ON },
	{ "batch", no_argument, NULL, 'b' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static const struct command commands[] = {
	{ "mark", "one PID or NAME", 1, 1, "o:h", mark_words, run_mark },
	{ "diff", "one PID or NAME, or two files", 1, 2, "h", diff_words,
	  run_diff },
	{ "watch", "one PID or NAME", 1, 1, "bh", watch_words, run_watch },
};

static const struct command *find_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Not to wait at all is fine. */
static bool parse_grace(const char *text, u64 *ms)
{
	*ms = 0;
	return !strcmp(text, "0") || memledger_parse_ms(text, ms);
}

static bool parse_every(const char *text, struct memledger_watch_wanted *watch)
{
	watch->lines = !strcmp(text, "line");
	return watch->lines || memledger_parse_ms(text, &watch->every_ms);
}

static bool parse_until(const char *text, enum memledger_trend_kind *until)
{
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_TRENDS; i++)
		if (i != MEMLEDGER_TREND_UNKNOWN &&
		    !strcmp(text, memledger_trend_names[i]))
			break;
	*until = i;
	return i < NR_MEMLEDGER_TRENDS;
}

static const char bad_every[] =
	"--every takes a time such as 1s or 100ms, from 10ms on, or \"line\"";
static const char bad_until[] =
	"--until takes growing, stable, plateau, warming_up, saw_tooth or deferred_release";

/* Return: as parse_option(). */
static int parse_watch(int option, struct memledger_watch_wanted *watch)
{
	switch (option) {
	case WORD_EVERY:
		return parse_every(optarg, watch) ? -1 :
		       memledger_fail_option(bad_every);
	case WORD_ROUNDS:
		return memledger_parse_count(optarg, 1, UINT32_MAX,
					     &watch->rounds) ? -1 :
		       memledger_fail_option("--rounds takes a number from 1 on");
	case WORD_UNTIL:
		return parse_until(optarg, &watch->until) ? -1 :
		       memledger_fail_option(bad_until);
	case WORD_NAMES:
		return memledger_parse_count(optarg, 0, UINT32_MAX,
					     &watch->names) ? -1 :
		       memledger_fail_option("--names takes a number");
	case WORD_MARK_ON:
		watch->mark_key = *optarg;
		return strlen(optarg) == 1 && *optarg > ' ' && *optarg <= '~' &&
		       *optarg != 'q' ? -1 :
		       memledger_fail_option("--mark-on takes one key other than q");
	case 'b':
		watch->batch = true;
		return -1;
	default:
		return memledger_fail_usage();
	}
}

/* Return: -1 to go on, else what to exit with. */
static int parse_option(int option, struct options *options)
{
	switch (option) {
	case 'o':
		options->file = optarg;
		return -1;
	case WORD_SINCE:
		options->since = optarg;
		return -1;
	case WORD_BEFORE:
		options->before = optarg;
		return -1;
	case WORD_RECORD:
		options->record = optarg;
		return -1;
	case WORD_EXPECT:
		options->expect_released = true;
		return -1;
	case WORD_GRACE:
		return parse_grace(optarg, &options->grace_ms) ? -1 :
		       memledger_fail_option("--grace takes a time such as 5s or 250ms, or 0");
	case WORD_TOP:
		return memledger_parse_count(optarg, 0, UINT32_MAX,
					     &options->top) ? -1 :
		       memledger_fail_option("--top takes a number");
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
		fputs(memledger_marks_usage, stdout);
		return EXIT_OK;
	default:
		return parse_watch(option, &options->watch);
	}
}

/**
 * memledger_marks_is_command - whether a word is one of these commands
 * @name: the word
 *
 * Return: true if memledger_marks_command() knows it.
 */
bool memledger_marks_is_command(const char *name)
{
	return find_command(name);
}

/**
 * memledger_marks_command - do what a command line says
 * @argc: how many words there are
 * @argv: the words, the first of which is the command
 *
 * Return: what to exit with.
 */
int memledger_marks_command(int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	struct options options = {
		.grace_ms = DEFAULT_GRACE_MS,
		.top = DEFAULT_TOP,
		.watch = {
			.every_ms = DEFAULT_EVERY_MS,
			.names = DEFAULT_NAMES,
			.until = NR_MEMLEDGER_TRENDS,
			.mark_key = 'm',
		},
		.sysfs = "/sys",
		.proc = "/proc",
	};
	int option, ret, nr;

	while ((option = getopt_long(argc, argv, command->letters,
				     command->words, NULL)) != -1) {
		ret = parse_option(option, &options);
		if (ret >= 0)
			return ret;
	}
	nr = argc - optind;
	if (nr < command->min || nr > command->max || !*argv[optind]) {
		fprintf(stderr, "memledger: %s needs %s\n", command->name,
			command->operands);
		return memledger_fail_usage();
	}
	return command->run(argv + optind, nr, &options);
}
