/* SPDX-License-Identifier: MIT */
#ifndef FZ_SPANS_H
#define FZ_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

struct err;

/* Which part of the log one attempt of a run had, from which address. */
struct span {
	char run[16];
	int64_t attempt; /* 0: the last one */
	char source[48];
	int64_t from, to; /* bytes; to is INT64_MAX while it runs */
};

/* Sorted by source and from. */
struct spans {
	struct span *v;
	size_t n;
	size_t unreadable; /* files */
};

/* All runs of a campaign; -1 with EX_NOINPUT when there is no RUNDIR. */
int spans_read(struct spans *, const char *rundir, struct err *) MUST_CHECK;
void spans_sort(struct spans *);
void spans_release(struct spans *);

/* The one that sent a line from this address at this offset, or NULL. */
const struct span *spans_find(
    const struct spans *, const char *source, size_t n, int64_t offset);

#endif
