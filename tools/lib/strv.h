/* SPDX-License-Identifier: MIT */
#ifndef FZ_STRV_H
#define FZ_STRV_H

#include <stddef.h>

#include "compiler.h"

/* A growing list of strings it owns, always ended by a NULL once used. */
struct strv {
	char **v;
	size_t n;
};

/* Copies s; -1 with errno set when out of memory. */
int strv_add(struct strv *, const char *s) MUST_CHECK;
int strv_addf(struct strv *, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_CHECK;
void strv_release(struct strv *);

#endif
