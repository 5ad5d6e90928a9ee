/* SPDX-License-Identifier: MIT */
#ifndef FZ_OUTPUT_H
#define FZ_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler.h"

struct err;
struct run;
struct summary;

#define OUTPUT_RUNDIR "fuzz/runs" /* make's RUNDIR unless it is told */

/* What there is to say about a whole directory of runs. */
struct report {
	const char *rundir;   /* as it was given, without a slash at the end */
	const char *campaign; /* its id; "" is unknown */
	const char *stop;     /* why nothing new starts; NULL: it does */
	const char *pause;    /* until when it does not; NULL: it does */
	const char *command;  /* what continues the campaign */
	int64_t now_ms;
	const struct summary *sum;
};

/*
 * One way to write, named like its option.  run() is called for each run in
 * order as it is read, end() once at the end; any of the three may be NULL.
 * Writing errors are found by the caller, who flushes.
 */
struct format {
	const char *name;
	void (*begin)(FILE *);
	int (*run)(FILE *, const struct run *, struct err *);
	int (*end)(FILE *, const struct report *, struct err *);
	bool gates; /* an incomplete campaign is exit status 1 */
};

extern const struct format output_closing, output_ids, output_json,
    output_jsonl, output_text, output_tsv;

/* The format of that name, or NULL. */
const struct format *output_find(const char *name);

/* A name in a command to be typed, quoted where the shell wants it. */
void output_word(FILE *, const char *);

/* What a make command needs to mean this directory: " RUNDIR=..." or "". */
void output_rundir(FILE *, const struct report *);

#endif
