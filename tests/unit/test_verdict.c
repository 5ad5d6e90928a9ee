/* SPDX-License-Identifier: MIT */
/* uses: tools/markrun/verdict.c */
/* One verdict for every way a session can end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler.h"
#include "verdict.h"

static const struct {
	/* exit, signal, exec errno, oom, why, timeout, duration */
	struct evidence f;
	enum outcome outcome;
	const char *reason, *marker, *detail;
} cases[] = {
	{ { 0, -1, -1, false, NULL, 900000, 42310, NULL }, OUTCOME_SUCCESS,
	    "done", "Completed in 42.3s", "" },
	{ { 0, -1, -1, false, NULL, 900000, 0, NULL }, OUTCOME_SUCCESS, "done",
	    "Completed in 0.0s", "" },
	/* a child of the session was killed, the session went on */
	{ { 0, -1, -1, true, NULL, 900000, 1000, NULL }, OUTCOME_SUCCESS,
	    "done", "Completed in 1.0s", "" },
	{ { 3, -1, -1, false, NULL, 900000, 1000, NULL }, OUTCOME_ERROR,
	    "exit_nonzero", "Exit code: 3", "Container error (exit 3)" },
	{ { 124, -1, -1, false, NULL, 900000, 1000, NULL }, OUTCOME_ERROR,
	    "exit_nonzero", "Exit code: 124", "Container error (exit 124)" },
	/* 137 alone proves nothing */
	{ { 137, -1, -1, false, NULL, 900000, 1000, NULL }, OUTCOME_ERROR,
	    "exit_nonzero", "Exit code: 137", "Container error (exit 137)" },
	{ { 139, 11, -1, false, NULL, 900000, 1000, NULL }, OUTCOME_ERROR,
	    "exit_nonzero", "Exit code: 139",
	    "Container error (exit 139, signal 11)" },
	{ { 1, 0, -1, false, NULL, 900000, 1000, NULL }, OUTCOME_ERROR,
	    "exit_nonzero", "Exit code: 1", "Container error (exit 1)" },
	{ { 137, 9, -1, true, NULL, 900000, 1000, NULL }, OUTCOME_ERROR, "oom",
	    "Exit code: 137", "Out of memory (exit 137)" },
	{ { 1, -1, -1, true, NULL, 900000, 1000, NULL }, OUTCOME_ERROR, "oom",
	    "Exit code: 1", "Out of memory (exit 1)" },
	{ { 127, -1, ENOENT, false, NULL, 900000, 10, NULL }, OUTCOME_ERROR,
	    "exec_failed", "Exit code: 127",
	    "Command cannot be run (No such file or directory)" },
	{ { 126, -1, EACCES, true, NULL, 900000, 10, NULL }, OUTCOME_ERROR,
	    "exec_failed", "Exit code: 126",
	    "Command cannot be run (Permission denied)" },
	{ { 130, 2, -1, false, "timeout", 900000, 900100, NULL },
	    OUTCOME_TIMEOUT, "wall_clock", "Timed out after 900s",
	    "Timeout after 900s" },
	{ { 137, 9, -1, false, "timeout", 1000, 20000, NULL }, OUTCOME_TIMEOUT,
	    "wall_clock", "Timed out after 1s", "Timeout after 1s" },
	/* what stopped it explains its exit, whatever that was */
	{ { 0, -1, -1, false, "timeout", 5000, 5100, NULL }, OUTCOME_TIMEOUT,
	    "wall_clock", "Timed out after 5s", "Timeout after 5s" },
	{ { 137, 9, -1, true, "timeout", 5000, 5100, NULL }, OUTCOME_TIMEOUT,
	    "wall_clock", "Timed out after 5s", "Timeout after 5s" },
	{ { 127, -1, ENOENT, false, "timeout", 5000, 5100, NULL },
	    OUTCOME_TIMEOUT, "wall_clock", "Timed out after 5s",
	    "Timeout after 5s" },
	{ { 143, 15, -1, false, "log_quota", 900000, 1000, NULL },
	    OUTCOME_ERROR, "log_quota", "Exit code: 143",
	    "Output over the limit of --max-log" },
	{ { 0, -1, -1, true, "log_quota", 900000, 1000, NULL }, OUTCOME_ERROR,
	    "log_quota", "Exit code: 0", "Output over the limit of --max-log" },
	{ { 137, 9, ENOENT, true, "log_quota", 900000, 1000, NULL },
	    OUTCOME_ERROR, "log_quota", "Exit code: 137",
	    "Output over the limit of --max-log" },
	{ { 7, -1, -1, false, "a newer reason", 900000, 1000, NULL },
	    OUTCOME_ERROR, "exit_nonzero", "Exit code: 7",
	    "Container error (exit 7)" },
};

static void
the_first_cause_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct verdict v;

		verdict_take(&v, &cases[i].f);
		assert_int_equal(v.outcome, cases[i].outcome);
		assert_string_equal(v.reason, cases[i].reason);
		assert_string_equal(v.marker, cases[i].marker);
		assert_string_equal(v.detail, cases[i].detail);
	}
}

static void
any_numbers_fit(void **state)
{
	static const struct evidence extremes[] = {
		{ INT64_MAX, INT64_MAX, INT64_MAX, true, NULL, INT64_MAX,
		    INT64_MAX, NULL },
		{ INT64_MIN, INT64_MAX, -1, false, NULL, INT64_MIN, INT64_MIN,
		    NULL },
		{ 0, -1, -1, false, NULL, 0, INT64_MAX, NULL },
		{ -1, -1, -1, false, NULL, -1, -1, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(extremes); i++) {
		struct verdict v;

		verdict_take(&v, &extremes[i]);
		assert_non_null(v.reason);
		assert_in_range(strlen(v.marker), 1, sizeof(v.marker) - 1);
		assert_in_range(strlen(v.detail), 0, sizeof(v.detail) - 1);
	}
	for (int e = 0; e < 140; e++) {
		struct evidence f = { .exit_code = 127, .exec_errno = e };
		struct verdict v;

		verdict_take(&v, &f);
		assert_int_equal(v.detail[strlen(v.detail) - 1], ')');
	}
}

static void
outcomes_have_words_and_markers(void **state)
{
	(void)state;
	assert_string_equal(outcome_word(OUTCOME_SUCCESS), "success");
	assert_string_equal(outcome_word(OUTCOME_ERROR), "error");
	assert_string_equal(outcome_word(OUTCOME_TIMEOUT), "timeout");
	assert_string_equal(outcome_marker(OUTCOME_SUCCESS), "SUCCESS");
	assert_string_equal(outcome_marker(OUTCOME_ERROR), "ERROR");
	assert_string_equal(outcome_marker(OUTCOME_TIMEOUT), "TIMEOUT");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_cause_decides),
		cmocka_unit_test(any_numbers_fit),
		cmocka_unit_test(outcomes_have_words_and_markers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
