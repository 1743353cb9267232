// SPDX-License-Identifier: GPL-2.0-only
/*
 * All processes in, again and again; a picture that fits the terminal out. The
 * terminal is as before when this ends, however it ends but by SIGKILL.
 */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "escape.h"
#include "sizes.h"
#include "top.h"

/* Where nobody says how wide it is. */
#define DEFAULT_WIDTH	80
#define DEFAULT_HEIGHT	24
#define MAX_WIDTH	1024
/* Of a line: the process's number, a column, the least for a name. */
#define PID_WIDTH	7
#define COLUMN_WIDTH	13
#define NAME_WIDTH	16
/* Lines above the processes. */
#define HEAD_LINES	3

static volatile sig_atomic_t ended_by, stopped;

static void note_end(int signal)
{
	ended_by = signal;
}

static void note_stop(int signal)
{
	stopped = signal;
}

/* That we stop waiting is all. */
static void note_size(int signal)
{
	(void)signal;
}

/**
 * struct terminal - what the picture is for
 * @live: it is a terminal that is drawn on, and not a file
 * @fits: no picture has more lines than the terminal
 * @before: how it was
 * @width: columns
 * @height: lines, 0 for no end
 * @waiting: signals that are blocked while waiting
 */
struct terminal {
	bool live;
	bool fits;
	struct termios before;
	sigset_t waiting;
	unsigned int width;
	unsigned int height;
};

static void write_all(const char *text, size_t len)
{
	while (len) {
		ssize_t done = write(STDOUT_FILENO, text, len);

		if (done < 0 && errno != EINTR)
			return;
		if (done > 0) {
			text += done;
			len -= done;
		}
	}
}

static void write_text(const char *text)
{
	write_all(text, strlen(text));
}

/* The other screen, no cursor, and keys as they are pressed. */
static void enter_terminal(struct terminal *terminal)
{
	struct termios raw = terminal->before;

	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	write_text("\033[?1049h\033[?25l");
}

static void leave_terminal(struct terminal *terminal)
{
	write_text("\033[?25h\033[?1049l");
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->before);
}

static void measure_terminal(struct terminal *terminal)
{
	struct winsize size;

	terminal->width = DEFAULT_WIDTH;
	terminal->height = terminal->fits ? DEFAULT_HEIGHT : 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return;
	if (size.ws_col)
		terminal->width = size.ws_col < MAX_WIDTH ? size.ws_col :
				  MAX_WIDTH;
	if (size.ws_row && terminal->fits)
		terminal->height = size.ws_row;
}

/*
 * Signals arrive only while we wait, and so never between a look at the flags
 * and that. Returns with @waiting as the mask for it. What is ignored, as by
 * nohup, remains so.
 */
static void catch_signals(sigset_t *waiting)
{
	static const struct {
		int signal;
		void (*handler)(int signal);
	} signals[] = {
		{ SIGINT, note_end },
		{ SIGTERM, note_end },
		{ SIGHUP, note_end },
		{ SIGQUIT, note_end },
		{ SIGTSTP, note_stop },
		{ SIGWINCH, note_size },
	};
	sigset_t blocked;
	unsigned int i;

	sigemptyset(&blocked);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&blocked, signals[i].signal);
	sigprocmask(SIG_BLOCK, &blocked, waiting);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		const struct sigaction action = {
			.sa_handler = signals[i].handler,
		};
		struct sigaction before;

		sigdelset(waiting, signals[i].signal);
		if (!sigaction(signals[i].signal, NULL, &before) &&
		    before.sa_handler != SIG_IGN)
			sigaction(signals[i].signal, &action, NULL);
	}
}

static const struct {
	const char *label;
	enum memledger_system_key key;
} keys[] = {
	{ "PSS", MEMLEDGER_SORT_PSS },
	{ "RSS", MEMLEDGER_SORT_RSS },
	{ "USS", MEMLEDGER_SORT_USS },
	{ "Swap", MEMLEDGER_SORT_SWAP },
	{ "VSS", MEMLEDGER_SORT_VSS },
};

static const char *key_label(enum memledger_system_key key)
{
	unsigned int i;

	for (i = 0; i + 1 < ARRAY_SIZE(keys) && keys[i].key != key; i++)
		;
	return keys[i].label;
}

