// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live view of memledger watch on a terminal, of a process whose names would
 * harm one: that it fits whatever the size is, sends nothing that a terminal
 * acts upon but what draws it, and leaves the terminal as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "rounds.h"
#include "screen.h"
#include "testlib.h"

#include "kselftest_harness.h"

#define KB		1024
#define ROUNDS		20
#define LEAK		(64 * KB)

/* Longer than a picture takes on any machine. */
#define PICTURE_MS	120000

/* Clears the screen, rings, is a CSI of one byte, ends the line and so on. */
#define COMM		"\033[2J\a\233\n\177\t\\"
#define COMM_SHOWN	"\\033[2J\\007\\233\\012\\177\\011\\134"
#define NAME		"\033[7m\233\033]0;leak\a"
#define NAME_SHOWN	"/memfd:\\033[7m\\233\\033]0;leak\\007 (deleted)"

/* The last line of each picture, and how many there are at least. */
#define HELP		"q quits, m marks, blank: a round now"
#define LINES		6

static void leaks(int round)
{
	static int memfd = -1;
	char *p;

	if (memfd < 0)
		memfd = memfd_create(NAME, 0);
	if (memfd < 0 || ftruncate(memfd, (round + 1) * LEAK))
		_exit(1);
	p = map_alone(LEAK, PROT_READ | PROT_WRITE, MAP_SHARED, memfd,
		      round * LEAK);
	if (p == MAP_FAILED)
		_exit(1);
	touch(p, LEAK);
}

/*
 * The model of a terminal: what it would not see, the tests below would not
 */

static void write_screen(struct screen *screen, const char *text)
{
	screen_write(screen, text, strlen(text));
}

TEST(screen)
{
	static const char *const odd[] = {
		"\a", "\t", "\b", "\177", "\233", "\303\274", "\033[31m",
		"\033[2J", "\033]0;title", "\033c", "\033[?1000h",
	};
	static struct screen screen;

	screen_init(&screen, 4, 3);
	write_screen(&screen, "\033[?1049h\033[?25l\033[H\033[J1234\r\nab\r\n");
	EXPECT_STREQ(screen.cell[0], "1234");
	EXPECT_STREQ(screen.cell[1], "ab");
	EXPECT_EQ(screen.row, 2);
	EXPECT_EQ(screen.pictures, 1);
	EXPECT_TRUE(screen.other && screen.hidden);
	EXPECT_EQ(screen.too_wide + screen.scrolled, 0);
	EXPECT_STREQ(screen.odd, "");
	/* In two pieces, and over what was there. */
	write_screen(&screen, "\033[");
	write_screen(&screen, "H\033[Jx");
	EXPECT_STREQ(screen.cell[0], "x");
	EXPECT_STREQ(screen.cell[1], "");
	EXPECT_EQ(screen.pictures, 2);

	write_screen(&screen, "2345");
	EXPECT_EQ(screen.too_wide, 1);
	EXPECT_EQ(screen.scrolled, 0);
	write_screen(&screen, "\r\n\n");
	EXPECT_EQ(screen.scrolled, 1);
	/* On the main screen that is no harm, and is kept. */
	write_screen(&screen, "\033[?25h\033[?1049l12345\r\n\n\n\nend\r\n");
	EXPECT_FALSE(screen.other || screen.hidden);
	EXPECT_EQ(screen.too_wide, 1);
	EXPECT_EQ(screen.scrolled, 1);
	EXPECT_STREQ(screen.main, "12345\n\n\n\nend\n");

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		screen_init(&screen, 80, 24);
		write_screen(&screen, odd[i]);
		EXPECT_STRNE(screen.odd, "") TH_LOG("case %zu", i);
	}
}

FIXTURE(watch)
{
	struct app app;
	int master, slave;
	pid_t tool;
	struct termios before;
	struct screen screen;
	char marks[32];
	char want[SCREEN_COLUMNS * 2];
};

