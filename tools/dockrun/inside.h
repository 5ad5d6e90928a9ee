/* SPDX-License-Identifier: MIT */
#ifndef DOCKRUN_INSIDE_H
#define DOCKRUN_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

struct err;

/*
 * What fzinit reports from inside the container.  Numbers are -1 until
 * they are known.
 */
struct inside {
	int listener; /* descriptor, or -1 once fzinit is connected */
	int conn;     /* descriptor, or -1 */
	char line[128];
	size_t n_line;

	int64_t ready;
	int64_t exec_errno;
	int64_t relay_errno; /* why a relay could not listen */
	int64_t exit;
	int64_t signal;
	int64_t deadline;
	int64_t oom_kills;
	int64_t outside_signal; /* one that came from outside the container */
	int64_t unsafe_root, unsafe_privileges, unsafe_seccomp,
	    unsafe_capabilities, unsafe_limits;
	int64_t peak_memory_bytes, cpu_ms, throttled_ms, io_read_bytes,
	    io_write_bytes;
};

/* Listens on a socket called "s" in the directory dfd. */
int inside_listen(struct inside *, int dfd, struct err *) MUST_CHECK;
void inside_release(struct inside *);

/* The descriptor to wait for, or -1. */
int inside_fd(const struct inside *);

/* Takes what is there; call it when inside_fd() is readable, and once more
 * after the container's end. */
void inside_read(struct inside *);

/* One line of the protocol, "key number"; unknown ones are ignored. */
void inside_line(struct inside *, const char *line);

/* The wall that fzinit found missing, in words, or NULL. */
const char *inside_unsafe(const struct inside *);

#endif
