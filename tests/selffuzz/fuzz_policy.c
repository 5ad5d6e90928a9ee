/* SPDX-License-Identifier: MIT */
/* uses: tools/netpolicy/policy.c tools/netpolicy/check.c */
/* uses: tools/netpolicy/words.c tools/netpolicy/name.c */
/* uses: tools/netpolicy/decide.c tools/netpolicy/gen.c */
/* uses: tools/netpolicy/gen-env.c tools/netpolicy/gen-hosts.c */
/* uses: tools/netpolicy/gen-key.c tools/netpolicy/gen-relays.c */
/* uses: tools/netpolicy/gen-squid.c */
/* Any policy: refused, or all that is made of it is made of plain lines. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decide.h"
#include "err.h"
#include "gen.h"
#include "policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_output(const struct policy *p, const char *type)
{
	struct buf out = BUF_INIT(32 << 20);
	struct gen g = {
		.policy = p,
		.sha256 = "-",
		.dir = "/d",
		.root = "",
		.key = "sk-12345678",
		.gate_port = 8080,
		.proxy_port = 3128,
		.out = &out,
	};
	struct err e;

	if (gen_write(gen_find(type), &g, &e) == 0)
		for (size_t i = 0; i < out.len; i++)
			if (out.data[i] != '\n' &&
			    (out.data[i] < 0x20 || out.data[i] > 0x7e))
				abort();
	buf_release(&out);
}

/* No policy opens the gate's host, an address, or a top-level domain. */
static void
check_answers(const struct policy *p)
{
	struct decide_question q = { .port = 0 };
	struct err e;

	if (p->api.line != 0) {
		memcpy(q.host, p->api.host, sizeof(q.host));
		if (decide(p, &q).allow)
			abort();
	}
	if (decide_parse("127.0.0.1:443", &q, &e) < 0 || decide(p, &q).allow)
		abort();
	for (size_t i = 0; i < p->allows; i++)
		if (strchr(p->allow[i].name + 1, '.') == NULL)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy_errors errors;
	struct policy p;
	struct err e;

	if (policy_parse((const char *)data, size, &p, &errors, &e) == 0 &&
	    errors.n == 0) {
		check_output(&p, "squid");
		check_output(&p, "relays");
		check_output(&p, "hosts");
		check_output(&p, "env");
		check_output(&p, "key");
		check_answers(&p);
	}
	policy_release(&p);
	return 0;
}
