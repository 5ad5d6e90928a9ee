/* SPDX-License-Identifier: MIT */
/* uses: tools/dockrun/spec.c tools/dockrun/compare.c */
/*
 * Any answer of an engine to the sample request, and the honest answer with
 * one value replaced: that is accepted only if the value is as good.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "../unit/sample.h"
#include "compare.h"
#include "err.h"
#include "json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
	if (!ok)
		abort();
}

static const cJSON *
request(void)
{
	static cJSON *sent;

	if (sent == NULL) {
		struct err e;
		struct spec s;

		must(sample_make(&s));
		sent = spec_render(&s, &e);
		must(sent != NULL);
		spec_release(&s);
	}
	return sent;
}

/* What an honest engine answers; two of its parts are the request's own. */
static cJSON *
honest(void)
{
	cJSON *j = cJSON_CreateObject();
	bool ok = j != NULL;
	cJSON *mounts = json_put_arr(j, "Mounts", &ok);
	const cJSON *m;

	json_put_str(j, "Image", SAMPLE_IMAGE, &ok);
	must(ok &&
	    cJSON_AddItemToObject(
		j, "Config", cJSON_Duplicate(request(), true)) &&
	    cJSON_AddItemToObject(j, "HostConfig",
		cJSON_Duplicate(json_at(request(), "HostConfig"), true)));
	cJSON_ArrayForEach(m, json_at(request(), "HostConfig.Mounts"))
	{
		cJSON *one = json_add_obj(mounts, &ok);

		json_put_str(one, "Source", json_at_str(m, "Source"), &ok);
		json_put_str(one, "Destination", json_at_str(m, "Target"), &ok);
		json_put_bool(one, "RW", !json_at_true(m, "ReadOnly"), &ok);
	}
	must(ok);
	return j;
}

static int
judge(const cJSON *answer)
{
	struct err e = { 0 };
	int rc = compare_created(request(), answer, SAMPLE_IMAGE, &e);

	must(rc == 0 || (e.exit == EX_CONFIG && e.text[0] != '\0'));
	return rc;
}

static bool
is_empty(const cJSON *v)
{
	return cJSON_IsNull(v) || cJSON_IsFalse(v) ||
	    (cJSON_IsNumber(v) && v->valuedouble == 0) ||
	    (cJSON_IsString(v) && v->valuestring[0] == '\0') ||
	    ((cJSON_IsArray(v) || cJSON_IsObject(v)) && v->child == NULL);
}

/* Puts the value in the place of one field of HostConfig. */
static void
replace_one(int nth, cJSON *value)
{
	cJSON *answer = honest();
	cJSON *host = cJSON_GetObjectItemCaseSensitive(answer, "HostConfig");
	const cJSON *old = json_at(request(), "HostConfig")->child;
	bool as_good;

	for (nth %= cJSON_GetArraySize(host); nth > 0; nth--)
		old = old->next;
	as_good = cJSON_Compare(old, value, true) ||
	    (is_empty(old) && is_empty(value));
	must(cJSON_ReplaceItemInObjectCaseSensitive(host, old->string, value));
	/* Objects may gain: then only a refusal of what is as good is wrong. */
	if (as_good)
		must(judge(answer) == 0);
	else if (!cJSON_IsObject(old) && !cJSON_IsArray(old))
		must(judge(answer) < 0);
	else
		(void)judge(answer);
	cJSON_Delete(answer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e;
	char *text;
	cJSON *j;

	if (size < 1)
		return 0;
	text = malloc(size);
	must(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	j = json_parse(text, size - 1, &e);
	free(text);
	if (j == NULL)
		return 0;
	must(judge(j) < 0); /* nobody guesses all of it */
	replace_one(data[0], j);
	return 0;
}
