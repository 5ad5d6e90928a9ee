/* SPDX-License-Identifier: MIT */
#ifndef FZ_LOAD_H
#define FZ_LOAD_H

#include "compiler.h"
#include "policy.h"
#include "sha256.h"

struct err;

/* A policy and the file it came from. */
struct load {
	const char *path;
	struct policy policy;
	struct policy_errors errors;
	char sha256[SHA256_TEXT];
};

/*
 * -1 with EX_NOINPUT when there is no such file, EX_DATAERR when it is not a
 * policy at all; errors in its lines are in l->errors, and are no failure.
 */
int load_policy(struct load *, const char *path, struct err *) MUST_CHECK;
void load_release(struct load *);

#endif
