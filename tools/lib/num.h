/* SPDX-License-Identifier: MIT */
#ifndef FZ_NUM_H
#define FZ_NUM_H

#include <stdint.h>

#include "compiler.h"

struct err;

/*
 * Numbers from people.  Each accepts decimal digits only (no sign, no
 * blanks), checks the range given in the result's unit, and leaves *out
 * alone on failure.  The error names the text and the range.
 */
int num_parse(const char *s, int64_t min, int64_t max, int64_t *out,
    struct err *) MUST_CHECK;

/* "512", "100k", "64m", "2g": bytes, powers of 1024. */
int num_size(const char *s, int64_t min, int64_t max, int64_t *out,
    struct err *) MUST_CHECK;

/* "1", "0.5", "2.25": thousandths, rounded down. */
int num_milli(const char *s, int64_t min, int64_t max, int64_t *out,
    struct err *) MUST_CHECK;

/* The number in an environment variable, or other when it is unset or not
 * a number in that range. */
int64_t num_env(const char *name, int64_t min, int64_t max, int64_t other);

#endif
