/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/stream.c */
/* The engine's frames, however the network cuts them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "compiler.h"
#include "stream.h"

#define T(s) (s), sizeof(s) - 1

static const char frames[] = "\1\0\0\0\0\0\0\5hello"
			     "\2\0\0\0\0\0\0\4oops"
			     "\1\0\0\0\0\0\0\0"
			     "\2\0\0\0\0\0\0\0"
			     "\1\0\0\0\0\0\0\1\n"
			     "\2\0\0\0\0\0\0\2\0\1";
#define FRAMES (sizeof(frames) - 1)

struct taken {
	struct buf of[2];
	int stop_after; /* calls until out() says stop; 0: never */
};

static int
take(void *ctx, int which, const char *p, size_t n)
{
	struct taken *t = ctx;

	assert_in_range(which, 1, 2);
	assert_true(n > 0);
	assert_int_equal(buf_add(&t->of[which - 1], p, n), 0);
	return t->stop_after > 0 && --t->stop_after == 0 ? -1 : 0;
}

#define TAKEN_INIT                                     \
	{                                              \
		.of = { BUF_INIT(100), BUF_INIT(100) } \
	}

static void
is_all(struct taken *t, const struct stream *s)
{
	assert_true(stream_is_whole(s));
	assert_int_equal(t->of[0].len, 6);
	assert_memory_equal(t->of[0].data, "hello\n", 6);
	assert_int_equal(t->of[1].len, 6);
	assert_memory_equal(t->of[1].data, "oops\0\1", 6);
	buf_release(&t->of[0]);
	buf_release(&t->of[1]);
}

static void
frames_may_be_cut_at_any_two_places(void **state)
{
	(void)state;
	for (size_t i = 0; i <= FRAMES; i++) {
		for (size_t k = i; k <= FRAMES; k++) {
			struct taken t = TAKEN_INIT;
			struct stream s = { 0 };

			assert_int_equal(
			    stream_feed(&s, frames, i, take, &t), 0);
			assert_int_equal(
			    stream_feed(&s, frames + i, k - i, take, &t), 0);
			assert_int_equal(
			    stream_feed(&s, frames + k, FRAMES - k, take, &t),
			    0);
			is_all(&t, &s);
		}
	}
}

static void
frames_may_come_byte_by_byte(void **state)
{
	struct taken t = TAKEN_INIT;
	struct stream s = { 0 };

	(void)state;
	for (size_t i = 0; i < FRAMES; i++)
		assert_int_equal(stream_feed(&s, frames + i, 1, take, &t), 0);
	is_all(&t, &s);
}

static void
a_stream_is_whole_only_between_frames(void **state)
{
	static const size_t ends[] = { 0, 13, 25, 33, 41, 50, 60 };

	(void)state;
	for (size_t i = 0, next = 0; i <= FRAMES; i++) {
		struct taken t = TAKEN_INIT;
		struct stream s = { 0 };
		bool end = next < ARRAY_LEN(ends) && ends[next] == i;

		assert_int_equal(stream_feed(&s, frames, i, take, &t), 0);
		assert_int_equal(stream_is_whole(&s), end);
		next += end;
		buf_release(&t.of[0]);
		buf_release(&t.of[1]);
	}
}

static const struct {
	const char *bytes;
	size_t n;
} nonsense[] = {
	{ T("\0\0\0\0\0\0\0\1x") },
	{ T("\3\0\0\0\0\0\0\1x") },
	{ T("\xff\0\0\0\0\0\0\1x") },
	{ T("\1\1\0\0\0\0\0\1x") },
	{ T("\1\0\1\0\0\0\0\1x") },
	{ T("\1\0\0\1\0\0\0\1x") },
	{ T("\1\0\0\0\1\0\0\1x") }, /* one more than 16 MiB */
	{ T("\1\0\0\0\xff\xff\xff\xffx") },
	{ T("\2\0\0\0\x80\0\0\0x") },
	{ T("HTTP/1.1 500") },
	{ T("plain terminal output") },
};

static void
bytes_that_are_no_frame_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
		struct taken t = TAKEN_INIT;
		struct stream s = { 0 };

		errno = 0;
		assert_int_equal(
		    stream_feed(&s, nonsense[i].bytes, nonsense[i].n, take, &t),
		    -1);
		assert_int_equal(errno, EPROTO);
		assert_false(stream_is_whole(&s));
		assert_int_equal(t.of[0].len + t.of[1].len, 0);
	}
}

/* Not even when somebody goes on feeding does nonsense become payload. */
static void
a_refused_stream_stays_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
		struct taken t = TAKEN_INIT;
		struct stream s = { 0 };

		assert_int_equal(
		    stream_feed(&s, nonsense[i].bytes, nonsense[i].n, take, &t),
		    -1);
		errno = 0;
		assert_int_equal(stream_feed(&s, frames, FRAMES, take, &t), -1);
		assert_int_equal(errno, EPROTO);
		assert_int_equal(t.of[0].len + t.of[1].len, 0);
	}
}

static int
count(void *ctx, int which, const char *p, size_t n)
{
	(void)which;
	(void)p;
	*(size_t *)ctx += n;
	return 0;
}

static void
the_largest_frame_is_16_mib(void **state)
{
	static const char head[] = "\2\0\0\0\1\0\0\0";
	static const char zeros[4096];
	struct stream s = { 0 };
	size_t sum = 0;

	(void)state;
	assert_int_equal(stream_feed(&s, head, 8, count, &sum), 0);
	for (size_t i = 0; i < (16 << 20) / sizeof(zeros); i++) {
		assert_false(stream_is_whole(&s));
		assert_int_equal(
		    stream_feed(&s, zeros, sizeof(zeros), count, &sum), 0);
	}
	assert_true(stream_is_whole(&s));
	assert_int_equal(sum, 16 << 20);
}

static void
the_taker_can_stop_it(void **state)
{
	struct taken t = TAKEN_INIT;
	struct stream s = { 0 };

	(void)state;
	t.stop_after = 2;
	assert_int_equal(stream_feed(&s, frames, FRAMES, take, &t), -1);
	assert_int_equal(t.of[0].len, 5);
	assert_int_equal(t.of[1].len, 4);
	buf_release(&t.of[0]);
	buf_release(&t.of[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_may_be_cut_at_any_two_places),
		cmocka_unit_test(frames_may_come_byte_by_byte),
		cmocka_unit_test(a_stream_is_whole_only_between_frames),
		cmocka_unit_test(bytes_that_are_no_frame_are_refused),
		cmocka_unit_test(a_refused_stream_stays_refused),
		cmocka_unit_test(the_largest_frame_is_16_mib),
		cmocka_unit_test(the_taker_can_stop_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
