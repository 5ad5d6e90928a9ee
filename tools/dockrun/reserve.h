/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_RESERVE_H
#define DOCKRUN_RESERVE_H

#include <stdint.h>

#include "compiler.h"

struct err;

/* Numbers of which each session has one of its own. */
struct reserve_range {
	const char *what; /* for messages, and to tell the ranges apart */
	uint32_t first, count;
};

/* Uids (and gids): from here to 2^31-1 no distribution, subuid range or
 * container manager gives out ids. */
extern const struct reserve_range reserve_uids;

/* IPv4 addresses, 127.64.0.0/10: each session connects from another one. */
extern const struct reserve_range reserve_sources;

/*
 * One that no other session on this machine has at present.  *fd keeps it
 * reserved and is the caller's to close.
 */
int reserve(const struct reserve_range *, uint32_t *n, int *fd,
    struct err *) MUST_CHECK;

#endif
