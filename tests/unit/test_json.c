/* SPDX-License-Identifier: MIT */
/* JSON that is read strictly and written without surprises. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "err.h"
#include "json.h"
#include "scratch.h"
#include "torture.h"

#define T(s) (s), sizeof(s) - 1

static const struct {
	const char *text;
	size_t len;
	const char *err; /* NULL: accepted */
} parse_cases[] = {
	{ T("{}"), NULL },
	{ T(" [1, \"a\", null, true, -1.5e3]\r\n\t"), NULL },
	{ T("null"), NULL },
	{ T("\"\\u00e9 \\ud83d\\ude00 \\\" \\\\ \\n\""), NULL },
	{ T("\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""), NULL },
	{ T("\"\\\\u0000\""), NULL },
	{ T("{\"a\":1,\"A\":2}"), NULL },
	{ T("[{\"a\":1},{\"a\":2}]"), NULL },
	{ T("{\"a\":{\"a\":{\"a\":1}}}"), NULL },
	{ T("[\"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\"]"), NULL },
	{ T("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]"), NULL },
	{ T("[\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]"), NULL },

	{ T(""), "near byte 0" },
	{ T("   "), "near byte" },
	{ T("{} x"), "near byte 3" },
	{ T("{}{}"), "near byte 2" },
	{ T("{}]"), "near byte 2" },
	{ T("{\"a\":1"), "near byte" },
	{ T("{\"a\" 1}"), "near byte" },
	{ T("{'a':1}"), "near byte" },
	{ T("{a:1}"), "near byte" },
	{ T("[1,]"), "near byte" },
	{ T("[1 2]"), "near byte" },
	{ T("\"abc"), "near byte" },
	{ T("\"abc\\"), "bad escape" },
	{ T("\"abc\\\""), "near byte" },
	{ T("\"\\x41\""), "bad escape" },
	{ T("\"\\u12\""), "bad escape" },
	{ T("\"\\u0G\\\x1eu0000\""), "bad escape" },
	{ T("\"\\ud800\""), "near byte" },
	{ T("\"\\udc00\""), "near byte" },
	{ T("\"\\ud800\\u0041\""), "near byte" },
	{ T("nul"), "near byte" },
	{ T("NaN"), "near byte" },

	{ T("\"\xff\""), "not UTF-8" },
	{ T("\"\x80\""), "not UTF-8" },
	{ T("\"\xc0\x80\""), "not UTF-8" },
	{ T("\"\xed\xa0\x80\""), "not UTF-8" },
	{ T("\"\xf4\x90\x80\x80\""), "not UTF-8" },
	{ T("\"\xe2\x82\""), "not UTF-8" },
	{ T("{}\xe2\x82"), "not UTF-8" },

	{ T("\"a\\u0000b\""), "NUL in a string" },
	{ T("{\"a\\u0000b\":1}"), "NUL in a string" },
	{ T("\"\\\\\\u0000\""), "NUL in a string" },
	{ T("\"a\0b\""), "control character" },
	{ T("{\"a\0b\":1}"), "control character" },
	{ T("{}\0"), "control character" },
	{ T("{}\0x"), "control character" },
	{ T("[1,\0 2]"), "control character" },
	{ T("\"a\nb\""), "control character" },
	{ T("\"a\x1f\""), "control character" },
	{ T("[\x01]"), "control character" },
	{ T("\x0c{}"), "control character" },

	{ T("{\"a\":1,\"a\":1}"), "a key stands twice" },
	{ T("{\"a\":1,\"b\":2,\"\\u0061\":3}"), "a key stands twice" },
	{ T("{\"\":1,\"\":2}"), "a key stands twice" },
	{ T("[[{\"x\":{\"a\":1,\"b\":0,\"a\":2}}]]"), "a key stands twice" },
};

static void
only_strict_json_is_accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(parse_cases); i++) {
		const char *want = parse_cases[i].err;
		struct err e = { 0 };
		AUTO(json_p)
		cJSON *j =
		    json_parse(parse_cases[i].text, parse_cases[i].len, &e);

		if (want == NULL && j == NULL)
			fail_msg("%s: %s", parse_cases[i].text, e.text);
		if (want == NULL)
			continue;
		if (j != NULL)
			fail_msg("accepted: %s", parse_cases[i].text);
		assert_int_equal(e.exit, EX_DATAERR);
		if (strstr(e.text, want) == NULL)
			fail_msg("%s: \"%s\" lacks \"%s\"", parse_cases[i].text,
			    e.text, want);
	}
}

