/* SPDX-License-Identifier: MIT */
/* Which lines of a policy do not go together. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
errors_addv(struct policy_errors *es, int line, const char *fmt, va_list ap)
{
	struct policy_error *e;

	if (es->n++ >= POLICY_ERRORS)
		return;
	e = &es->e[es->n - 1];
	e->line = line;
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
}

void
errors_add(struct policy_errors *es, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	errors_addv(es, line, fmt, ap);
	va_end(ap);
}

static int
by_error_line(const void *a, const void *b)
{
	const struct policy_error *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

/* Of two that are equal, the later line is the one that is wrong. */
static int
by_allow(const void *a, const void *b)
{
	const struct policy_allow *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	if (c == 0)
		c = (x->port > y->port) - (x->port < y->port);
	return c != 0 ? c : (x->line > y->line) - (x->line < y->line);
}

static int
by_service(const void *a, const void *b)
{
	const struct policy_service *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	if (c == 0)
		c = (x->port > y->port) - (x->port < y->port);
	return c != 0 ? c : (x->line > y->line) - (x->line < y->line);
}

/* The first allow of that name and port, or NULL. */
static const struct policy_allow *
find_allow(const struct policy *p, const char *name, int port)
{
	size_t low = 0, high = p->allows;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct policy_allow *a = &p->allow[mid];
		int c = strcmp(a->name, name);

		if (c == 0)
			c = (a->port > port) - (a->port < port);
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < p->allows && p->allow[low].port == port &&
	    strcmp(p->allow[low].name, name) == 0)
		return &p->allow[low];
	return NULL;
}

/* The pattern of the same port that already means all of a, or NULL. */
static const struct policy_allow *
find_cover(const struct policy *p, const struct policy_allow *a)
{
	const struct policy_allow *c = NULL;
	char dotted[NAME_SIZE + 1];
	const char *s = a->name;

	if (s[0] != '.') {
		(void)snprintf(dotted, sizeof(dotted), ".%s", s);
		c = find_allow(p, dotted, a->port);
	}
	for (s = strchr(s + 1, '.'); s != NULL && c == NULL;
	     s = strchr(s + 1, '.'))
		c = find_allow(p, s, a->port);
	return c;
}

static void
check_allow(const struct policy *p, const struct policy_allow *a,
    struct policy_errors *es)
{
	const struct policy_allow *same = find_allow(p, a->name, a->port);
	const struct policy_allow *cover = find_cover(p, a);

	if (same != NULL && same != a)
		errors_add(es, a->line, "allow %s is already on line %d",
		    a->name, same->line);
	else if (cover != NULL)
		errors_add(es, a->line,
		    "allow %s is covered by allow %s on line %d", a->name,
		    cover->name, cover->line);
	else if (p->api.line != 0 && strcmp(p->api.host, a->name) == 0)
		errors_add(es, a->line,
		    "%s is the api host of line %d; a tunnel to it would carry "
		    "anybody's key",
		    a->name, p->api.line);
}

static bool
is_allowed_name(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->allows; i++)
		if (name_matches(p->allow[i].name, name))
			return true;
	return p->api.line != 0 && strcmp(p->api.host, name) == 0;
}

static void
check_service(const struct policy *p, size_t nth, struct policy_errors *es)
{
	const struct policy_service *s = &p->service[nth];
	const struct policy_service *before = nth > 0 ? s - 1 : NULL;

	if (strcmp(s->name, POLICY_PROXY) == 0 ||
	    name_matches(".localhost", s->name))
		errors_add(es, s->line, "the name %s is taken", s->name);
	else if (is_allowed_name(p, s->name))
		errors_add(es, s->line, "%s is a host that another line allows",
		    s->name);
	else if (before != NULL && strcmp(before->name, s->name) == 0 &&
	    before->port == s->port)
		errors_add(es, s->line, "service %s %d is already on line %d",
		    s->name, s->port, before->line);
}

/* One address for each name, from 127.0.0.2. */
static void
number_services(struct policy *p, struct policy_errors *es)
{
	unsigned n = 1;

	for (size_t i = 0; i < p->services; i++) {
		struct policy_service *s = &p->service[i];

		if (i == 0 || strcmp(s->name, s[-1].name) != 0)
			n++;
		if (n > POLICY_SERVICES + 1) {
			errors_add(es, s->line, "more than %d services",
			    POLICY_SERVICES);
			return;
		}
		s->number = (unsigned char)n;
	}
}

void
check_policy(struct policy *p, struct policy_errors *es)
{
	if (p->allows > 0)
		qsort(p->allow, p->allows, sizeof(*p->allow), by_allow);
	if (p->services > 0)
		qsort(p->service, p->services, sizeof(*p->service), by_service);
	for (size_t i = 0; i < p->allows; i++)
		check_allow(p, &p->allow[i], es);
	number_services(p, es);
	for (size_t i = 0; i < p->services; i++)
		check_service(p, i, es);
	qsort(es->e, es->n < POLICY_ERRORS ? es->n : POLICY_ERRORS,
	    sizeof(es->e[0]), by_error_line);
}
