/* SPDX-License-Identifier: MIT */
/*
 * Tries to get out, from wherever it runs: "attack FILE".  A line of FILE is
 * "NAME VERB [WORD ...]"; for each one, "NAME RESULT" is printed.  A result is
 * "open", an error by name, or what was answered (see hear()).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WORDS	 8
#define PATIENCE 4000 /* ms until the first byte of an answer */
#define GAP	 700  /* ms of silence after it */

static char answer[1 << 16];
static char piece[1 << 16];

static const char *
error_name(void)
{
	return strerrorname_np(errno);
}

/* An address of either family; the length, or 0 if it is none. */
static socklen_t
address(const char *host, const char *port, struct sockaddr_storage *a)
{
	struct sockaddr_in *v4 = (void *)a;
	struct sockaddr_in6 *v6 = (void *)a;
	in_port_t number = htons((uint16_t)strtol(port, NULL, 10));

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = number;
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = number;
		return sizeof(*v6);
	}
	return 0;
}

/* A connected socket, or -1 with errno. */
static int
dial(const char *host, const char *port, int type)
{
	struct sockaddr_storage a;
	socklen_t size = address(host, port, &a);
	struct pollfd p = { .events = POLLOUT };
	int bad = 0;
	socklen_t n = sizeof(bad);

	p.fd = socket(a.ss_family, type | SOCK_NONBLOCK, 0);
	if (p.fd < 0)
		return -1;
	if (connect(p.fd, (void *)&a, size) == 0)
		return p.fd;
	if (errno == EINPROGRESS) {
		if (poll(&p, 1, PATIENCE) == 0)
			bad = ETIMEDOUT;
		else
			(void)getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &bad, &n);
		if (bad == 0)
			return p.fd;
		errno = bad;
	}
	bad = errno;
	(void)close(p.fd);
	errno = bad;
	return -1;
}

static bool
give(int fd, const char *data, size_t n)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (n > 0) {
		ssize_t done = send(fd, data, n, MSG_NOSIGNAL);

		if (done < 0 && errno != EAGAIN)
			return false;
		if (done < 0 && poll(&p, 1, PATIENCE) != 1)
			return false;
		if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
	return true;
}

/* Reads to the end, to silence, or only so far that TLS or a header shows. */
static size_t
take(int fd, bool header, bool *ended)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t n = 0;

	*ended = false;
	while (n < sizeof(answer) - 1) {
		ssize_t got;

		if (poll(&p, 1, n > 0 ? GAP : PATIENCE) != 1)
			break;
		got = recv(fd, answer + n, sizeof(answer) - 1 - n, 0);
		*ended = got <= 0;
		if (got <= 0)
			break;
		n += (size_t)got;
		answer[n] = '\0';
		if (answer[0] == 0x16 ||
		    (header && strstr(answer, "\r\n\r\n") != NULL))
			break;
	}
	answer[n] = '\0';
	return n;
}

/* What an answer was: codes of HTTP, "tls", "bytes", "closed", "silent". */
static bool
hear(int fd, bool header)
{
	bool ended;
	size_t n = take(fd, header, &ended);
	const char *at = answer;
	bool more = false, good = false;

	if (n == 0)
		(void)printf("%s", ended ? "closed" : "silent");
	else if (answer[0] == 0x16)
		(void)printf("tls");
	else if (strstr(answer, "HTTP/1.") == NULL)
		(void)printf(answer[0] == 0x15 ? "alert" : "bytes");
	for (; (at = strstr(at, "HTTP/1.")) != NULL; at++) {
		/* An error page quotes what it was asked. */
		if (strlen(at) < 13 || at[8] != ' ' || at[12] != ' ' ||
		    strspn(at + 9, "0123456789") != 3)
			continue;
		(void)printf("%s%.3s", more ? "+" : "", at + 9);
		good = good || strncmp(at + 9, "200", 3) == 0;
		more = true;
	}
	return good;
}

static bool
give_file(int fd, const char *path)
{
	int in = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	bool ok = in >= 0;

	while (ok && (n = read(in, piece, sizeof(piece))) > 0)
		ok = give(fd, piece, (size_t)n);
	if (in >= 0)
		(void)close(in);
	return ok && n == 0;
}

/* ADDRESS PORT FILE...: each file after a good answer to the one before */
static void
do_say(char **w)
{
	int fd = dial(w[0], w[1], SOCK_STREAM);

	if (fd < 0) {
		(void)printf("%s", error_name());
		return;
	}
	for (int i = 2; w[i] != NULL; i++) {
		if (i > 2)
			(void)printf("/");
		/* Who refuses may hang up before all was said. */
		(void)give_file(fd, w[i]);
		if (!hear(fd, w[i + 1] != NULL))
			break;
	}
	(void)close(fd);
}

