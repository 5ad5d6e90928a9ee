/* SPDX-License-Identifier: MIT */
/* The two clocks: one for deadlines, one for people. */
#include "clock.h"

#include <stdio.h>
#include <time.h>

static int64_t
now_ms(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t); /* cannot fail for these two clocks */
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t
clock_mono_ms(void)
{
	return now_ms(CLOCK_MONOTONIC);
}

int64_t
clock_wall_ms(void)
{
	return now_ms(CLOCK_REALTIME);
}

void
clock_text(int64_t wall_ms, char out[CLOCK_TEXT])
{
	time_t t = (time_t)(wall_ms / 1000);
	struct tm tm = { 0 };

	(void)gmtime_r(&t, &tm);
	if (strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		out[0] = '\0';
}