/* "[[...1...]]" or the same with objects. */
static size_t
nest(char *to, int depth, const char *open, char close)
{
	size_t n = 0;

	for (int i = 0; i < depth; i++) {
		memcpy(to + n, open, strlen(open));
		n += strlen(open);
	}
	to[n++] = '1';
	for (int i = 0; i < depth; i++)
		to[n++] = close;
	to[n] = '\0';
	return n;
}

static void
levels_are_at_most_32(void **state)
{
	static const struct {
		const char *open;
		char close;
	} kinds[] = { { "[", ']' }, { "{\"k\":", '}' } };
	char text[16384];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct err e = { 0 };
		size_t n = nest(text, 32, kinds[i].open, kinds[i].close);
		AUTO(json_p) cJSON *j = json_parse(text, n, &e);

		assert_non_null(j);
		n = nest(text, 33, kinds[i].open, kinds[i].close);
		assert_null(json_parse(text, n, &e));
		assert_string_equal(
		    e.text, "not valid JSON: nested too deeply");
		n = nest(text, 2000, kinds[i].open, kinds[i].close);
		assert_null(json_parse(text, n, &e));
	}
}

/* {"k0":0,"k1":0,...} */
static char *
many_keys(int keys, size_t *len)
{
	size_t cap = (size_t)keys * 16 + 3, n = 1;
	char *text = malloc(cap);

	assert_non_null(text);
	text[0] = '{';
	for (int i = 0; i < keys; i++)
		n += (size_t)snprintf(
		    text + n, cap - n, "%s\"%d\":0", i > 0 ? "," : "", i);
	text[n++] = '}';
	text[n] = '\0';
	*len = n;
	return text;
}

static void
an_object_has_at_most_4096_keys(void **state)
{
	struct err e = { 0 };
	size_t n;
	char *text = many_keys(4096, &n);
	cJSON *j = json_parse(text, n, &e);

	(void)state;
	assert_non_null(j);
	cJSON_Delete(j);
	free(text);
	text = many_keys(4097, &n);
	assert_null(json_parse(text, n, &e));
	free(text);
	text = many_keys(100000, &n); /* refused before they are compared */
	assert_null(json_parse(text, n, &e));
	free(text);
}

static const struct {
	const char *text;
	int rc;
	int64_t want;
	const char *err;
} int_cases[] = {
	{ "{\"n\":7}", 0, 7, NULL },
	{ "{\"n\":-5}", 0, -5, NULL },
	{ "{\"n\":100}", 0, 100, NULL },
	{ "{\"n\":1e2}", 0, 100, NULL },
	{ "{\"n\":-0}", 0, 0, NULL },
	{ "{\"n\":101}", -1, 0, "\"n\": 101 is not an integer from -5 to 100" },
	{ "{\"n\":-6}", -1, 0, "\"n\": -6 is not an integer from -5 to 100" },
	{ "{\"n\":1.5}", -1, 0, "\"n\": 1.5 is not an integer from -5 to 100" },
	{ "{\"n\":1e999}", -1, 0,
	    "\"n\": inf is not an integer from -5 to 100" },
	{ "{\"n\":-1e999}", -1, 0,
	    "\"n\": -inf is not an integer from -5 to 100" },
	{ "{\"n\":\"7\"}", -1, 0, "\"n\": not a number" },
	{ "{\"n\":null}", -1, 0, "\"n\": not a number" },
	{ "{\"n\":true}", -1, 0, "\"n\": not a number" },
	{ "{\"n\":[7]}", -1, 0, "\"n\": not a number" },
	{ "{\"N\":7}", -1, 0, "\"n\": missing" },
	{ "[7]", -1, 0, "\"n\": missing" },
	{ "7", -1, 0, "\"n\": missing" },
};

