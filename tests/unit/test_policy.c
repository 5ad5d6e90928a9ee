/* SPDX-License-Identifier: MIT */
/* uses: tools/netpolicy/policy.c tools/netpolicy/check.c */
/* uses: tools/netpolicy/words.c tools/netpolicy/name.c */
/* What is a host name, and what is a policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "err.h"
#include "policy.h"

#define L63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"

#define ADDRESS "is an IP address, not a name"
#define LETTERS "is not made of letters, digits, hyphens and dots"

static const struct {
	const char *text;
	const char *want; /* the name, when why is NULL */
	const char *why;
} patterns[] = {
	{ "claude.ai", "claude.ai", NULL },
	{ "Claude.AI", "claude.ai", NULL },
	{ ".Example.ORG", ".example.org", NULL },
	{ ".a.co.uk", ".a.co.uk", NULL },
	{ "xn--bcher-kva.example", "xn--bcher-kva.example", NULL },
	{ "1.2.3.example", "1.2.3.example", NULL },
	{ "0x7f.example", "0x7f.example", NULL },
	{ "a-b.c--d.org", "a-b.c--d.org", NULL },
	{ L63 ".org", L63 ".org", NULL },
	{ "user.github.io", "user.github.io", NULL },
	{ "", NULL, "is empty" },
	{ ".", NULL, "is empty" },
	{ "..", NULL, "ends with a dot; leave it out" },
	{ "a..org", NULL, "has an empty label" },
	{ "..a.org", NULL, "has an empty label" },
	{ "claude.ai.", NULL, "ends with a dot; leave it out" },
	{ "a" L63 ".org", NULL, "has a label of more than 63 characters" },
	{ L63 "." L63 "." L63 "." L63, NULL, "is longer than 253 characters" },
	{ "-a.org", NULL, "has a label that begins or ends with a hyphen" },
	{ "a-.org", NULL, "has a label that begins or ends with a hyphen" },
	{ "a_b.org", NULL, LETTERS },
	{ "*.org", NULL, LETTERS },
	{ "a.org/x", NULL, LETTERS },
	{ "user@a.org", NULL, LETTERS },
	{ "a.org\"", NULL, LETTERS },
	{ "localhost", NULL, "has no dot; a host needs its full name" },
	{ "com", NULL, "has no dot; a host needs its full name" },
	{ ".com", NULL, "would allow a whole top-level domain" },
	{ ".co.uk", NULL, "would allow names that anybody can register" },
	{ ".COM.au", NULL, "would allow names that anybody can register" },
	{ ".github.io", NULL, "would allow names that anybody can register" },
	/* an address in every spelling a resolver takes */
	{ "127.0.0.1", NULL, ADDRESS },
	{ "127.1", NULL, ADDRESS },
	{ "2130706433", NULL, ADDRESS },
	{ "0x7f.1", NULL, ADDRESS },
	{ "0x7F000001", NULL, ADDRESS },
	{ "0177.0.0.01", NULL, ADDRESS },
	{ "127.0.0.0x1", NULL, ADDRESS },
	{ "127.0.0.0X", NULL, ADDRESS },
	{ "1.2.3.4.", NULL, ADDRESS },
	{ ".10.0.0.1", NULL, ADDRESS },
	{ "[::1]", NULL, ADDRESS },
	{ "::1", NULL, ADDRESS },
	{ "fe80::1%eth0", NULL, ADDRESS },
	{ "::ffff:10.0.0.1", NULL, ADDRESS },
	{ "a.org:443", NULL, ADDRESS },
};

static void
names_are_names_and_nothing_else(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		const char *text = patterns[i].text, *why;
		char out[NAME_SIZE] = "untouched";

		why = name_parse_pattern(text, strlen(text), out);
		if (patterns[i].why == NULL && why != NULL)
			fail_msg("\"%s\" %s", text, why);
		if (patterns[i].why == NULL)
			assert_string_equal(out, patterns[i].want);
		else if (why == NULL || strcmp(why, patterns[i].why) != 0)
			fail_msg("\"%s\": %s", text, why ? why : "accepted");
	}
}

