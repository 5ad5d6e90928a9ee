/* SPDX-License-Identifier: MIT */
/* Counts and lists the runs of a campaign. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "clock.h"
#include "err.h"
#include "output.h"
#include "put.h"
#include "scan.h"
#include "summary.h"
#include "version.h"

#define REASONS_MAX 16
#define NAMED_MAX   10 /* complaints before they are only counted */

enum { EXIT_NO = 1, EXIT_PARTIAL = 2 };

struct filter {
	bool on;
	bool state[RUN_STATES];
	bool any_state;			 /* no --status was given */
	const char *reason[REASONS_MAX]; /* lists with commas */
	size_t reasons;
};

struct args {
	const struct format *format;
	const char *command;
	struct filter filter;
	char *rundir;
};

static const char help[] =
    "usage: fzstat [options] [RUNDIR]\n"
    "Counts and lists the runs in RUNDIR (fuzz/runs).\n"
    "\n"
    "  --closing COMMAND  how a campaign ended; COMMAND continues it\n"
    "  --ids              one run a line\n"
    "  --json             the summary as one object\n"
    "  --jsonl            one object a line for each run\n"
    "  --tsv              one line of fixed columns for each run\n"
    "  --reason CODE      list only runs with this reason code\n"
    "  --status STATE     list only runs in this state: success, error,\n"
    "                     timeout, running, stale, unfinished, unreadable\n"
    "  --help             show this text\n"
    "  --version          show the version\n"
    "\n"
    "CODE and STATE may be lists with commas, and may be repeated.\n";

static const struct option longopts[] = {
	{ "closing", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ "ids", no_argument, NULL, 'f' },
	{ "json", no_argument, NULL, 'f' },
	{ "jsonl", no_argument, NULL, 'f' },
	{ "reason", required_argument, NULL, 'r' },
	{ "status", required_argument, NULL, 's' },
	{ "tsv", no_argument, NULL, 'f' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* Standard output to its end: a full disk is no success. */
static int
flush(struct err *e)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return err_sys(e, EX_IOERR, "standard output");
}

/* Like err_report(), for messages that quote what a run says. */
static void
complain(const struct err *e)
{
	(void)fputs("fzstat: ", stderr);
	(void)put_text(stderr, e->text, SIZE_MAX);
	(void)fprintf(stderr, "%s%s\n", e->sys != 0 ? ": " : "",
	    e->sys != 0 ? strerror(e->sys) : "");
}

_Noreturn static void
show(const char *text)
{
	struct err e;

	(void)fputs(text, stdout);
	exit(flush(&e) < 0 ? err_report(&e, "fzstat") : EX_OK);
}

/* why is NULL when it has been said. */
_Noreturn static void PRINTF_LIKE(1, 2) misuse(const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	if (why != NULL) {
		(void)fputs("fzstat: ", stderr);
		(void)vfprintf(stderr, why, ap);
		(void)fputc('\n', stderr);
	}
	va_end(ap);
	(void)fputs(
	    "usage: fzstat [options] [RUNDIR]; see fzstat --help\n", stderr);
	exit(EX_USAGE);
}

static void
add_states(struct filter *f, const char *list)
{
	f->on = true;
	f->any_state = false;
	for (;;) {
		size_t n = strcspn(list, ",");
		enum run_state s = run_state_find(list, n);

		if (s == RUN_STATES)
			misuse("--status: \"%.*s\" is no state", (int)n, list);
		f->state[s] = true;
		if (list[n] == '\0')
			return;
		list += n + 1;
	}
}

static void
add_reasons(struct filter *f, const char *list)
{
	f->on = true;
	if (list[0] == '\0')
		misuse("--reason: empty");
	if (f->reasons == REASONS_MAX)
		misuse("--reason: too many; use a list with commas");
	f->reason[f->reasons++] = list;
}

static void
set_format(struct args *a, const char *name)
{
	if (a->format != &output_text)
		misuse("choose one of --closing, --ids, --json, --jsonl, "
		       "--tsv");
	a->format = output_find(name);
}

static void
set_rundir(struct args *a, char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	a->rundir = path;
}

static struct args
parse_args(int argc, char *argv[])
{
	static char rundir[] = OUTPUT_RUNDIR;
	struct args a = {
		.format = &output_text,
		.command = "",
		.filter = { .any_state = true },
	};
	int c, nth = 0;

	while ((c = getopt_long(argc, argv, "", longopts, &nth)) != -1) {
		switch (c) {
		case 'c':
			set_format(&a, "closing");
			a.command = optarg;
			break;
		case 'f':
			set_format(&a, longopts[nth].name);
			break;
		case 'h':
			show(help);
		case 'r':
			add_reasons(&a.filter, optarg);
			break;
		case 's':
			add_states(&a.filter, optarg);
			break;
		case 'v':
			(void)printf("fzstat %s", fz_version);
			show("\n");
		default: /* getopt_long has already said why */
			misuse(NULL);
		}
	}
	if (argc - optind > 1)
		misuse("more than one RUNDIR");
	if (a.filter.on && a.format->run == NULL)
		misuse("--status and --reason need --ids, --jsonl or --tsv");
	set_rundir(&a, argc > optind ? argv[optind] : rundir);
	return a;
}

static bool
list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		if (list[n] == '\0')
			return false;
		list += n + 1;
	}
}

