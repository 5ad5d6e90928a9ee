/* SPDX-License-Identifier: MIT */
/* Says what a policy allows, and which line says so. */
#include "decide.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"
#include "words.h"

static const char query[] = "?beta=true";

int
decide_parse(const char *text, struct decide_question *q, struct err *e)
{
	const char *colon = strrchr(text, ':'), *why;
	size_t n = strlen(text);

	q->port = 0;
	/* of an IPv6 address only what follows "]" is a port */
	if (colon != NULL &&
	    (strchr(text, ':') == colon ||
		(colon > text && colon[-1] == ']'))) {
		n = (size_t)(colon - text);
		if (!words_number(colon + 1, 1, 65535, &q->port))
			return err_set(e, EX_USAGE,
			    "%s: port \"%s\" is not from 1 to 65535", text,
			    colon + 1);
	}
	if (n > 1 && text[n - 1] == '.')
		n--; /* a resolver's way to write the same name */
	if (n > 0 && n <= NAME_MAX_LEN && name_is_address(text, n)) {
		(void)snprintf(q->host, sizeof(q->host), "%.*s", (int)n, text);
		return 0;
	}
	why = name_parse(text, n, q->host);
	if (why != NULL)
		return err_set(e, EX_USAGE, "\"%s\" %s", text, why);
	return 0;
}

static struct decide_answer PRINTF_LIKE(4, 5)
    answer(int line, int port, const char *rule, const char *fmt, ...)
{
	struct decide_answer a = {
		.allow = rule[0] == '-',
		.line = line,
		.port = port,
		.rule = rule,
	};
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(a.why, sizeof(a.why), fmt, ap);
	va_end(ap);
	return a;
}

static bool
is_path(const char *asked, const char *path)
{
	size_t n = strlen(path);

	return strncmp(asked, path, n) == 0 &&
	    (asked[n] == '\0' || strcmp(asked + n, query) == 0);
}

static struct decide_answer
ask_gate(const struct policy_api *a, const struct decide_question *q)
{
	int port = q->port == 0 ? a->port : q->port;

	if (q->method == NULL || strcmp(q->method, "CONNECT") == 0)
		return answer(a->line, port, "api-host",
		    "a tunnel to the api host is refused on purpose: it would "
		    "carry anybody's key; the gate takes METHOD PATH");
	if (port != a->port)
		return answer(a->line, port, "port",
		    "the gate goes to port %d only", a->port);
	for (size_t i = 0; i < a->pairs; i++)
		if (strcmp(q->method, a->pair[i].method) == 0 &&
		    is_path(q->path, a->pair[i].path))
			return answer(a->line, port, "-",
			    "the gate passes %s %s with the key of %s",
			    a->pair[i].method, a->pair[i].path, a->key);
	return answer(a->line, port, "method-path",
	    "the gate does not pass this method and path");
}

static struct decide_answer
ask_tunnel(const struct policy *p, const struct decide_question *q)
{
	int port = q->port == 0 ? 443 : q->port;
	const struct policy_allow *other = NULL;

	for (size_t i = 0; i < p->allows; i++) {
		const struct policy_allow *a = &p->allow[i];

		if (!name_matches(a->name, q->host))
			continue;
		if (a->port == port)
			return answer(a->line, port, "-",
			    "allow %s port=%d: a TLS tunnel; what is asked "
			    "inside it is not seen",
			    a->name, port);
		other = a;
	}
	if (other != NULL)
		return answer(other->line, port, "port",
		    "allow %s port=%d is for that port only", other->name,
		    other->port);
	return answer(0, port, "name", "no line names it");
}

/* The service of that name and port, or only of that name. */
static const struct policy_service *
find_service(const struct policy *p, const struct decide_question *q)
{
	const struct policy_service *named = NULL;

	for (size_t i = 0; i < p->services; i++) {
		const struct policy_service *s = &p->service[i];

		if (strcmp(s->name, q->host) != 0)
			continue;
		if (q->port == 0 || q->port == s->port)
			return s;
		named = s;
	}
	return named;
}

struct decide_answer
decide(const struct policy *p, const struct decide_question *q)
{
	const struct policy_service *s = find_service(p, q);
	int port = q->port == 0 ? 443 : q->port;

	if (name_is_address(q->host, strlen(q->host)))
		return answer(0, port, "ip-literal",
		    "names only: no line can allow an address");
	if (s != NULL && q->port != 0 && q->port != s->port)
		return answer(s->line, port, "port", "service %s has port %d",
		    s->name, s->port);
	if (s != NULL)
		return answer(s->line, s->port, "-",
		    "service %s %d is relayed to %s", s->name, s->port,
		    s->target);
	if (p->api.line != 0 && strcmp(p->api.host, q->host) == 0)
		return ask_gate(&p->api, q);
	return ask_tunnel(p, q);
}
