/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_COMPARE_H
#define DOCKRUN_COMPARE_H

#include <cjson/cJSON.h>

#include "compiler.h"

struct err;

/*
 * Whether the engine made what was asked: each field of the create body
 * must be found in the inspected container with the same value, where
 * null, absent, empty, 0 and false are one.  Objects may have gained keys;
 * so may the environment; lists must be equal; the mounts must be exactly
 * ours, in any order; the image must be the one with that id.
 *
 * Returns 0, or -1 with the first difference named (EX_CONFIG).
 */
int compare_created(const cJSON *sent, const cJSON *inspected,
    const char *image_id, struct err *) MUST_CHECK;

#endif