static void
a_leading_dot_means_the_name_and_all_below_it(void **state)
{
	(void)state;
	assert_true(name_matches("x.org", "x.org"));
	assert_false(name_matches("x.org", "a.x.org"));
	assert_false(name_matches("x.org", "xx.org"));
	assert_true(name_matches(".x.org", "x.org"));
	assert_true(name_matches(".x.org", "a.x.org"));
	assert_true(name_matches(".x.org", "a.b.x.org"));
	assert_false(name_matches(".x.org", "ax.org"));
	assert_false(name_matches(".x.org", "x.org.evil"));
	assert_false(name_matches(".x.org", "org"));
}

#define API "api a.org key=A_KEY POST /v1\n"

/* text, line of the first error, and that error. */
static const struct {
	const char *text;
	int line;
	const char *why;
} refused[] = {
	{ "deny a.org", 1,
	    "unknown word \"deny\"; a line begins with api, allow or service" },
	{ "\n# x\n\tAllow a.org", 3,
	    "unknown word \"Allow\"; a line begins with api, allow or "
	    "service" },
	{ "allow", 1, "allow needs a name" },
	{ "allow # a.org", 1, "allow needs a name" },
	{ "allow a.org b.org", 1, "unknown word \"b.org\" after allow a.org" },
	{ "allow a.org 443", 1, "unknown word \"443\" after allow a.org" },
	{ "allow a.org port=0", 1, "port \"0\" is not from 1 to 65535" },
	{ "allow a.org port=65536", 1,
	    "port \"65536\" is not from 1 to 65535" },
	{ "allow a.org port=0443", 1, "port \"0443\" is not from 1 to 65535" },
	{ "allow a.org port=", 1, "port \"\" is not from 1 to 65535" },
	{ "allow a.org port=44x", 1, "port \"44x\" is not from 1 to 65535" },
	{ "allow 10.0.0.1", 1, "\"10.0.0.1\" " ADDRESS },
	{ "allow .com", 1, "\".com\" would allow a whole top-level domain" },
	{ "allow a.org\nallow A.ORG", 2, "allow a.org is already on line 1" },
	{ "allow a.org\nallow .a.org", 1,
	    "allow a.org is covered by allow .a.org on line 2" },
	{ "allow .a.org\nallow b.a.org", 2,
	    "allow b.a.org is covered by allow .a.org on line 1" },
	{ "allow .a.org\nallow .c.b.a.org", 2,
	    "allow .c.b.a.org is covered by allow .a.org on line 1" },
	{ API "allow a.org", 2,
	    "a.org is the api host of line 1; a tunnel to it would carry "
	    "anybody's key" },
	{ "allow b\xc3\xa4.org", 1,
	    "byte 8 is 0xc3, which is not plain ASCII text" },
	{ "# \xe2\x80\xae", 1,
	    "byte 3 is 0xe2, which is not plain ASCII text" },
	{ "allow a.org\r\n", 1,
	    "byte 12 is 0x0d, which is not plain ASCII text" },
	{ "api", 1, "api needs a host" },
	{ "api 1.1.1.1 key=A_KEY GET /", 1, "\"1.1.1.1\" " ADDRESS },
	{ "api .a.org key=A_KEY GET /", 1, "\".a.org\" has an empty label" },
	{ "api a.org", 1,
	    "api needs key=NAME after its host, the environment variable that "
	    "has the key" },
	{ "api a.org key=A_KEY", 1,
	    "api needs what may be asked: METHOD /path ..." },
	{ "api a.org key=PATH GET /", 1,
	    "key=\"PATH\" is not a variable such as ANTHROPIC_API_KEY: "
	    "capitals, digits, underscores, ending in _KEY or _TOKEN" },
	{ "api a.org key=A_KEY port=1 GET /", 1,
	    "\"port=1\" is not a method: GET, HEAD, POST, PUT, PATCH or "
	    "DELETE, then a path" },
	{ "api a.org key=A_KEY CONNECT /", 1,
	    "\"CONNECT\" is not a method: GET, HEAD, POST, PUT, PATCH or "
	    "DELETE, then a path" },
	{ "api a.org key=A_KEY GET", 1,
	    "GET needs a plain path such as /v1/messages, not \"\"" },
	{ "api a.org key=A_KEY GET v1", 1,
	    "GET needs a plain path such as /v1/messages, not \"v1\"" },
	{ "api a.org key=A_KEY GET /../x", 1,
	    "GET needs a plain path such as /v1/messages, not \"/../x\"" },
	{ "api a.org key=A_KEY GET /a//b", 1,
	    "GET needs a plain path such as /v1/messages, not \"/a//b\"" },
	{ "api a.org key=A_KEY GET /a?b", 1,
	    "GET needs a plain path such as /v1/messages, not \"/a?b\"" },
	{ "api a.org key=A_KEY GET /.*", 1,
	    "GET needs a plain path such as /v1/messages, not \"/.*\"" },
	{ "api a.org key=A_KEY GET /a GET /a", 1, "GET /a is there twice" },
	{ API API, 2, "a second api; the first is on line 1" },
	{ "service db 5432 127.0.0.1:1", 1,
	    "a service is: service NAME PORT to 127.0.0.1:PORT, or to "
	    "unix:/PATH" },
	{ "service db 5432 to 10.0.0.1:1", 1,
	    "\"10.0.0.1:1\" is not a target: 127.0.0.1:PORT (or another "
	    "loopback address), or unix:/PATH" },
	{ "service db 5432 to localhost:1", 1,
	    "\"localhost:1\" is not a target: 127.0.0.1:PORT (or another "
	    "loopback address), or unix:/PATH" },
	{ "service db 5432 to unix:x", 1,
	    "\"unix:x\" is not a target: 127.0.0.1:PORT (or another loopback "
	    "address), or unix:/PATH" },
	{ "service db 5432 to unix:/a/../b", 1,
	    "\"unix:/a/../b\" is not a target: 127.0.0.1:PORT (or another "
	    "loopback address), or unix:/PATH" },
	{ "service db 70000 to 127.0.0.1:1", 1,
	    "port \"70000\" is not from 1 to 65535" },
	{ "service 1.2 1 to 127.0.0.1:1", 1, "\"1.2\" " ADDRESS },
	{ "service quest-proxy 1 to 127.0.0.1:1", 1,
	    "the name quest-proxy is taken" },
	{ "service LocalHost 1 to 127.0.0.1:1", 1,
	    "the name localhost is taken" },
	{ "service a.localhost 1 to 127.0.0.1:1", 1,
	    "the name a.localhost is taken" },
	{ "allow .a.org\nservice db.a.org 1 to 127.0.0.1:1", 2,
	    "db.a.org is a host that another line allows" },
	{ API "service a.org 1 to 127.0.0.1:1", 2,
	    "a.org is a host that another line allows" },
	{ "service db 1 to 127.0.0.1:1\nservice db 1 to 127.0.0.1:2", 2,
	    "service db 1 is already on line 1" },
};

