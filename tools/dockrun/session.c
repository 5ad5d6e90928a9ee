/* SPDX-License-Identifier: MIT */
/*
 * One session: create, compare, attach, start, watch, inspect, record,
 * remove.  Gathers facts and judges nothing.
 */
#include "session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "cleanup.h"
#include "clock.h"
#include "compare.h"
#include "docker.h"
#include "err.h"
#include "facts.h"
#include "inside.h"
#include "json.h"
#include "options.h"
#include "prepare.h"
#include "proxylog.h"
#include "relays.h"
#include "rundir.h"
#include "scratch.h"
#include "sha256.h"
#include "watch.h"

/* What lives as long as the attempt. */
struct live {
	struct session *s;
	struct spec spec;
	cJSON *body; /* as sent */
	cJSON *made; /* as inspected before the start */
	size_t masked;
	char id[DOCKER_ID];
	char stdin_hash[SHA256_TEXT];
	char source[INET_ADDRSTRLEN];
	struct proxylog log;
	struct relays relays;
	struct inside inside;
	struct capture capture;
	struct watch watch;
	int64_t wall_ms, began_ms, ended_ms;
	bool created;
	bool recorded;
};

static int
interrupted(const struct session *s, struct err *e)
{
	int status = watch_signal(s->sigfd);

	return status != 0 ? err_set(e, status, "interrupted") : 0;
}

/* NULL when nothing can be reached. */
static const struct facts_network *
network(const struct live *l, struct facts_network *n)
{
	*n = (struct facts_network){ .source = l->source,
		.log_from = l->log.from,
		.log_to = l->log.to,
		.requests = l->log.requests,
		.denied = l->log.denied,
		.answers = l->log.answers,
		.n_answers = ARRAY_LEN(l->log.answers) };
	return l->s->o->net.n_relays > 0 ? n : NULL;
}

static int
write_run_json(const struct live *l, struct err *e)
{
	AUTO(json_p) cJSON *j = cJSON_CreateObject();
	struct facts_network n;
	bool ok = j != NULL;
	char began[CLOCK_TEXT];

	clock_text(l->wall_ms, began);
	json_put_str(j, "_schema", "fz-run/1", &ok);
	json_put_str(j, "run", l->s->r->id, &ok);
	json_put_int(j, "attempt", l->s->r->attempt, &ok);
	json_put_str(j, "owner", l->s->owner, &ok);
	json_put_str(j, "container", l->s->name, &ok);
	json_put_str(j, "started_at", began, &ok);
	json_put_int(j, "timeout_ms", l->s->o->timeout_s * 1000, &ok);
	facts_put_network(j, network(l, &n), &ok);
	if (!ok)
		return err_set(e, EX_SOFTWARE, "cannot render run.json");
	return json_write(l->s->r->fd, "run.json", j, e);
}

/* Looked at before the session: afterwards it may be gone or changed. */
static int
check_input(struct live *l, struct err *e)
{
	const struct session *s = l->s;
	mode_t bit = S_IROTH;
	struct stat st;

	if (stat(s->p->input, &st) < 0)
		return err_sys(e, EX_NOINPUT, "--stdin %s", s->o->input);
	if (st.st_uid == s->uid)
		bit = S_IRUSR;
	else if (st.st_gid == s->gid)
		bit = S_IRGRP;
	if ((st.st_mode & bit) == 0)
		return err_set(e, EX_NOPERM,
		    "--stdin %s: the session is user %s and cannot read it; "
		    "try chmod a+r",
		    s->o->input, s->user);
	return sha256_file(s->p->input, l->stdin_hash, e);
}

static int
open_relays(struct live *l, struct err *e)
{
	const struct session *s = l->s;
	const struct netconf *net = &s->o->net;

	if (net->n_relays == 0)
		return 0;
	(void)inet_ntop(AF_INET, &s->source, l->source, sizeof(l->source));
	proxylog_begin(&l->log, s->o->proxy_log);
	if (scratch_listen(s->r->fd, &l->relays, net->n_relays, e) < 0)
		return -1;
	return relays_start(&l->relays, net, s->source, e);
}

