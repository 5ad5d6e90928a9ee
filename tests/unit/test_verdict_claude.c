/* SPDX-License-Identifier: MIT */
/* uses: tools/markrun/verdict.c tools/markrun/verdict-claude.c */
/* One verdict for every way the recorded sessions ended. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler.h"
#include "err.h"
#include "transcript.h"
#include "verdict.h"

static struct transcript
recorded(const char *name)
{
	struct transcript t;
	struct err e;
	char path[96];
	int fd;

	(void)snprintf(
	    path, sizeof(path), "tests/golden/transcripts/%s.jsonl", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(transcript_read(&t, fd, &e), 0);
	(void)close(fd);
	return t;
}

static const struct {
	const char *name;
	/* exit, signal, exec errno, oom, why, timeout, duration */
	struct evidence f;
	enum outcome outcome;
	enum then then;
	const char *reason, *detail;
} cases[] = {
	{ "success", { 0, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_SUCCESS, THEN_NOTHING, "done", "" },
	/* HOME was full: the exit status decides nothing */
	{ "success", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_SUCCESS, THEN_NOTHING, "done", "" },
	/* a child was killed, the agent went on */
	{ "success", { 0, -1, -1, true, NULL, 900000, 1000, NULL },
	    OUTCOME_SUCCESS, THEN_NOTHING, "done", "" },
	{ "success", { 1, -1, -1, true, NULL, 900000, 1000, NULL },
	    OUTCOME_SUCCESS, THEN_NOTHING, "done", "" },
	{ "cut", { 0, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_SUCCESS, THEN_NOTHING, "done", "" },
	{ "denied", { 0, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_SUCCESS, THEN_NOTHING, "done", "" },
	/* what stopped a session comes first */
	{ "success", { 0, -1, -1, false, "timeout", 900000, 900100, NULL },
	    OUTCOME_TIMEOUT, THEN_NOTHING, "wall_clock", "Timeout after 900s" },
	{ "tool-int", { 0, -1, -1, false, "timeout", 900000, 900100, NULL },
	    OUTCOME_TIMEOUT, THEN_NOTHING, "wall_clock", "Timeout after 900s" },
	{ "hang-int", { 0, -1, -1, false, "timeout", 5000, 5100, NULL },
	    OUTCOME_TIMEOUT, THEN_NOTHING, "wall_clock", "Timeout after 5s" },
	{ "overloaded", { 1, -1, -1, false, "timeout", 5000, 5100, NULL },
	    OUTCOME_TIMEOUT, THEN_NOTHING, "wall_clock", "Timeout after 5s" },
	{ "success", { 137, 9, -1, false, "log_quota", 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "log_quota",
	    "Output over the limit of --max-log" },
	{ "killed", { 127, -1, ENOENT, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "exec_failed",
	    "Command cannot be run (No such file or directory)" },
	{ "killed", { 137, 9, -1, true, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "oom", "Out of memory (exit 137)" },
	{ "killed", { 137, 9, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "no_result",
	    "Agent ended without a result (exit 137, signal 9)" },
	{ "tool-term", { 143, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "no_result",
	    "Agent ended without a result (exit 143)" },
	{ "killed", { 0, -1, -1, true, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "no_result",
	    "Agent ended without a result (exit 0)" },
	/* the result line knows better than a dead child */
	{ "max-turns", { 1, -1, -1, true, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "max_turns",
	    "Turn limit reached (4 turns)" },
	{ "budget", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "budget_run",
	    "Budget of the run is spent (0.0348 USD)" },
	/* an error of the API without a status, if it were no refusal */
	{ "refusal", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "model_refused", "Model refused" },
	{ "tool-int", { 0, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "agent_error",
	    "Agent error (aborted_tools)" },
	{ "hang-int", { 0, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "agent_error",
	    "Agent error (aborted_streaming)" },
	{ "bad-request", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "agent_error",
	    "Agent error: API (400)" },
	{ "no-model", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "agent_error",
	    "Agent error: API (404)" },
	{ "auth-401", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "api_auth",
	    "API refuses the key (401)" },
	{ "auth-403", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "api_auth",
	    "API refuses the key (403)" },
	{ "gate-403", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "agent_error",
	    "Agent error: gate (403)" },
	{ "billing-400", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "api_auth",
	    "API asks for payment (400)" },
	{ "billing-402", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_NOTHING, "api_auth",
	    "API asks for payment (402)" },
	{ "rate-limit", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_WAIT, "api_rate_limit",
	    "API rate limit (429)" },
	{ "overloaded", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_WAIT, "api_overloaded",
	    "API overloaded (529)" },
	{ "overloaded-late", { 1, -1, -1, true, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_WAIT, "api_overloaded",
	    "API overloaded (529)" },
	{ "server-500", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_WAIT, "api_unreachable",
	    "API unreachable (500)" },
	{ "gate-502", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_WAIT, "api_unreachable",
	    "API unreachable (502)" },
	{ "gate-504", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_WAIT, "api_unreachable",
	    "API unreachable (504)" },
	{ "refused", { 1, -1, -1, false, NULL, 900000, 1000, NULL },
	    OUTCOME_ERROR, THEN_WAIT, "api_unreachable", "API unreachable" },
};

static void
recorded_sessions_are_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct transcript t = recorded(cases[i].name);
		struct verdict v;

		print_message("# %zu: %s\n", i, cases[i].name);
		verdict_claude(&v, &cases[i].f, &t);
		assert_int_equal(v.outcome, cases[i].outcome);
		assert_int_equal(v.then, cases[i].then);
		assert_string_equal(v.reason, cases[i].reason);
		assert_string_equal(v.detail, cases[i].detail);
		assert_true(v.marker[0] != '\0');
	}
}

static void
who_can_do_something_is_told_what(void **state)
{
	static const struct {
		const char *name, *stop;
	} lines[] = {
		{ "auth-401",
		    "the API refuses the key (401): set a good one, type make "
		    "proxy-reload, then make campaign" },
		{ "billing-402",
		    "the API asks for payment (402): mend the account, then "
		    "type make campaign" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct transcript t = recorded(lines[i].name);
		struct evidence f = { .exec_errno = -1, .signal = -1 };
		struct verdict v;

		verdict_claude(&v, &f, &t);
		assert_string_equal(v.stop, lines[i].stop);
	}
}

static void
the_proxy_must_have_seen_it_too(void **state)
{
	static const struct {
		const char *name;
		struct answers a;
		enum then then;
		const char *reason;
	} tries[] = {
		{ "success", { 1, 0, 0 }, THEN_NOTHING, "done" },
		{ "success", { 0, 0, 0 }, THEN_NOTHING, "agent_error" },
		{ "success", { 0, 1, 1 }, THEN_NOTHING, "agent_error" },
		{ "auth-401", { 0, 0, 1 }, THEN_STOP, "api_auth" },
		{ "auth-401", { 5, 5, 0 }, THEN_NOTHING, "agent_error" },
		{ "billing-402", { 0, 0, 0 }, THEN_NOTHING, "agent_error" },
		{ "overloaded", { 3, 1, 1 }, THEN_WAIT, "api_overloaded" },
		{ "overloaded", { 3, 9, 0 }, THEN_NOTHING, "agent_error" },
		{ "overloaded", { 0, 0, 0 }, THEN_NOTHING, "agent_error" },
		/* the gate was gone before it could write a line */
		{ "refused", { 0, 0, 0 }, THEN_WAIT, "api_unreachable" },
		{ "refused", { 2, 1, 0 }, THEN_WAIT, "api_unreachable" },
		{ "refused", { 2, 0, 0 }, THEN_NOTHING, "agent_error" },
		{ "max-turns", { 0, 0, 0 }, THEN_NOTHING, "max_turns" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		struct transcript t = recorded(tries[i].name);
		struct evidence f = {
			.exec_errno = -1, .signal = -1, .answers = &tries[i].a
		};
		struct verdict v;

		verdict_claude(&v, &f, &t);
		assert_string_equal(v.reason, tries[i].reason);
		assert_int_equal(v.then, tries[i].then);
		assert_int_equal(v.stop[0] != '\0', v.then == THEN_STOP);
		if (strcmp(v.reason, "agent_error") == 0)
			assert_string_equal(v.detail,
			    "Agent tells of an answer that the proxy did not "
			    "see");
	}
}

/* Neither half of the rule is enough, whatever the exit status. */
static void
success_is_no_error_and_completed(void **state)
{
	static const struct {
		bool has_result, is_error;
		const char *terminal;
		const char *reason;
	} tries[] = {
		{ true, false, "completed", "done" },
		{ true, true, "completed", "agent_error" },
		{ true, false, "", "agent_error" },
		{ true, false, "Completed", "agent_error" },
		{ true, false, "max_turns", "max_turns" },
		{ false, false, "completed", "no_result" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		struct evidence f = { .exec_errno = -1, .signal = -1 };
		struct transcript t;
		struct verdict v;

		transcript_init(&t);
		t.has_result = tries[i].has_result;
		t.is_error = tries[i].is_error;
		(void)snprintf(t.terminal_reason, sizeof(t.terminal_reason),
		    "%s", tries[i].terminal);
		verdict_claude(&v, &f, &t);
		assert_string_equal(v.reason, tries[i].reason);
	}
}

static void
any_numbers_fit(void **state)
{
	struct transcript t;

	(void)state;
	transcript_init(&t);
	t.has_result = t.is_error = true;
	memset(t.terminal_reason, 'x', sizeof(t.terminal_reason) - 1);
	for (int i = 0; i < 4; i++) {
		struct evidence f = { INT64_MIN, INT64_MAX, -1, false, NULL,
			INT64_MAX, INT64_MAX, NULL };
		struct verdict v;

		t.api_status = t.turns = i % 2 != 0 ? INT64_MAX : INT64_MIN;
		t.cost_usd = i % 2 != 0 ? 1e9 : -1;
		if (i == 2)
			(void)snprintf(t.terminal_reason, 64, "max_turns");
		if (i == 3)
			(void)snprintf(t.terminal_reason, 64, "api_error");
		verdict_claude(&v, &f, &t);
		assert_in_range(strlen(v.detail), 1, sizeof(v.detail) - 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_sessions_are_judged),
		cmocka_unit_test(who_can_do_something_is_told_what),
		cmocka_unit_test(the_proxy_must_have_seen_it_too),
		cmocka_unit_test(success_is_no_error_and_completed),
		cmocka_unit_test(any_numbers_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
