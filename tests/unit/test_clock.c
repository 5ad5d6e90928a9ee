/* SPDX-License-Identifier: MIT */
/* The clocks and the hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include <cmocka.h>

#include "clock.h"
#include "compiler.h"
#include "err.h"
#include "scratch.h"
#include "sha256.h"

static const struct {
	int64_t ms;
	const char *want;
} text_cases[] = {
	{ 0, "1970-01-01T00:00:00Z" },
	{ 999, "1970-01-01T00:00:00Z" },
	{ 1000, "1970-01-01T00:00:01Z" },
	{ INT64_C(1795000000999), "2026-11-18T11:06:40Z" },
	{ INT64_C(951782400000), "2000-02-29T00:00:00Z" },
	{ INT64_C(4107542399000), "2100-02-28T23:59:59Z" },
	{ INT64_C(253402300799000), "9999-12-31T23:59:59Z" },
	{ INT64_C(253402300800000), "" }, /* no room for the year 10000 */
	{ INT64_MAX, "" },
};

static void
a_time_is_written_in_utc(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "America/New_York", 1), 0);
	tzset();
	for (size_t i = 0; i < ARRAY_LEN(text_cases); i++) {
		char text[CLOCK_TEXT];

		clock_text(text_cases[i].ms, text);
		assert_string_equal(text, text_cases[i].want);
	}
}

static void
clocks_count_milliseconds(void **state)
{
	int64_t mono = clock_mono_ms(), wall = clock_wall_ms();
	struct timespec pause = { .tv_nsec = 5000000 };
	time_t now = time(NULL);

	(void)state;
	assert_true(wall / 1000 >= now - 2 && wall / 1000 <= now + 2);
	assert_int_equal(nanosleep(&pause, NULL), 0);
	assert_in_range(clock_mono_ms() - mono, 4, 5000);
}

static void
a_hash_is_that_of_the_standard(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "",
		    "e3b0c44298fc1c149afbf4c8996fb924"
		    "27ae41e4649b934ca495991b7852b855" },
		{ "abc",
		    "ba7816bf8f01cfea414140de5dae2223"
		    "b00361a396177a9cb410ff61f20015ad" },
	};
	const struct scratch *s = *state;
	char path[100], out[SHA256_TEXT];
	struct err e = { 0 };

	(void)snprintf(path, sizeof(path), "%s/f", s->path);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(scratch_put(s, "f", cases[i].text), 0);
		assert_int_equal(sha256_file(path, out, &e), 0);
		assert_string_equal(out, cases[i].want);
	}
	(void)snprintf(path, sizeof(path), "%s/none", s->path);
	assert_int_equal(sha256_file(path, out, &e), -1);
	assert_int_equal(e.exit, EX_NOINPUT);
	assert_string_equal(e.text, path);
	assert_int_equal(sha256_file(s->path, out, &e), -1);
	assert_int_equal(e.exit, EX_IOERR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_written_in_utc),
		cmocka_unit_test(clocks_count_milliseconds),
		SCRATCH_TEST(a_hash_is_that_of_the_standard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
