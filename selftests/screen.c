// SPDX-License-Identifier: GPL-2.0-only
/*
 * A terminal's screen; see screen.h. It is strict: a real one would wrap, scroll
 * and obey much more than a view should send.
 */
#include "testlib.h"

#include "screen.h"

void screen_init(struct screen *screen, unsigned int columns,
		 unsigned int rows)
{
	memset(screen, 0, sizeof(*screen));
	screen_resize(screen, columns, rows);
}

/**
 * screen_resize() - as if the window were another size from now on
 * @screen: the screen; it is empty until it is drawn on again
 * @columns: SCREEN_COLUMNS at the most
 * @rows: SCREEN_ROWS at the most
 */
void screen_resize(struct screen *screen, unsigned int columns,
		   unsigned int rows)
{
	screen->columns = columns;
	screen->rows = rows;
	screen->row = 0;
	screen->column = 0;
	memset(screen->cell, 0, sizeof(screen->cell));
}

static void note_odd(struct screen *screen, const char *text)
{
	for (; *text && strlen(screen->odd) + 3 < sizeof(screen->odd); text++)
		sprintf(screen->odd + strlen(screen->odd), " %02x",
			(unsigned char)*text);
}

/* All behind the cursor. */
static void clear_rest(struct screen *screen)
{
	for (unsigned int i = screen->row; i < SCREEN_ROWS; i++) {
		unsigned int column = i == screen->row ? screen->column : 0;

		memset(&screen->cell[i][column], 0,
		       sizeof(screen->cell[i]) - column);
	}
}

static void obey(struct screen *screen)
{
	const char *what = screen->sequence + 1;

	if (!strcmp(what, "[H")) {
		screen->row = 0;
		screen->column = 0;
	} else if (!strcmp(what, "[J")) {
		screen->pictures += !screen->row && !screen->column;
		clear_rest(screen);
	} else if (!strcmp(what, "[?1049h") || !strcmp(what, "[?1049l")) {
		screen->other = what[6] == 'h';
		screen_resize(screen, screen->columns, screen->rows);
	} else if (!strcmp(what, "[?25h") || !strcmp(what, "[?25l")) {
		screen->hidden = what[4] == 'l';
	} else {
		note_odd(screen, screen->sequence);
	}
}

/* Return: whether the byte belongs to an escape sequence. */
static bool take_sequence(struct screen *screen, char c)
{
	size_t len = strlen(screen->sequence);

	if (!len && c != '\033')
		return false;
	screen->sequence[len] = c;
	screen->sequence[len + 1] = '\0';
	/* ESC, a bracket, numbers, and what ends it. */
	if (!len || (len == 1 && c == '[') ||
	    (len > 1 && len < sizeof(screen->sequence) - 2 && c >= ' ' &&
	     c < '@'))
		return true;
	obey(screen);
	screen->sequence[0] = '\0';
	return true;
}

static void end_line(struct screen *screen)
{
	if (screen->row + 1 < screen->rows) {
		screen->row++;
		return;
	}
	screen->scrolled += screen->other;
	memmove(screen->cell[0], screen->cell[1],
		screen->row * sizeof(screen->cell[0]));
	memset(screen->cell[screen->row], 0, sizeof(screen->cell[0]));
}

static void show(struct screen *screen, char c)
{
	if (screen->column == screen->columns) {
		screen->too_wide += screen->other;
		end_line(screen);
		screen->column = 0;
	}
	screen->cell[screen->row][screen->column++] = c;
}

static void write_one(struct screen *screen, char c)
{
	char text[2] = { c };

	if (take_sequence(screen, c))
		return;
	if (!screen->other && c != '\r' &&
	    screen->main_len < sizeof(screen->main) - 1)
		screen->main[screen->main_len++] = c;
	if (c == '\r')
		screen->column = 0;
	else if (c == '\n')
		end_line(screen);
	else if (c >= ' ' && c <= '~')
		show(screen, c);
	else
		note_odd(screen, c ? text : "NUL");
}

/**
 * screen_write() - what a program wrote arrives
 * @screen: the screen
 * @text: any bytes; a sequence may be in two pieces
 * @len: how many
 */
void screen_write(struct screen *screen, const char *text, size_t len)
{
	while (len--)
		write_one(screen, *text++);
}

/* For a log. */
void screen_print(const struct screen *screen)
{
	for (unsigned int i = 0; i < screen->rows; i++)
		printf("# |%s\n", screen->cell[i]);
	printf("# cursor %u, %u%s; pictures %u, too wide %u, scrolled %u, odd%s\n",
	       screen->row, screen->column, screen->other ? " other" : "",
	       screen->pictures, screen->too_wide, screen->scrolled,
	       screen->odd);
}
