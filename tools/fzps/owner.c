/* SPDX-License-Identifier: MIT */
/* The processes that look after containers. */
#include "owner.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "proc.h"

/* Length of "BOOT/PIDNS/", or 0. */
static size_t
place_len(const char *text)
{
	const char *p = strchr(text, '/');

	p = p != NULL ? strchr(p + 1, '/') : NULL;
	return p != NULL ? (size_t)(p + 1 - text) : 0;
}

enum owner
owner_judge(const char *text)
{
	struct proc_id me;
	struct err ignored;
	size_t n = place_len(text);

	if (proc_is_dead(text))
		return OWNER_DEAD;
	if (n == 0 || proc_pid(text) <= 0 || proc_self(&me, &ignored) < 0 ||
	    strncmp(text, me.text, n) != 0)
		return OWNER_UNKNOWN;
	return OWNER_ALIVE;
}

int
owner_open(const char *text)
{
	AUTO(close_p) int fd = -1;

	if (owner_judge(text) != OWNER_ALIVE)
		return -1;
	fd = (int)syscall(SYS_pidfd_open, proc_pid(text), 0);
	/* Only now is it sure whose descriptor this is. */
	if (fd < 0 || owner_judge(text) != OWNER_ALIVE)
		return -1;
	return take_fd(&fd);
}

bool
owner_signal(int pidfd, int sig)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) == 0;
}
