// SPDX-License-Identifier: GPL-2.0-only
/*
 * From orders to system calls on DMA-BUFs. Every process here inherits all
 * sockets, so that what is in flight does not depend on who lives.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "exporter.h"
#include "testlib.h"

#define DEVICE	"/dev/" EXPORTER_NAME

struct self {
	struct actors *actors;
	int index;
	int fds[NR_SLOTS];
	void *maps[NR_SLOTS];
	size_t lens[NR_SLOTS];
};

static bool exporter_loaded;

/* Nothing is left of what a test made, also of one that was given up. */
static void exporter_reset(void)
{
	exporter_tell(EXPORTER_PROVIDER_OFF, 0);
	exporter_tell(EXPORTER_PROVIDER_ERROR, 0);
	exporter_tell(EXPORTER_UNIMPORT, 0);
	exporter_tell(EXPORTER_RELEASE, 0);
}

/**
 * exporter_load() - have the driver loaded, as new
 * Return: NULL, or why it cannot be had: a text for SKIP
 */
const char *exporter_load(void)
{
	static char why[200];
	int err;

	if (!access(DEVICE, F_OK)) {
		exporter_reset();
		return NULL;
	}
	err = module_load(beside_me("drivers/" EXPORTER_NAME ".ko"), "");
	if (err) {
		snprintf(why, sizeof(why), "drivers/" EXPORTER_NAME
			 ".ko (built with KDIR): %s", strerror(-err));
		return why;
	}
	exporter_loaded = true;
	return NULL;
}

/* Everything that it holds is gone; the driver, too, if we loaded it. */
void exporter_unload(void)
{
	exporter_reset();
	if (exporter_loaded)
		module_unload(EXPORTER_NAME);
	exporter_loaded = false;
}

/**
 * exporter_tell() - an ioctl of the driver's
 * @command: EXPORTER_*
 * @arg: as that says
 * Return: what the driver said, or a negative errno
 */
int exporter_tell(unsigned int command, long arg)
{
	int device = open(DEVICE, O_RDWR | O_CLOEXEC);
	int ret;

	if (device < 0)
		return -errno;
	ret = ioctl(device, command, arg);
	if (ret < 0)
		ret = -errno;
	close(device);
	return ret;
}

/* The inode number of a descriptor just got, or a negative errno. */
static long long keep(struct self *self, int slot, int fd)
{
	struct stat stat;

	if (fd < 0)
		return -errno;
	self->fds[slot] = fd;
	return fstat(fd, &stat) ? -errno : (long long)stat.st_ino;
}

static int open_path(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_PATH | O_CLOEXEC);
}

static int create(u64 size, u32 flags)
{
	struct exporter_create args = { .size = size, .flags = flags };
	int ret = exporter_tell(EXPORTER_CREATE, (long)&args);

	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return args.fd;
}

static int create_heap(u64 size)
{
	struct dma_heap_allocation_data args = {
		.len = size,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	int ret = heap < 0 ? -1 : ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &args);

	if (heap >= 0)
		close(heap);
	return ret ? -1 : (int)args.fd;
}

static int create_udmabuf(u64 size)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = memfd_create("udmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	struct udmabuf_create args = {
		.memfd = memfd,
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = size,
	};
	int fd = -1;

	if (device >= 0 && memfd >= 0 && !ftruncate(memfd, size) &&
	    !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(device, UDMABUF_CREATE, &args);
	if (memfd >= 0)
		close(memfd);
	if (device >= 0)
		close(device);
	return fd;
}

static long long map(struct self *self, int fd, int to, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	read_pages(p, len);
	self->maps[to] = p;
	self->lens[to] = len;
	return 0;
}

static long long send_fd(int socket, int fd)
{
	char space[CMSG_SPACE(sizeof(fd))] = {};
	struct iovec data = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int socket)
{
	char space[CMSG_SPACE(sizeof(int))], byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	struct cmsghdr *head;
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
		return -1;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS) {
		errno = EBADMSG;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static void serve(struct self *self);

static void child(struct self *self, int index)
{
	self->index = index;
	serve(self);
	_exit(0);
}

static long long fork_as(struct self *self, int index)
{
	pid_t pid = fork();

	if (!pid)
		child(self, index);
	return pid < 0 ? -errno : pid;
}

static int run_sharer(void *arg)
{
	struct self *self = arg;

	child(self, self->index);
	return 0;
}

/* Memory is not shared: the child has what the parent knows, and no more. */
static long long share_table_as(struct self *self, int index)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct self of_child = *self;
	int pid;

	of_child.index = index;
	pid = clone(run_sharer, stack + sizeof(stack), CLONE_FILES | SIGCHLD,
		    &of_child);
	return pid < 0 ? -errno : pid;
}

/* For one thread to tell the other. */
static int hidden[2];

