/* SPDX-License-Identifier: MIT */
/* uses: tools/markrun/provider.c */
/* Three failures in a row make everybody wait, each time twice as long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>

#include <cmocka.h>

#include "clock.h"
#include "compiler.h"
#include "err.h"
#include "provider.h"
#include "scratch.h"

#define FIRST INT64_C(30000)

/* A failure at now of a session that began at started. */
static bool
fails(struct provider *p, int64_t started, int64_t now)
{
	struct provider_failure f = { .started_ms = started };

	return provider_count(p, &f, FIRST, now);
}

static void
the_third_in_a_row_begins_a_pause(void **state)
{
	struct provider p = { 0 };

	(void)state;
	assert_false(fails(&p, 100, 200));
	assert_false(fails(&p, 100, 210));
	assert_true(fails(&p, 100, 220));
	assert_int_equal(p.step_ms, FIRST);
	assert_int_equal(p.began_ms, 220);
	assert_int_equal(p.streak, 3);
}

static void
what_ran_when_the_pause_began_does_not_double_it(void **state)
{
	struct provider p = { 3, FIRST, 1000 };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_false(fails(&p, 999, 2000 + i));
	assert_int_equal(p.streak, 3);
	assert_int_equal(p.step_ms, FIRST);
	assert_true(fails(&p, 1000, 3000));
	assert_int_equal(p.step_ms, 2 * FIRST);
	assert_int_equal(p.began_ms, 3000);
	assert_false(fails(&p, 2999, 4000));
}

static void
it_doubles_up_to_a_quarter_of_an_hour(void **state)
{
	static const int64_t steps[] = { 30, 60, 120, 240, 480, 900, 900 };
	struct provider p = { .streak = 2 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		int64_t now = 1000 * (int64_t)(i + 1);

		assert_true(fails(&p, now - 1, now));
		assert_int_equal(p.step_ms, 1000 * steps[i]);
	}
}

static void
an_answer_before_the_failure_begins_anew(void **state)
{
	struct provider p = { 2, 0, 0 };
	struct provider_failure f = { .started_ms = 5000, .answered = true };

	(void)state;
	assert_false(provider_count(&p, &f, FIRST, 6000));
	assert_int_equal(p.streak, 1);
	p = (struct provider){ 5, 4 * FIRST, 4000 };
	assert_false(provider_count(&p, &f, FIRST, 6000));
	assert_int_equal(p.streak, 1);
	assert_int_equal(p.step_ms, 0);
	/* but that answer was from before the pause */
	p = (struct provider){ 5, 4 * FIRST, 5001 };
	assert_false(provider_count(&p, &f, FIRST, 6000));
	assert_int_equal(p.streak, 5);
}

static void
an_old_pause_is_forgotten(void **state)
{
	struct provider p = { 9, FIRST, 1000 };

	(void)state;
	assert_true(fails(&p, 3600000, 1000 + FIRST + 3600000));
	p = (struct provider){ 9, FIRST, 1000 };
	assert_false(fails(&p, 3600000, 1001 + FIRST + 3600000));
	assert_int_equal(p.streak, 1);
	assert_int_equal(p.step_ms, 0);
}

static void
fail_now(const struct scratch *s, const char *reason)
{
	struct provider_failure f = { .reason = reason,
		.started_ms = clock_wall_ms() };
	struct err e = { 0 };

	if (provider_failed(s->fd, &f, &e) < 0)
		fail_msg("%s", e.text);
}

