/* SPDX-License-Identifier: MIT */
/* What an agent said of itself, as recorded and as an enemy would write it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"
#include "torture.h"
#include "transcript.h"

#define T(s) (s), sizeof(s) - 1
#define X16  "0123456789abcdef"

#define DONE                                                 \
	"{\"type\":\"result\",\"is_error\":false,"           \
	"\"terminal_reason\":\"completed\",\"num_turns\":2," \
	"\"total_cost_usd\":0.5}\n"

static struct transcript
read_fd(int fd)
{
	struct transcript t;
	struct err e = { 0 };

	assert_true(fd >= 0);
	if (transcript_read(&t, fd, &e) < 0)
		fail_msg("%s", e.text);
	(void)close(fd);
	return t;
}

static struct transcript
read_text(const char *text, size_t n)
{
	char path[] = "/tmp/fz-unit.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	(void)unlink(path);
	assert_int_equal(write(fd, text, n), n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return read_fd(fd);
}

static struct transcript
read_recorded(const char *name)
{
	char path[96];

	(void)snprintf(
	    path, sizeof(path), "tests/golden/transcripts/%s.jsonl", name);
	return read_fd(open(path, O_RDONLY | O_CLOEXEC));
}

static const struct {
	const char *name;
	const char *terminal, *stop, *type;
	int64_t status, turns, denials, tools;
	double cost;
	bool has_result, is_error, answered, good, billing;
} recorded[] = {
	{ "success", "completed", "end_turn", "", -1, 6, 0, 5, 0.0348, true,
	    false, true, true, false },
	{ "denied", "completed", "end_turn", "", -1, 6, 2, 5, 0.0348, true,
	    false, true, true, false },
	{ "cut", "completed", "end_turn", "", -1, 1, 0, 0, 0.0058, true, false,
	    true, true, false },
	{ "max-turns", "max_turns", "tool_use", "", -1, 4, 0, 3, 0.0174, true,
	    true, true, true, false },
	{ "budget", "budget_exhausted", "tool_use", "", -1, 6, 0, 6, 0.0348,
	    true, true, true, true, false },
	{ "refusal", "api_error", "refusal", "", -1, 2, 0, 0, 0.0116, true,
	    true, true, true, false },
	{ "auth-401", "api_error", "stop_sequence", "authentication_error", 401,
	    1, 0, 0, 0, true, true, false, false, false },
	{ "auth-403", "api_error", "stop_sequence", "permission_error", 403, 1,
	    0, 0, 0, true, true, false, false, false },
	{ "billing-400", "api_error", "stop_sequence", "invalid_request_error",
	    400, 1, 0, 0, 0, true, true, false, false, true },
	{ "billing-402", "api_error", "stop_sequence", "billing_error", 402, 1,
	    0, 0, 0, true, true, false, false, true },
	{ "gate-403", "api_error", "stop_sequence", "", 403, 1, 0, 0, 0, true,
	    true, false, false, false },
	{ "gate-502", "api_error", "stop_sequence", "", 502, 1, 0, 0, 0, true,
	    true, false, false, false },
	{ "overloaded", "api_error", "stop_sequence", "overloaded_error", 529,
	    1, 0, 0, 0, true, true, false, false, false },
	{ "overloaded-late", "api_error", "stop_sequence", "overloaded_error",
	    529, 2, 0, 1, 0.0058, true, true, true, false, false },
	{ "rate-limit", "api_error", "stop_sequence", "rate_limit_error", 429,
	    1, 0, 0, 0, true, true, false, false, false },
	{ "refused", "api_error", "stop_sequence", "", -1, 1, 0, 0, 0, true,
	    true, false, false, false },
	{ "hang-int", "aborted_streaming", "", "", -1, 2, 0, 0, -1, true, true,
	    false, false, false },
	{ "tool-int", "aborted_tools", "tool_use", "", -1, 3, 0, 1, 0.0058,
	    true, true, true, true, false },
	{ "killed", "", "", "", -1, -1, -1, 1, -1, false, false, true, true,
	    false },
};

static void
recorded_sessions_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(recorded); i++) {
		struct transcript t = read_recorded(recorded[i].name);

		print_message("# %s\n", recorded[i].name);
		assert_int_equal(t.has_result, recorded[i].has_result);
		assert_int_equal(t.is_error, recorded[i].is_error);
		assert_int_equal(t.answered, recorded[i].answered);
		assert_int_equal(t.good, recorded[i].good);
		assert_int_equal(t.billing, recorded[i].billing);
		assert_string_equal(t.terminal_reason, recorded[i].terminal);
		assert_string_equal(t.stop_reason, recorded[i].stop);
		assert_string_equal(t.api_type, recorded[i].type);
		assert_int_equal(t.api_status, recorded[i].status);
		assert_int_equal(t.turns, recorded[i].turns);
		assert_int_equal(t.denials, recorded[i].denials);
		assert_int_equal(t.tools, recorded[i].tools);
		assert_true(t.cost_usd == recorded[i].cost);
		assert_string_equal(t.model, "claude-opus-5-5");
		assert_int_equal(strlen(t.session_id), 36);
		assert_int_equal(t.plain + t.skipped, 0);
	}
}

static void
tokens_of_the_cache_went_in_too(void **state)
{
	struct transcript t = read_recorded("success");

	(void)state;
	assert_int_equal(t.input_tokens, 7200);
	assert_int_equal(t.output_tokens, 300);
	t = read_text(T("{\"type\":\"result\",\"usage\":{\"input_tokens\":1,"
			"\"cache_creation_input_tokens\":20,"
			"\"cache_read_input_tokens\":300}}"));
	assert_int_equal(t.input_tokens, 321);
	assert_int_equal(t.output_tokens, -1);
	t = read_text(T("{\"type\":\"result\",\"usage\":{\"input_tokens\":"
			"999999999999999,\"cache_read_input_tokens\":1}}"));
	assert_int_equal(t.input_tokens, -1);
}

static void
the_last_result_wins(void **state)
{
	struct transcript t =
	    read_text(T(DONE "{\"type\":\"result\",\"is_error\":true,"
			     "\"terminal_reason\":\"max_turns\"}\n"
			     "{\"type\":\"other\"}\nplain\n"));

	(void)state;
	assert_true(t.has_result && t.is_error);
	assert_string_equal(t.terminal_reason, "max_turns");
	assert_int_equal(t.turns, -1); /* nothing is left of the first */
	assert_true(t.cost_usd < 0);
	assert_int_equal(t.lines, 4);
	assert_int_equal(t.plain, 1);
}

