/* SPDX-License-Identifier: MIT */
/* The small containers: bytes, lists of strings, reasons. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "buf.h"
#include "err.h"
#include "strv.h"

static void
bytes_grow_to_the_limit_and_not_beyond(void **state)
{
	struct buf b = BUF_INIT(5);

	(void)state;
	assert_int_equal(buf_add(&b, "", 0), 0);
	assert_string_equal(b.data, "");
	assert_int_equal(buf_add(&b, "abc", 3), 0);
	errno = 0;
	assert_int_equal(buf_add(&b, "def", 3), -1);
	assert_int_equal(errno, EFBIG);
	assert_string_equal(b.data, "abc");
	assert_int_equal(buf_add(&b, "de", 2), 0);
	assert_string_equal(b.data, "abcde");
	assert_int_equal(b.len, 5);
	assert_int_equal(buf_add(&b, "", 0), 0);
	assert_int_equal(buf_add(&b, "x", 1), -1);
	assert_int_equal(buf_add(&b, "x", SIZE_MAX), -1);
	buf_release(&b);
	assert_null(b.data);
	assert_int_equal(b.len, 0);
	assert_int_equal(b.max, 5);
	assert_int_equal(buf_add(&b, "again", 5), 0);
	buf_release(&b);
	buf_release(&b);
}

static void
bytes_may_be_any_and_stay_terminated(void **state)
{
	struct buf b = BUF_INIT(100000);
	char c;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		c = (char)i;
		assert_int_equal(buf_add(&b, &c, 1), 0);
		assert_int_equal(b.data[b.len], 0);
	}
	for (int i = 0; i < 100000; i++)
		assert_int_equal(b.data[i], (char)i);
	buf_release(&b);
}

static void
nothing_fits_where_the_limit_is_zero(void **state)
{
	struct buf b = BUF_INIT(0);

	(void)state;
	assert_int_equal(buf_add(&b, "x", 1), -1);
	assert_int_equal(buf_add(&b, "", 0), 0);
	assert_string_equal(b.data, "");
	buf_release(&b);
}

static void
a_list_owns_copies_and_ends_with_null(void **state)
{
	struct strv l = { 0 };
	char word[] = "one";

	(void)state;
	assert_int_equal(strv_add(&l, word), 0);
	word[0] = 'X';
	assert_int_equal(strv_addf(&l, "%s=%d", "two", 2), 0);
	assert_int_equal(strv_add(&l, ""), 0);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.v[0], "one");
	assert_string_equal(l.v[1], "two=2");
	assert_string_equal(l.v[2], "");
	assert_null(l.v[3]);
	strv_release(&l);
	assert_null(l.v);
	assert_int_equal(l.n, 0);
	strv_release(&l);
}

static void
a_list_has_room_for_many(void **state)
{
	struct strv l = { 0 };

	(void)state;
	for (int i = 0; i < 5000; i++)
		assert_int_equal(strv_addf(&l, "%d", i), 0);
	assert_string_equal(l.v[4999], "4999");
	assert_null(l.v[5000]);
	strv_release(&l);
}

static void
a_reason_says_what_and_which_errno(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_set(&e, EX_USAGE, "\"%s\" %d", "x", 7), -1);
	assert_string_equal(e.text, "\"x\" 7");
	assert_int_equal(e.exit, EX_USAGE);
	assert_int_equal(e.sys, 0);
	errno = ENOSPC;
	assert_int_equal(err_sys(&e, EX_IOERR, "write %s", "f"), -1);
	assert_int_equal(e.sys, ENOSPC);
	assert_int_equal(err_wrap(&e, "run %s", "007"), -1);
	assert_string_equal(e.text, "run 007: write f");
	assert_int_equal(e.sys, ENOSPC);
	assert_int_equal(e.exit, EX_IOERR);
}

static void
a_reason_too_long_is_cut_and_terminated(void **state)
{
	char longer[2000];
	struct err e;

	(void)state;
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	err_set(&e, 1, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	err_wrap(&e, "context");
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_memory_equal(e.text, "context: aaa", 12);
	err_wrap(&e, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	/* One byte of room: the colon goes, the end stays an end. */
	longer[sizeof(e.text) - 2] = '\0';
	err_set(&e, 1, "inner");
	err_wrap(&e, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_int_equal(e.text[sizeof(e.text) - 2], ':');
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_grow_to_the_limit_and_not_beyond),
		cmocka_unit_test(bytes_may_be_any_and_stay_terminated),
		cmocka_unit_test(nothing_fits_where_the_limit_is_zero),
		cmocka_unit_test(a_list_owns_copies_and_ends_with_null),
		cmocka_unit_test(a_list_has_room_for_many),
		cmocka_unit_test(a_reason_says_what_and_which_errno),
		cmocka_unit_test(a_reason_too_long_is_cut_and_terminated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
