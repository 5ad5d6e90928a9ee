/* SPDX-License-Identifier: MIT */
/* -t key: the line that gives the key to the gate; a secret. */
#include "gen.h"

#include <string.h>
#include <sysexits.h>

#include "err.h"

enum { KEY_MIN = 8, KEY_MAX = 512 };

/* Nothing that could end the quoted word in squid.conf. */
static bool
is_plain(const char *key)
{
	for (; *key != '\0'; key++)
		if (*key <= 0x20 || *key > 0x7e ||
		    strchr("\"'\\%$#", *key) != NULL)
			return false;
	return true;
}

static int
key_write(struct gen *g, struct err *e)
{
	const struct policy_api *a = &g->policy->api;
	size_t n = g->key == NULL ? 0 : strlen(g->key);

	if (a->line == 0) {
		g->out->len = 0; /* not even a comment */
		return 0;
	}
	if (n == 0)
		return err_set(e, EX_CONFIG, "Set %s", a->key);
	if (n < KEY_MIN || n > KEY_MAX || !is_plain(g->key))
		return err_set(e, EX_CONFIG,
		    "%s is no key: %d to %d plain characters, no "
		    "blanks, quotes, \\, %%, $ or #",
		    a->key, KEY_MIN, KEY_MAX);
	if (policy_is_bearer(a))
		gen_put(g,
		    "request_header_add Authorization \"Bearer %s\" gate\n",
		    g->key);
	else
		gen_put(
		    g, "request_header_add X-Api-Key \"%s\" gate\n", g->key);
	return 0;
}

const struct gen_type gen_key = { "key", key_write };
