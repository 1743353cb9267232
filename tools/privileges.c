// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of root's capabilities the command needs two: the one that the module asks
 * for, and one to look into the directories of other users' processes. Commands
 * that write files have one more, for directories that are not root's, which
 * counts only while a file is made. With the rest gone, and none to be had by
 * exec, a name or a file that leads it astray leads to a reader.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privileges.h"

#define KEPT	(1U << CAP_SYS_PTRACE | 1U << CAP_DAC_READ_SEARCH)
#define WRITING	(1U << CAP_DAC_OVERRIDE)

/**
 * memledger_privileges_drop - keep no capability that is not needed
 * @writes: whether memledger_privileges_write() is going to be called
 *
 * Nothing is said where that fails: it is a precaution, and who has no
 * capabilities has none to lose.
 */
void memledger_privileges_drop(bool writes)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capget, &header, data))
		return;
	data[0].effective &= KEPT;
	data[0].permitted &= writes ? KEPT | WRITING : KEPT;
	data[0].inheritable = 0;
	data[1] = (struct __user_cap_data_struct){};
	syscall(SYS_capset, &header, data);
}

/**
 * memledger_privileges_write - write where only others may
 * @may: true before a file is made or renamed, false behind it
 *
 * As root always may elsewhere: on Android, /data/local/tmp is shell's. errno
 * stays.
 */
void memledger_privileges_write(bool may)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	int err = errno;

	if (!syscall(SYS_capget, &header, data)) {
		data[0].effective &= ~WRITING;
		if (may)
			data[0].effective |= data[0].permitted & WRITING;
		syscall(SYS_capset, &header, data);
	}
	errno = err;
}

/**
 * memledger_privileges_advice - what to do where a file cannot be written
 * @err: errno
 *
 * Return: words to go behind those of @err, or none.
 */
const char *memledger_privileges_advice(int err)
{
	return err == EACCES || err == EPERM || err == EROFS ?
	       ": give a file in a directory that you can write to" : "";
}
