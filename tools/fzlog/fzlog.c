/* SPDX-License-Identifier: MIT */
/* Shows what an agent printed, one readable line for each event. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "event.h"
#include "text.h"
#include "transcript.h"
#include "version.h"

#define SHOWN_MAX ((size_t)64 << 20) /* of one line: it has many blocks */

struct args {
	bool raw;
	const char *path;
};

/* A stream on its way to standard output. */
struct view {
	bool raw;
	struct events events;
	struct buf shown;
	struct err *e;
};

static const struct option longopts[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "raw", no_argument, NULL, 'r' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void
usage(FILE *to, int status)
{
	(void)fputs("usage: fzlog [options] DIR | FILE | -\n"
		    "Shows what an agent printed, one line for each event.\n"
		    "DIR is a run directory, - is standard input.\n"
		    "  --help     this text\n"
		    "  --raw      the stream itself, made harmless\n"
		    "  --version  the version\n",
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
		case 'r':
			a.raw = true;
			break;
		case 'v':
			(void)printf("fzlog %s\n", fz_version);
			exit(EX_OK);
		default: /* getopt_long has already said why */
			usage(stderr, EX_USAGE);
		}
	}
	if (argc - optind != 1)
		usage(stderr, EX_USAGE);
	a.path = argv[optind];
	return a;
}

static int
add_raw(struct buf *to, const char *line, size_t len)
{
	if (text_clean(to, line, len, true) < 0)
		return -1;
	return buf_add(to, "\n", 1);
}

static int
show_line(void *ctx, char *line, size_t len)
{
	struct view *v = ctx;
	int rc;

	v->shown.len = 0;
	if (line == NULL)
		rc = events_add_skipped(&v->shown);
	else if (v->raw)
		rc = add_raw(&v->shown, line, len);
	else
		rc = events_add(&v->events, &v->shown, line, len);
	if (rc < 0)
		return err_set(v->e, EX_OSERR, "out of memory");
	if (v->shown.len > 0 &&
	    fwrite(v->shown.data, 1, v->shown.len, stdout) != v->shown.len)
		return err_sys(v->e, EX_IOERR, "standard output");
	return 0;
}

/* What has come is shown before more is waited for. */
static int
show_stream(struct view *v, int fd, const char *name)
{
	AUTO(lines_release) struct lines l = LINES_INIT(TRANSCRIPT_LINE);
	char chunk[65536];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(v->e, EX_IOERR, "%s", name);
		if (lines_feed(&l, chunk, (size_t)n, show_line, v) < 0)
			return -1;
		if (fflush(stdout) != 0)
			return err_sys(v->e, EX_IOERR, "standard output");
	}
	return lines_end(&l, show_line, v);
}

/* Nothing in a run directory can make us wait or lead us elsewhere. */
static int
show_file(struct view *v, int dfd, const char *name, int flags)
{
	AUTO(close_p)
	int fd = openat(dfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(v->e, EX_NOINPUT, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(
		    v->e, EX_DATAERR, "%s: not a regular file", name);
	return show_stream(v, fd, name);
}

static int
show_run(struct view *v, int dfd)
{
	if (show_file(v, dfd, "agent.out", O_NOFOLLOW) < 0)
		return -1;
	if (show_file(v, dfd, "agent.err", O_NOFOLLOW) < 0 &&
	    v->e->sys != ENOENT)
		return -1;
	return 0;
}

static int
show(const struct args *a, struct view *v)
{
	AUTO(close_p) int dfd = -1;

	if (strcmp(a->path, "-") == 0)
		return show_stream(v, STDIN_FILENO, "standard input");
	dfd = open(a->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dfd < 0)
		return show_file(v, AT_FDCWD, a->path, 0);
	if (show_run(v, dfd) < 0)
		return err_wrap(v->e, "%s", a->path);
	return 0;
}

int
main(int argc, char *argv[])
{
	struct args a = parse_args(argc, argv);
	struct err e = { 0 };
	struct view v = {
		.raw = a.raw,
		.shown = BUF_INIT(SHOWN_MAX),
		.e = &e,
	};
	int rc = show(&a, &v);

	buf_release(&v.shown);
	if (rc == 0 && fflush(stdout) != 0)
		rc = err_sys(&e, EX_IOERR, "standard output");
	return rc < 0 ? err_report(&e, "fzlog") : EX_OK;
}
