/* SPDX-License-Identifier: MIT */
#ifndef FZ_TEXT_H
#define FZ_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"

/* Length of the valid UTF-8 sequence at p (n bytes left), or 0. */
size_t text_utf8(const unsigned char *p, size_t n);

/*
 * Appends hostile text so that it is safe on a terminal and valid UTF-8:
 * control characters (but newline and tab when multiline), bidirectional
 * marks and line separators become "\xNN" or "\u{NNNN}", bytes that are not
 * UTF-8 become U+FFFD.
 */
int text_clean(
    struct buf *, const char *p, size_t n, bool multiline) MUST_CHECK;

/* True where symbols such as U+2713 may be printed. */
bool text_locale_is_utf8(void);

#endif
