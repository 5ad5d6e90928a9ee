/* SPDX-License-Identifier: MIT */
/* Removes containers: those nobody looks after, or all of a campaign. */
#include "sweep.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cleanup.h"
#include "clock.h"
#include "docker.h"
#include "err.h"
#include "json.h"
#include "owner.h"
#include "session.h"

#define ROUND_MS   100
#define AGAIN_MS   300
#define ASK_MS	   15000 /* how long dockruns may take */
#define REMOVE_MS  10000 /* how long the engine may take after that */
#define IN_HAND_MS 10000

/* One container to be ended. */
struct target {
	char id[DOCKER_ID];
	char run[16];
	int pidfd; /* of its dockrun; -1 when nobody is there to ask */
	int asked;
	int64_t ask_ms; /* when to ask again */
	bool listed;
	bool gone;
};

struct targets {
	struct target *v;
	size_t n;
};

static void
targets_release(struct targets *ts)
{
	for (size_t i = 0; i < ts->n; i++)
		close_p(&ts->v[i].pidfd);
	free(ts->v);
}

static int
list(struct docker *d, const char *campaign, struct sessions *ss, struct err *e)
{
	AUTO(json_p) cJSON *j = docker_list(d, e);

	return j != NULL ? sessions_read(ss, j, campaign, e) : -1;
}

static bool
is_gone(struct docker *d, const char *id)
{
	struct err e;
	AUTO(json_p) cJSON *j = docker_inspect(d, id, &e);

	return j == NULL && e.exit == EX_NOINPUT;
}

/* The engine refuses a removal that is already in somebody else's hands. */
static int
remove_container(struct docker *d, const char *id, struct err *e)
{
	int64_t until = clock_mono_ms() + IN_HAND_MS;

	if (docker_remove(d, id, e) == 0)
		return 0;
	while (e->exit == EX_CONFIG && clock_mono_ms() < until) {
		if (is_gone(d, id))
			return 0;
		(void)poll(NULL, 0, ROUND_MS);
	}
	return -1;
}

int
sweep_orphans(struct docker *d, FILE *to, struct err *e)
{
	AUTO(sessions_release) struct sessions ss = { 0 };
	struct err why;
	int rc = 0;

	if (list(d, NULL, &ss, e) < 0)
		return -1;
	for (size_t i = 0; i < ss.n; i++) {
		const struct session *s = &ss.v[i];

		if (owner_judge(s->owner) != OWNER_DEAD)
			continue;
		if (remove_container(d, s->id, &why) < 0) {
			*e = why;
			rc = err_wrap(e, "%s", s->name);
			continue;
		}
		(void)fprintf(
		    to, "removed orphan %s (its dockrun is gone)\n", s->name);
	}
	return rc;
}

static struct target *
target_of(struct targets *ts, const struct session *s)
{
	struct target *v;

	for (size_t i = 0; i < ts->n; i++)
		if (strcmp(ts->v[i].id, s->id) == 0)
			return &ts->v[i];
	v = reallocarray(ts->v, ts->n + 1, sizeof(*v));
	if (v == NULL)
		return NULL;
	ts->v = v;
	v += ts->n++;
	*v = (struct target){ .pidfd = owner_open(s->owner) };
	memcpy(v->id, s->id, sizeof(v->id));
	memcpy(v->run, s->run, sizeof(v->run));
	return v;
}

static bool
has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Whether there is (still) a dockrun that will remove the container. */
static bool
ask_owner(struct target *t, int64_t now)
{
	if (t->pidfd < 0 || has_ended(t->pidfd))
		return false;
	if (t->asked == 2 || now < t->ask_ms)
		return true;
	t->asked++;
	t->ask_ms = now + AGAIN_MS;
	return owner_signal(t->pidfd, SIGTERM);
}

static void
tell_gone(struct targets *ts, FILE *to)
{
	for (size_t i = 0; i < ts->n; i++) {
		struct target *t = &ts->v[i];

		if (!t->listed && !t->gone) {
			t->gone = true;
			(void)fprintf(to, "[%s] killed\n", t->run);
			(void)fflush(to);
		}
		t->listed = false;
	}
}

/* One look at the engine; returns how many were there, or -1. */
static int
press(struct docker *d, const char *campaign, struct targets *ts,
    int64_t ask_until, FILE *to, struct err *e)
{
	AUTO(sessions_release) struct sessions ss = { 0 };

	if (list(d, campaign, &ss, e) < 0)
		return -1;
	/* Also those that came while others were ended. */
	for (size_t i = 0; i < ss.n; i++) {
		struct target *t = target_of(ts, &ss.v[i]);
		int64_t now = clock_mono_ms();

		if (t == NULL)
			return err_sys(e, EX_OSERR, "kill");
		t->listed = true;
		if ((!ask_owner(t, now) || now >= ask_until) &&
		    docker_remove(d, t->id, e) < 0)
			(void)err_wrap(e, "%s", ss.v[i].name);
	}
	tell_gone(ts, to);
	return (int)ss.n;
}

int
sweep_campaign(struct docker *d, const char *campaign, FILE *to, struct err *e)
{
	AUTO(targets_release) struct targets ts = { 0 };
	int64_t ask_until = clock_mono_ms() + ASK_MS;
	int left;

	(void)err_set(e, EX_TEMPFAIL, "the engine does not remove them");
	while ((left = press(d, campaign, &ts, ask_until, to, e)) > 0) {
		if (clock_mono_ms() > ask_until + REMOVE_MS)
			return -1;
		(void)poll(NULL, 0, ROUND_MS);
	}
	if (left == 0 && ts.n == 0)
		(void)fputs("no sessions are running\n", to);
	return left;
}
