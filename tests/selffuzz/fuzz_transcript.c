/* SPDX-License-Identifier: MIT */
/* uses: tools/fzlog/event.c tools/markrun/verdict-claude.c */
/* uses: tools/markrun/verdict.c */
/* Any bytes as an agent's stream: they are judged and shown, and no harm
 * comes of either. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "transcript.h"
#include "verdict.h"

#define LIMIT 4096 /* of a line, so that some are too long */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct both {
	struct transcript said;
	struct events events;
	struct buf shown;
};

static void
is_word(const char *s)
{
	if (memchr(s, '\0', TRANSCRIPT_WORD) == NULL)
		abort();
	for (; *s != '\0'; s++)
		if (*s <= ' ' || *s > '~')
			abort();
}

static void
is_sane(const struct transcript *t)
{
	is_word(t->subtype);
	is_word(t->terminal_reason);
	is_word(t->stop_reason);
	is_word(t->api_type);
	is_word(t->session_id);
	is_word(t->model);
	if (t->turns < -1 || t->api_status < -1 || t->input_tokens < -1 ||
	    t->output_tokens < -1 || t->denials < -1 || t->tools < 0)
		abort();
	if (!(t->cost_usd == -1 || (t->cost_usd >= 0 && t->cost_usd <= 1e9)))
		abort();
	if (t->lines < t->plain + t->skipped || (t->good && !t->answered))
		abort();
}

static void
is_harmless(const struct buf *b)
{
	for (size_t i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			abort();
	}
	if (b->len > 0 && b->data[b->len - 1] != '\n')
		abort();
}

static int
take(void *ctx, char *line, size_t len)
{
	struct both *b = ctx;
	char *copy;

	if (line == NULL) {
		b->said.lines++;
		b->said.skipped++;
		return 0;
	}
	if (line[len] != '\0' || memchr(line, '\n', len) != NULL)
		abort();
	copy = malloc(len + 1); /* so that reading beyond is noticed */
	if (copy == NULL)
		return -1;
	memcpy(copy, line, len + 1);
	transcript_add(&b->said, copy, len);
	b->shown.len = 0;
	if (events_add(&b->events, &b->shown, copy, len) < 0)
		abort();
	is_harmless(&b->shown);
	free(copy);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines l = LINES_INIT(LIMIT);
	struct both b = { .shown = BUF_INIT((size_t)1 << 24) };
	struct evidence f = { .exec_errno = -1, .signal = -1 };
	struct verdict v;
	size_t half = size / 2;

	transcript_init(&b.said);
	if (lines_feed(&l, (const char *)data, half, take, &b) == 0 &&
	    lines_feed(&l, (const char *)data + half, size - half, take, &b) ==
		0 &&
	    lines_end(&l, take, &b) == 0) {
		is_sane(&b.said);
		verdict_claude(&v, &f, &b.said);
		if (v.reason == NULL || v.marker[0] == '\0')
			abort();
	}
	lines_release(&l);
	buf_release(&b.shown);
	return 0;
}
