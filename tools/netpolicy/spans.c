/* SPDX-License-Identifier: MIT */
/* Who had which address when, from the run directories. */
#include "spans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"
#include "num.h"
#include "rundir.h"

#define FILE_MAX (1 << 20)

static void
dir_p(DIR **d)
{
	if (*d != NULL)
		(void)closedir(*d);
}

static int
add(struct spans *s, const struct span *one, struct err *e)
{
	struct span *v = s->v;

	if ((s->n & (s->n - 1)) == 0)
		v = reallocarray(s->v, s->n == 0 ? 1 : s->n * 2, sizeof(*v));
	if (v == NULL)
		return err_sys(e, EX_OSERR, "runs");
	s->v = v;
	s->v[s->n++] = *one;
	return 0;
}

/* A file that is not there, or has no network in it, says nothing. */
static int
read_facts(struct spans *s, int dfd, const char *file, const char *schema,
    struct span one, struct err *e)
{
	struct err why;
	AUTO(json_p) cJSON *j = json_read(dfd, file, FILE_MAX, schema, &why);
	const char *source = json_at_str(j, "network.source");

	if (j == NULL) {
		s->unreadable += why.exit != EX_NOINPUT;
		return 0;
	}
	one.from = json_at_int(j, "network.log_from");
	one.to = json_at_int(j, "network.log_to");
	if (source == NULL || one.from < 0)
		return 0;
	if (one.to < 0)
		one.to = INT64_MAX;
	(void)snprintf(one.source, sizeof(one.source), "%s", source);
	return add(s, &one, e);
}

static DIR *
open_dir(int dfd, const char *name)
{
	AUTO(close_p)
	int fd =
	    openat(dfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d != NULL)
		(void)take_fd(&fd);
	return d;
}

static int
read_attempts(struct spans *s, int dfd, struct span one, struct err *e)
{
	AUTO(dir_p) DIR *d = open_dir(dfd, "attempts");
	const struct dirent *entry;
	struct err ignored;

	if (d == NULL)
		return 0;
	while ((entry = readdir(d)) != NULL) {
		char path[300];

		if (num_parse(
			entry->d_name, 1, 1000000, &one.attempt, &ignored) < 0)
			continue;
		(void)snprintf(
		    path, sizeof(path), "%s/container.json", entry->d_name);
		if (read_facts(s, dirfd(d), path, "fz-container/1", one, e) < 0)
			return -1;
	}
	return 0;
}

static int
read_run(struct spans *s, int dfd, const char *id, struct err *e)
{
	AUTO(close_p)
	int fd =
	    openat(dfd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct span one = { .attempt = 0 };
	size_t before;

	if (fd < 0) {
		s->unreadable++;
		return 0;
	}
	(void)snprintf(one.run, sizeof(one.run), "%.15s", id);
	if (read_attempts(s, fd, one, e) < 0)
		return -1;
	before = s->n;
	if (read_facts(s, fd, "container.json", "fz-container/1", one, e) < 0)
		return -1;
	/* what is settled is better than what was planned */
	if (s->n == before)
		return read_facts(s, fd, "run.json", "fz-run/1", one, e);
	return 0;
}

static int
by_source(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	int c = strcmp(x->source, y->source);

	if (c == 0)
		c = (x->from > y->from) - (x->from < y->from);
	return c != 0 ? c : strcmp(x->run, y->run);
}

void
spans_sort(struct spans *s)
{
	if (s->n > 0)
		qsort(s->v, s->n, sizeof(*s->v), by_source);
}

int
spans_read(struct spans *s, const char *rundir, struct err *e)
{
	AUTO(dir_p) DIR *d = opendir(rundir);
	const struct dirent *entry;

	if (d == NULL)
		return err_sys(e, EX_NOINPUT, "%s", rundir);
	while ((entry = readdir(d)) != NULL) {
		if (!rundir_id_is_valid(entry->d_name))
			continue;
		if (read_run(s, dirfd(d), entry->d_name, e) < 0)
			return -1;
	}
	spans_sort(s);
	return 0;
}

void
spans_release(struct spans *s)
{
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

/* Below 0 when the span is before that place of the order. */
static int
compare(const struct span *s, const char *source, size_t n, int64_t offset)
{
	int c = strncmp(s->source, source, n);

	if (c == 0 && s->source[n] != '\0')
		c = 1;
	return c != 0 ? c : (s->from > offset) - (s->from < offset);
}

const struct span *
spans_find(const struct spans *s, const char *source, size_t n, int64_t offset)
{
	size_t low = 0, high = s->n;
	const struct span *one;

	if (n >= sizeof(one->source))
		return NULL;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare(&s->v[mid], source, n, offset) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return NULL;
	one = &s->v[low - 1];
	if (strncmp(one->source, source, n) != 0 || one->source[n] != '\0')
		return NULL;
	return offset < one->to ? one : NULL;
}
