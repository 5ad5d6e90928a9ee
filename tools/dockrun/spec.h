/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_SPEC_H
#define DOCKRUN_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "compiler.h"
#include "strv.h"

struct err;

enum mount_mode {
	MOUNT_RO,
	MOUNT_RW,
};

struct mount {
	char *source; /* on the host, absolute */
	char *target; /* in the container */
	enum mount_mode mode;
};

struct mounts {
	struct mount *v;
	size_t n;
};

/*
 * Everything a session's container is made of.  What is not here cannot be
 * asked for: no capability, device, port, network or host namespace has a
 * field.
 */
struct spec {
	const char *image; /* the engine's id, or a name for a dry run */
	const char *user;  /* "uid:gid", never root */
	const char *run;   /* "007" */
	const char *campaign;
	const char *owner;   /* struct proc_id of the dockrun */
	struct strv init;    /* fzinit and its arguments */
	struct strv command; /* what fzinit starts */
	struct strv env;     /* NAME=VALUE */
	struct strv hosts;   /* NAME:ADDRESS */
	struct mounts mounts;
	int64_t memory; /* bytes; there is no swap on top */
	int64_t cpus_milli;
	int64_t pids;
	int64_t tmp_size; /* bytes of the tmpfs on /tmp */
};

/* Copies both; -1 when out of memory. */
int mounts_add(struct mounts *, const char *source, const char *target,
    enum mount_mode) MUST_CHECK;
void spec_release(struct spec *);

/*
 * The body of POST /containers/create.  Touches nothing outside its
 * arguments.  The caller owns the tree; NULL with *e set on failure.
 */
cJSON *spec_render(const struct spec *, struct err *) MUST_CHECK;

static inline void
spec_p(struct spec *s)
{
	spec_release(s);
}

#endif
