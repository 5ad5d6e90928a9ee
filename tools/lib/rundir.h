/* SPDX-License-Identifier: MIT */
#ifndef FZ_RUNDIR_H
#define FZ_RUNDIR_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

struct err;

/*
 * One run's directory: RUNDIR/007.  Whoever holds it open with
 * rundir_open() has the only lock there is on it; the lock ends with the
 * process.
 */
struct rundir {
	int fd;	     /* the directory */
	char id[16]; /* "007" */
	int attempt; /* 1, or one more than the last kept attempt */
};

enum rundir_how {
	RUNDIR_EXISTING,
	RUNDIR_CREATE, /* make the directory (not its parent) if missing */
};

/*
 * EX_TEMPFAIL when another process has it, EX_NOINPUT when it is missing,
 * EX_USAGE when the last component is no run id (digits, at least three).
 */
int rundir_open(struct rundir *, const char *path, enum rundir_how,
    struct err *) MUST_CHECK;
void rundir_release(struct rundir *);

/* Whether the last attempt came to a verdict: a readable result.json. */
bool rundir_has_verdict(const struct rundir *);

/*
 * Moves all there is (but earlier attempts) to attempts/N and counts up.
 * Does nothing in an empty directory.
 */
int rundir_retire(struct rundir *, struct err *) MUST_CHECK;

/* Digits only, three to nine of them. */
bool rundir_id_is_valid(const char *);

#endif
