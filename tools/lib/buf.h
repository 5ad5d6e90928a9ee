/* SPDX-License-Identifier: MIT */
#ifndef FZ_BUF_H
#define FZ_BUF_H

#include <stddef.h>

#include "compiler.h"

/*
 * Bytes that grow up to a limit fixed by their owner.  data is always
 * NUL-terminated once something was added; len does not count the NUL.
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max; /* len never exceeds this */
};

#define BUF_INIT(limit)        \
	{                      \
		.max = (limit) \
	}

int buf_add(struct buf *, const void *, size_t) MUST_CHECK;
void buf_release(struct buf *);

#endif
