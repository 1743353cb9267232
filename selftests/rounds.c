// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that do a round for each byte that they get; see rounds.h.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"

#include "rounds.h"

static void __noreturn run_app(const struct app *app, void (*round)(int round),
			       const char *comm)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, comm);
	/* Where a program that it executes finds them, too. */
	if (dup2(app->orders[0], STDIN_FILENO) < 0 ||
	    dup2(app->done[1], STDOUT_FILENO) < 0)
		_exit(1);
	/* What else there is, is not for it; nobody would see its end. */
	for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
		close(fd);
	for (int i = 0; read(STDIN_FILENO, &c, 1) == 1; i++) {
		round(i);
		if (write(STDOUT_FILENO, &c, 1) != 1)
			break;
	}
	_exit(0);
}

/**
 * app_start() - a new process, which waits for its first order
 * @app: what to fill
 * @round: what it does in round 0, 1...; it may execute a program that goes on
 *	with the round, and with its standard input and output
 * @comm: its name
 * @pid: which number it is to have, or 0 for any
 * Return: 0 or a negative errno
 */
int app_start(struct app *app, void (*round)(int round), const char *comm,
	      pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (unsigned long)&pid,
		.set_tid_size = 1,
	};

	if (pipe(app->orders) || pipe(app->done))
		return -errno;
	fflush(NULL);
	app->pid = pid ? syscall(__NR_clone3, &args, sizeof(args)) : fork();
	if (app->pid < 0)
		return -errno;
	if (!app->pid)
		run_app(app, round, comm);
	close(app->orders[0]);
	close(app->done[1]);
	return 0;
}

/**
 * app_do_round() - one round
 * @app: who does it
 * Return: whether it says that it has
 */
bool app_do_round(const struct app *app)
{
	char c = 0;

	return write(app->orders[1], &c, 1) == 1 &&
	       read(app->done[0], &c, 1) == 1;
}

void app_end(struct app *app)
{
	close(app->orders[1]);
	close(app->done[0]);
	if (app->pid > 0) {
		kill(app->pid, SIGKILL);
		waitpid(app->pid, NULL, 0);
	}
	app->pid = 0;
}
