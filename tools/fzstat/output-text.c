/* SPDX-License-Identifier: MIT */
/* The table a person reads: at most 80 columns, the next step last. */
#include "output.h"

#include <stdarg.h>
#include <string.h>

#include "put.h"
#include "summary.h"
#include "text.h"

#define WIDTH	   80
#define LABEL	   14 /* where values begin */
#define ACTIVE_MAX 10
#define CHECK	   "\xe2\x9c\x93"
#define CROSS	   "\xe2\x9c\x97"

/* A value that is put together before it is cut to the width. */
struct line {
	char text[512];
	size_t len;
};

static void PRINTF_LIKE(2, 3) line_add(struct line *l, const char *fmt, ...)
{
	size_t room = sizeof(l->text) - l->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->text + l->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->len += (size_t)n < room ? (size_t)n : room - 1;
}

static void
put_row(FILE *f, const char *symbol, const char *label, const char *value)
{
	(void)fprintf(
	    f, "%s %-10s  ", text_locale_is_utf8() ? symbol : " ", label);
	(void)put_text(f, value, WIDTH - LABEL);
	(void)fputc('\n', f);
}

/* Where to break a text so that its first part fits; never inside a word
 * unless the word alone is too long. */
static size_t
first_part(const char *s, size_t width)
{
	size_t n = strlen(s), at = width;

	if (n <= width)
		return n;
	while (at > 0 && s[at] != ' ')
		at--;
	return at > 0 ? at : n;
}

/* A row of as many lines as it takes, for what must not be cut. */
static void
put_rows(FILE *f, const char *label, const char *value)
{
	do {
		size_t n = first_part(value, WIDTH - LABEL);
		char part[512];

		(void)snprintf(part, sizeof(part), "%.*s", (int)n, value);
		put_row(f, " ", label, part);
		value += n;
		value += strspn(value, " ");
		label = "";
	} while (*value != '\0');
}

static const char *const symbols[RUN_STATES] = {
	[RUN_SUCCESS] = CHECK,
	[RUN_ERROR] = CROSS,
	[RUN_TIMEOUT] = CROSS,
};

static void
add_ids(struct line *l, const struct summary *s, enum run_state st)
{
	size_t n = s->count[st];

	for (size_t i = 0; i < n && i < SUMMARY_IDS; i++)
		line_add(l, "%s%s", i == 0 ? "  " : " ", s->ids[st][i]);
	if (n > SUMMARY_IDS)
		line_add(l, " ...");
}

/* What is not as it should be stands there with names, or not at all. */
static void
put_counts(FILE *f, const struct summary *s)
{
	for (enum run_state i = 0; i < RUN_STATES; i++) {
		struct line l = { .len = 0 };

		if (s->count[i] == 0 && i >= RUN_STALE)
			continue;
		line_add(&l, "%zu", s->count[i]);
		if (i >= RUN_STALE)
			add_ids(&l, s, i);
		put_row(f, symbols[i] != NULL ? symbols[i] : " ",
		    run_state_name(i), l.text);
	}
}

/* A reason and its number stay on one line. */
static void
put_reasons(FILE *f, const struct summary *s)
{
	const char *label = "reasons";
	struct line l = { .len = 0 };

	for (size_t i = 0; i < s->reasons; i++) {
		const struct summary_reason *r = &s->reason[i];
		struct line item = { .len = 0 };

		line_add(&item, "%s %zu%s", r->name, r->runs,
		    i + 1 < s->reasons ? "," : "");
		if (l.len > 0 && l.len + 1 + item.len > WIDTH - LABEL) {
			put_row(f, " ", label, l.text);
			label = "";
			l.len = 0;
		}
		line_add(&l, "%s%s", l.len > 0 ? " " : "", item.text);
	}
	if (s->reasons > 0)
		put_row(f, " ", label, l.text);
}

static void
put_times(FILE *f, const struct summary *s)
{
	char median[PUT_DURATION], p90[PUT_DURATION], max[PUT_DURATION];
	struct line l = { .len = 0 };

	put_duration(summary_median(s), median);
	put_duration(summary_p90(s), p90);
	put_duration(summary_max(s), max);
	line_add(&l, "median %s, p90 %s, max %s", median, p90, max);
	if (s->durations > 0)
		put_row(f, " ", "duration", l.text);
}

/* A sum, and in how many runs it is unknown; nothing where nobody knows. */
static void
put_sum(FILE *f, const char *label, struct line *l, size_t unknown)
{
	if (unknown > 0)
		line_add(l, "%sunknown in %zu run%s", l->len > 0 ? "; " : "",
		    unknown, unknown == 1 ? "" : "s");
	put_row(f, " ", label, l->text);
}

