/* SPDX-License-Identifier: MIT */
#ifndef FZ_NAME_H
#define FZ_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"

#define NAME_MAX_LEN 253
#define NAME_SIZE    (NAME_MAX_LEN + 1)

/*
 * Host names as a policy may hold them: ASCII letters, digits and hyphens
 * in labels of 1 to 63, at most 253 in all.  What a resolver would take for
 * an address in any spelling (the last label is a number: 127.1, 2130706433,
 * 0x7f.1) is not a name.
 *
 * Each returns NULL and the lower-cased name in out, or says what is wrong
 * with it in words that follow "NAME".
 */
const char *name_parse(const char *s, size_t n, char out[NAME_SIZE]) MUST_CHECK;

/* A host somewhere else: a name of at least two labels. */
const char *name_parse_remote(
    const char *s, size_t n, char out[NAME_SIZE]) MUST_CHECK;

/*
 * The same with a dot in front, which out keeps: ".example.org".  A public
 * suffix is refused, as far as a small list and one rule know it: a
 * top-level domain, a second level such as .co.uk, a few hosting domains
 * below which anybody can have a name.
 */
const char *name_parse_pattern(
    const char *s, size_t n, char out[NAME_SIZE]) MUST_CHECK;

/* Whether text that is no name was meant as an address. */
bool name_is_address(const char *s, size_t n);

/* Whether a pattern ("x.org" or ".x.org") means this name. */
bool name_matches(const char *pattern, const char *name);

#endif
