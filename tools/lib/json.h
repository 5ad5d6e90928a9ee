/* SPDX-License-Identifier: MIT */
#ifndef FZ_JSON_H
#define FZ_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "compiler.h"

struct buf;
struct err;

/* cJSON keeps numbers as double and prints 1e15 and above as "1e+15". */
#define JSON_INT_MAX INT64_C(999999999999999)

/*
 * Reading.  json_parse() gives a tree the caller owns (json_p releases it);
 * text[len] must be NUL.  Refused, because cJSON would not: bytes after the
 * value, invalid UTF-8, a NUL in a string, the same key twice in an object,
 * more than 32 levels.  The getters lend pointers into the tree; they live
 * as long as it does.
 */
cJSON *json_parse(const char *text, size_t len, struct err *) MUST_CHECK;

/* The same with a file of dfd, at most max bytes, which must be an object
 * whose "_schema" is the given one ("fz-run/1"). */
cJSON *json_read(int dfd, const char *name, size_t max, const char *schema,
    struct err *) MUST_CHECK;

const char *json_str(const cJSON *obj, const char *key, struct err *);
int json_int(const cJSON *obj, const char *key, int64_t min, int64_t max,
    int64_t *out, struct err *) MUST_CHECK;

/* Looking without complaining: NULL, -1 or false when absent or of another
 * type.  json_at() walks "A.B.C". */
const cJSON *json_at(const cJSON *, const char *path);
const char *json_at_str(const cJSON *, const char *path);
int64_t json_at_int(const cJSON *, const char *path);
bool json_at_true(const cJSON *, const char *path);

/*
 * Writing.  Each call does nothing once *ok is false, so that a document
 * is built without a test per line and checked once at its end.
 */
cJSON *json_put_obj(cJSON *obj, const char *key, bool *ok);
cJSON *json_put_arr(cJSON *obj, const char *key, bool *ok);
void json_put_str(cJSON *obj, const char *key, const char *val, bool *ok);
void json_put_int(cJSON *obj, const char *key, int64_t val, bool *ok);
void json_put_bool(cJSON *obj, const char *key, bool val, bool *ok);
void json_put_null(cJSON *obj, const char *key, bool *ok);

/* A negative number means unknown and becomes null. */
void json_put_known(cJSON *obj, const char *key, int64_t val, bool *ok);
/* NULL becomes null. */
void json_put_str_or_null(
    cJSON *obj, const char *key, const char *val, bool *ok);
void json_add_str(cJSON *arr, const char *val, bool *ok);
cJSON *json_add_obj(cJSON *arr, bool *ok);

/* Renders with a final newline and writes it as at_write() does. */
int json_write(
    int dfd, const char *name, const cJSON *, struct err *) MUST_CHECK;

static inline void
json_p(cJSON **j)
{
	cJSON_Delete(*j); /* accepts NULL */
}

#endif
