/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_DEADLINE_H
#define DOCKRUN_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* Why dockrun stops a session; the first cause stays. */
enum stop_why {
	STOP_NONE,
	STOP_TIMEOUT,
	STOP_INTERRUPTED,
	STOP_LOG_QUOTA,
};

#define DEADLINE_TERM_MS 5000  /* between TERM and KILL */
#define DEADLINE_LOST_MS 15000 /* between KILL and giving up */

/*
 * When to send which signal: INT at the deadline, TERM after the grace,
 * KILL five seconds later.  Only counts; the caller owns clock and signals.
 */
struct deadline {
	int64_t grace_ms;
	int64_t due_ms;	   /* when the next step is due */
	int next;	   /* the signal of that step, 0: give up */
	bool lost;	   /* even KILL had no effect */
	enum stop_why why; /* set from the first stop on */
};

void deadline_init(
    struct deadline *, int64_t now_ms, int64_t timeout_ms, int64_t grace_ms);

/* Stop now, gently.  Keeps an earlier reason. */
void deadline_stop(struct deadline *, int64_t now_ms, enum stop_why);
/* Skip to KILL; the reason must have been given. */
void deadline_hurry(struct deadline *, int64_t now_ms);

/* The signal to send at this moment, or 0. */
int deadline_step(struct deadline *, int64_t now_ms);
/* How long nothing needs to be done. */
int64_t deadline_wait_ms(const struct deadline *, int64_t now_ms);

/* "timeout", "interrupted", "log_quota"; NULL for none. */
const char *stop_why_text(enum stop_why);

#endif
