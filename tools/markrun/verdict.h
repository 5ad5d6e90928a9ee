/* SPDX-License-Identifier: MIT */
#ifndef MARKRUN_VERDICT_H
#define MARKRUN_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum outcome {
	OUTCOME_SUCCESS,
	OUTCOME_ERROR,
	OUTCOME_TIMEOUT,
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
};

struct verdict {
	enum outcome outcome;
	const char *reason; /* reason_code of result.json */
	char marker[80];    /* first line of the marker file */
	char detail[80];    /* "Timeout after 900s"; empty for success */
};

/* The first cause in time wins: what stopped a session explains its exit. */
void verdict_take(struct verdict *, const struct evidence *);

/* "success" and "SUCCESS" and so on. */
const char *outcome_word(enum outcome);
const char *outcome_marker(enum outcome);

#endif
