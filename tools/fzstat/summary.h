/* SPDX-License-Identifier: MIT */
#ifndef FZ_SUMMARY_H
#define FZ_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "run.h"

struct err;

#define SUMMARY_IDS	8  /* names kept per state */
#define SUMMARY_LAST	5  /* failures kept */
#define SUMMARY_REASONS 32 /* the last one is "other" once they are used up */
#define SUMMARY_WORD	32 /* a longer reason is cut */
#define SUMMARY_DETAIL	128

struct summary_reason {
	char name[SUMMARY_WORD];
	size_t runs;
};

struct summary_failure {
	char id[RUN_ID];
	enum run_state state;
	char reason[SUMMARY_WORD];
	char detail[SUMMARY_DETAIL]; /* "" is unknown */
	int64_t ended_ms;	     /* negative: unknown */
};

/* A run that is running or stale. */
struct summary_active {
	char id[RUN_ID];
	enum run_state state;
	int64_t started_ms; /* negative: unknown */
};

struct summary {
	int64_t planned;     /* runs 1 to this; negative: unknown */
	size_t planned_done; /* of these, with a verdict */
	size_t planned_running;
	size_t total;
	size_t count[RUN_STATES];
	char ids[RUN_STATES][SUMMARY_IDS][RUN_ID]; /* the first ones */

	int64_t claimed;	 /* negative: no run knows */
	size_t claimed_unknown;	 /* verdicts that do not know */
	char claimed_in[RUN_ID]; /* the first run with a claim, or "" */

	int64_t denied;	       /* requests refused; negative: no run knows */
	size_t denied_unknown; /* verdicts that do not know */
	double cost_usd;       /* negative: no run knows */
	size_t cost_unknown;   /* verdicts that do not know */

	struct summary_reason reason[SUMMARY_REASONS]; /* of failures */
	size_t reasons;
	struct summary_failure last[SUMMARY_LAST]; /* the newest one is last */
	size_t failures;			   /* how many are in last */

	int64_t *duration; /* of runs with a verdict; sorted at the end */
	size_t durations, duration_cap;
	struct summary_active *active;
	size_t actives, active_cap;
};

/*
 * Counting touches neither files nor clocks.  Add runs in order of their
 * number, then call summary_finish() once, then read.
 */
void summary_init(struct summary *, int64_t planned);
int summary_add(struct summary *, const struct run *, struct err *) MUST_CHECK;
void summary_finish(struct summary *);
void summary_release(struct summary *);

/* Of the durations, in ms; negative without any.  The median of an even
 * number is the mean of the middle two; p90 is the nearest rank. */
int64_t summary_median(const struct summary *);
int64_t summary_p90(const struct summary *);
int64_t summary_max(const struct summary *);

/* Runs with a verdict: the planned ones, or all without a plan. */
size_t summary_done(const struct summary *);

/* Runs that "make campaign" would start: never those that are running. */
size_t summary_due(const struct summary *);

/* Every planned run has a verdict; false without a plan. */
bool summary_is_complete(const struct summary *);

#endif
