/* SPDX-License-Identifier: MIT */
#ifndef FZ_RELAY_CONN_H
#define FZ_RELAY_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "relay.h"

/* One connection of a relay; only for relay.c. */

enum { RELAY_CLIENT, RELAY_TARGET };

struct relay_end {
	int fd;	       /* -1: closed */
	bool readable; /* not known to have nothing */
	bool writable; /* not known to be full */
};

/* The bytes from one end to the other. */
struct relay_flow {
	char *pending; /* read and not yet taken; NULL: none */
	size_t at, len;
	enum { FLOW_OPEN, FLOW_ENDING, FLOW_DONE } state;
};

struct relay_conn {
	uint32_t id; /* epoll's word for the client's end; target's: + 1 */
	struct relay_end end[2];
	struct relay_flow flow[2]; /* by the end that it comes from */
	bool connecting;
	bool reset; /* an end was cut off, so the other shall be */
};

/* What all connections share. */
struct relay_loop {
	int epoll;
	/* splice() would save a fifth of our CPU time; fast enough without. */
	char piece[RELAY_PENDING];
};

/*
 * Starts a connection: client is accepted, target a fresh socket of the
 * route's family; both are owned from here on.  False when it is over
 * already, with both closed.
 */
bool relay_conn_open(struct relay_conn *, struct relay_loop *,
    const struct relay_route *, int client, int target) MUST_CHECK;

/* False for one that was closed. */
bool relay_conn_is_open(const struct relay_conn *);

/* Does what the events of epoll at one end make possible; false when the
 * connection is over. */
bool relay_conn_step(struct relay_conn *, struct relay_loop *, int side,
    uint32_t events) MUST_CHECK;

void relay_conn_close(struct relay_conn *);

#endif
