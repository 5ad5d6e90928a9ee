/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/relays.c tools/dockrun/netconf.c */
/* uses: tools/dockrun/reserve.c */
/* The relays' process: what it serves, what it keeps, and when it ends. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "err.h"
#include "relays.h"
#include "reserve.h"
#include "scratch.h"

#define PATIENCE_MS 10000

/* A server on some port of loopback; the netconf has one relay to it. */
static int
server(struct netconf *c)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*c = (struct netconf){ .n_relays = 1 };
	c->relay[0].to.at.tcp = a;
	c->relay[0].to.len = sizeof(a);
	return fd;
}

static struct in_addr
source(void)
{
	return (struct in_addr){ .s_addr = htonl(0x7f400102) };
}

static struct relays
started(int dfd, const struct netconf *c)
{
	struct relays r = RELAYS_NONE;
	struct err e = { 0 };

	if (relays_listen(&r, dfd, c->n_relays, &e) < 0 ||
	    relays_start(&r, c, source(), &e) < 0)
		fail_msg("%s", e.text);
	assert_true(r.pid > 0);
	return r;
}

static int
connected(int dfd)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(
	    a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/0", dfd);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static bool
readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, PATIENCE_MS) == 1;
}

/* One word from the session to the server and one back. */
static void
it_relays(int dfd, int listener)
{
	struct sockaddr_in from = { 0 };
	socklen_t len = sizeof(from);
	int one = connected(dfd);
	int two;
	char word[6];

	assert_true(readable(listener));
	two = accept(listener, (struct sockaddr *)&from, &len);
	assert_true(two >= 0);
	assert_int_equal(from.sin_addr.s_addr, source().s_addr);
	assert_int_equal(write(one, "hello", 6), 6);
	assert_int_equal(recv(two, word, 6, MSG_WAITALL), 6);
	assert_string_equal(word, "hello");
	assert_int_equal(write(two, "world", 6), 6);
	assert_int_equal(recv(one, word, 6, MSG_WAITALL), 6);
	assert_string_equal(word, "world");
	(void)close(one);
	(void)close(two);
}

static void
a_session_is_served_from_its_own_address(void **state)
{
	const struct scratch *s = *state;
	struct netconf c;
	int listener = server(&c);
	struct relays r = started(s->fd, &c);

	it_relays(s->fd, listener);
	it_relays(s->fd, listener);
	relays_release(&r);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(scratch_count(s), 1);
	relays_unlink(s->fd);
	assert_int_equal(scratch_count(s), 0);
	(void)close(listener);
}

static void
a_path_may_be_longer_than_a_sockets_address(void **state)
{
	const struct scratch *s = *state;
	char name[201];
	struct netconf c;
	int listener = server(&c);
	struct relays r;
	int dfd;

	memset(name, 'x', 200);
	name[200] = '\0';
	assert_int_equal(mkdirat(s->fd, name, 0700), 0);
	dfd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = started(dfd, &c);
	it_relays(dfd, listener);
	relays_release(&r);
	(void)close(dfd);
	(void)close(listener);
}

static void
it_keeps_nothing_of_ours(void **state)
{
	const struct scratch *s = *state;
	struct netconf c;
	int listener = server(&c);
	int lock = open(s->path, O_RDONLY | O_CLOEXEC);
	int again = open(s->path, O_RDONLY | O_CLOEXEC);
	int ends[2];
	struct relays r;
	char byte;

	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(pipe(ends), 0);
	r = started(s->fd, &c);
	it_relays(s->fd, listener);
	(void)close(lock);
	(void)close(ends[1]);
	assert_int_equal(flock(again, LOCK_EX | LOCK_NB), 0);
	assert_true(readable(ends[0]));
	assert_int_equal(read(ends[0], &byte, 1), 0);
	(void)close(again);
	(void)close(ends[0]);
	relays_release(&r);
	(void)close(listener);
}

static void
a_terminals_signals_are_not_for_it(void **state)
{
	static const int sent[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	const struct scratch *s = *state;
	struct netconf c;
	int listener = server(&c);
	struct relays r = started(s->fd, &c);

	it_relays(s->fd, listener);
	for (size_t i = 0; i < ARRAY_LEN(sent); i++)
		assert_int_equal(kill(r.pid, sent[i]), 0);
	it_relays(s->fd, listener);
	assert_int_equal(kill(r.pid, SIGKILL), 0);
	assert_true(readable(r.pidfd));
	relays_release(&r);
	(void)close(listener);
}

/* In a process of its own: starts the child, tells its pid, and is killed. */
static _Noreturn void
start_and_die(const struct scratch *s, int to)
{
	struct netconf c;
	int listener = server(&c);
	struct relays r = started(s->fd, &c);

	it_relays(s->fd, listener);
	if (write(to, &r.pid, sizeof(r.pid)) == (ssize_t)sizeof(r.pid))
		(void)raise(SIGKILL);
	_exit(1);
}

static void
it_dies_with_us(void **state)
{
	const struct scratch *s = *state;
	int ends[2], pidfd, status;
	pid_t dockrun, child;

	/* The child becomes ours when its parent is gone. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(ends), 0);
	dockrun = fork();
	if (dockrun == 0)
		start_and_die(s, ends[1]);
	(void)close(ends[1]);
	assert_int_equal(waitpid(dockrun, &status, 0), dockrun);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(read(ends[0], &child, sizeof(child)), sizeof(child));
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	if (!readable(pidfd)) {
		(void)kill(child, SIGKILL);
		fail_msg("it lives on");
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	(void)close(pidfd);
	(void)close(ends[0]);
}

static void
no_relay_is_no_process(void **state)
{
	static const struct netconf none;
	struct relays r = RELAYS_NONE;
	struct err e;

	(void)state;
	assert_int_equal(relays_start(&r, &none, source(), &e), 0);
	assert_int_equal(r.pid, 0);
	assert_int_equal(r.pidfd, -1);
	relays_release(&r);
}

static void
two_sessions_have_different_numbers(void **state)
{
	struct reserve_range two = { "unit test", 7, 2 };
	uint32_t one, other, third;
	int keep[3] = { -1, -1, -1 };
	struct err e;

	(void)state;
	assert_int_equal(reserve(&two, &one, &keep[0], &e), 0);
	assert_int_equal(reserve(&two, &other, &keep[1], &e), 0);
	assert_int_equal(one + other, 7 + 8);
	assert_int_equal(reserve(&two, &third, &keep[2], &e), -1);
	assert_string_equal(e.text, "cannot reserve a unit test");
	(void)close(keep[0]);
	assert_int_equal(reserve(&two, &third, &keep[2], &e), 0);
	assert_int_equal(third, one);
	(void)close(keep[1]);
	(void)close(keep[2]);
	assert_int_equal(reserve(&reserve_sources, &one, &keep[0], &e), 0);
	assert_int_equal(one >> 22, 0x7f400000U >> 22);
	(void)close(keep[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(a_session_is_served_from_its_own_address),
		SCRATCH_TEST(a_path_may_be_longer_than_a_sockets_address),
		SCRATCH_TEST(it_keeps_nothing_of_ours),
		SCRATCH_TEST(a_terminals_signals_are_not_for_it),
		SCRATCH_TEST(it_dies_with_us),
		cmocka_unit_test(no_relay_is_no_process),
		cmocka_unit_test(two_sessions_have_different_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
