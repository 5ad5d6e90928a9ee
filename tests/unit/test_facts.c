/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/facts.c */
/* container.json: what is known, and null for what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "capture.h"
#include "err.h"
#include "facts.h"
#include "inside.h"
#include "json.h"
#include "torture.h"

static const char host_text[] =
    "{\"Memory\":2147483648,\"MemorySwap\":2147483648,"
    "\"NanoCpus\":1500000000,\"PidsLimit\":256,"
    "\"Tmpfs\":{\"/tmp\":\"rw,size=1\"},\"NetworkMode\":\"none\","
    "\"Runtime\":\"runc\",\"ReadonlyRootfs\":true}";

static const struct inside known = {
	.ready = 1,
	.exec_errno = -1,
	.exit = 3,
	.signal = 9,
	.peak_memory_bytes = 4096,
	.cpu_ms = 0,
	.throttled_ms = 2,
	.io_read_bytes = 3,
	.io_write_bytes = 4,
};

static const struct inside unknown = {
	.exec_errno = -1,
	.exit = -1,
	.signal = -1,
	.peak_memory_bytes = -1,
	.cpu_ms = -1,
	.throttled_ms = -1,
	.io_read_bytes = -1,
	.io_write_bytes = -1,
};

static const struct capture captured = {
	.file = { { .bytes = 100, .written = 50 },
	    { .bytes = 7, .written = 7 } },
};

static const struct capture nothing;

static const int answers[] = { 0, 0, 10, 0, 0, 2 };

static const struct facts_network relayed = {
	.source = "127.64.3.7",
	.requests = 12,
	.denied = 0,
	.answers = answers,
	.n_answers = 6,
	.log_from = 4096,
	.log_to = -1,
};

static const struct facts full = {
	.run = "007",
	.campaign = "c0ffee",
	.attempt = 2,
	.container = "abc",
	.image = "sha256:1",
	.image_name = "demo",
	.user = "1:1",
	.stdin_sha256 = "beef",
	.stop_by = "dockrun",
	.stop_why = "timeout",
	.exit_code = 137,
	.timeout_ms = 900000,
	.oom_killed = true,
	.started_ms = INT64_C(1795000000123),
	.duration_ms = 900500,
	.masked = 4,
	.inside = &known,
	.capture = &captured,
	.network = &relayed,
};

static const char full_text[] =
    "{\"_schema\":\"fz-container/1\",\"run\":\"007\",\"attempt\":2,"
    "\"campaign\":\"c0ffee\",\"container\":\"abc\","
    "\"image\":\"sha256:1\",\"image_name\":\"demo\",\"user\":\"1:1\","
    "\"exit_code\":137,\"signal\":9,\"exec_errno\":null,"
    "\"oom_killed\":true,"
    "\"stop\":{\"by\":\"dockrun\",\"why\":\"timeout\"},"
    "\"started_at\":\"2026-11-18T11:06:40Z\","
    "\"finished_at\":\"2026-11-18T11:21:40Z\","
    "\"started_ms\":1795000000123,\"duration_ms\":900500,"
    "\"timeout_ms\":900000,"
    "\"output\":{\"stdout_bytes\":100,\"stderr_bytes\":7,"
    "\"stdout_kept\":50,\"stderr_kept\":7},"
    "\"usage\":{\"peak_memory_bytes\":4096,\"cpu_ms\":0,"
    "\"throttled_ms\":2,\"io_read_bytes\":3,\"io_write_bytes\":4},"
    "\"limits\":{\"memory_bytes\":2147483648,"
    "\"memory_swap_bytes\":2147483648,\"nano_cpus\":1500000000,"
    "\"pids\":256,\"tmp\":\"rw,size=1\",\"network\":\"none\","
    "\"runtime\":\"runc\",\"readonly_rootfs\":true},"
    "\"network\":{\"source\":\"127.64.3.7\",\"requests\":12,"
    "\"denied\":0,\"answers\":{\"2\":10,\"5\":2},"
    "\"log_from\":4096,\"log_to\":null},"
    "\"masked\":4,\"stdin_sha256\":\"beef\"}";

static const char bare_text[] =
    "{\"_schema\":\"fz-container/1\",\"run\":\"001\",\"attempt\":1,"
    "\"campaign\":\"none\",\"container\":\"abc\","
    "\"image\":\"sha256:1\",\"image_name\":\"demo\",\"user\":\"1:1\","
    "\"exit_code\":0,\"signal\":null,\"exec_errno\":null,"
    "\"oom_killed\":false,\"stop\":null,"
    "\"started_at\":\"1970-01-01T00:00:00Z\","
    "\"finished_at\":\"1970-01-01T00:00:00Z\","
    "\"started_ms\":0,\"duration_ms\":0,\"timeout_ms\":1000,"
    "\"output\":{\"stdout_bytes\":0,\"stderr_bytes\":0,"
    "\"stdout_kept\":0,\"stderr_kept\":0},"
    "\"usage\":{\"peak_memory_bytes\":null,\"cpu_ms\":null,"
    "\"throttled_ms\":null,\"io_read_bytes\":null,"
    "\"io_write_bytes\":null},"
    "\"limits\":{\"memory_bytes\":null,\"memory_swap_bytes\":null,"
    "\"nano_cpus\":null,\"pids\":null,\"tmp\":null,\"network\":null,"
    "\"runtime\":null,\"readonly_rootfs\":false},\"network\":null,"
    "\"masked\":0,\"stdin_sha256\":null}";

static cJSON *
host_config(void)
{
	struct err e;
	cJSON *j = json_parse(host_text, sizeof(host_text) - 1, &e);

	assert_non_null(j);
	return j;
}

static void
is_rendered(const struct facts *f, const char *want)
{
	struct err e = { 0 };
	cJSON *j = facts_render(f, &e);
	char *text = cJSON_PrintUnformatted(j);

	assert_non_null(text);
	assert_string_equal(text, want);
	cJSON_free(text);
	cJSON_Delete(j);
}

static void
all_that_is_known_is_there(void **state)
{
	struct facts f = full;
	cJSON *host = host_config();

	(void)state;
	f.host = host;
	is_rendered(&f, full_text);
	cJSON_Delete(host);
}

static void
what_is_unknown_is_null_and_never_zero(void **state)
{
	struct facts f = { .run = "001",
		.campaign = "none",
		.attempt = 1,
		.container = "abc",
		.image = "sha256:1",
		.image_name = "demo",
		.user = "1:1",
		.timeout_ms = 1000,
		.inside = &unknown,
		.capture = &nothing };

	(void)state;
	is_rendered(&f, bare_text);
}

static void
what_must_be_known_cannot_be_left_out(void **state)
{
	struct facts f = full;
	struct err e = { 0 };

	(void)state;
	f.image = NULL;
	assert_null(facts_render(&f, &e));
	assert_int_equal(e.exit, EX_SOFTWARE);
	assert_string_equal(e.text, "cannot render container.json");
	f = full;
	f.stop_by = NULL;
	assert_null(facts_render(&f, &e));
	f = full;
	f.duration_ms = JSON_INT_MAX + 1;
	assert_null(facts_render(&f, &e));
}

static void
rendering_survives_every_failed_allocation(void **state)
{
	struct facts f = full;
	cJSON *host = host_config(), *j = NULL;

	(void)state;
	f.host = host;
	for (unsigned nth = 1; j == NULL; nth++) {
		struct err e = { 0 };

		assert_true(nth < TORTURE_MAX);
		torture_begin(nth);
		j = facts_render(&f, &e);
		torture_end();
		assert_int_equal(e.exit, j != NULL ? 0 : EX_SOFTWARE);
	}
	cJSON_Delete(j);
	cJSON_Delete(host);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_known_is_there),
		cmocka_unit_test(what_is_unknown_is_null_and_never_zero),
		cmocka_unit_test(what_must_be_known_cannot_be_left_out),
		cmocka_unit_test(rendering_survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
