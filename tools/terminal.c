// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pictures in; a terminal that shows them, and is as before when this ends,
 * however it ends but by SIGKILL.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

/* Where nobody says how wide it is. */
#define DEFAULT_WIDTH	80
#define DEFAULT_HEIGHT	24

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
static void enter_terminal(struct memledger_terminal *terminal)
{
	struct termios raw = terminal->before;

	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	write_text("\033[?1049h\033[?25l");
}

static void leave_terminal(struct memledger_terminal *terminal)
{
	write_text("\033[?25h\033[?1049l");
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->before);
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

/**
 * memledger_line_append - append to a line
 * @line: what there is no room for is cut off
 * @format: as for printf()
 */
void memledger_line_append(struct memledger_line *line, const char *format, ...)
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

/**
 * memledger_line_print - print a line
 * @out: where to
 * @line: empty afterwards
 */
void memledger_line_print(FILE *out, struct memledger_line *line)
{
	fprintf(out, "%.*s\n", (int)line->len, line->text);
	line->len = 0;
}

/**
 * memledger_terminal_begin - prepare for pictures
 * @terminal: what to fill
 * @batch: they are for a file, even where there is a terminal
 *
 * From here on signals wait for memledger_terminal_wait().
 */
void memledger_terminal_begin(struct memledger_terminal *terminal, bool batch)
{
	memset(terminal, 0, sizeof(*terminal));
	terminal->live = !batch && isatty(STDOUT_FILENO) &&
			 !tcgetattr(STDIN_FILENO, &terminal->before);
	terminal->fits = terminal->live;
	catch_signals(&terminal->waiting);
	if (terminal->live)
		enter_terminal(terminal);
}

/**
 * memledger_terminal_measure - find out how large it is now
 * @terminal: gets width and height
 */
void memledger_terminal_measure(struct memledger_terminal *terminal)
{
	struct winsize size;

	terminal->width = DEFAULT_WIDTH;
	terminal->height = terminal->fits ? DEFAULT_HEIGHT : 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		return;
	if (size.ws_col)
		terminal->width = size.ws_col < MEMLEDGER_TERMINAL_WIDTH ?
				  size.ws_col : MEMLEDGER_TERMINAL_WIDTH;
	if (size.ws_row && terminal->fits)
		terminal->height = size.ws_row;
}

/*
 * As much of a picture as there is room for. Behind the last line of a terminal a
 * newline would move all others up.
 */
static size_t fitting(const struct memledger_terminal *terminal,
		      const char *text, size_t len)
{
	unsigned int lines = 0;
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] == '\n' && ++lines == terminal->height)
			return i;
	return len;
}

/**
 * memledger_terminal_show - show a picture
 * @terminal: in the place of the last picture there, and cut where it ends, or
 *	below the last picture in a file
 * @text: the picture
 * @len: its length, bytes
 */
void memledger_terminal_show(const struct memledger_terminal *terminal,
			     const char *text, size_t len)
{
	if (!terminal->live) {
		fwrite(text, 1, len, stdout);
		return;
	}
	write_text("\033[H\033[J");
	write_all(text, fitting(terminal, text, len));
}

/**
 * memledger_terminal_wait - wait for what comes first
 * @terminal: whose keys to wait for
 * @until_ms: by memledger_terminal_now_ms(); U64_MAX for no end
 * @also: what else to wait for, or NULL
 * @key: gets the key
 *
 * Return: enum memledger_terminal_event.
 */
enum memledger_terminal_event
memledger_terminal_wait(struct memledger_terminal *terminal, u64 until_ms,
			struct pollfd *also, char *key)
{
	struct pollfd fds[2] = {
		{ .fd = terminal->live ? STDIN_FILENO : -1, .events = POLLIN },
		{ .fd = -1 },
	};
	u64 now = memledger_terminal_now_ms();
	u64 left = until_ms > now ? until_ms - now : 0;
	const struct timespec timeout = {
		.tv_sec = left / 1000,
		.tv_nsec = left % 1000 * 1000000,
	};
	int ret;

	if (also)
		fds[1] = *also;
	ret = ppoll(fds, ARRAY_SIZE(fds), until_ms == UINT64_MAX ? NULL :
		    &timeout, &terminal->waiting);
	if (ended_by)
		return MEMLEDGER_TERMINAL_END;
	if (stopped) {
		stopped = 0;
		if (terminal->live)
			leave_terminal(terminal);
		raise(SIGSTOP);
		if (terminal->live)
			enter_terminal(terminal);
		return MEMLEDGER_TERMINAL_DRAW;
	}
	if (ret < 0)
		return MEMLEDGER_TERMINAL_DRAW;	/* another size */
	if (!ret)
		return MEMLEDGER_TERMINAL_TIME;
	if (also)
		also->revents = fds[1].revents;
	if (!fds[0].revents)
		return MEMLEDGER_TERMINAL_ALSO;
	/* Nobody will press a key any more. */
	if (read(STDIN_FILENO, key, 1) != 1)
		return MEMLEDGER_TERMINAL_END;
	return MEMLEDGER_TERMINAL_KEY;
}

/**
 * memledger_terminal_leave - let what is shown from now on stay behind
 * @terminal: no terminal any more
 *
 * It appears on the screen that was there before.
 */
void memledger_terminal_leave(struct memledger_terminal *terminal)
{
	if (terminal->live)
		leave_terminal(terminal);
	terminal->live = false;
}

/**
 * memledger_terminal_end - end, by the signal if there was one
 * @terminal: as it was before
 */
void memledger_terminal_end(struct memledger_terminal *terminal)
{
	memledger_terminal_leave(terminal);
	/* Whoever waits for us sees by what we ended. */
	if (ended_by) {
		fflush(stdout);
		signal(ended_by, SIG_DFL);
		sigprocmask(SIG_SETMASK, &terminal->waiting, NULL);
		raise(ended_by);
	}
}

/**
 * memledger_terminal_now_ms - the time
 *
 * Return: ms, CLOCK_MONOTONIC.
 */
u64 memledger_terminal_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}
