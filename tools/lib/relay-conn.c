/* SPDX-License-Identifier: MIT */
/* One relayed connection: two sockets and the bytes between them. */
#include "relay-conn.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Pieces of a flow before others get their turn. */
#define TURNS 16

/*
 * Edges, not levels: an end that hung up while the other one stalls would
 * be reported for ever, whatever was asked for.
 */
#define EVENTS (EPOLLIN | EPOLLOUT | EPOLLET)

static int
conn_watch(struct relay_conn *c, struct relay_loop *l, int how, int side)
{
	struct epoll_event ev = { .events = EVENTS,
		.data.u32 = c->id + (uint32_t)side };

	return epoll_ctl(l->epoll, how, c->end[side].fd, &ev);
}

static void
flow_drop(struct relay_flow *f)
{
	free(f->pending);
	*f = (struct relay_flow){ .state = FLOW_DONE };
}

/* Sends; what the socket has no room for is left.  False: it takes no
 * more, ever. */
static bool
end_send(struct relay_end *out, const char *p, size_t n, size_t *sent)
{
	*sent = 0;
	while (*sent < n && out->writable) {
		ssize_t rc = send(out->fd, p + *sent, n - *sent, MSG_NOSIGNAL);

		if (rc >= 0)
			*sent += (size_t)rc;
		else if (errno == EAGAIN)
			out->writable = false;
		else if (errno != EINTR)
			return false;
	}
	return true;
}

/* True once nothing is pending. */
static bool
flow_flush(struct relay_flow *f, struct relay_end *out)
{
	size_t sent;

	if (f->pending == NULL)
		return true;
	if (!end_send(out, f->pending + f->at, f->len, &sent)) {
		flow_drop(f);
		return true;
	}
	f->at += sent;
	f->len -= sent;
	if (f->len > 0)
		return false;
	free(f->pending);
	f->pending = NULL;
	return true;
}

/* Sends a piece on, and keeps what does not go. */
static void
flow_pass(struct relay_conn *c, struct relay_flow *f, struct relay_end *out,
    const char *p, size_t n)
{
	size_t sent;

	if (!end_send(out, p, n, &sent)) {
		flow_drop(f);
		return;
	}
	if (sent == n)
		return;
	f->at = 0;
	f->len = n - sent;
	f->pending = malloc(f->len);
	if (f->pending == NULL) {
		c->reset = true; /* a hole in the stream must show */
		flow_drop(&c->flow[RELAY_CLIENT]);
		flow_drop(&c->flow[RELAY_TARGET]);
		return;
	}
	memcpy(f->pending, p + sent, f->len);
}

/* False when there is nothing more to do now. */
static bool
flow_read(struct relay_loop *l, struct relay_conn *c, int from)
{
	struct relay_end *in = &c->end[from];
	struct relay_flow *f = &c->flow[from];
	ssize_t n;

	if (!in->readable)
		return false;
	n = recv(in->fd, l->piece, sizeof(l->piece), 0);
	if (n > 0) {
		flow_pass(c, f, &c->end[!from], l->piece, (size_t)n);
	} else if (n < 0 && errno == EAGAIN) {
		in->readable = false;
	} else if (n == 0 || errno != EINTR) {
		f->state = FLOW_ENDING;
		c->reset |= n < 0;
	}
	return true;
}

/* The end goes on after all that was pending. */
static void
flow_end(struct relay_conn *c, int from)
{
	c->flow[from].state = FLOW_DONE;
	if (!c->reset)
		(void)shutdown(c->end[!from].fd, SHUT_WR);
	else /* nobody is left to hear the answer */
		flow_drop(&c->flow[!from]);
}

static void
flow_run(struct relay_loop *l, struct relay_conn *c, int from)
{
	struct relay_flow *f = &c->flow[from];

	for (int turn = 0; turn < TURNS; turn++) {
		if (f->state == FLOW_DONE || !flow_flush(f, &c->end[!from]))
			return;
		if (f->state == FLOW_ENDING) {
			flow_end(c, from);
			return;
		}
		if (f->state == FLOW_OPEN && !flow_read(l, c, from))
			return;
	}
	/* Asking again makes a new edge of what is still there. */
	(void)conn_watch(c, l, EPOLL_CTL_MOD, from);
}

/* False when the target cannot be reached. */
static bool
finish_connect(struct relay_conn *c)
{
	struct relay_end *t = &c->end[RELAY_TARGET];
	socklen_t len = sizeof(int);
	int why = 0;

	if (!t->writable)
		return true;
	c->connecting = false;
	return getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &why, &len) == 0 &&
	    why == 0;
}

bool
relay_conn_step(
    struct relay_conn *c, struct relay_loop *l, int side, uint32_t events)
{
	struct relay_end *e = &c->end[side];

	e->readable |= (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
	e->writable |= (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
	if (c->connecting && !finish_connect(c)) {
		c->reset = true;
		return false;
	}
	/* It will not read any more, but may have said something before. */
	if ((events & EPOLLHUP) != 0)
		flow_drop(&c->flow[!side]);
	if (c->connecting)
		return true;
	flow_run(l, c, RELAY_CLIENT);
	flow_run(l, c, RELAY_TARGET);
	return c->flow[RELAY_CLIENT].state != FLOW_DONE ||
	    c->flow[RELAY_TARGET].state != FLOW_DONE;
}

void
relay_conn_close(struct relay_conn *c)
{
	struct linger now = { .l_onoff = 1 };

	for (int i = 0; i < 2; i++) {
		flow_drop(&c->flow[i]);
		if (c->reset)
			(void)setsockopt(c->end[i].fd, SOL_SOCKET, SO_LINGER,
			    &now, sizeof(now));
		(void)close(c->end[i].fd);
		c->end[i].fd = -1;
	}
}

bool
relay_conn_is_open(const struct relay_conn *c)
{
	return c->end[RELAY_CLIENT].fd >= 0;
}

/* -1: cannot be; 0: connected; 1: will be. */
static int
connect_target(const struct relay_route *route, int fd)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
		.sin_addr = route->source };
	int on = 1;

	if (route->target.at.any.sa_family == AF_INET &&
	    from.sin_addr.s_addr != 0 &&
	    (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on,
		 sizeof(on)) < 0 ||
		bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0))
		return -1;
	if (connect(fd, &route->target.at.any, route->target.len) == 0)
		return 0;
	return errno == EINPROGRESS || errno == EINTR ? 1 : -1;
}

bool
relay_conn_open(struct relay_conn *c, struct relay_loop *l,
    const struct relay_route *route, int client, int target)
{
	int rc = connect_target(route, target);
	int fd[2] = { client, target };
	int on = 1;

	*c = (struct relay_conn){ .id = c->id, .connecting = rc > 0 };
	for (int i = 0; i < 2; i++) {
		c->end[i].fd = fd[i];
		/* Not every end is TCP. */
		(void)setsockopt(
		    fd[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (rc >= 0)
			rc = conn_watch(c, l, EPOLL_CTL_ADD, i);
	}
	if (rc >= 0)
		return true;
	c->reset = true;
	relay_conn_close(c);
	return false;
}
