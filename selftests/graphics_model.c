// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that do what they are told over a socket, and the model of what
 * they have then; see graphics_model.h. The model knows the rules only as the
 * documents tell them: nothing is shared with the code under test.
 *
 * Functions that tell a process to do something return 0 or more, or a
 * negative errno, and then nothing has changed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graphics_model.h"
#include "kgsl.h"
#include "testlib.h"

enum order_kind {
	ORDER_OPEN_GPU,
	ORDER_CLOSE_GPU,
	ORDER_ALLOC,
	ORDER_IMPORT,
	ORDER_IMPORT_ADDR,
	ORDER_FREE,
	ORDER_MAP,
	ORDER_UNMAP,
	ORDER_NEW_BUFFER,
	ORDER_DUP,
	ORDER_CLOSE,
	ORDER_MAP_BUFFER,
	ORDER_UNMAP_BUFFER,
	ORDER_SEND,
	ORDER_RECEIVE,
	ORDER_FORK,
};

struct order {
	enum order_kind kind;
	int id;
	int buffer;
	int slot;
	u64 size;
	u64 flags;
};

/* @ino: of a new buffer. */
struct answer {
	long long ret;
	u64 ino;
};

/*
 * The process's side
 */

struct mapping {
	int what;	/* entry or buffer; -1: free */
	void *addr;
	size_t len;
};

#define MAX_MAPPINGS	256
#define MAX_FDS		64

static struct hand {
	int gpu;
	struct { int buffer, fd; } fds[MAX_FDS];
	struct mapping entry[MAX_MAPPINGS];
	struct mapping buffer[MAX_MAPPINGS];
} hand;

static int keep_fd(int buffer, int fd)
{
	int i;

	for (i = 0; i < MAX_FDS && hand.fds[i].fd >= 0; i++)
		;
	if (i == MAX_FDS) {
		close(fd);
		return -EMFILE;
	}
	hand.fds[i].buffer = buffer;
	hand.fds[i].fd = fd;
	return 0;
}

static int *find_fd(int buffer)
{
	int i;

	for (i = 0; i < MAX_FDS; i++)
		if (hand.fds[i].fd >= 0 && hand.fds[i].buffer == buffer)
			return &hand.fds[i].fd;
	return NULL;
}

static int keep_mapping(struct mapping *list, int what, void *addr, size_t len)
{
	int i;

	if (addr == MAP_FAILED)
		return -errno;
	for (i = 0; i < MAX_MAPPINGS && list[i].what >= 0; i++)
		;
	if (i == MAX_MAPPINGS) {
		munmap(addr, len);
		return -EMFILE;
	}
	list[i] = (struct mapping){ what, addr, len };
	return 0;
}

static int drop_mapping(struct mapping *list, int what)
{
	int i;

	for (i = 0; i < MAX_MAPPINGS && list[i].what != what; i++)
		;
	if (i == MAX_MAPPINGS)
		return -ENOENT;
	list[i].what = -1;
	return munmap(list[i].addr, list[i].len) ? -errno : 0;
}

