/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests share: reading and writing the nodes, settings that are put
 * back, and processes that hold still.
 */
#ifndef TESTLIB_H
#define TESTLIB_H

#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/types.h>

#include <memledger/usage.h>

/* Newer than the C library's headers may be. */
#ifndef PR_SET_VMA
#define PR_SET_VMA	0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define NODES	"/sys/kernel/memledger/"
#define DETAILS	"/sys/kernel/debug/memledger/"

/* Seconds for a test: a debug kernel, emulated on a busy machine, is slow. */
#define TIMEOUT		300

#ifndef __printf
#define __printf(a, b)	__attribute__((format(printf, a, b)))
#endif
#ifndef __noreturn
#define __noreturn	__attribute__((noreturn))
#endif

int file_write(const char *path, const char *text);
ssize_t file_read(const char *path, void *buf, size_t size);
char *file_slurp(const char *path);
bool file_readable(const char *path);
int tree_walk(const char *path, int (*file)(const char *path));

int node_write(const char *node, const char *text);
int node_write_number(const char *node, long long number);
int node_refresh(pid_t tgid);
long long node_read(const char *fmt, ...) __printf(1, 2);
const char *nodes_missing(void);
bool node_tracked(pid_t tgid);
void nodes_describe(char *text, size_t size);

const char *setting_set(const char *path, const char *value);
void settings_restore(void);

int module_load(const char *path, const char *parameters);
int module_unload(const char *name);
const char *memledger_ko(void);

const char *tool_missing(void);
char *tool_run(const char *fmt, ...) __printf(1, 2);

int drop_cap_sys_ptrace(void);
int nr_seen(const char *const *paths, const int *fds, size_t nr);
int become_nobody(void);

size_t page_size(void);
void *map_alone(size_t len, int prot, int flags, int fd, off_t offset);
void touch(void *start, size_t len);
void read_pages(const void *start, size_t len);
const char *beside_me(const char *name);

void use_one_processor(void);
pid_t start_process(void (*run)(void *arg), void *arg);
pid_t start_program(char *const argv[]);
int wait_stopped(pid_t pid);
char process_state(pid_t pid);
void wait_for_state(pid_t pid, const char *states);
long long processor_ns(pid_t pid);
pid_t kill_later(pid_t pid, useconds_t delay);
void end_process(pid_t pid);
int exit_status(pid_t pid);

#endif