/* A column of the picture: a number of the process or of a category of it. */
struct column {
	char label[COLUMN_WIDTH];
	enum memledger_system_key key;
	unsigned int category;
};

#define MAX_COLUMNS	(MAX_WIDTH / COLUMN_WIDTH)

struct picture {
	const struct memledger_system_live *live;
	const struct memledger_top_wanted *wanted;
	const struct memledger_system_order *order;
	struct column column[MAX_COLUMNS];
	unsigned int nr;
};

static void add_column(struct picture *picture, unsigned int room,
		       const char *label, enum memledger_system_key key,
		       unsigned int category)
{
	struct column *column = &picture->column[picture->nr];
	unsigned int i;

	if (picture->nr >= room || picture->nr == MAX_COLUMNS)
		return;
	for (i = 0; i < picture->nr; i++)
		if (picture->column[i].key == key &&
		    picture->column[i].category == category)
			return;
	snprintf(column->label, sizeof(column->label), "%s", label);
	column->key = key;
	column->category = category;
	picture->nr++;
}

/* What is sorted by comes first, categories last, the largest before others. */
static void choose_columns(struct picture *picture, unsigned int width)
{
	const struct memledger_system *system = &picture->live->system;
	unsigned int room = width > PID_WIDTH + NAME_WIDTH ?
			    (width - PID_WIDTH - NAME_WIDTH) / COLUMN_WIDTH : 0;
	unsigned int category = picture->order->category, i, best;
	bool taken[NR_MEMLEDGER_CATEGORIES] = {};

	if (category < NR_MEMLEDGER_CATEGORIES)
		add_column(picture, room, memledger_category_labels[category],
			   picture->order->key, category);
	add_column(picture, room, key_label(picture->order->key),
		   picture->order->key, NR_MEMLEDGER_CATEGORIES);
	/* VSS only where it is sorted by. */
	for (i = 0; i + 1 < ARRAY_SIZE(keys); i++)
		add_column(picture, room, keys[i].label, keys[i].key,
			   NR_MEMLEDGER_CATEGORIES);
	for (;;) {
		best = NR_MEMLEDGER_CATEGORIES;
		for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++)
			if (!taken[i] && system->category[i].pss &&
			    (best == NR_MEMLEDGER_CATEGORIES ||
			     system->category[i].pss >
			     system->category[best].pss))
				best = i;
		if (best == NR_MEMLEDGER_CATEGORIES)
			return;
		taken[best] = true;
		if (best != category)
			add_column(picture, room,
				   memledger_category_labels[best],
				   MEMLEDGER_SORT_PSS, best);
	}
}

/* A line, cut where the terminal ends: no character is wider than one column. */
struct line {
	char text[MAX_WIDTH + 1];
	size_t len;
	size_t width;
};

static void __attribute__((format(printf, 2, 3)))
append(struct line *line, const char *format, ...)
{
	size_t left = line->width - line->len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line->text + line->len, left + 1, format, args);
	va_end(args);
	if (len > 0)
		line->len += (size_t)len < left ? (size_t)len : left;
}

static void print_line(FILE *out, struct line *line)
{
	fprintf(out, "%.*s\n", (int)line->len, line->text);
	line->len = 0;
}

static void print_head(FILE *out, const struct picture *picture,
		       unsigned int width)
{
	const struct memledger_pass_info *info = &picture->live->system.info;
	const struct memledger_system_row *total =
		&picture->live->system.total;
	const struct memledger_system_order *order = picture->order;
	char pss[MEMLEDGER_SIZE_TEXT_LEN], swap[MEMLEDGER_SIZE_TEXT_LEN];
	struct line line = { .width = width };
	unsigned int i;

	append(&line, "%llu processes, PSS %s, swap %s%s; %llu us of work in %llu us",
	       info->nr, memledger_size_text(total->pss, pss),
	       memledger_size_text(total->swap, swap),
	       info->complete ? "" : ", INCOMPLETE", info->walk_ns / 1000,
	       (info->end_ns - info->start_ns) / 1000);
	print_line(out, &line);
	append(&line, "at %llu.%03llu s after boot, profile %s; kB, by ",
	       info->end_ns / 1000000000, info->end_ns / 1000000 % 1000,
	       info->profile->name);
	/* The heading of a category does not say which of its numbers it is. */
	if (order->category < NR_MEMLEDGER_CATEGORIES)
		append(&line, "%s ",
		       memledger_category_labels[order->category]);
	append(&line, "%s%s", key_label(order->key),
	       order->reverse ? ", reversed" : "");
	print_line(out, &line);
	append(&line, "%*s", PID_WIDTH, "PID");
	for (i = 0; i < picture->nr; i++)
		append(&line, "%*s", COLUMN_WIDTH, picture->column[i].label);
	append(&line, info->foreign ? "  comm" : "  name");
	print_line(out, &line);
}

