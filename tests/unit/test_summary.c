/* SPDX-License-Identifier: MIT */
/* uses: tools/fzstat/summary.c */
/* The numbers fzstat shows, without any file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../tools/fzstat/summary.h"
#include "err.h"
#include "json.h"

static struct run
some_run(int number, enum run_state state)
{
	struct run r = {
		.state = state,
		.started_ms = -1,
		.duration_ms = -1,
		.claimed = -1,
		.denied = -1,
		.cost_usd = -1,
	};

	(void)snprintf(r.id, sizeof(r.id), "%03d", number % 100000);
	return r;
}

static void
add(struct summary *s, struct run r)
{
	struct err e;

	assert_int_equal(summary_add(s, &r, &e), 0);
}

static const struct {
	int64_t ms[11];
	size_t n;
	int64_t median, p90, max;
} duration_cases[] = {
	{ { 0 }, 0, -1, -1, -1 },
	{ { 7 }, 1, 7, 7, 7 },
	{ { 0 }, 1, 0, 0, 0 },
	{ { 4, 1 }, 2, 2, 4, 4 },
	{ { 9, 1, 5 }, 3, 5, 9, 9 },
	{ { 4, 3, 2, 1 }, 4, 2, 4, 4 },
	{ { 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 }, 10, 5, 9, 10 },
	{ { 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 }, 11, 6, 10, 11 },
};

static void
durations_have_median_p90_and_max(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(duration_cases); i++) {
		struct summary s;

		summary_init(&s, -1);
		for (size_t k = 0; k < duration_cases[i].n; k++) {
			struct run r = some_run((int)k + 1, RUN_SUCCESS);

			r.duration_ms = duration_cases[i].ms[k];
			add(&s, r);
		}
		summary_finish(&s);
		assert_int_equal(summary_median(&s), duration_cases[i].median);
		assert_int_equal(summary_p90(&s), duration_cases[i].p90);
		assert_int_equal(summary_max(&s), duration_cases[i].max);
		summary_release(&s);
	}
}

static void
nothing_is_neither_done_nor_complete(void **state)
{
	struct summary s;

	(void)state;
	summary_init(&s, -1);
	summary_finish(&s);
	assert_int_equal(s.total, 0);
	assert_int_equal(s.claimed, -1);
	assert_int_equal(summary_done(&s), 0);
	assert_int_equal(summary_due(&s), 0);
	assert_false(summary_is_complete(&s));
	summary_release(&s);
}

static void
only_planned_runs_complete_a_campaign(void **state)
{
	struct run twin = some_run(2, RUN_SUCCESS);
	struct summary s;

	(void)state;
	(void)snprintf(twin.id, sizeof(twin.id), "0002");
	summary_init(&s, 2);
	add(&s, some_run(0, RUN_SUCCESS));
	add(&s, some_run(1, RUN_TIMEOUT));
	add(&s, twin);
	add(&s, some_run(3, RUN_SUCCESS));
	assert_int_equal(summary_done(&s), 1);
	assert_int_equal(summary_due(&s), 1);
	assert_false(summary_is_complete(&s));
	add(&s, some_run(2, RUN_ERROR));
	assert_int_equal(summary_done(&s), 2);
	assert_int_equal(summary_due(&s), 0);
	assert_true(summary_is_complete(&s));
	summary_release(&s);
}

static void
what_runs_is_not_due(void **state)
{
	struct summary s;

	(void)state;
	summary_init(&s, 5);
	add(&s, some_run(1, RUN_RUNNING));
	add(&s, some_run(2, RUN_STALE));
	add(&s, some_run(3, RUN_UNREADABLE));
	add(&s, some_run(4, RUN_UNFINISHED));
	assert_int_equal(summary_due(&s), 4); /* 005 is missing */
	assert_int_equal(s.actives, 2);
	assert_string_equal(s.active[1].id, "002");
	assert_string_equal(s.ids[RUN_UNREADABLE][0], "003");
	s.planned = -1;
	assert_int_equal(summary_due(&s), 3);
	summary_release(&s);
}

static void
unknown_claims_are_not_zero(void **state)
{
	struct run r = some_run(1, RUN_SUCCESS);
	struct summary s;

	(void)state;
	summary_init(&s, -1);
	add(&s, r);
	assert_int_equal(s.claimed, -1);
	r.claimed = 0;
	add(&s, r);
	assert_int_equal(s.claimed, 0);
	assert_string_equal(s.claimed_in, "");
	r = some_run(4, RUN_ERROR);
	r.claimed = 3;
	add(&s, r);
	assert_int_equal(s.claimed, 3);
	assert_int_equal(s.claimed_unknown, 1);
	assert_string_equal(s.claimed_in, "004");
	r.claimed = JSON_INT_MAX;
	add(&s, r);
	add(&s, r);
	assert_int_equal(s.claimed, JSON_INT_MAX);
	summary_release(&s);
}

