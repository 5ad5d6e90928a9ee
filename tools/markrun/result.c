/* SPDX-License-Identifier: MIT */
/* result.json, and the count of claims in it. */
#include "result.h"

#include <string.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"
#include "transcript.h"
#include "verdict.h"

#define CLAIMS_MAX 200

static void
put_container(cJSON *root, const cJSON *facts, bool *ok)
{
	cJSON *c = json_put_obj(root, "container", ok);

	json_put_known(c, "exit_code", json_at_int(facts, "exit_code"), ok);
	json_put_known(c, "signal", json_at_int(facts, "signal"), ok);
	json_put_bool(c, "oom_killed", json_at_true(facts, "oom_killed"), ok);
	json_put_str_or_null(c, "image", json_at_str(facts, "image"), ok);
	json_put_known(c, "peak_memory_bytes",
	    json_at_int(facts, "usage.peak_memory_bytes"), ok);
	json_put_known(c, "cpu_ms", json_at_int(facts, "usage.cpu_ms"), ok);
}

static const char *
known(const char *word)
{
	return word[0] != '\0' ? word : NULL;
}

static void
put_cost(cJSON *obj, double usd, bool *ok)
{
	if (usd < 0)
		json_put_null(obj, "cost_usd", ok);
	else
		*ok = *ok &&
		    cJSON_AddNumberToObject(obj, "cost_usd", usd) != NULL;
}

/* What only an agent's own result line can tell: unknown for a command. */
static void
put_agent(cJSON *root, const struct result_agent *agent, bool *ok)
{
	cJSON *a = json_put_obj(root, "agent", ok);
	struct transcript t;

	transcript_init(&t);
	if (agent->said != NULL)
		t = *agent->said;
	json_put_str(a, "name", agent->name, ok);
	json_put_known(a, "turns", t.turns, ok);
	put_cost(a, t.cost_usd, ok);
	json_put_known(a, "input_tokens", t.input_tokens, ok);
	json_put_known(a, "output_tokens", t.output_tokens, ok);
	json_put_str_or_null(a, "session_id", known(t.session_id), ok);
	json_put_str_or_null(a, "model", known(t.model), ok);
	json_put_known(a, "denials", t.denials, ok);
}

cJSON *
result_render(const cJSON *facts, const struct verdict *v,
    const struct result_agent *agent, int64_t claimed, struct err *e)
{
	cJSON *root = cJSON_CreateObject();
	bool ok = root != NULL;
	cJSON *o;

	json_put_str(root, "_schema", "fz-result/1", &ok);
	json_put_str_or_null(root, "run", json_at_str(facts, "run"), &ok);
	json_put_known(root, "attempt", json_at_int(facts, "attempt"), &ok);
	json_put_str(root, "outcome", outcome_word(v->outcome), &ok);
	json_put_str(root, "reason_code", v->reason, &ok);
	json_put_str(
	    root, "detail", v->detail[0] != '\0' ? v->detail : v->marker, &ok);
	json_put_str_or_null(
	    root, "started_at", json_at_str(facts, "started_at"), &ok);
	json_put_known(
	    root, "duration_ms", json_at_int(facts, "duration_ms"), &ok);
	put_container(root, facts, &ok);
	put_agent(root, agent, &ok);
	o = json_put_obj(root, "network", &ok);
	json_put_known(o, "denied", json_at_int(facts, "network.denied"), &ok);
	o = json_put_obj(root, "findings", &ok);
	json_put_known(o, "claimed", claimed, &ok);
	json_put_int(o, "verified", 0, &ok);
	o = json_put_obj(root, "inputs", &ok);
	json_put_str_or_null(
	    o, "prompt_sha256", json_at_str(facts, "stdin_sha256"), &ok);
	json_put_known(o, "timeout_ms", json_at_int(facts, "timeout_ms"), &ok);
	json_put_known(
	    o, "memory_bytes", json_at_int(facts, "limits.memory_bytes"), &ok);
	if (ok)
		return root;
	cJSON_Delete(root);
	err_set(e, EX_SOFTWARE, "cannot render result.json");
	return NULL;
}

int64_t
result_count_claims(const char *text, size_t len)
{
	int64_t n = 0;

	while (len > 0 && n < CLAIMS_MAX) {
		const char *nl = memchr(text, '\n', len);
		size_t line = nl != NULL ? (size_t)(nl - text) : len;
		char *copy = strndup(text, line);
		AUTO(json_p) cJSON *j = NULL;
		struct err ignored;

		if (copy == NULL)
			return -1;
		/* A NUL cuts the copy short, and then it is no claim. */
		if (strlen(copy) == line)
			j = json_parse(copy, line, &ignored);
		free(copy);
		n += cJSON_IsObject(j);
		line += nl != NULL;
		text += line;
		len -= line;
	}
	return n;
}
