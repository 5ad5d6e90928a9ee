/* SPDX-License-Identifier: MIT */
#ifndef MARKRUN_JUDGE_H
#define MARKRUN_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

struct err;
struct rundir;

#define JUDGE_NO_VERDICT 1

struct judge_how {
	bool again;	   /* also where there is a verdict already */
	const char *agent; /* "exit" or "claude" */
	int64_t total; /* runs of the campaign, for the progress line; or 0 */
};

/*
 * Writes the verdict and says so on standard output.  JUDGE_NO_VERDICT when
 * the API is to blame: then the attempt is kept and the run is due again.
 */
int judge_run(
    const struct judge_how *, struct rundir *, struct err *) MUST_CHECK;

#endif
