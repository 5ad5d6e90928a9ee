/* SPDX-License-Identifier: MIT */
/* A run's directory: its lock, its attempts, whether it is done. */
#include "rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"

#define ATTEMPTS   "attempts"
#define RESULT_MAX ((size_t)1 << 20)

static void
dir_p(DIR **d)
{
	if (*d != NULL)
		(void)closedir(*d);
}

/* A stream of its own over the directory dfd. */
static DIR *
list(int dfd, const char *name)
{
	int fd =
	    openat(dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && d == NULL)
		(void)close(fd);
	return d;
}

bool
rundir_id_is_valid(const char *s)
{
	size_t n = strlen(s);

	return n >= 3 && n <= 9 && strspn(s, "0123456789") == n;
}

static int
last_attempt(int dfd)
{
	AUTO(dir_p) DIR *d = list(dfd, ATTEMPTS);
	const struct dirent *ent;
	long last = 0;

	while (d != NULL && (ent = readdir(d)) != NULL) {
		char *end;
		long n = strtol(ent->d_name, &end, 10);

		if (*end == '\0' && n > last && n < 1000000)
			last = n;
	}
	return (int)last;
}

static int
set_id(struct rundir *r, const char *path, struct err *e)
{
	size_t n = strlen(path);
	const char *base;

	while (n > 1 && path[n - 1] == '/')
		n--;
	base = memrchr(path, '/', n);
	base = base != NULL ? base + 1 : path;
	n -= (size_t)(base - path);
	if (n < sizeof(r->id)) {
		memcpy(r->id, base, n);
		r->id[n] = '\0';
	}
	if (n >= sizeof(r->id) || !rundir_id_is_valid(r->id))
		return err_set(e, EX_USAGE,
		    "%s: a run directory is called 001, 002, ...", path);
	return 0;
}

int
rundir_open(
    struct rundir *r, const char *path, enum rundir_how how, struct err *e)
{
	AUTO(close_p) int fd = -1;

	if (set_id(r, path, e) < 0)
		return -1;
	if (how == RUNDIR_CREATE && mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(e, EX_CANTCREAT, "%s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, EX_NOINPUT, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(e, EX_TEMPFAIL,
		    "%s: another process is working on this run", path);
	r->attempt = last_attempt(fd) + 1;
	r->fd = take_fd(&fd);
	return 0;
}

void
rundir_release(struct rundir *r)
{
	close_p(&r->fd);
	r->fd = -1;
}

bool
rundir_has_verdict(const struct rundir *r)
{
	struct err ignored;
	AUTO(json_p)
	cJSON *j = json_read(
	    r->fd, "result.json", RESULT_MAX, "fz-result/1", &ignored);

	return json_at_str(j, "outcome") != NULL;
}

/* Facts first: half a move must never leave facts without their attempt. */
static int
move_all(int from, int to, int *moved)
{
	AUTO(dir_p) DIR *d = list(from, ".");
	const struct dirent *ent;

	*moved = renameat(from, "result.json", to, "result.json") == 0;
	*moved += renameat(from, "container.json", to, "container.json") == 0;
	if (d == NULL)
		return -1;
	while ((ent = readdir(d)) != NULL) {
		const char *name = ent->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    strcmp(name, ATTEMPTS) == 0)
			continue;
		if (renameat(from, name, to, name) < 0 && errno != ENOENT)
			return -1;
		(*moved)++;
	}
	return 0;
}

int
rundir_retire(struct rundir *r, struct err *e)
{
	AUTO(close_p) int to = -1;
	char name[32];
	int moved = 0;

	(void)snprintf(name, sizeof(name), ATTEMPTS "/%d", r->attempt);
	if ((mkdirat(r->fd, ATTEMPTS, 0700) < 0 && errno != EEXIST) ||
	    (mkdirat(r->fd, name, 0700) < 0 && errno != EEXIST))
		return err_sys(e, EX_CANTCREAT, "%s/%s", r->id, name);
	to = openat(
	    r->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0 || move_all(r->fd, to, &moved) < 0)
		return err_sys(e, EX_IOERR, "%s: move to %s", r->id, name);
	if (moved > 0) {
		r->attempt++;
		return 0;
	}
	(void)unlinkat(r->fd, name, AT_REMOVEDIR);
	(void)unlinkat(r->fd, ATTEMPTS, AT_REMOVEDIR); /* if empty */
	return 0;
}
