// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of root's capabilities the command needs two: the one that the module asks
 * for, and one to look into the directories of other users' processes. With the
 * rest gone, and none to be had by exec, a name or a file that leads it astray
 * leads to a reader.
 */
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privileges.h"

#define KEPT	(1U << CAP_SYS_PTRACE | 1U << CAP_DAC_READ_SEARCH)

/**
 * memledger_privileges_drop - keep no capability that is not needed
 *
 * Nothing is said where that fails: it is a precaution, and who has no
 * capabilities has none to lose.
 */
void memledger_privileges_drop(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capget, &header, data))
		return;
	data[0].effective &= KEPT;
	data[0].permitted &= KEPT;
	data[0].inheritable = 0;
	data[1] = (struct __user_cap_data_struct){};
	syscall(SYS_capset, &header, data);
}
