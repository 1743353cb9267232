/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that do the same again and again: a round for each order, and then
 * they hold still until the next one.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <sys/types.h>

#include <memledger/env.h>

/**
 * struct app - one of them
 * @pid: its number; 0 if it has ended
 * @orders: where it gets a byte for each round; the end for reading is its own
 * @done: where it says that it has done it; the end for writing is its own
 */
struct app {
	pid_t pid;
	int orders[2];
	int done[2];
};

int app_start(struct app *app, void (*round)(int round), const char *comm,
	      pid_t pid);
bool app_do_round(const struct app *app);
void app_end(struct app *app);

#endif
