/* SPDX-License-Identifier: MIT */
#ifndef FZ_OWNER_H
#define FZ_OWNER_H

#include <stdbool.h>

#include "compiler.h"

enum owner {
	OWNER_UNKNOWN, /* no such word, or of a place we cannot see into */
	OWNER_ALIVE,
	OWNER_DEAD,
};

/* The dockrun a label names: a word as in proc.h. */
enum owner owner_judge(const char *text);

/*
 * A descriptor of that very process, or -1 if it is not surely alive.
 * Signals sent through it can reach no other process, however late.
 */
int owner_open(const char *text) MUST_CHECK;

/* False when the process is gone or not ours to signal. */
bool owner_signal(int pidfd, int sig) MUST_CHECK;

#endif
