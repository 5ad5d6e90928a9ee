/* SPDX-License-Identifier: MIT */
/* One run and the words for its state. */
#include "run.h"

#include <stdio.h>
#include <string.h>

static const char *const names[RUN_STATES] = {
	[RUN_SUCCESS] = "success",
	[RUN_ERROR] = "error",
	[RUN_TIMEOUT] = "timeout",
	[RUN_RUNNING] = "running",
	[RUN_STALE] = "stale",
	[RUN_UNFINISHED] = "unfinished",
	[RUN_UNREADABLE] = "unreadable",
};

void
run_init(struct run *r, const char *id)
{
	*r = (struct run){
		.state = RUN_UNFINISHED,
		.started_ms = -1,
		.duration_ms = -1,
		.claimed = -1,
		.denied = -1,
		.cost_usd = -1,
	};
	(void)snprintf(r->id, sizeof(r->id), "%s", id);
}

void
run_release(struct run *r)
{
	cJSON_Delete(r->file);
	r->file = NULL;
}

const char *
run_state_name(enum run_state s)
{
	return names[s];
}

enum run_state
run_state_find(const char *s, size_t n)
{
	enum run_state i = 0;

	while (i < RUN_STATES &&
	    (strlen(names[i]) != n || memcmp(names[i], s, n) != 0))
		i++;
	return i;
}
