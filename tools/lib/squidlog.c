/* SPDX-License-Identifier: MIT */
/* Reads lines of the proxy's access log. */
#include "squidlog.h"

#include <string.h>

enum { WORDS = 13, DIGITS_MAX = 15 };

/* "key=value" without its key, or an empty word. */
static struct squidlog_word
value_of(struct squidlog_word w, const char *key)
{
	size_t n = strlen(key);
	struct squidlog_word none = { w.p, 0 };

	if (w.n <= n || memcmp(w.p, key, n) != 0)
		return none;
	return (struct squidlog_word){ w.p + n, w.n - n };
}

/* -1 when it is not a number; "-" is squid's way to say zero. */
static int64_t
number(struct squidlog_word w)
{
	int64_t v = 0;

	if (w.n == 1 && w.p[0] == '-')
		return 0;
	if (w.n == 0 || w.n > DIGITS_MAX)
		return -1;
	for (size_t i = 0; i < w.n; i++) {
		if (w.p[i] < '0' || w.p[i] > '9')
			return -1;
		v = v * 10 + (w.p[i] - '0');
	}
	return v;
}

/* "1763450000.123" */
static int64_t
milliseconds(struct squidlog_word w)
{
	int64_t s, ms;

	if (w.n < 5 || w.p[w.n - 4] != '.')
		return -1;
	s = number((struct squidlog_word){ w.p, w.n - 4 });
	ms = number((struct squidlog_word){ w.p + w.n - 3, 3 });
	return s < 0 || s > INT64_C(99999999999) || ms < 0 ? -1 : s * 1000 + ms;
}

/* Exactly WORDS words with one space between each two of them. */
static bool
split(const char *line, size_t n, struct squidlog_word w[WORDS])
{
	size_t have = 0, from = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && line[i] != ' ')
			continue;
		if (have == WORDS || i == from)
			return false;
		w[have++] = (struct squidlog_word){ line + from, i - from };
		from = i + 1;
	}
	return have == WORDS;
}

int
squidlog_parse(const char *line, size_t n, struct squidlog *l)
{
	struct squidlog_word w[WORDS];

	if (n == 0 || n > SQUIDLOG_LINE_MAX || !split(line, n, w))
		return -1;
	l->time_ms = milliseconds(w[0]);
	l->port = number(value_of(w[1], "port="));
	l->client = value_of(w[2], "client=");
	l->method = value_of(w[3], "method=");
	l->target = value_of(w[4], "target=");
	l->status = number(value_of(w[5], "status="));
	l->result = value_of(w[6], "result=");
	l->rule = value_of(w[7], "rule=");
	l->sni = value_of(w[8], "sni=");
	l->bump = value_of(w[9], "bump=");
	l->ms = number(value_of(w[10], "ms="));
	l->up = number(value_of(w[11], "up="));
	l->down = number(value_of(w[12], "down="));
	if (l->time_ms < 0 || l->port < 0 || l->status < 0 || l->ms < 0 ||
	    l->up < 0 || l->down < 0)
		return -1;
	if (l->client.n == 0 || l->method.n == 0 || l->target.n == 0 ||
	    l->result.n == 0 || l->rule.n == 0 || l->sni.n == 0 ||
	    l->bump.n == 0)
		return -1;
	return 0;
}

static bool
is_word(struct squidlog_word w, const char *s)
{
	return w.n == strlen(s) && memcmp(w.p, s, w.n) == 0;
}

bool
squidlog_is_denied(const struct squidlog *l)
{
	static const char denied[] = "TCP_DENIED";
	const size_t n = sizeof(denied) - 1;

	/* TCP_DENIED_REPLY, TCP_DENIED_ABORTED and the like too; CONNECT at
	 * the gate is refused before there is a rule to be asked */
	return is_word(l->bump, "terminate") ||
	    is_word(l->target, "error:method-not-allowed") ||
	    (l->result.n >= n && memcmp(l->result.p, denied, n) == 0);
}

bool
squidlog_is_request(const struct squidlog *l)
{
	return is_word(l->bump, "-") && !is_word(l->method, "-");
}

bool
squidlog_is_connect(const struct squidlog *l)
{
	return is_word(l->method, "CONNECT");
}

bool
squidlog_is_bad(const struct squidlog *l)
{
	return l->result.n >= 4 && memcmp(l->result.p, "NONE", 4) == 0;
}

bool
squidlog_is_from(const struct squidlog *l, const char *address)
{
	return is_word(l->client, address);
}
