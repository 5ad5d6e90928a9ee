/* SPDX-License-Identifier: MIT */
#ifndef FZ_SCAN_H
#define FZ_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "run.h"

struct err;

/*
 * A directory of runs, read as if an enemy had written it: no link is
 * followed, nothing is waited for, and every file has a size limit.
 */
struct scan {
	int fd;
	char (*id)[RUN_ID]; /* by number */
	size_t n;
};

struct scan_campaign {
	int64_t runs; /* negative: unknown */
	char id[65];  /* "" is unknown */
};

/* EX_NOINPUT with e->sys == ENOENT when there is no such directory. */
int scan_open(struct scan *, const char *path, struct err *) MUST_CHECK;
void scan_release(struct scan *);

/* What campaign.json says.  No such file is no error and all unknown. */
int scan_campaign(
    const struct scan *, struct scan_campaign *, struct err *) MUST_CHECK;

/* Why there is a STOP file, in at most size bytes ("" when it does not
 * say); -1 when there is none. */
int scan_stop(const struct scan *, char *out, size_t size) MUST_CHECK;

/* Until when nothing new is started, in the words of PAUSE; -1 when there is
 * no such file or that time is over. */
int scan_pause(
    const struct scan *, int64_t now_ms, char *out, size_t size) MUST_CHECK;

/*
 * Fills in the nth run; the caller releases it in any case.  -1 with *e set
 * means that it is there but unreadable, which is also its state.
 */
int scan_run(
    const struct scan *, size_t nth, struct run *, struct err *) MUST_CHECK;

#endif