/* Text of a tool that looks like a result is a text. */
static void
a_result_within_a_text_is_none(void **state)
{
	struct transcript t =
	    read_text(T("{\"type\":\"user\",\"message\":{\"content\":"
			"[{\"type\":\"tool_result\",\"content\":\"\\n{\\\"type"
			"\\\":\\\"result\\\",\\\"is_error\\\":false}\\n\"}],"
			"\"type\":\"result\"}}\n"
			" {\"type\":\"result\"}\n[{\"type\":\"result\"}]\n"
			"x{\"type\":\"result\"}\n{\"type\":[\"result\"]}\n"
			"{\"TYPE\":\"result\"}\n"));

	(void)state;
	assert_false(t.has_result);
	assert_int_equal(t.plain, 3);
}

static void
what_is_missing_is_unknown_or_an_error(void **state)
{
	static const char *const errors[] = { "", ",\"is_error\":null",
		",\"is_error\":0", ",\"is_error\":\"false\"",
		",\"is_error\":true" };
	static const char *const costs[] = { "-1", "1e300", "\"1\"", "null",
		"[]", "-0.0001" };
	char line[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		int n = snprintf(
		    line, sizeof(line), "{\"type\":\"result\"%s}", errors[i]);
		struct transcript t = read_text(line, (size_t)n);

		assert_true(t.has_result && t.is_error);
		assert_int_equal(t.turns, -1);
		assert_int_equal(t.denials, -1);
		assert_string_equal(t.model, "");
	}
	for (size_t i = 0; i < ARRAY_LEN(costs); i++) {
		int n = snprintf(line, sizeof(line),
		    "{\"type\":\"result\",\"total_cost_usd\":%s}", costs[i]);

		assert_true(read_text(line, (size_t)n).cost_usd == -1);
	}
}

