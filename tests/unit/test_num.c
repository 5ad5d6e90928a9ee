/* SPDX-License-Identifier: MIT */
/* Numbers as people type them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "compiler.h"
#include "err.h"
#include "num.h"

typedef int parse(const char *, int64_t, int64_t, int64_t *, struct err *);

struct num_case {
	const char *text;
	int64_t min, max;
	int64_t want;
	const char *err; /* NULL: accepted */
};

static void
is_refused(int rc, const struct num_case *c, int64_t got, const struct err *e)
{
	if (rc == 0)
		fail_msg("accepted: \"%s\"", c->text);
	assert_string_equal(e->text, c->err);
	assert_int_equal(e->exit, EX_USAGE);
	assert_int_equal(got, -99);
}

static void
try_all(parse *f, const struct num_case *c, size_t n)
{
	for (; n > 0; n--, c++) {
		struct err e = { 0 };
		int64_t got = -99;
		int rc = f(c->text, c->min, c->max, &got, &e);

		if (c->err != NULL)
			is_refused(rc, c, got, &e);
		else if (rc < 0)
			fail_msg("\"%s\": %s", c->text, e.text);
		else
			assert_int_equal(got, c->want);
	}
}

#define WHOLE(s) "\"" s "\" is not a whole number from 1 to 100"
#define SIZE(s)	 "\"" s "\" is not a size such as 512m or 2g"
#define MILLI(s) "\"" s "\" is not a number"

static void
a_whole_number_is_digits_in_a_range(void **state)
{
	static const struct num_case cases[] = {
		{ "1", 1, 100, 1, NULL },
		{ "100", 1, 100, 100, NULL },
		{ "007", 1, 100, 7, NULL },
		{ "0", 0, 0, 0, NULL },
		{ "999999999999999", 0, INT64_MAX, 999999999999999, NULL },
		{ "0", 1, 100, 0, "\"0\" is not from 1 to 100" },
		{ "101", 1, 100, 0, "\"101\" is not from 1 to 100" },
		{ "", 1, 100, 0, WHOLE("") },
		{ "-1", 1, 100, 0, WHOLE("-1") },
		{ "+1", 1, 100, 0, WHOLE("+1") },
		{ " 1", 1, 100, 0, WHOLE(" 1") },
		{ "1 ", 1, 100, 0, WHOLE("1 ") },
		{ "1.0", 1, 100, 0, WHOLE("1.0") },
		{ "0x1", 1, 100, 0, WHOLE("0x1") },
		{ "1k", 1, 100, 0, WHOLE("1k") },
		{ "abc", 1, 100, 0, WHOLE("abc") },
		{ "1000000000000000", 1, 100, 0, WHOLE("1000000000000000") },
		{ "18446744073709551617", 1, 100, 0,
		    WHOLE("18446744073709551617") },
	};

	(void)state;
	try_all(num_parse, cases, ARRAY_LEN(cases));
}

static void
a_size_has_one_unit_and_never_overflows(void **state)
{
	static const struct num_case cases[] = {
		{ "512", 1, INT64_MAX, 512, NULL },
		{ "1k", 1, INT64_MAX, 1024, NULL },
		{ "100K", 1, INT64_MAX, 102400, NULL },
		{ "64m", 1, INT64_MAX, 67108864, NULL },
		{ "2g", 1, INT64_MAX, INT64_C(2147483648), NULL },
		{ "2G", 1, INT64_MAX, INT64_C(2147483648), NULL },
		{ "0g", 0, 0, 0, NULL },
		{ "8589934591g", 1, INT64_MAX, INT64_C(9223372035781033984),
		    NULL },
		{ "2g", 1, 100, 0, "\"2g\" is not from 1 to 100" },
		{ "999999999999999g", 1, 100, 0,
		    "\"999999999999999g\" is not from 1 to 100" },
		{ "17179869184g", 0, 100, 0, /* 2^64 */
		    "\"17179869184g\" is not from 0 to 100" },
		{ "", 1, 100, 0, SIZE("") },
		{ "k", 1, 100, 0, SIZE("k") },
		{ "1kb", 1, 100, 0, SIZE("1kb") },
		{ "1kk", 1, 100, 0, SIZE("1kk") },
		{ "1t", 1, 100, 0, SIZE("1t") },
		{ "1 k", 1, 100, 0, SIZE("1 k") },
		{ "1.5g", 1, 100, 0, SIZE("1.5g") },
		{ "-1k", 1, 100, 0, SIZE("-1k") },
		{ "1000000000000000", 1, 100, 0, SIZE("1000000000000000") },
	};

	(void)state;
	try_all(num_size, cases, ARRAY_LEN(cases));
}

static void
a_fraction_is_cut_to_thousandths(void **state)
{
	static const struct num_case cases[] = {
		{ "1", 1, INT64_MAX, 1000, NULL },
		{ "0.5", 1, INT64_MAX, 500, NULL },
		{ "2.25", 1, INT64_MAX, 2250, NULL },
		{ "0.001", 1, INT64_MAX, 1, NULL },
		{ "1.9999", 1, INT64_MAX, 1999, NULL },
		{ "0.00000000000000000000001", 0, 10, 0, NULL },
		{ "999999999999999", 1, INT64_MAX, 999999999999999000, NULL },
		{ "0.0009", 1, 10, 0, "\"0.0009\" is not from 0.001 to 0.01" },
		{ "1", 1, 10, 0, "\"1\" is not from 0.001 to 0.01" },
		{ "", 1, 10, 0, MILLI("") },
		{ ".5", 1, 10, 0, MILLI(".5") },
		{ "1.", 1, 10, 0, MILLI("1.") },
		{ "1.5.5", 1, 10, 0, MILLI("1.5.5") },
		{ "1,5", 1, 10, 0, MILLI("1,5") },
		{ "-1", 1, 10, 0, MILLI("-1") },
		{ "1e3", 1, 10, 0, MILLI("1e3") },
		{ "1.5x", 1, 10, 0, MILLI("1.5x") },
		{ "1000000000000000", 1, 10, 0, MILLI("1000000000000000") },
	};

	(void)state;
	try_all(num_milli, cases, ARRAY_LEN(cases));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_number_is_digits_in_a_range),
		cmocka_unit_test(a_size_has_one_unit_and_never_overflows),
		cmocka_unit_test(a_fraction_is_cut_to_thousandths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