FIXTURE_SETUP(watch)
{
	const char *why = nodes_missing();

	self->master = -1;
	self->slave = -1;
	if (!why)
		why = tool_missing();
	if (why)
		SKIP(return, "%s", why);
	if (openpty(&self->master, &self->slave, NULL, NULL, NULL))
		SKIP(return, "no terminal: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	fcntl(self->master, F_SETFD, FD_CLOEXEC);
	ASSERT_EQ(tcgetattr(self->slave, &self->before), 0);
	snprintf(self->marks, sizeof(self->marks), "/tmp/marksXXXXXX");
	ASSERT_NE(mkdtemp(self->marks), NULL);
	setenv("MEMLEDGER_MARKS", self->marks, 1);
	ASSERT_EQ(app_start(&self->app, leaks, COMM, 0), 0);
	ASSERT_TRUE(app_do_round(&self->app));
}

FIXTURE_TEARDOWN(watch)
{
	end_process(self->tool);
	app_end(&self->app);
	close(self->master);
	close(self->slave);
	if (*self->marks)
		free(tool_run("rm -r %s", self->marks));
}

/* As a shell would start it in a window of its own. */
static pid_t start_tool(int slave, pid_t pid)
{
	char number[16];
	pid_t tool;

	snprintf(number, sizeof(number), "%d", pid);
	fflush(NULL);
	tool = fork();
	if (tool)
		return tool;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Its standard streams are the terminal, which is its session's. */
	if (login_tty(slave))
		_exit(126);
	execlp("memledger", "memledger", "watch", number, "--every", "1000m",
	       NULL);
	_exit(127);
}

/* Return: whether anything arrived within that time. */
static bool receive(int master, struct screen *screen, int timeout_ms)
{
	struct pollfd pfd = { .fd = master, .events = POLLIN };
	char text[4096];
	ssize_t len;

	if (poll(&pfd, 1, timeout_ms) <= 0)
		return false;
	len = read(master, text, sizeof(text));
	if (len <= 0)
		return false;
	screen_write(screen, text, len);
	return true;
}

/*
 * Whether all of a picture is there: its last line and the end of that, or, where
 * it is cut, a last row that is full.
 */
static bool is_whole(const struct screen *screen)
{
	const char *last = screen->cell[screen->rows - 1];
	size_t len = strlen(HELP);

	if (screen->rows < LINES)
		return strlen(last) == screen->columns;
	if (len > screen->columns)
		len = screen->columns;
	return screen->row && !screen->column &&
	       !strncmp(screen->cell[screen->row - 1], HELP, len);
}

/* Reads until there is another picture than number @before. */
static bool see(int master, struct screen *screen, unsigned int before)
{
	while (screen->pictures == before || !is_whole(screen)) {
		if (!receive(master, screen, PICTURE_MS)) {
			screen_print(screen);
			return false;
		}
	}
	return true;
}

static bool press(int master, struct screen *screen, char key)
{
	unsigned int before = screen->pictures;

	return write(master, &key, 1) == 1 && see(master, screen, before);
}

static int set_size(int master, struct screen *screen, unsigned int columns,
		    unsigned int rows)
{
	const struct winsize size = { .ws_col = columns, .ws_row = rows };

	screen_resize(screen, columns, rows);
	/* Sends the tool SIGWINCH, if it is there. */
	return ioctl(master, TIOCSWINSZ, &size) ? -errno : 0;
}

/* A window of another size, and the picture that is drawn in it. */
static bool resize(int master, struct screen *screen, unsigned int columns,
		   unsigned int rows)
{
	unsigned int before = screen->pictures;

	return !set_size(master, screen, columns, rows) &&
	       see(master, screen, before);
}

static bool same_termios(int tty, const struct termios *before)
{
	struct termios now;

	return !tcgetattr(tty, &now) && now.c_iflag == before->c_iflag &&
	       now.c_oflag == before->c_oflag &&
	       now.c_cflag == before->c_cflag &&
	       now.c_lflag == before->c_lflag &&
	       !memcmp(now.c_cc, before->c_cc, sizeof(now.c_cc));
}

#define SELF FIXTURE_DATA(watch)

static void start(struct __test_metadata *_metadata, SELF *self)
{
	screen_init(&self->screen, 80, 24);
	ASSERT_EQ(set_size(self->master, &self->screen, 80, 24), 0);
	self->tool = start_tool(self->slave, self->app.pid);
	ASSERT_GT(self->tool, 0);
	ASSERT_TRUE(see(self->master, &self->screen, 0));
	EXPECT_TRUE(self->screen.other);
	EXPECT_TRUE(self->screen.hidden);
	EXPECT_FALSE(same_termios(self->slave, &self->before));
}

static void expect_fits(struct __test_metadata *_metadata, SELF *self)
{
	EXPECT_EQ(self->screen.too_wide, 0);
	EXPECT_EQ(self->screen.scrolled, 0);
	EXPECT_STREQ(self->screen.odd, "");
}

/* What it was before it was drawn on. */
static void expect_restored(struct __test_metadata *_metadata, SELF *self)
{
	EXPECT_FALSE(self->screen.other);
	EXPECT_FALSE(self->screen.hidden);
	expect_fits(_metadata, self);
}

/* Return: the tool's status, once it has ended and all it wrote is read. */
static int end_tool(struct __test_metadata *_metadata, SELF *self)
{
	int status = exit_status(self->tool);

	self->tool = 0;
	EXPECT_TRUE(same_termios(self->slave, &self->before));
	/* When nobody has this end, the other end ends behind the last byte. */
	close(self->slave);
	self->slave = -1;
	while (receive(self->master, &self->screen, -1))
		;
	expect_restored(_metadata, self);
	return status;
}

/* That text, as far as the screen is wide. */
#define WANT(...)							\
({									\
	snprintf(self->want, self->screen.columns + 1, __VA_ARGS__);	\
	self->want;							\
})

#define EXPECT_ROW(number, ...)						\
	EXPECT_STREQ(self->screen.cell[number], WANT(__VA_ARGS__))

static bool has_row(const struct screen *screen, const char *text)
{
	for (unsigned int i = 0; i < screen->rows; i++) {
		if (!strcmp(screen->cell[i], text))
			return true;
	}
	printf("# no row: \"%s\"\n", text);
	screen_print(screen);
	return false;
}

/* What is drawn of @round rounds, but for the last line. */
static void expect_view(struct __test_metadata *_metadata, SELF *self,
			int round)
{
	int leaked = round * LEAK / KB;
	const char *row;

	EXPECT_ROW(0, COMM_SHOWN "[%d]: round %d, every 60000.00 s",
		   self->app.pid, round);
	row = strstr(self->screen.cell[1], "K Pss and swap, ");
	EXPECT_STREQ(row ?: self->screen.cell[1],
		     WANT("K Pss and swap, %lld VMAs",
			  node_read("processes/%d/total/vmas",
				    self->app.pid)));
	/* From the least on to the most. */
	row = self->screen.cell[2];
	EXPECT_EQ(strlen(row), round);
	EXPECT_EQ(*row, ' ');
	EXPECT_EQ(row[strlen(row) - 1], '@');
	EXPECT_ROW(3, "Verdict: growing, by mappings " NAME_SHOWN);
	EXPECT_TRUE(has_row(&self->screen, WANT("%8d,%03dK  mappings "
			NAME_SHOWN
			": growing, +64.0 kB a round since round 1",
			leaked / 1000, leaked % 1000)));
	expect_fits(_metadata, self);
}

#define EXPECT_SAYS(...)						\
do {									\
	snprintf(self->want, sizeof(self->want), __VA_ARGS__);		\
	EXPECT_NE(strstr(self->screen.main, self->want), NULL)		\
		TH_LOG("not in it: \"%s\"\n%s", self->want,		\
		       self->screen.main);				\
} while (0)

TEST_F_TIMEOUT(watch, fits, TIMEOUT)
{
	/* Down to windows that have no room for all of its lines. */
	static const unsigned int sizes[][2] = {
		{ 200, 50 }, { 40, 7 }, { 33, 5 }, { 20, 3 }, { 9, 2 }, { 1, 1 },
	};
	struct screen *screen = &self->screen;
	int master = self->master;
	char path[64];

	start(_metadata, self);
	for (int i = 1; i < ROUNDS; i++) {
		ASSERT_TRUE(app_do_round(&self->app));
		ASSERT_TRUE(press(master, screen, ' '));
	}
	expect_view(_metadata, self, ROUNDS);
	EXPECT_ROW(screen->row - 1, HELP);
	ASSERT_TRUE(resize(master, screen, 40, 12));
	expect_view(_metadata, self, ROUNDS);
	EXPECT_ROW(screen->row - 1, HELP);
	ASSERT_TRUE(app_do_round(&self->app));
	ASSERT_TRUE(press(master, screen, ' '));
	expect_view(_metadata, self, ROUNDS + 1);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		ASSERT_TRUE(resize(master, screen, sizes[i][0], sizes[i][1]));
		EXPECT_ROW(0, COMM_SHOWN "[%d]: round %d, every 60000.00 s",
			   self->app.pid, ROUNDS + 1);
		expect_fits(_metadata, self);
	}
	ASSERT_TRUE(resize(master, screen, 80, 24));
	expect_view(_metadata, self, ROUNDS + 1);

	ASSERT_TRUE(press(master, screen, 'm'));
	expect_view(_metadata, self, ROUNDS + 1);
	snprintf(path, sizeof(path), "%s/%d.json", self->marks,
		 self->app.pid);
	EXPECT_ROW(screen->row - 1, HELP "; marked in %s in round %d", path,
		   ROUNDS + 1);
	EXPECT_TRUE(file_readable(path));

	ASSERT_EQ(write(master, "q", 1), 1);
	EXPECT_EQ(end_tool(_metadata, self), 0);
	EXPECT_SAYS(COMM_SHOWN "[%d], %d rounds\n", self->app.pid, ROUNDS + 1);
	EXPECT_SAYS("\nVerdict: growing\n");
	EXPECT_SAYS("\nDriven by\n  mappings " NAME_SHOWN ": ");
}

