/* SPDX-License-Identifier: MIT */
#ifndef FZ_SHA256_H
#define FZ_SHA256_H

#include "compiler.h"

struct err;

#define SHA256_TEXT 65 /* 64 hexadecimal digits and the NUL */

/* The hash of a regular file's contents, read through fd to its end. */
int sha256_fd(int fd, char out[SHA256_TEXT], struct err *) MUST_CHECK;

/* The same for a file by name. */
int sha256_file(
    const char *path, char out[SHA256_TEXT], struct err *) MUST_CHECK;

#endif
