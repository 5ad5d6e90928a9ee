/* SPDX-License-Identifier: MIT */
/* uses: tools/markrun/result.c tools/markrun/verdict.c */
/* result.json, and claims written by whoever ran in the container. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "err.h"
#include "json.h"
#include "result.h"
#include "torture.h"
#include "transcript.h"
#include "verdict.h"

#define T(s) (s), sizeof(s) - 1

static const struct {
	const char *text;
	size_t n;
	int64_t want;
} claim_cases[] = {
	{ T(""), 0 },
	{ T("\n\n\n"), 0 },
	{ T("{}"), 1 },
	{ T("{}\n"), 1 },
	{ T("{}\n{}\n"), 2 },
	{ T("{}\n{}"), 2 },
	{ T("\n{}\n\n{}\n"), 2 },
	{ T(" {\"title\":\"x\"} \r\n"), 1 },
	{ T("{}{}\n"), 0 },
	{ T("[]\n1\n\"x\"\nnull\ntrue\n{}\n"), 1 },
	{ T("{\"a\":1\n{}\n"), 1 },
	{ T("{\n}\n"), 0 },
	{ T("{} // remark\n"), 0 },
	{ T("{\"a\":1,\"a\":2}\n"), 0 },
	{ T("{\"a\":\"\xff\"}\n{}\n"), 1 },
	{ T("{\"a\":\"\\u0000\"}\n{}\n"), 1 },
	{ T("{}\0\n{}\n"), 1 },
	{ T("\0{}\n{}\n"), 1 },
	{ T("{\"a\":\"\0\"}\n{}\n"), 1 },
	{ T("\xef\xbb\xbf{}\n{}"), 2 },
	{ T("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n{}\n"), 1 },
};

/* Without a NUL behind it, so that reading beyond is noticed. */
static int64_t
count(const char *text, size_t n)
{
	char *copy = malloc(n > 0 ? n : 1);
	int64_t got;

	assert_non_null(copy);
	memcpy(copy, text, n);
	got = result_count_claims(copy, n);
	free(copy);
	return got;
}

static void
a_claim_is_a_line_that_is_an_object(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(claim_cases); i++) {
		int64_t got = count(claim_cases[i].text, claim_cases[i].n);

		if (got != claim_cases[i].want)
			fail_msg("case %zu: %lld", i, (long long)got);
	}
}

static void
more_than_200_claims_are_200(void **state)
{
	char text[3000];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "{}\n"[i % 3];
	assert_int_equal(count(text, 597), 199);
	assert_int_equal(count(text, 600), 200);
	assert_int_equal(count(text, sizeof(text)), 200);
}

/* A megabyte is all that is read; none of these may take a second. */
static void
hostile_megabytes_are_counted_quickly(void **state)
{
	static const char *const pieces[] = { "[", "{\"a\":", "\n", "{", "\"",
		"\\", "x\n", "{}x\n", "\xff\n", "[0]\n" };
	size_t n = (size_t)1 << 20;
	char *text = malloc(n);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		size_t len = strlen(pieces[i]);

		for (size_t at = 0; at < n; at++)
			text[at] = pieces[i][at % len];
		assert_int_equal(count(text, n), 0);
	}
	free(text);
}

static const char facts_text[] =
    "{\"run\":\"007\",\"attempt\":2,\"exit_code\":139,\"signal\":11,"
    "\"oom_killed\":false,\"image\":\"sha256:1\","
    "\"started_at\":\"2026-11-18T11:06:40Z\",\"duration_ms\":42310,"
    "\"timeout_ms\":900000,"
    "\"usage\":{\"peak_memory_bytes\":4096,\"cpu_ms\":12},"
    "\"limits\":{\"memory_bytes\":2147483648},"
    "\"stdin_sha256\":\"beef\"}";

static const char result_text[] =
    "{\"_schema\":\"fz-result/1\",\"run\":\"007\",\"attempt\":2,"
    "\"outcome\":\"error\",\"reason_code\":\"exit_nonzero\","
    "\"detail\":\"Container error (exit 139, signal 11)\","
    "\"started_at\":\"2026-11-18T11:06:40Z\",\"duration_ms\":42310,"
    "\"container\":{\"exit_code\":139,\"signal\":11,"
    "\"oom_killed\":false,\"image\":\"sha256:1\","
    "\"peak_memory_bytes\":4096,\"cpu_ms\":12},"
    "\"agent\":{\"name\":\"exit\",\"turns\":null,\"cost_usd\":null,"
    "\"input_tokens\":null,\"output_tokens\":null,"
    "\"session_id\":null,\"model\":null,\"denials\":null},"
    "\"network\":{\"denied\":null},"
    "\"findings\":{\"claimed\":3,\"verified\":0},"
    "\"inputs\":{\"prompt_sha256\":\"beef\",\"timeout_ms\":900000,"
    "\"memory_bytes\":2147483648}}";

