/* SPDX-License-Identifier: MIT */
#ifndef FZINIT_CARRIER_H
#define FZINIT_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "relay.h"

/*
 * What a session may reach: loopback listeners that PID 1 holds, and a
 * child that carries their connections to sockets of dockrun's.  The child
 * has the session's uid, so the session can kill it (it is started again),
 * stop it or lower its limits, to nobody's harm but its own.
 */
struct carrier {
	struct relay_address listen[64];
	struct relay_route route[64];
	size_t n;
	pid_t child;	/* 0: none */
	int64_t due_ns; /* when the next one may be started */
};

/* "ADDRESS:PORT=PATH"; cuts word in two.  False: it is not that, or one
 * too many. */
bool carrier_add(struct carrier *, char *word);

/* Opens the listeners; -1 with errno.  They are closed to the command. */
int carrier_open(struct carrier *);

/*
 * Starts the child if there is none and its time has come; secret is
 * closed in it.  Returns when to call again, at the latest.
 */
int64_t carrier_keep(struct carrier *, int64_t now_ns, int secret);

/* Tells that a child of PID 1 has ended. */
void carrier_ended(struct carrier *, pid_t);

#endif
