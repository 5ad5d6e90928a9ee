/* SPDX-License-Identifier: MIT */
#ifndef FZ_ATFILE_H
#define FZ_ATFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "compiler.h"

struct err;

enum at_how {
	AT_REPLACE, /* an older file of that name is replaced */
	AT_ONCE,    /* fails if the name is taken; errno is EEXIST */
};

/*
 * Writes a complete file called name inside the directory dfd.  Readers see
 * the old file, no file, or all of buf: never a part of it.  name must be a
 * single path component.  Returns 0, or -1 with *e set.
 */
int at_write(int dfd, const char *name, const void *buf, size_t len,
    enum at_how how, struct err *e) MUST_CHECK;

/*
 * Reads a whole regular file below dfd into b, which has its limit already.
 * path may have several components, none of them a symbolic link and none
 * leading out of dfd; a FIFO, a directory or more bytes than b->max is an
 * error, and nothing can make it wait.  EX_NOINPUT when there is no file.
 */
int at_read(int dfd, const char *path, struct buf *b, struct err *e) MUST_CHECK;

/* The last bytes of such a file instead, at most b->max of them. */
int at_tail(int dfd, const char *path, struct buf *b, struct err *e) MUST_CHECK;

/* True if something of that name is there, of whatever kind. */
bool at_exists(int dfd, const char *name);

/* Writes all of p, however many calls it takes; -1 with errno set. */
int write_all(int fd, const void *p, size_t len) MUST_CHECK;

#endif
