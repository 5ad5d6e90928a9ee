/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_UID_H
#define DOCKRUN_UID_H

#include <sys/types.h>

#include "compiler.h"

struct err;

/* From here to 2^31-1 no distribution, subuid range or container manager
 * gives out ids. */
#define UID_FIRST 1879048192U
#define UID_COUNT 268435456U

/*
 * A uid (and gid) that no other session on this machine has at present.
 * *fd keeps it reserved and is the caller's to close.
 */
int uid_reserve(uid_t *uid, int *fd, struct err *) MUST_CHECK;

#endif
