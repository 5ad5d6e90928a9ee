/* SPDX-License-Identifier: MIT */
#ifndef MARKRUN_PROVIDER_H
#define MARKRUN_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

struct err;

/* How the API is doing, as far as the sessions of a campaign can tell. */
struct provider {
	int64_t streak;	  /* failures with no good answer between them */
	int64_t step_ms;  /* how long the last pause is; 0 without one */
	int64_t began_ms; /* when it began, on the wall clock */
};

/* A session that failed by the API. */
struct provider_failure {
	const char *reason; /* "api_overloaded" */
	int64_t started_ms; /* when the session began, on the wall clock */
	bool answered;	    /* it had a good answer before */
};

/*
 * Counts a failure; true when all have to wait for step_ms from now_ms on.
 * What was running when the last pause began tells nothing new.
 */
bool provider_count(struct provider *, const struct provider_failure *,
    int64_t first_ms, int64_t now_ms);

/* The same in the directory of all runs, and PAUSE is written there. */
int provider_failed(
    int dfd, const struct provider_failure *, struct err *) MUST_CHECK;

/* The last request of a session that began then went well: no pause any
 * more, if it began after the pause did. */
int provider_is_good(int dfd, int64_t started_ms, struct err *) MUST_CHECK;

/* Writes STOP with that line, unless there is one. */
int provider_stop(int dfd, const char *line, struct err *) MUST_CHECK;

#endif
