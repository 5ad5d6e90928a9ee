/* SPDX-License-Identifier: MIT */
#ifndef FZ_PROC_H
#define FZ_PROC_H

#include <stdbool.h>

#include "compiler.h"

struct err;

/*
 * A process, told apart from any other that ever had its pid: the boot, the
 * pid namespace, the pid and its start time, as one word that can be stored
 * in a label or a file: "BOOTID/PIDNS/PID/START".
 */
struct proc_id {
	char text[128];
};

/* This process. */
int proc_self(struct proc_id *, struct err *) MUST_CHECK;

/*
 * True only if that process is surely gone: another boot, or, seen from the
 * same pid namespace, no process of that pid and start time.  A malformed
 * word or a foreign namespace is "not surely".
 */
bool proc_is_dead(const char *text);

/* The pid of the word, or 0. */
int proc_pid(const char *text);

#endif