static int
prepare(struct live *l, struct err *e)
{
	struct session *s = l->s;

	l->wall_ms = clock_wall_ms();
	l->spec.run = s->r->id;
	l->spec.user = s->user;
	l->spec.owner = s->owner;
	if (s->p->input != NULL && check_input(l, e) < 0)
		return -1;
	if (prepare_spec(&l->spec, s->o, s->p, s->image, &l->masked, e) < 0)
		return -1;
	l->body = spec_render(&l->spec, e);
	if (l->body == NULL ||
	    scratch_make(s->r->fd, s->uid, s->gid, &l->inside, e) < 0 ||
	    open_relays(l, e) < 0 ||
	    capture_open(
		&l->capture, s->r->fd, &s->o->secrets, s->o->max_log, e) < 0)
		return -1;
	return write_run_json(l, e);
}

static int
create(struct live *l, struct err *e)
{
	char *text = cJSON_PrintUnformatted(l->body);
	int rc;

	if (text == NULL)
		return err_set(e, EX_OSERR, "out of memory");
	l->created = true; /* it may be there even if the answer is lost */
	rc = docker_create(l->s->d, l->s->name, text, l->id, e);
	cJSON_free(text);
	return rc;
}

static int
inspect(struct live *l, struct err *e)
{
	l->made = docker_inspect(l->s->d, l->id, e);
	if (l->made == NULL)
		return -1;
	return compare_created(l->body, l->made, l->spec.image, e);
}

static int
run(struct live *l, struct err *e)
{
	const struct options *o = l->s->o;

	l->watch = (struct watch){ .d = l->s->d,
		.id = l->id,
		.run = l->s->r->id,
		.capture = &l->capture,
		.inside = &l->inside,
		.sigfd = l->s->sigfd,
		.relay_fd = l->relays.pidfd };
	if (watch_attach(&l->watch, e) < 0 || interrupted(l->s, e) < 0 ||
	    docker_start(l->s->d, l->id, e) < 0)
		return -1;
	l->wall_ms = clock_wall_ms();
	l->began_ms = clock_mono_ms();
	deadline_init(&l->watch.deadline, l->began_ms, o->timeout_s * 1000,
	    o->grace_s * 1000);
	if (watch_until_end(&l->watch, e) < 0)
		return -1;
	l->ended_ms = clock_mono_ms();
	return capture_finish(&l->capture, e);
}

/*
 * Who ended the session?  A stop of ours counts only if its signal got
 * there before the command's own end; one that nobody of us sent is
 * somebody else's doing, and then there is nothing to judge.
 */
static int
who_stopped(const struct live *l, struct facts *f, struct err *e)
{
	const struct inside *in = &l->inside;
	bool reported = in->exit >= 0 || in->signal >= 0;

	if (inside_unsafe(in) != NULL)
		return err_set(e, EX_CONFIG,
		    "the sandbox is weaker than asked for: %s; nothing was "
		    "started in it",
		    inside_unsafe(in));
	if (in->relay_errno >= 0)
		return err_set(e, EX_CONFIG,
		    "a relay cannot listen inside the container: %s; see the "
		    "file of --relays",
		    strerror((int)(in->relay_errno % 4096)));
	if (l->watch.deadline.why != STOP_NONE &&
	    (!reported || in->outside_signal >= 0)) {
		f->stop_by = "dockrun";
		f->stop_why = stop_why_text(l->watch.deadline.why);
		return 0;
	}
	if (in->deadline >= 0) {
		f->stop_by = "fzinit";
		f->stop_why = stop_why_text(STOP_TIMEOUT);
		return 0;
	}
	if (in->ready < 0)
		return err_set(
		    e, EX_TEMPFAIL, "fzinit did not come up in the container");
	if (in->outside_signal >= 0 || (!reported && !f->oom_killed))
		return err_set(
		    e, EX_TEMPFAIL, "the container was stopped from outside");
	return 0;
}

