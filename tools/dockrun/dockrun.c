/* SPDX-License-Identifier: MIT */
/*
 * Launches one hardened container, watches it, and records the facts of its
 * end in a run directory.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "buf.h"
#include "cleanup.h"
#include "clock.h"
#include "docker.h"
#include "err.h"
#include "json.h"
#include "num.h"
#include "options.h"
#include "prepare.h"
#include "proc.h"
#include "redact.h"
#include "reserve.h"
#include "rundir.h"
#include "scratch.h"
#include "session.h"
#include "spec.h"
#include "text.h"
#include "watch.h"

#define TRIES 4 /* the first and three more */

static void
say(const struct rundir *r, const char *text)
{
	(void)printf("[%s] %s\n", r->id, text);
	(void)fflush(stdout);
}

/* Signals become data; one that was ignored (nohup) stays ignored. */
static int
catch_signals(struct err *e)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		struct sigaction old;

		if (sigaction(wanted[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			(void)sigaddset(&set, wanted[i]);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		err_sys(e, EX_OSERR, "signalfd");
	return fd;
}

static bool
is_trouble(const struct err *e)
{
	return e->exit == EX_UNAVAILABLE || e->exit == EX_TEMPFAIL ||
	    e->exit == EX_PROTOCOL;
}

/* Sleeps unless a signal comes, which is then the result. */
static int
pause_ms(int sigfd, int64_t ms, struct err *e)
{
	struct pollfd p = { .fd = sigfd, .events = POLLIN };
	int status;

	if (poll(&p, 1, (int)ms) <= 0)
		return 0;
	status = watch_signal(sigfd);
	return status != 0 ? err_set(e, status, "interrupted") : 0;
}

/* The engine and the image, however long the engine takes to come back. */
static cJSON *
wait_for_image(struct session *s, struct err *e)
{
	int64_t until = clock_mono_ms() + s->o->infra_wait_s * 1000;
	int64_t told = INT64_MIN / 2;
	int64_t nap = 500;

	for (;;) {
		cJSON *image = NULL;
		int64_t now;

		if (docker_ping(s->d, e) == 0)
			image = docker_image(s->d, s->o->image, e);
		now = clock_mono_ms();
		if (image != NULL || !is_trouble(e))
			return image;
		if (now >= until) {
			if (e->exit == EX_UNAVAILABLE)
				e->exit = EX_TEMPFAIL;
			return NULL;
		}
		if (now - told >= 60000) {
			(void)printf("[%s] %s; waiting up to %lld s\n",
			    s->r->id, e->text,
			    (long long)(until - now + 999) / 1000);
			(void)fflush(stdout);
			told = now;
		}
		nap = nap < until - now ? nap : until - now;
		if (pause_ms(s->sigfd, nap, e) < 0)
			return NULL;
		nap = nap * 2 < 10000 ? nap * 2 : 10000;
	}
}

/* What a dockrun that was killed left behind: its container, its files. */
static int
clear_old_attempt(struct session *s, struct err *e)
{
	struct err ignored;
	AUTO(json_p)
	cJSON *j = json_read(s->r->fd, "run.json", 65536, "fz-run/1", &ignored);
	const char *name = json_at_str(j, "container");

	if (name != NULL && strncmp(name, "fz-", 3) == 0 &&
	    strspn(name + 3, "0123456789abcdef-") == strlen(name + 3) &&
	    docker_remove(s->d, name, e) < 0)
		return -1;
	scratch_remove(s->r->fd);
	return rundir_retire(s->r, e);
}

static int
random_name(const struct rundir *r, char *out, size_t size, struct err *e)
{
	uint32_t salt;

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return err_sys(e, EX_OSERR, "getrandom");
	(void)snprintf(out, size, "fz-%s-%08x", r->id, salt);
	return 0;
}

/* One try: empty directory, session. */
static int
try_once(struct session *s, enum session_end *end, struct err *e)
{
	if (s->lingers && docker_remove(s->d, s->name, e) < 0)
		return -1;
	if (clear_old_attempt(s, e) < 0 ||
	    random_name(s->r, s->name, sizeof(s->name), e) < 0)
		return -1;
	return session_run(s, end, e);
}

static int
try_often(struct session *s, enum session_end *end, struct err *e)
{
	int64_t nap = num_env("FUZZMILL_RETRY_MS", 1, 60000, 1000);
	char text[sizeof(e->text) + 64];
	int rc = -1;

	for (int n = 1; rc < 0 && n <= TRIES; n++) {
		AUTO(json_p) cJSON *image = wait_for_image(s, e);

		if (image == NULL) /* waited long enough */
			break;
		s->image = image;
		rc = try_once(s, end, e);
		redact_text(&s->o->secrets, e->text);
		if (rc == 0 || !is_trouble(e) || n == TRIES)
			break;
		(void)snprintf(text, sizeof(text),
		    "%s; trying again (%d of %d)", e->text, n, TRIES - 1);
		say(s->r, text);
		if (pause_ms(s->sigfd, nap, e) < 0)
			break;
		nap *= 2;
	}
	if (s->lingers)
		say(s->r,
		    "could not remove the container; the next campaign "
		    "or \"fzps --reap\" does");
	if (rc < 0 && e->exit == EX_UNAVAILABLE)
		e->exit = EX_TEMPFAIL;
	return rc;
}

/* Who the session is: the caller, or for root somebody who is nobody. */
static int
choose_user(
    struct session *s, char *text, size_t size, int *keep, struct err *e)
{
	uint32_t uid = getuid();

	if (s->o->user != NULL) {
		s->uid = (uint32_t)s->o->uid;
		s->gid = (uint32_t)s->o->gid;
	} else if (prepare_own_uid(s->o)) {
		if (reserve(&reserve_uids, &uid, keep, e) < 0)
			return -1;
		s->uid = s->gid = uid;
	} else {
		s->uid = uid;
		s->gid = getgid();
	}
	if (s->gid == 0)
		return err_set(e, EX_CONFIG,
		    "your group is root's; name another with --user");
	(void)snprintf(text, size, "%u:%u", s->uid, s->gid);
	s->user = text;
	return 0;
}

/* The address by which the proxy's log tells this session from others. */
static int
choose_source(struct session *s, int *keep, struct err *e)
{
	uint32_t address;

	if (s->o->net.n_relays == 0)
		return 0;
	if (reserve(&reserve_sources, &address, keep, e) < 0)
		return -1;
	s->source.s_addr = htonl(address);
	return 0;
}

static int
run_session(const struct options *o, const struct places *p,
    enum session_end *end, struct err *e)
{
	AUTO(docker_release) struct docker d = { 0 };
	AUTO(rundir_release) struct rundir r = { .fd = -1 };
	AUTO(close_p) int keep_uid = -1;
	AUTO(close_p) int keep_source = -1;
	AUTO(close_p) int sigfd = catch_signals(e);
	struct session s = { .o = o, .p = p, .r = &r, .d = &d, .sigfd = sigfd };
	struct proc_id self;
	char user[32];

	if (sigfd < 0 || proc_self(&self, e) < 0 || docker_open(&d, e) < 0 ||
	    rundir_open(&r, p->dir, RUNDIR_CREATE, e) < 0)
		return -1;
	if (rundir_has_verdict(&r))
		return err_set(e, EX_CANTCREAT,
		    "%s: has a verdict; \"markrun --retract %s\" gives it up",
		    o->dir, o->dir);
	s.owner = self.text;
	if (choose_user(&s, user, sizeof(user), &keep_uid, e) < 0 ||
	    choose_source(&s, &keep_source, e) < 0)
		return -1;
	say(&r, "Starting...");
	return try_often(&s, end, e);
}

/* A name may hold anything, but a place is one line. */
static int
print_masks(const struct masks *m)
{
	for (size_t i = 0; i < m->n; i++) {
		AUTO(buf_release) struct buf b = BUF_INIT(1 << 16);
		const char *path = m->v[i].path;

		if (text_clean(&b, path, strlen(path), false) < 0)
			return -1;
		(void)printf("%s%s\n", b.data, m->v[i].is_dir ? "/" : "");
	}
	return 0;
}

static int
list_masked(const struct options *o, const struct places *p, struct err *e)
{
	for (size_t i = 0; i < o->ro.n; i++) {
		AUTO(masks_release) struct masks m = { 0 };
		AUTO(free_p)
		char *real = prepare_target(p->rundir, o->ro.v[i], e);

		if (real == NULL || mask_find(real, &o->masks, &m, e) < 0)
			return -1;
		if (print_masks(&m) < 0)
			return err_sys(e, EX_OSERR, "--list-masked");
	}
	return 0;
}

/* Needs no engine, unless the command has to be asked from the image. */
static int
print_request(const struct options *o, const struct places *p, struct err *e)
{
	AUTO(docker_release) struct docker d = { 0 };
	AUTO(spec_release) struct spec spec = { 0 };
	AUTO(json_p) cJSON *image = NULL;
	AUTO(json_p) cJSON *body = NULL;
	char user[32], *text;
	size_t masked;

	if (*o->command == NULL) {
		if (docker_open(&d, e) < 0 || docker_ping(&d, e) < 0)
			return -1;
		image = docker_image(&d, o->image, e);
		if (image == NULL)
			return -1;
	}
	(void)snprintf(user, sizeof(user), "%u:%u",
	    geteuid() == 0 ? reserve_uids.first : getuid(),
	    geteuid() == 0 ? reserve_uids.first : getgid());
	spec.user = o->user != NULL ? o->user : user;
	spec.run = strrchr(p->dir, '/') + 1;
	spec.owner = "-";
	if (prepare_spec(&spec, o, p, image, &masked, e) < 0)
		return -1;
	body = spec_render(&spec, e);
	text = body != NULL ? cJSON_Print(body) : NULL;
	if (text == NULL)
		return err_set(e, EX_OSERR, "out of memory");
	redact_text(&o->secrets, text);
	(void)printf("%s\n", text);
	cJSON_free(text);
	return 0;
}

static int
act(struct options *o, enum session_end *end, struct err *e)
{
	AUTO(places_release) struct places p = { 0 };

	if (places_find(&p, o, e) < 0)
		return -1;
	if (p.rundir != NULL) {
		o->masks.rundir = strdup(p.rundir);
		if (o->masks.rundir == NULL)
			return err_sys(e, EX_OSERR, "masks");
	}
	switch (o->mode) {
	case MODE_LIST_MASKED:
		return list_masked(o, &p, e);
	case MODE_PRINT_REQUEST:
		return print_request(o, &p, e);
	default:
		return run_session(o, &p, end, e);
	}
}

int
main(int argc, char *argv[])
{
	static const int statuses[] = { EX_OK, 1, 124 };
	AUTO(options_release) struct options o = { 0 };
	enum session_end end = SESSION_OK;
	struct err e = { 0 };
	bool ok;

	ok = options_parse(&o, argc, argv, &e) == 0 && act(&o, &end, &e) == 0;
	redact_text(&o.secrets, e.text);
	if (!ok)
		return err_report(&e, "dockrun");
	if (fflush(stdout) != 0 || ferror(stdout))
		return EX_IOERR;
	return o.exit_status ? statuses[end] : EX_OK;
}
