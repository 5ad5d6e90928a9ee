/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/deadline.c */
/* The ladder: INT, grace, TERM, 5 s, KILL, 15 s, lost. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler.h"
#include "deadline.h"

/* One thing that happens at a moment, and what is to be seen then. */
struct beat {
	int64_t at;
	enum { STEP, STOP, HURRY } what;
	enum stop_why why; /* of a STOP */
	int signal;	   /* of a STEP */
	int64_t wait;	   /* afterwards */
};

/* All start at 1000 with 900 for the session and 20 of grace. */
static const struct {
	const char *name;
	struct beat beats[16];
	enum stop_why why;
	bool lost;
} cases[] = {
	{ "nothing is due before the deadline",
	    { { 1000, STEP, STOP_NONE, 0, 900 },
		{ 1899, STEP, STOP_NONE, 0, 1 } },
	    STOP_NONE, false },
	{ "the whole ladder",
	    { { 1900, STEP, STOP_NONE, SIGINT, 20 },
		{ 1900, STEP, STOP_NONE, 0, 20 },
		{ 1919, STEP, STOP_NONE, 0, 1 },
		{ 1920, STEP, STOP_NONE, SIGTERM, 5000 },
		{ 6919, STEP, STOP_NONE, 0, 1 },
		{ 6920, STEP, STOP_NONE, SIGKILL, 15000 },
		{ 21919, STEP, STOP_NONE, 0, 1 },
		{ 21920, STEP, STOP_NONE, 0, 0 },
		{ 90000, STEP, STOP_NONE, 0, 0 } },
	    STOP_TIMEOUT, true },
	{ "a late loop shortens no step",
	    { { 5000, STEP, STOP_NONE, SIGINT, 20 },
		{ 90000, STEP, STOP_NONE, SIGTERM, 5000 },
		{ 90001, STEP, STOP_NONE, 0, 4999 },
		{ 95000, STEP, STOP_NONE, SIGKILL, 15000 } },
	    STOP_TIMEOUT, false },
	{ "an interrupt starts it at once",
	    { { 1100, STOP, STOP_INTERRUPTED, 0, 0 },
		{ 1100, STEP, STOP_NONE, SIGINT, 20 },
		{ 1120, STEP, STOP_NONE, SIGTERM, 5000 } },
	    STOP_INTERRUPTED, false },
	{ "the first cause stays: interrupt, then time",
	    { { 1899, STOP, STOP_INTERRUPTED, 0, 0 },
		{ 1950, STEP, STOP_NONE, SIGINT, 20 } },
	    STOP_INTERRUPTED, false },
	{ "the first cause stays: time, then interrupt",
	    { { 1900, STEP, STOP_NONE, SIGINT, 20 },
		{ 1901, STOP, STOP_INTERRUPTED, 0, 19 },
		{ 1902, STOP, STOP_LOG_QUOTA, 0, 18 },
		{ 1920, STEP, STOP_NONE, SIGTERM, 5000 } },
	    STOP_TIMEOUT, false },
	{ "the first cause stays: log quota, then interrupt",
	    { { 1200, STOP, STOP_LOG_QUOTA, 0, 0 },
		{ 1200, STOP, STOP_INTERRUPTED, 0, 0 },
		{ 1200, STEP, STOP_NONE, SIGINT, 20 },
		{ 1210, STOP, STOP_LOG_QUOTA, 0, 10 } },
	    STOP_LOG_QUOTA, false },
	{ "hurry skips to KILL",
	    { { 1100, STOP, STOP_INTERRUPTED, 0, 0 },
		{ 1100, STEP, STOP_NONE, SIGINT, 20 },
		{ 1105, HURRY, STOP_NONE, 0, 0 },
		{ 1105, STEP, STOP_NONE, SIGKILL, 15000 },
		{ 1106, HURRY, STOP_NONE, 0, 14999 },
		{ 1107, STEP, STOP_NONE, 0, 14998 } },
	    STOP_INTERRUPTED, false },
	{ "hurry before the first signal was sent",
	    { { 1100, STOP, STOP_INTERRUPTED, 0, 0 },
		{ 1100, HURRY, STOP_NONE, 0, 0 },
		{ 1100, STEP, STOP_NONE, SIGKILL, 15000 } },
	    STOP_INTERRUPTED, false },
	{ "hurry does not bring the lost back",
	    { { 1100, STOP, STOP_INTERRUPTED, 0, 0 },
		{ 1100, HURRY, STOP_NONE, 0, 0 },
		{ 1100, STEP, STOP_NONE, SIGKILL, 15000 },
		{ 16100, STEP, STOP_NONE, 0, 0 },
		{ 16101, HURRY, STOP_NONE, 0, 0 },
		{ 16102, STEP, STOP_NONE, 0, 0 } },
	    STOP_INTERRUPTED, true },
};

static void
play(struct deadline *d, const struct beat *b)
{
	int got = 0;

	if (b->what == STOP)
		deadline_stop(d, b->at, b->why);
	else if (b->what == HURRY)
		deadline_hurry(d, b->at);
	else
		got = deadline_step(d, b->at);
	assert_int_equal(got, b->signal);
	assert_int_equal(deadline_wait_ms(d, b->at), b->wait);
}

static void
the_ladder_is_climbed_step_by_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct deadline d;

		print_message("# %s\n", cases[i].name);
		deadline_init(&d, 1000, 900, 20);
		for (const struct beat *b = cases[i].beats; b->at > 0; b++)
			play(&d, b);
		assert_int_equal(d.why, cases[i].why);
		assert_int_equal(d.lost, cases[i].lost);
	}
}

static void
no_grace_means_no_wait(void **state)
{
	struct deadline d;

	(void)state;
	deadline_init(&d, 0, 1000, 0);
	assert_int_equal(deadline_step(&d, 1000), SIGINT);
	assert_int_equal(deadline_step(&d, 1000), SIGTERM);
	assert_int_equal(deadline_step(&d, 1000), 0);
	assert_int_equal(deadline_wait_ms(&d, 1000), DEADLINE_TERM_MS);
}

static void
causes_have_words(void **state)
{
	(void)state;
	assert_null(stop_why_text(STOP_NONE));
	assert_string_equal(stop_why_text(STOP_TIMEOUT), "timeout");
	assert_string_equal(stop_why_text(STOP_INTERRUPTED), "interrupted");
	assert_string_equal(stop_why_text(STOP_LOG_QUOTA), "log_quota");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ladder_is_climbed_step_by_step),
		cmocka_unit_test(no_grace_means_no_wait),
		cmocka_unit_test(causes_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
