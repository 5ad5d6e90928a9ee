/* SPDX-License-Identifier: MIT */
/* The table of what a policy can be turned into. */
#include "gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"

static const struct gen_type *const types[] = { &gen_env, &gen_hosts, &gen_key,
	&gen_relays, &gen_squid };

const struct gen_type *
gen_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	return NULL;
}

void
gen_put(struct gen *g, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text) ||
	    buf_add(g->out, text, (size_t)n) < 0)
		g->full = true;
}

int
gen_write(const struct gen_type *t, struct gen *g, struct err *e)
{
	gen_put(g, "# Written by netpolicy gen -t %s; change the policy.\n",
	    t->name);
	gen_put(g, "# policy sha256 %s\n", g->sha256);
	if (t->write(g, e) < 0)
		return -1;
	if (g->full)
		return err_set(e, EX_SOFTWARE, "the output is too long");
	return 0;
}
