/* SPDX-License-Identifier: MIT */
#ifndef FZ_CHECK_H
#define FZ_CHECK_H

#include <stdarg.h>

#include "compiler.h"
#include "policy.h"

/*
 * What can be said of a policy only when all its lines are known: sorts it,
 * numbers the services, and adds duplicates, covered names and clashes to
 * the errors, which come out in the order of lines.
 */
void check_policy(struct policy *, struct policy_errors *);

void errors_addv(struct policy_errors *, int line, const char *fmt, va_list)
    PRINTF_LIKE(3, 0);
void errors_add(struct policy_errors *, int line, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif
