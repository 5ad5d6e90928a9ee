/* SPDX-License-Identifier: MIT */
/* Counts runs: the numbers behind every summary that is shown. */
#include "summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"
#include "json.h"

void
summary_init(struct summary *s, int64_t planned)
{
	*s = (struct summary){
		.planned = planned,
		.claimed = -1,
		.denied = -1,
		.cost_usd = -1,
	};
}

void
summary_release(struct summary *s)
{
	free(s->duration);
	free(s->active);
	*s = (struct summary){ 0 };
}

static bool
is_verdict(enum run_state s)
{
	return s == RUN_SUCCESS || s == RUN_ERROR || s == RUN_TIMEOUT;
}

/* "0007" is the same number as "007", but no run that make would ask for. */
static bool
is_planned(const struct summary *s, const char *id)
{
	int64_t n = strtoll(id, NULL, 10);

	return n >= 1 && n <= s->planned && (id[0] != '0' || strlen(id) == 3);
}

/* Makes room for one more item; NULL leaves all as it was. */
static void *
grow(void *items, size_t size, size_t used, size_t *cap)
{
	size_t want = *cap == 0 ? 64 : *cap * 2;
	void *p;

	if (used < *cap)
		return items;
	p = reallocarray(items, want, size);
	if (p != NULL)
		*cap = want;
	return p;
}

static struct summary_reason *
find_reason(struct summary *s, const char *name)
{
	for (size_t i = 0; i < s->reasons; i++)
		if (strcmp(s->reason[i].name, name) == 0)
			return &s->reason[i];
	return NULL;
}

static void
count_reason(struct summary *s, const char *reason)
{
	char name[SUMMARY_WORD];
	struct summary_reason *r;

	(void)snprintf(name, sizeof(name), "%s", reason);
	r = find_reason(s, name);
	if (r == NULL && s->reasons >= SUMMARY_REASONS - 1) {
		(void)snprintf(name, sizeof(name), "other");
		r = find_reason(s, name);
	}
	if (r == NULL) {
		r = &s->reason[s->reasons++];
		memcpy(r->name, name, sizeof(name));
		r->runs = 0;
	}
	r->runs++;
}

static void
keep_failure(struct summary *s, const struct run *r, const char *reason)
{
	struct summary_failure f = {
		.state = r->state,
		.ended_ms = r->started_ms < 0
		    ? -1
		    : r->started_ms + (r->duration_ms > 0 ? r->duration_ms : 0),
	};
	size_t i = s->failures;

	memcpy(f.id, r->id, sizeof(f.id));
	(void)snprintf(f.reason, sizeof(f.reason), "%s", reason);
	(void)snprintf(f.detail, sizeof(f.detail), "%s",
	    r->detail != NULL ? r->detail : "");
	while (i > 0 && s->last[i - 1].ended_ms > f.ended_ms)
		i--;
	if (s->failures < SUMMARY_LAST) {
		memmove(&s->last[i + 1], &s->last[i],
		    (s->failures - i) * sizeof(f));
		s->last[i] = f;
		s->failures++;
	} else if (i > 0) {
		memmove(&s->last[0], &s->last[1], (i - 1) * sizeof(f));
		s->last[i - 1] = f;
	}
}

/* Adds what is known; a liar must not make the sum overflow. */
static void
add_known(int64_t *sum, size_t *unknown, int64_t n)
{
	int64_t have = *sum > 0 ? *sum : 0;

	if (n < 0)
		++*unknown;
	else
		*sum = n > JSON_INT_MAX - have ? JSON_INT_MAX : have + n;
}

static void
add_claims(struct summary *s, const struct run *r)
{
	add_known(&s->claimed, &s->claimed_unknown, r->claimed);
	if (r->claimed > 0 && s->claimed_in[0] == '\0')
		memcpy(s->claimed_in, r->id, sizeof(s->claimed_in));
}

