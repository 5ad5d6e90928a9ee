/* SPDX-License-Identifier: MIT */
#ifndef FZ_TABLE_H
#define FZ_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "compiler.h"

struct err;
struct sessions;

/* Sessions for people, and for programs ("fz-ps/1"). */
void table_print(FILE *, const struct sessions *, int64_t now_s);
int table_print_json(
    FILE *, const struct sessions *, int64_t now_s, struct err *) MUST_CHECK;

#endif
