/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_REDACT_H
#define DOCKRUN_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"
#include "strv.h"

/*
 * Replaces every secret in a stream of bytes by "***", wherever the reads
 * happen to cut it.  A tail that may be the beginning of a secret is held
 * back until more arrives or the stream ends.
 */
struct redact {
	const struct strv *secrets; /* borrowed; none is empty */
	bool first[256];	    /* bytes a secret can begin with */
	char *held;		    /* may be the beginning of a secret */
	size_t n_held;
	size_t longest;
};

typedef int redact_out(void *ctx, const char *p, size_t n);

int redact_init(struct redact *, const struct strv *secrets) MUST_CHECK;
void redact_release(struct redact *);

/* Passes on all that is certain; -1 when out() says so. */
int redact_feed(struct redact *, const char *p, size_t n, redact_out *,
    void *ctx) MUST_CHECK;
/* The end of the stream: what was held back is no secret. */
int redact_finish(struct redact *, redact_out *, void *ctx) MUST_CHECK;

/* The same for a whole text, in place: it never grows. */
void redact_text(const struct strv *secrets, char *text);

#endif
