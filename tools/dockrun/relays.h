/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_RELAYS_H
#define DOCKRUN_RELAYS_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/types.h>

#include "compiler.h"
#include "netconf.h"

struct err;

/*
 * The host's end of a session's relays: unix sockets that the container
 * finds, and a child that serves them and dies with us.
 */
struct relays {
	int fd[NETCONF_MAX]; /* listeners, until the child has them */
	size_t n;
	pid_t pid; /* 0: no child */
	int pidfd; /* readable once the child has ended; -1: none */
};

#define RELAYS_NONE         \
	{                   \
		.pidfd = -1 \
	}

/* Listens on sockets "0", "1", ... in the directory dfd. */
int relays_listen(struct relays *, int dfd, size_t n, struct err *) MUST_CHECK;

/* Starts the child, which connects to the targets from source. */
int relays_start(struct relays *, const struct netconf *, struct in_addr source,
    struct err *) MUST_CHECK;

/* Ends the child and waits for it; closes what is open. */
void relays_release(struct relays *);

/* Removes every socket that relays_listen() can have made there. */
void relays_unlink(int dfd);

#endif