static const char unknown_text[] =
    "{\"_schema\":\"fz-result/1\",\"run\":null,\"attempt\":null,"
    "\"outcome\":\"success\",\"reason_code\":\"done\","
    "\"detail\":\"Completed in 1.0s\","
    "\"started_at\":null,\"duration_ms\":null,"
    "\"container\":{\"exit_code\":null,\"signal\":null,"
    "\"oom_killed\":false,\"image\":null,"
    "\"peak_memory_bytes\":null,\"cpu_ms\":null},"
    "\"agent\":{\"name\":\"exit\",\"turns\":null,\"cost_usd\":null,"
    "\"input_tokens\":null,\"output_tokens\":null,"
    "\"session_id\":null,\"model\":null,\"denials\":null},"
    "\"network\":{\"denied\":null},"
    "\"findings\":{\"claimed\":null,\"verified\":0},"
    "\"inputs\":{\"prompt_sha256\":null,\"timeout_ms\":null,"
    "\"memory_bytes\":null}}";

static const struct result_agent mute = { "exit", NULL };

static void
is_rendered(const char *facts, const struct evidence *f, int64_t claimed,
    const char *want)
{
	struct err e = { 0 };
	AUTO(json_p) cJSON *j = json_parse(facts, strlen(facts), &e);
	AUTO(json_p) cJSON *result = NULL;
	struct verdict v;
	char *text;

	verdict_take(&v, f);
	result = result_render(j, &v, &mute, claimed, &e);
	text = cJSON_PrintUnformatted(result);
	assert_non_null(text);
	assert_string_equal(text, want);
	cJSON_free(text);
}

static const struct evidence crashed = {
	.exit_code = 139, .signal = 11, .exec_errno = -1
};

static void
a_result_says_what_the_facts_and_the_verdict_say(void **state)
{
	static const struct evidence fine = {
		.signal = -1, .exec_errno = -1, .duration_ms = 1000
	};

	(void)state;
	is_rendered(facts_text, &crashed, 3, result_text);
	is_rendered("{}", &fine, -1, unknown_text);
}

/* Of an agent that speaks, and of the proxy. */
static void
words_and_refusals_are_passed_on(void **state)
{
	static const char facts_of_proxy[] = "{\"network\":{\"denied\":7}}";
	static const struct verdict v = { .reason = "done" };
	struct transcript t;
	struct result_agent agent = { "claude", &t };
	struct err e;
	AUTO(json_p) cJSON *facts = json_parse(T(facts_of_proxy), &e);
	AUTO(json_p) cJSON *j = NULL;
	char *text;

	(void)state;
	transcript_init(&t);
	t.turns = 41;
	t.cost_usd = 0.1903;
	t.input_tokens = 1;
	t.output_tokens = 0;
	t.denials = 2;
	(void)snprintf(t.session_id, sizeof(t.session_id), "s-1");
	(void)snprintf(t.model, sizeof(t.model), "m");
	j = result_render(facts, &v, &agent, 0, &e);
	assert_int_equal(json_at_int(j, "network.denied"), 7);
	text = cJSON_PrintUnformatted(json_at(j, "agent"));
	assert_string_equal(text,
	    "{\"name\":\"claude\",\"turns\":41,\"cost_usd\":0.1903,"
	    "\"input_tokens\":1,\"output_tokens\":0,"
	    "\"session_id\":\"s-1\",\"model\":\"m\",\"denials\":2}");
	cJSON_free(text);
}

static void
rendering_survives_every_failed_allocation(void **state)
{
	struct err e = { 0 };
	cJSON *facts = json_parse(T(facts_text), &e), *j = NULL;
	struct verdict v;

	(void)state;
	verdict_take(&v, &crashed);
	for (unsigned nth = 1; j == NULL; nth++) {
		e.exit = 0;
		assert_true(nth < TORTURE_MAX);
		torture_begin(nth);
		j = result_render(facts, &v, &mute, 3, &e);
		torture_end();
		assert_int_equal(e.exit, j != NULL ? 0 : EX_SOFTWARE);
	}
	cJSON_Delete(j);
	cJSON_Delete(facts);
}

static void
counting_survives_every_failed_allocation(void **state)
{
	static const char text[] = "{\"a\":[1,\"x\"]}\n{\"b\":{}}\n";
	int64_t n = 0;

	(void)state;
	for (unsigned nth = 1; n != 2; nth++) {
		assert_true(nth < TORTURE_MAX);
		torture_begin(nth);
		n = result_count_claims(T(text));
		torture_end();
		assert_in_range(n, 0, 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_is_a_line_that_is_an_object),
		cmocka_unit_test(more_than_200_claims_are_200),
		cmocka_unit_test(hostile_megabytes_are_counted_quickly),
		cmocka_unit_test(
		    a_result_says_what_the_facts_and_the_verdict_say),
		cmocka_unit_test(words_and_refusals_are_passed_on),
		cmocka_unit_test(rendering_survives_every_failed_allocation),
		cmocka_unit_test(counting_survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