static void
an_integer_is_typed_and_ranged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(int_cases); i++) {
		const char *text = int_cases[i].text;
		struct err e = { 0 };
		int64_t got = -99;
		AUTO(json_p) cJSON *j = json_parse(text, strlen(text), &e);

		assert_non_null(j);
		assert_int_equal(
		    json_int(j, "n", -5, 100, &got, &e), int_cases[i].rc);
		if (int_cases[i].rc == 0) {
			assert_int_equal(got, int_cases[i].want);
			continue;
		}
		assert_int_equal(got, -99);
		assert_int_equal(e.exit, EX_DATAERR);
		assert_string_equal(e.text, int_cases[i].err);
	}
}

static void
an_integer_is_never_one_cjson_cannot_print(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} cases[] = {
		{ "{\"n\":999999999999999}", 0 },
		{ "{\"n\":-999999999999999}", 0 },
		{ "{\"n\":1000000000000000}", -1 },
		{ "{\"n\":9223372036854775807}", -1 },
		{ "{\"n\":9223372036854775808}", -1 },
		{ "{\"n\":-9223372036854775809}", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { 0 };
		int64_t got = 0;
		AUTO(json_p)
		cJSON *j = json_parse(cases[i].text, strlen(cases[i].text), &e);

		assert_non_null(j);
		assert_int_equal(
		    json_int(j, "n", -JSON_INT_MAX, INT64_MAX, &got, &e),
		    cases[i].rc);
	}
}

static void
a_string_is_typed_and_case_sensitive(void **state)
{
	static const char text[] =
	    "{\"s\":\"x\",\"e\":\"\",\"n\":1,\"z\":null,\"a\":[\"x\"]}";
	struct err e = { 0 };
	AUTO(json_p) cJSON *j = json_parse(T(text), &e);

	(void)state;
	assert_string_equal(json_str(j, "s", &e), "x");
	assert_string_equal(json_str(j, "e", &e), "");
	assert_null(json_str(j, "S", &e));
	assert_string_equal(e.text, "\"S\": missing");
	assert_int_equal(e.exit, EX_DATAERR);
	assert_null(json_str(j, "n", &e));
	assert_string_equal(e.text, "\"n\": not a string");
	assert_null(json_str(j, "z", &e));
	assert_null(json_str(j, "a", &e));
	assert_null(json_str(NULL, "a", &e));
	assert_string_equal(e.text, "\"a\": missing");
}

#define LONG_KEY                                \
	"k234567890123456789012345678901234567" \
	"89012345678901234567890123"

static const char looking[] =
    "{\"A\":{\"B\":{\"C\":\"deep\",\"n\":5,\"t\":true,\"f\":false}},"
    "\"\":{\"x\":\"empty\"},\"l\":[{\"x\":\"no\"}],\"s\":\"text\","
    "\"neg\":-1,\"frac\":1.5,\"big\":1e15,\"max\":999999999999999,"
    "\"huge\":1e300,\"inf\":1e999,\"zero\":0,\"str\":\"7\","
    "\"" LONG_KEY "\":\"63\",\"" LONG_KEY "4\":\"64\"}";