static void print_process(FILE *out, const struct picture *picture,
			  const struct memledger_system_process *process,
			  unsigned int width)
{
	char *name = memledger_escape_text(process->name, "");
	struct line line = { .width = width };
	unsigned int i;

	append(&line, "%*d", PID_WIDTH, process->pid);
	for (i = 0; i < picture->nr; i++) {
		const struct column *column = &picture->column[i];
		const struct memledger_system_row *row =
			column->category < NR_MEMLEDGER_CATEGORIES ?
			&process->category[column->category] :
			&process->total;
		u64 kb = memledger_system_number(row, column->key) >> 10;

		if (row->known)
			append(&line, "%*llu", COLUMN_WIDTH, kb);
		else
			append(&line, "%*s", COLUMN_WIDTH, "-");
	}
	append(&line, "  %s", name ? name : "(out of memory)");
	free(name);
	print_line(out, &line);
}

static size_t nr_lines(const struct picture *picture,
		       const struct terminal *terminal)
{
	size_t nr = picture->live->system.nr;

	if (picture->wanted->lines && picture->wanted->lines < nr)
		nr = picture->wanted->lines;
	/* The last line stays empty, lest the terminal scrolls. */
	if (terminal->height && nr + HEAD_LINES + 1 > terminal->height)
		nr = terminal->height > HEAD_LINES + 1 ?
		     terminal->height - HEAD_LINES - 1 : 0;
	return nr;
}

static int draw(const struct memledger_system_live *live,
		const struct memledger_top_wanted *wanted,
		const struct memledger_system_order *order,
		struct terminal *terminal)
{
	struct picture picture = {
		.live = live,
		.wanted = wanted,
		.order = order,
	};
	char *text = NULL;
	size_t len = 0, i, nr;
	FILE *out;

	measure_terminal(terminal);
	out = open_memstream(&text, &len);
	if (!out)
		return -1;
	choose_columns(&picture, terminal->width);
	if (terminal->live)
		fputs("\033[H\033[J", out);
	print_head(out, &picture, terminal->width);
	nr = nr_lines(&picture, terminal);
	for (i = 0; i < nr; i++)
		print_process(out, &picture, &live->system.process[i],
			      terminal->width);
	if (!terminal->live)
		putc('\n', out);
	if (fclose(out)) {
		free(text);
		return -1;
	}
	if (terminal->live)
		write_all(text, len);
	else
		fwrite(text, 1, len, stdout);
	free(text);
	return 0;
}

static unsigned int next_category(const struct memledger_system *system,
				  unsigned int category)
{
	do {
		category = category == NR_MEMLEDGER_CATEGORIES ? 0 :
			   category + 1;
	} while (category < NR_MEMLEDGER_CATEGORIES &&
		 !system->category[category].known);
	return category;
}

enum action {
	ACTION_NONE,
	ACTION_DRAW,
	ACTION_READ,
	ACTION_QUIT,
};

static enum action press(char key, const struct memledger_system *system,
			 struct memledger_system_order *order)
{
	switch (key) {
	case 'q':
		return ACTION_QUIT;
	case ' ':
		return ACTION_READ;
	case 'p':
		order->key = MEMLEDGER_SORT_PSS;
		break;
	case 'r':
		order->key = MEMLEDGER_SORT_RSS;
		break;
	case 'u':
		order->key = MEMLEDGER_SORT_USS;
		break;
	case 's':
		order->key = MEMLEDGER_SORT_SWAP;
		break;
	case 'v':
		order->key = MEMLEDGER_SORT_VSS;
		order->category = NR_MEMLEDGER_CATEGORIES;
		break;
	case 'R':
		order->reverse = !order->reverse;
		break;
	case 'c':
		order->category = next_category(system, order->category);
		/* Of a category it is not known. */
		if (order->key == MEMLEDGER_SORT_VSS)
			order->key = MEMLEDGER_SORT_PSS;
		break;
	default:
		return ACTION_NONE;
	}
	return ACTION_DRAW;
}

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

