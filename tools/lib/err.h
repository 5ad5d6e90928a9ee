/* SPDX-License-Identifier: MIT */
#ifndef FZ_ERR_H
#define FZ_ERR_H

#include "compiler.h"

/*
 * Why an operation failed, ready to be shown to a person and turned into
 * an exit status.  Lives on the caller's stack, never allocates, and is
 * meaningful only after a function returned -1 (or NULL).
 */
struct err {
	int exit;	/* sysexits(3) status for main() */
	int sys;	/* errno to append to the text, or 0 */
	char text[512]; /* may be truncated, always terminated */
};

/* Each returns -1, so that callers can write "return err_set(...)". */
int err_set(struct err *, int exit, const char *fmt, ...) PRINTF_LIKE(3, 4);
int err_sys(struct err *, int exit, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Puts "<context>: " in front of a text that is already there. */
int err_wrap(struct err *, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* For main(): prints "name: text: reason" to stderr, returns the status. */
int err_report(const struct err *, const char *name);

#endif
