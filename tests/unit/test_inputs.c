/* SPDX-License-Identifier: MIT */
/* uses: tools/fzplan/inputs.c */
/* The inputs of a campaign, and what is said when they differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "../../tools/fzplan/inputs.h"
#include "buf.h"
#include "cleanup.h"
#include "err.h"
#include "json.h"

static const struct {
	const char *arg;
	int exit;
	const char *key;
} add_cases[] = {
	{ "timeout=900", 0, "timeout" },
	{ "a_1=", 0, "a_1" },
	{ "a=b=c", 0, "a" },
	{ "=x", EX_USAGE, NULL },
	{ "", EX_USAGE, NULL },
	{ "timeout", EX_USAGE, NULL },
	{ "Timeout=1", EX_USAGE, NULL },
	{ "a b=1", EX_USAGE, NULL },
	{ "a=\xc0\x80", EX_USAGE, NULL },
	{ "a23456789012345678901234567890123456789012345678=1", EX_USAGE,
	    NULL },
};

static void
a_name_is_lower_case_and_a_value_utf8(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(add_cases); i++) {
		static struct inputs in;
		struct err e = { 0 };
		int rc;

		in.n = 0;
		rc = inputs_add(&in, INPUT_PLAIN, add_cases[i].arg, &e);
		assert_int_equal(e.exit, add_cases[i].exit);
		assert_int_equal(rc, add_cases[i].exit == 0 ? 0 : -1);
		assert_int_equal(in.n, rc == 0);
		if (rc == 0)
			assert_string_equal(in.item[0].key, add_cases[i].key);
	}
}

static void
there_is_room_for_so_many(void **state)
{
	static char args[INPUTS_MAX + 1][16];
	static struct inputs in;
	struct err e;

	(void)state;
	for (int i = 0; i <= INPUTS_MAX; i++) {
		(void)snprintf(args[i], sizeof(args[i]), "n%d=1", i);
		assert_int_equal(inputs_add(&in, INPUT_PLAIN, args[i], &e),
		    i < INPUTS_MAX ? 0 : -1);
	}
	assert_string_equal(e.text, "more than 64 inputs");
}

/* What inputs_compare() says of "target" being now, and was in json. */
static void
expect(enum input_kind kind, const char *now, const char *json,
    const char *refused, const char *changed)
{
	AUTO(buf_release) struct buf r = BUF_INIT(1000);
	AUTO(buf_release) struct buf c = BUF_INIT(1000);
	AUTO(json_p) cJSON *stored = NULL;
	static struct inputs in;
	struct err e;

	in.n = 0;
	assert_int_equal(inputs_add(&in, kind, now, &e), 0);
	(void)snprintf(in.item[0].hash, sizeof(in.item[0].hash), "00ff");
	stored = json_parse(json, strlen(json), &e);
	assert_non_null(stored);
	assert_int_equal(inputs_compare(&in, stored, &r, &c, &e), 0);
	assert_string_equal(r.len > 0 ? r.data : "", refused);
	assert_string_equal(c.len > 0 ? c.data : "", changed);
}

static void
differences_are_told(void **state)
{
	(void)state;
	expect(INPUT_FIXED, "x=1", "{\"x\":\"1\"}", "", "");
	expect(INPUT_PLAIN, "x=2", "{\"x\":\"1\"}", "", "x (1 -> 2)");
	expect(INPUT_PLAIN, "x=2", "{\"X\":\"2\"}", "",
	    "X (2 -> none), x (none -> 2)");
	expect(INPUT_FIXED, "x=2", "{}", "", "x (none -> 2)");
	expect(INPUT_FIXED, "x=a b", "{\"x\":\"$y\"}",
	    "X is 'a b', but this campaign was begun with '$$y': type "
	    "\"make X='$$y' campaign\" to go on, or "
	    "\"make RUNDIR=DIR X='a b' campaign\" for a new one",
	    "");
	expect(INPUT_FILE, "x=p", "{\"x_sha256\":\"00ff\"}", "", "");
	expect(INPUT_FILE, "x=p", "{\"x_sha256\":\"11ff\"}", "", "x");
	expect(INPUT_FILE, "x=p", "{\"x_sha256_\":\"1\"}", "",
	    "x_sha256_ (1 -> none), x");
	expect(INPUT_PLAIN, "x=1", "{\"x\":\"1\",\"\\u001b\":\"\\n\"}", "",
	    "\\x1b ('\\x0a' -> none)");
}

static void
too_long_a_sentence_is_an_error(void **state)
{
	AUTO(json_p) cJSON *stored = NULL;
	static struct inputs in;
	struct err e;

	(void)state;
	assert_int_equal(inputs_add(&in, INPUT_FIXED, "x=2", &e), 0);
	assert_int_equal(inputs_add(&in, INPUT_PLAIN, "y=2", &e), 0);
	stored = json_parse("{\"x\":\"a b\",\"z\":\"'\"}", 19, &e);
	assert_non_null(stored);
	for (size_t max = 0; max < 100; max++) {
		AUTO(buf_release) struct buf r = BUF_INIT(max);
		AUTO(buf_release) struct buf c = BUF_INIT(max);

		assert_int_equal(inputs_compare(&in, stored, &r, &c, &e), -1);
		assert_int_equal(e.exit, EX_OSERR);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_lower_case_and_a_value_utf8),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(differences_are_told),
		cmocka_unit_test(too_long_a_sentence_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
