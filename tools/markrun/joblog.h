/* SPDX-License-Identifier: MIT */
#ifndef MARKRUN_JOBLOG_H
#define MARKRUN_JOBLOG_H

#include <stdint.h>

#include "compiler.h"

struct err;

/* One attempt, in the columns of GNU parallel's job log. */
struct job {
	const char *run;
	int attempt;
	int64_t started_ms;
	int64_t duration_ms;
	int64_t exit_code;
	int64_t signal;
	int64_t output_bytes;
	const char *no_verdict; /* why there is none, or NULL */
};

/*
 * Appends one line to joblog.tsv in the directory dfd, with one write.
 * *done is how many different runs numbered 1..total have a line with a
 * verdict after that; when a run's first line is appended, no other caller gets
 * that number.
 */
int joblog_append(int dfd, const struct job *, int64_t total, int64_t *done,
    struct err *) MUST_CHECK;

#endif
