/* SPDX-License-Identifier: MIT */
/* Relays between real sockets: every byte, and no work without one. */
#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "relaylab.h"

static void
parses_addresses(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "127.0.0.1:8080", NULL },
		{ "127.64.3.7:1", NULL },
		{ "127.255.255.254:65535", NULL },
		{ "unix:/run/x.sock", NULL },
		{ "127.0.0.1", "has no port" },
		{ "", "has no port" },
		{ "127.0.0.1:", "has no port from 1 to 65535" },
		{ "127.0.0.1:0", "has no port from 1 to 65535" },
		{ "127.0.0.1:080", "has no port from 1 to 65535" },
		{ "127.0.0.1:65536", "has no port from 1 to 65535" },
		{ "127.0.0.1:4294967297", "has no port from 1 to 65535" },
		{ "127.0.0.1:+1", "has no port from 1 to 65535" },
		{ "127.0.0.1: 1", "has no port from 1 to 65535" },
		{ "127.0.0.1:1:2", "has no port from 1 to 65535" },
		{ "127.1:80", "is not an IPv4 address and a port" },
		{ "0x7f.0.0.1:80", "is not an IPv4 address and a port" },
		{ "localhost:80", "is not an IPv4 address and a port" },
		{ "[::1]:80", "is not an IPv4 address and a port" },
		{ ":80", "is not an IPv4 address and a port" },
		{ "127.0.0.1.127.0.0.1:80",
		    "is not an IPv4 address and a port" },
		{ "10.0.0.1:80", "is not on loopback (127.x.y.z)" },
		{ "0.0.0.0:80", "is not on loopback (127.x.y.z)" },
		{ "unix:run", "is not an absolute path" },
		{ "unix:", "is not an absolute path" },
	};
	struct relay_address a;
	char path[120];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *why = relay_parse(&a, cases[i].text);

		if (cases[i].why == NULL)
			assert_null(why);
		else
			assert_string_equal(why, cases[i].why);
	}
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[107] = '\0';
	assert_null(relay_parse_unix(&a, path));
	path[107] = 'x';
	path[108] = '\0';
	assert_string_equal(
	    relay_parse_unix(&a, path), "is too long for the path of a socket");
	assert_null(relay_parse(&a, "127.64.3.7:513"));
	assert_int_equal(ntohl(a.at.tcp.sin_addr.s_addr), 0x7f400307);
	assert_int_equal(ntohs(a.at.tcp.sin_port), 513);
}

