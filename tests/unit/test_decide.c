/* SPDX-License-Identifier: MIT */
/* uses: tools/netpolicy/decide.c tools/netpolicy/policy.c */
/* uses: tools/netpolicy/check.c tools/netpolicy/words.c */
/* uses: tools/netpolicy/name.c */
/* What a policy answers, and which line it names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "decide.h"
#include "err.h"

static const char text[] =
    "api api.anthropic.com key=A_KEY POST /v1/messages GET /v1/models\n"
    "allow claude.ai\n"
    "allow .example.org port=8443\n"
    "allow .anthropic.com\n"
    "service db 5432 to 127.0.0.1:15432\n"
    "service db 5433 to unix:/run/x\n";

static const struct {
	const char *host;
	const char *method, *path;
	int line;
	int port;
	const char *rule; /* "-": allowed */
} cases[] = {
	/* tunnels */
	{ "claude.ai", NULL, NULL, 2, 443, "-" },
	{ "CLAUDE.ai.", NULL, NULL, 2, 443, "-" },
	{ "claude.ai:443", NULL, NULL, 2, 443, "-" },
	{ "claude.ai:80", NULL, NULL, 2, 80, "port" },
	{ "www.claude.ai", NULL, NULL, 0, 443, "name" },
	{ "claude.ai.evil.example", NULL, NULL, 0, 443, "name" },
	{ "evil.example:8443", NULL, NULL, 0, 8443, "name" },
	{ "example.org:8443", NULL, NULL, 3, 8443, "-" },
	{ "a.b.example.org:8443", NULL, NULL, 3, 8443, "-" },
	{ "a.example.org", NULL, NULL, 3, 443, "port" },
	{ "notexample.org:8443", NULL, NULL, 0, 8443, "name" },
	{ "claude.ai", "GET", "/x", 2, 443, "-" },
	{ "localhost", NULL, NULL, 0, 443, "name" },
	{ "quest-proxy:3128", NULL, NULL, 0, 3128, "name" },
	/* no address, however it is written */
	{ "1.2.3.4", NULL, NULL, 0, 443, "ip-literal" },
	{ "2130706433:443", NULL, NULL, 0, 443, "ip-literal" },
	{ "0x7f.1", NULL, NULL, 0, 443, "ip-literal" },
	{ "[::1]:443", NULL, NULL, 0, 443, "ip-literal" },
	{ "::1", NULL, NULL, 0, 443, "ip-literal" },
	/* the api host: by its gate, never by a tunnel, not even where a
	 * wildcard has its name */
	{ "api.anthropic.com", NULL, NULL, 1, 443, "api-host" },
	{ "api.anthropic.com", "CONNECT", "/", 1, 443, "api-host" },
	{ "console.anthropic.com", NULL, NULL, 4, 443, "-" },
	{ "api.anthropic.com", "POST", "/v1/messages", 1, 443, "-" },
	{ "api.anthropic.com", "POST", "/v1/messages?beta=true", 1, 443, "-" },
	{ "api.anthropic.com", "GET", "/v1/models", 1, 443, "-" },
	{ "api.anthropic.com:444", "GET", "/v1/models", 1, 444, "port" },
	{ "api.anthropic.com", "GET", "/v1/messages", 1, 443, "method-path" },
	{ "api.anthropic.com", "post", "/v1/messages", 1, 443, "method-path" },
	{ "api.anthropic.com", "POST", "/v1/messages/", 1, 443, "method-path" },
	{ "api.anthropic.com", "POST", "/v1/messages?", 1, 443, "method-path" },
	{ "api.anthropic.com", "POST", "/v1/messages?beta=false", 1, 443,
	    "method-path" },
	{ "api.anthropic.com", "POST", "/v1/%6dessages", 1, 443,
	    "method-path" },
	{ "api.anthropic.com", "POST", "//v1/messages", 1, 443, "method-path" },
	{ "api.anthropic.com", "POST", "/v1/messages/batches", 1, 443,
	    "method-path" },
	{ "api.anthropic.com", "POST", "", 1, 443, "method-path" },
	/* services */
	{ "db", NULL, NULL, 5, 5432, "-" },
	{ "db:5433", NULL, NULL, 6, 5433, "-" },
	{ "DB:80", NULL, NULL, 6, 80, "port" },
};

static void
the_line_that_decides_is_named(void **state)
{
	struct policy_errors es;
	struct policy p;
	struct err e;

	(void)state;
	assert_int_equal(policy_parse(text, strlen(text), &p, &es, &e), 0);
	assert_int_equal(es.n, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct decide_question q = { .method = cases[i].method,
			.path = cases[i].path };
		struct decide_answer a;

		assert_int_equal(decide_parse(cases[i].host, &q, &e), 0);
		a = decide(&p, &q);
		if (strcmp(a.rule, cases[i].rule) != 0)
			fail_msg("case %zu %s: %s", i, cases[i].host, a.rule);
		if (a.line != cases[i].line || a.port != cases[i].port)
			fail_msg("case %zu %s: line %d port %d", i,
			    cases[i].host, a.line, a.port);
		assert_int_equal(a.allow, cases[i].rule[0] == '-');
		assert_int_not_equal(a.why[0], '\0');
	}
	policy_release(&p);
}

static void
an_empty_policy_allows_nothing(void **state)
{
	struct policy p = { .allows = 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct decide_question q = { .method = cases[i].method,
			.path = cases[i].path };
		struct err e;

		assert_int_equal(decide_parse(cases[i].host, &q, &e), 0);
		assert_false(decide(&p, &q).allow);
	}
}

static void
what_can_be_no_host_is_a_mistake(void **state)
{
	static const char *const bad[] = { "", ".", ":443", "a.org:", "a.org:0",
		"a.org:65536", "a.org:x", "a b", "a_b", "-a", "a..b",
		"http://a.org", "a.org/x" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct decide_question q;
		struct err e;

		if (decide_parse(bad[i], &q, &e) == 0)
			fail_msg("\"%s\" was taken for a host", bad[i]);
		assert_int_equal(e.exit, EX_USAGE);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_that_decides_is_named),
		cmocka_unit_test(an_empty_policy_allows_nothing),
		cmocka_unit_test(what_can_be_no_host_is_a_mistake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
