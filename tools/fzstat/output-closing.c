/* SPDX-License-Identifier: MIT */
/* --closing: what a campaign says when it ends, one way or the other. */
#include "output.h"

#include <stdint.h>
#include <string.h>

#include "put.h"
#include "summary.h"
#include "text.h"

static void
say_findings(FILE *f, const struct summary *s)
{
	if (s->claimed < 0)
		(void)fputs("; findings unknown\n", f);
	else
		(void)fprintf(f, "; %lld finding%s claimed\n",
		    (long long)s->claimed, s->claimed == 1 ? "" : "s");
}

static void
say_complete(FILE *f, const struct report *r)
{
	const struct summary *s = r->sum;

	(void)fprintf(f, "%sAll %lld sessions complete! Results in ",
	    text_locale_is_utf8() ? "\xe2\x9c\x93 " : "",
	    (long long)s->planned);
	(void)put_text(f, r->rundir, SIZE_MAX);
	(void)fprintf(f, "/\n%zu success, %zu error, %zu timeout",
	    s->count[RUN_SUCCESS], s->count[RUN_ERROR], s->count[RUN_TIMEOUT]);
	say_findings(f, s);
	(void)fputs("next: make status", f);
	output_rundir(f, r);
	(void)fputc('\n', f);
}

static void
say_stopped(FILE *f, const struct report *r)
{
	const struct summary *s = r->sum;

	if (r->stop != NULL) {
		(void)put_text(
		    f, r->stop[0] != '\0' ? r->stop : "stopped", SIZE_MAX);
		(void)fputc('\n', f);
	}
	(void)fprintf(f, "%zu", summary_done(s));
	if (s->planned >= 0)
		(void)fprintf(f, "/%lld", (long long)s->planned);
	(void)fputs(" complete\ncontinue with: ", f);
	(void)put_text(f, r->command, SIZE_MAX);
	(void)fputc('\n', f);
}

static int
closing_end(FILE *f, const struct report *r, struct err *e)
{
	(void)e;
	if (summary_is_complete(r->sum))
		say_complete(f, r);
	else
		say_stopped(f, r);
	return 0;
}

const struct format output_closing = {
	.name = "closing",
	.end = closing_end,
	.gates = true,
};
