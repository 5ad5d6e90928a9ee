/* SPDX-License-Identifier: MIT */
/* -t env: what tells a session's clients about the proxy. */
#include "gen.h"

static void
put_direct(struct gen *g, const char *variable)
{
	const struct policy *p = g->policy;

	gen_put(g, "%s=localhost,127.0.0.1", variable);
	for (size_t i = 0; i < p->services; i++) {
		const struct policy_service *s = &p->service[i];

		if (i == 0 || s->number != s[-1].number)
			gen_put(g, ",%s", s->name);
	}
	gen_put(g, "\n");
}

/* Some clients read only capitals, some only small letters. */
static int
env_write(struct gen *g, struct err *e)
{
	static const char *const proxies[] = { "HTTPS_PROXY", "HTTP_PROXY",
		"http_proxy", "https_proxy" };

	(void)e;
	if (g->policy->allows == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(proxies); i++)
		gen_put(g, "%s=http://" POLICY_PROXY ":3128\n", proxies[i]);
	put_direct(g, "NO_PROXY");
	put_direct(g, "no_proxy");
	return 0;
}

const struct gen_type gen_env = { "env", env_write };