static void
looking_walks_a_path_and_never_complains(void **state)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "s", "text" },
		{ "A.B.C", "deep" },
		{ ".x", "empty" },
		{ LONG_KEY, "63" },
		{ LONG_KEY "4", NULL },
		{ "A.B", NULL },
		{ "A.B.c", NULL },
		{ "A.B.C.D", NULL },
		{ "A.C", NULL },
		{ "l.x", NULL },
		{ "l", NULL },
		{ "s.x", NULL },
		{ "zero", NULL },
		{ "none.of.this", NULL },
	};
	struct err e = { 0 };
	AUTO(json_p) cJSON *j = json_parse(T(looking), &e);

	(void)state;
	assert_non_null(j);
	assert_ptr_equal(json_at(j, ""), j);
	assert_null(json_at(NULL, "a.b"));
	assert_null(json_at_str(NULL, "a"));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = json_at_str(j, cases[i].path);

		if (cases[i].want == NULL)
			assert_null(got);
		else
			assert_string_equal(got, cases[i].want);
	}
}

static void
looking_for_a_number_gives_a_whole_one_or_minus_one(void **state)
{
	static const struct {
		const char *path;
		int64_t want;
	} cases[] = {
		{ "A.B.n", 5 },
		{ "zero", 0 },
		{ "max", JSON_INT_MAX },
		{ "big", -1 },
		{ "huge", -1 },
		{ "inf", -1 },
		{ "neg", -1 },
		{ "frac", -1 },
		{ "str", -1 },
		{ "A.B.t", -1 },
		{ "A", -1 },
		{ "none", -1 },
	};
	struct err e = { 0 };
	AUTO(json_p) cJSON *j = json_parse(T(looking), &e);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(json_at_int(j, cases[i].path), cases[i].want);
	assert_int_equal(json_at_int(NULL, "n"), -1);
	assert_true(json_at_true(j, "A.B.t"));
	assert_false(json_at_true(j, "A.B.f"));
	assert_false(json_at_true(j, "A.B.n"));
	assert_false(json_at_true(j, "s"));
	assert_false(json_at_true(j, "none"));
	assert_false(json_at_true(NULL, "none"));
}

static cJSON *
written(bool *ok)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *arr, *sub;

	*ok = root != NULL;
	json_put_str(root, "_schema", "fz-test/1", ok);
	json_put_int(root, "i", JSON_INT_MAX, ok);
	json_put_int(root, "m", -JSON_INT_MAX, ok);
	json_put_bool(root, "b", false, ok);
	json_put_null(root, "z", ok);
	json_put_known(root, "known", 0, ok);
	json_put_known(root, "unknown", -1, ok);
	json_put_str_or_null(root, "s", "\"\\\n\x01", ok);
	json_put_str_or_null(root, "none", NULL, ok);
	arr = json_put_arr(root, "a", ok);
	json_add_str(arr, "x", ok);
	sub = json_add_obj(arr, ok);
	json_put_bool(sub, "t", true, ok);
	sub = json_put_obj(root, "o", ok);
	json_put_int(sub, "n", 7, ok);
	return root;
}

static const char written_text[] =
    "{\"_schema\":\"fz-test/1\",\"i\":999999999999999,"
    "\"m\":-999999999999999,\"b\":false,\"z\":null,\"known\":0,"
    "\"unknown\":null,\"s\":\"\\\"\\\\\\n\\u0001\",\"none\":null,"
    "\"a\":[\"x\",{\"t\":true}],\"o\":{\"n\":7}}";

static void
a_document_is_written_as_it_was_put_together(void **state)
{
	bool ok;
	AUTO(json_p) cJSON *j = written(&ok);
	char *text = cJSON_PrintUnformatted(j);

	(void)state;
	assert_true(ok);
	assert_string_equal(text, written_text);
	cJSON_free(text);
}

static void
one_failure_stops_all_further_writing(void **state)
{
	AUTO(json_p) cJSON *j = cJSON_CreateObject();
	AUTO(json_p) cJSON *arr = cJSON_CreateArray();
	bool ok = false;

	(void)state;
	json_put_str(j, "s", "x", &ok);
	json_put_int(j, "i", 1, &ok);
	json_put_bool(j, "b", true, &ok);
	json_put_null(j, "z", &ok);
	json_put_known(j, "k", -1, &ok);
	json_put_str_or_null(j, "n", NULL, &ok);
	json_add_str(arr, "x", &ok);
	assert_null(json_put_obj(j, "o", &ok));
	assert_null(json_put_arr(j, "a", &ok));
	assert_null(json_add_obj(arr, &ok));
	assert_false(ok);
	assert_null(j->child);
	assert_null(arr->child);
}

