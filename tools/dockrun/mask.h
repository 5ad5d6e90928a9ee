/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_MASK_H
#define DOCKRUN_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"
#include "strv.h"

struct err;

/* More than this many covered places is a target to be cleaned up first. */
#define MASK_MAX 1000

/* What a session must not see of its target. */
struct mask_rules {
	struct strv patterns; /* shell patterns for one name; "dir/" too */
	struct strv unmask;   /* patterns taken out again */
	char *rundir;	      /* absolute; covered where it lies inside */
};

/* A covered place, relative to the target's root. */
struct masked {
	char *path;
	bool is_dir;
};

struct masks {
	struct masked *v;
	size_t n;
};

/* The built-in patterns. */
int mask_defaults(struct mask_rules *, struct err *) MUST_CHECK;
/* Adds those of a file: one per line, '#' starts a comment. */
int mask_read_file(
    struct mask_rules *, const char *path, struct err *) MUST_CHECK;
void mask_rules_release(struct mask_rules *);

/*
 * Finds every place below target (absolute, resolved) that a rule covers,
 * and every mount point.  Links are not followed; a covered link's own target
 * is covered as well if it lies inside.  A directory that cannot be read is
 * covered whole.
 */
int mask_find(const char *target, const struct mask_rules *, struct masks *,
    struct err *) MUST_CHECK;
void masks_release(struct masks *);

/*
 * Refuses a target nobody should hand to an agent: the root, the home
 * directory, one inside RUNDIR, one that holds the engine's socket.
 */
int mask_check_target(const char *target, const char *rundir,
    const char *engine_socket, struct err *) MUST_CHECK;

#endif
