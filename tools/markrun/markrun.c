/* SPDX-License-Identifier: MIT */
/* Turns the facts of a session into one verdict: a marker and result.json. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "atfile.h"
#include "buf.h"
#include "cleanup.h"
#include "err.h"
#include "joblog.h"
#include "json.h"
#include "num.h"
#include "result.h"
#include "rundir.h"
#include "text.h"
#include "verdict.h"
#include "version.h"

#define FACTS_MAX  ((size_t)1 << 20)
#define CLAIMS_MAX ((size_t)1 << 20)
#define TAIL_MAX   ((size_t)4096)

struct args {
	bool again;
	bool retract;
	const char *agent;
	int64_t total; /* runs of the campaign, for the progress line; or 0 */
	char **dirs;
};

static const struct option longopts[] = {
	{ "again", no_argument, NULL, 'a' },
	{ "agent", required_argument, NULL, 'g' },
	{ "help", no_argument, NULL, 'h' },
	{ "progress", required_argument, NULL, 'p' },
	{ "retract", no_argument, NULL, 'r' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void
usage(FILE *to, int status)
{
	(void)fputs(
	    "usage: markrun [options] DIR ...\n"
	    "Judges finished sessions by the facts in their directories.\n"
	    "  --again           take an existing verdict anew\n"
	    "  --agent NAME      how to judge: exit, by the exit status (exit)\n"
	    "  --help            this text\n"
	    "  --progress TOTAL  tell how many of TOTAL runs are complete\n"
	    "  --retract         give a verdict up: the attempt is kept in\n"
	    "                    attempts/N, the run is due again\n"
	    "  --version         the version\n",
	    to);
	exit(status);
}

static struct args
parse_args(int argc, char *argv[])
{
	struct args a = { .agent = "exit" };
	struct err e;
	int c;

	while ((c = getopt_long(argc, argv, "+", longopts, NULL)) != -1) {
		switch (c) {
		case 'a':
			a.again = true;
			break;
		case 'g':
			a.agent = optarg;
			break;
		case 'h':
			usage(stdout, EX_OK);
		case 'p':
			if (num_parse(optarg, 1, 1000000, &a.total, &e) < 0)
				exit(err_report(&e, "markrun: --progress"));
			break;
		case 'r':
			a.retract = true;
			break;
		case 'v':
			(void)printf("markrun %s\n", fz_version);
			exit(EX_OK);
		default: /* getopt_long has already said why */
			usage(stderr, EX_USAGE);
		}
	}
	a.dirs = argv + optind;
	if (optind == argc)
		usage(stderr, EX_USAGE);
	if (strcmp(a.agent, "exit") != 0) {
		(void)fprintf(stderr,
		    "markrun: --agent %s: unknown; there is: exit\n", a.agent);
		exit(EX_USAGE);
	}
	return a;
}

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
log_attempt(const struct args *a, const struct rundir *r, const cJSON *facts,
    struct err *e)
{
	AUTO(close_p)
	int parent = openat(r->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct job j = {
		.run = r->id,
		.attempt = r->attempt,
		.started_ms = json_at_int(facts, "started_ms"),
		.duration_ms = json_at_int(facts, "duration_ms"),
		.exit_code = json_at_int(facts, "exit_code"),
		.signal = json_at_int(facts, "signal"),
		.output_bytes = json_at_int(facts, "output.stdout_bytes"),
	};
	int64_t done;

	if (parent < 0)
		return err_sys(e, EX_CANTCREAT, "joblog.tsv");
	if (joblog_append(parent, &j, a->total, &done, e) < 0)
		return -1;
	if (a->total > 0 && (done % 10 == 0 || done == a->total))
		(void)printf("Progress: %lld/%lld complete\n", (long long)done,
		    (long long)a->total);
	return 0;
}

static int
judge(const struct args *a, struct rundir *r, struct err *e)
{
	bool judged = rundir_has_verdict(r);
	AUTO(json_p) cJSON *facts = NULL;
	AUTO(json_p) cJSON *result = NULL;
	struct evidence f;
	struct verdict v;

	if (judged && !a->again)
		return err_set(
		    e, EX_CANTCREAT, "has a verdict; --again takes it anew");
	facts = read_facts(r, e);
	if (facts == NULL)
		return -1;
	f = evidence_of(facts);
	verdict_take(&v, &f);
	result = result_render(facts, &v, a->agent, count_claims(r), e);
	if (result == NULL || write_marker(r, &v, e) < 0)
		return -1;
	drop_other_markers(r, v.outcome);
	if (json_write(r->fd, "result.json", result, e) < 0)
		return -1;
	tell(r, &v, f.duration_ms);
	return judged ? 0 : log_attempt(a, r, facts, e);
}

static int
retract(struct rundir *r, struct err *e)
{
	int attempt = r->attempt;

	if (rundir_retire(r, e) < 0)
		return -1;
	if (r->attempt > attempt)
		(void)printf("[%s] verdict retracted; due again\n", r->id);
	return 0;
}

static int
mark_run(const struct args *a, const char *dir, struct err *e)
{
	AUTO(rundir_release) struct rundir r = { .fd = -1 };

	if (rundir_open(&r, dir, RUNDIR_EXISTING, e) < 0)
		return -1;
	if ((a->retract ? retract(&r, e) : judge(a, &r, e)) < 0)
		return err_wrap(e, "%s", dir);
	return 0;
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	int status = EX_OK, done = 0;
	struct err e;

	for (char **dir = a.dirs; *dir != NULL; dir++) {
		if (mark_run(&a, *dir, &e) == 0)
			done++;
		else
			status = err_report(&e, "markrun");
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		return EX_IOERR;
	return status != EX_OK && done > 0 ? 2 : status;
}
