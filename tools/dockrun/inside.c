/* SPDX-License-Identifier: MIT */
/* dockrun's end of the private connection to fzinit. */
#include "inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"
#include "relay.h"

static const struct key {
	const char *name;
	size_t at;
} keys[] = {
#define KEY(k)                                 \
	{                                      \
#k, offsetof(struct inside, k) \
	}
	KEY(ready),
	KEY(exec_errno),
	KEY(relay_errno),
	KEY(exit),
	KEY(signal),
	KEY(deadline),
	KEY(oom_kills),
	KEY(outside_signal),
	KEY(unsafe_root),
	KEY(unsafe_privileges),
	KEY(unsafe_seccomp),
	KEY(unsafe_capabilities),
	KEY(unsafe_limits),
	KEY(peak_memory_bytes),
	KEY(cpu_ms),
	KEY(throttled_ms),
	KEY(io_read_bytes),
	KEY(io_write_bytes),
#undef KEY
};

static int64_t *
slot(struct inside *in, const struct key *k)
{
	return (int64_t *)(void *)((char *)in + k->at);
}

int
inside_listen(struct inside *in, int dfd, struct err *e)
{
	*in = (struct inside){ .listener = -1, .conn = -1 };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		*slot(in, &keys[i]) = -1;
	in->listener = relay_listen_unix(dfd, "s", 0666);
	if (in->listener < 0)
		return err_sys(e, EX_CANTCREAT, "socket for fzinit");
	return 0;
}

void
inside_release(struct inside *in)
{
	close_p(&in->listener);
	close_p(&in->conn);
	in->listener = in->conn = -1;
}

int
inside_fd(const struct inside *in)
{
	return in->listener >= 0 ? in->listener : in->conn;
}

void
inside_line(struct inside *in, const char *line)
{
	size_t n = strcspn(line, " ");
	char *end;
	long long v;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (strlen(keys[i].name) != n ||
		    strncmp(keys[i].name, line, n) != 0)
			continue;
		v = strtoll(line + n, &end, 10);
		if (end != line + n && *end == '\0' && v >= 0 &&
		    v <= JSON_INT_MAX)
			*slot(in, &keys[i]) = v;
	}
}

static void
take_bytes(struct inside *in, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool fits = in->n_line < sizeof(in->line);

		if (fits) /* a full line has no place for its NUL */
			in->line[in->n_line++] = p[i];
		if (p[i] != '\n')
			continue;
		if (fits) {
			in->line[in->n_line - 1] = '\0';
			inside_line(in, in->line);
		}
		in->n_line = 0;
	}
}

/*
 * Exactly one connection is ever taken.  fzinit makes it before the command
 * starts, so it is the first in the queue.
 */
static void
take_connection(struct inside *in)
{
	in->conn =
	    accept4(in->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (in->conn < 0)
		return;
	close_p(&in->listener);
	in->listener = -1;
}

void
inside_read(struct inside *in)
{
	char chunk[1024];
	ssize_t n;

	if (in->listener >= 0)
		take_connection(in);
	while (in->conn >= 0) {
		n = read(in->conn, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n > 0) {
			take_bytes(in, chunk, (size_t)n);
			continue;
		}
		close_p(&in->conn);
		in->conn = -1;
	}
}

const char *
inside_unsafe(const struct inside *in)
{
	if (in->unsafe_root >= 0)
		return "the session would be root";
	if (in->unsafe_privileges >= 0)
		return "no-new-privileges is not in force";
	if (in->unsafe_seccomp >= 0)
		return "no seccomp filter is in force";
	if (in->unsafe_capabilities >= 0)
		return "capabilities are left";
	if (in->unsafe_limits >= 0)
		return "fzinit cannot protect its limits";
	return NULL;
}
