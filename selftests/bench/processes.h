/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that are measured. They hold still; see start_process(). */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <sys/types.h>

#define MB		(1UL << 20)

#define APP_VMAS	20	/* of a cycle; see processes.c */
#define APP_CYCLES(vmas) ((vmas) / APP_VMAS)

/**
 * struct system - a zygote and its apps
 * @shared: cycles that the zygote maps before it forks
 * @own: cycles that each app maps itself
 * @apps: how many
 * @pid: gets their numbers, in memory that is shared
 */
struct system {
	unsigned int shared, own, apps;
	pid_t *pid;
};

void files_make(void);
void files_remove(void);

void run_app(void *cycles);
void run_system(void *system);
void map_few(void *arg);
void map_thp(void *arg);
void map_large(void *arg);
void map_plain(void *arg);
void map_reserve(void *arg);
void map_scattered(void *arg);
void map_many_times(void *arg);

#endif
