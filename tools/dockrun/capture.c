/* SPDX-License-Identifier: MIT */
/* agent.out and agent.err. */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "atfile.h"
#include "cleanup.h"
#include "err.h"

static const char *const names[] = { "agent.out", "agent.err" };

int
capture_open(struct capture *c, int dfd, const struct strv *secrets,
    int64_t cap, struct err *e)
{
	*c = (struct capture){ .cap = cap,
		.file = { { .fd = -1 }, { .fd = -1 } } };
	for (int i = 0; i < 2; i++) {
		c->file[i].fd = openat(dfd, names[i],
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (c->file[i].fd < 0)
			return err_sys(e, EX_CANTCREAT, "create %s", names[i]);
		if (redact_init(&c->file[i].redact, secrets) < 0)
			return err_sys(e, EX_OSERR, "%s", names[i]);
	}
	return 0;
}

void
capture_release(struct capture *c)
{
	for (int i = 0; i < 2; i++) {
		close_p(&c->file[i].fd);
		redact_release(&c->file[i].redact);
	}
}

struct target {
	struct capture *c;
	struct capture_file *f;
};

static int
put(void *ctx, const char *p, size_t n)
{
	struct target *t = ctx;
	int64_t room = t->c->cap - t->f->written;
	size_t take = (int64_t)n <= room ? n : (size_t)room;

	if (take < n)
		t->c->full = true;
	if (t->c->failed == 0 && take > 0 && write_all(t->f->fd, p, take) < 0)
		t->c->failed = errno; /* go on draining; reported at the end */
	t->f->written += (int64_t)take;
	return 0;
}

static int
on_payload(void *ctx, int which, const char *p, size_t n)
{
	struct capture *c = ctx;
	struct target t = { c, &c->file[which - 1] };

	t.f->bytes += (int64_t)n;
	if (t.f->written >= c->cap) { /* nothing more can be kept */
		c->full = true;
		return 0;
	}
	return redact_feed(&t.f->redact, p, n, put, &t);
}

int
capture_feed(void *ctx, const char *p, size_t n)
{
	struct capture *c = ctx;

	return stream_feed(&c->stream, p, n, on_payload, c);
}

int
capture_finish(struct capture *c, struct err *e)
{
	for (int i = 0; i < 2; i++) {
		struct target t = { c, &c->file[i] };

		if (redact_finish(&t.f->redact, put, &t) < 0)
			return err_sys(e, EX_IOERR, "%s", names[i]);
		if (c->failed == 0 && fdatasync(t.f->fd) < 0)
			c->failed = errno;
	}
	if (c->failed != 0) {
		errno = c->failed;
		return err_sys(e, EX_IOERR, "write the session's output");
	}
	if (!stream_is_whole(&c->stream))
		return err_set(e, EX_UNAVAILABLE,
		    "the session's output was cut in the middle");
	return 0;
}
