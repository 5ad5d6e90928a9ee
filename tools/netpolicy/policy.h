/* SPDX-License-Identifier: MIT */
#ifndef FZ_POLICY_H
#define FZ_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"
#include "name.h"

struct err;

enum {
	POLICY_LINES = 10000, /* a longer file is refused */
	POLICY_LINE = 1024,   /* bytes in one of them */
	POLICY_PATH = 128,
	POLICY_PAIRS = 32,
	POLICY_SERVICES = 250, /* names: each is one 127.0.0.N */
	POLICY_ERRORS = 20,    /* kept; the rest is counted */
};

#define POLICY_BYTES (16 << 20)
#define POLICY_PROXY "quest-proxy" /* what a session calls the proxy */

/* One thing the gate lets through. */
struct policy_pair {
	char method[8];
	char path[POLICY_PATH];
};

struct policy_api {
	int line; /* 0: there is none */
	int port;
	char host[NAME_SIZE];
	char key[64]; /* environment variable */
	size_t pairs;
	struct policy_pair pair[POLICY_PAIRS];
};

struct policy_allow {
	int line;
	int port;
	char name[NAME_SIZE]; /* ".x.org": and all below it */
};

struct policy_service {
	int line;
	int port;	      /* inside */
	unsigned char number; /* N of its 127.0.0.N, the same for one name */
	char name[NAME_SIZE];
	char target[POLICY_PATH]; /* "127.0.0.1:15432" or "unix:/path" */
};

/* allow is sorted by name and port, service by name and port. */
struct policy {
	struct policy_api api;
	struct policy_allow *allow;
	size_t allows;
	struct policy_service *service;
	size_t services;
};

struct policy_error {
	int line;
	char text[400];
};

struct policy_errors {
	size_t n; /* all of them, kept or not */
	struct policy_error e[POLICY_ERRORS];
};

/*
 * Reads a whole policy.  What is wrong with it is in *errors, by line;
 * nothing may be used of a policy that has any.  Returns -1 with *e set only
 * when memory runs out.  policy_release() in any case.
 */
int policy_parse(const char *text, size_t len, struct policy *,
    struct policy_errors *errors, struct err *) MUST_CHECK;
void policy_release(struct policy *);

/* Whether the key goes out as "Authorization: Bearer". */
bool policy_is_bearer(const struct policy_api *);

#endif
