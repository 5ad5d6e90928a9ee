/* SPDX-License-Identifier: MIT */
/* Any line of the proxy's log: every word lies inside it, none is empty. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "squidlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(struct squidlog_word w, const char *line, size_t n)
{
	if (w.n == 0 || w.p < line || w.p + w.n > line + n)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data;
	struct squidlog l;

	if (squidlog_parse(line, size, &l) < 0)
		return 0;
	if (l.time_ms < 0 || l.port < 0 || l.status < 0 || l.ms < 0 ||
	    l.up < 0 || l.down < 0)
		abort();
	check(l.client, line, size);
	check(l.method, line, size);
	check(l.target, line, size);
	check(l.result, line, size);
	check(l.rule, line, size);
	check(l.sni, line, size);
	check(l.bump, line, size);
	(void)squidlog_is_from(&l, "127.64.0.1");
	(void)squidlog_is_denied(&l);
	(void)squidlog_is_request(&l);
	return 0;
}
