/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/proxylog.c */
/* A session's lines in the proxy's log: all of them, and no other's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxylog.h"
#include "scratch.h"
#include "squidlog.h"

#define REST " sni=- bump=- ms=5 up=10 down=20\n"
#define LINE(client, method, status, result)                            \
	"1795000000.123 port=8080 client=" client " method=" method     \
	" target=http://a/v1/messages status=" status " result=" result \
	" rule=-" REST
#define ANSWER(status) LINE(ME, "POST", status, "TCP_MISS")
#define GOOD(client)   LINE(client, "POST", "200", "TCP_MISS")
#define DENIED(client) LINE(client, "POST", "403", "TCP_DENIED")
#define ME	       "127.64.3.7"

static char path[100];

static void
append(const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, n), n);
	(void)close(fd);
}

static void
say(const char *text)
{
	append(text, strlen(text));
}

/* A log with a line of an earlier session of the same address. */
static struct proxylog
begun(const struct scratch *s)
{
	struct proxylog l;

	(void)snprintf(path, sizeof(path), "%s/access.log", s->path);
	say(DENIED(ME));
	proxylog_begin(&l, path);
	assert_int_equal(l.from, strlen(DENIED(ME)));
	assert_int_equal(l.to, -1);
	return l;
}

static void
is_counted(const struct proxylog *l, int requests, int denied)
{
	assert_int_equal(l->requests, requests);
	assert_int_equal(l->denied, denied);
}

static void
is_unknown(struct proxylog *l)
{
	proxylog_count(l, ME, PROXYLOG_MAX);
	is_counted(l, -1, -1);
	assert_int_equal(l->to, -1);
}

static void
only_its_own_new_lines_are_counted(void **state)
{
	struct proxylog l = begun(*state);

	proxylog_count(&l, ME, PROXYLOG_MAX);
	is_counted(&l, 0, 0);
	assert_int_equal(l.to, l.from);
	say(GOOD(ME) DENIED("127.64.3.70") DENIED(ME) GOOD("27.64.3.7"));
	proxylog_count(&l, ME, PROXYLOG_MAX);
	is_counted(&l, 2, 1);
}

static void
answers_of_the_api_are_counted(void **state)
{
	struct proxylog l = begun(*state);

	say(ANSWER("200") ANSWER("429") ANSWER("502") ANSWER("401")
		ANSWER("200") DENIED(ME) LINE(ME, "POST", "400", "NONE_NONE")
		    LINE(ME, "CONNECT", "200", "TCP_TUNNEL")
			LINE(ME, "CONNECT", "503", "TCP_TUNNEL"));
	proxylog_count(&l, ME, PROXYLOG_MAX);
	for (int i = 0; i < PROXYLOG_STATUS; i++)
		assert_int_equal(l.answers[i],
		    i == 200 ? 2 : i == 429 || i == 502 || i == 401);
}

static void
half_a_line_and_nonsense_are_not_counted(void **state)
{
	struct proxylog l = begun(*state);
	int64_t whole;

	say("client=" ME " result=TCP_DENIED\n\n\n");
	append("\0\xff\n", 3);
	say(GOOD(ME));
	proxylog_count(&l, ME, PROXYLOG_MAX);
	whole = l.to;
	append(DENIED(ME), strlen(DENIED(ME)) - 1);
	proxylog_count(&l, ME, PROXYLOG_MAX);
	is_counted(&l, 1, 0);
	assert_int_equal(l.to, whole);
	say("\n");
	proxylog_count(&l, ME, PROXYLOG_MAX);
	is_counted(&l, 2, 1);
}

static void
a_line_without_end_hides_no_other(void **state)
{
	static char big[5 * SQUIDLOG_LINE_MAX];
	struct proxylog l = begun(*state);
	struct stat st;

	memset(big, 'x', sizeof(big));
	say(DENIED(ME));
	append(big, sizeof(big));
	say(" " DENIED(ME) DENIED(ME));
	proxylog_count(&l, ME, PROXYLOG_MAX);
	is_counted(&l, 2, 2);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(l.to, st.st_size);
}

static void
lines_are_found_wherever_a_read_cuts_them(void **state)
{
	struct proxylog l = begun(*state);

	for (int i = 0; i < 4000; i++)
		say(i % 4 == 0 ? DENIED(ME) : GOOD("127.64.0.1"));
	proxylog_count(&l, ME, PROXYLOG_MAX);
	is_counted(&l, 1000, 1000);
}

static void
too_much_is_not_read(void **state)
{
	struct proxylog l = begun(*state);

	say(GOOD(ME) GOOD(ME));
	proxylog_count(&l, ME, 10);
	is_counted(&l, -1, -1);
	assert_int_equal(l.to, -1);
}

static void
another_log_is_not_ours(void **state)
{
	const struct scratch *s = *state;
	struct proxylog l = begun(s);
	char old[120];

	assert_int_equal(truncate(path, 3), 0);
	is_unknown(&l);
	(void)snprintf(old, sizeof(old), "%s.0", path);
	assert_int_equal(rename(path, old), 0);
	is_unknown(&l);
	for (int i = 0; i < 9; i++)
		say(GOOD(ME));
	is_unknown(&l);
}

static void
without_a_log_nothing_is_known(void **state)
{
	const struct scratch *s = *state;
	struct proxylog l;

	proxylog_begin(&l, NULL);
	is_unknown(&l);
	(void)snprintf(path, sizeof(path), "%s/none", s->path);
	proxylog_begin(&l, path);
	assert_int_equal(l.from, -1);
	is_unknown(&l);
	proxylog_begin(&l, s->path);
	is_unknown(&l);
	assert_int_equal(mkfifo(path, 0600), 0);
	proxylog_begin(&l, path);
	is_unknown(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(only_its_own_new_lines_are_counted),
		SCRATCH_TEST(answers_of_the_api_are_counted),
		SCRATCH_TEST(half_a_line_and_nonsense_are_not_counted),
		SCRATCH_TEST(a_line_without_end_hides_no_other),
		SCRATCH_TEST(lines_are_found_wherever_a_read_cuts_them),
		SCRATCH_TEST(too_much_is_not_read),
		SCRATCH_TEST(another_log_is_not_ours),
		SCRATCH_TEST(without_a_log_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
