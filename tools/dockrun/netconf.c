/* SPDX-License-Identifier: MIT */
/* The files that say what a session can reach, and by which names. */
#include "netconf.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"

#define FILE_MAX  65536
#define LABEL_MAX 63
#define LABEL_CHARS                                             \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-" \
	"0123456789"

/* Takes the two words of a line. */
typedef int take_line(
    struct netconf *, const char *first, const char *second, struct err *);

static int
parse_address(const char *s, struct in_addr *out, struct err *e)
{
	if (inet_pton(AF_INET, s, out) != 1)
		return err_set(
		    e, EX_CONFIG, "\"%.60s\" is not an IPv4 address", s);
	if ((ntohl(out->s_addr) >> 24) != 127)
		return err_set(
		    e, EX_CONFIG, "\"%s\" is not on loopback (127.x.y.z)", s);
	return 0;
}

static bool
same_place(const struct relay_address *a, const struct relay_address *b)
{
	return a->at.tcp.sin_port == b->at.tcp.sin_port &&
	    a->at.tcp.sin_addr.s_addr == b->at.tcp.sin_addr.s_addr;
}

static int
take_relay(struct netconf *c, const char *from, const char *to, struct err *e)
{
	struct netconf_relay *r = &c->relay[c->n_relays];
	const char *wrong;

	if (c->n_relays == NETCONF_MAX)
		return err_set(
		    e, EX_CONFIG, "more than %d relays", NETCONF_MAX);
	wrong = relay_parse_tcp(&r->from, from);
	if (wrong != NULL)
		return err_set(e, EX_CONFIG, "\"%.60s\" %s", from, wrong);
	wrong = relay_parse(&r->to, to);
	if (wrong != NULL)
		return err_set(e, EX_CONFIG, "\"%.60s\" %s", to, wrong);
	for (const struct netconf_relay *o = c->relay; o < r; o++)
		if (same_place(&o->from, &r->from))
			return err_set(e, EX_CONFIG,
			    "\"%s\" is taken: another relay listens there",
			    from);
	c->n_relays++;
	return 0;
}

static bool
is_label(const char *s, size_t n)
{
	return n > 0 && n <= LABEL_MAX && strspn(s, LABEL_CHARS) >= n &&
	    s[0] != '-' && s[n - 1] != '-';
}

/* The last label is not one of an address. */
static bool
is_host_name(const char *s)
{
	size_t n = strcspn(s, ".");

	if (strlen(s) >= NETCONF_NAME)
		return false;
	while (is_label(s, n) && s[n] == '.') {
		s += n + 1;
		n = strcspn(s, ".");
	}
	return is_label(s, n) && strspn(s, "0123456789") < n;
}

static int
take_host(
    struct netconf *c, const char *address, const char *name, struct err *e)
{
	struct netconf_host *h = &c->host[c->n_hosts];

	if (c->n_hosts == NETCONF_MAX)
		return err_set(e, EX_CONFIG, "more than %d names", NETCONF_MAX);
	if (parse_address(address, &h->address, e) < 0)
		return -1;
	if (!is_host_name(name))
		return err_set(e, EX_CONFIG,
		    "\"%.60s\" is not a host name of letters, digits and -",
		    name);
	for (const struct netconf_host *o = c->host; o < h; o++)
		if (strcasecmp(o->name, name) == 0)
			return err_set(e, EX_CONFIG,
			    "\"%.60s\" has an address already", name);
	(void)snprintf(h->name, sizeof(h->name), "%s", name);
	c->n_hosts++;
	return 0;
}

/* Cuts a line into two words. */
static int
parse_line(struct netconf *c, char *line, take_line *take, struct err *e)
{
	static const char blank[] = " \t\r";
	char *first = line + strspn(line, blank);
	char *second = first + strcspn(first, blank);
	char *end;

	if (*first == '\0' || *first == '#')
		return 0;
	if (*second != '\0')
		*second++ = '\0';
	second += strspn(second, blank);
	end = second + strcspn(second, blank);
	if (*second == '\0' ||
	    (*end != '\0' && end[strspn(end, blank)] != '#' &&
		end[strspn(end, blank)] != '\0'))
		return err_set(e, EX_CONFIG, "not two words");
	*end = '\0';
	return take(c, first, second, e);
}

/* The number of bytes, size if there are more, or -1. */
static ssize_t
read_text(const char *path, char *text, size_t size)
{
	AUTO(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = fd;

	while (n >= 0 && have < size) {
		n = read(fd, text + have, size - have);
		if (n == 0)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? -1 : (ssize_t)have;
}

static int
read_file(struct netconf *c, const char *path, take_line *take, struct err *e)
{
	char text[FILE_MAX + 1];
	ssize_t n = read_text(path, text, sizeof(text));
	char *line = text;

	if (n < 0)
		return err_sys(e, EX_NOINPUT, "%s", path);
	if (n > FILE_MAX)
		return err_set(
		    e, EX_CONFIG, "%s: over %d bytes", path, FILE_MAX);
	text[n] = '\0';
	if (strlen(text) != (size_t)n)
		return err_set(e, EX_CONFIG, "%s: has a NUL byte", path);
	for (int number = 1; line != NULL; number++) {
		char *next = strchr(line, '\n');

		if (next != NULL)
			*next++ = '\0';
		if (parse_line(c, line, take, e) < 0)
			return err_wrap(e, "%s:%d", path, number);
		line = next;
	}
	return 0;
}

int
netconf_read_relays(struct netconf *c, const char *path, struct err *e)
{
	return read_file(c, path, take_relay, e);
}

int
netconf_read_hosts(struct netconf *c, const char *path, struct err *e)
{
	return read_file(c, path, take_host, e);
}
