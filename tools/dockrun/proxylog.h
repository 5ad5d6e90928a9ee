/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_PROXYLOG_H
#define DOCKRUN_PROXYLOG_H

#include <stdint.h>
#include <sys/types.h>

/* More than this is not read at a session's end. */
#define PROXYLOG_MAX (INT64_C(256) << 20)

#define PROXYLOG_STATUS 600

/*
 * A session's part of the proxy's access log.  Numbers are -1 when they
 * are not known; a log that cannot be read is no reason to fail.
 */
struct proxylog {
	const char *path; /* or NULL */
	dev_t dev;
	ino_t ino;
	int64_t from, to; /* bytes */
	int64_t requests, denied;
	int answers[PROXYLOG_STATUS]; /* of the API, by status */
};

/* Before the session: where the log ends at present. */
void proxylog_begin(struct proxylog *, const char *path);

/* After it: counts the complete lines since then whose client is source.
 * No more than max bytes are looked at. */
void proxylog_count(struct proxylog *, const char *source, int64_t max);

#endif
