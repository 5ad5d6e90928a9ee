/* SPDX-License-Identifier: MIT */
/* --jsonl: one run a line, with all that its verdict says. */
#include "output.h"

#include <sysexits.h>

#include "err.h"
#include "json.h"
#include "put.h"
#include "run.h"

/* Facts of a verdict are passed on whole; of run.json nothing is, because
 * what is not settled may change before it is read. */
static int
jsonl_run(FILE *f, const struct run *r, struct err *e)
{
	bool verdict = r->state <= RUN_TIMEOUT;
	AUTO(json_p)
	cJSON *j =
	    verdict ? cJSON_Duplicate(r->file, true) : cJSON_CreateObject();
	bool ok = j != NULL;

	if (!verdict)
		json_put_str(j, "run", r->id, &ok);
	cJSON_DeleteItemFromObjectCaseSensitive(j, "state");
	json_put_str(j, "state", run_state_name(r->state), &ok);
	if (!ok)
		return err_set(e, EX_OSERR, "out of memory");
	return put_json(f, j, e);
}

const struct format output_jsonl = { .name = "jsonl", .run = jsonl_run };
