/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_PREPARE_H
#define DOCKRUN_PREPARE_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "compiler.h"
#include "mask.h"
#include "spec.h"

struct err;
struct options;

/* Inside a run directory: what its container is given besides the
 * workspace.  Gone when the session is. */
#define SCRATCH ".scratch"

/* Where things are on the host; all absolute. */
struct places {
	char *dir;    /* the run directory */
	char *rundir; /* its parent */
	char *init;   /* fzinit */
	char *input;  /* file for standard input, or NULL */
};

/* Finds them; nothing is created. */
int places_find(
    struct places *, const struct options *, struct err *) MUST_CHECK;
void places_release(struct places *);

/* Whether the session gets a uid that nobody else has. */
bool prepare_own_uid(const struct options *);

/* Where a --ro directory really is, checked: the caller frees it. */
char *prepare_target(
    const char *rundir, const char *ro_word, struct err *) MUST_CHECK;

/*
 * Turns the command line into a spec.  image is the inspected image, or
 * NULL for a dry run; *masked counts the places covered in the targets.
 */
int prepare_spec(struct spec *, const struct options *, const struct places *,
    const cJSON *image, size_t *masked, struct err *) MUST_CHECK;

#endif
