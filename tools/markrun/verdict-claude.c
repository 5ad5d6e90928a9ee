/* SPDX-License-Identifier: MIT */
/* From facts and what the agent said to a verdict; touches nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "transcript.h"
#include "verdict.h"

static bool
is(const char *word, const char *want)
{
	return strcmp(word, want) == 0;
}

static bool
is_stopped(const struct evidence *f)
{
	return f->exec_errno >= 0 ||
	    (f->stop_why != NULL &&
		(is(f->stop_why, "timeout") || is(f->stop_why, "log_quota")));
}

static bool
is_success(const struct transcript *t)
{
	return t->has_result && !t->is_error &&
	    is(t->terminal_reason, "completed");
}

static void
set(struct verdict *v, enum then then, const char *reason)
{
	v->outcome = OUTCOME_ERROR;
	v->then = then;
	v->reason = reason;
}

/* "API overloaded (529)", or without a status where there was none. */
static void
describe_api(struct verdict *v, const char *what, const struct transcript *t)
{
	if (t->api_status >= 0)
		(void)snprintf(v->detail, sizeof(v->detail), "%s (%" PRId64 ")",
		    what, t->api_status);
	else
		(void)snprintf(v->detail, sizeof(v->detail), "%s", what);
}

/* Who does not let us in, and what a person can do about it. */
static bool
blame_access(struct verdict *v, const struct transcript *t)
{
	const char *what, *then;

	if (t->billing || t->api_status == 402) {
		what = "API asks for payment";
		then = "mend the account, then type make campaign";
	} else if (t->api_status == 401 ||
	    (t->api_status == 403 && t->api_type[0] != '\0')) {
		what = "API refuses the key";
		then = "set a good one, type make proxy-reload, then make "
		       "campaign";
	} else {
		return false;
	}
	set(v, THEN_STOP, "api_auth");
	describe_api(v, what, t);
	(void)snprintf(v->stop, sizeof(v->stop), "the %s: %s", v->detail, then);
	return true;
}

/* The last request failed, by the fault of nobody in the container. */
static bool
blame_api(struct verdict *v, const struct transcript *t)
{
	if (!is(t->terminal_reason, "api_error"))
		return false;
	if (blame_access(v, t))
		return true;
	if (t->api_status == 429) {
		set(v, THEN_WAIT, "api_rate_limit");
		describe_api(v, "API rate limit", t);
	} else if (t->api_status == 529) {
		set(v, THEN_WAIT, "api_overloaded");
		describe_api(v, "API overloaded", t);
	} else if (t->api_status < 0 || t->api_status >= 500) {
		set(v, THEN_WAIT, "api_unreachable");
		describe_api(v, "API unreachable", t);
	} else {
		return false;
	}
	return true;
}

/* An ending of the agent's own. */
static void
blame_agent(struct verdict *v, const struct transcript *t)
{
	size_t size = sizeof(v->detail);

	if (is(t->terminal_reason, "max_turns")) {
		set(v, THEN_NOTHING, "max_turns");
		(void)snprintf(v->detail, size,
		    "Turn limit reached (%" PRId64 " turns)", t->turns);
	} else if (is(t->terminal_reason, "budget_exhausted")) {
		set(v, THEN_NOTHING, "budget_run");
		(void)snprintf(v->detail, size,
		    "Budget of the run is spent (%.4f USD)", t->cost_usd);
	} else {
		set(v, THEN_NOTHING, "agent_error");
		(void)snprintf(v->detail, size, "Agent error (%s)",
		    t->terminal_reason[0] != '\0' ? t->terminal_reason
						  : "unknown");
		if (t->api_status >= 0)
			describe_api(v,
			    t->api_type[0] != '\0' ? "Agent error: API"
						   : "Agent error: gate",
			    t);
	}
}

/*
 * A session may stop or pause all others only by what really happened.  One
 * that never had an answer was not the agent's to tell of: the gate was gone.
 */
static bool
is_seen(const struct verdict *v, const struct transcript *t,
    const struct answers *a)
{
	if (v->then == THEN_NOTHING)
		return v->outcome != OUTCOME_SUCCESS || a->good > 0;
	if (t->api_status >= 0)
		return a->same > 0;
	return a->troubled > 0 || a->good == 0;
}

static void
blame_liar(struct verdict *v)
{
	set(v, THEN_NOTHING, "agent_error");
	v->stop[0] = '\0';
	(void)snprintf(v->detail, sizeof(v->detail),
	    "Agent tells of an answer that the proxy did not see");
}

static void
blame_silence(struct verdict *v, const struct evidence *f)
{
	size_t size = sizeof(v->detail);

	set(v, THEN_NOTHING, "no_result");
	if (f->signal > 0)
		(void)snprintf(v->detail, size,
		    "Agent ended without a result (exit %" PRId64
		    ", signal %" PRId64 ")",
		    f->exit_code, f->signal);
	else
		(void)snprintf(v->detail, size,
		    "Agent ended without a result (exit %" PRId64 ")",
		    f->exit_code);
}

void
verdict_claude(
    struct verdict *v, const struct evidence *f, const struct transcript *t)
{
	bool is_oom = f->oom_killed && f->exit_code != 0 && !t->has_result;

	if (is_stopped(f) || is_oom) {
		verdict_take(v, f);
		return;
	}
	*v = (struct verdict){ 0 };
	if (is_success(t)) {
		v->reason = "done";
	} else if (!t->has_result) {
		blame_silence(v, f);
	} else if (is(t->stop_reason, "refusal")) {
		/* which the CLI reports as an error of the API, too */
		set(v, THEN_NOTHING, "model_refused");
		(void)snprintf(v->detail, sizeof(v->detail), "Model refused");
	} else if (!blame_api(v, t)) {
		blame_agent(v, t);
	}
	if (f->answers != NULL && !is_seen(v, t, f->answers))
		blame_liar(v);
	else if (f->answers == NULL && v->then == THEN_STOP)
		v->then = THEN_NOTHING; /* nobody can tell */
	verdict_mark(v, f);
}
