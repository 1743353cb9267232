/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes that do with DMA-BUFs what they are told, one order at a time, and
 * otherwise hold still.
 */
#ifndef ACTOR_H
#define ACTOR_H

#include <sys/types.h>

#include <memledger/env.h>

#define NR_ACTORS	6
/* Descriptors and mappings that an actor can have by its own numbers. */
#define NR_SLOTS	8

/* What to do; the order's @slot is a descriptor's, @to as each says. */
enum actor_op {
	/* A buffer of @size from the test's exporter, with its flags in @to. */
	ACTOR_CREATE,
	/* A buffer of @size from the system heap, or of a memfd. */
	ACTOR_HEAP,
	ACTOR_UDMABUF,
	/* Names it by @text. */
	ACTOR_NAME,
	/* Another descriptor, in slot @to; @size of them, in none. */
	ACTOR_DUP,
	ACTOR_DUP_MANY,
	/* Another one of number @size, in slot @to. */
	ACTOR_DUP_TO,
	/* One that is opened with O_PATH, in slot @to. */
	ACTOR_OPEN_PATH,
	ACTOR_CLOSE,
	/* Maps the first @size bytes and reads them; into mapping @to. */
	ACTOR_MAP,
	/* Unmaps mapping @to. */
	ACTOR_UNMAP,
	/* Sends it to actor @to, and receives what was sent. */
	ACTOR_SEND,
	ACTOR_RECEIVE,
	/* The driver holds it, or says that this process has imported it. */
	ACTOR_HOLD,
	ACTOR_IMPORT,
	/* Forks; the child is actor @to. */
	ACTOR_FORK,
	/* A process that shares the table of descriptors, and is actor @to. */
	ACTOR_SHARE_TABLE,
	/* A thread with a table of its own keeps it, the others close it. */
	ACTOR_HIDE_IN_THREAD,
	/* A thread that shares everything, and the leader exits. */
	ACTOR_LOSE_LEADER,
	/* Does nothing. */
	ACTOR_NOTHING,
	ACTOR_EXIT,
};

struct actor_order {
	enum actor_op op;
	int slot;
	int to;
	u64 size;
	char text[40];
};

/**
 * struct actors - all of them
 * @pid: their numbers; 0 for one that is not there
 * @orders: where they are told; the other end is theirs
 * @mail: where what is sent to them waits
 */
struct actors {
	pid_t pid[NR_ACTORS];
	int orders[NR_ACTORS][2];
	int mail[NR_ACTORS][2];
};

int actors_init(struct actors *actors);
int actor_start(struct actors *actors, int i);
long long actor_do(struct actors *actors, int i,
		   const struct actor_order *order);
void actors_end(struct actors *actors);
const char *exporter_load(void);
void exporter_unload(void);
int exporter_tell(unsigned int command, long arg);

/* actor_do() of an order as it is written down. */
#define ACT(actors, i, ...) \
	actor_do(actors, i, &(struct actor_order) { __VA_ARGS__ })

#endif
