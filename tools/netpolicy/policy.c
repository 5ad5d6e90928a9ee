/* SPDX-License-Identifier: MIT */
/* Reads a policy line by line. */
#include "policy.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "check.h"
#include "err.h"
#include "words.h"

/* The line that is being read. */
struct reader {
	struct policy *p;
	struct policy_errors *errors;
	int line;
	bool no_memory;
};

static void PRINTF_LIKE(2, 3) refuse(struct reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	errors_addv(r->errors, r->line, fmt, ap);
	va_end(ap);
}

/* One more element of a list of n that is about to grow. */
static void *
grow(struct reader *r, void **list, size_t n, size_t size)
{
	/* doubles at every power of two */
	void *p = *list;

	if ((n & (n - 1)) == 0)
		p = reallocarray(*list, n == 0 ? 1 : n * 2, size);
	if (p == NULL) {
		r->no_memory = true;
		return NULL;
	}
	*list = p;
	return (char *)p + n * size;
}

static bool
parse_port(struct reader *r, const char *s, int *port)
{
	if (words_number(s, 1, 65535, port))
		return true;
	refuse(r, "port \"%s\" is not from 1 to 65535", s);
	return false;
}

/* "port=N" when it is the next word, else the default. */
static bool
take_port(struct reader *r, struct words *w, int *port)
{
	static const char key[] = "port=";

	*port = 443;
	if (w->next == w->n || strncmp(w->v[w->next], key, strlen(key)) != 0)
		return true;
	return parse_port(r, w->v[w->next++] + strlen(key), port);
}

static bool
take_key(struct reader *r, struct words *w, char key[64])
{
	static const char prefix[] = "key=";
	const char *s = words_take(w);

	if (s == NULL || strncmp(s, prefix, strlen(prefix)) != 0) {
		refuse(r,
		    "api needs key=NAME after its host, the environment "
		    "variable that has the key");
		return false;
	}
	s += strlen(prefix);
	if (!words_is_variable(s)) {
		refuse(r,
		    "key=\"%s\" is not a variable such as "
		    "ANTHROPIC_API_KEY: capitals, digits, underscores, ending "
		    "in _KEY or _TOKEN",
		    s);
		return false;
	}
	(void)snprintf(key, 64, "%s", s);
	return true;
}

static bool
take_pair(struct reader *r, struct words *w, struct policy_api *a)
{
	const char *method = words_take(w), *path = words_take(w);
	struct policy_pair *pair = &a->pair[a->pairs];

	if (!words_is_method(method)) {
		refuse(r,
		    "\"%s\" is not a method: GET, HEAD, POST, PUT, PATCH or "
		    "DELETE, then a path",
		    method);
		return false;
	}
	if (path == NULL || !words_is_path(path)) {
		refuse(r,
		    "%s needs a plain path such as /v1/messages, not \"%s\"",
		    method, path == NULL ? "" : path);
		return false;
	}
	for (size_t i = 0; i < a->pairs; i++)
		if (strcmp(a->pair[i].method, method) == 0 &&
		    strcmp(a->pair[i].path, path) == 0) {
			refuse(r, "%s %s is there twice", method, path);
			return false;
		}
	if (a->pairs == POLICY_PAIRS) {
		refuse(r, "more than %d methods and paths", POLICY_PAIRS);
		return false;
	}
	(void)snprintf(pair->method, sizeof(pair->method), "%s", method);
	(void)snprintf(pair->path, sizeof(pair->path), "%s", path);
	a->pairs++;
	return true;
}

static void
parse_api(struct reader *r, struct words *w)
{
	const char *host = words_take(w), *why;
	struct policy_api a = { .line = r->line };

	if (host == NULL) {
		refuse(r, "api needs a host");
		return;
	}
	why = name_parse_remote(host, strlen(host), a.host);
	if (why != NULL) {
		refuse(r, "\"%s\" %s", host, why);
		return;
	}
	if (!take_port(r, w, &a.port) || !take_key(r, w, a.key))
		return;
	if (w->next == w->n) {
		refuse(r, "api needs what may be asked: METHOD /path ...");
		return;
	}
	while (w->next < w->n)
		if (!take_pair(r, w, &a))
			return;
	if (r->p->api.line != 0)
		refuse(
		    r, "a second api; the first is on line %d", r->p->api.line);
	else
		r->p->api = a;
}

