/* SPDX-License-Identifier: MIT */
#ifndef FZLOG_EVENT_H
#define FZLOG_EVENT_H

#include <stddef.h>

#include "buf.h"
#include "compiler.h"

#define EVENT_WIDTH 120 /* characters, at most */

/* How far the stream has come. */
struct events {
	long long turn;
	char message[64]; /* id of the message that is the turn */
};

/*
 * Appends what people should know of one line: none, one or more lines with
 * their newlines, each made harmless and cut to EVENT_WIDTH.  line[len] must
 * be NUL; the text may be changed.  What is no JSON object is shown as it
 * is.  -1 when out of memory.
 */
int events_add(
    struct events *, struct buf *to, char *line, size_t len) MUST_CHECK;

/* For a line that was too long to be looked at. */
int events_add_skipped(struct buf *to) MUST_CHECK;

#endif
