/* SPDX-License-Identifier: MIT */
#ifndef FZ_TRANSCRIPT_H
#define FZ_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "buf.h"
#include "compiler.h"

struct err;

/* The longest line that is looked at; a longer one is only counted. */
#define TRANSCRIPT_LINE ((size_t)1 << 20)
#define TRANSCRIPT_WORD 64

/*
 * What an agent said of itself in stream-json: one JSON object a line, the
 * last "result" among them at the end.  All of it is hostile.  Words are
 * printable ASCII without blanks, cut out of nothing longer; "" and a
 * negative number mean unknown.
 */
struct transcript {
	bool has_result;
	bool is_error;
	bool answered; /* the API gave an answer, at some time */
	bool good;     /* and the last thing heard of the API was one */
	bool billing;  /* the error of the API is about money */
	char subtype[TRANSCRIPT_WORD];
	char terminal_reason[TRANSCRIPT_WORD];
	char stop_reason[TRANSCRIPT_WORD];
	char api_type[TRANSCRIPT_WORD]; /* "" where a proxy answered instead */
	char session_id[TRANSCRIPT_WORD];
	char model[TRANSCRIPT_WORD];
	int64_t api_status; /* of HTTP */
	int64_t turns;
	double cost_usd;
	int64_t input_tokens; /* those of the cache among them */
	int64_t output_tokens;
	int64_t denials; /* tool calls that were not permitted */

	int64_t tools; /* tool calls */
	int64_t lines;
	int64_t plain;	 /* of these, no JSON objects */
	int64_t skipped; /* of these, too long */
};

void transcript_init(struct transcript *);

/* One line without its newline; line[len] must be NUL, and the text may be
 * changed. */
void transcript_add(struct transcript *, char *line, size_t len);

/* A whole file, however large, line by line. */
int transcript_read(struct transcript *, int fd, struct err *) MUST_CHECK;

/*
 * The object in such a line, owned by the caller, or NULL.  Escapes that are
 * JSON but no characters (a NUL, half of a surrogate pair) become U+FFFD in
 * the line first: tools put out such bytes, and the CLI passes them on.
 */
cJSON *transcript_parse(char *line, size_t len);

/* An answer of the API, not words the CLI put in its place. */
bool transcript_is_answer(const cJSON *line);

/*
 * Cuts a stream into lines of at most b.max bytes.  fn gets each without
 * its newline and with a NUL behind it, or NULL and 0 for a line that was
 * too long; it returns -1 to end it all.
 */
struct lines {
	struct buf b;
	bool too_long;
};
typedef int lines_fn(void *, char *line, size_t len);

#define LINES_INIT(limit)             \
	{                             \
		.b = BUF_INIT(limit), \
	}

int lines_feed(
    struct lines *, const char *, size_t, lines_fn *, void *) MUST_CHECK;
/* The last line, when no newline ended it. */
int lines_end(struct lines *, lines_fn *, void *) MUST_CHECK;
void lines_release(struct lines *);

#endif
