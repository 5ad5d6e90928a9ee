/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_ENV_H
#define DOCKRUN_ENV_H

#include <stdbool.h>

#include "compiler.h"

struct err;
struct strv;

/* Where a setting was written: everybody can read a command line. */
enum env_from {
	ENV_FROM_LINE,
	ENV_FROM_FILE,
};

/* Adds "NAME=VALUE" in the place of an earlier NAME, if there is one; -1
 * with errno set when out of memory. */
int env_set(struct strv *, const char *word) MUST_CHECK;

bool env_has(const struct strv *, const char *name);

/* The same as env_set() with what a person wrote; a secret on a command line is
 * refused. */
int env_add(
    struct strv *, const char *word, enum env_from, struct err *) MUST_CHECK;

/* One setting per line; "#" starts a comment line. */
int env_add_file(struct strv *, const char *path, struct err *) MUST_CHECK;

/* Takes the value of name from our own environment. */
int env_add_secret(struct strv *names, struct strv *values, const char *name,
    struct err *) MUST_CHECK;

#endif