/* ADDRESS PORT FILE MEGABYTES: what the file says, and a long body */
static void
do_flood(char **w)
{
	int fd = dial(w[0], w[1], SOCK_STREAM);
	long most = strtol(w[3], NULL, 10) * 16, sent = 0;

	if (fd < 0) {
		(void)printf("%s", error_name());
		return;
	}
	(void)give_file(fd, w[2]);
	memset(piece, ' ', sizeof(piece));
	while (sent < most && give(fd, piece, sizeof(piece)))
		sent++;
	(void)hear(fd, false);
	(void)printf(" %ld", sent / 16);
	(void)close(fd);
}

/* ADDRESS PORT COUNT: so many half requests, held until our input ends */
static void
do_loris(char **w)
{
	static const char half[] = "POST /v1/messages HTTP/1.1\r\nX-A: ";
	long count = strtol(w[2], NULL, 10), held = 0;

	while (held < count) {
		int fd = dial(w[0], w[1], SOCK_STREAM);

		if (fd < 0 || !give(fd, half, sizeof(half) - 1))
			break;
		held++;
	}
	(void)printf("%ld", held);
	(void)fflush(stdout);
	while (read(0, piece, sizeof(piece)) > 0)
		;
}

static void
do_tcp(char **w) /* ADDRESS PORT */
{
	int fd = dial(w[0], w[1], SOCK_STREAM);

	(void)printf("%s", fd < 0 ? error_name() : "open");
	(void)close(fd);
}

static void
do_udp(char **w) /* ADDRESS PORT TEXT */
{
	int fd = dial(w[0], w[1], SOCK_DGRAM);

	if (fd < 0 || send(fd, w[2], strlen(w[2]), 0) < 0)
		(void)printf("%s", error_name());
	else
		(void)hear(fd, false);
	(void)close(fd);
}

/* A question for an A record; the number of bytes */
static size_t
question(const char *name, char *q)
{
	static const char head[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0";
	size_t n = sizeof(head) - 1;

	memcpy(q, head, n);
	while (*name != '\0') {
		size_t part = strcspn(name, ".");

		q[n] = (char)part;
		memcpy(q + n + 1, name, part);
		n += part + 1;
		name += part + (name[part] == '.');
	}
	memcpy(q + n, "\0\0\1\0\1", 5);
	return n + 5;
}

static void
do_dns(char **w) /* ADDRESS udp|tcp NAME */
{
	bool tcp = strcmp(w[1], "tcp") == 0;
	int fd = dial(w[0], "53", tcp ? SOCK_STREAM : SOCK_DGRAM);
	char q[512] = { 0 };
	size_t n = question(w[2], q + 2);

	q[1] = (char)n;
	if (fd < 0 || !give(fd, tcp ? q : q + 2, tcp ? n + 2 : n))
		(void)printf("%s", error_name());
	else
		(void)hear(fd, false);
	(void)close(fd);
}

/* NAME: asks whom /etc/resolv.conf names, and nobody is a good answer */
static void
do_resolv(char **w)
{
	FILE *f = fopen("/etc/resolv.conf", "re");
	char line[256], server[128];
	char *ask[] = { server, NULL, w[0], NULL };
	char udp[] = "udp";

	ask[1] = udp;
	(void)printf("asked");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "nameserver %127s", server) != 1)
			continue;
		(void)printf(":");
		do_dns(ask);
	}
	if (f != NULL)
		(void)fclose(f);
}

static void
do_unix(char **w) /* PATH, or @NAME for an abstract one */
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(w[0]);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(a.sun_path, w[0], n);
	if (w[0][0] == '@')
		a.sun_path[0] = '\0';
	n += offsetof(struct sockaddr_un, sun_path);
	(void)printf("%s",
	    connect(fd, (void *)&a, (socklen_t)n) < 0 ? error_name() : "open");
	(void)close(fd);
}

static void
do_socket(char **w) /* FAMILY TYPE PROTOCOL */
{
	int fd = socket((int)strtol(w[0], NULL, 10),
	    (int)strtol(w[1], NULL, 10), (int)strtol(w[2], NULL, 10));

	(void)printf("%s", fd < 0 ? error_name() : "open");
	(void)close(fd);
}

