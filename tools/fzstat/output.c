/* SPDX-License-Identifier: MIT */
/* The table of formats, and what more than one of them writes. */
#include "output.h"

#include <stdint.h>
#include <string.h>

#include "put.h"

static const struct format *const formats[] = {
	&output_closing,
	&output_ids,
	&output_json,
	&output_jsonl,
	&output_text,
	&output_tsv,
};

const struct format *
output_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

void
output_word(FILE *f, const char *s)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789._/+-";
	const char *quote = s[strspn(s, plain)] == '\0' ? "" : "'";

	(void)fputs(quote, f);
	(void)put_text(f, s, SIZE_MAX);
	(void)fputs(quote, f);
}

void
output_rundir(FILE *f, const struct report *r)
{
	if (strcmp(r->rundir, OUTPUT_RUNDIR) == 0)
		return;
	(void)fputs(" RUNDIR=", f);
	output_word(f, r->rundir);
}
