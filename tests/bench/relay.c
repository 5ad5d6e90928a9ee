/* SPDX-License-Identifier: MIT */
/*
 * What a relay costs: a server, a client that measures, and our relay.
 *
 * usage: relay serve LISTEN TARGET    relay until killed
 *        relay answer ADDRESS         be the server, until killed
 *        relay await ADDRESS          until somebody listens there
 *        relay ask ADDRESS            print MB/s down, MB/s up, us, ms
 *
 * The last two: the median of a small request, and the time from the first
 * of MANY connections to the last of their answers, all open at once.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "relay.h"

#define BULK	(INT64_C(256) << 20)
#define PIECE	131072
#define SMALL	512 /* bytes of a request and of its answer */
#define ASKED	3000
#define MANY	500
#define LIMIT_S 600 /* nothing of this outlives a bench that was killed */

static _Noreturn void
die(const char *what)
{
	(void)fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct relay_address
address(const char *text)
{
	struct relay_address a;
	const char *why = relay_parse(&a, text);

	if (why == NULL)
		return a;
	(void)fprintf(stderr, "relay: %s %s\n", text, why);
	exit(EX_USAGE);
}

static int
listen_at(const char *text)
{
	struct relay_address a = address(text);
	int fd;

	if (a.at.any.sa_family == AF_INET)
		fd = relay_listen_tcp(&a);
	else
		fd = relay_listen_unix(
		    open("/", O_PATH | O_CLOEXEC), a.at.local.sun_path, 0600);
	if (fd < 0)
		die(text);
	return fd;
}

static void
put(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t rc = write(fd, p, n);

		if (rc <= 0)
			die("write");
		p += rc;
		n -= (size_t)rc;
	}
}

/* False at the end. */
static int
get(int fd, char *p, size_t n)
{
	while (n > 0) {
		ssize_t rc = read(fd, p, n);

		if (rc < 0)
			die("read");
		if (rc == 0)
			return 0;
		p += rc;
		n -= (size_t)rc;
	}
	return 1;
}

static void
put_bulk(int fd, char *piece)
{
	for (int64_t left = BULK; left > 0; left -= PIECE)
		put(fd, piece, PIECE);
}

static void
get_bulk(int fd, char *piece)
{
	int64_t left = BULK;

	while (left > 0) {
		size_t want = left < PIECE ? (size_t)left : PIECE;
		ssize_t n = read(fd, piece, want);

		if (n <= 0)
			die("bulk");
		left -= n;
	}
}

/* The first byte of a request says what is wanted. */
static void *
answer_one(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char *piece = calloc(1, PIECE);

	while (piece != NULL && get(fd, piece, SMALL)) {
		if (piece[0] == 'd')
			put_bulk(fd, piece);
		if (piece[0] == 'u')
			get_bulk(fd, piece);
		put(fd, piece, SMALL);
	}
	free(piece);
	(void)close(fd);
	return NULL;
}

static _Noreturn void
answer(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	for (;;) {
		pthread_t t;
		int fd, on = 1;

		if (poll(&p, 1, -1) < 0)
			die("poll");
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (pthread_create(
			&t, NULL, answer_one, (void *)(intptr_t)fd) != 0)
			die("thread");
		(void)pthread_detach(t);
	}
}

static int
connect_to(const struct relay_address *a)
{
	int fd = socket(a->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || connect(fd, &a->at.any, a->len) < 0)
		die("connect");
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* MB/s of one stream, to us ('d') or from us ('u'). */
static double
ask_bulk(const struct relay_address *a, char way)
{
	char *piece = calloc(1, PIECE);
	int fd = connect_to(a);
	double start = now_us();

	if (piece == NULL)
		die("memory");
	piece[0] = way;
	put(fd, piece, SMALL);
	piece[0] = 'x';
	if (way == 'd')
		get_bulk(fd, piece);
	else
		put_bulk(fd, piece);
	if (!get(fd, piece, SMALL))
		die("no answer");
	(void)close(fd);
	free(piece);
	return (double)BULK / (now_us() - start);
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
ask_small(const struct relay_address *a)
{
	static double us[ASKED];
	char text[SMALL] = { 0 };
	int fd = connect_to(a);

	for (int i = 0; i < ASKED; i++) {
		double start = now_us();

		put(fd, text, SMALL);
		if (!get(fd, text, SMALL))
			die("no answer");
		us[i] = now_us() - start;
	}
	(void)close(fd);
	qsort(us, ASKED, sizeof(*us), by_value);
	return us[ASKED / 2];
}

static double
ask_many(const struct relay_address *a)
{
	static int fd[MANY];
	char text[SMALL] = { 0 };
	double start = now_us();

	for (int i = 0; i < MANY; i++) {
		fd[i] = connect_to(a);
		put(fd[i], text, SMALL);
	}
	for (int i = 0; i < MANY; i++)
		if (!get(fd[i], text, SMALL))
			die("no answer");
	start = now_us() - start;
	for (int i = 0; i < MANY; i++)
		(void)close(fd[i]);
	return start / 1e3;
}

/* Exit status 0 once a connection is taken. */
static int
await(const struct relay_address *a)
{
	for (int i = 0; i < 500; i++) {
		int fd = socket(a->at.any.sa_family, SOCK_STREAM, 0);
		int rc = connect(fd, &a->at.any, a->len);

		(void)close(fd);
		if (rc == 0)
			return EX_OK;
		(void)poll(NULL, 0, 10);
	}
	return EX_UNAVAILABLE;
}

static void
ask(const struct relay_address *a)
{
	double down = ask_bulk(a, 'd'), up = ask_bulk(a, 'u');
	double small = ask_small(a);

	(void)printf("%.0f %.0f %.1f %.1f\n", down, up, small, ask_many(a));
}

int
main(int argc, char *argv[])
{
	const char *verb = argc > 1 ? argv[1] : "";
	struct relay_address a;
	struct rlimit l;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)alarm(LIMIT_S);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l);
	}
	if (argc == 4 && strcmp(verb, "serve") == 0) {
		struct relay_route r = { .target = address(argv[3]),
			.listener = listen_at(argv[2]) };

		return relay_serve(&r, 1, -1) == 0 ? EX_OK : EX_OSERR;
	}
	if (argc != 3) {
		(void)fputs("usage: relay serve LISTEN TARGET | "
			    "answer|await|ask ADDRESS\n",
		    stderr);
		return EX_USAGE;
	}
	if (strcmp(verb, "answer") == 0)
		answer(listen_at(argv[2]));
	a = address(argv[2]);
	if (strcmp(verb, "await") == 0)
		return await(&a);
	ask(&a);
	return EX_OK;
}
