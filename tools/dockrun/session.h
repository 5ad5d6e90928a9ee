/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_SESSION_H
#define DOCKRUN_SESSION_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "compiler.h"

struct docker;
struct err;
struct options;
struct places;
struct rundir;

/* dockrun's status after INT, and after TERM or HUP; not of sysexits(3). */
#define SESSION_INTERRUPTED 130
#define SESSION_TERMINATED  143

/* How the session ended, for --exit-status. */
enum session_end {
	SESSION_OK,
	SESSION_FAILED,
	SESSION_TIMED_OUT,
};

/*
 * What one attempt needs from outside.  name is the container's, chosen by
 * the caller, so that it can be removed whatever answer was lost.
 */
struct session {
	const struct options *o;
	const struct places *p;
	struct rundir *r;
	struct docker *d;
	const cJSON *image; /* inspected */
	const char *owner;  /* struct proc_id of this process */
	const char *user;   /* "uid:gid" */
	uint32_t uid, gid;
	struct in_addr source; /* where its relays connect from */
	char name[40];
	int sigfd;    /* INT, TERM and HUP arrive here */
	bool lingers; /* set when the container could not be removed */
};

/*
 * One attempt in an empty run directory, from create to container.json.
 * The container is removed on every path if the engine lets us.  On failure
 * there are no facts: EX_UNAVAILABLE, EX_TEMPFAIL and EX_PROTOCOL are the
 * engine's trouble and may be tried again, SESSION_INTERRUPTED and
 * SESSION_TERMINATED are the user's wish.
 */
int session_run(struct session *, enum session_end *, struct err *) MUST_CHECK;

#endif