static void
unknown_cost_is_not_zero(void **state)
{
	struct run r = some_run(1, RUN_SUCCESS);
	struct summary s;

	(void)state;
	summary_init(&s, -1);
	add(&s, r); /* a command has no price */
	assert_true(s.cost_usd < 0);
	assert_int_equal(s.cost_unknown, 0);
	r.has_cost = true;
	add(&s, r);
	assert_true(s.cost_usd < 0);
	assert_int_equal(s.cost_unknown, 1);
	r.cost_usd = 0;
	add(&s, r);
	assert_true(s.cost_usd == 0);
	r.cost_usd = 0.5;
	add(&s, r);
	r.state = RUN_TIMEOUT;
	add(&s, r);
	assert_true(s.cost_usd == 1.0);
	assert_int_equal(s.cost_unknown, 1);
	summary_release(&s);
}

static void
refused_requests_are_summed(void **state)
{
	struct run r = some_run(1, RUN_SUCCESS);
	struct summary s;

	(void)state;
	summary_init(&s, -1);
	add(&s, r);
	assert_int_equal(s.denied, -1);
	assert_int_equal(s.denied_unknown, 1);
	r.denied = 0;
	add(&s, r);
	assert_int_equal(s.denied, 0);
	r.denied = 7;
	add(&s, r);
	assert_int_equal(s.denied, 7);
	r.denied = JSON_INT_MAX;
	add(&s, r);
	assert_int_equal(s.denied, JSON_INT_MAX);
	assert_int_equal(s.denied_unknown, 1);
	summary_release(&s);
}

static void
reasons_of_failures_are_counted(void **state)
{
	struct run r = some_run(1, RUN_ERROR);
	struct summary s;

	(void)state;
	summary_init(&s, -1);
	add(&s, r);
	r.reason = "oom";
	add(&s, r);
	add(&s, r);
	r.state = RUN_SUCCESS;
	add(&s, r);
	r.state = RUN_TIMEOUT;
	r.reason = "api_auth";
	add(&s, r);
	summary_finish(&s);
	assert_int_equal(s.reasons, 3);
	assert_string_equal(s.reason[0].name, "oom");
	assert_int_equal(s.reason[0].runs, 2);
	assert_string_equal(s.reason[1].name, "api_auth");
	assert_string_equal(s.reason[2].name, "unknown");
	summary_release(&s);
}

static void
invented_reasons_end_in_other(void **state)
{
	struct run r = some_run(1, RUN_ERROR);
	size_t others = 0, runs = 0;
	struct summary s;
	char reason[80];

	(void)state;
	summary_init(&s, -1);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(reason, sizeof(reason), "%d%070d", i, 0);
		r.reason = i == 5 ? "other" : reason;
		add(&s, r);
	}
	summary_finish(&s);
	assert_true(s.reasons <= SUMMARY_REASONS);
	for (size_t i = 0; i < s.reasons; i++) {
		others += strcmp(s.reason[i].name, "other") == 0;
		runs += s.reason[i].runs;
	}
	assert_int_equal(others, 1);
	assert_int_equal(runs, 100);
	summary_release(&s);
}

static void
the_last_failures_are_the_latest(void **state)
{
	static const int64_t started[] = { 50, 10, 70, 60, -1, 20, 30 };
	static const char *const want[] = { "006", "007", "001", "004", "003" };
	struct summary s;

	(void)state;
	summary_init(&s, -1);
	for (size_t i = 0; i < ARRAY_LEN(started); i++) {
		struct run r = some_run((int)i + 1, RUN_ERROR);

		r.started_ms = started[i];
		r.duration_ms = 1;
		add(&s, r);
		add(&s, some_run(100 + (int)i, RUN_SUCCESS));
	}
	assert_int_equal(s.failures, SUMMARY_LAST);
	for (size_t i = 0; i < SUMMARY_LAST; i++)
		assert_string_equal(s.last[i].id, want[i]);
	summary_release(&s);
}

static void
many_runs_fit(void **state)
{
	struct summary s;

	(void)state;
	summary_init(&s, 10000);
	for (int i = 1; i <= 10000; i++) {
		struct run r = some_run(i, i % 2 ? RUN_SUCCESS : RUN_RUNNING);

		r.duration_ms = 10000 - i;
		add(&s, r);
	}
	summary_finish(&s);
	assert_int_equal(s.actives, 5000);
	assert_int_equal(summary_max(&s), 9999);
	assert_int_equal(summary_median(&s), 5000);
	assert_int_equal(summary_p90(&s), 8999);
	summary_release(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_median_p90_and_max),
		cmocka_unit_test(nothing_is_neither_done_nor_complete),
		cmocka_unit_test(only_planned_runs_complete_a_campaign),
		cmocka_unit_test(what_runs_is_not_due),
		cmocka_unit_test(unknown_claims_are_not_zero),
		cmocka_unit_test(unknown_cost_is_not_zero),
		cmocka_unit_test(refused_requests_are_summed),
		cmocka_unit_test(reasons_of_failures_are_counted),
		cmocka_unit_test(invented_reasons_end_in_other),
		cmocka_unit_test(the_last_failures_are_the_latest),
		cmocka_unit_test(many_runs_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
