/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_SCRATCH_H
#define DOCKRUN_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

struct err;
struct inside;
struct relays;

/*
 * Makes, in the run directory dfd, the workspace (owned by the session's
 * uid) and the read-only odds and ends its container is given: an empty
 * file and directory for masks, and the socket fzinit reports to.
 */
int scratch_make(int dfd, uint32_t uid, uint32_t gid, struct inside *,
    struct err *) MUST_CHECK;

/* Makes the sockets of n relays beside them. */
int scratch_listen(int dfd, struct relays *, size_t n, struct err *) MUST_CHECK;

/*
 * Removes those odds and ends again.  The workspace stays and is opened to
 * its owner, who could not move it away if the session had closed it.
 */
void scratch_remove(int dfd);

#endif
