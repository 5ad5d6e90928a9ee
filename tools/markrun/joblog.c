/* SPDX-License-Identifier: MIT */
/* joblog.tsv: one line per attempt. */
#include "joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sysexits.h>
#include <unistd.h>

#include "atfile.h"
#include "buf.h"
#include "cleanup.h"
#include "err.h"

#define JOBLOG	   "joblog.tsv"
#define LOG_MAX	   ((size_t)256 << 20)
#define NO_VERDICT " (no verdict: "
static const char header[] = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\t"
			     "Exitval\tSignal\tCommand\n";

/* Attempts without a verdict leave their run due. */
static bool
is_open(const char *line)
{
	return memmem(line, strcspn(line, "\n"), NO_VERDICT,
		   sizeof(NO_VERDICT) - 1) != NULL;
}

static int64_t
count(const char *p, int64_t total, char *seen)
{
	int64_t n = 0;

	while (p != NULL && *p != '\0') {
		int64_t seq = strtoll(p, NULL, 10);

		if (seq >= 1 && seq <= total && !seen[seq] && !is_open(p)) {
			seen[seq] = 1;
			n++;
		}
		p = strchr(p, '\n');
		p = p != NULL ? p + 1 : NULL;
	}
	return n;
}

/* The caller holds the lock, so nobody else counts the same lines. */
static int
count_done(int dfd, int64_t total, int64_t *done, struct err *e)
{
	AUTO(buf_release) struct buf b = BUF_INIT(LOG_MAX);
	AUTO(free_p) char *seen = calloc((size_t)total + 1, 1);

	if (seen == NULL)
		return err_sys(e, EX_OSERR, JOBLOG);
	if (at_read(dfd, JOBLOG, &b, e) < 0)
		return -1;
	*done = count(b.data, total, seen);
	return 0;
}

/* The header of a new log; the end of a line that a full disk cut. */
static int
begin_line(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	if (size <= 0)
		return write_all(fd, header, sizeof(header) - 1);
	if (pread(fd, &last, 1, size - 1) < 0)
		return -1;
	return last != '\n' ? write_all(fd, "\n", 1) : 0;
}

int
joblog_append(
    int dfd, const struct job *j, int64_t total, int64_t *done, struct err *e)
{
	AUTO(close_p)
	int fd = openat(dfd, JOBLOG,
	    O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
	bool open = j->no_verdict != NULL;
	char line[256];
	int n;

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return err_sys(e, EX_CANTCREAT, JOBLOG);
	if (begin_line(fd) < 0)
		return err_sys(e, EX_IOERR, JOBLOG);
	n = snprintf(line, sizeof(line),
	    "%" PRId64 "\t:\t%.3f\t%.3f\t0\t%" PRId64 "\t%" PRId64 "\t%" PRId64
	    "\tdockrun %s attempt %d%s%.40s%s\n",
	    (int64_t)strtoll(j->run, NULL, 10), (double)j->started_ms / 1000,
	    (double)j->duration_ms / 1000, j->output_bytes,
	    j->exit_code < 0 ? 0 : j->exit_code, j->signal < 0 ? 0 : j->signal,
	    j->run, j->attempt, open ? NO_VERDICT : "",
	    open ? j->no_verdict : "", open ? ")" : "");
	if (write_all(fd, line, (size_t)n) < 0)
		return err_sys(e, EX_IOERR, JOBLOG);
	*done = 0;
	return total > 0 ? count_done(dfd, total, done, e) : 0;
}
