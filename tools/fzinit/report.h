/* SPDX-License-Identifier: MIT */
#ifndef FZINIT_REPORT_H
#define FZINIT_REPORT_H

#include <stdint.h>

/*
 * The private connection to dockrun: lines of "key number".  It is made
 * before the command starts and is closed to it, so nothing else in the
 * container can speak on it.  Never waits for the reader.
 */

/* Returns the connected descriptor, or -1. */
int report_connect(const char *path);

/* One line; silently lost when nobody listens any more. */
void report(int fd, const char *key, int64_t value);

/* What the container used so far, as far as its cgroup tells (v1 or v2). */
void report_usage(int fd);

#endif
