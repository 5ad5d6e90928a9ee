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
	r->held = malloc(r->longest + 1);
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
match(const struct redact *r, const char *p, size_t n, bool *maybe)
{
	size_t best = 0;

	*maybe = false;
	for (size_t i = 0; i < r->secrets->n; i++) {
		const char *s = r->secrets->v[i];
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
		len = match(r, p + i, n - i, &maybe);
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

int
redact_feed(
    struct redact *r, const char *p, size_t n, redact_out *out, void *ctx)
{
	size_t used = 0;

	/* Complete what was held back, a byte at a time: it is short. */
	while (r->n_held > 0 && n > 0) {
		r->held[r->n_held++] = *p++;
		n--;
		if (scan(r, r->held, r->n_held, &used, out, ctx) < 0)
			return -1;
		r->n_held -= used;
		memmove(r->held, r->held + used, r->n_held);
	}
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
		size_t len = match(r, r->held, n, &maybe);
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
	for (size_t i = 0; i < secrets->n; i++) {
		size_t len = strlen(secrets->v[i]);
		char *p = text;

		while ((p = strstr(p, secrets->v[i])) != NULL) {
			memcpy(p, MASK, MASK_LEN);
			memmove(p + MASK_LEN, p + len, strlen(p + len) + 1);
			p += MASK_LEN;
		}
	}
}
