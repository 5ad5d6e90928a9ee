/* SPDX-License-Identifier: MIT */
/* -t hosts: the names a session knows, "ADDRESS NAME". */
#include "gen.h"

#include <string.h>

static int
hosts_write(struct gen *g, struct err *e)
{
	const struct policy *p = g->policy;

	(void)e;
	if (p->allows > 0)
		gen_put(g, "127.0.0.1 %s\n", POLICY_PROXY);
	for (size_t i = 0; i < p->services; i++) {
		const struct policy_service *s = &p->service[i];

		if (i == 0 || s->number != s[-1].number)
			gen_put(g, "127.0.0.%u %s\n", s->number, s->name);
	}
	return 0;
}

const struct gen_type gen_hosts = { "hosts", hosts_write };