static void
what_cannot_be_written_is_a_failure(void **state)
{
	AUTO(json_p) cJSON *j = cJSON_CreateObject();
	bool ok = true;

	(void)state;
	json_put_int(j, "i", JSON_INT_MAX + 1, &ok);
	assert_false(ok);
	ok = true;
	json_put_int(j, "i", -JSON_INT_MAX - 1, &ok);
	assert_false(ok);
	ok = true;
	json_put_known(j, "i", INT64_MAX, &ok);
	assert_false(ok);
	ok = true;
	json_put_str(j, "s", NULL, &ok);
	assert_false(ok);
	ok = true;
	json_put_str(NULL, "s", "x", &ok);
	assert_false(ok);
	ok = true;
	json_add_str(NULL, "x", &ok);
	assert_false(ok);
	assert_null(j->child);
}

static void
a_file_must_be_an_object_of_the_right_schema(void **state)
{
	static const struct {
		const char *text, *err;
	} cases[] = {
		{ "{\"_schema\":\"fz-x/1\",\"new\":1}\n", NULL },
		{ "", "f: not valid JSON near byte 0" },
		{ "{\"_schema\":\"fz-x/1\"", "f: not valid JSON near byte 19" },
		{ "[]", "f: \"_schema\": missing" },
		{ "\"fz-x/1\"", "f: \"_schema\": missing" },
		{ "{}", "f: \"_schema\": missing" },
		{ "{\"_schema\":1}", "f: \"_schema\": not a string" },
		{ "{\"_schema\":\"fz-x/2\"}",
		    "f: \"_schema\" is \"fz-x/2\", not \"fz-x/1\"" },
		{ "{\"_schema\":\"fz-x/10\"}",
		    "f: \"_schema\" is \"fz-x/10\", not \"fz-x/1\"" },
		{ "{\"_schema\":\"fz-x/1\",\"_schema\":\"fz-x/1\"}",
		    "f: not valid JSON: a key stands twice" },
	};
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { 0 };
		cJSON *j;

		assert_int_equal(scratch_put(s, "f", cases[i].text), 0);
		j = json_read(s->fd, "f", 100, "fz-x/1", &e);
		if (cases[i].err == NULL) {
			assert_non_null(j);
			cJSON_Delete(j);
			continue;
		}
		assert_null(j);
		assert_string_equal(e.text, cases[i].err);
		assert_int_equal(e.exit, EX_DATAERR);
	}
}

static void
a_file_that_is_none_is_refused_at_once(void **state)
{
	static const char good[] = "{\"_schema\":\"fz-x/1\"}";
	const struct scratch *s = *state;
	struct err e = { 0 };

	assert_null(json_read(s->fd, "f", 100, "fz-x/1", &e));
	assert_int_equal(e.exit, EX_NOINPUT);
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(mkfifoat(s->fd, "fifo", 0600), 0);
	assert_null(json_read(s->fd, "fifo", 100, "fz-x/1", &e));
	assert_string_equal(e.text, "fifo: not a regular file");
	assert_int_equal(mkdirat(s->fd, "dir", 0700), 0);
	assert_null(json_read(s->fd, "dir", 100, "fz-x/1", &e));
	assert_string_equal(e.text, "dir: not a regular file");
	assert_int_equal(scratch_put(s, "real", good), 0);
	assert_int_equal(symlinkat("real", s->fd, "link"), 0);
	assert_null(json_read(s->fd, "link", 100, "fz-x/1", &e));
	assert_int_equal(e.exit, EX_DATAERR);
	assert_int_equal(e.sys, ELOOP);
	assert_null(json_read(s->fd, "real", sizeof(good) - 2, "fz-x/1", &e));
	assert_string_equal(e.text, "real: more than 19 bytes");
}

