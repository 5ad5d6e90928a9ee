/* SPDX-License-Identifier: MIT */
/* A uid per session. */
#include "uid.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"

/*
 * The reservation is the name of an abstract socket: bind() is atomic, the
 * kernel drops it with the process, and no file is left to clean up.
 */
static int
reserve(int fd, uid_t uid)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1,
	    "fuzzmill-uid-%u", (unsigned)uid);
	size_t len = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n;

	return bind(fd, (struct sockaddr *)&a, (socklen_t)len);
}

int
uid_reserve(uid_t *uid, int *out, struct err *e)
{
	AUTO(close_p) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t r;

	if (fd < 0)
		return err_sys(e, EX_OSERR, "socket");
	for (int tries = 0; tries < 100; tries++) {
		if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
			return err_sys(e, EX_OSERR, "getrandom");
		*uid = UID_FIRST + r % UID_COUNT;
		if (reserve(fd, *uid) == 0) {
			*out = take_fd(&fd);
			return 0;
		}
		if (errno != EADDRINUSE)
			break;
	}
	return err_sys(e, EX_OSERR, "cannot reserve a uid");
}
