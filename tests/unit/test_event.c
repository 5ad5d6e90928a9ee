/* SPDX-License-Identifier: MIT */
/* uses: tools/fzlog/event.c */
/* What people see of a stream, whoever wrote it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler.h"
#include "event.h"
#include "text.h"

/* A line of one's own each time: it may be changed. */
static const char *
shown(struct events *ev, const char *line)
{
	static char text[8192];
	AUTO(buf_release) struct buf b = BUF_INIT(sizeof(text) - 1);
	char *copy = strdup(line);

	assert_non_null(copy);
	assert_int_equal(events_add(ev, &b, copy, strlen(copy)), 0);
	free(copy);
	memcpy(text, b.len > 0 ? b.data : "", b.len + 1);
	return text;
}

#define X10   "0123456789"
#define X100  X10 X10 X10 X10 X10 X10 X10 X10 X10 X10
#define X1000 X100 X100 X100 X100 X100 X100 X100 X100 X100 X100

static const struct {
	const char *line, *want;
} cases[] = {
	{ "plain text", "plain text\n" },
	{ "with a\ttab\r", "with a\ttab\n" },
	{ "red \033[31m", "red \\x1b[31m\n" },
	{ "bad \xff byte", "bad \xef\xbf\xbd byte\n" },
	{ X1000, X1000 "\n" },
	{ X1000 "x", NULL }, /* cut */
	{ "{no json", "{no json\n" },
	{ "{\"type\":\"unheard of\"}", "{\"type\":\"unheard of\"}\n" },
	{ "{\"type\":5}", "{\"type\":5}\n" },
	{ "{}", "{}\n" },
	{ "{\"type\":\"stream_event\",\"event\":{}}", "" },
	{ "{\"type\":\"assistant\"}", "" },
	{ "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":["
	  "{\"type\":\"text\",\"text\":\"\\n one\\ntwo\"},{\"type\":\"new\"},"
	  "7,{\"type\":\"thinking\",\"thinking\":\"hm\"},"
	  "{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{\"timeout\":1,"
	  "\"description\":\"d\",\"command\":\"ls\"}},"
	  "{\"type\":\"tool_use\",\"input\":\"x\"}]}}",
	    "           1 says   one...\n"
	    "           1 think  hm\n"
	    "           1 tool   Bash ls\n"
	    "           1 tool   ? \n" },
	{ "{\"type\":\"assistant\",\"timestamp\":\"2026-11-18T06:03:22.1Z\","
	  "\"message\":{\"model\":\"<synthetic>\",\"content\":\"oh\"}}",
	    "06:03:22     error  oh\n" },
	{ "{\"type\":\"assistant\",\"timestamp\":\"2026-11-18T\\u001b[2J.....\""
	  ",\"message\":{\"model\":\"m\",\"content\":\"\\u001b[2J\"}}",
	    "           1 says   \\x1b[2J\n" },
	{ "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
	  "\"tool_result\",\"content\":[{\"type\":\"image\"},{\"type\":"
	  "\"text\",\"text\":\"t\"}]},{\"type\":\"tool_result\","
	  "\"is_error\":true,\"content\":\"no\\u0000\"}]}}",
	    "             gave   t\n"
	    "             failed no\xef\xbf\xbd\n" },
	{ "{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":1,"
	  "\"max_retries\":2,\"error_status\":null,\"error\":\"unknown\"}",
	    "             retry  API error ? (unknown), try 1 of 2\n" },
	{ "{\"type\":\"result\"}",
	    "             end    unknown: ? turns, unknown cost\n" },
	{ "{\"type\":\"result\",\"terminal_reason\":\"a\\u202eb\","
	  "\"num_turns\":3,\"total_cost_usd\":0.0348,\"result\":\"x\"}",
	    "             end    a\\u{202e}b: 3 turns, 0.0348 USD: x\n" },
};

static void
each_kind_of_line_is_shown(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct events ev = { 0 };
		const char *got = shown(&ev, cases[i].line);

		print_message("# case %zu\n", i);
		if (cases[i].want != NULL)
			assert_string_equal(got, cases[i].want);
		else
			assert_string_equal(got + 997, "...\n");
	}
}

/* Several lines of a stream may be one message, which is one turn. */
static void
turns_are_messages(void **state)
{
	static const struct {
		const char *id;
		long long turn;
	} steps[] = { { "a", 1 }, { "a", 1 }, { "b", 2 }, { "a", 3 } };
	struct events ev = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		char line[128];

		(void)snprintf(line, sizeof(line),
		    "{\"type\":\"assistant\",\"message\":{\"id\":\"%s\","
		    "\"model\":\"m\",\"content\":\"x\"}}",
		    steps[i].id);
		(void)shown(&ev, line);
		assert_int_equal(ev.turn, steps[i].turn);
	}
}

static size_t
characters(const char *s, size_t len)
{
	size_t chars = 0;

	for (size_t i = 0, n; i < len; i += n, chars++) {
		n = text_utf8((const unsigned char *)s + i, len - i);
		assert_true(n > 0);
	}
	return chars;
}

/* Cut between characters, after they were made harmless. */
static void
events_are_no_wider_than_they_should(void **state)
{
	static const char *const pieces[] = { "x", "\xc3\xa9", "\xe6\xbc\xa2",
		"\xf0\x9f\x98\x80", "\\u001b", "\\u202e", "\\t" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		struct events ev = { 0 };
		char line[4096] = "{\"type\":\"assistant\",\"message\":"
				  "{\"model\":\"m\",\"content\":\"x";
		size_t len = strlen(line), one = strlen(pieces[i]);
		const char *got;

		for (int k = 0; k < 300; k++, len += one)
			memcpy(line + len, pieces[i], one + 1);
		memcpy(line + len, "\"}}", 4);
		got = shown(&ev, line);
		assert_int_equal(characters(got, strlen(got) - 1), EVENT_WIDTH);
		assert_string_equal(got + strlen(got) - 4, "...\n");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_line_is_shown),
		cmocka_unit_test(turns_are_messages),
		cmocka_unit_test(events_are_no_wider_than_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
