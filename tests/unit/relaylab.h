/* SPDX-License-Identifier: MIT */
/* A relay in a process of its own, and ends for it to join. */
#ifndef TEST_RELAYLAB_H
#define TEST_RELAYLAB_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "relay.h"
#include "scratch.h"

#define LONG_MS 20000 /* an event that should have come by now */
#define SOURCE	"127.64.3.7"
#define WORD	"word"

/*
 * TCP "in" to a unix socket, and that to TCP "out", as a session has it;
 * "brief" goes to a unix socket of the test's own, "shut" to nobody.
 */
struct lab {
	struct scratch *dir;
	struct relay_address in, brief, shut;
	struct relay_route route[4];
	int out;   /* our listener at the far end */
	int local; /* and that of the short way */
	pid_t pid;
	int stop;
};

static inline struct relay_address
any_port(void)
{
	struct relay_address a;

	assert_null(relay_parse_tcp(&a, "127.0.0.1:1"));
	a.at.tcp.sin_port = 0;
	return a;
}

/* Listens on a port of the kernel's choice and tells it. */
static inline int
listen_tcp(struct relay_address *a)
{
	int fd;

	*a = any_port();
	fd = relay_listen_tcp(a);
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, &a->at.any, &a->len), 0);
	return fd;
}

static inline struct relay_address
path_in(const struct scratch *s, const char *name)
{
	struct relay_address a;
	char path[108];

	(void)snprintf(path, sizeof(path), "%s/%s", s->path, name);
	assert_null(relay_parse_unix(&a, path));
	return a;
}

static inline void
lab_start(struct lab *l, void **state, rlim_t files)
{
	struct relay_address out;
	int stop[2];

	*l = (struct lab){ .dir = *state };
	l->route[0] = (struct relay_route){ .listener = listen_tcp(&l->in),
		.target = path_in(l->dir, "s") };
	l->out = listen_tcp(&out);
	l->route[1] = (struct relay_route){ .target = out };
	assert_int_equal(inet_pton(AF_INET, SOURCE, &l->route[1].source), 1);
	l->route[1].listener = relay_listen_unix(l->dir->fd, "s", 0600);
	assert_true(l->route[1].listener >= 0);
	l->route[2] = (struct relay_route){ .listener = listen_tcp(&l->brief),
		.target = path_in(l->dir, "t") };
	l->local = relay_listen_unix(l->dir->fd, "t", 0600);
	assert_true(l->local >= 0);
	(void)close(listen_tcp(&l->route[3].target));
	l->route[3].listener = listen_tcp(&l->shut);
	assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
	l->pid = fork();
	assert_true(l->pid >= 0);
	if (l->pid == 0) {
		struct rlimit few = { files, files };

		(void)close(stop[1]);
		(void)close(l->out); /* or they would listen for ever */
		(void)close(l->local);
		if (files > 0)
			(void)setrlimit(RLIMIT_NOFILE, &few);
		_exit(relay_serve(l->route, 4, stop[0]) == 0 ? 0 : 1);
	}
	(void)close(stop[0]);
	l->stop = stop[1];
}

/* The relay must have lived to be told. */
static inline void
lab_stop(struct lab *l)
{
	int status = -1;

	(void)close(l->stop);
	assert_int_equal(waitpid(l->pid, &status, 0), l->pid);
	assert_int_equal(status, 0);
	for (int i = 0; i < 4; i++)
		(void)close(l->route[i].listener);
	(void)close(l->out);
	(void)close(l->local);
}

static inline int64_t
cpu_ms(const struct lab *l)
{
	struct timespec t;
	clockid_t id;

	assert_int_equal(clock_getcpuclockid(l->pid, &id), 0);
	assert_int_equal(clock_gettime(id, &t), 0);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A loop that never sleeps would use nearly all of the time. */
static inline void
assert_asleep(const struct lab *l)
{
	int64_t before = cpu_ms(l);

	(void)poll(NULL, 0, 300);
	assert_in_range(cpu_ms(l) - before, 0, 40);
}

static inline int64_t
resident_kib(const struct lab *l)
{
	char path[64], line[128];
	long long kib = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)l->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtoll(line + 6, NULL, 10);
	(void)fclose(f);
	assert_true(kib > 0);
	return kib;
}

/* Descriptors the relay has. */
static inline int
files_of(const struct lab *l)
{
	char path[64];
	DIR *d;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)l->pid);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return n;
}

static inline bool
ready(int fd, short what, int ms)
{
	struct pollfd p = { .fd = fd, .events = what };

	return poll(&p, 1, ms) == 1;
}

