/* SPDX-License-Identifier: MIT */
#ifndef FZ_PLACE_H
#define FZ_PLACE_H

#include "compiler.h"

struct err;

/*
 * The directory a campaign lives in.  place_check() creates nothing: it
 * says whether the directory can be written or, when it is missing, whether
 * its nearest parent can.  Failures are EX_CANTCREAT.
 */
int place_check(const char *path, struct err *) MUST_CHECK;

/* Makes what is missing of the path, and returns the open directory. */
int place_make(const char *path, struct err *) MUST_CHECK;

#endif
