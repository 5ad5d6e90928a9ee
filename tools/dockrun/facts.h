/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_FACTS_H
#define DOCKRUN_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "compiler.h"

struct capture;
struct err;
struct inside;

/* What a session did with its relays; numbers are -1 when not known. */
struct facts_network {
	const char *source;	  /* the address its connections come from */
	int64_t log_from, log_to; /* its part of the proxy's log, in bytes */
	int64_t requests, denied; /* its lines there */
	const int *answers;	  /* of the API, by status */
	size_t n_answers;
};

/* How a session ended, before anybody judges it. */
struct facts {
	const char *run;
	const char *campaign;
	int attempt;
	const char *container; /* id */
	const char *image;     /* id */
	const char *image_name;
	const char *user;
	const char *stdin_sha256; /* or NULL */
	const char *stop_by;	  /* "dockrun", "fzinit"; NULL: nobody */
	const char *stop_why;
	int64_t exit_code;
	int64_t timeout_ms;
	bool oom_killed;
	int64_t started_ms; /* wall clock */
	int64_t duration_ms;
	int64_t masked; /* places covered in the target */
	const struct inside *inside;
	const struct capture *capture;
	const struct facts_network *network; /* NULL: it has no relay */
	const cJSON *host; /* HostConfig as the engine read it back */
};

/* Adds the object "network", or null. */
void facts_put_network(cJSON *, const struct facts_network *, bool *ok);

/* container.json; the caller owns the tree. */
cJSON *facts_render(const struct facts *, struct err *) MUST_CHECK;

#endif
