/* SPDX-License-Identifier: MIT */
#ifndef FZ_HTTP_H
#define FZ_HTTP_H

#include <stdbool.h>

#include "buf.h"
#include "compiler.h"

struct err;
struct http; /* a server on a Unix socket, and the connections to it */
struct http_slot;
struct pollfd;

struct http_req {
	const char *method;
	const char *path; /* "/v1.41/...", already escaped */
	const char *json; /* body, or NULL; borrowed until the end */
	long timeout_ms;  /* for the whole exchange; 0: no limit */
};

/* Takes a piece of the body; -1 stops the exchange. */
typedef int http_sink(void *ctx, const char *p, size_t n);

/*
 * One exchange that goes on while others do.  The caller fills in the first
 * three; the rest tells how far it is.  Must not move while it runs.
 */
struct http_xfer {
	struct http_req req;
	http_sink *sink;
	void *ctx;

	long status;  /* set once the answer's head is there, else 0 */
	bool done;    /* nothing more will happen */
	bool failed;  /* done, and the answer is not complete */
	bool refused; /* failed because sink() said so */
	char api[16]; /* the answer's Api-Version header */
	char why[256];
	struct http_slot *slot;
};

struct http_resp {
	long status;
	char api[16];
	struct buf body; /* owned by the caller, who sets its limit */
};

/* NULL with *e set on failure.  http_close() ends what still runs. */
struct http *http_open(const char *sock, struct err *) MUST_CHECK;
void http_close(struct http *);

int http_start(struct http *, struct http_xfer *, struct err *) MUST_CHECK;
void http_stop(struct http *, struct http_xfer *); /* done or not */

/*
 * Moves every exchange forward and waits up to timeout_ms for something to
 * happen on one of them or on one of the caller's descriptors.
 */
int http_poll(struct http *, struct pollfd *, unsigned n, long timeout_ms,
    struct err *) MUST_CHECK;

/*
 * One request, waited for.  Returns 0 whenever a complete response arrived,
 * whatever its status; -1 with *e set if the exchange itself failed.
 */
int http_call(struct http *, const struct http_req *, struct http_resp *,
    struct err *) MUST_CHECK;

/* Describes why x failed: EX_UNAVAILABLE, or EX_PROTOCOL for nonsense. */
int http_error(const struct http *, const struct http_xfer *, struct err *);

static inline void
http_resp_release(struct http_resp *r)
{
	buf_release(&r->body);
}

static inline void
http_p(struct http **h)
{
	http_close(*h); /* accepts NULL */
}

#endif
