/* SPDX-License-Identifier: MIT */
/* fzps: list the live sessions, and sweep up after dead ones. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cleanup.h"
#include "clock.h"
#include "docker.h"
#include "err.h"
#include "json.h"
#include "measure.h"
#include "session.h"
#include "sweep.h"
#include "table.h"
#include "version.h"

#define CAMPAIGN_MAX ((size_t)1 << 20)

struct args {
	const char *rundir; /* or NULL */
	bool json;
	bool kill;
	bool reap;
};

static const struct option longopts[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "kill", no_argument, NULL, 'k' },
	{ "reap", no_argument, NULL, 'r' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void
usage(FILE *to, int status)
{
	(void)fputs("usage: fzps [--json] [RUNDIR]\n"
		    "       fzps --reap [RUNDIR]\n"
		    "       fzps --kill RUNDIR\n"
		    "  --help     print this and exit\n"
		    "  --json     list as JSON\n"
		    "  --kill     end every session of RUNDIR's campaign\n"
		    "  --reap     remove the containers of dead dockruns, "
		    "of any campaign\n"
		    "  --version  print the version and exit\n",
	    to);
	exit(status);
}

static struct args
parse_args(int argc, char *argv[])
{
	struct args a = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		switch (c) {
		case 'h':
			usage(stdout, EX_OK);
		case 'j':
			a.json = true;
			break;
		case 'k':
			a.kill = true;
			break;
		case 'r':
			a.reap = true;
			break;
		case 'v':
			(void)printf("fzps %s\n", fz_version);
			exit(EX_OK);
		default: /* getopt_long has already said why */
			usage(stderr, EX_USAGE);
		}
	}
	a.rundir = argv[optind]; /* NULL at the end */
	if (argc - optind > 1 || a.json + a.kill + a.reap > 1 ||
	    (a.kill && a.rundir == NULL))
		usage(stderr, EX_USAGE);
	return a;
}

static int
read_campaign(const char *rundir, char *id, size_t size, struct err *e)
{
	AUTO(close_p)
	int dfd = open(rundir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO(json_p) cJSON *c = NULL;
	const char *s;

	if (dfd < 0)
		return err_sys(e, EX_NOINPUT, "%s", rundir);
	c = json_read(dfd, "campaign.json", CAMPAIGN_MAX, "fz-campaign/1", e);
	if (c == NULL && e->exit == EX_NOINPUT)
		return err_set(e, EX_NOINPUT,
		    "%s: no campaign has been begun here", rundir);
	s = c != NULL ? json_str(c, "id", e) : NULL;
	if (s == NULL)
		return err_wrap(e, "%s", rundir);
	if (s[0] == '\0' || strlen(s) >= size)
		return err_set(
		    e, EX_DATAERR, "%s: campaign.json: \"id\" is none", rundir);
	memcpy(id, s, strlen(s) + 1);
	return 0;
}

static int
show(struct docker *d, const char *campaign, bool json, struct err *e)
{
	AUTO(sessions_release) struct sessions ss = { 0 };
	AUTO(json_p) cJSON *list = docker_list(d, e);
	int64_t now_s;

	if (list == NULL || sessions_read(&ss, list, campaign, e) < 0 ||
	    measure(d, &ss, e) < 0)
		return -1;
	for (size_t i = 0; i < ss.n; i++)
		ss.v[i].owner_is = owner_judge(ss.v[i].owner);
	now_s = clock_wall_ms() / 1000;
	if (json)
		return table_print_json(stdout, &ss, now_s, e);
	table_print(stdout, &ss, now_s);
	return 0;
}

static int
act(const struct args *a, struct err *e)
{
	AUTO(docker_release) struct docker d = { 0 };
	char campaign[24];
	bool one = a->rundir != NULL && !a->reap;
	int rc;

	if (one && read_campaign(a->rundir, campaign, sizeof(campaign), e) < 0)
		return -1;
	if (docker_open(&d, e) < 0 || docker_ping(&d, e) < 0)
		return -1;
	if (a->reap)
		rc = sweep_orphans(&d, stdout, e);
	else if (a->kill)
		rc = sweep_campaign(&d, campaign, stdout, e);
	else
		rc = show(&d, one ? campaign : NULL, a->json, e);
	if (rc == 0 && fflush(stdout) != 0)
		return err_sys(e, EX_IOERR, "stdout");
	return rc;
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	struct err e;

	if (act(&a, &e) < 0)
		return err_report(&e, "fzps");
	return EX_OK;
}
