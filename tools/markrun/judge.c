/* SPDX-License-Identifier: MIT */
/* One session: its facts and words read, its verdict taken and written. */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "atfile.h"
#include "buf.h"
#include "cleanup.h"
#include "err.h"
#include "joblog.h"
#include "json.h"
#include "num.h"
#include "provider.h"
#include "result.h"
#include "rundir.h"
#include "text.h"
#include "transcript.h"
#include "verdict.h"

#define FACTS_MAX  ((size_t)1 << 20)
#define CLAIMS_MAX ((size_t)1 << 20)
#define TAIL_MAX   ((size_t)4096)

/* A session that is being judged. */
struct session {
	struct rundir *dir;
	int parent;  /* the directory of all runs */
	bool judged; /* it has a verdict already */
	const cJSON *facts;
	struct transcript said;
	struct verdict verdict;
};

/* The facts of this very attempt, complete. */
static cJSON *
read_facts(const struct rundir *r, struct err *e)
{
	cJSON *j =
	    json_read(r->fd, "container.json", FACTS_MAX, "fz-container/1", e);
	const char *run = json_at_str(j, "run");

	if (j == NULL) {
		if (e->exit == EX_NOINPUT)
			err_set(e, EX_NOINPUT,
			    "no complete facts (container.json) to judge; "
			    "the session is due again");
		return NULL;
	}
	if (!at_exists(r->fd, "run.json") && run != NULL &&
	    strcmp(run, r->id) == 0 &&
	    json_at_int(j, "attempt") == r->attempt &&
	    json_at_int(j, "exit_code") >= 0 &&
	    json_at_int(j, "duration_ms") >= 0 &&
	    json_at_int(j, "timeout_ms") >= 0)
		return j;
	cJSON_Delete(j);
	err_set(e, EX_DATAERR, "container.json is not of this run's attempt %d",
	    r->attempt);
	return NULL;
}

/* No output is no words; agent.out that cannot be read is an error. */
static int
read_words(const struct rundir *r, struct transcript *t, struct err *e)
{
	AUTO(close_p)
	int fd = openat(
	    r->fd, "agent.out", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	transcript_init(t);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, EX_DATAERR, "agent.out");
	if (!S_ISREG(st.st_mode))
		return err_set(e, EX_DATAERR, "agent.out: not a regular file");
	return transcript_read(t, fd, e) < 0 ? err_wrap(e, "agent.out") : 0;
}

static int64_t
count_claims(const struct rundir *r)
{
	AUTO(buf_release) struct buf b = BUF_INIT(CLAIMS_MAX);
	struct err e;

	if (at_read(r->fd, "workspace/findings.jsonl", &b, &e) == 0)
		return result_count_claims(b.data, b.len);
	return e.exit == EX_NOINPUT ? 0 : -1;
}

/* "Exit code: 3", a blank line, "Logs:" and the end of the output. */
static int
add_logs(struct buf *to, const struct rundir *r)
{
	static const char head[] = "\nLogs:\n";
	AUTO(buf_release) struct buf tail = BUF_INIT(TAIL_MAX);
	struct err ignored;

	if (at_tail(r->fd, "agent.err", &tail, &ignored) < 0 || tail.len == 0)
		(void)!at_tail(r->fd, "agent.out", &tail, &ignored);
	if (buf_add(to, head, sizeof(head) - 1) < 0)
		return -1;
	return text_clean(to, tail.data, tail.len, true);
}

static int
write_marker(const struct rundir *r, const struct verdict *v, struct err *e)
{
	AUTO(buf_release) struct buf b = BUF_INIT(TAIL_MAX * 8);
	bool ok = buf_add(&b, v->marker, strlen(v->marker)) == 0 &&
	    buf_add(&b, "\n", 1) == 0;

	if (ok && v->outcome == OUTCOME_ERROR)
		ok = add_logs(&b, r) == 0;
	if (!ok)
		return err_set(e, EX_OSERR, "marker: out of memory");
	return at_write(
	    r->fd, outcome_marker(v->outcome), b.data, b.len, AT_REPLACE, e);
}

/* After an earlier verdict was taken anew, its marker may be another. */
static void
drop_other_markers(const struct rundir *r, enum outcome keep)
{
	for (enum outcome o = OUTCOME_SUCCESS; o <= OUTCOME_TIMEOUT; o++)
		if (o != keep)
			(void)unlinkat(r->fd, outcome_marker(o), 0);
}

/* NULL when the log was not read, or there is none. */
static const struct answers *
answers_of(const cJSON *facts, int64_t told, struct answers *a)
{
	const cJSON *all = json_at(facts, "network.answers");
	const cJSON *v;
	int64_t status;
	struct err e;

	*a = (struct answers){ 0 };
	cJSON_ArrayForEach(v, all)
	{
		if (!cJSON_IsNumber(v) ||
		    num_parse(v->string, 0, 999, &status, &e) < 0)
			continue;
		a->good += status / 100 == 2;
		a->troubled += status / 100 == 5;
		a->same += status == told;
	}
	return cJSON_IsObject(all) ? a : NULL;
}

