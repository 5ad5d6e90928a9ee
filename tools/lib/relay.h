/* SPDX-License-Identifier: MIT */
#ifndef FZ_RELAY_H
#define FZ_RELAY_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "compiler.h"

/*
 * Carries bytes between sockets: each connection that comes in at a
 * listener becomes one to its target.  Needs nothing but libc, for fzinit
 * is made of it too.  All descriptors are close-on-exec and non-blocking.
 */

/* Connections of one relay_serve(); later ones wait in the backlog. */
#define RELAY_CONNECTIONS 512

/*
 * New connections: that many at once, then that many a second.  Later ones
 * wait.  A session that asks without end fills somebody's log no faster.
 */
#define RELAY_BURST INT64_C(5000)
#define RELAY_RATE  INT64_C(50)

/* Bytes a connection may hold for each direction. */
#define RELAY_PENDING 65536

struct relay_address {
	union {
		struct sockaddr any;
		struct sockaddr_in tcp;
		struct sockaddr_un local;
	} at;
	socklen_t len;
};

struct relay_route {
	int listener;
	struct relay_address target;
	/* Where TCP connections come from; 0: as the kernel likes. */
	struct in_addr source;
};

/*
 * These return NULL, or what is wrong with the text in words that fit
 * after it ("is not on loopback").
 */

/* "127.0.0.1:8080": IPv4, loopback, decimal. */
const char *relay_parse_tcp(struct relay_address *, const char *) MUST_CHECK;

/* An absolute path that fits into sun_path. */
const char *relay_parse_unix(struct relay_address *, const char *) MUST_CHECK;

/* "127.0.0.1:8080" or "unix:/path". */
const char *relay_parse(struct relay_address *, const char *) MUST_CHECK;

/* These return the descriptor, or -1 with errno. */

int relay_listen_tcp(const struct relay_address *) MUST_CHECK;

/*
 * A socket called name in the directory dfd, however long its path.  Left
 * behind when the descriptor is closed.
 */
int relay_listen_unix(int dfd, const char *name, mode_t) MUST_CHECK;

/*
 * Relays until stop_fd (-1: none) is readable or closed by its other end;
 * then 0, with every connection closed, the listeners left open.  -1 with
 * errno when it could not begin.  A connection whose target cannot be
 * reached is reset.  Meant for a process of its own: raises the soft limit
 * of open files to what RELAY_CONNECTIONS need, if it may.
 */
int relay_serve(const struct relay_route *, size_t n, int stop_fd) MUST_CHECK;

#endif