static void
words_are_short_and_plain(void **state)
{
	static const char too_long[] = X16 X16 X16 X16;
	static const char *const bad[] = { "a b", "\\u001b[2J", "\xc3\xa9",
		"\\n", too_long };
	char line[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int n = snprintf(line, sizeof(line),
		    "{\"type\":\"system\",\"subtype\":\"init\","
		    "\"model\":\"%s\",\"session_id\":\"%s\"}",
		    bad[i], bad[i]);
		struct transcript t = read_text(line, (size_t)n);

		assert_string_equal(t.model, "");
		assert_string_equal(t.session_id, "");
	}
}

static void
the_model_may_come_from_the_bill(void **state)
{
	struct transcript t =
	    read_text(T("{\"type\":\"result\",\"session_id\":\"s\","
			"\"modelUsage\":{\"m-1\":{},\"m-2\":{}}}"));

	(void)state;
	assert_string_equal(t.model, "m-1");
	assert_string_equal(t.session_id, "s");
}

/* JSON.stringify() writes these where tools put out such bytes. */
static void
escapes_that_are_no_characters_spoil_nothing(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "{\"a\":\"\\u0000\"}", "{\"a\":\"\\ufffd\"}" },
		{ "{\"a\":\"\\ud83d\"}", "{\"a\":\"\\ufffd\"}" },
		{ "{\"a\":\"\\ude00x\"}", "{\"a\":\"\\ufffdx\"}" },
		{ "{\"a\":\"\\ud83d\\ud83d\"}", "{\"a\":\"\\ufffd\\ufffd\"}" },
		{ "{\"a\":\"\\ud83d\\ude00\"}", "{\"a\":\"\\ud83d\\ude00\"}" },
		{ "{\"a\":\"\\\\ud83d\"}", "{\"a\":\"\\\\ud83d\"}" },
		{ "{\"a\":\"\\\\\\u0000\"}", "{\"a\":\"\\\\\\ufffd\"}" },
		{ "{\"a\":\"\\n\\u0041\"}", "{\"a\":\"\\n\\u0041\"}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char line[64];
		cJSON *j;

		(void)snprintf(line, sizeof(line), "%s", cases[i].in);
		j = transcript_parse(line, strlen(line));
		assert_string_equal(line, cases[i].out);
		assert_non_null(j);
		cJSON_Delete(j);
	}
	for (size_t i = 1; i < sizeof("{\"a\":\"\\ud83d\\"); i++) {
		char line[] = "{\"a\":\"\\ud83d\\";

		line[i] = '\0';
		assert_null(transcript_parse(line, i));
	}
}

static void
what_is_no_json_is_counted(void **state)
{
	struct transcript t =
	    read_text(T("{\"type\":\"result\",\"type\":\"x\"}\n"
			"{\"type\":\"result\"\n{\"type\":\"\xff\"}\n"
			"{\"type\":\"result\0\"}\n\0\n\n\n{}\n"));

	(void)state;
	assert_false(t.has_result);
	assert_int_equal(t.lines, 6);
	assert_int_equal(t.plain, 5);
}

static void
deep_lines_are_refused_and_the_rest_is_read(void **state)
{
	static const char head[] = "{\"type\":";
	size_t n = 200000;
	char *text = malloc(n + sizeof(DONE));
	struct transcript t;

	(void)state;
	assert_non_null(text);
	memset(text, '[', n);
	memcpy(text, head, sizeof(head) - 1);
	text[n - 1] = '\n';
	memcpy(text + n, DONE, sizeof(DONE));
	t = read_text(text, n + sizeof(DONE) - 1);
	free(text);
	assert_int_equal(t.plain, 1);
	assert_true(t.has_result && !t.is_error);
}

