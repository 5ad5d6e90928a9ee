/* SPDX-License-Identifier: MIT */
/* --ids: one run a line, for scripts. */
#include "output.h"

#include "run.h"

static int
ids_run(FILE *f, const struct run *r, struct err *e)
{
	(void)e;
	(void)fprintf(f, "%s\n", r->id);
	return 0;
}

const struct format output_ids = { .name = "ids", .run = ids_run };
