/* SPDX-License-Identifier: MIT */
/* Turns the facts of a session into one verdict: a marker and result.json. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"
#include "judge.h"
#include "num.h"
#include "rundir.h"
#include "version.h"

struct args {
	bool retract;
	struct judge_how how;
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
	    "  --agent NAME      how to judge: exit, by the exit status, or\n"
	    "                    claude, by what it said in agent.out (exit)\n"
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
	struct args a = { .how = { .agent = "exit" } };
	struct err e;
	int c;

	while ((c = getopt_long(argc, argv, "+", longopts, NULL)) != -1) {
		switch (c) {
		case 'a':
			a.how.again = true;
			break;
		case 'g':
			a.how.agent = optarg;
			break;
		case 'h':
			usage(stdout, EX_OK);
		case 'p':
			if (num_parse(optarg, 1, 1000000, &a.how.total, &e) < 0)
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
	if (strcmp(a.how.agent, "exit") != 0 &&
	    strcmp(a.how.agent, "claude") != 0) {
		(void)fprintf(stderr,
		    "markrun: --agent %s: unknown; there is: exit, claude\n",
		    a.how.agent);
		exit(EX_USAGE);
	}
	return a;
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
	int rc;

	if (rundir_open(&r, dir, RUNDIR_EXISTING, e) < 0)
		return -1;
	rc = a->retract ? retract(&r, e) : judge_run(&a->how, &r, e);
	return rc < 0 ? err_wrap(e, "%s", dir) : rc;
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	int status = EX_OK, done = 0;
	struct err e;

	for (char **dir = a.dirs; *dir != NULL; dir++) {
		int rc = mark_run(&a, *dir, &e);

		if (rc == 0)
			done++;
		else
			status = rc == JUDGE_NO_VERDICT
			    ? EX_TEMPFAIL
			    : err_report(&e, "markrun");
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		return EX_IOERR;
	return status != EX_OK && done > 0 ? 2 : status;
}
