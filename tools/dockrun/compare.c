/* SPDX-License-Identifier: MIT */
/* Asked for is not had: holds the container against the request. */
#include "compare.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"

static bool
is_empty(const cJSON *v)
{
	return v == NULL || cJSON_IsNull(v) || cJSON_IsFalse(v) ||
	    (cJSON_IsNumber(v) && v->valuedouble == 0) ||
	    (cJSON_IsString(v) && v->valuestring[0] == '\0') ||
	    ((cJSON_IsArray(v) || cJSON_IsObject(v)) && v->child == NULL);
}

/* The difference, with both sides cut to a readable length. */
static int
differ(const char *field, const cJSON *sent, const cJSON *got, struct err *e)
{
	char *a = cJSON_PrintUnformatted(sent);
	char *b = got != NULL ? cJSON_PrintUnformatted(got) : NULL;

	err_set(e, EX_CONFIG,
	    "the engine changed %s: asked for %.80s, made %.80s; "
	    "the container was not started",
	    field, a != NULL ? a : "?", b != NULL ? b : "nothing");
	cJSON_free(a);
	cJSON_free(b);
	return -1;
}

static bool same(const cJSON *sent, const cJSON *got);

static bool
same_list(const cJSON *sent, const cJSON *got) /* NOLINT(misc-no-recursion) */
{
	const cJSON *a = sent->child;
	const cJSON *b = got->child;

	while (a != NULL && b != NULL && same(a, b)) {
		a = a->next;
		b = b->next;
	}
	return a == NULL && b == NULL;
}

static bool
same_object(const cJSON *sent, const cJSON *got) /* NOLINT(misc-no-recursion) */
{
	/* A tmpfs nobody asked for is a place to write. */
	if (sent->string != NULL && strcmp(sent->string, "Tmpfs") == 0 &&
	    cJSON_GetArraySize(sent) != cJSON_GetArraySize(got))
		return false;
	for (const cJSON *a = sent->child; a != NULL; a = a->next)
		if (!same(a, cJSON_GetObjectItemCaseSensitive(got, a->string)))
			return false;
	return true;
}

/* What was sent is as deep as our own renderer made it. */
static bool
same(const cJSON *sent, const cJSON *got) /* NOLINT(misc-no-recursion) */
{
	if (is_empty(sent) || is_empty(got))
		return is_empty(sent) && is_empty(got);
	if (cJSON_IsObject(sent))
		return cJSON_IsObject(got) && same_object(sent, got);
	if (cJSON_IsArray(sent))
		return cJSON_IsArray(got) && same_list(sent, got);
	return cJSON_Compare(sent, got, true);
}

static bool
contains(const cJSON *list, const cJSON *item)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, list)
	{
		if (cJSON_Compare(v, item, true))
			return true;
	}
	return false;
}

/* The environment gains the image's own variables and PATH. */
static int
compare_env(const cJSON *sent, const cJSON *got, struct err *e)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, sent)
	{
		if (!contains(got, v))
			return err_set(e, EX_CONFIG,
			    "the engine dropped %.*s from the environment",
			    (int)strcspn(v->valuestring, "="), v->valuestring);
	}
	return 0;
}

static int
compare_fields(
    const cJSON *sent, const cJSON *got, const char *where, struct err *e)
{
	for (const cJSON *a = sent->child; a != NULL; a = a->next) {
		const cJSON *b =
		    cJSON_GetObjectItemCaseSensitive(got, a->string);
		char field[80];

		if (strcmp(a->string, "HostConfig") == 0 ||
		    strcmp(a->string, "Env") == 0 || same(a, b))
			continue;
		(void)snprintf(field, sizeof(field), "%s.%s", where, a->string);
		return differ(field, a, b, e);
	}
	return 0;
}

static const cJSON *
mount_at(const cJSON *mounts, const char *target)
{
	const cJSON *m;

	cJSON_ArrayForEach(m, mounts)
	{
		const char *t = json_at_str(m, "Destination");

		if (t != NULL && strcmp(t, target) == 0)
			return m;
	}
	return NULL;
}

static int
compare_mounts(const cJSON *sent, const cJSON *got, struct err *e)
{
	const cJSON *m;

	cJSON_ArrayForEach(m, sent)
	{
		const cJSON *g = mount_at(got, json_at_str(m, "Target"));
		const char *source = json_at_str(g, "Source");

		if (source == NULL ||
		    strcmp(source, json_at_str(m, "Source")) != 0 ||
		    json_at_true(g, "RW") == json_at_true(m, "ReadOnly"))
			return differ("Mounts", m, g, e);
	}
	if (cJSON_GetArraySize(got) == cJSON_GetArraySize(sent))
		return 0;
	cJSON_ArrayForEach(m, got)
	{
		const char *t = json_at_str(m, "Destination");
		bool ours = false;
		const cJSON *s;

		cJSON_ArrayForEach(s, sent)
		{
			ours = ours ||
			    (t != NULL &&
				strcmp(t, json_at_str(s, "Target")) == 0);
		}
		if (!ours)
			return err_set(e, EX_CONFIG,
			    "the engine added a mount at %.80s (a VOLUME of "
			    "the image?); the container was not started",
			    t != NULL ? t : "?");
	}
	return err_set(e, EX_CONFIG, "the engine lists a mount twice");
}

int
compare_created(const cJSON *sent, const cJSON *inspected, const char *image_id,
    struct err *e)
{
	const cJSON *host = json_at(sent, "HostConfig");
	const char *image = json_at_str(inspected, "Image");

	if (image == NULL || strcmp(image, image_id) != 0)
		return err_set(e, EX_CONFIG,
		    "the engine took another image: asked for %.80s, took %.80s",
		    image_id, image != NULL ? image : "nothing");
	if (compare_fields(sent, json_at(inspected, "Config"), "Config", e) <
		0 ||
	    compare_fields(
		host, json_at(inspected, "HostConfig"), "HostConfig", e) < 0 ||
	    compare_env(
		json_at(sent, "Env"), json_at(inspected, "Config.Env"), e) < 0)
		return -1;
	return compare_mounts(
	    json_at(host, "Mounts"), json_at(inspected, "Mounts"), e);
}
