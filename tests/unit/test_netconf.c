/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/netconf.c */
/* What a session can reach: what is taken, and what is said of the rest. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sysexits.h>

#include <cmocka.h>

#include "err.h"
#include "netconf.h"
#include "scratch.h"

#define LABEL63                                           \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"bbbbbbbbbbbbbbbb"
#define L LABEL63

enum which {
	RELAYS,
	HOSTS,
};

/* Reads text as such a file, called "f". */
static int
read_text(struct scratch *s, enum which which, const char *text,
    struct netconf *c, struct err *e)
{
	char path[100];

	(void)snprintf(path, sizeof(path), "%s/f", s->path);
	assert_int_equal(scratch_put(s, "f", text), 0);
	*e = (struct err){ 0 };
	return which == RELAYS ? netconf_read_relays(c, path, e)
			       : netconf_read_hosts(c, path, e);
}

static void
relays_are_taken_in_order(void **state)
{
	struct netconf c = { 0 };
	struct err e;

	assert_int_equal(read_text(*state, RELAYS,
			     "# a comment\n\n"
			     "127.0.0.1:8080 127.0.0.1:18080\n"
			     " \t127.0.0.2:5432\tunix:/run/x.sock  # why\r\n"
			     "127.0.0.2:5433   127.255.255.254:65535",
			     &c, &e),
	    0);
	assert_int_equal(c.n_relays, 3);
	assert_int_equal(ntohs(c.relay[0].from.at.tcp.sin_port), 8080);
	assert_int_equal(c.relay[0].to.at.any.sa_family, AF_INET);
	assert_int_equal(ntohs(c.relay[0].to.at.tcp.sin_port), 18080);
	assert_int_equal(
	    ntohl(c.relay[1].from.at.tcp.sin_addr.s_addr), 0x7f000002);
	assert_int_equal(c.relay[1].to.at.any.sa_family, AF_UNIX);
	assert_string_equal(c.relay[1].to.at.local.sun_path, "/run/x.sock");
	assert_int_equal(ntohs(c.relay[2].to.at.tcp.sin_port), 65535);
}

static void
names_are_taken_with_their_addresses(void **state)
{
	struct netconf c = { 0 };
	struct err e;

	assert_int_equal(read_text(*state, HOSTS,
			     "127.0.0.1 quest-proxy\n127.0.0.2 A.b-1.c2\n"
			     "127.0.0.2 " L "." L "." L "."
			     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			     "aaaaaaaaaaaaaaa\n",
			     &c, &e),
	    0);
	assert_int_equal(c.n_hosts, 3);
	assert_string_equal(c.host[0].name, "quest-proxy");
	assert_int_equal(ntohl(c.host[1].address.s_addr), 0x7f000002);
	assert_string_equal(c.host[1].name, "A.b-1.c2");
	assert_int_equal(strlen(c.host[2].name), 253);
}

static const struct {
	enum which which;
	const char *text;
	const char *err; /* after the file's name */
} refusals[] = {
	{ RELAYS, "127.0.0.1:80\n", ":1: not two words" },
	{ RELAYS, "\n127.0.0.1:80 127.0.0.1:80 x\n", ":2: not two words" },
	{ RELAYS, "127.0.0.1:80#x 127.0.0.1:80\n",
	    ":1: \"127.0.0.1:80#x\" has no port from 1 to 65535" },
	{ RELAYS, "10.0.0.1:80 127.0.0.1:80\n",
	    ":1: \"10.0.0.1:80\" is not on loopback (127.x.y.z)" },
	{ RELAYS, "0.0.0.0:80 127.0.0.1:80\n",
	    ":1: \"0.0.0.0:80\" is not on loopback (127.x.y.z)" },
	{ RELAYS, "127.0.0.1:80 169.254.169.254:80\n",
	    ":1: \"169.254.169.254:80\" is not on loopback (127.x.y.z)" },
	{ RELAYS, "127.0.0.1:80 localhost:80\n",
	    ":1: \"localhost:80\" is not an IPv4 address and a port" },
	{ RELAYS, "127.0.0.1:0 127.0.0.1:80\n",
	    ":1: \"127.0.0.1:0\" has no port from 1 to 65535" },
	{ RELAYS, "127.0.0.1:80 127.0.0.1:65536\n",
	    ":1: \"127.0.0.1:65536\" has no port from 1 to 65535" },
	{ RELAYS, "127.0.0.1:80 unix:x\n",
	    ":1: \"unix:x\" is not an absolute path" },
	{ RELAYS, "unix:/a 127.0.0.1:80\n",
	    ":1: \"unix:/a\" is not an IPv4 address and a port" },
	{ RELAYS, "127.0.0.1:80 127.0.0.1:1\n127.0.0.1:80 127.0.0.1:2\n",
	    ":2: \"127.0.0.1:80\" is taken: another relay listens there" },
	{ HOSTS, "127.0.0.1\n", ":1: not two words" },
	{ HOSTS, "10.0.0.1 a\n",
	    ":1: \"10.0.0.1\" is not on loopback (127.x.y.z)" },
	{ HOSTS, "host-gateway a\n",
	    ":1: \"host-gateway\" is not an IPv4 address" },
	{ HOSTS, "127.1 a\n", ":1: \"127.1\" is not an IPv4 address" },
	{ HOSTS, "127.0.0.1 a\n127.0.0.2 b\n127.0.0.3 A\n",
	    ":3: \"A\" has an address already" },
#define BAD_NAME(n)                                                       \
	{                                                                 \
		HOSTS, "127.0.0.1 " n "\n",                               \
		    ":1: \"" n "\" is not a host name of letters, digits" \
		    " and -"                                              \
	}
	BAD_NAME("a_b"),
	BAD_NAME("-a"),
	BAD_NAME("a-"),
	BAD_NAME("a.-b"),
	BAD_NAME("a..b"),
	BAD_NAME(".a"),
	BAD_NAME("a."),
	BAD_NAME("a:1"),
	BAD_NAME("10.0.0.1"),
	BAD_NAME("b\xc3\xbc"),
	BAD_NAME("*"),
};

