/* SPDX-License-Identifier: MIT */
/* Counts a session's requests in the log of the proxy. */
#include "proxylog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "squidlog.h"

/* A regular file, opened without waiting for whatever else it may be. */
static int
open_log(const char *path, struct stat *st)
{
	AUTO(close_p)
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, st) < 0 || !S_ISREG(st->st_mode))
		return -1;
	return take_fd(&fd);
}

static void
set_counts(struct proxylog *l, int64_t n)
{
	l->to = n;
	l->requests = l->denied = n;
	memset(l->answers, 0, sizeof(l->answers));
}

void
proxylog_begin(struct proxylog *l, const char *path)
{
	AUTO(close_p) int fd = -1;
	struct stat st;

	*l = (struct proxylog){ .path = path, .from = -1 };
	set_counts(l, -1);
	if (path == NULL)
		return;
	fd = open_log(path, &st);
	if (fd < 0)
		return;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	l->from = st.st_size;
}

/*
 * What the API said, or that it could not be reached.  A request that squid
 * itself does not understand never gets so far.
 */
static bool
is_answer(const struct squidlog *s)
{
	return !squidlog_is_denied(s) && !squidlog_is_connect(s) &&
	    !squidlog_is_bad(s) && s->status >= 0 &&
	    s->status < PROXYLOG_STATUS;
}

static void
count_line(struct proxylog *l, const char *line, size_t n, const char *source)
{
	struct squidlog s;

	if (squidlog_parse(line, n, &s) < 0 || !squidlog_is_from(&s, source))
		return;
	l->requests += squidlog_is_request(&s);
	l->denied += squidlog_is_denied(&s);
	if (is_answer(&s))
		l->answers[s.status]++;
}

/* Reads from the file's present place; false when it cannot. */
static bool
count_lines(struct proxylog *l, int fd, int64_t until, const char *source)
{
	static char chunk[2 * SQUIDLOG_LINE_MAX];
	size_t have = 0;
	int64_t at = l->from;
	bool skipping = false; /* in a line that is too long for one */

	for (;;) {
		size_t room = sizeof(chunk) - have;
		char *line = chunk, *end;
		ssize_t n;

		if ((int64_t)room > until - at)
			room = (size_t)(until - at);
		n = read(fd, chunk + have, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		at += n;
		have += (size_t)n;
		while ((end = memchr(line, '\n',
			    (size_t)(chunk + have - line))) != NULL) {
			if (!skipping)
				count_line(
				    l, line, (size_t)(end - line), source);
			skipping = false;
			line = end + 1;
		}
		have -= (size_t)(line - chunk);
		l->to = at - (int64_t)have;
		memmove(chunk, line, have);
		if (have == sizeof(chunk)) {
			skipping = true;
			have = 0;
		}
	}
}

void
proxylog_count(struct proxylog *l, const char *source, int64_t max)
{
	AUTO(close_p) int fd = -1;
	struct stat st;

	if (l->path == NULL || l->from < 0)
		return;
	fd = open_log(l->path, &st);
	/* Another file now, or a shorter one: what was ours is not there. */
	if (fd < 0 || st.st_dev != l->dev || st.st_ino != l->ino ||
	    st.st_size < l->from || st.st_size - l->from > max ||
	    lseek(fd, l->from, SEEK_SET) < 0)
		return;
	set_counts(l, 0);
	l->to = l->from;
	if (!count_lines(l, fd, st.st_size, source))
		set_counts(l, -1);
}
