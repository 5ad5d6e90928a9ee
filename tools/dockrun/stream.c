/* SPDX-License-Identifier: MIT */
/* Demultiplexer of an attached container's output. */
#include "stream.h"

#include <errno.h>
#include <string.h>

/* The engine copies through buffers of 32 KiB; far more is nonsense. */
#define FRAME_MAX (16U << 20)

static int
begin_frame(struct stream *s)
{
	const unsigned char *h = s->head;

	s->left = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 |
	    (uint32_t)h[6] << 8 | h[7];
	if ((h[0] == 1 || h[0] == 2) && h[1] == 0 && h[2] == 0 && h[3] == 0 &&
	    s->left <= FRAME_MAX) {
		if (s->left == 0)
			s->n_head = 0;
		return 0;
	}
	s->head[0] = 0; /* no next byte makes this a frame */
	s->n_head--;
	errno = EPROTO;
	return -1;
}

int
stream_feed(
    struct stream *s, const char *p, size_t n, stream_out *out, void *ctx)
{
	while (n > 0) {
		size_t take;

		if (s->n_head < sizeof(s->head)) {
			take = sizeof(s->head) - s->n_head;
			take = take < n ? take : n;
			memcpy(s->head + s->n_head, p, take);
			s->n_head += take;
			if (s->n_head == sizeof(s->head) && begin_frame(s) < 0)
				return -1;
		} else {
			take = s->left < n ? s->left : n;
			if (out(ctx, s->head[0], p, take) < 0)
				return -1;
			s->left -= (uint32_t)take;
			if (s->left == 0)
				s->n_head = 0;
		}
		p += take;
		n -= take;
	}
	return 0;
}

bool
stream_is_whole(const struct stream *s)
{
	return s->n_head == 0;
}
