/* SPDX-License-Identifier: MIT */
/* -o text: for people, one block for each run. */
#include "audit.h"

#include <string.h>

static bool
is_same_run(const struct audit_row *a, const struct audit_row *b)
{
	return strcmp(a->run, b->run) == 0 && a->attempt == b->attempt &&
	    strcmp(a->client, b->client) == 0;
}

static void
put_head(FILE *f, const struct audit_row *r)
{
	if (r->run[0] == '-')
		(void)fputs("no run known", f);
	else
		(void)fprintf(f, "run %s", r->run);
	if (r->attempt > 0)
		(void)fprintf(f, " attempt %lld", (long long)r->attempt);
	(void)fprintf(f, " (%s)\n", r->client);
}

static void
put_row(FILE *f, const struct audit_row *r)
{
	(void)fprintf(f, "  %6lld  %-6s  %-15s  %s %s", (long long)r->count,
	    r->denied ? "denied" : "passed", r->rule, r->method, r->target);
	if (strcmp(r->sni, "-") != 0)
		(void)fprintf(f, " sni=%s", r->sni);
	if (!r->denied)
		(void)fprintf(f, " status=%lld", (long long)r->status);
	if (r->now != NULL && r->denied == (r->now[0] == 'a'))
		(void)fprintf(f, " (the policy now says %s)", r->now);
	(void)fputc('\n', f);
}

static int
text_write(FILE *f, const struct audit_table *t, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < t->rows; i++) {
		if (i == 0 || !is_same_run(t->row[i], t->row[i - 1]))
			put_head(f, t->row[i]);
		put_row(f, t->row[i]);
	}
	(void)fprintf(f, "%lld denied of %lld requests\n", (long long)t->denied,
	    (long long)t->requests);
	if (t->left_out > 0)
		(void)fprintf(f, "%lld more did not fit into this table\n",
		    (long long)t->left_out);
	if (t->malformed > 0)
		(void)fprintf(f, "%lld lines could not be read\n",
		    (long long)t->malformed);
	return 0;
}

const struct audit_format audit_text = { "text", text_write };