static void
what_is_wrong_is_said_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		const char *text = refused[i].text;
		struct policy_errors es;
		struct policy p;
		struct err e;

		assert_int_equal(
		    policy_parse(text, strlen(text), &p, &es, &e), 0);
		if (es.n == 0)
			fail_msg("accepted: %s", text);
		if (es.e[0].line != refused[i].line)
			fail_msg("line %d: %s", es.e[0].line, text);
		assert_string_equal(es.e[0].text, refused[i].why);
		policy_release(&p);
	}
}

static void
a_nul_is_refused(void **state)
{
	static const char text[] = "allow a.org\0allow b.org";
	struct policy_errors es;
	struct policy p;
	struct err e;

	(void)state;
	assert_int_equal(policy_parse(text, sizeof(text) - 1, &p, &es, &e), 0);
	assert_int_equal(es.n, 1);
	assert_string_equal(
	    es.e[0].text, "byte 12 is 0x00, which is not plain ASCII text");
	policy_release(&p);
}

static void
a_good_policy_is_sorted_and_numbered(void **state)
{
	static const char text[] =
	    "api API.a.org port=8443 key=X_AUTH_TOKEN POST /v1 GET /v1\n"
	    "allow  z.org port=8443 # why\n"
	    "allow z.org\n"
	    "allow .b.org#\n"
	    "service db 2 to 127.0.0.1:15432\n"
	    "service cache 1 to unix:/run/x.sock\n"
	    "service db 1 to 127.9.9.9:1";
	struct policy_errors es;
	struct policy p;
	struct err e;

	(void)state;
	assert_int_equal(policy_parse(text, sizeof(text) - 1, &p, &es, &e), 0);
	assert_int_equal(es.n, 0);
	assert_string_equal(p.api.host, "api.a.org");
	assert_int_equal(p.api.port, 8443);
	assert_int_equal(p.api.pairs, 2);
	assert_true(policy_is_bearer(&p.api));
	assert_int_equal(p.allows, 3);
	assert_string_equal(p.allow[0].name, ".b.org");
	assert_int_equal(p.allow[1].port, 443);
	assert_int_equal(p.allow[2].port, 8443);
	assert_int_equal(p.allow[2].line, 2);
	assert_int_equal(p.services, 3);
	assert_string_equal(p.service[0].name, "cache");
	assert_int_equal(p.service[0].number, 2);
	assert_int_equal(p.service[1].number, 3);
	assert_int_equal(p.service[1].port, 1);
	assert_int_equal(p.service[2].number, 3);
	policy_release(&p);
}

