/* SPDX-License-Identifier: MIT */
/* From facts to a verdict; touches nothing. */
#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void
set(struct verdict *v, enum outcome o, const char *reason)
{
	v->outcome = o;
	v->reason = reason;
}

/* Outcome and reason_code. */
static void
decide(struct verdict *v, const struct evidence *f)
{
	if (f->stop_why != NULL && strcmp(f->stop_why, "timeout") == 0)
		set(v, OUTCOME_TIMEOUT, "wall_clock");
	else if (f->stop_why != NULL && strcmp(f->stop_why, "log_quota") == 0)
		set(v, OUTCOME_ERROR, "log_quota");
	else if (f->exec_errno >= 0)
		set(v, OUTCOME_ERROR, "exec_failed");
	else if (f->exit_code != 0 && f->oom_killed)
		set(v, OUTCOME_ERROR, "oom");
	else if (f->exit_code != 0)
		set(v, OUTCOME_ERROR, "exit_nonzero");
	else
		set(v, OUTCOME_SUCCESS, "done");
}

/* The words for people. */
static void
describe(struct verdict *v, const struct evidence *f)
{
	char *to = v->detail;
	size_t size = sizeof(v->detail);

	if (v->outcome == OUTCOME_TIMEOUT)
		(void)snprintf(to, size, "Timeout after %" PRId64 "s",
		    f->timeout_ms / 1000);
	else if (strcmp(v->reason, "log_quota") == 0)
		(void)snprintf(to, size, "Output over the limit of --max-log");
	else if (strcmp(v->reason, "exec_failed") == 0)
		(void)snprintf(to, size, "Command cannot be run (%s)",
		    strerror((int)f->exec_errno));
	else if (strcmp(v->reason, "oom") == 0)
		(void)snprintf(
		    to, size, "Out of memory (exit %" PRId64 ")", f->exit_code);
	else if (v->outcome == OUTCOME_ERROR && f->signal > 0)
		(void)snprintf(to, size,
		    "Container error (exit %" PRId64 ", signal %" PRId64 ")",
		    f->exit_code, f->signal);
	else if (v->outcome == OUTCOME_ERROR)
		(void)snprintf(to, size, "Container error (exit %" PRId64 ")",
		    f->exit_code);
}

void
verdict_mark(struct verdict *v, const struct evidence *f)
{
	switch (v->outcome) {
	case OUTCOME_SUCCESS:
		(void)snprintf(v->marker, sizeof(v->marker),
		    "Completed in %.1fs", (double)f->duration_ms / 1000);
		break;
	case OUTCOME_TIMEOUT:
		(void)snprintf(v->marker, sizeof(v->marker),
		    "Timed out after %" PRId64 "s", f->timeout_ms / 1000);
		break;
	default:
		(void)snprintf(v->marker, sizeof(v->marker),
		    "Exit code: %" PRId64, f->exit_code);
		break;
	}
}

void
verdict_take(struct verdict *v, const struct evidence *f)
{
	*v = (struct verdict){ 0 };
	decide(v, f);
	describe(v, f);
	verdict_mark(v, f);
}

const char *
outcome_word(enum outcome o)
{
	static const char *const words[] = {
		[OUTCOME_SUCCESS] = "success",
		[OUTCOME_ERROR] = "error",
		[OUTCOME_TIMEOUT] = "timeout",
	};

	return words[o];
}

const char *
outcome_marker(enum outcome o)
{
	static const char *const words[] = {
		[OUTCOME_SUCCESS] = "SUCCESS",
		[OUTCOME_ERROR] = "ERROR",
		[OUTCOME_TIMEOUT] = "TIMEOUT",
	};

	return words[o];
}
