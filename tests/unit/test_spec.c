/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/spec.c */
/*
 * What is asked of the engine, byte for byte.  After a wanted change,
 * "test_spec --print >tests/golden/create.json" writes the new one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "atfile.h"
#include "err.h"
#include "json.h"
#include "sample.h"
#include "scratch.h"
#include "torture.h"

static void
the_request_is_the_golden_one(void **state)
{
	struct buf want = BUF_INIT(100000);
	struct err e = { 0 };
	struct spec s;
	cJSON *j;
	char *text;

	(void)state;
	if (at_read(AT_FDCWD, "tests/golden/create.json", &want, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(sample_make(&s));
	j = spec_render(&s, &e);
	assert_non_null(j);
	text = cJSON_Print(j);
	assert_non_null(text);
	want.data[want.len - 1] = '\0'; /* the final newline */
	assert_string_equal(text, want.data);
	cJSON_free(text);
	cJSON_Delete(j);
	spec_release(&s);
	buf_release(&want);
}

static void
limits_are_the_ones_asked_for(void **state)
{
	struct err e = { 0 };
	struct spec s;
	cJSON *j;

	(void)state;
	assert_true(sample_make(&s));
	s.memory = 123456789;
	s.cpus_milli = 10;
	s.pids = 3;
	s.tmp_size = INT64_C(1) << 40;
	j = spec_render(&s, &e);
	assert_int_equal(json_at_int(j, "HostConfig.Memory"), 123456789);
	assert_int_equal(json_at_int(j, "HostConfig.MemorySwap"), 123456789);
	assert_int_equal(json_at_int(j, "HostConfig.NanoCpus"), 10000000);
	assert_int_equal(json_at_int(j, "HostConfig.PidsLimit"), 3);
	assert_non_null(strstr(
	    json_at_str(j, "HostConfig.Tmpfs./tmp"), "size=1099511627776,"));
	cJSON_Delete(j);
	spec_release(&s);
}

static void
what_json_cannot_carry_is_refused(void **state)
{
	struct err e = { 0 };
	struct spec s;

	(void)state;
	assert_true(sample_make(&s));
	s.memory = JSON_INT_MAX + 1;
	assert_null(spec_render(&s, &e));
	assert_int_equal(e.exit, EX_SOFTWARE);
	assert_string_equal(e.text, "cannot render the container's JSON");
	s.memory = 1 << 30;
	s.user = NULL;
	assert_null(spec_render(&s, &e));
	spec_release(&s);
}

static void
mounts_are_copied_and_released(void **state)
{
	char source[] = "/a", target[] = "/b";
	struct spec s = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(
		    mounts_add(&s.mounts, source, target, MOUNT_RW), 0);
	source[1] = target[1] = 'x';
	assert_string_equal(s.mounts.v[999].source, "/a");
	assert_string_equal(s.mounts.v[999].target, "/b");
	assert_int_equal(s.mounts.v[999].mode, MOUNT_RW);
	spec_release(&s);
	assert_int_equal(s.mounts.n, 0);
	spec_p(&s);
}

static void
rendering_survives_every_failed_allocation(void **state)
{
	struct spec s;
	cJSON *j = NULL;

	(void)state;
	assert_true(sample_make(&s));
	for (unsigned nth = 1; j == NULL; nth++) {
		struct err e = { 0 };

		assert_true(nth < TORTURE_MAX);
		torture_begin(nth);
		j = spec_render(&s, &e);
		torture_end();
		assert_int_equal(e.exit, j != NULL ? 0 : EX_SOFTWARE);
	}
	cJSON_Delete(j);
	spec_release(&s);
}

static int
print(void)
{
	struct err e;
	struct spec s;
	cJSON *j = sample_make(&s) ? spec_render(&s, &e) : NULL;
	char *text = cJSON_Print(j);
	int rc = text != NULL ? puts(text) : EOF;

	cJSON_free(text);
	cJSON_Delete(j);
	spec_release(&s);
	return rc < 0;
}

int
main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request_is_the_golden_one),
		cmocka_unit_test(limits_are_the_ones_asked_for),
		cmocka_unit_test(what_json_cannot_carry_is_refused),
		cmocka_unit_test(mounts_are_copied_and_released),
		cmocka_unit_test(rendering_survives_every_failed_allocation),
	};

	if (argc == 2 && strcmp(argv[1], "--print") == 0)
		return print();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
