/* SPDX-License-Identifier: MIT */
/* The relays of a session, outside: sockets, and a child to serve them. */
#include "relays.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "relay.h"

int
relays_listen(struct relays *r, int dfd, size_t n, struct err *e)
{
	char name[24];

	for (r->n = 0; r->n < n; r->n++) {
		(void)snprintf(name, sizeof(name), "%zu", r->n);
		r->fd[r->n] = relay_listen_unix(dfd, name, 0666);
		if (r->fd[r->n] < 0)
			return err_sys(e, EX_CANTCREAT, "socket for a relay");
	}
	return 0;
}

/* The lowest descriptor from "from" on that a listener has, or -1. */
static int
next_listener(const struct relays *r, int from)
{
	int next = -1;

	for (size_t i = 0; i < r->n; i++)
		if (r->fd[i] >= from && (next < 0 || r->fd[i] < next))
			next = r->fd[i];
	return next;
}

/* Above all the lock on the run directory, which would outlive dockrun. */
static int
close_others(const struct relays *r)
{
	int from = STDERR_FILENO + 1;
	int next;

	while ((next = next_listener(r, from)) >= 0) {
		if (next > from &&
		    close_range((unsigned)from, (unsigned)next - 1, 0) < 0)
			return -1;
		from = next + 1;
	}
	return close_range((unsigned)from, UINT_MAX, 0);
}

/* Whoever reads our output must not wait for this process too. */
static int
close_output(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return -1;
	return null;
}

/* In the child: the terminal's signals are for dockrun, who ends us. */
static _Noreturn void
serve(const struct relays *r, const struct relay_route *routes, pid_t parent)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
		SIGPIPE };

	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    close_output() < 0 || close_others(r) < 0)
		_exit(EX_OSERR);
	(void)!relay_serve(routes, r->n, -1);
	_exit(EX_OSERR);
}

static void
close_listeners(struct relays *r)
{
	for (size_t i = 0; i < r->n; i++)
		close_p(&r->fd[i]);
	r->n = 0;
}

int
relays_start(struct relays *r, const struct netconf *c, struct in_addr source,
    struct err *e)
{
	struct relay_route routes[NETCONF_MAX];
	pid_t self = getpid();

	if (r->n == 0)
		return 0;
	for (size_t i = 0; i < r->n; i++)
		routes[i] = (struct relay_route){ .listener = r->fd[i],
			.target = c->relay[i].to,
			.source = source };
	r->pid = fork();
	if (r->pid == 0)
		serve(r, routes, self);
	if (r->pid < 0) {
		r->pid = 0;
		return err_sys(e, EX_OSERR, "relay: fork");
	}
	close_listeners(r);
	r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	if (r->pidfd < 0)
		return err_sys(e, EX_OSERR, "relay: pidfd_open");
	return 0;
}

void
relays_release(struct relays *r)
{
	if (r->pid > 0) {
		(void)kill(r->pid, SIGKILL);
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close_p(&r->pidfd);
	close_listeners(r);
	*r = (struct relays)RELAYS_NONE;
}

void
relays_unlink(int dfd)
{
	char name[24];

	for (size_t i = 0; i < NETCONF_MAX; i++) {
		(void)snprintf(name, sizeof(name), "%zu", i);
		(void)unlinkat(dfd, name, 0);
	}
}