static struct evidence
evidence_of(const cJSON *facts)
{
	return (struct evidence){
		.exit_code = json_at_int(facts, "exit_code"),
		.signal = json_at_int(facts, "signal"),
		.exec_errno = json_at_int(facts, "exec_errno"),
		.oom_killed = json_at_true(facts, "oom_killed"),
		.stop_why = json_at_str(facts, "stop.why"),
		.timeout_ms = json_at_int(facts, "timeout_ms"),
		.duration_ms = json_at_int(facts, "duration_ms"),
	};
}

static void
tell(const struct rundir *r, const struct verdict *v, int64_t duration_ms)
{
	bool utf8 = text_locale_is_utf8();

	if (v->outcome == OUTCOME_SUCCESS)
		(void)printf("[%s] %sDone (%.1fs)\n", r->id,
		    utf8 ? "\xe2\x9c\x93 " : "", (double)duration_ms / 1000);
	else
		(void)printf("[%s] %sFailed: %s\n", r->id,
		    utf8 ? "\xe2\x9c\x97 " : "", v->detail);
	(void)fflush(stdout);
}

static int
log_attempt(const struct judge_how *how, const struct session *s, struct err *e)
{
	bool open = s->verdict.then == THEN_WAIT;
	struct job j = {
		.run = s->dir->id,
		.attempt = s->dir->attempt,
		.started_ms = json_at_int(s->facts, "started_ms"),
		.duration_ms = json_at_int(s->facts, "duration_ms"),
		.exit_code = json_at_int(s->facts, "exit_code"),
		.signal = json_at_int(s->facts, "signal"),
		.output_bytes = json_at_int(s->facts, "output.stdout_bytes"),
		.no_verdict = open ? s->verdict.reason : NULL,
	};
	int64_t total = open ? 0 : how->total;
	int64_t done;

	if (joblog_append(s->parent, &j, total, &done, e) < 0)
		return -1;
	if (done > 0 && (done % 10 == 0 || done == total))
		(void)printf("Progress: %lld/%lld complete\n", (long long)done,
		    (long long)total);
	return 0;
}

/* The API's trouble is nobody's verdict. */
static int
leave_due(const struct judge_how *how, const struct session *s, struct err *e)
{
	struct provider_failure f = {
		.reason = s->verdict.reason,
		.started_ms = json_at_int(s->facts, "started_ms"),
		.answered = s->said.answered,
	};

	if (!s->judged &&
	    (log_attempt(how, s, e) < 0 ||
		provider_failed(s->parent, &f, e) < 0))
		return -1;
	if (rundir_retire(s->dir, e) < 0)
		return -1;
	(void)printf("[%s] %s: no verdict, the attempt is kept\n", s->dir->id,
	    s->verdict.detail);
	(void)fflush(stdout);
	return JUDGE_NO_VERDICT;
}

/* What all other workers have to know of this session. */
static int
tell_workers(const struct session *s, struct err *e)
{
	if (s->judged)
		return 0; /* old news */
	if (s->said.good &&
	    provider_is_good(
		s->parent, json_at_int(s->facts, "started_ms"), e) < 0)
		return -1;
	return s->verdict.then == THEN_STOP
	    ? provider_stop(s->parent, s->verdict.stop, e)
	    : 0;
}

static int
write_verdict(
    const struct judge_how *how, const struct session *s, struct err *e)
{
	struct result_agent agent = {
		.name = how->agent,
		.said = &s->said,
	};
	AUTO(json_p)
	cJSON *result = result_render(
	    s->facts, &s->verdict, &agent, count_claims(s->dir), e);

	if (result == NULL || write_marker(s->dir, &s->verdict, e) < 0)
		return -1;
	drop_other_markers(s->dir, s->verdict.outcome);
	if (json_write(s->dir->fd, "result.json", result, e) < 0)
		return -1;
	tell(s->dir, &s->verdict, json_at_int(s->facts, "duration_ms"));
	return s->judged ? 0 : log_attempt(how, s, e);
}

static int
take_verdict(const struct judge_how *how, struct session *s, struct err *e)
{
	struct evidence f = evidence_of(s->facts);
	struct answers a;

	transcript_init(&s->said);
	if (strcmp(how->agent, "claude") != 0) {
		verdict_take(&s->verdict, &f);
		return 0;
	}
	if (read_words(s->dir, &s->said, e) < 0)
		return -1;
	f.answers = answers_of(s->facts, s->said.api_status, &a);
	verdict_claude(&s->verdict, &f, &s->said);
	return 0;
}

int
judge_run(const struct judge_how *how, struct rundir *r, struct err *e)
{
	AUTO(close_p)
	int parent = openat(r->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO(json_p) cJSON *facts = NULL;
	struct session s = {
		.dir = r,
		.judged = rundir_has_verdict(r),
		.parent = parent,
	};

	if (parent < 0)
		return err_sys(e, EX_CANTCREAT, "joblog.tsv");
	if (s.judged && !how->again)
		return err_set(
		    e, EX_CANTCREAT, "has a verdict; --again takes it anew");
	facts = read_facts(r, e);
	s.facts = facts;
	if (facts == NULL || take_verdict(how, &s, e) < 0)
		return -1;
	if (s.verdict.then == THEN_WAIT)
		return leave_due(how, &s, e);
	if (tell_workers(&s, e) < 0)
		return -1;
	return write_verdict(how, &s, e);
}