/* Memory of ours that the GPU pins; it goes with the process. */
static int import_addr(const struct order *order)
{
	void *addr = mmap(NULL, order->size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		return -errno;
	memset(addr, 1, order->size);
	return kgsl_import_addr(hand.gpu, addr, order->size, order->flags);
}

static int new_buffer(const struct order *order, u64 *ino)
{
	int fd = order->flags ? dmabuf_from_heap(order->size) :
		 dmabuf_from_memfd(order->size);

	if (fd < 0)
		return fd;
	*ino = dmabuf_inode(fd);
	return keep_fd(order->buffer, fd);
}

union control {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int send_with_fd(int sock, const void *data, size_t len, int fd)
{
	struct iovec iov = { (void *)data, len };
	union control control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	if (fd >= 0) {
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -EPIPE;
}

static int receive_with_fd(int sock, void *data, size_t len, int *fd)
{
	struct iovec iov = { data, len };
	union control control;
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg;
	ssize_t nr;

	*fd = -1;
	do {
		nr = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (nr < 0 && errno == EINTR);
	if (nr != (ssize_t)len)
		return -EPIPE;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(cmsg), sizeof(int));
	return 0;
}

static void __noreturn obey(int sock);

/*
 * The child has what we have, but for the GPU's file, and mappings of the
 * GPU's memory, which are not inherited. Returns the end to talk to it.
 */
static int fork_hand(int sock, pid_t *child)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (!pid) {
		close(sock);
		close(pair[0]);
		if (hand.gpu >= 0)
			close(hand.gpu);
		hand.gpu = -1;
		obey(pair[1]);
	}
	close(pair[1]);
	*child = pid;
	if (pid > 0)
		return pair[0];
	close(pair[0]);
	return -errno;
}

static long long carry_out(const struct order *order, int sock, int fd,
			   struct answer *answer, int *send)
{
	int *found, ret;
	pid_t child = 0;

	switch (order->kind) {
	case ORDER_OPEN_GPU:
		hand.gpu = kgsl_open();
		return hand.gpu < 0 ? hand.gpu : 0;
	case ORDER_CLOSE_GPU:
		ret = close(hand.gpu);
		hand.gpu = -1;
		return ret;
	case ORDER_ALLOC:
		return kgsl_alloc(hand.gpu, order->size, order->flags);
	case ORDER_IMPORT:
		found = find_fd(order->buffer);
		return found ? kgsl_import_dmabuf(hand.gpu, *found,
						  order->flags) : -EBADF;
	case ORDER_IMPORT_ADDR:
		return import_addr(order);
	case ORDER_FREE:
		return kgsl_free(hand.gpu, order->id);
	case ORDER_MAP:
		return keep_mapping(hand.entry, order->slot,
				    kgsl_map(hand.gpu, order->id, order->size),
				    order->size);
	case ORDER_UNMAP:
		return drop_mapping(hand.entry, order->slot);
	case ORDER_NEW_BUFFER:
		return new_buffer(order, &answer->ino);
	case ORDER_DUP:
		found = find_fd(order->buffer);
		return found ? keep_fd(order->buffer, dup(*found)) : -EBADF;
	case ORDER_CLOSE:
		found = find_fd(order->buffer);
		if (!found)
			return -EBADF;
		close(*found);
		*found = -1;
		return 0;
	case ORDER_MAP_BUFFER:
		found = find_fd(order->buffer);
		return found ? keep_mapping(hand.buffer, order->buffer,
					    mmap(NULL, order->size,
						 PROT_READ | PROT_WRITE,
						 MAP_SHARED, *found, 0),
					    order->size) : -EBADF;
	case ORDER_UNMAP_BUFFER:
		return drop_mapping(hand.buffer, order->buffer);
	case ORDER_SEND:
		found = find_fd(order->buffer);
		if (!found)
			return -EBADF;
		*send = *found;
		return 0;
	case ORDER_RECEIVE:
		return keep_fd(order->buffer, fd);
	case ORDER_FORK:
		ret = fork_hand(sock, &child);
		if (ret < 0)
			return ret;
		*send = ret;
		return child;
	}
	return -EINVAL;
}

static void __noreturn obey(int sock)
{
	struct order order;
	int fd;

	while (!receive_with_fd(sock, &order, sizeof(order), &fd)) {
		struct answer answer = {};
		int send = -1;

		answer.ret = carry_out(&order, sock, fd, &answer, &send);
		send_with_fd(sock, &answer, sizeof(answer), send);
		if (order.kind == ORDER_FORK && send >= 0)
			close(send);
	}
	_exit(0);
}

/*
 * Ours
 */

static long long tell_with_fd(struct model_process *process,
			      const struct order *order, int fd,
			      struct answer *answer, int *got)
{
	int received = -1;
	int ret = send_with_fd(process->sock, order, sizeof(*order), fd);

	if (!ret)
		ret = receive_with_fd(process->sock, answer, sizeof(*answer),
				      &received);
	if (got)
		*got = -1;
	if (ret)
		return ret;
	if (got)
		*got = received;
	else if (received >= 0)
		close(received);
	return answer->ret;
}

static long long tell(struct model_process *process, const struct order *order)
{
	struct answer answer;

	return tell_with_fd(process, order, -1, &answer, NULL);
}

int model_start(struct model *model, int p)
{
	struct model_process *process = &model->process[p];
	int pair[2], i;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	process->pid = fork();
	if (process->pid < 0)
		return -errno;
	if (!process->pid) {
		/* Files of others would be descriptors of ours. */
		for (i = 0; i < MODEL_PROCESSES; i++)
			if (i != p && model->process[i].pid)
				close(model->process[i].sock);
		close(pair[0]);
		/* Its own children are nobody's to wait for. */
		signal(SIGCHLD, SIG_IGN);
		hand.gpu = -1;
		for (i = 0; i < MAX_FDS; i++)
			hand.fds[i].fd = -1;
		for (i = 0; i < MAX_MAPPINGS; i++) {
			hand.entry[i].what = -1;
			hand.buffer[i].what = -1;
		}
		obey(pair[1]);
	}
	close(pair[1]);
	process->sock = pair[0];
	return 0;
}

static void drop_entry(struct model_entry *entry)
{
	entry->used = false;
}

/* The last mapping or the last word of user space, whichever comes later. */
static void settle_entry(struct model_entry *entry)
{
	if (!entry->maps && entry->freed)
		drop_entry(entry);
}

/* Whether a mapping keeps the GPU's file, and with it all entries. */
static bool keeps_file(const struct model *model,
		       const struct model_entry *entry)
{
	return entry->used && entry->maps &&
	       (!model->shmem ||
		entry->flags & KGSL_MEMFLAGS_STANDIN_CONTIGUOUS);
}

static bool has_file(const struct model *model, int p)
{
	int e;

	for (e = 0; e < MODEL_ENTRIES; e++)
		if (model->entry[e].owner == p &&
		    keeps_file(model, &model->entry[e]))
			return true;
	return model->process[p].gpu;
}

/* With the file goes what is not mapped. */
static void settle_process(struct model *model, int p)
{
	int e;

	if (has_file(model, p))
		return;
	for (e = 0; e < MODEL_ENTRIES; e++) {
		struct model_entry *entry = &model->entry[e];

		if (!entry->used || entry->owner != p)
			continue;
		entry->freed = true;
		settle_entry(entry);
	}
}

/**
 * model_knows_process() - whether the driver has a process in its list
 * @model: the model
 * @p: the process
 * Return: true from its opening the GPU until file and entries are gone
 */
bool model_knows_process(const struct model *model, int p)
{
	int e;

	for (e = 0; e < MODEL_ENTRIES; e++)
		if (model->entry[e].used && model->entry[e].owner == p)
			return true;
	return has_file(model, p);
}

static void forget_process(struct model *model, int p)
{
	struct model_process *process = &model->process[p];
	int e;

	close(process->sock);
	memset(process, 0, sizeof(*process));
	for (e = 0; e < MODEL_ENTRIES; e++)
		if (model->entry[e].owner == p)
			drop_entry(&model->entry[e]);
}

/**
 * model_end() - let a process exit
 * @model: the model
 * @p: which
 * Return: 0, once it is gone
 */
int model_end(struct model *model, int p)
{
	pid_t pid = model->process[p].pid;

	forget_process(model, p);
	/* Ours is to be waited for, a child of another goes by itself. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	while (!kill(pid, 0))
		usleep(1000);
	return 0;
}

int model_fork(struct model *model, int p, int child)
{
	struct order order = { .kind = ORDER_FORK };
	struct model_process *process = &model->process[child];
	struct answer answer;
	long long pid;
	int sock;

	pid = tell_with_fd(&model->process[p], &order, -1, &answer, &sock);
	if (pid < 0)
		return pid;
	*process = model->process[p];
	process->pid = pid;
	process->sock = sock;
	process->gpu = false;
	return 0;
}

int model_open_gpu(struct model *model, int p)
{
	struct order order = { .kind = ORDER_OPEN_GPU };
	int ret = tell(&model->process[p], &order);

	if (!ret)
		model->process[p].gpu = true;
	return ret;
}

int model_close_gpu(struct model *model, int p)
{
	struct order order = { .kind = ORDER_CLOSE_GPU };
	int ret = tell(&model->process[p], &order);

	if (ret)
		return ret;
	model->process[p].gpu = false;
	settle_process(model, p);
	return 0;
}

static struct model_entry *free_entry(struct model *model)
{
	int e;

	for (e = 0; e < MODEL_ENTRIES; e++)
		if (!model->entry[e].used)
			return &model->entry[e];
	return NULL;
}

/* Tells @p to get an entry, and notes it. Returns its index. */
static int get_entry(struct model *model, int p, struct order *order,
		     const struct model_entry *what)
{
	struct model_entry *entry = free_entry(model);
	long long id;

	if (!entry)
		return -ENOSPC;
	order->flags = what->flags | KGSL_TYPE_NR(what->usage);
	id = tell(&model->process[p], order);
	if (id <= 0)
		return id ?: -EBADMSG;
	*entry = *what;
	entry->used = true;
	entry->owner = p;
	entry->id = id;
	entry->size = order->size;
	return entry - model->entry;
}

int model_alloc(struct model *model, int p, u64 size, int usage, u64 flags)
{
	struct order order = { .kind = ORDER_ALLOC, .size = size };
	const struct model_entry what = {
		.kind = MEMLEDGER_GPU_DRIVER,
		.usage = usage,
		.flags = flags,
	};

	return get_entry(model, p, &order, &what);
}

int model_import_addr(struct model *model, int p, u64 size, int usage)
{
	struct order order = { .kind = ORDER_IMPORT_ADDR, .size = size };
	const struct model_entry what = {
		.kind = MEMLEDGER_GPU_USER,
		.usage = usage,
	};

	return get_entry(model, p, &order, &what);
}

int model_import(struct model *model, int p, int b, int usage)
{
	struct order order = {
		.kind = ORDER_IMPORT,
		.buffer = b,
		.size = model->buffer[b].size,
	};
	const struct model_entry what = {
		.kind = MEMLEDGER_GPU_DMABUF,
		.usage = usage,
		.buffer = b,
		.order = ++model->imports,
	};

	return get_entry(model, p, &order, &what);
}

int model_free(struct model *model, int e)
{
	struct model_entry *entry = &model->entry[e];
	struct order order = { .kind = ORDER_FREE, .id = entry->id };
	int ret = tell(&model->process[entry->owner], &order);

	if (ret)
		return ret;
	entry->freed = true;
	settle_entry(entry);
	return 0;
}

int model_map(struct model *model, int e)
{
	struct model_entry *entry = &model->entry[e];
	struct order order = {
		.kind = ORDER_MAP,
		.id = entry->id,
		.slot = e,
		.size = entry->size,
	};
	int ret = tell(&model->process[entry->owner], &order);

	if (!ret)
		entry->maps++;
	return ret;
}

int model_unmap(struct model *model, int e)
{
	struct model_entry *entry = &model->entry[e];
	struct order order = { .kind = ORDER_UNMAP, .slot = e };
	int ret = tell(&model->process[entry->owner], &order);

	if (ret)
		return ret;
	entry->maps--;
	settle_entry(entry);
	settle_process(model, entry->owner);
	return 0;
}

/* A buffer that nobody has is gone. */
static void settle_buffer(struct model *model, int b)
{
	int p, e;

	for (p = 0; p < MODEL_PROCESSES; p++)
		if (model->process[p].fds[b] || model->process[p].maps[b])
			return;
	for (e = 0; e < MODEL_ENTRIES; e++)
		if (model->entry[e].used &&
		    model->entry[e].kind == MEMLEDGER_GPU_DMABUF &&
		    model->entry[e].buffer == b)
			return;
	model->buffer[b].ino = 0;
}

static void settle_buffers(struct model *model)
{
	int b;

	for (b = 0; b < MODEL_BUFFERS; b++)
		if (model->buffer[b].ino)
			settle_buffer(model, b);
}

/* @heap: of the system heap, else of a memfd. Returns its index. */
int model_new_buffer(struct model *model, int p, u64 size, bool heap)
{
	struct order order = {
		.kind = ORDER_NEW_BUFFER,
		.size = size,
		.flags = heap,
	};
	struct answer answer;
	int b, ret;

	settle_buffers(model);
	for (b = 0; b < MODEL_BUFFERS && model->buffer[b].ino; b++)
		;
	if (b == MODEL_BUFFERS)
		return -ENOSPC;
	order.buffer = b;
	ret = tell_with_fd(&model->process[p], &order, -1, &answer, NULL);
	if (ret)
		return ret;
	model->buffer[b] = (struct model_buffer){ answer.ino, size };
	model->process[p].fds[b]++;
	return b;
}

int model_dup(struct model *model, int p, int b)
{
	struct order order = { .kind = ORDER_DUP, .buffer = b };
	int ret = tell(&model->process[p], &order);

	if (!ret)
		model->process[p].fds[b]++;
	return ret;
}

int model_close(struct model *model, int p, int b)
{
	struct order order = { .kind = ORDER_CLOSE, .buffer = b };
	int ret = tell(&model->process[p], &order);

	if (!ret)
		model->process[p].fds[b]--;
	return ret;
}

int model_map_buffer(struct model *model, int p, int b, u64 len)
{
	struct order order = {
		.kind = ORDER_MAP_BUFFER,
		.buffer = b,
		.size = len,
	};
	int ret = tell(&model->process[p], &order);

	if (!ret)
		model->process[p].maps[b]++;
	return ret;
}

int model_unmap_buffer(struct model *model, int p, int b)
{
	struct order order = { .kind = ORDER_UNMAP_BUFFER, .buffer = b };
	int ret = tell(&model->process[p], &order);

	if (!ret)
		model->process[p].maps[b]--;
	return ret;
}

/* Hands a descriptor on; @from keeps its own. */
int model_pass(struct model *model, int from, int to, int b)
{
	struct order order = { .kind = ORDER_SEND, .buffer = b };
	struct answer answer;
	int fd, ret;

	ret = tell_with_fd(&model->process[from], &order, -1, &answer, &fd);
	if (ret)
		return ret;
	order.kind = ORDER_RECEIVE;
	ret = tell_with_fd(&model->process[to], &order, fd, &answer, NULL);
	close(fd);
	if (!ret)
		model->process[to].fds[b]++;
	return ret;
}

/*
 * What must be known
 */

/* What imports of a buffer there are. */
struct imports {
	u64 surfaces;
	u64 images;
	u64 all;
	const struct model_entry *first;
};

static bool imports_buffer(const struct model_entry *entry, int b)
{
	return entry->used && entry->kind == MEMLEDGER_GPU_DMABUF &&
	       entry->buffer == b;
}

static struct imports count_imports(const struct model *model, int b)
{
	struct imports imports = {};
	int e;

	for (e = 0; e < MODEL_ENTRIES; e++) {
		const struct model_entry *entry = &model->entry[e];

		if (!imports_buffer(entry, b))
			continue;
		imports.all++;
		/* KGSL counts both kinds of surface. */
		imports.surfaces += entry->usage == KGSL_MEMTYPE_EGL_SURFACE ||
				    entry->usage == KGSL_MEMTYPE_SURFACE;
		imports.images += entry->usage == KGSL_MEMTYPE_EGL_IMAGE;
		if (!imports.first || entry->order < imports.first->order)
			imports.first = entry;
	}
	return imports;
}

static u64 shared_by(u64 size, u64 nr)
{
	return nr ? size / nr : size;
}

static u64 expect_share(const struct model *model,
			const struct model_entry *entry,
			enum memledger_imported_rule rule)
{
	struct imports imports = count_imports(model, entry->buffer);
	bool surface = entry->usage == KGSL_MEMTYPE_EGL_SURFACE;

	if (rule == MEMLEDGER_IMPORTED_SHARED)
		return shared_by(entry->size,
				 imports.surfaces + imports.images);
	if (rule == MEMLEDGER_IMPORTED_SURFACE_FULL) {
		if (surface)
			return entry->size;
		return imports.surfaces ? 0 :
		       shared_by(entry->size, imports.images);
	}
	if (surface)
		return shared_by(entry->size, imports.surfaces);
	if (imports.surfaces)
		return 0;
	if (imports.all == 1 || imports.all == imports.images ||
	    entry->usage != KGSL_MEMTYPE_OBJECTANY)
		return shared_by(entry->size, imports.all);
	if (imports.first->owner == entry->owner)
		return 0;
	return shared_by(entry->size, imports.all - 1);
}

static int expect_usage(int memtype)
{
	if (memtype <= KGSL_MEMTYPE_MULTISAMPLE)
		return memtype;
	return memtype == KGSL_MEMTYPE_KERNEL ? MEMLEDGER_GPU_KERNEL :
	       MEMLEDGER_GPU_OTHER;
}

static void expect_entry(const struct model *model,
			 const struct model_entry *entry,
			 enum memledger_imported_rule rule,
			 struct memledger_graphics *graphics)
{
	if (entry->flags & KGSL_MEMFLAGS_VBO)
		return;
	graphics->entries++;
	graphics->usage[expect_usage(entry->usage)] += entry->size;
	switch (entry->kind) {
	case MEMLEDGER_GPU_DRIVER:
		if (entry->maps)
			graphics->gpumem_mapped += entry->size;
		else
			graphics->gpumem_unmapped += entry->size;
		if (!entry->maps ||
		    entry->flags & KGSL_MEMFLAGS_STANDIN_CONTIGUOUS)
			graphics->gpumem_unaccounted += entry->size;
		if (entry->flags & KGSL_MEMFLAGS_SECURE)
			graphics->gpumem_secure += entry->size;
		break;
	case MEMLEDGER_GPU_USER:
		graphics->usermem += entry->size;
		break;
	case MEMLEDGER_GPU_DMABUF:
		graphics->imported_size += entry->size;
		graphics->imported_mem += expect_share(model, entry, rule);
		graphics->egl_surface_count +=
			entry->usage == KGSL_MEMTYPE_EGL_SURFACE;
		graphics->egl_image_count +=
			entry->usage == KGSL_MEMTYPE_EGL_IMAGE;
		break;
	}
}

static bool holds(const struct model *model, int p, int b)
{
	int e;

	if (!model->process[p].pid)
		return false;
	if (model->process[p].fds[b] || model->process[p].maps[b])
		return true;
	for (e = 0; e < MODEL_ENTRIES; e++)
		if (imports_buffer(&model->entry[e], b) &&
		    model->entry[e].owner == p)
			return true;
	return false;
}

/**
 * model_expect() - what must be known of a process
 * @model: the model
 * @p: which process
 * @rule: how imports are divided
 * @numbers: gets it
 */
void model_expect(const struct model *model, int p,
		  enum memledger_imported_rule rule,
		  struct model_numbers *numbers)
{
	int b, e, q;

	memset(numbers, 0, sizeof(*numbers));
	for (e = 0; e < MODEL_ENTRIES; e++) {
		const struct model_entry *entry = &model->entry[e];

		if (entry->used && entry->owner == p)
			expect_entry(model, entry, rule, &numbers->graphics);
	}
	for (b = 0; b < MODEL_BUFFERS; b++) {
		u64 holders = 0;

		if (!holds(model, p, b))
			continue;
		for (q = 0; q < MODEL_PROCESSES; q++)
			holders += holds(model, q, b);
		numbers->dmabuf_count++;
		numbers->dmabuf_rss += model->buffer[b].size;
		numbers->dmabuf_pss += model->buffer[b].size / holders;
	}
}

/* What the driver has allocated, for all. */
u64 model_driver_total(const struct model *model)
{
	u64 total = 0;
	int e;

	for (e = 0; e < MODEL_ENTRIES; e++)
		if (model->entry[e].used &&
		    model->entry[e].kind == MEMLEDGER_GPU_DRIVER &&
		    !(model->entry[e].flags & KGSL_MEMFLAGS_VBO))
			total += model->entry[e].size;
	return total;
}
