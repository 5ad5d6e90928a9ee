/* SPDX-License-Identifier: MIT */
/* Reads a directory of runs. */
#include "scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "atfile.h"
#include "buf.h"
#include "cleanup.h"
#include "err.h"
#include "json.h"
#include "proc.h"
#include "rundir.h"

#define RESULT_MAX   ((size_t)1 << 20)
#define RUN_MAX	     ((size_t)1 << 16)
#define CAMPAIGN_MAX ((size_t)1 << 20)
#define STOP_MAX     ((size_t)1 << 12)
#define RUNS_MAX     999999999 /* what an id has digits for */
#define COST_MAX     1e9       /* dollars; more is a lie */

static void
dir_p(DIR **d)
{
	if (*d != NULL)
		(void)closedir(*d);
}

/* Shorter ids come first where the number is the same ("007", "0007"). */
static int
by_number(const void *a, const void *b)
{
	const char *x = a, *y = b;
	const char *n = x + strspn(x, "0"), *m = y + strspn(y, "0");
	size_t nlen = strlen(n), mlen = strlen(m);
	int order = nlen != mlen ? (nlen > mlen) - (nlen < mlen) : strcmp(n, m);

	return order != 0 ? order : (n - x > m - y) - (n - x < m - y);
}

static int
add_id(struct scan *s, size_t *cap, const char *name)
{
	if (s->n == *cap) {
		size_t want = *cap == 0 ? 256 : *cap * 2;
		void *p = reallocarray(s->id, want, sizeof(*s->id));

		if (p == NULL)
			return -1;
		s->id = p;
		*cap = want;
	}
	(void)snprintf(s->id[s->n++], sizeof(*s->id), "%.9s", name);
	return 0;
}

/* errno is 0 at the end of a directory that could be read. */
static int
list_ids(struct scan *s)
{
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO(dir_p) DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *ent;
	size_t cap = 0;

	if (d == NULL) {
		close_p(&fd);
		return -1;
	}
	while (errno = 0, (ent = readdir(d)) != NULL)
		if (rundir_id_is_valid(ent->d_name) &&
		    add_id(s, &cap, ent->d_name) < 0)
			return -1;
	if (errno != 0)
		return -1;
	if (s->n > 0)
		qsort(s->id, s->n, sizeof(*s->id), by_number);
	return 0;
}

int
scan_open(struct scan *s, const char *path, struct err *e)
{
	*s = (struct scan){ .fd = -1 };
	s->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return err_sys(e, EX_NOINPUT, "%s", path);
	if (list_ids(s) < 0) {
		err_sys(e, EX_IOERR, "%s", path);
		scan_release(s);
		return -1;
	}
	return 0;
}

void
scan_release(struct scan *s)
{
	close_p(&s->fd);
	free(s->id);
	*s = (struct scan){ .fd = -1 };
}

int
scan_campaign(const struct scan *s, struct scan_campaign *c, struct err *e)
{
	AUTO(json_p) cJSON *j = NULL;
	const char *id;

	*c = (struct scan_campaign){ .runs = -1 };
	j = json_read(s->fd, "campaign.json", CAMPAIGN_MAX, "fz-campaign/1", e);
	if (j == NULL)
		return e->exit == EX_NOINPUT ? 0 : -1;
	if (json_int(j, "runs", 1, RUNS_MAX, &c->runs, e) < 0)
		return err_wrap(e, "campaign.json");
	id = json_at_str(j, "id");
	(void)snprintf(c->id, sizeof(c->id), "%s", id != NULL ? id : "");
	return 0;
}

/* The first line of a file for people; "" when it cannot be read. */
static int
first_line(const struct scan *s, const char *name, char *out, size_t size)
{
	AUTO(buf_release) struct buf b = BUF_INIT(STOP_MAX);
	struct err ignored;

	if (!at_exists(s->fd, name))
		return -1;
	out[0] = '\0';
	if (at_read(s->fd, name, &b, &ignored) < 0)
		return 0;
	(void)snprintf(out, size, "%.*s", (int)strcspn(b.data, "\n"), b.data);
	return 0;
}

