/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_STREAM_H
#define DOCKRUN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/*
 * Takes the engine's multiplexed stream apart.  A frame is one byte that
 * names the stream (1 out, 2 err), three zero bytes, four bytes of length
 * (big-endian) and the payload; frames are cut anywhere by the network.
 */
struct stream {
	unsigned char head[8];
	size_t n_head;
	uint32_t left; /* payload bytes of this frame still to come */
};

/* Takes payload of stream 1 or 2; -1 to stop. */
typedef int stream_out(void *ctx, int which, const char *p, size_t n);

/* -1 for bytes that are no frame (then errno is EPROTO), or out()'s. */
int stream_feed(struct stream *, const char *p, size_t n, stream_out *,
    void *ctx) MUST_CHECK;

/* True between two frames: the only place where a stream may end. */
bool stream_is_whole(const struct stream *);

#endif