/* Quadratic work for whoever compares keys. */
static void
large_objects_are_refused(void **state)
{
	static const struct {
		int keys;
		const char *before, *after;
		int64_t plain;
	} tries[] = {
		{ 256, "{\"x\":", "}", 0 },
		{ 257, "{\"x\":", "}", 1 },
		{ 200, "{\"a\":{\"b\":1},\"x\":", ",\"c\":{\"d\":1}}", 0 },
		{ 257, "{\"x\":[[[{\"a\":0},", "]]]}", 1 },
		{ 1, "{\"x\":\"::::\\\":\",\"y\":", "}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		char line[8192];
		size_t n = (size_t)snprintf(
		    line, sizeof(line), "%s{", tries[i].before);

		for (int k = 0; k < tries[i].keys; k++)
			n += (size_t)snprintf(line + n, sizeof(line) - n,
			    "%s\"a%d\":0", k > 0 ? "," : "", k);
		n += (size_t)snprintf(
		    line + n, sizeof(line) - n, "}%s", tries[i].after);
		assert_int_equal(read_text(line, n).plain, tries[i].plain);
	}
}

static void
a_line_too_long_is_skipped(void **state)
{
	static const char head[] =
	    "{\"type\":\"result\",\"is_error\":false,\"x\":\"";
	static const char tail[] = { '"', '}', '\n' };
	size_t n = TRANSCRIPT_LINE;
	char *text = malloc(2 * n + sizeof(DONE));
	struct transcript t;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 2 * n);
	memcpy(text, head, sizeof(head) - 1);
	/* just what fits */
	memcpy(text + n - 2, tail, sizeof(tail));
	t = read_text(text, n + 1);
	assert_int_equal(t.skipped, 0);
	assert_true(t.has_result);
	/* one byte more */
	memcpy(text + n - 2, "x\"}\n" DONE, sizeof(DONE) + 3);
	t = read_text(text, n + 1 + sizeof(DONE));
	assert_int_equal(t.skipped, 1);
	assert_int_equal(t.lines, 2);
	assert_int_equal(t.turns, 2);
	/* without an end */
	memset(text + n - 2, 'x', n);
	t = read_text(text, 2 * n);
	assert_int_equal(t.skipped, 1);
	assert_false(t.has_result);
	free(text);
}

static int
keep_line(void *ctx, char *line, size_t len)
{
	char *got = ctx;

	assert_true(line == NULL || line[len] == '\0');
	(void)snprintf(got + strlen(got), 64 - strlen(got), "<%s>",
	    line != NULL ? line : "-");
	return line != NULL && strcmp(line, "end") == 0 ? -1 : 0;
}

/* However the stream comes in pieces, the lines are the same. */
static void
lines_do_not_depend_on_the_pieces(void **state)
{
	static const char text[] = "ab\n\ncdefg\nhijk\nlmnop\nq";

	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct lines l = LINES_INIT(4);
		char got[64] = "";

		for (size_t i = 0; i < sizeof(text) - 1; i += piece) {
			size_t left = sizeof(text) - 1 - i;

			assert_int_equal(
			    lines_feed(&l, text + i,
				left < piece ? left : piece, keep_line, got),
			    0);
		}
		assert_int_equal(lines_end(&l, keep_line, got), 0);
		assert_int_equal(lines_end(&l, keep_line, got), 0);
		assert_string_equal(got, "<ab><-><hijk><-><q>");
		lines_release(&l);
	}
}

static void
who_reads_lines_may_end_it(void **state)
{
	struct lines l = LINES_INIT(4);
	char got[64] = "";

	(void)state;
	assert_int_equal(lines_feed(&l, T("a\nend\nb\n"), keep_line, got), -1);
	assert_string_equal(got, "<a><end>");
	lines_release(&l);
}

static void
reading_survives_every_failed_allocation(void **state)
{
	struct transcript t = { 0 };

	(void)state;
	for (unsigned nth = 1; !t.has_result; nth++) {
		assert_true(nth < TORTURE_MAX);
		torture_begin(nth);
		t = read_text(T(DONE));
		torture_end();
		assert_int_equal(t.lines, 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_sessions_are_understood),
		cmocka_unit_test(tokens_of_the_cache_went_in_too),
		cmocka_unit_test(the_last_result_wins),
		cmocka_unit_test(a_result_within_a_text_is_none),
		cmocka_unit_test(what_is_missing_is_unknown_or_an_error),
		cmocka_unit_test(words_are_short_and_plain),
		cmocka_unit_test(the_model_may_come_from_the_bill),
		cmocka_unit_test(escapes_that_are_no_characters_spoil_nothing),
		cmocka_unit_test(what_is_no_json_is_counted),
		cmocka_unit_test(deep_lines_are_refused_and_the_rest_is_read),
		cmocka_unit_test(large_objects_are_refused),
		cmocka_unit_test(a_line_too_long_is_skipped),
		cmocka_unit_test(lines_do_not_depend_on_the_pieces),
		cmocka_unit_test(who_reads_lines_may_end_it),
		cmocka_unit_test(reading_survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
