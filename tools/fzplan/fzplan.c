/* SPDX-License-Identifier: MIT */
/* fzplan: settle what a campaign is made of. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "campaign.h"
#include "cleanup.h"
#include "err.h"
#include "inputs.h"
#include "json.h"
#include "num.h"
#include "place.h"
#include "sha256.h"
#include "version.h"

#define RUNS_DEFAULT 100
#define WORDS_MAX    ((size_t)1 << 20)

struct args {
	const char *rundir;
	int64_t runs; /* 0: not given */
	bool dry_run;
	struct inputs inputs;
};

struct plan {
	char id[CAMPAIGN_ID];
	int64_t runs;
	struct buf refused; /* why not to go on, if there is a reason */
	struct buf changed;
};

static const struct option longopts[] = {
	{ "dry-run", no_argument, NULL, 'd' },
	{ "fixed", required_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "input", required_argument, NULL, 'i' },
	{ "input-file", required_argument, NULL, 'I' },
	{ "runs", required_argument, NULL, 'r' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void
usage(FILE *to, int status)
{
	(void)fputs("usage: fzplan [--dry-run] [--runs N] "
		    "[--fixed NAME=VALUE]... [--input NAME=VALUE]...\n"
		    "              [--input-file NAME=PATH]... RUNDIR\n"
		    "  --dry-run               check and print, write nothing\n"
		    "  --fixed NAME=VALUE      an input that must not change\n"
		    "  --help                  print this and exit\n"
		    "  --input NAME=VALUE      an input that may change\n"
		    "  --input-file NAME=PATH  a file whose hash is recorded\n"
		    "  --runs N                how many runs, 1 to 1000000\n"
		    "  --version               print the version and exit\n",
	    to);
	exit(status);
}

static _Noreturn void
fail(const struct err *e)
{
	exit(err_report(e, "fzplan"));
}

static int64_t
parse_runs(const char *s)
{
	struct err e;
	int64_t n = 0;

	if (num_parse(s, 1, CAMPAIGN_RUNS, &n, &e) == 0)
		return n;
	(void)err_set(&e, EX_USAGE,
	    "RUNS=%.100s: not a whole number from 1 to %d", s, CAMPAIGN_RUNS);
	fail(&e);
}

static void
parse_input(struct inputs *in, enum input_kind kind, const char *arg)
{
	struct err e;

	if (inputs_add(in, kind, arg, &e) < 0)
		fail(&e);
}

static void
parse_args(int argc, char *argv[], struct args *a)
{
	int c;

	while ((c = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		switch (c) {
		case 'd':
			a->dry_run = true;
			break;
		case 'f':
			parse_input(&a->inputs, INPUT_FIXED, optarg);
			break;
		case 'h':
			usage(stdout, EX_OK);
		case 'i':
			parse_input(&a->inputs, INPUT_PLAIN, optarg);
			break;
		case 'I':
			parse_input(&a->inputs, INPUT_FILE, optarg);
			break;
		case 'r':
			a->runs = parse_runs(optarg);
			break;
		case 'v':
			(void)printf("fzplan %s\n", fz_version);
			exit(EX_OK);
		default: /* getopt_long has already said why */
			usage(stderr, EX_USAGE);
		}
	}
	if (argc - optind != 1)
		usage(stderr, EX_USAGE);
	a->rundir = argv[optind];
}

static int
hash_file(struct input *i, struct err *e)
{
	AUTO(close_p)
	int fd = open(i->value, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = NULL;
	char var[INPUT_NAME];
	struct stat st;

	input_variable(i, var);
	if (fd < 0 || fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		why = "not a regular file";
	if (why != NULL)
		return err_set(e, EX_NOINPUT,
		    "%s=%.300s: %s; type \"make %s=FILE campaign\"", var,
		    i->value, why, var);
	if (sha256_fd(fd, i->hash, e) < 0)
		return err_wrap(e, "%s=%.300s", var, i->value);
	return 0;
}

static int
hash_files(struct inputs *in, struct err *e)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->item[i].kind == INPUT_FILE &&
		    hash_file(&in->item[i], e) < 0)
			return -1;
	return 0;
}

/* *c stays NULL when there is no campaign yet. */
static int
find_campaign(const struct args *a, int dfd, cJSON **c, struct err *e)
{
	*c = campaign_read(dfd, e);
	if (*c != NULL || e->exit == EX_NOINPUT)
		return 0;
	return err_wrap(e, "%s", a->rundir);
}

static int
go_on(const struct args *a, int dfd, cJSON *c, struct plan *p, struct err *e)
{
	int64_t stored = json_at_int(c, "runs");

	p->runs = a->runs > 0 ? a->runs : stored;
	(void)snprintf(p->id, sizeof(p->id), "%s", json_at_str(c, "id"));
	if (inputs_compare(&a->inputs, json_at(c, "inputs"), &p->refused,
		&p->changed, e) < 0)
		return err_wrap(e, "%s: campaign.json", a->rundir);
	if (p->refused.len > 0 || a->dry_run || p->runs <= stored)
		return 0;
	if (campaign_raise(dfd, c, p->runs, e) < 0)
		return err_wrap(e, "%s", a->rundir);
	return 0;
}

static int
begin(const struct args *a, struct plan *p, struct err *e)
{
	AUTO(close_p) int dfd = -1;
	AUTO(json_p) cJSON *c = NULL;
	int64_t runs = a->runs > 0 ? a->runs : RUNS_DEFAULT;

	if (a->dry_run) {
		(void)snprintf(p->id, sizeof(p->id), "-");
		p->runs = runs;
		return 0;
	}
	dfd = place_make(a->rundir, e);
	if (dfd < 0)
		return -1;
	if (campaign_create(dfd, runs, &a->inputs, e) < 0)
		return err_wrap(e, "%s", a->rundir);
	/* It may be another's, begun in this moment with other inputs. */
	if (find_campaign(a, dfd, &c, e) < 0)
		return -1;
	if (c == NULL)
		return err_wrap(e, "%s", a->rundir);
	return go_on(a, dfd, c, p, e);
}

static int
settle(struct args *a, struct plan *p, struct err *e)
{
	AUTO(close_p) int dfd = -1;
	AUTO(json_p) cJSON *c = NULL;

	if (hash_files(&a->inputs, e) < 0 || place_check(a->rundir, e) < 0)
		return -1;
	dfd = open(a->rundir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd < 0 && errno != ENOENT)
		return err_sys(e, EX_CANTCREAT, "RUNDIR=%.300s", a->rundir);
	if (dfd >= 0 && find_campaign(a, dfd, &c, e) < 0)
		return -1;
	return c != NULL ? go_on(a, dfd, c, p, e) : begin(a, p, e);
}

static int
report(const struct plan *p)
{
	if (p->refused.len > 0) {
		(void)fprintf(stderr, "fzplan: %s\n", p->refused.data);
		return EX_CONFIG;
	}
	if (p->changed.len > 0)
		(void)fprintf(stderr,
		    "changed since this campaign began: %s; "
		    "new runs record it\n",
		    p->changed.data);
	(void)printf("%s %" PRId64 "\n", p->id, p->runs);
	if (fflush(stdout) == 0)
		return EX_OK;
	(void)fprintf(stderr, "fzplan: stdout: %s\n", strerror(errno));
	return EX_IOERR;
}

int
main(int argc, char *argv[])
{
	static struct args a;
	struct plan p = { .refused = BUF_INIT(WORDS_MAX),
		.changed = BUF_INIT(WORDS_MAX) };
	struct err e;
	int status;

	parse_args(argc, argv, &a);
	status = settle(&a, &p, &e) < 0 ? err_report(&e, "fzplan") : report(&p);
	buf_release(&p.refused);
	buf_release(&p.changed);
	return status;
}
