/* SPDX-License-Identifier: MIT */
/* The ladder of signals that ends a session. */
#include "deadline.h"

#include <signal.h>
#include <stddef.h>

void
deadline_init(
    struct deadline *d, int64_t now_ms, int64_t timeout_ms, int64_t grace_ms)
{
	*d = (struct deadline){
		.grace_ms = grace_ms,
		.due_ms = now_ms + timeout_ms,
		.next = SIGINT,
	};
}

void
deadline_stop(struct deadline *d, int64_t now_ms, enum stop_why why)
{
	if (d->why != STOP_NONE)
		return;
	d->why = why;
	d->due_ms = now_ms;
	d->next = SIGINT;
}

void
deadline_hurry(struct deadline *d, int64_t now_ms)
{
	if (d->next == 0)
		return;
	d->due_ms = now_ms;
	d->next = SIGKILL;
}

int
deadline_step(struct deadline *d, int64_t now_ms)
{
	int sig = d->next;

	if (now_ms < d->due_ms || d->lost)
		return 0;
	switch (sig) {
	case SIGINT:
		if (d->why == STOP_NONE)
			d->why = STOP_TIMEOUT;
		d->next = SIGTERM;
		d->due_ms = now_ms + d->grace_ms;
		break;
	case SIGTERM:
		d->next = SIGKILL;
		d->due_ms = now_ms + DEADLINE_TERM_MS;
		break;
	case SIGKILL:
		d->next = 0;
		d->due_ms = now_ms + DEADLINE_LOST_MS;
		break;
	default:
		d->lost = true;
		break;
	}
	return sig;
}

int64_t
deadline_wait_ms(const struct deadline *d, int64_t now_ms)
{
	return d->due_ms > now_ms ? d->due_ms - now_ms : 0;
}

const char *
stop_why_text(enum stop_why why)
{
	static const char *const text[] = {
		[STOP_NONE] = NULL,
		[STOP_TIMEOUT] = "timeout",
		[STOP_INTERRUPTED] = "interrupted",
		[STOP_LOG_QUOTA] = "log_quota",
	};

	return text[why];
}
