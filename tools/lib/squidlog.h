/* SPDX-License-Identifier: MIT */
#ifndef FZ_SQUIDLOG_H
#define FZ_SQUIDLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

#define SQUIDLOG_LINE_MAX 65536 /* longer lines are nobody's */

/* A piece of the line it was read from; not terminated, never empty. */
struct squidlog_word {
	const char *p;
	size_t n;
};

/*
 * One line of the proxy's access log.  method, target and sni were chosen by
 * a session and are hostile text; the other words are squid's or ours.
 */
struct squidlog {
	int64_t time_ms;
	int64_t port; /* of the proxy */
	int64_t status;
	int64_t ms;
	int64_t up;   /* bytes from the session */
	int64_t down; /* bytes to it */
	struct squidlog_word client, method, target, result, rule, sni, bump;
};

/*
 * Reads n bytes without their newline.  The words point into line.  -1 when
 * it is not exactly of the form that "netpolicy gen -t squid" asks for.
 */
int squidlog_parse(const char *line, size_t n, struct squidlog *) MUST_CHECK;

/* Refused by a rule of ours, not by the server that was asked. */
bool squidlog_is_denied(const struct squidlog *);

/*
 * False for the second line that a tunnel leaves, at the port where its
 * first bytes are looked at, and for connections that asked for nothing:
 * one request is then counted once.
 */
bool squidlog_is_request(const struct squidlog *);

bool squidlog_is_connect(const struct squidlog *);

/* Answered by squid itself, which could make nothing of it. */
bool squidlog_is_bad(const struct squidlog *);

/* Whether the client is the one with this address ("127.64.3.7"). */
bool squidlog_is_from(const struct squidlog *, const char *address);

#endif
