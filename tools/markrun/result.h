/* SPDX-License-Identifier: MIT */
#ifndef MARKRUN_RESULT_H
#define MARKRUN_RESULT_H

#include <stdint.h>

#include <cjson/cJSON.h>

#include "compiler.h"

struct err;
struct transcript;
struct verdict;

/* How the agent was judged and what it said, if it says anything. */
struct result_agent {
	const char *name;
	const struct transcript *said; /* NULL: an agent without a voice */
};

/* result.json from the facts and the verdict on them; claimed is -1 when
 * the agent's claims could not be read.  The caller owns the tree. */
cJSON *result_render(const cJSON *facts, const struct verdict *,
    const struct result_agent *, int64_t claimed, struct err *) MUST_CHECK;

/* How many lines of a findings.jsonl are JSON objects. */
int64_t result_count_claims(const char *text, size_t len);

#endif
