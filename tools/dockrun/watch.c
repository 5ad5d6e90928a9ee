/* SPDX-License-Identifier: MIT */
/* Follows a running container: the one loop of dockrun. */
#include "watch.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "capture.h"
#include "clock.h"
#include "docker.h"
#include "err.h"
#include "inside.h"
#include "json.h"
#include "session.h"

#define KILL_TIMEOUT_MS 10000
#define LINGER_MS	10000 /* one of attach and wait has ended, not both */

int
watch_signal(int sigfd)
{
	struct signalfd_siginfo si;

	if (read(sigfd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return 0;
	return si.ssi_signo == SIGINT ? SESSION_INTERRUPTED
				      : SESSION_TERMINATED;
}

static int
into_buf(void *ctx, const char *p, size_t n)
{
	return buf_add(ctx, p, n);
}

static int
discard(void *ctx, const char *p, size_t n)
{
	(void)ctx;
	(void)p;
	(void)n;
	return 0;
}

static int
post(struct watch *w, struct http_xfer *x, char path[128], const char *verb,
    struct err *e)
{
	(void)snprintf(
	    path, 128, "%s/containers/%s/%s", w->d->prefix, w->id, verb);
	x->req.method = "POST";
	x->req.path = path;
	return http_start(w->d->http, x, e);
}

/* 1: the head of the answer is there; 0: not yet; -1: failed */
static int
has_begun(
    struct watch *w, const struct http_xfer *x, const char *verb, struct err *e)
{
	char what[16];

	(void)snprintf(
	    what, sizeof(what), "%.*s", (int)strcspn(verb, "?"), verb);
	if (x->status != 0 && x->status != 200)
		return docker_refusal(what, x->status, "", e);
	if (x->done)
		return x->failed
		    ? http_error(w->d->http, x, e)
		    : err_set(e, EX_UNAVAILABLE,
			  "engine: %s ended before the session began", what);
	return x->status == 200;
}

/* Sends a request that lasts to the container's end, and waits until the
 * engine shows by the head of its answer that it has begun. */
static int
follow(struct watch *w, struct http_xfer *x, char path[128], const char *verb,
    struct err *e)
{
	int64_t until = clock_mono_ms() + w->d->timeout_ms;
	int begun = 0;

	if (post(w, x, path, verb, e) < 0)
		return -1;
	while (begun == 0) {
		if (clock_mono_ms() > until)
			return err_set(e, EX_UNAVAILABLE,
			    "engine: no answer to POST %s", path);
		if (http_poll(w->d->http, NULL, 0, 100, e) < 0)
			return -1;
		begun = has_begun(w, x, verb, e);
	}
	return begun < 0 ? -1 : 0;
}

int
watch_attach(struct watch *w, struct err *e)
{
	w->wait_body.max = 65536;
	w->attach.sink = capture_feed;
	w->attach.ctx = w->capture;
	w->wait.sink = into_buf;
	w->wait.ctx = &w->wait_body;
	w->kill.sink = discard;
	w->kill.req.timeout_ms = KILL_TIMEOUT_MS;
	if (follow(w, &w->attach, w->attach_path,
		"attach?stream=1&stdout=1&stderr=1", e) < 0)
		return -1;
	return follow(w, &w->wait, w->wait_path, "wait?condition=next-exit", e);
}

/* Goes out beside the attached stream: waiting here for the engine's answer
 * while its output is not taken would stall both. */
static void
send_signal(struct watch *w, int sig)
{
	struct err ignored;
	char verb[32];

	http_stop(w->d->http, &w->kill); /* the last one had its time */
	(void)snprintf(verb, sizeof(verb), "kill?signal=%d", sig);
	if (post(w, &w->kill, w->kill_path, verb, &ignored) < 0)
		return; /* fzinit keeps a deadline too */
}

static void
on_signal(struct watch *w)
{
	int status = watch_signal(w->sigfd);
	int64_t now = clock_mono_ms();

	if (status == 0)
		return;
	if (w->signal != 0) {
		deadline_hurry(&w->deadline, now);
		return;
	}
	w->signal = status;
	deadline_stop(&w->deadline, now, STOP_INTERRUPTED);
	(void)printf("[%s] stopping, up to %lld s; again kills now\n", w->run,
	    (long long)(w->deadline.grace_ms + DEADLINE_TERM_MS) / 1000);
	(void)fflush(stdout);
}

static void
keep_deadline(struct watch *w)
{
	int64_t now = clock_mono_ms();
	int sig;

	if (w->capture->full && w->deadline.why == STOP_NONE) {
		deadline_stop(&w->deadline, now, STOP_LOG_QUOTA);
		deadline_hurry(&w->deadline, now);
	}
	sig = deadline_step(&w->deadline, now);
	if (sig != 0)
		send_signal(w, sig);
}

/* Once one of the two streams has ended, the other must follow soon. */
static int
check_streams(struct watch *w, struct err *e)
{
	int64_t now = clock_mono_ms();
	int64_t seen = w->capture->file[0].bytes + w->capture->file[1].bytes;

	if (w->attach.done && w->attach.refused)
		return err_set(e, EX_PROTOCOL,
		    "attach: the engine sent what is no output frame");
	if (w->wait.done && w->wait.failed)
		return http_error(w->d->http, &w->wait, e);
	if (w->attach.done && w->attach.failed)
		return http_error(w->d->http, &w->attach, e);
	if (w->deadline.lost)
		return err_set(e, EX_UNAVAILABLE,
		    "engine: the container does not end, not even by KILL");
	if (!w->attach.done && !w->wait.done)
		return 0;
	if (w->linger_ms == 0 || seen != w->seen)
		w->linger_ms = now + LINGER_MS;
	w->seen = seen;
	if (now > w->linger_ms)
		return err_set(e, EX_UNAVAILABLE,
		    "engine: the session's %s was cut",
		    w->attach.done ? "output" : "end");
	return 0;
}

/* The engine must have told an end: {"StatusCode":N}, whatever N. */
static int
check_status(const struct watch *w, struct err *e)
{
	const struct buf *b = &w->wait_body;
	struct err ignored;
	AUTO(json_p) cJSON *j = NULL;

	if (b->len > 0)
		j = json_parse(b->data, b->len, &ignored);
	if (json_at_int(j, "StatusCode") >= 0)
		return 0;
	return err_set(e, EX_PROTOCOL,
	    "wait: the engine does not say how the session ended");
}

/* Without them the session goes on in vain. */
static int
check_relays(const struct watch *w, struct err *e)
{
	struct pollfd p = { .fd = w->relay_fd, .events = POLLIN };

	if (poll(&p, 1, 0) <= 0) /* a negative descriptor is none */
		return 0;
	return err_set(
	    e, EX_TEMPFAIL, "the process that relays for the session has died");
}

/* Sleeps until there is something to do, and takes what fzinit says. */
static int
wait_for_news(struct watch *w, long timeout_ms, struct err *e)
{
	int inside = inside_fd(w->inside);
	struct pollfd fds[3] = { { .fd = w->sigfd } };
	unsigned n = 1;

	if (inside >= 0)
		fds[n++].fd = inside;
	if (w->relay_fd >= 0)
		fds[n++].fd = w->relay_fd;
	if (http_poll(w->d->http, fds, n, timeout_ms, e) < 0)
		return -1;
	if (fds[0].revents != 0)
		on_signal(w);
	if (inside >= 0 && fds[1].revents != 0)
		inside_read(w->inside);
	return check_relays(w, e);
}

int
watch_until_end(struct watch *w, struct err *e)
{
	while (!w->attach.done || !w->wait.done) {
		int64_t left;

		keep_deadline(w);
		left = deadline_wait_ms(&w->deadline, clock_mono_ms());
		if (wait_for_news(w, (long)(left < 1000 ? left : 1000), e) <
			0 ||
		    check_streams(w, e) < 0)
			return -1;
	}
	inside_read(w->inside);
	return check_status(w, e);
}

void
watch_release(struct watch *w)
{
	if (w->d == NULL)
		return;
	http_stop(w->d->http, &w->kill);
	http_stop(w->d->http, &w->attach);
	http_stop(w->d->http, &w->wait);
	buf_release(&w->wait_body);
}