static void
parse_allow(struct reader *r, struct words *w)
{
	const char *name = words_take(w), *why;
	struct policy_allow a = { .line = r->line }, *slot;
	void *list = r->p->allow;

	if (name == NULL) {
		refuse(r, "allow needs a name");
		return;
	}
	why = name_parse_pattern(name, strlen(name), a.name);
	if (why != NULL) {
		refuse(r, "\"%s\" %s", name, why);
		return;
	}
	if (!take_port(r, w, &a.port))
		return;
	if (w->next < w->n) {
		refuse(r, "unknown word \"%s\" after allow %s", w->v[w->next],
		    name);
		return;
	}
	slot = grow(r, &list, r->p->allows, sizeof(*slot));
	if (slot == NULL)
		return;
	*slot = a;
	r->p->allow = list;
	r->p->allows++;
}

static void
parse_service(struct reader *r, struct words *w)
{
	const char *name = words_take(w), *port = words_take(w);
	const char *to = words_take(w), *target = words_take(w), *why;
	struct policy_service s = { .line = r->line }, *slot;
	void *list = r->p->service;

	if (target == NULL || strcmp(to, "to") != 0 || w->next < w->n) {
		refuse(r,
		    "a service is: service NAME PORT to "
		    "127.0.0.1:PORT, or to unix:/PATH");
		return;
	}
	why = name_parse(name, strlen(name), s.name);
	if (why != NULL) {
		refuse(r, "\"%s\" %s", name, why);
		return;
	}
	if (!parse_port(r, port, &s.port))
		return;
	if (!words_is_target(target)) {
		refuse(r,
		    "\"%s\" is not a target: 127.0.0.1:PORT (or another "
		    "loopback address), or unix:/PATH",
		    target);
		return;
	}
	(void)snprintf(s.target, sizeof(s.target), "%s", target);
	slot = grow(r, &list, r->p->services, sizeof(*slot));
	if (slot == NULL)
		return;
	*slot = s;
	r->p->service = list;
	r->p->services++;
}

static const struct {
	const char *word;
	void (*parse)(struct reader *, struct words *);
} rules[] = {
	{ "allow", parse_allow },
	{ "api", parse_api },
	{ "service", parse_service },
};

static void
parse_line(struct reader *r, const char *line, size_t n)
{
	struct words w;
	const char *why = words_split(line, n, &w), *first;

	if (why != NULL) {
		refuse(r, "%s", why);
		return;
	}
	first = words_take(&w);
	if (first == NULL)
		return;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (strcmp(rules[i].word, first) == 0) {
			rules[i].parse(r, &w);
			return;
		}
	refuse(r,
	    "unknown word \"%s\"; a line begins with api, allow or "
	    "service",
	    first);
}

int
policy_parse(const char *text, size_t len, struct policy *p,
    struct policy_errors *errors, struct err *e)
{
	struct reader r = { .p = p, .errors = errors };
	size_t from = 0;

	memset(p, 0, sizeof(*p));
	errors->n = 0;
	while (from < len && !r.no_memory) {
		const char *end = memchr(text + from, '\n', len - from);
		size_t n =
		    end == NULL ? len - from : (size_t)(end - text) - from;

		if (++r.line > POLICY_LINES) {
			refuse(&r, "more than %d lines", POLICY_LINES);
			break;
		}
		parse_line(&r, text + from, n);
		from += n + 1;
	}
	if (r.no_memory)
		return err_set(e, EX_OSERR, "out of memory");
	check_policy(p, errors);
	return 0;
}

void
policy_release(struct policy *p)
{
	free(p->allow);
	free(p->service);
	memset(p, 0, sizeof(*p));
}

bool
policy_is_bearer(const struct policy_api *a)
{
	static const char suffix[] = "_AUTH_TOKEN";
	size_t n = strlen(a->key), k = strlen(suffix);

	return n > k && strcmp(a->key + (n - k), suffix) == 0;
}
