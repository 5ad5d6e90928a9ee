/* SPDX-License-Identifier: MIT */
/* Where a relay listens and where it leads to. */
#include "relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of connections that nobody has taken yet; the kernel may allow fewer. */
#define BACKLOG 1024

/* Decimal, no sign, no zero in front; 0 when it is none. */
static unsigned
parse_port(const char *s)
{
	unsigned v = 0;

	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9' || (v == 0 && *s == '0'))
			return 0;
		v = v * 10 + (unsigned)(*s - '0');
		if (v > 65535)
			return 0;
	}
	return v;
}

const char *
relay_parse_tcp(struct relay_address *a, const char *text)
{
	const char *colon = strchr(text, ':');
	char host[INET_ADDRSTRLEN];
	size_t n = colon != NULL ? (size_t)(colon - text) : 0;

	*a = (struct relay_address){ .len = sizeof(a->at.tcp) };
	if (colon == NULL)
		return "has no port";
	if (n >= sizeof(host))
		return "is not an IPv4 address and a port";
	memcpy(host, text, n);
	host[n] = '\0';
	a->at.tcp.sin_family = AF_INET;
	a->at.tcp.sin_port = htons((in_port_t)parse_port(colon + 1));
	if (inet_pton(AF_INET, host, &a->at.tcp.sin_addr) != 1)
		return "is not an IPv4 address and a port";
	if (a->at.tcp.sin_port == 0)
		return "has no port from 1 to 65535";
	if (ntohl(a->at.tcp.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		return "is not on loopback (127.x.y.z)";
	return NULL;
}

const char *
relay_parse_unix(struct relay_address *a, const char *path)
{
	size_t n = strlen(path);

	*a = (struct relay_address){ .len = sizeof(a->at.local) };
	if (path[0] != '/')
		return "is not an absolute path";
	if (n >= sizeof(a->at.local.sun_path))
		return "is too long for the path of a socket";
	a->at.local.sun_family = AF_UNIX;
	memcpy(a->at.local.sun_path, path, n);
	return NULL;
}

const char *
relay_parse(struct relay_address *a, const char *text)
{
	if (strncmp(text, "unix:", 5) == 0)
		return relay_parse_unix(a, text + 5);
	return relay_parse_tcp(a, text);
}

static int
give_up(int fd)
{
	int saved = errno;

	(void)close(fd);
	errno = saved;
	return -1;
}

int
relay_listen_tcp(const struct relay_address *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, &a->at.any, a->len) < 0 || listen(fd, BACKLOG) < 0)
		return give_up(fd);
	return fd;
}

int
relay_listen_unix(int dfd, const char *name, mode_t mode)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(
	    a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", dfd, name);
	int fd;

	if (n < 0 || (size_t)n >= sizeof(a.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return give_up(fd);
	/* Nobody can connect before it listens. */
	if (fchmodat(dfd, name, mode, 0) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	n = errno;
	(void)unlinkat(dfd, name, 0);
	errno = n;
	return give_up(fd);
}