/* By a key that the terminal makes a signal of. */
TEST_F_TIMEOUT(watch, interrupted, TIMEOUT)
{
	int status;

	start(_metadata, self);
	ASSERT_EQ(write(self->master, "\003", 1), 1);
	status = end_tool(_metadata, self);
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		TH_LOG("status %x", status);
	EXPECT_SAYS(COMM_SHOWN "[%d], 1 round\n", self->app.pid);
}

/* By somebody else: it tracks the process again, and waits as before. */
TEST_F_TIMEOUT(watch, untracked, TIMEOUT)
{
	long long before;

	start(_metadata, self);
	ASSERT_EQ(node_write_number("untrack", self->app.pid), 0);
	ASSERT_TRUE(press(self->master, &self->screen, ' '));
	ASSERT_TRUE(node_tracked(self->app.pid));
	before = processor_ns(self->tool);
	sleep(2);
	EXPECT_LT(processor_ns(self->tool) - before, 1000000000);

	/* A round is far away; the new file tells of this. */
	kill(self->app.pid, SIGKILL);
	EXPECT_EQ(end_tool(_metadata, self), 0);
}

TEST_F_TIMEOUT(watch, stopped, TIMEOUT)
{
	struct screen *screen = &self->screen;
	unsigned int before;

	start(_metadata, self);
	ASSERT_EQ(write(self->master, "\032", 1), 1);
	ASSERT_EQ(wait_stopped(self->tool), 0);
	EXPECT_TRUE(same_termios(self->slave, &self->before));
	while (screen->other || screen->hidden)
		ASSERT_TRUE(receive(self->master, screen, PICTURE_MS));
	expect_restored(_metadata, self);

	before = screen->pictures;
	kill(self->tool, SIGCONT);
	ASSERT_TRUE(see(self->master, screen, before));
	EXPECT_TRUE(screen->other && screen->hidden);
	expect_fits(_metadata, self);
	ASSERT_EQ(write(self->master, "q", 1), 1);
	EXPECT_EQ(end_tool(_metadata, self), 0);
}

TEST_HARNESS_MAIN