static void
do_ping(char **w) /* ADDRESS */
{
	struct sockaddr_storage a;
	socklen_t size = address(w[0], "0", &a);
	bool six = a.ss_family == AF_INET6;
	char echo[8] = { six ? (char)128 : 8, 0, 0, 0, 0, 1, 0, 1 };
	int fd = socket(
	    a.ss_family, SOCK_DGRAM, six ? IPPROTO_ICMPV6 : IPPROTO_ICMP);

	if (fd < 0 || sendto(fd, echo, sizeof(echo), 0, (void *)&a, size) < 0)
		(void)printf("%s", error_name());
	else
		(void)hear(fd, false);
	(void)close(fd);
}

/* PORT NAME: for the other session; both stay until we end */
static void
do_offer(char **w)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct sockaddr_un u = { .sun_family = AF_UNIX };
	size_t n = offsetof(struct sockaddr_un, sun_path) + strlen(w[1]);
	int tcp = socket(AF_INET, SOCK_STREAM, 0);
	int local = socket(AF_UNIX, SOCK_STREAM, 0);

	a.sin_port = htons((uint16_t)strtol(w[0], NULL, 10));
	memcpy(u.sun_path + 1, w[1] + 1, strlen(w[1]) - 1);
	if (bind(tcp, (void *)&a, sizeof(a)) < 0 || listen(tcp, 5) < 0 ||
	    bind(local, (void *)&u, (socklen_t)n) < 0 || listen(local, 5) < 0)
		(void)printf("%s", error_name());
	else
		(void)printf("open");
}

static void
do_remove(char **w) /* PATH */
{
	(void)printf("%s", unlink(w[0]) < 0 ? error_name() : "open");
}

/* FILE: waits for the test to make it */
static void
do_wait(char **w)
{
	int tries = 400;

	while (access(w[0], F_OK) < 0 && --tries > 0)
		(void)poll(NULL, 0, 50);
	(void)printf("%s", tries > 0 ? "ok" : "never");
}

static void
pour(const char *path, FILE *out)
{
	int in = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	(void)fprintf(out, "\n%s:\n", path);
	while (in >= 0 && (n = read(in, piece, sizeof(piece))) > 0)
		(void)fwrite(piece, 1, (size_t)n, out);
	if (in >= 0)
		(void)close(in);
}

/* FILE: all that a session can see of others' words, into it */
static void
do_dump(char **w)
{
	static const char *const files[] = { "/etc/hosts", "/etc/resolv.conf",
		"/proc/self/mountinfo", "/proc/net/unix", "/proc/cmdline" };
	FILE *out = fopen(w[0], "we");
	char path[64];

	if (out == NULL) {
		(void)printf("%s", error_name());
		return;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		pour(files[i], out);
	for (int pid = 1; pid < 200; pid++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/environ", pid);
		pour(path, out);
		(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
		pour(path, out);
	}
	(void)fclose(out);
	(void)printf("ok");
}

static const struct {
	const char *verb;
	int least;
	void (*act)(char **);
} verbs[] = {
	{ "say", 3, do_say },
	{ "flood", 4, do_flood },
	{ "loris", 3, do_loris },
	{ "tcp", 2, do_tcp },
	{ "udp", 3, do_udp },
	{ "dns", 3, do_dns },
	{ "resolv", 1, do_resolv },
	{ "unix", 1, do_unix },
	{ "socket", 3, do_socket },
	{ "ping", 1, do_ping },
	{ "offer", 2, do_offer },
	{ "remove", 1, do_remove },
	{ "wait", 1, do_wait },
	{ "dump", 1, do_dump },
};

static void
try(char *line)
{
	char *w[WORDS + 1] = { NULL }, *rest = NULL;
	int n = 0;

	for (char *p = strtok_r(line, " \n", &rest); p != NULL && n < WORDS;
	     p = strtok_r(NULL, " \n", &rest))
		w[n++] = p;
	if (n == 0)
		return;
	(void)printf("%s ", w[0]);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (n >= 2 + verbs[i].least && strcmp(w[1], verbs[i].verb) == 0)
			verbs[i].act(w + 2);
	}
	(void)printf("\n");
	(void)fflush(stdout);
}

int
main(int argc, char **argv)
{
	char line[512];
	FILE *f = argc == 2 ? fopen(argv[1], "re") : NULL;

	if (f == NULL) {
		(void)fprintf(stderr, "usage: attack FILE\n");
		return 64;
	}
	while (fgets(line, sizeof(line), f) != NULL)
		try(line);
	(void)fclose(f);
	(void)printf("end of tries\n");
	return 0;
}