static void
listens_with_a_mode_and_once(void **state)
{
	struct scratch *s = *state;
	struct relay_address a;
	struct stat st;
	int fd = relay_listen_unix(s->fd, "n", 0640);
	int tcp = listen_tcp(&a);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(tcp, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fstatat(s->fd, "n", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(relay_listen_unix(s->fd, "n", 0640), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(relay_listen_tcp(&a), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(scratch_count(s), 1);
	(void)close(fd);
	(void)close(tcp);
}

static void
carries_every_byte_both_ways(void **state)
{
	static const uint64_t sizes[] = { 1, 65536, 65537, 3000001, 9000000 };
	uint64_t seed = (uint64_t)time(NULL);
	struct lab l;

	lab_start(&l, state, 0);
	(void)printf("# seed %ju\n", (uintmax_t)seed);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int c = join(&l.in), s = take(l.out);
		struct stream up = { c, s, .total = sizes[i], .key = 7 };
		struct stream down = { s, c, .total = sizes[i] / 2 + 1,
			.key = 99 };

		streams_finish(&up, &down, &seed);
		(void)close(c);
		(void)close(s);
	}
	lab_stop(&l);
}

static void
comes_from_the_source_address(void **state)
{
	struct sockaddr_in from = { 0 };
	socklen_t len = sizeof(from);
	char text[INET_ADDRSTRLEN];
	struct lab l;
	int c, s;

	lab_start(&l, state, 0);
	c = join(&l.in);
	s = take(l.out);
	assert_int_equal(getpeername(s, (struct sockaddr *)&from, &len), 0);
	assert_string_equal(
	    inet_ntop(AF_INET, &from.sin_addr, text, sizeof(text)), SOURCE);
	(void)close(c);
	(void)close(s);
	lab_stop(&l);
}

static void
keeps_half_a_connection_open(void **state)
{
	struct lab l;
	int c, s;

	lab_start(&l, state, 0);
	c = join(&l.in);
	s = take(l.out);
	say(c, "ask");
	(void)shutdown(c, SHUT_WR);
	assert_hears(s, "ask");
	assert_ended(s);
	assert_asleep(&l);
	say(s, "answer");
	assert_hears(c, "answer");
	(void)close(s);
	assert_ended(c);
	(void)close(c);

	c = join(&l.in);
	s = take(l.out);
	say(s, "hello");
	(void)shutdown(s, SHUT_WR);
	assert_hears(c, "hello");
	assert_ended(c);
	assert_asleep(&l);
	say(c, "more");
	assert_hears(s, "more");
	(void)close(c);
	assert_ended(s);
	(void)close(s);
	lab_stop(&l);
}

static void
holds_little_for_a_slow_reader(void **state)
{
	enum { CROWD = 16 };
	struct stream s[CROWD];
	uint64_t seed = 5;
	int64_t before;
	struct lab l;

	lab_start(&l, state, 0);
	assert_works(&l);
	before = resident_kib(&l);
	for (int i = 0; i < CROWD; i++) {
		s[i] = (struct stream){ .from = join(&l.in),
			.total = UINT64_C(64) << 20,
			.key = (uint64_t)i };
		s[i].to = take(l.out);
		stuff(&s[i], &seed);
		assert_true(s[i].sent < s[i].total);
		s[i].total = s[i].sent;
		(void)shutdown(s[i].from, SHUT_WR);
	}
	/* Of the 1024 MiB they had; 2 MiB without a sanitizer. */
	assert_in_range(resident_kib(&l) - before, 0, 16 * 1024);
	assert_asleep(&l);
	for (int i = 0; i < CROWD; i++) {
		streams_finish(&s[i], &s[i], &seed);
		(void)close(s[i].from);
		(void)close(s[i].to);
	}
	lab_stop(&l);
}

static void
sleeps_when_one_end_is_gone_and_the_other_stalls(void **state)
{
	struct stream s = { .total = UINT64_C(64) << 20 };
	uint64_t seed = 6;
	struct lab l;

	lab_start(&l, state, 0);
	/* From a unix socket, which hangs up at once. */
	s.from = join(&l.route[0].target);
	s.to = take(l.out);
	stuff(&s, &seed);
	s.total = s.sent;
	(void)close(s.from);
	assert_asleep(&l);
	streams_finish(&s, &s, &seed);
	(void)close(s.to);
	assert_asleep(&l);
	assert_works(&l);
	lab_stop(&l);
}

static void
lets_go_of_both_when_a_client_hung_up(void **state)
{
	struct lab l;
	int c, s, before;

	lab_start(&l, state, 0);
	assert_works(&l);
	c = join(&l.route[0].target);
	s = take(l.out);
	say(c, WORD);
	assert_hears(s, WORD);
	before = files_of(&l);
	(void)close(c);
	assert_ended(s);
	/* Though the target, still there, says nothing. */
	for (int i = 0; files_of(&l) > before - 2 && i < LONG_MS / 10; i++)
		(void)poll(NULL, 0, 10);
	assert_int_equal(files_of(&l), before - 2);
	(void)close(s);
	lab_stop(&l);
}

/* It may come before connect() is back. */
static void
assert_reset(const struct relay_address *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ssize_t rc = connect(fd, &a->at.any, a->len);
	char c;

	if (rc == 0) {
		assert_true(ready(fd, POLLIN, LONG_MS));
		rc = read(fd, &c, 1);
	}
	assert_int_equal(rc, -1);
	assert_int_equal(errno, ECONNRESET);
	(void)close(fd);
}

static void
resets_when_the_target_is_not_there(void **state)
{
	struct lab l;
	int c;

	lab_start(&l, state, 0);
	(void)close(l.local);
	assert_reset(&l.brief);
	assert_reset(&l.shut);
	(void)unlinkat(l.dir->fd, "t", 0);
	assert_reset(&l.brief);
	assert_works(&l);
	(void)close(l.out);
	c = join(&l.in); /* refused behind the second relay */
	assert_gone(c);
	(void)close(c);
	assert_asleep(&l);
	l.out = l.local = -1;
	lab_stop(&l);
}

/* Only the lower bound: nothing is said about how fast it is before. */
static void
lets_a_flood_wait(void **state)
{
	struct timespec began, ended;
	struct lab l;

	lab_start(&l, state, 0);
	(void)clock_gettime(CLOCK_MONOTONIC, &began);
	for (int64_t i = 0; i < RELAY_BURST + RELAY_RATE; i++)
		assert_reset(&l.shut);
	(void)clock_gettime(CLOCK_MONOTONIC, &ended);
	assert_true((ended.tv_sec - began.tv_sec) * 1000 +
		(ended.tv_nsec - began.tv_nsec) / 1000000 >=
	    900);
	lab_stop(&l);
}

/* A sender learns of it, at the latest by sending. */
static void
assert_cannot_send(int fd)
{
	while (
	    ready(fd, POLLOUT, LONG_MS) && send(fd, WORD, 4, MSG_NOSIGNAL) > 0)
		;
	assert_true(errno == EPIPE || errno == ECONNRESET);
}

static void
assert_can_only_end(int fd)
{
	char piece[4096];
	ssize_t n = 1;

	while (n > 0 && ready(fd, POLLIN, LONG_MS))
		n = read(fd, piece, sizeof(piece));
	assert_true(n == 0 || (n < 0 && errno == ECONNRESET));
}

static void
survives_ends_that_vanish(void **state)
{
	uint64_t seed = 8;
	struct lab l;

	lab_start(&l, state, 0);
	for (int i = 0; i < 8; i++) {
		int end[2] = { join(&l.in), take(l.out) };
		struct stream s = { .from = end[i % 2],
			.to = end[(i + 1) % 2],
			.total = UINT64_C(64) << 20 };

		say(s.from, WORD);
		if (i % 4 < 2)
			stuff(&s, &seed);
		if (i < 4) {
			vanish(s.to);
			assert_cannot_send(s.from);
			(void)close(s.from);
		} else {
			vanish(s.from);
			assert_can_only_end(s.to);
			(void)close(s.to);
		}
		assert_asleep(&l);
		assert_works(&l);
	}
	lab_stop(&l);
}

static void
allow_files(rlim_t n)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &l), 0);
	l.rlim_cur = l.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &l), 0);
	assert_true(l.rlim_cur >= n);
}

