/* SPDX-License-Identifier: MIT */
/* Asks for the usage of many containers at once. */
#include "measure.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "docker.h"
#include "err.h"
#include "json.h"
#include "session.h"

#define AT_ONCE_MAX 64 /* connections; descriptors are limited */
#define ANSWER_MAX  ((size_t)256 << 10)
#define PATIENCE_MS 10000

struct question {
	struct http_xfer x;
	struct buf answer;
	char path[128];
};

static int
into_buf(void *ctx, const char *p, size_t n)
{
	return buf_add(ctx, p, n);
}

static int
ask(struct docker *d, struct question *q, const struct session *s,
    struct err *e)
{
	(void)snprintf(q->path, sizeof(q->path),
	    "%s/containers/%s/stats?stream=false", d->prefix, s->id);
	q->answer = (struct buf)BUF_INIT(ANSWER_MAX);
	q->x = (struct http_xfer){ .req = { .method = "GET",
				       .path = q->path,
				       .timeout_ms = PATIENCE_MS },
		.sink = into_buf,
		.ctx = &q->answer };
	return http_start(d->http, &q->x, e);
}

static bool
all_done(const struct question *q, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (q[i].x.slot != NULL && !q[i].x.done)
			return false;
	return true;
}

static void
take_answer(const struct question *q, struct session *s)
{
	AUTO(json_p) cJSON *stats = NULL;
	struct err ignored;

	if (q->x.status == 404)
		s->id[0] = '\0'; /* vanished */
	if (q->x.failed || q->x.status != 200 || q->answer.data == NULL)
		return;
	stats = json_parse(q->answer.data, q->answer.len, &ignored);
	session_measure(s, stats);
}

static int
measure_some(struct docker *d, struct session *s, size_t n, struct err *e)
{
	static struct question q[AT_ONCE_MAX];
	int rc = 0;

	memset(q, 0, sizeof(q));
	for (size_t i = 0; i < n && rc == 0; i++)
		if (strcmp(s[i].state, "running") == 0)
			rc = ask(d, &q[i], &s[i], e);
	while (rc == 0 && !all_done(q, n))
		rc = http_poll(d->http, NULL, 0, 1000, e);
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			take_answer(&q[i], &s[i]);
		http_stop(d->http, &q[i].x);
		buf_release(&q[i].answer);
	}
	return rc;
}

int
measure(struct docker *d, struct sessions *ss, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < ss->n; i += AT_ONCE_MAX) {
		size_t n = ss->n - i < AT_ONCE_MAX ? ss->n - i : AT_ONCE_MAX;

		if (measure_some(d, ss->v + i, n, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < ss->n; i++)
		if (ss->v[i].id[0] != '\0')
			ss->v[kept++] = ss->v[i];
	ss->n = kept;
	return 0;
}
