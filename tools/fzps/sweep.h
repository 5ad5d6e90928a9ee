/* SPDX-License-Identifier: MIT */
#ifndef FZ_SWEEP_H
#define FZ_SWEEP_H

#include <stdio.h>

#include "compiler.h"

struct docker;
struct err;

/*
 * Removes the containers, of whatever campaign, whose dockrun is surely
 * dead, with a line for each.  Goes on after a failure and returns the last.
 */
int sweep_orphans(struct docker *, FILE *, struct err *) MUST_CHECK;

/*
 * Ends every session of a campaign: asks its dockrun twice, which makes it
 * kill at once, and removes what no dockrun has removed after 15 seconds.
 * A line for each when it is gone.
 */
int sweep_campaign(
    struct docker *, const char *campaign, FILE *, struct err *) MUST_CHECK;

#endif
