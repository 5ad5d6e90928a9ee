/* SPDX-License-Identifier: MIT */
/* What is UTF-8, and what a terminal may be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "compiler.h"
#include "text.h"

#define T(s) (s), sizeof(s) - 1

/* Beginning, end and neighbours of every range of RFC 3629. */
static const struct {
	const char *bytes;
	size_t n;
	size_t want;
} utf8_cases[] = {
	{ T(""), 0 },
	{ T("\0"), 1 },
	{ T("a"), 1 },
	{ T("\x7f"), 1 },
	{ T("ab"), 1 },
	{ T("\x80"), 0 },
	{ T("\xbf"), 0 },
	{ T("\xc0\x80"), 0 },
	{ T("\xc1\xbf"), 0 },
	{ T("\xc2"), 0 },
	{ T("\xc2\x7f"), 0 },
	{ T("\xc2\x80"), 2 },
	{ T("\xc2\xc0"), 0 },
	{ T("\xdf\xbf"), 2 },
	{ T("\xdf\xbfz"), 2 },
	{ T("\xe0\x9f\xbf"), 0 },
	{ T("\xe0\xa0\x80"), 3 },
	{ T("\xe0\xa0"), 0 },
	{ T("\xe0\xa0z"), 0 },
	{ T("\xed\x9f\xbf"), 3 },
	{ T("\xed\xa0\x80"), 0 },
	{ T("\xed\xbf\xbf"), 0 },
	{ T("\xee\x80\x80"), 3 },
	{ T("\xef\xbf\xbf"), 3 },
	{ T("\xf0\x8f\xbf\xbf"), 0 },
	{ T("\xf0\x90\x80\x80"), 4 },
	{ T("\xf0\x90\x80"), 0 },
	{ T("\xf0\x90\x80z"), 0 },
	{ T("\xf4\x8f\xbf\xbf"), 4 },
	{ T("\xf4\x90\x80\x80"), 0 },
	{ T("\xf5\x80\x80\x80"), 0 },
	{ T("\xf8\x88\x80\x80\x80"), 0 },
	{ T("\xfe"), 0 },
	{ T("\xff"), 0 },
};

static void
only_shortest_forms_up_to_10ffff_are_utf8(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(utf8_cases); i++) {
		size_t got =
		    text_utf8((const unsigned char *)utf8_cases[i].bytes,
			utf8_cases[i].n);

		if (got != utf8_cases[i].want)
			fail_msg("case %zu: %zu, not %zu", i, got,
			    utf8_cases[i].want);
	}
}

static const struct {
	const char *bytes;
	size_t n;
	bool multiline;
	const char *want;
} clean_cases[] = {
	{ T(""), false, "" },
	{ T("plain \"text\" <&>\\"), false, "plain \"text\" <&>\\" },
	{ T("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), false,
	    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ T("a\tb\nc"), true, "a\tb\nc" },
	{ T("a\tb\nc"), false, "a\\x09b\\x0ac" },
	{ T("a\rb"), true, "a\\x0db" },
	{ T("a\0b"), true, "a\\x00b" },
	{ T("\x1b[31mred"), true, "\\x1b[31mred" },
	{ T("\x7f\x1f\x01"), true, "\\x7f\\x1f\\x01" },
	/* C1 controls: an 8-bit CSI is an escape sequence too */
	{ T("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"), true,
	    "\\x80\\x9b\\x9f\xc2\xa0" },
	/* bidirectional marks, embeddings, overrides, isolates */
	{ T("\xd8\x9c"), true, "\\u{061c}" },
	{ T("\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90"), true,
	    "\xe2\x80\x8a\\u{200b}\\u{200f}\xe2\x80\x90" },
	{ T("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf"), true,
	    "\xe2\x80\xa7\\u{2028}\\u{202e}\xe2\x80\xaf" },
	{ T("\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa"), true,
	    "\\u{2066}\\u{2069}\xe2\x81\xaa" },
	{ T("\xef\xbb\xbfx"), true, "\\u{feff}x" },
	/* each byte that is no UTF-8 becomes one U+FFFD */
	{ T("a\xff\x80z"), true, "a\xef\xbf\xbd\xef\xbf\xbdz" },
	{ T("\xe2\x82"), true, "\xef\xbf\xbd\xef\xbf\xbd" },
	{ T("\xed\xa0\x80"), true, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ T("\xc2\x1b"), true, "\xef\xbf\xbd\\x1b" },
};

static void
hostile_text_is_made_harmless(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(clean_cases); i++) {
		struct buf b = BUF_INIT(1000);

		assert_int_equal(buf_add(&b, "", 0), 0);
		assert_int_equal(
		    text_clean(&b, clean_cases[i].bytes, clean_cases[i].n,
			clean_cases[i].multiline),
		    0);
		assert_string_equal(b.data, clean_cases[i].want);
		buf_release(&b);
	}
}

static bool
is_clean(const struct buf *b)
{
	for (size_t i = 0, n; i < b->len; i += n) {
		const unsigned char *p = (const unsigned char *)b->data + i;

		n = text_utf8(p, b->len - i);
		if (n == 0 || *p < 0x20 || *p == 0x7f)
			return false;
	}
	return true;
}

/* Whatever the input, the output is UTF-8 without controls. */
static void
every_pair_of_bytes_comes_out_clean(void **state)
{
	(void)state;
	for (unsigned pair = 0; pair < 65536; pair++) {
		char in[2] = { (char)(pair >> 8), (char)(pair & 0xff) };
		struct buf b = BUF_INIT(100);

		assert_int_equal(text_clean(&b, in, 2, false), 0);
		if (!is_clean(&b))
			fail_msg("pair %04x", pair);
		buf_release(&b);
	}
}

static void
text_that_grows_over_the_limit_is_a_failure(void **state)
{
	struct buf b = BUF_INIT(7);

	(void)state;
	assert_int_equal(text_clean(&b, "\x01\x02", 2, false), -1);
	assert_true(b.len <= 7);
	buf_release(&b);
}

static void
the_locale_decides_about_symbols(void **state)
{
	static const struct {
		const char *all, *ctype, *lang;
		bool want;
	} cases[] = {
		{ NULL, NULL, NULL, false },
		{ NULL, NULL, "C", false },
		{ NULL, NULL, "en_US.UTF-8", true },
		{ NULL, NULL, "de_DE.utf8", true },
		{ NULL, "C", "en_US.UTF-8", false },
		{ "C.UTF-8", "C", "C", true },
		{ "POSIX", NULL, "en_US.UTF-8", false },
		{ "", "", "C.UTF-8", true },
	};
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *const values[] = { cases[i].all, cases[i].ctype,
			cases[i].lang };

		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			assert_int_equal(values[k] != NULL
				? setenv(names[k], values[k], 1)
				: unsetenv(names[k]),
			    0);
		assert_int_equal(text_locale_is_utf8(), cases[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_shortest_forms_up_to_10ffff_are_utf8),
		cmocka_unit_test(hostile_text_is_made_harmless),
		cmocka_unit_test(every_pair_of_bytes_comes_out_clean),
		cmocka_unit_test(text_that_grows_over_the_limit_is_a_failure),
		cmocka_unit_test(the_locale_decides_about_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
