/* SPDX-License-Identifier: MIT */
#ifndef FZ_MEASURE_H
#define FZ_MEASURE_H

#include "compiler.h"

struct docker;
struct err;
struct sessions;

/*
 * Asks the engine what each running session uses, of all at the same time:
 * an answer takes it a second.  One that has vanished is taken out; one
 * that gets no answer stays unknown.
 */
int measure(struct docker *, struct sessions *, struct err *) MUST_CHECK;

#endif
