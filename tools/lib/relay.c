/* SPDX-License-Identifier: MIT */
/* Carries the connections of many listeners, in one thread. */
#include "relay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "relay-conn.h"

/* How soon listeners are asked again when it was not us who ran out. */
#define RETRY_MS 100

/* What epoll calls things: connections by their place, then the rest. */
enum {
	ID_STOP = 2 * RELAY_CONNECTIONS,
	ID_LISTENER, /* and on */
};

struct server {
	struct relay_loop loop;
	const struct relay_route *route;
	size_t n_route;
	bool listening;
	int64_t retry_at_ms; /* 0: accepting did not fail */
	int64_t credit;	     /* thousandths of connections that may come */
	int64_t credit_ms;   /* when it was counted */
	size_t n_vacant;
	struct relay_conn *vacant[RELAY_CONNECTIONS];
	struct relay_conn conn[RELAY_CONNECTIONS];
};

/* Descriptors besides those of connections: listeners, epoll, the rest. */
#define OTHER_FILES 128

static void
raise_limit(void)
{
	const rlim_t want = 2 * RELAY_CONNECTIONS + OTHER_FILES;
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= want)
		return;
	l.rlim_cur = l.rlim_max < want ? l.rlim_max : want;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* False: there were too many of late. */
static bool
has_credit(struct server *s)
{
	int64_t now = now_ms();

	s->credit += (now - s->credit_ms) * RELAY_RATE;
	if (s->credit > RELAY_BURST * 1000)
		s->credit = RELAY_BURST * 1000;
	s->credit_ms = now;
	return s->credit >= 1000;
}

static int
watch(const struct server *s, int how, int fd, uint32_t id)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = id };

	return epoll_ctl(s->loop.epoll, how, fd, &ev);
}

static int
listen_all(struct server *s, bool on)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_route && s->listening != on; i++)
		rc |= watch(s, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
		    s->route[i].listener, ID_LISTENER + (uint32_t)i);
	s->listening = on;
	return rc;
}

static void
end_conn(struct server *s, struct relay_conn *c)
{
	relay_conn_close(c);
	s->vacant[s->n_vacant++] = c;
	s->retry_at_ms = 0;
}

/*
 * The target's socket comes first: when there is no room for it, the
 * client waits instead of being turned away.
 */
static void
take_client(struct server *s, const struct relay_route *route)
{
	struct relay_conn *c;
	int target = -1, client = -1;

	if (has_credit(s))
		target = socket(route->target.at.any.sa_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (target >= 0)
		client = accept4(
		    route->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (client < 0) {
		/* EAGAIN and the like: it thought better of it. */
		if (target < 0 ||
		    (errno != EAGAIN && errno != EINTR &&
			errno != ECONNABORTED))
			s->retry_at_ms = now_ms() + RETRY_MS;
		if (target >= 0)
			(void)close(target);
		return;
	}
	s->credit -= 1000;
	c = s->vacant[--s->n_vacant];
	if (!relay_conn_open(c, &s->loop, route, client, target))
		s->vacant[s->n_vacant++] = c;
}

/* False when it is time to stop. */
static bool
take_event(struct server *s, const struct epoll_event *ev)
{
	uint32_t id = ev->data.u32;
	struct relay_conn *c;

	if (id == ID_STOP)
		return false;
	if (id >= ID_LISTENER)
		return true;
	c = &s->conn[id / 2];
	/* It may have ended a moment ago, by its other end. */
	if (relay_conn_is_open(c) &&
	    !relay_conn_step(c, &s->loop, (int)(id % 2), ev->events))
		end_conn(s, c);
	return true;
}

/* Only when all else is done: a place that has just become vacant may be
 * spoken of in the same batch of events. */
static void
take_clients(struct server *s, const struct epoll_event *ev, int n)
{
	for (int i = 0; i < n; i++)
		if (ev[i].data.u32 >= ID_LISTENER && s->n_vacant > 0)
			take_client(s, &s->route[ev[i].data.u32 - ID_LISTENER]);
}

/* How long to wait for events: until it is time to accept again. */
static int
wait_ms(const struct server *s)
{
	int64_t left = s->retry_at_ms - now_ms();

	if (s->retry_at_ms == 0)
		return -1;
	return left > 0 ? (int)left : 0;
}

static int
serve(struct server *s)
{
	struct epoll_event ev[128];
	int n;

	for (;;) {
		n = epoll_wait(s->loop.epoll, ev, ARRAY_LEN(ev), wait_ms(s));
		if (n < 0 && errno != EINTR)
			return -1;
		for (int i = 0; i < n; i++)
			if (!take_event(s, &ev[i]))
				return 0;
		if (wait_ms(s) == 0)
			s->retry_at_ms = 0;
		take_clients(s, ev, n);
		if (listen_all(s, s->retry_at_ms == 0 && s->n_vacant > 0) < 0)
			s->retry_at_ms = now_ms() + RETRY_MS;
	}
}

int
relay_serve(const struct relay_route *route, size_t n, int stop_fd)
{
	struct server *s = calloc(1, sizeof(*s));
	int rc, saved;

	if (s == NULL)
		return -1;
	raise_limit();
	s->route = route;
	s->n_route = n;
	s->credit = RELAY_BURST * 1000;
	s->credit_ms = now_ms();
	for (uint32_t i = 0; i < RELAY_CONNECTIONS; i++) {
		s->conn[i].id = 2 * i;
		s->conn[i].end[RELAY_CLIENT].fd = -1;
		s->vacant[s->n_vacant++] = &s->conn[i];
	}
	s->loop.epoll = epoll_create1(EPOLL_CLOEXEC);
	rc = s->loop.epoll;
	if (rc >= 0 && stop_fd >= 0)
		rc = watch(s, EPOLL_CTL_ADD, stop_fd, ID_STOP);
	if (rc >= 0)
		rc = listen_all(s, true);
	if (rc >= 0)
		rc = serve(s);
	saved = errno;
	for (size_t i = 0; i < RELAY_CONNECTIONS; i++)
		if (relay_conn_is_open(&s->conn[i]))
			relay_conn_close(&s->conn[i]);
	if (s->loop.epoll >= 0)
		(void)close(s->loop.epoll);
	free(s);
	errno = saved;
	return rc < 0 ? -1 : 0;
}