/* A file of n lines that differ by a number. */
static void
parse_many(const char *before, const char *after, int n, struct policy *p,
    struct policy_errors *es)
{
	struct buf b = BUF_INIT(64 << 20);
	struct err e;

	for (int i = 0; i < n; i++) {
		char text[64];
		int len =
		    snprintf(text, sizeof(text), "%s%d%s\n", before, i, after);

		assert_int_equal(buf_add(&b, text, (size_t)len), 0);
	}
	assert_int_equal(policy_parse(b.data, b.len, p, es, &e), 0);
	buf_release(&b);
}

static void
there_are_limits(void **state)
{
	struct policy_errors es;
	struct policy p;
	char text[POLICY_LINE + 3];
	struct err e;

	(void)state;
	parse_many("allow a", ".org", POLICY_LINES, &p, &es);
	assert_int_equal(es.n, 0);
	assert_int_equal(p.allows, POLICY_LINES);
	policy_release(&p);
	parse_many("allow a", ".org", 100000, &p, &es);
	assert_int_equal(es.n, 1);
	assert_int_equal(es.e[0].line, POLICY_LINES + 1);
	assert_string_equal(es.e[0].text, "more than 10000 lines");
	policy_release(&p);
	parse_many("nonsense", "", 100, &p, &es);
	assert_int_equal(es.n, 100);
	assert_int_equal(es.e[POLICY_ERRORS - 1].line, POLICY_ERRORS);
	policy_release(&p);
	parse_many("service s", " 1 to 127.0.0.1:1", 251, &p, &es);
	assert_int_equal(es.n, 1);
	assert_string_equal(es.e[0].text, "more than 250 services");
	policy_release(&p);
	memset(text, ' ', sizeof(text));
	assert_int_equal(policy_parse(text, POLICY_LINE, &p, &es, &e), 0);
	assert_int_equal(es.n, 0);
	policy_release(&p);
	assert_int_equal(policy_parse(text, POLICY_LINE + 1, &p, &es, &e), 0);
	assert_string_equal(es.e[0].text, "the line is longer than 1024 bytes");
	policy_release(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_names_and_nothing_else),
		cmocka_unit_test(a_leading_dot_means_the_name_and_all_below_it),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(a_nul_is_refused),
		cmocka_unit_test(a_good_policy_is_sorted_and_numbered),
		cmocka_unit_test(there_are_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