static void
a_pause_is_a_file(void **state)
{
	const struct scratch *s = *state;
	int64_t before = clock_wall_ms() / 1000;
	char want[128], when[CLOCK_TEXT];
	const char *text;
	long long until;
	struct err e;

	fail_now(s, "api_overloaded");
	fail_now(s, "api_overloaded");
	assert_string_equal(scratch_get(s, "PAUSE"), "");
	fail_now(s, "api_rate_limit");
	text = scratch_get(s, "PAUSE");
	until = strtoll(text, NULL, 10);
	assert_in_range(until, before + 30, before + 60);
	clock_text(until * 1000, when);
	(void)snprintf(want, sizeof(want),
	    "%lld paused until %s: api_rate_limit, 3 in a row\n", until, when);
	assert_string_equal(text, want);
	assert_int_equal(provider_is_good(s->fd, INT64_MAX, &e), 0);
	assert_string_equal(scratch_get(s, "PAUSE"), "");
	fail_now(s, "api_overloaded");
	fail_now(s, "api_overloaded");
	assert_string_equal(scratch_get(s, "PAUSE"), "");
	fail_now(s, "api_overloaded");
	assert_string_not_equal(scratch_get(s, "PAUSE"), "");
}

static void
where_all_is_well_nothing_is_written(void **state)
{
	const struct scratch *s = *state;
	struct err e;

	assert_int_equal(provider_is_good(s->fd, INT64_MAX, &e), 0);
	assert_int_equal(scratch_count(s), 0);
}

static void
a_spoilt_state_is_a_new_one(void **state)
{
	static const char *const texts[] = { "", "x", "-1 0 0", "3 30000",
		"3 99999999 5", "9999999999999999999 1 1", "3 -5 1" };
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(scratch_put(s, ".api", texts[i]), 0);
		fail_now(s, "api_overloaded");
		assert_string_equal(scratch_get(s, ".api"), "1 0 0\n");
	}
	assert_string_equal(scratch_get(s, "PAUSE"), "");
}

static void
links_are_not_followed(void **state)
{
	const struct scratch *s = *state;
	struct provider_failure f = { .reason = "api_overloaded" };
	struct err e = { 0 };

	assert_int_equal(scratch_put(s, "victim", "x"), 0);
	assert_int_equal(symlinkat("victim", s->fd, ".api"), 0);
	assert_int_equal(provider_failed(s->fd, &f, &e), -1);
	assert_int_equal(e.exit, EX_CANTCREAT);
	assert_int_equal(symlinkat("victim", s->fd, "STOP"), 0);
	assert_int_equal(provider_stop(s->fd, "why", &e), 0);
	assert_string_equal(scratch_get(s, "victim"), "x");
}

static void
the_first_stop_stays(void **state)
{
	const struct scratch *s = *state;
	struct err e;

	assert_int_equal(provider_stop(s->fd, "first", &e), 0);
	assert_int_equal(provider_stop(s->fd, "second", &e), 0);
	assert_string_equal(scratch_get(s, "STOP"), "first\n");
	assert_int_equal(scratch_count(s), 1);
}

#define WORKERS 8
#define EACH	10

static _Noreturn void
fail_often(const struct scratch *s)
{
	struct provider_failure f = { .reason = "api_overloaded",
		.started_ms = INT64_MAX };
	struct err e;

	for (int i = 0; i < EACH; i++)
		if (provider_failed(s->fd, &f, &e) < 0)
			_exit(1);
	_exit(0);
}

static void
many_at_once_are_all_counted(void **state)
{
	const struct scratch *s = *state;
	int status;

	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			fail_often(s);
	}
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	assert_int_equal(strncmp(scratch_get(s, ".api"), "80 900000 ", 10), 0);
	assert_non_null(strstr(scratch_get(s, "PAUSE"), ", 80 in a row\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_third_in_a_row_begins_a_pause),
		cmocka_unit_test(
		    what_ran_when_the_pause_began_does_not_double_it),
		cmocka_unit_test(it_doubles_up_to_a_quarter_of_an_hour),
		cmocka_unit_test(an_answer_before_the_failure_begins_anew),
		cmocka_unit_test(an_old_pause_is_forgotten),
		SCRATCH_TEST(a_pause_is_a_file),
		SCRATCH_TEST(where_all_is_well_nothing_is_written),
		SCRATCH_TEST(a_spoilt_state_is_a_new_one),
		SCRATCH_TEST(links_are_not_followed),
		SCRATCH_TEST(the_first_stop_stays),
		SCRATCH_TEST(many_at_once_are_all_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
