/* SPDX-License-Identifier: MIT */
/* Numbers that belong to one session at a time. */
#include "reserve.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"

const struct reserve_range reserve_uids = { "uid", 1879048192U, 268435456U };
const struct reserve_range reserve_sources = { "source address", 0x7f400000U,
	1U << 22 };

/*
 * The reservation is the name of an abstract socket: bind() is atomic, the
 * kernel drops it with the process, and no file is left to clean up.
 */
static int
take(int fd, const char *what, uint32_t n)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int used = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1,
	    "fuzzmill-%s-%u", what, (unsigned)n);
	size_t len = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)used;

	return bind(fd, (struct sockaddr *)&a, (socklen_t)len);
}

int
reserve(const struct reserve_range *range, uint32_t *n, int *out, struct err *e)
{
	AUTO(close_p) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t r;

	if (fd < 0)
		return err_sys(e, EX_OSERR, "socket");
	for (int tries = 0; tries < 100; tries++) {
		if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
			return err_sys(e, EX_OSERR, "getrandom");
		*n = range->first + r % range->count;
		if (take(fd, range->what, *n) == 0) {
			*out = take_fd(&fd);
			return 0;
		}
		if (errno != EADDRINUSE)
			break;
	}
	return err_sys(e, EX_OSERR, "cannot reserve a %s", range->what);
}
