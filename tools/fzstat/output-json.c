/* SPDX-License-Identifier: MIT */
/* --json: the summary as one object. */
#include "output.h"

#include <sysexits.h>

#include "clock.h"
#include "err.h"
#include "json.h"
#include "put.h"
#include "summary.h"

static void
put_head(cJSON *j, const struct report *r, bool *ok)
{
	const struct summary *s = r->sum;

	json_put_str(j, "_schema", "fz-status/1", ok);
	json_put_str(j, "rundir", r->rundir, ok);
	json_put_str_or_null(
	    j, "campaign", r->campaign[0] != '\0' ? r->campaign : NULL, ok);
	json_put_known(j, "planned", s->planned, ok);
	json_put_int(j, "done", (int64_t)summary_done(s), ok);
	json_put_bool(j, "complete", summary_is_complete(s), ok);
	json_put_str_or_null(j, "stop", r->stop, ok);
	json_put_str_or_null(j, "pause", r->pause, ok);
}

static void
put_money(cJSON *j, const struct summary *s, bool *ok)
{
	cJSON *cost = json_put_obj(j, "cost_usd", ok);

	if (s->cost_usd < 0)
		json_put_null(cost, "total", ok);
	else
		*ok = *ok &&
		    cJSON_AddNumberToObject(cost, "total", s->cost_usd) != NULL;
	json_put_int(cost, "unknown_runs", (int64_t)s->cost_unknown, ok);
}

static void
put_numbers(cJSON *j, const struct summary *s, bool *ok)
{
	cJSON *runs = json_put_obj(j, "runs", ok);
	cJSON *reasons = json_put_obj(j, "reasons", ok);
	cJSON *duration = json_put_obj(j, "duration_ms", ok);
	cJSON *findings = json_put_obj(j, "findings", ok);
	cJSON *network = json_put_obj(j, "network", ok);

	json_put_int(runs, "total", (int64_t)s->total, ok);
	for (enum run_state i = 0; i < RUN_STATES; i++)
		json_put_int(runs, run_state_name(i), (int64_t)s->count[i], ok);
	for (size_t i = 0; i < s->reasons; i++)
		json_put_int(
		    reasons, s->reason[i].name, (int64_t)s->reason[i].runs, ok);
	json_put_known(duration, "median", summary_median(s), ok);
	json_put_known(duration, "p90", summary_p90(s), ok);
	json_put_known(duration, "max", summary_max(s), ok);
	json_put_known(findings, "claimed", s->claimed, ok);
	json_put_int(findings, "unknown_runs", (int64_t)s->claimed_unknown, ok);
	json_put_known(network, "denied", s->denied, ok);
	json_put_int(network, "unknown_runs", (int64_t)s->denied_unknown, ok);
	put_money(j, s, ok);
}

static void
put_failures(cJSON *j, const struct summary *s, bool *ok)
{
	cJSON *arr = json_put_arr(j, "last_failures", ok);

	for (size_t i = 0; i < s->failures; i++) {
		const struct summary_failure *f = &s->last[i];
		cJSON *o = json_add_obj(arr, ok);

		json_put_str(o, "run", f->id, ok);
		json_put_str(o, "state", run_state_name(f->state), ok);
		json_put_str(o, "reason_code", f->reason, ok);
		json_put_str_or_null(
		    o, "detail", f->detail[0] != '\0' ? f->detail : NULL, ok);
	}
}

static void
put_active(cJSON *j, const struct summary *s, bool *ok)
{
	cJSON *arr = json_put_arr(j, "active", ok);
	char at[CLOCK_TEXT];

	for (size_t i = 0; i < s->actives; i++) {
		const struct summary_active *a = &s->active[i];
		cJSON *o = json_add_obj(arr, ok);

		clock_text(a->started_ms, at);
		json_put_str(o, "run", a->id, ok);
		json_put_str(o, "state", run_state_name(a->state), ok);
		json_put_str_or_null(
		    o, "started_at", a->started_ms >= 0 ? at : NULL, ok);
	}
}

static int
json_end(FILE *f, const struct report *r, struct err *e)
{
	AUTO(json_p) cJSON *j = cJSON_CreateObject();
	bool ok = j != NULL;

	put_head(j, r, &ok);
	put_numbers(j, r->sum, &ok);
	put_failures(j, r->sum, &ok);
	put_active(j, r->sum, &ok);
	if (!ok)
		return err_set(e, EX_OSERR, "out of memory");
	return put_json(f, j, e);
}

const struct format output_json = { .name = "json", .end = json_end };
