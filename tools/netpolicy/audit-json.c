/* SPDX-License-Identifier: MIT */
/* -o json: the whole audit as one object. */
#include "audit.h"

#include <stdlib.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"

/* "-" is how the log writes that there is none. */
static void
put_word(cJSON *o, const char *key, const char *s, bool *ok)
{
	json_put_str_or_null(
	    o, key, s[0] == '-' && s[1] == '\0' ? NULL : s, ok);
}

static void
put_row(cJSON *arr, const struct audit_row *r, bool *ok)
{
	cJSON *o = json_add_obj(arr, ok);

	put_word(o, "run", r->run, ok);
	json_put_known(o, "attempt", r->attempt > 0 ? r->attempt : -1, ok);
	json_put_str(o, "client", r->client, ok);
	json_put_bool(o, "denied", r->denied, ok);
	json_put_int(o, "count", r->count, ok);
	put_word(o, "rule", r->rule, ok);
	json_put_int(o, "status", r->status, ok);
	json_put_str(o, "method", r->method, ok);
	json_put_str(o, "target", r->target, ok);
	put_word(o, "sni", r->sni, ok);
	json_put_int(o, "first_ms", r->first_ms, ok);
	json_put_int(o, "last_ms", r->last_ms, ok);
	json_put_int(o, "up", r->up, ok);
	json_put_int(o, "down", r->down, ok);
	json_put_str_or_null(o, "now", r->now, ok);
}

static int
json_write_table(FILE *f, const struct audit_table *t, struct err *e)
{
	AUTO(json_p) cJSON *j = cJSON_CreateObject();
	AUTO(free_p) char *text = NULL;
	bool ok = j != NULL;
	cJSON *arr;

	json_put_str(j, "_schema", "fz-audit/1", &ok);
	json_put_int(j, "lines", t->lines, &ok);
	json_put_int(j, "requests", t->requests, &ok);
	json_put_int(j, "denied", t->denied, &ok);
	json_put_int(j, "malformed", t->malformed, &ok);
	json_put_int(j, "left_out", t->left_out, &ok);
	arr = json_put_arr(j, "rows", &ok);
	for (size_t i = 0; i < t->rows; i++)
		put_row(arr, t->row[i], &ok);
	if (ok)
		text = cJSON_PrintUnformatted(j);
	if (text == NULL)
		return err_set(e, EX_OSERR, "out of memory");
	(void)fprintf(f, "%s\n", text);
	return 0;
}

const struct audit_format audit_json = { "json", json_write_table };
