/* SPDX-License-Identifier: MIT */
#ifndef FZ_INPUTS_H
#define FZ_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "buf.h"
#include "compiler.h"
#include "sha256.h"

struct err;

#define INPUTS_MAX 64
#define INPUT_NAME 48

enum input_kind {
	INPUT_PLAIN,
	INPUT_FIXED, /* a campaign never goes on with another value */
	INPUT_FILE,  /* value is a path; what counts is the hash */
};

struct input {
	enum input_kind kind;
	char name[INPUT_NAME];
	char key[INPUT_NAME + 8]; /* as stored: "timeout", "prompt_sha256" */
	const char *value;	  /* borrowed */
	char hash[SHA256_TEXT];	  /* of a file, once somebody has read it */
};

/* What a campaign is made of, as its caller says now. */
struct inputs {
	struct input item[INPUTS_MAX];
	size_t n;
};

/*
 * Takes "name=value", which must outlive the inputs.  EX_USAGE when the name
 * is none (a-z, 0-9, _), stands there already, or the value is not UTF-8.
 */
int inputs_add(
    struct inputs *, enum input_kind, const char *arg, struct err *) MUST_CHECK;

/* "prompt" -> "PROMPT": what a person types for it. */
void input_variable(const struct input *, char out[INPUT_NAME]);

/* Adds all of them to a JSON object, as the json_put family does. */
void inputs_put(const struct inputs *, cJSON *obj, bool *ok);

/*
 * Compares with what was stored by inputs_put().  *refused gets a sentence
 * when a fixed one differs, *changed a list of all other differences; each
 * stays empty when there is none.  The caller releases both.
 */
int inputs_compare(const struct inputs *, const cJSON *stored,
    struct buf *refused, struct buf *changed, struct err *) MUST_CHECK;

#endif