static void
add_cost(struct summary *s, const struct run *r)
{
	if (r->cost_usd >= 0)
		s->cost_usd = (s->cost_usd > 0 ? s->cost_usd : 0) + r->cost_usd;
	else
		s->cost_unknown += r->has_cost;
}

static int
add_duration(struct summary *s, const struct run *r, struct err *e)
{
	int64_t *d =
	    grow(s->duration, sizeof(*d), s->durations, &s->duration_cap);

	if (d == NULL)
		return err_set(e, EX_OSERR, "out of memory");
	s->duration = d;
	d[s->durations++] = r->duration_ms;
	return 0;
}

static int
add_verdict(struct summary *s, const struct run *r, struct err *e)
{
	const char *reason = r->reason != NULL ? r->reason : "unknown";

	if (r->state != RUN_SUCCESS) {
		count_reason(s, reason);
		keep_failure(s, r, reason);
	}
	add_claims(s, r);
	add_known(&s->denied, &s->denied_unknown, r->denied);
	add_cost(s, r);
	return r->duration_ms < 0 ? 0 : add_duration(s, r, e);
}

static int
add_active(struct summary *s, const struct run *r, struct err *e)
{
	struct summary_active *a =
	    grow(s->active, sizeof(*a), s->actives, &s->active_cap);

	if (a == NULL)
		return err_set(e, EX_OSERR, "out of memory");
	s->active = a;
	a += s->actives++;
	memcpy(a->id, r->id, sizeof(a->id));
	a->state = r->state;
	a->started_ms = r->started_ms;
	return 0;
}

int
summary_add(struct summary *s, const struct run *r, struct err *e)
{
	size_t nth = s->count[r->state]++;

	s->total++;
	if (nth < SUMMARY_IDS)
		memcpy(s->ids[r->state][nth], r->id, RUN_ID);
	if (is_planned(s, r->id)) {
		s->planned_done += is_verdict(r->state);
		s->planned_running += r->state == RUN_RUNNING;
	}
	if (is_verdict(r->state))
		return add_verdict(s, r, e);
	if (r->state == RUN_RUNNING || r->state == RUN_STALE)
		return add_active(s, r, e);
	return 0;
}

static int
by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int
by_runs(const void *a, const void *b)
{
	const struct summary_reason *x = a, *y = b;

	if (x->runs != y->runs)
		return x->runs < y->runs ? 1 : -1;
	return strcmp(x->name, y->name);
}

void
summary_finish(struct summary *s)
{
	if (s->durations > 0)
		qsort(
		    s->duration, s->durations, sizeof(*s->duration), by_value);
	qsort(s->reason, s->reasons, sizeof(s->reason[0]), by_runs);
}

int64_t
summary_median(const struct summary *s)
{
	size_t mid = s->durations / 2;

	if (s->durations == 0)
		return -1;
	if (s->durations % 2 == 1)
		return s->duration[mid];
	return (s->duration[mid - 1] + s->duration[mid]) / 2;
}

int64_t
summary_p90(const struct summary *s)
{
	if (s->durations == 0)
		return -1;
	return s->duration[(s->durations * 9 + 9) / 10 - 1];
}

int64_t
summary_max(const struct summary *s)
{
	return s->durations == 0 ? -1 : s->duration[s->durations - 1];
}

size_t
summary_done(const struct summary *s)
{
	if (s->planned >= 0)
		return s->planned_done;
	return s->count[RUN_SUCCESS] + s->count[RUN_ERROR] +
	    s->count[RUN_TIMEOUT];
}

size_t
summary_due(const struct summary *s)
{
	if (s->planned < 0)
		return s->count[RUN_STALE] + s->count[RUN_UNFINISHED] +
		    s->count[RUN_UNREADABLE];
	return (size_t)s->planned - s->planned_done - s->planned_running;
}

bool
summary_is_complete(const struct summary *s)
{
	return s->planned >= 0 && s->planned_done == (size_t)s->planned;
}
