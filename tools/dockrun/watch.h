/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_WATCH_H
#define DOCKRUN_WATCH_H

#include <stdint.h>

#include "buf.h"
#include "compiler.h"
#include "deadline.h"
#include "http.h"

struct capture;
struct docker;
struct err;
struct inside;

/*
 * A created container, followed until its end.  The caller fills in the
 * first block; everything in it outlives the watch.
 */
struct watch {
	struct docker *d;
	const char *id;
	const char *run; /* for messages */
	struct capture *capture;
	struct inside *inside;
	int sigfd;
	int relay_fd; /* readable when the relays have died; -1: none */

	struct deadline deadline;
	int signal; /* status for the signal that interrupts us, or 0 */

	struct http_xfer attach, wait, kill;
	char attach_path[128], wait_path[128], kill_path[128];
	struct buf wait_body;
	int64_t seen;	   /* bytes of output at the last look */
	int64_t linger_ms; /* when patience with the rest ends; 0: not begun */
};

/* Registers for output and end: must be done before the start. */
int watch_attach(struct watch *, struct err *) MUST_CHECK;

/*
 * After the start: takes the output, keeps the deadline, obeys signals,
 * returns when the container has ended and all its output is in.
 */
int watch_until_end(struct watch *, struct err *) MUST_CHECK;

void watch_release(struct watch *);

/* The status for a pending signal, taken from sigfd; 0 if there is none. */
int watch_signal(int sigfd);

#endif
