/* SPDX-License-Identifier: MIT */
#ifndef MARKRUN_VERDICT_H
#define MARKRUN_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct transcript;

enum outcome {
	OUTCOME_SUCCESS,
	OUTCOME_ERROR,
	OUTCOME_TIMEOUT,
};

/* What the API told the session, by the proxy's log. */
struct answers {
	int64_t good;	  /* 2xx */
	int64_t troubled; /* 5xx */
	int64_t same;	  /* the status that the agent tells of */
};

/* The facts of container.json that decide.  -1 and NULL are unknown. */
struct evidence {
	int64_t exit_code;
	int64_t signal;
	int64_t exec_errno;
	bool oom_killed;
	const char *stop_why; /* "timeout", "log_quota", or NULL */
	int64_t timeout_ms;
	int64_t duration_ms;
	const struct answers *answers;
};

/* What has to happen beside the verdict. */
enum then {
	THEN_NOTHING,
	THEN_WAIT, /* no verdict: the API is in trouble, the run is due again */
	THEN_STOP, /* no other session would fare better until a person acts */
};

struct verdict {
	enum outcome outcome;
	enum then then;
	const char *reason; /* reason_code of result.json */
	char marker[80];    /* first line of the marker file */
	char detail[128];   /* "Timeout after 900s"; empty for success */
	char stop[200];	    /* with THEN_STOP: why, and what to do */
};

/* The first cause in time wins: what stopped a session explains its exit. */
void verdict_take(struct verdict *, const struct evidence *);

/*
 * The same for an agent that says how it ended: what stopped it and what it
 * said decide, its exit status does not.  Other programs in the container
 * can write to its output, so what it says of the API is believed only if
 * the proxy saw such an answer too.
 */
void verdict_claude(
    struct verdict *, const struct evidence *, const struct transcript *);

/* The marker's first line for an outcome that is set. */
void verdict_mark(struct verdict *, const struct evidence *);

/* "success" and "SUCCESS" and so on. */
const char *outcome_word(enum outcome);
const char *outcome_marker(enum outcome);

#endif
