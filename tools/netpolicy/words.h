/* SPDX-License-Identifier: MIT */
#ifndef FZ_WORDS_H
#define FZ_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"
#include "policy.h"

/* One line of a policy in words, without its comment. */
struct words {
	size_t n;
	size_t next; /* the one words_take() gives */
	const char *v[POLICY_LINE / 2];
	char text[POLICY_LINE + 1];
};

/* NULL, or what is wrong with the line's bytes (valid until next call). */
const char *words_split(const char *line, size_t n, struct words *) MUST_CHECK;

/* The next word, or NULL. */
const char *words_take(struct words *);

/* What single words have to look like. */
bool words_number(const char *s, int min, int max, int *out);
bool words_is_method(const char *s);
bool words_is_path(const char *s);     /* of a URL */
bool words_is_variable(const char *s); /* ANTHROPIC_API_KEY */
bool words_is_target(const char *s);   /* 127.0.0.1:5432, unix:/x */

#endif