static void
a_file_is_written_with_a_newline_and_not_through_a_link(void **state)
{
	const struct scratch *s = *state;
	struct err e = { 0 };
	bool ok;
	AUTO(json_p) cJSON *j = written(&ok);
	char want[sizeof(written_text) + 1];

	assert_int_equal(scratch_put(s, "victim", "untouched"), 0);
	assert_int_equal(symlinkat("victim", s->fd, "out"), 0);
	assert_int_equal(json_write(s->fd, "out", j, &e), 0);
	assert_string_equal(scratch_get(s, "victim"), "untouched");
	(void)snprintf(want, sizeof(want), "%s\n", written_text);
	assert_string_equal(scratch_get(s, "out"), want);
	assert_int_equal(scratch_count(s), 2);
}

static void
parsing_survives_every_failed_allocation(void **state)
{
	cJSON *j = NULL;

	(void)state;
	for (unsigned nth = 1; j == NULL; nth++) {
		struct err e = { 0 };

		assert_true(nth < TORTURE_MAX);
		torture_begin(nth);
		j = json_parse(T(looking), &e);
		torture_end();
		assert_int_equal(e.exit, j != NULL ? 0 : EX_DATAERR);
	}
	assert_string_equal(json_at_str(j, "A.B.C"), "deep");
	cJSON_Delete(j);
}

static void
building_survives_every_failed_allocation(void **state)
{
	bool ok = false;

	(void)state;
	for (unsigned nth = 1; !ok; nth++) {
		assert_true(nth < TORTURE_MAX);
		torture_begin(nth);
		cJSON_Delete(written(&ok));
		torture_end();
	}
}

static void
files_survive_every_failed_allocation(void **state)
{
	const struct scratch *s = *state;
	bool ok;
	AUTO(json_p) cJSON *doc = written(&ok);
	cJSON *back = NULL;
	struct err e = { 0 };
	int rc = -1;

	for (unsigned nth = 1; rc < 0; nth++) {
		assert_true(nth < TORTURE_MAX);
		assert_int_equal(scratch_count(s), 0);
		torture_begin(nth);
		rc = json_write(s->fd, "out", doc, &e);
		torture_end();
		if (rc < 0)
			assert_string_equal(e.text, "out: out of memory");
	}
	assert_int_equal(scratch_count(s), 1);
	for (unsigned nth = 1; back == NULL; nth++) {
		assert_true(nth < TORTURE_MAX);
		e.exit = 0;
		torture_begin(nth);
		back = json_read(s->fd, "out", 4096, "fz-test/1", &e);
		torture_end();
		assert_int_equal(e.exit, back != NULL ? 0 : EX_DATAERR);
	}
	assert_true(cJSON_Compare(doc, back, true));
	cJSON_Delete(back);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_strict_json_is_accepted),
		cmocka_unit_test(levels_are_at_most_32),
		cmocka_unit_test(an_object_has_at_most_4096_keys),
		cmocka_unit_test(an_integer_is_typed_and_ranged),
		cmocka_unit_test(an_integer_is_never_one_cjson_cannot_print),
		cmocka_unit_test(a_string_is_typed_and_case_sensitive),
		cmocka_unit_test(looking_walks_a_path_and_never_complains),
		cmocka_unit_test(
		    looking_for_a_number_gives_a_whole_one_or_minus_one),
		cmocka_unit_test(a_document_is_written_as_it_was_put_together),
		cmocka_unit_test(one_failure_stops_all_further_writing),
		cmocka_unit_test(what_cannot_be_written_is_a_failure),
		SCRATCH_TEST(a_file_must_be_an_object_of_the_right_schema),
		SCRATCH_TEST(a_file_that_is_none_is_refused_at_once),
		SCRATCH_TEST(
		    a_file_is_written_with_a_newline_and_not_through_a_link),
		cmocka_unit_test(parsing_survives_every_failed_allocation),
		cmocka_unit_test(building_survives_every_failed_allocation),
		SCRATCH_TEST(files_survive_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