static void
a_wrong_line_is_refused_with_its_number(void **state)
{
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		struct netconf c = { 0 };
		struct err e;
		char want[300];

		(void)snprintf(
		    want, sizeof(want), "%s/f%s", s->path, refusals[i].err);
		if (read_text(*state, refusals[i].which, refusals[i].text, &c,
			&e) == 0)
			fail_msg("accepted: %s", refusals[i].text);
		assert_string_equal(e.text, want);
		assert_int_equal(e.exit, EX_CONFIG);
	}
}

static void
a_label_is_not_too_long(void **state)
{
	struct netconf c = { 0 };
	struct err e;

	assert_int_equal(
	    read_text(*state, HOSTS, "127.0.0.1 " L "\n", &c, &e), 0);
	assert_int_equal(
	    read_text(*state, HOSTS, "127.0.0.1 c" L "\n", &c, &e), -1);
	assert_int_equal(read_text(*state, HOSTS,
			     "127.0.0.1 " L "." L "." L "." L "\n", &c, &e),
	    -1);
	assert_int_equal(c.n_hosts, 1);
}

static void
there_are_no_more_than_64(void **state)
{
	static char text[65 * 40];
	struct netconf c = { 0 };
	struct err e;
	size_t n = 0;

	for (int i = 1; i <= 64; i++)
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "127.0.0.1:%d unix:/s\n", i);
	assert_int_equal(read_text(*state, RELAYS, text, &c, &e), 0);
	assert_int_equal(c.n_relays, NETCONF_MAX);
	assert_int_equal(
	    read_text(*state, RELAYS, "127.0.0.2:1 unix:/s\n", &c, &e), -1);
	assert_non_null(strstr(e.text, "/f:1: more than 64 relays"));
	n = 0;
	for (int i = 1; i <= 65; i++)
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "127.0.0.1 n%d\n", i);
	assert_int_equal(read_text(*state, HOSTS, text, &c, &e), -1);
	assert_non_null(strstr(e.text, "/f:65: more than 64 names"));
}

static void
what_is_no_text_is_refused(void **state)
{
	const struct scratch *s = *state;
	struct netconf c = { 0 };
	struct err e = { 0 };
	char path[100];
	int fd;

	assert_int_equal(netconf_read_relays(&c, "/dev/zero", &e), -1);
	assert_string_equal(e.text, "/dev/zero: over 65536 bytes");
	assert_int_equal(netconf_read_relays(&c, s->path, &e), -1);
	assert_int_equal(e.exit, EX_NOINPUT);
	assert_int_equal(netconf_read_relays(&c, "/no/such", &e), -1);
	assert_int_equal(e.exit, EX_NOINPUT);
	assert_string_equal(e.text, "/no/such");
	assert_int_equal(scratch_put(s, "f", "127.0.0.1:1 unix:/s"), 0);
	(void)snprintf(path, sizeof(path), "%s/f", s->path);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "\0x\n", 3), 3);
	(void)close(fd);
	assert_int_equal(netconf_read_relays(&c, path, &e), -1);
	assert_non_null(strstr(e.text, "/f: has a NUL byte"));
	assert_int_equal(c.n_relays, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(relays_are_taken_in_order),
		SCRATCH_TEST(names_are_taken_with_their_addresses),
		SCRATCH_TEST(a_wrong_line_is_refused_with_its_number),
		SCRATCH_TEST(a_label_is_not_too_long),
		SCRATCH_TEST(there_are_no_more_than_64),
		SCRATCH_TEST(what_is_no_text_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
