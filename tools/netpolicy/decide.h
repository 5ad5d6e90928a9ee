/* SPDX-License-Identifier: MIT */
#ifndef FZ_DECIDE_H
#define FZ_DECIDE_H

#include <stdbool.h>

#include "compiler.h"
#include "policy.h"

struct err;

/* What a session might ask for. */
struct decide_question {
	char host[NAME_SIZE]; /* as it was written, where it is an address */
	int port;	      /* 0: the usual one of the line that decides */
	const char *method;   /* NULL: a tunnel, or a service */
	const char *path;
};

struct decide_answer {
	bool allow;
	int port;	  /* the one that is meant */
	int line;	  /* that decided, or 0 when none names the host */
	const char *rule; /* as in the proxy's log, "-" when allowed */
	char why[300];
};

/* "HOST[:PORT]"; -1 with EX_USAGE when it can be no host at all. */
int decide_parse(
    const char *text, struct decide_question *, struct err *) MUST_CHECK;

struct decide_answer decide(
    const struct policy *, const struct decide_question *);

#endif
