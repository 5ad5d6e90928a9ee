/* SPDX-License-Identifier: MIT */
#ifndef FZ_GEN_H
#define FZ_GEN_H

#include <stdbool.h>

#include "buf.h"
#include "compiler.h"
#include "policy.h"

struct err;

/* What the outputs need to know besides the policy. */
struct gen {
	const struct policy *policy;
	const char *sha256; /* of the policy's text */
	const char *dir;    /* the proxy's files; NULL when not given */
	const char *ca;	    /* certificates to trust instead; or NULL */
	const char *root;   /* where squid was unpacked; "" is / */
	const char *key;    /* value of the api's variable, or NULL */
	int gate_port;
	int proxy_port; /* and the one after it */

	struct buf *out;
	bool full; /* something did not fit into out */
};

/* One output each: "squid", "relays", ... */
struct gen_type {
	const char *name;
	int (*write)(struct gen *, struct err *);
};

extern const struct gen_type gen_env, gen_hosts, gen_key, gen_relays, gen_squid;

/* NULL when there is no such type. */
const struct gen_type *gen_find(const char *name);

/* Writes all of it to g->out; the same text for the same policy. */
int gen_write(const struct gen_type *, struct gen *, struct err *) MUST_CHECK;

/* For the types: adds text. */
void gen_put(struct gen *, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