/* What came first: a key, the time for the next picture, or a signal. */
static enum action wait_for(u64 until, struct terminal *terminal,
			    const struct memledger_system *system,
			    struct memledger_system_order *order)
{
	struct pollfd input = {
		.fd = terminal->live ? STDIN_FILENO : -1,
		.events = POLLIN,
	};
	u64 now = now_ms(), left = until > now ? until - now : 0;
	const struct timespec timeout = {
		.tv_sec = left / 1000,
		.tv_nsec = left % 1000 * 1000000,
	};
	char key;
	int ret;

	ret = ppoll(&input, 1, &timeout, &terminal->waiting);
	if (ended_by)
		return ACTION_QUIT;
	if (stopped) {
		stopped = 0;
		if (terminal->live)
			leave_terminal(terminal);
		raise(SIGSTOP);
		if (terminal->live)
			enter_terminal(terminal);
		return ACTION_DRAW;
	}
	if (ret < 0)
		return ACTION_DRAW;	/* another size */
	if (!ret)
		return ACTION_READ;
	/* Nobody will press a key any more. */
	if (read(STDIN_FILENO, &key, 1) != 1)
		return ACTION_QUIT;
	return press(key, system, order);
}

/* Return: ACTION_READ, ACTION_QUIT, or -1 with the error set. */
static int show(struct memledger_system_live *live,
		const struct memledger_top_wanted *wanted,
		struct memledger_system_order *order,
		struct terminal *terminal, bool last,
		struct memledger_error *error)
{
	u64 until = now_ms() + wanted->delay_ms;
	enum action action = ACTION_DRAW;

	/* It stays behind, on the screen that was there before. */
	if (last && terminal->live) {
		leave_terminal(terminal);
		terminal->live = false;
	}
	do {
		if (action == ACTION_DRAW) {
			memledger_system_sort(&live->system, order);
			if (draw(live, wanted, order, terminal))
				return memledger_error_set(error, "no memory");
		}
		if (last)
			return ACTION_QUIT;
		if (!terminal->live && fflush(stdout))
			return ACTION_QUIT;
		action = wait_for(until, terminal, &live->system, order);
	} while (action == ACTION_DRAW || action == ACTION_NONE);
	return action;
}

static int loop(const char *sysfs, const char *proc,
		const struct memledger_top_wanted *wanted,
		struct terminal *terminal, struct memledger_error *error)
{
	struct memledger_system_order order = wanted->order;
	struct memledger_system_live live;
	unsigned int nr = 0;
	int ret;

	do {
		ret = memledger_system_live_read(&live, sysfs, proc, error);
		if (!ret)
			ret = show(&live, wanted, &order, terminal,
				   ++nr == wanted->pictures, error);
		memledger_system_live_free(&live);
	} while (ret == ACTION_READ);
	return ret < 0 ? -1 : 0;
}

/**
 * memledger_top_run - show processes again and again
 * @sysfs: where sysfs is mounted
 * @proc: where proc is mounted
 * @wanted: what to show
 * @error: what went wrong
 *
 * Ends with q, by a signal, or after as many pictures as are wanted.
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_top_run(const char *sysfs, const char *proc,
		      const struct memledger_top_wanted *wanted,
		      struct memledger_error *error)
{
	struct terminal terminal = {};
	int ret;

	terminal.live = !wanted->batch && isatty(STDOUT_FILENO) &&
			!tcgetattr(STDIN_FILENO, &terminal.before);
	terminal.fits = terminal.live;
	catch_signals(&terminal.waiting);
	if (terminal.live)
		enter_terminal(&terminal);
	ret = loop(sysfs, proc, wanted, &terminal, error);
	if (terminal.live)
		leave_terminal(&terminal);
	/* Whoever waits for us sees by what we ended. */
	if (ended_by) {
		signal(ended_by, SIG_DFL);
		sigprocmask(SIG_SETMASK, &terminal.waiting, NULL);
		raise(ended_by);
	}
	return ret;
}
