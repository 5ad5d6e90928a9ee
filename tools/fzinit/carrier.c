/* SPDX-License-Identifier: MIT */
/* The relays of a session: PID 1's side. */
#include "carrier.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sysexits.h>
#include <unistd.h>

#include "compiler.h"

/* Between two starts, also when fork() fails. */
#define PAUSE_NS INT64_C(100000000)

bool
carrier_add(struct carrier *r, char *word)
{
	char *path = strchr(word, '=');

	if (path == NULL || r->n == ARRAY_LEN(r->route))
		return false;
	*path++ = '\0';
	if (relay_parse_tcp(&r->listen[r->n], word) != NULL ||
	    relay_parse_unix(&r->route[r->n].target, path) != NULL)
		return false;
	r->n++;
	return true;
}

int
carrier_open(struct carrier *r)
{
	for (size_t i = 0; i < r->n; i++) {
		r->route[i].listener = relay_listen_tcp(&r->listen[i]);
		if (r->route[i].listener < 0)
			return -1;
	}
	return 0;
}

/*
 * In the child, which stays as closed to the session as PID 1 is: not
 * dumpable, all signals blocked but the two that cannot be.
 */
static _Noreturn void
become_relay(const struct carrier *r, int secret)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)close(secret);
	for (int i = 0; i <= STDERR_FILENO; i++)
		(void)(fd >= 0 ? dup2(fd, i) : close(i));
	(void)prctl(PR_SET_NAME, "relay", 0, 0, 0);
	_exit(relay_serve(r->route, r->n, -1) == 0 ? EX_OK : EX_OSERR);
}

int64_t
carrier_keep(struct carrier *r, int64_t now_ns, int secret)
{
	pid_t pid;

	if (r->n == 0 || r->child > 0)
		return INT64_MAX;
	if (now_ns < r->due_ns)
		return r->due_ns;
	pid = fork();
	if (pid == 0)
		become_relay(r, secret);
	r->child = pid > 0 ? pid : 0;
	r->due_ns = now_ns + PAUSE_NS;
	return pid > 0 ? INT64_MAX : r->due_ns;
}

void
carrier_ended(struct carrier *r, pid_t pid)
{
	if (pid == r->child)
		r->child = 0;
}
