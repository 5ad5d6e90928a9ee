/* SPDX-License-Identifier: MIT */
/*
 * The least a session can cost: ping, create, wait registered, start, end,
 * remove, by dockrun's own library and with its own request.
 *
 * usage: floor BODY NAME
 */
#include <fcntl.h>
#include <stdio.h>
#include <sysexits.h>

#include "atfile.h"
#include "cleanup.h"
#include "docker.h"
#include "err.h"

#define BODY_MAX    ((size_t)1 << 20)
#define PATIENCE_MS 60000 /* a no-op that takes this long has not run */

static int
discard(void *ctx, const char *p, size_t n)
{
	(void)ctx;
	(void)p;
	(void)n;
	return 0;
}

/* Until the head of the answer is there, or all of it. */
static int
follow(struct docker *d, const struct http_xfer *x, bool whole, struct err *e)
{
	while (!x->done && (whole || x->status == 0))
		if (http_poll(d->http, NULL, 0, 1000, e) < 0)
			return -1;
	if (x->done && x->failed)
		return http_error(d->http, x, e);
	return x->status == 200 ? 0 : docker_refusal("wait", x->status, "", e);
}

static int
run(struct docker *d, const char *id, struct err *e)
{
	char path[160];
	struct http_xfer x = { .req = { .method = "POST",
				   .path = path,
				   .timeout_ms = PATIENCE_MS },
		.sink = discard };
	int rc;

	(void)snprintf(path, sizeof(path),
	    "%s/containers/%s/wait?condition=next-exit", d->prefix, id);
	if (http_start(d->http, &x, e) < 0)
		return -1;
	rc = follow(d, &x, false, e);
	if (rc == 0)
		rc = docker_start(d, id, e);
	if (rc == 0)
		rc = follow(d, &x, true, e);
	http_stop(d->http, &x);
	return rc;
}

static int
act(const char *file, const char *name, struct err *e)
{
	AUTO(docker_release) struct docker d = { 0 };
	AUTO(buf_release) struct buf body = BUF_INIT(BODY_MAX);
	char id[DOCKER_ID];
	struct err ignored;
	int rc;

	if (at_read(AT_FDCWD, file, &body, e) < 0 || docker_open(&d, e) < 0 ||
	    docker_ping(&d, e) < 0 ||
	    docker_create(&d, name, body.data, id, e) < 0)
		return -1;
	rc = run(&d, id, e);
	if (docker_remove(&d, id, rc == 0 ? e : &ignored) < 0)
		return -1;
	return rc;
}

int
main(int argc, char *argv[])
{
	struct err e = { 0 };

	if (argc != 3) {
		(void)fputs("usage: floor BODY NAME\n", stderr);
		return EX_USAGE;
	}
	if (act(argv[1], argv[2], &e) < 0)
		return err_report(&e, "floor");
	return EX_OK;
}
