/* SPDX-License-Identifier: MIT */
#ifndef FZ_RUN_H
#define FZ_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#define RUN_ID 10 /* nine digits and the NUL */

enum run_state {
	RUN_SUCCESS,
	RUN_ERROR,
	RUN_TIMEOUT,
	RUN_RUNNING,
	RUN_STALE,	/* says it is running, but its owner is dead */
	RUN_UNFINISHED, /* neither a verdict nor an owner */
	RUN_UNREADABLE,
	RUN_STATES
};

/*
 * What is known of one run.  The texts are borrowed from file and hostile;
 * NULL or a negative number means unknown.
 */
struct run {
	char id[RUN_ID];
	enum run_state state;
	const char *reason;
	const char *detail;
	const char *started_at;
	int64_t started_ms; /* the same, since 1970 */
	int64_t duration_ms;
	int64_t claimed;
	int64_t denied;	 /* requests that the proxy refused */
	double cost_usd; /* negative: unknown */
	bool has_cost;	 /* an agent that costs something, if only unknown */
	cJSON *file;	 /* owned: result.json, else run.json, else NULL */
};

/* For a run of which nothing is known but its name. */
void run_init(struct run *, const char *id);
void run_release(struct run *);

/* "success", "error", ... */
const char *run_state_name(enum run_state);

/* The state whose name is the n bytes at s, or RUN_STATES. */
enum run_state run_state_find(const char *s, size_t n);

#endif
