/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/stream.c tools/dockrun/redact.c */
/*
 * Output of a session in pieces of any size: it comes out as it went in,
 * but for the secrets, and those never.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "compiler.h"
#include "redact.h"
#include "stream.h"
#include "strv.h"

#define ROOM ((size_t)1 << 24)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* None has a star: "***" must not become a part of one. */
static char one[] = "aab", two[] = "aabaac", three[] = "\xff\x01z",
	    four[] = "bca";
static char *all[] = { one, two, three, four };
static const struct strv secrets = { all, ARRAY_LEN(all) };
static const struct strv no_secrets;

struct session {
	struct stream stream;
	struct redact redact[2];
	struct buf seen[2]; /* payload as it came */
	struct buf kept[2]; /* after redaction */
};

static void
must(bool ok)
{
	if (!ok)
		abort();
}

static int
keep(void *ctx, const char *p, size_t n)
{
	must(n > 0);
	return buf_add(ctx, p, n);
}

static int
on_payload(void *ctx, int which, const char *p, size_t n)
{
	struct session *s = ctx;

	must(which == 1 || which == 2);
	if (buf_add(&s->seen[which - 1], p, n) < 0)
		return -1;
	return redact_feed(
	    &s->redact[which - 1], p, n, keep, &s->kept[which - 1]);
}

/* At each place the longest secret, else one byte. */
static void
reference(const struct strv *hidden, const struct buf *in, struct buf *out)
{
	for (size_t i = 0, len; i < in->len; i += len) {
		size_t best = 0;

		for (size_t k = 0; k < hidden->n; k++) {
			len = strlen(hidden->v[k]);
			if (len > best && len <= in->len - i &&
			    memcmp(in->data + i, hidden->v[k], len) == 0)
				best = len;
		}
		must(buf_add(out, best > 0 ? "***" : in->data + i,
			 best > 0 ? 3 : 1) == 0);
		len = best > 0 ? best : 1;
	}
}

static void
check(const struct strv *hidden, const struct buf *in, const struct buf *out)
{
	struct buf want = BUF_INIT(ROOM);

	reference(hidden, in, &want);
	must(want.len == out->len);
	must(want.len == 0 || memcmp(want.data, out->data, want.len) == 0);
	for (size_t k = 0; k < hidden->n && out->len > 0; k++)
		must(memmem(out->data, out->len, hidden->v[k],
			 strlen(hidden->v[k])) == NULL);
	buf_release(&want);
}

/* Feeds the bytes in pieces; how long they are is told by steps. */
static void
play(const struct strv *hidden, const char *p, size_t n, unsigned steps)
{
	struct session s = { .seen = { BUF_INIT(ROOM), BUF_INIT(ROOM) },
		.kept = { BUF_INIT(ROOM), BUF_INIT(ROOM) } };
	int rc = 0;

	for (int i = 0; i < 2; i++)
		must(redact_init(&s.redact[i], hidden) == 0);
	for (size_t at = 0, len; at < n && rc == 0; at += len) {
		steps = steps * 1103515245U + 12345U;
		len = 1 + (steps >> 16) % 24;
		len = len < n - at ? len : n - at;
		rc = stream_feed(&s.stream, p + at, len, on_payload, &s);
	}
	if (rc < 0) /* and it stays so */
		must(stream_feed(&s.stream, "\1\0\0\0\0\0\0\1x", 9, on_payload,
			 &s) < 0 &&
		    !stream_is_whole(&s.stream));
	for (int i = 0; i < 2; i++) {
		must(redact_finish(&s.redact[i], keep, &s.kept[i]) == 0);
		check(hidden, &s.seen[i], &s.kept[i]);
		redact_release(&s.redact[i]);
		buf_release(&s.seen[i]);
		buf_release(&s.kept[i]);
	}
}

/* Makes frames of any bytes, so that most inputs are good ones. */
static void
wrap(const uint8_t *p, size_t n, struct buf *to)
{
	while (n > 0) {
		size_t len = 1 + p[0] % 16;
		char head[8] = { (char)(1 + p[0] / 128) };

		len = len < n ? len : n;
		head[7] = (char)len;
		must(buf_add(to, head, sizeof(head)) == 0 &&
		    buf_add(to, p, len) == 0);
		p += len;
		n -= len;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf frames = BUF_INIT(ROOM);

	if (size < 2)
		return 0;
	if (data[0] % 2 == 0)
		wrap(data + 2, size - 2, &frames);
	else
		must(buf_add(&frames, data + 2, size - 2) == 0);
	if (frames.len > 0) {
		play(&secrets, frames.data, frames.len, data[1]);
		play(&no_secrets, frames.data, frames.len, data[1]);
	}
	buf_release(&frames);
	return 0;
}