static void
put_sums(FILE *f, const struct summary *s)
{
	struct line findings = { .len = 0 }, refused = { .len = 0 },
		    cost = { .len = 0 };

	if (s->claimed >= 0) {
		line_add(&findings, "%lld claimed", (long long)s->claimed);
		put_sum(f, "findings", &findings, s->claimed_unknown);
	}
	if (s->denied >= 0) {
		line_add(&refused, "%lld request%s", (long long)s->denied,
		    s->denied == 1 ? "" : "s");
		put_sum(f, "refused", &refused, s->denied_unknown);
	}
	if (s->cost_usd >= 0)
		line_add(&cost, "%.2f USD", s->cost_usd);
	if (s->cost_usd >= 0 || s->cost_unknown > 0)
		put_sum(f, "cost", &cost, s->cost_unknown);
}

static void
put_failures(FILE *f, const struct summary *s)
{
	int widest = 0;

	for (size_t i = 0; i < s->failures; i++) {
		int n = (int)strlen(s->last[i].reason);

		widest = n > widest ? n : widest;
	}
	if (s->failures > 0)
		(void)fputs("last failures:\n", f);
	for (size_t i = 0; i < s->failures; i++) {
		const struct summary_failure *l = &s->last[i];
		int used = fprintf(
		    f, "  %-3s  %-7s  ", l->id, run_state_name(l->state));
		int cols = (int)put_text(f, l->reason, SUMMARY_WORD);

		if (l->detail[0] != '\0') {
			int pad = widest > cols ? widest - cols : 0;

			used += fprintf(f, "%*s", pad + 2, "") + cols;
			(void)put_text(f, l->detail,
			    used < WIDTH ? (size_t)(WIDTH - used) : 0);
		}
		(void)fputc('\n', f);
	}
}

static void
put_active(FILE *f, const struct report *r)
{
	const struct summary *s = r->sum;
	char age[PUT_DURATION];
	size_t shown = 0;

	for (size_t i = 0; i < s->actives && shown < ACTIVE_MAX; i++) {
		const struct summary_active *a = &s->active[i];
		int64_t ms =
		    r->now_ms > a->started_ms ? r->now_ms - a->started_ms : 0;

		if (a->state != RUN_RUNNING)
			continue;
		if (shown++ == 0)
			(void)fputs("running:\n", f);
		put_duration(a->started_ms < 0 ? -1 : ms, age);
		(void)fprintf(f, "  %-3s  %s\n", a->id, age);
	}
	if (s->count[RUN_RUNNING] > shown)
		(void)fprintf(
		    f, "  and %zu more\n", s->count[RUN_RUNNING] - shown);
}

static void
put_less(FILE *f, const struct report *r)
{
	(void)fputs("less ", f);
	output_word(f, r->rundir);
	(void)fprintf(f, "/%s/workspace/findings.jsonl\n", r->sum->claimed_in);
}

/* What is most useful to type now. */
static void
put_next(FILE *f, const struct report *r)
{
	const struct summary *s = r->sum;

	(void)fputs("next: ", f);
	if (s->count[RUN_RUNNING] > 0) {
		(void)fprintf(
		    f, "make logs RUN=%s FOLLOW=1", s->ids[RUN_RUNNING][0]);
	} else if (summary_due(s) > 0) {
		(void)fputs("make campaign", f);
	} else if (s->count[RUN_ERROR] > 0) {
		(void)fputs("make retry STATUS=error", f);
	} else if (s->claimed > 0) {
		put_less(f, r);
		return;
	} else if (s->count[RUN_TIMEOUT] > 0) {
		(void)fputs("make retry STATUS=timeout", f);
	} else {
		(void)fprintf(f, "make logs RUN=%s", s->ids[RUN_SUCCESS][0]);
	}
	output_rundir(f, r);
	(void)fputc('\n', f);
}

static int
text_end(FILE *f, const struct report *r, struct err *e)
{
	const struct summary *s = r->sum;

	(void)e;
	if (s->total == 0 && s->planned < 0) {
		(void)fputs("no runs in ", f);
		(void)put_text(f, r->rundir, SIZE_MAX);
		(void)fputs("; try make demo\n", f);
		return 0;
	}
	(void)put_text(f, r->rundir, SIZE_MAX);
	(void)fprintf(f, ": %zu", summary_done(s));
	if (s->planned >= 0)
		(void)fprintf(f, " of %lld", (long long)s->planned);
	(void)fputs(" done\n", f);
	put_counts(f, s);
	put_reasons(f, s);
	put_times(f, s);
	put_sums(f, s);
	if (r->stop != NULL)
		put_rows(f, "stop",
		    r->stop[0] != '\0' ? r->stop : "no reason given");
	if (r->pause != NULL)
		put_rows(f, "pause", r->pause);
	put_failures(f, s);
	put_active(f, r);
	put_next(f, r);
	return 0;
}

const struct format output_text = { .name = "text", .end = text_end };
