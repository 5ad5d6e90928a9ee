/* SPDX-License-Identifier: MIT */
/* What an engine's refusal means, and where the engine is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "docker.h"
#include "err.h"

static const struct {
	long status;
	const char *body;
	int exit;
	const char *text;
} refusal_cases[] = {
	{ 400, "{\"message\":\"bad parameter\"}", EX_CONFIG,
	    "create: engine says 400: bad parameter" },
	{ 409, "{\"message\":\"in use\"}", EX_CONFIG,
	    "create: engine says 409: in use" },
	{ 404, "{\"message\":\"no such image\"}\n", EX_NOINPUT,
	    "create: engine says 404: no such image" },
	{ 500, "{\"message\":\"oops\"}", EX_TEMPFAIL,
	    "create: engine says 500: oops" },
	{ 503, "<html>", EX_TEMPFAIL,
	    "create: engine says 503: no reason given" },
	{ 500, "", EX_TEMPFAIL, "create: engine says 500: no reason given" },
	{ 500, "[]", EX_TEMPFAIL, "create: engine says 500: no reason given" },
	{ 500, "{\"message\":7}", EX_TEMPFAIL,
	    "create: engine says 500: no reason given" },
	{ 301, "", EX_PROTOCOL, "create: engine says 301: no reason given" },
	{ 200, "", EX_PROTOCOL, "create: engine says 200: no reason given" },
	{ 400, "{\"message\":\"a\\u001b[31m\\nb\"}", EX_CONFIG,
	    "create: engine says 400: a\\x1b[31m\\x0ab" },
};

static void
a_refusal_says_who_can_help_in_clean_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refusal_cases); i++) {
		struct err e = { 0 };

		assert_int_equal(
		    docker_refusal("create", refusal_cases[i].status,
			refusal_cases[i].body, &e),
		    -1);
		assert_int_equal(e.exit, refusal_cases[i].exit);
		assert_int_equal(e.sys, 0);
		assert_string_equal(e.text, refusal_cases[i].text);
	}
}

static void
a_long_message_is_cut(void **state)
{
	static char body[10000];
	struct err e = { 0 };

	(void)state;
	(void)snprintf(body, sizeof(body), "{\"message\":\"%09000d\"}", 0);
	assert_int_equal(docker_refusal("create", 400, body, &e), -1);
	assert_in_range(strlen(e.text), 200, 300);
	/* Escaped it would be far longer than there is room for. */
	memset(body + 12, 0x7f, 9000);
	assert_int_equal(docker_refusal("create", 400, body, &e), -1);
	assert_in_range(strlen(e.text), 20, 400);
	assert_null(strchr(e.text, 0x7f));
}

static void
only_a_unix_socket_is_an_engine(void **state)
{
	static const struct {
		const char *host, *want;
	} cases[] = {
		{ NULL, "/var/run/docker.sock" },
		{ "", "/var/run/docker.sock" },
		{ "unix:///tmp/d.sock", "/tmp/d.sock" },
		{ "unix://relative", NULL },
		{ "unix://", NULL },
		{ "tcp://127.0.0.1:2375", NULL },
		{ "ssh://host", NULL },
		{ "/var/run/docker.sock", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { 0 };
		const char *got;

		assert_int_equal(cases[i].host != NULL
			? setenv("DOCKER_HOST", cases[i].host, 1)
			: unsetenv("DOCKER_HOST"),
		    0);
		got = docker_socket(&e);
		if (cases[i].want != NULL) {
			assert_string_equal(got, cases[i].want);
			continue;
		}
		assert_null(got);
		assert_int_equal(e.exit, EX_CONFIG);
		assert_non_null(strstr(e.text, cases[i].host));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_says_who_can_help_in_clean_words),
		cmocka_unit_test(a_long_message_is_cut),
		cmocka_unit_test(only_a_unix_socket_is_an_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
