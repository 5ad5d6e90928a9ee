/* SPDX-License-Identifier: MIT */
#ifndef FZ_SESSION_H
#define FZ_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "compiler.h"
#include "docker.h"
#include "owner.h"

struct err;

/* A container of ours.  Negative numbers are unknown. */
struct session {
	char id[DOCKER_ID];
	char name[64];
	char run[16]; /* "007", or "-" */
	char campaign[24];
	char state[16]; /* the engine's word: "running" */
	char owner[128];
	enum owner owner_is; /* set by whoever can see processes */
	int64_t created_s;
	int64_t cpu_milli; /* thousandths of one CPU */
	int64_t memory_bytes;
	int64_t memory_limit_bytes;
	int64_t pids;
};

struct sessions {
	struct session *v;
	size_t n;
};

/*
 * Reads the engine's list, ordered by run; campaign NULL means all.  The
 * words in it are safe to print.  EX_PROTOCOL when an entry has no id.
 */
int sessions_read(struct sessions *, const cJSON *list, const char *campaign,
    struct err *) MUST_CHECK;
void sessions_release(struct sessions *);

/* Takes over what the engine's stats say; what they do not say is unknown. */
void session_measure(struct session *, const cJSON *stats);

#endif
