// SPDX-License-Identifier: GPL-2.0-only
/*
 * All processes in, again and again; a picture that fits the terminal out.
 */
#include <stdlib.h>

#include "escape.h"
#include "sizes.h"
#include "terminal.h"
#include "top.h"

/* Of a line: the process's number, a column, the least for a name. */
#define PID_WIDTH	7
#define COLUMN_WIDTH	13
#define NAME_WIDTH	16
/* Lines above the processes. */
#define HEAD_LINES	3

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

#define MAX_COLUMNS	(MEMLEDGER_TERMINAL_WIDTH / COLUMN_WIDTH)

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

static void print_head(FILE *out, const struct picture *picture,
		       unsigned int width)
{
	const struct memledger_pass_info *info = &picture->live->system.info;
	const struct memledger_system_row *total =
		&picture->live->system.total;
	const struct memledger_system_order *order = picture->order;
	char pss[MEMLEDGER_SIZE_TEXT_LEN], swap[MEMLEDGER_SIZE_TEXT_LEN];
	const char *label = order->category < NR_MEMLEDGER_CATEGORIES ?
			    memledger_category_labels[order->category] : NULL;
	struct memledger_line line = { .width = width };
	unsigned int i;

	memledger_line_append(&line,
			      "%llu processes, PSS %s, swap %s%s; %llu us of work in %llu us",
			      info->nr, memledger_size_text(total->pss, pss),
			      memledger_size_text(total->swap, swap),
			      info->complete ? "" : ", INCOMPLETE",
			      info->walk_ns / 1000,
			      (info->end_ns - info->start_ns) / 1000);
	memledger_line_print(out, &line);
	memledger_line_append(&line, "at %llu.%03llu s after boot, profile %s; kB, by ",
			      info->end_ns / 1000000000,
			      info->end_ns / 1000000 % 1000,
			      info->profile->name);
	/* The heading of a category does not say which of its numbers it is. */
	if (label)
		memledger_line_append(&line, "%s ", label);
	memledger_line_append(&line, "%s%s", key_label(order->key),
			      order->reverse ? ", reversed" : "");
	memledger_line_print(out, &line);
	memledger_line_append(&line, "%*s", PID_WIDTH, "PID");
	for (i = 0; i < picture->nr; i++)
		memledger_line_append(&line, "%*s", COLUMN_WIDTH,
				      picture->column[i].label);
	memledger_line_append(&line, info->foreign ? "  comm" : "  name");
	memledger_line_print(out, &line);
}

static void print_process(FILE *out, const struct picture *picture,
			  const struct memledger_system_process *process,
			  unsigned int width)
{
	char *name = memledger_escape_text(process->name, "");
	struct memledger_line line = { .width = width };
	unsigned int i;

	memledger_line_append(&line, "%*d", PID_WIDTH, process->pid);
	for (i = 0; i < picture->nr; i++) {
		const struct column *column = &picture->column[i];
		const struct memledger_system_row *row =
			column->category < NR_MEMLEDGER_CATEGORIES ?
			&process->category[column->category] :
			&process->total;
		u64 kb = memledger_system_number(row, column->key) >> 10;

		if (row->known)
			memledger_line_append(&line, "%*llu", COLUMN_WIDTH, kb);
		else
			memledger_line_append(&line, "%*s", COLUMN_WIDTH, "-");
	}
	memledger_line_append(&line, "  %s", name ? name : "(out of memory)");
	free(name);
	memledger_line_print(out, &line);
}

static size_t nr_lines(const struct picture *picture,
		       const struct memledger_terminal *terminal)
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
		struct memledger_terminal *terminal)
{
	struct picture picture = {
		.live = live,
		.wanted = wanted,
		.order = order,
	};
	char *text = NULL;
	size_t len = 0, i, nr;
	FILE *out;

	memledger_terminal_measure(terminal);
	out = open_memstream(&text, &len);
	if (!out)
		return -1;
	choose_columns(&picture, terminal->width);
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
	memledger_terminal_show(terminal, text, len);
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

/* What came first: a key, the time for the next picture, or a signal. */
static enum action wait_for(u64 until, struct memledger_terminal *terminal,
			    const struct memledger_system *system,
			    struct memledger_system_order *order)
{
	char key;

	switch (memledger_terminal_wait(terminal, until, NULL, &key)) {
	case MEMLEDGER_TERMINAL_KEY:
		return press(key, system, order);
	case MEMLEDGER_TERMINAL_TIME:
		return ACTION_READ;
	case MEMLEDGER_TERMINAL_DRAW:
		return ACTION_DRAW;
	default:
		return ACTION_QUIT;
	}
}

/* Return: ACTION_READ, ACTION_QUIT, or -1 with the error set. */
static int show(struct memledger_system_live *live,
		const struct memledger_top_wanted *wanted,
		struct memledger_system_order *order,
		struct memledger_terminal *terminal, bool last,
		struct memledger_error *error)
{
	u64 until = memledger_terminal_now_ms() + wanted->delay_ms;
	enum action action = ACTION_DRAW;

	/* It stays behind, on the screen that was there before. */
	if (last)
		memledger_terminal_leave(terminal);
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
		struct memledger_terminal *terminal,
		struct memledger_error *error)
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
	struct memledger_terminal terminal;
	int ret;

	memledger_terminal_begin(&terminal, wanted->batch);
	ret = loop(sysfs, proc, wanted, &terminal, error);
	memledger_terminal_end(&terminal);
	return ret;
}
