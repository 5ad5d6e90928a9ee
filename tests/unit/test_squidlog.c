/* SPDX-License-Identifier: MIT */
/* Lines of the proxy's log, as squid 5.7 wrote them and as nobody did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "squidlog.h"

#define HEAD "1795015205.361 port=8080 client=127.64.3.7 "
#define TAIL " ms=4 up=121 down=191"

static const struct {
	const char *line;
	bool denied;
	bool request;
} good[] = {
	{ HEAD "method=POST target=http://api.x.org/v1/messages status=200 "
	       "result=TCP_MISS rule=- sni=- bump=-" TAIL,
	    false, true },
	{ HEAD "method=POST target=http://api.x.org/v1/files status=403 "
	       "result=TCP_DENIED rule=method-path sni=- bump=-" TAIL,
	    true, true },
	{ HEAD "method=CONNECT target=a.org:443 status=403 "
	       "result=TCP_DENIED_ABORTED rule=name sni=- bump=-" TAIL,
	    true, true },
	/* the two halves of a tunnel, then of one with another name in it */
	{ "1795015205.361 port=3128 client=127.64.3.7 method=CONNECT "
	  "target=claude.ai:443 status=200 result=TCP_TUNNEL rule=- sni=- "
	  "bump=-" TAIL,
	    false, true },
	{ "1795015205.361 port=3129 client=127.64.3.7 method=CONNECT "
	  "target=claude.ai:443 status=200 result=NONE_NONE rule=- "
	  "sni=claude.ai bump=splice" TAIL,
	    false, false },
	{ "1795015205.361 port=3129 client=127.64.3.7 method=CONNECT "
	  "target=claude.ai:443 status=200 result=NONE_NONE rule=sni "
	  "sni=evil.example bump=terminate" TAIL,
	    true, false },
	/* what the api refuses is not refused by us */
	{ HEAD "method=POST target=http://api.x.org/v1/messages status=403 "
	       "result=TCP_MISS rule=- sni=- bump=-" TAIL,
	    false, true },
	/* CONNECT at the gate */
	{ "1795015205.519 port=- client=127.64.3.7 method=CONNECT "
	  "target=error:method-not-allowed status=405 result=NONE_NONE rule=- "
	  "sni=- bump=- ms=0 up=2 down=1548",
	    true, true },
	/* a connection that asked for nothing */
	{ "1795015205.519 port=- client=127.64.3.7 method=- "
	  "target=error:transaction-end-before-headers status=0 "
	  "result=NONE_NONE rule=- sni=- bump=- ms=0 up=2 down=0",
	    false, false },
	/* a target that looks like the rest of a line is one word */
	{ HEAD "method=POST target=/%20status=200%20rule=- status=403 "
	       "result=TCP_DENIED rule=token sni=- bump=-" TAIL,
	    true, true },
};

static void
lines_of_squid_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct squidlog l;

		if (squidlog_parse(good[i].line, strlen(good[i].line), &l) < 0)
			fail_msg("case %zu is not read", i);
		if (squidlog_is_denied(&l) != good[i].denied)
			fail_msg("case %zu: denied", i);
		if (squidlog_is_request(&l) != good[i].request)
			fail_msg("case %zu: request", i);
		assert_true(squidlog_is_from(&l, "127.64.3.7"));
		assert_false(squidlog_is_from(&l, "127.64.3.70"));
		assert_false(squidlog_is_from(&l, "127.64.3"));
	}
}

static void
every_field_is_where_it_belongs(void **state)
{
	const char *line = good[5].line;
	struct squidlog l;

	(void)state;
	assert_int_equal(squidlog_parse(line, strlen(line), &l), 0);
	assert_int_equal(l.time_ms, INT64_C(1795015205361));
	assert_int_equal(l.port, 3129);
	assert_int_equal(l.status, 200);
	assert_int_equal(l.ms, 4);
	assert_int_equal(l.up, 121);
	assert_int_equal(l.down, 191);
	assert_int_equal(l.method.n, strlen("CONNECT"));
	assert_memory_equal(l.target.p, "claude.ai:443", l.target.n);
	assert_memory_equal(l.result.p, "NONE_NONE", l.result.n);
	assert_memory_equal(l.rule.p, "sni", l.rule.n);
	assert_memory_equal(l.sni.p, "evil.example", l.sni.n);
	assert_memory_equal(l.bump.p, "terminate", l.bump.n);
}

#define REST                                                                    \
	"method=GET target=/ status=403 result=TCP_DENIED rule=- sni=- bump=- " \
	"ms=4 up=1 down=1"

static const char *const bad[] = {
	"",
	" ",
	"x",
	HEAD REST " ",
	" " HEAD REST,
	HEAD " " REST,
	HEAD REST " more=1",
	"1795015205 port=1 client=a " REST,
	"-1.361 port=1 client=a " REST,
	"1795015205.36 port=1 client=a " REST,
	"9999999999999999.361 port=1 client=a " REST,
	"1795015205.361 port= client=a " REST,
	"1795015205.361 port=x client=a " REST,
	"1795015205.361 port=1 client= " REST,
	"1795015205.361 client=a port=1 " REST,
	HEAD "method=GET target=/ status=403 result=TCP_DENIED rule=- sni=- "
	     "bump=- ms=4 up=1 down=-1",
	HEAD "method=GET target=/a b status=403 result=TCP_DENIED rule=- sni=- "
	     "bump=- ms=4 up=1 down=1",
	HEAD "method=GET target= status=403 result=TCP_DENIED rule=- sni=- "
	     "bump=- ms=4 up=1 down=1",
	HEAD "method=GET target=/ status=403 result=TCP_DENIED rule=- sni=- "
	     "bump=- ms=4 up=1 down=9999999999999999",
};

static void
anything_else_is_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct squidlog l;

		if (squidlog_parse(bad[i], strlen(bad[i]), &l) == 0)
			fail_msg("read: %s", bad[i]);
	}
}

/* No beginning of a line is a line. */
static void
a_cut_line_is_none(void **state)
{
	const char *line = good[0].line;
	struct squidlog l;
	size_t whole = strlen(line) - strlen("91"); /* down=1 is a number */

	(void)state;
	for (size_t n = 0; n < whole; n++)
		assert_int_equal(squidlog_parse(line, n, &l), -1);
}

static void
an_endless_line_is_refused(void **state)
{
	static const char head[] = HEAD "method=GET target=/";
	static const char tail[] = " status=403 result=TCP_DENIED rule=- "
				   "sni=- bump=- ms=4 up=1 down=1";
	static char line[SQUIDLOG_LINE_MAX + 1];
	struct squidlog l;
	size_t n = sizeof(line);

	(void)state;
	memset(line, 'a', n);
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + n - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	assert_int_equal(squidlog_parse(line, n, &l), -1);
	memmove(
	    line + sizeof(head), line + sizeof(head) + 1, n - sizeof(head) - 1);
	assert_int_equal(squidlog_parse(line, n - 1, &l), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_squid_are_read),
		cmocka_unit_test(every_field_is_where_it_belongs),
		cmocka_unit_test(anything_else_is_not),
		cmocka_unit_test(a_cut_line_is_none),
		cmocka_unit_test(an_endless_line_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
