/* SPDX-License-Identifier: MIT */
/* -t relays: "LISTEN TARGET", from inside a session to the host. */
#include "gen.h"

static int
relays_write(struct gen *g, struct err *e)
{
	const struct policy *p = g->policy;

	(void)e;
	if (p->api.line != 0)
		gen_put(g, "127.0.0.1:8080 127.0.0.1:%d\n", g->gate_port);
	if (p->allows > 0)
		gen_put(g, "127.0.0.1:3128 127.0.0.1:%d\n", g->proxy_port);
	for (size_t i = 0; i < p->services; i++)
		gen_put(g, "127.0.0.%u:%d %s\n", p->service[i].number,
		    p->service[i].port, p->service[i].target);
	return 0;
}

const struct gen_type gen_relays = { "relays", relays_write };
