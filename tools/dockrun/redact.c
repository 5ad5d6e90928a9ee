/* SPDX-License-Identifier: MIT */
/* Removes secrets from what a session prints. */
#include "redact.h"

#include <stdlib.h>
#include <string.h>

#define MASK	 "***"
#define MASK_LEN (sizeof(MASK) - 1)

int
redact_init(struct redact *r, const struct strv *secrets)
{
	*r = (struct redact){ .secrets = secrets };
	for (size_t i = 0; i < secrets->n; i++) {
		size_t n = strlen(secrets->v[i]);

		r->first[(unsigned char)secrets->v[i][0]] = true;
		if (n > r->longest)
			r->longest = n;
	}
	r->held = malloc(2 * r->longest + 1);
	return r->held != NULL ? 0 : -1;
}

void
redact_release(struct redact *r)
{
	free(r->held);
	r->held = NULL;
}

/* Length of the secret at p, 0 if none; *maybe if p..p+n could become one. */
static size_t
match(const struct strv *secrets, const char *p, size_t n, bool *maybe)
{
	size_t best = 0;

	*maybe = false;
	for (size_t i = 0; i < secrets->n; i++) {
		const char *s = secrets->v[i];
		size_t len = strlen(s);

		if (len <= n && len > best && memcmp(p, s, len) == 0)
			best = len;
		else if (len > n && memcmp(p, s, n) == 0)
			*maybe = true;
	}
	return best;
}

/* Passes on p..p+n but the secrets in it; returns how much is certain. */
static int
scan(struct redact *r, const char *p, size_t n, size_t *used, redact_out *out,
    void *ctx)
{
	size_t from = 0, i = 0;

	while (i < n) {
		bool maybe;
		size_t len;

		if (!r->first[(unsigned char)p[i]]) {
			i++;
			continue;
		}
		len = match(r->secrets, p + i, n - i, &maybe);
		if (maybe)
			break; /* a longer secret may still match */
		if (len == 0) {
			i++;
			continue;
		}
		if ((i > from && out(ctx, p + from, i - from) < 0) ||
		    out(ctx, MASK, MASK_LEN) < 0)
			return -1;
		i += len;
		from = i;
	}
	*used = i;
	return i > from ? out(ctx, p + from, i - from) : 0;
}

/* Settles what was held back with the bytes that follow it. */
static int
settle(struct redact *r, const char **p, size_t *n, redact_out *out, void *ctx)
{
	size_t held = r->n_held;
	size_t more = *n < r->longest ? *n : r->longest;
	size_t used = 0;

	memcpy(r->held + held, *p, more);
	if (scan(r, r->held, held + more, &used, out, ctx) < 0)
		return -1;
	if (used < held) { /* still open; then all bytes are used up */
		r->n_held = held + more - used;
		memmove(r->held, r->held + used, r->n_held);
		used = held + more;
	} else {
		r->n_held = 0;
	}
	*p += used - held;
	*n -= used - held;
	return 0;
}

int
redact_feed(
    struct redact *r, const char *p, size_t n, redact_out *out, void *ctx)
{
	size_t used = 0;

	if (r->n_held > 0 && n > 0 && settle(r, &p, &n, out, ctx) < 0)
		return -1;
	if (n == 0)
		return 0;
	if (scan(r, p, n, &used, out, ctx) < 0)
		return -1;
	memcpy(r->held, p + used, n - used);
	r->n_held = n - used;
	return 0;
}

int
redact_finish(struct redact *r, redact_out *out, void *ctx)
{
	size_t n = r->n_held;

	r->n_held = 0;
	while (n > 0) {
		bool maybe;
		size_t len = match(r->secrets, r->held, n, &maybe);
		const char *p = len > 0 ? MASK : r->held;
		size_t plen = len > 0 ? MASK_LEN : 1;

		if (out(ctx, p, plen) < 0)
			return -1;
		len = len > 0 ? len : 1;
		n -= len;
		memmove(r->held, r->held + len, n);
	}
	return 0;
}

void
redact_text(const struct strv *secrets, char *text)
{
	const char *p = text;
	size_t n = strlen(text);
	char *to = text;

	while (n > 0) {
		bool maybe;
		size_t len = match(secrets, p, n, &maybe);

		if (len > 0) {
			memcpy(to, MASK, MASK_LEN);
			to += MASK_LEN;
		} else {
			*to++ = *p;
			len = 1;
		}
		p += len;
		n -= len;
	}
	*to = '\0';
}
