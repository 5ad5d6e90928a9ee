/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_NETCONF_H
#define DOCKRUN_NETCONF_H

#include <netinet/in.h>
#include <stddef.h>

#include "compiler.h"
#include "relay.h"

struct err;

#define NETCONF_MAX  64	 /* relays, and names, of one session */
#define NETCONF_NAME 254 /* of a host, with its NUL */

/* From a place inside the container to one of the host. */
struct netconf_relay {
	struct relay_address from; /* TCP */
	struct relay_address to;
};

/* A name in the container's /etc/hosts. */
struct netconf_host {
	struct in_addr address; /* in 127.0.0.0/8 */
	char name[NETCONF_NAME];
};

/* All that a session can reach. */
struct netconf {
	struct netconf_relay relay[NETCONF_MAX];
	struct netconf_host host[NETCONF_MAX];
	size_t n_relays, n_hosts;
};

/*
 * Adds the lines of a file: "ADDRESS:PORT TARGET", where TARGET is
 * "ADDRESS:PORT" or "unix:/PATH", and "ADDRESS NAME".  "#" starts a comment.
 * EX_NOINPUT for a file that cannot be read, else EX_CONFIG with file, line
 * and reason.
 */
int netconf_read_relays(
    struct netconf *, const char *path, struct err *) MUST_CHECK;
int netconf_read_hosts(
    struct netconf *, const char *path, struct err *) MUST_CHECK;

#endif
