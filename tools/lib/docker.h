/* SPDX-License-Identifier: MIT */
#ifndef FZ_DOCKER_H
#define FZ_DOCKER_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "compiler.h"
#include "http.h"

struct err;

#define DOCKER_ID 65 /* 64 hexadecimal digits and the NUL */

/*
 * The Engine API, one function per call.  Failures carry a status that says
 * who can help: EX_UNAVAILABLE (no answer), EX_TEMPFAIL (the engine is in
 * trouble: 5xx), EX_PROTOCOL (nonsense), EX_NOINPUT (no such object),
 * EX_CONFIG (the engine refuses what was asked).
 */
struct docker {
	struct http *http;
	char prefix[16]; /* "/v1.41" once docker_ping() has asked */
	long timeout_ms; /* for each call */
};

/* The engine's socket: DOCKER_HOST ("unix:///path") or the usual one; NULL
 * with *e set when DOCKER_HOST is of another kind. */
const char *docker_socket(struct err *) MUST_CHECK;

/* Prepares to talk to that engine; connects nothing yet. */
int docker_open(struct docker *, struct err *) MUST_CHECK;
void docker_release(struct docker *);

/* Asks whether the engine is there and settles the API version. */
int docker_ping(struct docker *, struct err *) MUST_CHECK;

/* Trees the caller owns. */
cJSON *docker_image(struct docker *, const char *name, struct err *) MUST_CHECK;
cJSON *docker_inspect(struct docker *, const char *id, struct err *) MUST_CHECK;
cJSON *docker_list(struct docker *, struct err *) MUST_CHECK; /* all of ours */
cJSON *docker_stats(struct docker *, const char *id, struct err *) MUST_CHECK;

int docker_create(struct docker *, const char *name, const char *body,
    char id[DOCKER_ID], struct err *) MUST_CHECK;
int docker_start(struct docker *, const char *id, struct err *) MUST_CHECK;

/* Kills it if it runs and removes it with its volumes; one that is not
 * there is removed already. */
int docker_remove(struct docker *, const char *id, struct err *) MUST_CHECK;

/* The status every 4xx and 5xx answer means, with the engine's own words. */
int docker_refusal(
    const char *what, long status, const char *body, struct err *);

#endif
