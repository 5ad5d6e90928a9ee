/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_CAPTURE_H
#define DOCKRUN_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "redact.h"
#include "stream.h"

struct err;

/* One of the session's two output files. */
struct capture_file {
	int fd;
	int64_t bytes;	 /* seen, before redaction */
	int64_t written; /* never more than the cap */
	struct redact redact;
};

/*
 * A session's output: taken apart, secrets removed, each file capped.
 * What is over the cap is counted and dropped, so that the engine's end
 * never stalls.
 */
struct capture {
	struct stream stream;
	struct capture_file file[2]; /* agent.out, agent.err */
	int64_t cap;
	bool full;  /* something was dropped */
	int failed; /* errno of a failed write, or 0 */
};

int capture_open(struct capture *, int dfd, const struct strv *secrets,
    int64_t cap, struct err *) MUST_CHECK;
void capture_release(struct capture *);

/* For http_xfer: takes raw bytes of the attached stream. */
int capture_feed(void *capture, const char *p, size_t n) MUST_CHECK;

/* After the last byte: writes what redaction held back, and syncs. */
int capture_finish(struct capture *, struct err *) MUST_CHECK;

#endif
