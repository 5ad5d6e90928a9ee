/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the relays run inside a session: "dial STEP [WORD ...] ,
 * STEP ...".  Talks to tests/docker/answer.py; errors are printed by name.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PIECE 65536

static uint32_t
crc(uint32_t sum, const unsigned char *p, size_t n)
{
	static uint32_t table[256];

	for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
		uint32_t v = i;

		for (int bit = 0; bit < 8; bit++)
			v = (v >> 1) ^ (v & 1 ? 0xedb88320U : 0);
		table[i] = v;
	}
	sum = ~sum;
	for (size_t i = 0; i < n; i++)
		sum = table[(sum ^ p[i]) & 255] ^ (sum >> 8);
	return ~sum;
}

/* The address of a name in /etc/hosts, or of an address. */
static struct in_addr
look_up(const char *name)
{
	struct in_addr a = { 0 };
	FILE *f = fopen("/etc/hosts", "re");
	char line[512];

	if (inet_pton(AF_INET, name, &a) == 1)
		return a;
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char address[64], host[256];

		if (sscanf(line, "%63s %255s", address, host) == 2 &&
		    strcmp(host, name) == 0)
			(void)inet_pton(AF_INET, address, &a);
	}
	if (f != NULL)
		(void)fclose(f);
	return a;
}

/* The connection, or -1 with errno. */
static int
dial(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtol(port, NULL, 10)),
		.sin_addr = look_up(host) };
	struct timeval patience = { .tv_sec = 20 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)setsockopt(
	    fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void
print_rest(int fd)
{
	char text[256];
	ssize_t n, sum = 0;

	while ((n = read(fd, text, sizeof(text))) > 0) {
		(void)fwrite(text, 1, (size_t)n, stdout);
		sum += n;
	}
	if (n < 0 || sum == 0)
		(void)printf("%s\n", n < 0 ? strerrorname_np(errno) : "EOF");
	(void)close(fd);
}

/* HOST PORT N: sends N bytes, closes that half, prints the answer */
static void
step_put(char **w)
{
	static unsigned char piece[PIECE];
	int fd = dial(w[0], w[1]);
	long left = strtol(w[2], NULL, 10);
	uint32_t sum = 0, seed = 1;

	(void)printf("put %s %s: ", w[0], w[1]);
	if (fd < 0 || write(fd, "put\n", 4) != 4) {
		(void)printf("%s\n", strerrorname_np(errno));
		return;
	}
	while (left > 0) {
		size_t n = left < PIECE ? (size_t)left : PIECE;
		size_t done = 0;

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			piece[i] = (unsigned char)(seed >> 24);
		}
		sum = crc(sum, piece, n);
		while (done < n) {
			ssize_t k = write(fd, piece + done, n - done);

			if (k < 0)
				break;
			done += (size_t)k;
		}
		if (done < n)
			break;
		left -= (long)n;
	}
	(void)shutdown(fd, SHUT_WR);
	(void)printf("%08x ", sum);
	print_rest(fd);
}

/* HOST PORT N: asks for N bytes */
static void
step_get(char **w)
{
	static unsigned char piece[PIECE];
	int fd = dial(w[0], w[1]);
	uint32_t sum = 0;
	long count = 0;
	ssize_t n;

	(void)printf("get %s %s: ", w[0], w[1]);
	if (fd < 0 || dprintf(fd, "get %s\n", w[2]) < 0) {
		(void)printf("%s\n", strerrorname_np(errno));
		return;
	}
	while ((n = read(fd, piece, sizeof(piece))) > 0) {
		sum = crc(sum, piece, (size_t)n);
		count += n;
	}
	(void)printf("%ld %08x\n", count, sum);
	(void)close(fd);
}

/* HOST PORT: can it be connected to? */
static void
step_try(char **w)
{
	int fd = dial(w[0], w[1]);

	(void)printf("try %s %s: %s\n", w[0], w[1],
	    fd < 0 ? strerrorname_np(errno) : "ok");
	if (fd >= 0)
		(void)close(fd);
}

/* HOST PORT: until an answer comes again, 20 s at most */
static void
step_retry(char **w)
{
	struct timespec nap = { .tv_nsec = 50000000 };

	for (int i = 0; i < 400; i++) {
		int fd = dial(w[0], w[1]);
		char c = 0;

		if (fd >= 0 && write(fd, "get 1\n", 6) == 6 &&
		    read(fd, &c, 1) == 1) {
			(void)close(fd);
			(void)printf("retry %s %s: ok\n", w[0], w[1]);
			return;
		}
		if (fd >= 0)
			(void)close(fd);
		(void)nanosleep(&nap, NULL);
	}
	(void)printf("retry %s %s: no answer\n", w[0], w[1]);
}

/* Kills all that this user may, but not itself. */
static void
step_slay(char **w)
{
	(void)w;
	(void)printf("slay: %s\n",
	    kill(-1, SIGKILL) < 0 ? strerrorname_np(errno) : "ok");
}

static void
step_await(char **w) /* FILE */
{
	struct timespec nap = { .tv_nsec = 50000000 };

	while (access(w[0], F_OK) < 0)
		(void)nanosleep(&nap, NULL);
}

static void
step_out(char **w)
{
	(void)printf("%s\n", w[0]);
}

static const struct {
	const char *name;
	void (*run)(char **w);
	int words;
} steps[] = {
	{ "await", step_await, 1 },
	{ "get", step_get, 3 },
	{ "out", step_out, 1 },
	{ "put", step_put, 3 },
	{ "retry", step_retry, 2 },
	{ "slay", step_slay, 0 },
	{ "try", step_try, 2 },
};

int
main(int argc, char *argv[])
{
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (int at = 1; at < argc;) {
		int end = at;
		size_t i = 0;

		while (end < argc && strcmp(argv[end], ",") != 0)
			end++;
		while (i < sizeof(steps) / sizeof(*steps) &&
		    (strcmp(steps[i].name, argv[at]) != 0 ||
			steps[i].words != end - at - 1))
			i++;
		if (i == sizeof(steps) / sizeof(*steps)) {
			(void)dprintf(2, "dial: no step \"%s\"\n", argv[at]);
			return 2;
		}
		steps[i].run(argv + at + 1);
		at = end + 1;
	}
	return 0;
}