int
scan_stop(const struct scan *s, char *out, size_t size)
{
	return first_line(s, "STOP", out, size);
}

int
scan_pause(const struct scan *s, int64_t now_ms, char *out, size_t size)
{
	char line[256];
	char *end;
	long long until;

	if (first_line(s, "PAUSE", line, sizeof(line)) < 0)
		return -1;
	until = strtoll(line, &end, 10);
	if (*end != ' ' || until <= now_ms / 1000)
		return -1;
	(void)snprintf(out, size, "%s", end + 1);
	return 0;
}

/* "2026-11-18T06:03:22Z" in ms, or -1. */
static int64_t
parse_time(const char *text)
{
	struct tm tm = { 0 };
	const char *end;
	time_t t;

	if (text == NULL)
		return -1;
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (end == NULL || *end != '\0')
		return -1;
	t = timegm(&tm);
	return t < 0 || t > JSON_INT_MAX / 1000 ? -1 : (int64_t)t * 1000;
}

static void
set_start(struct run *r)
{
	r->started_at = json_at_str(r->file, "started_at");
	r->started_ms = parse_time(r->started_at);
}

/* A command judged by its exit status has no price. */
static void
set_cost(struct run *r)
{
	const cJSON *agent = json_at(r->file, "agent");
	const char *name = json_at_str(agent, "name");
	const cJSON *cost = json_at(agent, "cost_usd");
	double usd = cJSON_IsNumber(cost) ? cost->valuedouble : -1;

	r->has_cost = name != NULL && strcmp(name, "exit") != 0;
	if (usd >= 0 && usd <= COST_MAX)
		r->cost_usd = usd;
}

static int
read_verdict(struct run *r, struct err *e)
{
	const char *name = json_str(r->file, "run", e);
	const char *outcome = json_str(r->file, "outcome", e);
	enum run_state st;

	if (name == NULL || outcome == NULL)
		return -1;
	if (strcmp(name, r->id) != 0)
		return err_set(
		    e, EX_DATAERR, "is the verdict of run \"%.16s\"", name);
	st = run_state_find(outcome, strlen(outcome));
	if (st > RUN_TIMEOUT)
		return err_set(e, EX_DATAERR,
		    "\"outcome\": \"%.16s\" is unknown", outcome);
	r->state = st;
	set_start(r);
	r->reason = json_at_str(r->file, "reason_code");
	r->detail = json_at_str(r->file, "detail");
	r->duration_ms = json_at_int(r->file, "duration_ms");
	r->claimed = json_at_int(r->file, "findings.claimed");
	r->denied = json_at_int(r->file, "network.denied");
	set_cost(r);
	return 0;
}

static int
read_owner(struct run *r, struct err *e)
{
	const char *owner = json_str(r->file, "owner", e);

	if (owner == NULL)
		return -1;
	r->state = proc_is_dead(owner) ? RUN_STALE : RUN_RUNNING;
	set_start(r);
	return 0;
}

static const struct {
	const char *name;
	const char *schema;
	size_t max;
	int (*read)(struct run *, struct err *);
} files[] = {
	{ "result.json", "fz-result/1", RESULT_MAX, read_verdict },
	{ "run.json", "fz-run/1", RUN_MAX, read_owner },
};

int
scan_run(const struct scan *s, size_t nth, struct run *r, struct err *e)
{
	char path[32];

	run_init(r, s->id[nth]);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		(void)snprintf(
		    path, sizeof(path), "%s/%s", r->id, files[i].name);
		r->file =
		    json_read(s->fd, path, files[i].max, files[i].schema, e);
		if (r->file == NULL && e->exit == EX_NOINPUT)
			continue;
		if (r->file != NULL && files[i].read(r, e) == 0)
			return 0;
		if (r->file != NULL)
			err_wrap(e, "%s", path);
		run_release(r);
		r->state = RUN_UNREADABLE;
		return -1;
	}
	return 0;
}