static bool
is_wanted(const struct filter *f, const struct run *r)
{
	if (!f->any_state && !f->state[r->state])
		return false;
	for (size_t i = 0; i < f->reasons; i++)
		if (r->reason != NULL && list_has(f->reason[i], r->reason))
			return true;
	return f->reasons == 0;
}

/* One run from the disk to the output; *bad counts what is unreadable. */
static int
take_run(const struct args *a, const struct scan *scan, size_t nth,
    struct summary *sum, size_t *bad, struct err *e)
{
	AUTO(run_release) struct run r;

	if (scan_run(scan, nth, &r, e) < 0 && ++*bad <= NAMED_MAX)
		complain(e);
	if (summary_add(sum, &r, e) < 0)
		return -1;
	if (a->format->run != NULL && is_wanted(&a->filter, &r))
		return a->format->run(stdout, &r, e);
	return 0;
}

static int
take_all(const struct args *a, const struct scan *scan, struct summary *sum,
    size_t *bad, struct err *e)
{
	if (a->format->begin != NULL)
		a->format->begin(stdout);
	for (size_t i = 0; i < scan->n; i++)
		if (take_run(a, scan, i, sum, bad, e) < 0)
			return -1;
	if (*bad > NAMED_MAX)
		(void)fprintf(stderr, "fzstat: and %zu more unreadable\n",
		    *bad - NAMED_MAX);
	summary_finish(sum);
	return 0;
}

/* Returns the exit status, or -1 with *e set. */
static int
report_runs(const struct args *a, const struct scan *scan, struct err *e)
{
	AUTO(summary_release) struct summary sum = { 0 };
	struct scan_campaign campaign;
	struct report r = {
		.rundir = a->rundir,
		.campaign = campaign.id,
		.command = a->command,
		.now_ms = clock_wall_ms(),
		.sum = &sum,
	};
	char stop[256], pause[256];
	size_t bad = 0;

	if (scan_campaign(scan, &campaign, e) < 0) {
		complain(e);
		bad++;
	}
	summary_init(&sum, campaign.runs);
	if (take_all(a, scan, &sum, &bad, e) < 0)
		return -1;
	if (scan_stop(scan, stop, sizeof(stop)) == 0)
		r.stop = stop;
	if (scan_pause(scan, r.now_ms, pause, sizeof(pause)) == 0)
		r.pause = pause;
	if (a->format->end != NULL && a->format->end(stdout, &r, e) < 0)
		return -1;
	if (a->format->gates)
		return summary_is_complete(&sum) ? EX_OK : EXIT_NO;
	return bad > 0 ? EXIT_PARTIAL : EX_OK;
}

/* For people, a directory that is not there yet has no runs. */
static int
report_none(const struct args *a, struct err *e)
{
	struct summary none;
	struct report r = { .rundir = a->rundir, .campaign = "", .sum = &none };

	summary_init(&none, -1);
	return a->format->end(stdout, &r, e);
}

static int
stat_runs(const struct args *a, struct err *e)
{
	AUTO(scan_release) struct scan scan = { .fd = -1 };
	int status;

	if (scan_open(&scan, a->rundir, e) == 0)
		status = report_runs(a, &scan, e);
	else if (e->sys == ENOENT && a->format == &output_text)
		status = report_none(a, e);
	else
		return -1;
	return status < 0 || flush(e) < 0 ? -1 : status;
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	struct err e;
	int status = stat_runs(&a, &e);

	if (status < 0) {
		complain(&e);
		return e.exit;
	}
	return status;
}