static int
read_state(const struct live *l, struct facts *f, struct err *e)
{
	AUTO(json_p) cJSON *j = docker_inspect(l->s->d, l->id, e);
	const cJSON *running = json_at(j, "State.Running");

	if (j == NULL) {
		if (e->exit == EX_NOINPUT)
			err_set(e, EX_TEMPFAIL,
			    "the container was removed from outside");
		return -1;
	}
	f->exit_code = json_at_int(j, "State.ExitCode");
	f->oom_killed =
	    json_at_true(j, "State.OOMKilled") || l->inside.oom_kills > 0;
	if (!cJSON_IsFalse(running) || f->exit_code < 0)
		return err_set(e, EX_PROTOCOL,
		    "inspect: the engine does not say how the session ended");
	return 0;
}

static int
record(struct live *l, enum session_end *end, struct err *e)
{
	struct facts_network net;
	struct facts f = {
		.run = l->s->r->id,
		.campaign = l->s->o->campaign,
		.attempt = l->s->r->attempt,
		.container = l->id,
		.image = l->spec.image,
		.image_name = l->s->o->image,
		.user = l->s->user,
		.stdin_sha256 = l->s->p->input != NULL ? l->stdin_hash : NULL,
		.timeout_ms = l->s->o->timeout_s * 1000,
		.started_ms = l->wall_ms,
		.duration_ms = l->ended_ms - l->began_ms,
		.masked = (int64_t)l->masked,
		.inside = &l->inside,
		.capture = &l->capture,
		.host = json_at(l->made, "HostConfig"),
	};
	AUTO(json_p) cJSON *j = NULL;

	if (read_state(l, &f, e) < 0 || who_stopped(l, &f, e) < 0)
		return -1;
	if (l->watch.signal != 0) /* stopped by the user: no facts */
		return err_set(e, l->watch.signal, "interrupted");
	proxylog_count(&l->log, l->source, PROXYLOG_MAX);
	f.network = network(l, &net);
	j = facts_render(&f, e);
	if (j == NULL || json_write(l->s->r->fd, "container.json", j, e) < 0)
		return -1;
	*end = f.exit_code == 0 && f.stop_why == NULL ? SESSION_OK
						      : SESSION_FAILED;
	if (f.stop_why != NULL &&
	    strcmp(f.stop_why, stop_why_text(STOP_TIMEOUT)) == 0)
		*end = SESSION_TIMED_OUT;
	l->recorded = true;
	return 0;
}

/* Three tries; after that the next start sweeps up. */
static void
remove_container(struct session *s)
{
	struct timespec pause = { .tv_nsec = 200000000 };
	struct err e;

	for (int i = 0; i < 3; i++) {
		if (docker_remove(s->d, s->name, &e) == 0) {
			s->lingers = false;
			return;
		}
		(void)nanosleep(&pause, NULL);
	}
	s->lingers = true;
}

static void
live_release(struct live *l)
{
	watch_release(&l->watch);
	if (l->created)
		remove_container(l->s);
	relays_release(&l->relays);
	inside_release(&l->inside);
	capture_release(&l->capture);
	scratch_remove(l->s->r->fd);
	if (l->recorded || !l->s->lingers) /* else it names what is left */
		(void)unlinkat(l->s->r->fd, "run.json", 0);
	cJSON_Delete(l->body);
	cJSON_Delete(l->made);
	spec_release(&l->spec);
}

int
session_run(struct session *s, enum session_end *end, struct err *e)
{
	AUTO(live_release)
	struct live l = {
		.s = s,
		.inside = { .listener = -1, .conn = -1 },
		.relays = RELAYS_NONE,
		.capture = { .file = { { .fd = -1 }, { .fd = -1 } } },
	};

	if (prepare(&l, e) < 0 || interrupted(s, e) < 0)
		return -1;
	if (create(&l, e) < 0 || interrupted(s, e) < 0)
		return -1;
	if (inspect(&l, e) == 0 && run(&l, e) == 0 && record(&l, end, e) == 0)
		return 0;
	if (l.watch.signal != 0) /* the wish outranks the trouble */
		return err_set(e, l.watch.signal, "interrupted");
	if (e->exit == EX_NOINPUT) { /* somebody removed it */
		e->exit = EX_TEMPFAIL;
		return err_wrap(e, "the container is gone");
	}
	return -1;
}