static void
carries_many_and_lets_the_rest_wait(void **state)
{
	enum { EXTRA = 8, ALL = RELAY_CONNECTIONS + EXTRA };
	static int c[ALL], s[ALL];
	struct lab l;

	allow_files(2 * ALL + 64);
	lab_start(&l, state, 0);
	for (int i = 0; i < ALL; i++)
		c[i] = join(&l.brief);
	for (int i = 0; i < RELAY_CONNECTIONS; i++)
		s[i] = take(l.local);
	for (int i = 0; i < RELAY_CONNECTIONS; i++)
		say(c[i], WORD);
	for (int i = 0; i < RELAY_CONNECTIONS; i++)
		assert_hears(s[i], WORD);
	assert_false(ready(l.local, POLLIN, 100));
	assert_asleep(&l);
	for (int i = 0; i < EXTRA; i++) {
		(void)close(c[i]);
		(void)close(s[i]);
		s[RELAY_CONNECTIONS + i] = take(l.local);
		say(c[RELAY_CONNECTIONS + i], WORD);
		assert_hears(s[RELAY_CONNECTIONS + i], WORD);
	}
	assert_asleep(&l);
	for (int i = EXTRA; i < ALL; i++) {
		(void)close(c[i]);
		(void)close(s[i]);
	}
	assert_works(&l);
	lab_stop(&l);
}

static void
waits_when_there_are_no_files(void **state)
{
	enum { ALL = 40 };
	int c[ALL], served = 0;
	struct lab l;

	lab_start(&l, state, 32);
	for (int i = 0; i < ALL; i++)
		c[i] = join(&l.brief);
	assert_true(ready(l.local, POLLIN, LONG_MS));
	assert_asleep(&l);
	for (int i = 0; i < ALL; i++) {
		int s = take(l.local);

		say(c[i], WORD);
		assert_hears(s, WORD);
		(void)close(s);
		assert_ended(c[i]);
		(void)close(c[i]);
		served++;
	}
	assert_int_equal(served, ALL);
	assert_works(&l);
	lab_stop(&l);
}

static void
stops_when_told(void **state)
{
	struct lab l;
	int c, s;

	lab_start(&l, state, 0);
	c = join(&l.in);
	s = take(l.out);
	assert_asleep(&l);
	assert_false(ready(c, POLLIN, 0));
	lab_stop(&l);
	assert_gone(c);
	assert_gone(s);
	(void)close(c);
	(void)close(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_addresses),
		SCRATCH_TEST(listens_with_a_mode_and_once),
		SCRATCH_TEST(carries_every_byte_both_ways),
		SCRATCH_TEST(comes_from_the_source_address),
		SCRATCH_TEST(keeps_half_a_connection_open),
		SCRATCH_TEST(holds_little_for_a_slow_reader),
		SCRATCH_TEST(sleeps_when_one_end_is_gone_and_the_other_stalls),
		SCRATCH_TEST(lets_go_of_both_when_a_client_hung_up),
		SCRATCH_TEST(resets_when_the_target_is_not_there),
		SCRATCH_TEST(lets_a_flood_wait),
		SCRATCH_TEST(survives_ends_that_vanish),
		SCRATCH_TEST(carries_many_and_lets_the_rest_wait),
		SCRATCH_TEST(waits_when_there_are_no_files),
		SCRATCH_TEST(stops_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