static inline int
join(const struct relay_address *a)
{
	int fd = socket(a->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, &a->at.any, a->len), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static inline int
take(int listener)
{
	int fd;

	assert_true(ready(listener, POLLIN, LONG_MS));
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(fd >= 0);
	return fd;
}

static inline void
say(int fd, const char *text)
{
	assert_int_equal(
	    send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static inline void
assert_hears(int fd, const char *text)
{
	char got[64] = { 0 };
	size_t n = 0;

	while (n < strlen(text)) {
		ssize_t rc;

		assert_true(ready(fd, POLLIN, LONG_MS));
		rc = read(fd, got + n, strlen(text) - n);
		assert_true(rc > 0);
		n += (size_t)rc;
	}
	assert_string_equal(got, text);
}

static inline void
assert_ended(int fd)
{
	char c;

	assert_true(ready(fd, POLLIN, LONG_MS));
	assert_int_equal(read(fd, &c, 1), 0);
}

/* Ended, in order or not. */
static inline void
assert_gone(int fd)
{
	char c;

	assert_true(ready(fd, POLLIN, LONG_MS));
	assert_true(read(fd, &c, 1) <= 0);
}

static inline void
vanish(int fd)
{
	struct linger now = { .l_onoff = 1 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)close(fd);
}

/* The relay still does its work. */
static inline void
assert_works(const struct lab *l)
{
	int c = join(&l->in), s = take(l->out);

	say(c, WORD);
	assert_hears(s, WORD);
	(void)close(c);
	assert_ended(s);
	(void)close(s);
}

/* Streams whose bytes follow from their place. */

struct stream {
	int from, to;
	uint64_t total, sent, got;
	uint64_t key;
	bool ended;
};

static inline unsigned char
byte_at(const struct stream *s, uint64_t at)
{
	uint64_t x = (at + s->key) * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned char)(x >> 56);
}

static inline size_t
draw(uint64_t *seed, size_t max)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	/* small ones and large ones alike */
	return 1 + (size_t)(*seed >> 33) % (max >> ((*seed >> 29) % 16));
}

static inline void
stream_send(struct stream *s, uint64_t *seed)
{
	static unsigned char piece[1 << 17];
	size_t n = draw(seed, sizeof(piece));
	ssize_t rc;

	if (n > s->total - s->sent)
		n = (size_t)(s->total - s->sent);
	for (size_t i = 0; i < n; i++)
		piece[i] = byte_at(s, s->sent + i);
	rc = send(s->from, piece, n, MSG_NOSIGNAL);
	assert_true(rc > 0 || errno == EAGAIN);
	s->sent += rc > 0 ? (uint64_t)rc : 0;
	if (s->sent == s->total)
		(void)shutdown(s->from, SHUT_WR);
}

static inline void
stream_receive(struct stream *s, uint64_t *seed)
{
	static unsigned char piece[1 << 17];
	ssize_t n = read(s->to, piece, draw(seed, sizeof(piece)));

	assert_true(n >= 0 || errno == EAGAIN);
	s->ended = n == 0;
	for (ssize_t i = 0; i < n; i++)
		if (piece[i] != byte_at(s, s->got + (uint64_t)i))
			fail_msg("byte %ju is wrong", (uintmax_t)s->got);
	s->got += n > 0 ? (uint64_t)n : 0;
}

/* One step of whatever can be done; true if something was. */
static inline bool
stream_step(struct stream *s, uint64_t *seed)
{
	uint64_t before = s->sent + s->got + s->ended;

	if (s->sent < s->total && ready(s->from, POLLOUT, 0))
		stream_send(s, seed);
	if (!s->ended && ready(s->to, POLLIN, 10))
		stream_receive(s, seed);
	return s->sent + s->got + s->ended != before;
}

/* Until both have ended; the same one twice will do. */
static inline void
streams_finish(struct stream *a, struct stream *b, uint64_t *seed)
{
	int idle = 0;

	while ((!a->ended || !b->ended) && idle < LONG_MS / 10) {
		bool moved = stream_step(a, seed);

		moved |= stream_step(b, seed);
		idle = moved ? 0 : idle + 1;
	}
	assert_int_equal(a->got, a->total);
	assert_int_equal(b->got, b->total);
	assert_true(a->ended && b->ended);
}

/* Writes until nothing more goes for a while. */
static inline void
stuff(struct stream *s, uint64_t *seed)
{
	while (s->sent < s->total && ready(s->from, POLLOUT, 100))
		stream_send(s, seed);
}

#endif
