/* SPDX-License-Identifier: MIT */
/* --tsv: fixed columns, for spreadsheets and awk. */
#include "output.h"

#include "json.h"
#include "put.h"
#include "run.h"

/* Columns are only ever appended: scripts count them. */
static const struct {
	const char *name;
	const char *path; /* in result.json or run.json */
} columns[] = {
	{ "reason_code", "reason_code" },
	{ "started_at", "started_at" },
	{ "duration_ms", "duration_ms" },
	{ "exit_code", "container.exit_code" },
	{ "signal", "container.signal" },
	{ "oom_killed", "container.oom_killed" },
	{ "peak_memory_bytes", "container.peak_memory_bytes" },
	{ "claimed", "findings.claimed" },
	{ "attempt", "attempt" },
	{ "cost_usd", "agent.cost_usd" },
	{ "turns", "agent.turns" },
	{ "denied", "network.denied" },
};

static void
tsv_begin(FILE *f)
{
	(void)fputs("run\tstate", f);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		(void)fprintf(f, "\t%s", columns[i].name);
	(void)fputc('\n', f);
}

/* Lists and objects have no form here and stay empty, like unknown. */
static void
put_value(FILE *f, const cJSON *v)
{
	if (cJSON_IsString(v))
		put_field(f, v->valuestring);
	else if (cJSON_IsBool(v))
		(void)fputs(cJSON_IsTrue(v) ? "true" : "false", f);
	else if (cJSON_IsNumber(v) && v->valuedouble >= -(double)JSON_INT_MAX &&
	    v->valuedouble <= (double)JSON_INT_MAX)
		(void)fprintf(f, "%.15g", v->valuedouble);
}

static int
tsv_run(FILE *f, const struct run *r, struct err *e)
{
	(void)e;
	(void)fprintf(f, "%s\t%s", r->id, run_state_name(r->state));
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		(void)fputc('\t', f);
		put_value(f, json_at(r->file, columns[i].path));
	}
	(void)fputc('\n', f);
	return 0;
}

const struct format output_tsv = {
	.name = "tsv",
	.begin = tsv_begin,
	.run = tsv_run,
};