static void *hide(void *arg)
{
	char byte = unshare(CLONE_FILES) ? 1 : 0;

	(void)arg;
	if (write(hidden[1], &byte, 1) != 1)
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

static long long hide_in_thread(struct self *self, int slot)
{
	pthread_t thread;
	char byte = 1;
	int ret;

	if (pipe(hidden) || pthread_create(&thread, NULL, hide, NULL))
		return -errno;
	ret = read(hidden[0], &byte, 1);
	close(hidden[0]);
	close(hidden[1]);
	close(self->fds[slot]);
	return ret == 1 && !byte ? 0 : -EIO;
}

static void *serve_alone(void *arg)
{
	struct self *self = arg;
	char path[64], stat[256] = "";
	long long done = 0;

	/* Until the leader is a zombie. */
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	while (!strstr(stat, ") Z"))
		file_read(path, stat, sizeof(stat));
	if (write(self->actors->orders[self->index][1], &done,
		  sizeof(done)) != sizeof(done))
		_exit(1);
	serve(self);
	_exit(0);
}

static void lose_leader(struct self *self)
{
	static struct self of_thread;
	pthread_t thread;

	of_thread = *self;
	if (pthread_create(&thread, NULL, serve_alone, &of_thread))
		_exit(1);
	syscall(__NR_exit, 0);
}

static long long dup_many(int fd, u64 nr)
{
	while (nr--) {
		if (dup(fd) < 0)
			return -errno;
	}
	return 0;
}

static long long obey(struct self *self, const struct actor_order *order)
{
	int fd = self->fds[order->slot];

	switch (order->op) {
	case ACTOR_CREATE:
		return keep(self, order->slot, create(order->size, order->to));
	case ACTOR_HEAP:
		return keep(self, order->slot, create_heap(order->size));
	case ACTOR_UDMABUF:
		return keep(self, order->slot, create_udmabuf(order->size));
	case ACTOR_NAME:
		return ioctl(fd, DMA_BUF_SET_NAME, order->text) ? -errno : 0;
	case ACTOR_DUP:
		return keep(self, order->to, dup(fd));
	case ACTOR_DUP_MANY:
		return dup_many(fd, order->size);
	case ACTOR_DUP_TO:
		return keep(self, order->to, dup2(fd, order->size));
	case ACTOR_OPEN_PATH:
		return keep(self, order->to, open_path(fd));
	case ACTOR_CLOSE:
		return close(fd) ? -errno : 0;
	case ACTOR_MAP:
		return map(self, fd, order->to, order->size);
	case ACTOR_UNMAP:
		return munmap(self->maps[order->to],
			      self->lens[order->to]) ? -errno : 0;
	case ACTOR_SEND:
		return send_fd(self->actors->mail[order->to][0], fd);
	case ACTOR_RECEIVE:
		return keep(self, order->slot,
			    receive_fd(self->actors->mail[self->index][1]));
	case ACTOR_HOLD:
		return exporter_tell(EXPORTER_HOLD, fd);
	case ACTOR_IMPORT:
		return exporter_tell(EXPORTER_IMPORT, fd);
	case ACTOR_FORK:
		return fork_as(self, order->to);
	case ACTOR_SHARE_TABLE:
		return share_table_as(self, order->to);
	case ACTOR_HIDE_IN_THREAD:
		return hide_in_thread(self, order->slot);
	case ACTOR_LOSE_LEADER:
		lose_leader(self);
		return -EIO;
	case ACTOR_NOTHING:
		return 0;
	case ACTOR_EXIT:
		_exit(0);
	}
	return -EINVAL;
}

static void serve(struct self *self)
{
	int socket = self->actors->orders[self->index][1];
	struct actor_order order;
	long long done;

	while (read(socket, &order, sizeof(order)) == sizeof(order)) {
		done = obey(self, &order);
		if (write(socket, &done, sizeof(done)) != sizeof(done))
			break;
	}
}

/**
 * actors_init() - the sockets, and no actor yet
 * @actors: all of them
 * Return: 0 or a negative errno
 */
int actors_init(struct actors *actors)
{
	memset(actors, 0, sizeof(*actors));
	for (int i = 0; i < NR_ACTORS; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, actors->orders[i]) ||
		    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, actors->mail[i]))
			return -errno;
	}
	return 0;
}

/**
 * actor_start() - a new process
 * @actors: all of them
 * @i: which one it is
 * Return: 0 or a negative errno
 */
int actor_start(struct actors *actors, int i)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		struct self self = { .actors = actors };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Nobody waits for what actors fork. */
		signal(SIGCHLD, SIG_IGN);
		child(&self, i);
	}
	actors->pid[i] = pid;
	return 0;
}

/* Until it has exited, and let go of everything. */
static int wait_exit(pid_t pid)
{
	int pidfd = syscall(__NR_pidfd_open, pid, 0);
	struct pollfd wait = { .fd = pidfd, .events = POLLIN };

	if (pidfd < 0)
		return errno == ESRCH ? 0 : -errno;
	while (poll(&wait, 1, -1) < 0 && errno == EINTR)
		;
	close(pidfd);
	waitpid(pid, NULL, WNOHANG);
	return 0;
}

/**
 * actor_do() - have an order carried out
 * @actors: all of them
 * @i: by whom
 * @order: what; a process that is made by it becomes an actor
 * Return: inode number where the order is for a descriptor, else 0; or a
 *	negative errno
 */
long long actor_do(struct actors *actors, int i,
		   const struct actor_order *order)
{
	int socket = actors->orders[i][0];
	pid_t pid = actors->pid[i];
	long long done;

	if (!pid)
		return -ESRCH;
	if (order->op == ACTOR_EXIT)
		actors->pid[i] = 0;
	if (write(socket, order, sizeof(*order)) != sizeof(*order))
		return -errno;
	if (order->op == ACTOR_EXIT)
		return wait_exit(pid);
	if (read(socket, &done, sizeof(done)) != sizeof(done))
		return -errno;
	if (done > 0 &&
	    (order->op == ACTOR_FORK || order->op == ACTOR_SHARE_TABLE)) {
		actors->pid[order->to] = done;
		done = 0;
	}
	return done;
}

/* Ends all that are there, and drops what is in flight. */
void actors_end(struct actors *actors)
{
	for (int i = 0; i < NR_ACTORS; i++) {
		if (actors->pid[i]) {
			kill(actors->pid[i], SIGKILL);
			wait_exit(actors->pid[i]);
		}
		for (int k = 0; k < 2; k++) {
			close(actors->orders[i][k]);
			close(actors->mail[i][k]);
		}
	}
}
