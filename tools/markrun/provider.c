/* SPDX-License-Identifier: MIT */
/* Trouble of the API, counted by all workers together: PAUSE and STOP. */
#include "provider.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sysexits.h>
#include <unistd.h>

#include "atfile.h"
#include "cleanup.h"
#include "clock.h"
#include "err.h"
#include "num.h"

#define STATE	  ".api"
#define IN_A_ROW  3
#define STEP_MAX  (INT64_C(15) * 60 * 1000)
#define STEP	  (INT64_C(30) * 1000)
#define OLD	  (INT64_C(3600) * 1000) /* then it is another trouble */
#define STATE_MAX INT64_C(999999999999999)

bool
provider_count(struct provider *p, const struct provider_failure *f,
    int64_t first_ms, int64_t now_ms)
{
	if (f->started_ms < p->began_ms)
		return false;
	if (f->answered ||
	    (p->step_ms > 0 && now_ms - p->began_ms > p->step_ms + OLD))
		*p = (struct provider){ 0 };
	if (++p->streak < IN_A_ROW)
		return false;
	p->step_ms = p->step_ms == 0 ? first_ms : p->step_ms * 2;
	if (p->step_ms > STEP_MAX)
		p->step_ms = STEP_MAX;
	p->began_ms = now_ms;
	return true;
}

/* What cannot be read is as good as new: it only costs a shorter wait. */
static struct provider
load(int fd)
{
	char text[128];
	char *at = text;
	int64_t v[3];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		const char *from = at;

		v[i] = strtoll(from, &at, 10);
		if (at == from || v[i] < 0 || v[i] > STATE_MAX)
			return (struct provider){ 0 };
	}
	if (v[1] > STEP_MAX)
		return (struct provider){ 0 };
	return (struct provider){ v[0], v[1], v[2] };
}

static int
store(int fd, const struct provider *p)
{
	char text[128];
	int n = snprintf(text, sizeof(text),
	    "%" PRId64 " %" PRId64 " %" PRId64 "\n", p->streak, p->step_ms,
	    p->began_ms);

	if (ftruncate(fd, 0) < 0)
		return -1;
	return pwrite(fd, text, (size_t)n, 0) == n ? 0 : -1;
}

static int
write_pause(
    int dfd, const struct provider *p, const char *reason, struct err *e)
{
	/* Rounded up: nobody starts a moment too early. */
	int64_t until = (p->began_ms + p->step_ms + 999) / 1000;
	char when[CLOCK_TEXT], text[160];
	int n;

	clock_text(until * 1000, when);
	n = snprintf(text, sizeof(text),
	    "%" PRId64 " paused until %s: %.40s, %" PRId64 " in a row\n", until,
	    when, reason, p->streak);
	return at_write(dfd, "PAUSE", text, (size_t)n, AT_REPLACE, e);
}

/* The state with its lock, which ends with the descriptor. */
static int
open_state(int dfd, int flags)
{
	AUTO(close_p)
	int fd =
	    openat(dfd, STATE, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0644);

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return -1;
	return take_fd(&fd);
}

int
provider_failed(int dfd, const struct provider_failure *f, struct err *e)
{
	AUTO(close_p) int fd = open_state(dfd, O_CREAT);
	struct provider p;
	bool paused;

	if (fd < 0)
		return err_sys(e, EX_CANTCREAT, STATE);
	p = load(fd);
	if (f->answered && f->started_ms >= p.began_ms)
		(void)unlinkat(dfd, "PAUSE", 0);
	paused = provider_count(&p, f,
	    num_env("FUZZMILL_PAUSE_MS", 1, STEP_MAX, STEP), clock_wall_ms());
	if (store(fd, &p) < 0)
		return err_sys(e, EX_IOERR, STATE);
	return paused ? write_pause(dfd, &p, f->reason, e) : 0;
}

int
provider_is_good(int dfd, int64_t started_ms, struct err *e)
{
	AUTO(close_p) int fd = open_state(dfd, 0);

	if (fd < 0 && errno == ENOENT)
		return 0; /* there never was any trouble */
	if (fd < 0)
		return err_sys(e, EX_CANTCREAT, STATE);
	if (started_ms < load(fd).began_ms)
		return 0;
	if ((unlinkat(dfd, "PAUSE", 0) < 0 && errno != ENOENT) ||
	    ftruncate(fd, 0) < 0)
		return err_sys(e, EX_IOERR, "PAUSE");
	return 0;
}

int
provider_stop(int dfd, const char *line, struct err *e)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	if (n < 0 || (size_t)n >= sizeof(text))
		return err_set(e, EX_SOFTWARE, "STOP: too long");
	if (at_write(dfd, "STOP", text, (size_t)n, AT_ONCE, e) < 0 &&
	    e->sys != EEXIST)
		return -1;
	return 0;
}
