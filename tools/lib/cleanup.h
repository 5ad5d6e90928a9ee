/* SPDX-License-Identifier: MIT */
#ifndef FZ_CLEANUP_H
#define FZ_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"

/*
 * For use with AUTO().  Every handler accepts the "nothing here" value and
 * leaves errno alone, so that error paths may report it afterwards.
 */
static inline void
free_p(void *pp)
{
	void *p;

	memcpy(&p, pp, sizeof(p)); /* pp is some "T **"; do not alias */
	free(p);
}

static inline void
close_p(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

static inline void
file_p(FILE **f)
{
	int saved = errno;

	if (*f != NULL)
		(void)fclose(*f);
	errno = saved;
}

/* Hands a descriptor to the caller; the variable no longer owns it. */
static inline int
take_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

#endif
