/* SPDX-License-Identifier: MIT */
#ifndef FZ_AUDIT_H
#define FZ_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler.h"
#include "policy.h"

struct err;

enum { AUDIT_ROWS = 20000, AUDIT_TEXT = 256 };

struct audit_options {
	const char *log;
	const char *runs;	     /* RUNDIR, or NULL */
	const struct policy *policy; /* to ask what it says now, or NULL */
	bool all;		     /* what was let through, too */
};

/* The same request of the same run, however often.  All text is clean. */
struct audit_row {
	char run[16];	 /* "007", or "-" */
	int64_t attempt; /* 0: the last one, or unknown */
	char client[48];
	bool denied;
	char rule[48]; /* "-" when not denied */
	int64_t status;
	char method[32];
	char target[AUDIT_TEXT];
	char sni[AUDIT_TEXT];
	const char *now; /* "allow", "deny", or NULL */
	int64_t count, first_ms, last_ms, up, down;
};

/* Rows are sorted by run, attempt, client and what was asked. */
struct audit_table {
	const struct audit_options *options;
	struct audit_row **row;
	size_t rows;
	int64_t lines;	   /* of the log */
	int64_t requests;  /* of anybody */
	int64_t denied;	   /* of anybody */
	int64_t malformed; /* lines that are none of squid's */
	int64_t left_out;  /* requests that found no room in the table */
};

struct audit_format {
	const char *name;
	int (*write)(FILE *, const struct audit_table *, struct err *);
};

extern const struct audit_format audit_json, audit_text, audit_tsv;

/* NULL when there is no such format. */
const struct audit_format *audit_find(const char *name);

/* Returns 0, 1 when a part could not be read, or -1 with *e set. */
int audit(const struct audit_options *, const struct audit_format *, FILE *,
    struct err *) MUST_CHECK;

/* One line of the log, without its newline, at that offset of it.  run
 * is whose it is.  -1 only when out of memory. */
struct span;
int audit_line(struct audit_table *, const char *line, size_t n,
    const struct span *run, struct err *) MUST_CHECK;
void audit_release(struct audit_table *);

#endif
