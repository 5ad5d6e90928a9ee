/* SPDX-License-Identifier: MIT */
#ifndef FZ_PUT_H
#define FZ_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "compiler.h"

struct err;

#define PUT_DURATION 32

/*
 * Prints hostile text for people: made harmless, only ASCII outside UTF-8,
 * and cut to width columns ("..." shows it).  Returns the columns used.
 */
size_t put_text(FILE *, const char *, size_t width);

/* Prints hostile text as the value of one field of a line, uncut. */
void put_field(FILE *, const char *);

/* Prints one line of JSON in ASCII, so that no terminal obeys it. */
int put_json(FILE *, const cJSON *, struct err *) MUST_CHECK;

/* "42.3s", "15m00s", "1h02m", or "-" for a negative number. */
void put_duration(int64_t ms, char out[PUT_DURATION]);

#endif
