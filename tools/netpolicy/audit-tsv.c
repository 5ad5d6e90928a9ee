/* SPDX-License-Identifier: MIT */
/* -o tsv: one line of fixed columns for each request. */
#include "audit.h"

static int
tsv_write(FILE *f, const struct audit_table *t, struct err *e)
{
	(void)e;
	(void)fputs(
	    "run\tattempt\tclient\tdenied\tcount\trule\tstatus\tmethod\t"
	    "target\tsni\tfirst_ms\tlast_ms\tup\tdown\tnow\n",
	    f);
	for (size_t i = 0; i < t->rows; i++) {
		const struct audit_row *r = t->row[i];

		(void)fprintf(f,
		    "%s\t%lld\t%s\t%s\t%lld\t%s\t%lld\t%s\t%s\t%s\t", r->run,
		    (long long)r->attempt, r->client, r->denied ? "yes" : "no",
		    (long long)r->count, r->rule, (long long)r->status,
		    r->method, r->target, r->sni);
		(void)fprintf(f, "%lld\t%lld\t%lld\t%lld\t%s\n",
		    (long long)r->first_ms, (long long)r->last_ms,
		    (long long)r->up, (long long)r->down,
		    r->now != NULL ? r->now : "-");
	}
	return 0;
}

const struct audit_format audit_tsv = { "tsv", tsv_write };
