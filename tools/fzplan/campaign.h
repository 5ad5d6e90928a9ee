/* SPDX-License-Identifier: MIT */
#ifndef FZ_CAMPAIGN_H
#define FZ_CAMPAIGN_H

#include <stdint.h>

#include <cjson/cJSON.h>

#include "compiler.h"

struct err;
struct inputs;

#define CAMPAIGN_ID   17 /* 16 hexadecimal digits and the NUL */
#define CAMPAIGN_RUNS 1000000

/*
 * The campaign.json of the directory dfd.  A tree from campaign_read() has a
 * valid "id", "runs" and "inputs"; EX_NOINPUT when there is no such file.
 */
cJSON *campaign_read(int dfd, struct err *) MUST_CHECK;

/* Writes a new one; when another process was faster, its file stays. */
int campaign_create(
    int dfd, int64_t runs, const struct inputs *, struct err *) MUST_CHECK;

/* Replaces the file by one with more runs and all else as in the tree. */
int campaign_raise(int dfd, cJSON *, int64_t runs, struct err *) MUST_CHECK;

#endif
