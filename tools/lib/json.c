/* SPDX-License-Identifier: MIT */
/* cJSON with the strictness it lacks. */
#include "json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "atfile.h"
#include "buf.h"
#include "cleanup.h"
#include "err.h"
#include "text.h"

#define DEPTH_MAX 32
#define KEYS_MAX  4096

static bool
is_utf8(const unsigned char *p, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = p[i] < 0x80 ? 1 : text_utf8(p + i, len - i);
		if (n == 0)
			return false;
	}
	return true;
}

/* Why what stands at p cannot follow a backslash, or NULL.  cJSON takes an
 * escape that is no number for a NUL, which ends the string. */
static const char *
bad_escape(const char *p, const char *end)
{
	if (p < end && *p != '\0' && strchr("\"\\/bfnrt", *p) != NULL)
		return NULL;
	if (end - p < 5 || *p != 'u')
		return "bad escape";
	for (int i = 1; i <= 4; i++)
		if (!isxdigit((unsigned char)p[i]))
			return "bad escape";
	return memcmp(p + 1, "0000", 4) == 0 ? "NUL in a string" : NULL;
}

/* The end of the string that begins at p; *why if it must be refused. */
static const char *
skip_string(const char *p, const char *end, const char **why)
{
	for (p++; p < end && *p != '"' && *why == NULL; p++) {
		if ((unsigned char)*p < ' ')
			*why = "control character";
		if (*p == '\\')
			*why = bad_escape(++p, end);
	}
	return p;
}

/* What cJSON lets pass although it is no JSON, or more than we want. */
static const char *
objection(const char *text, size_t len)
{
	const char *end = text + len;
	const char *why = NULL;
	int depth = 0;

	if (!is_utf8((const unsigned char *)text, len))
		return "not UTF-8";
	for (const char *p = text; p < end && why == NULL; p++) {
		if (*p == '"') {
			p = skip_string(p, end, &why);
		} else if (*p == '{' || *p == '[') {
			if (++depth > DEPTH_MAX)
				why = "nested too deeply";
		} else if (*p == '}' || *p == ']') {
			depth--;
		} else if ((unsigned char)*p < ' ' && *p != '\t' &&
		    *p != '\n' && *p != '\r') {
			why = "control character"; /* blank for cJSON */
		}
	}
	return why;
}

/* More keys than are worth comparing count as twins. */
static bool
has_twin_keys(const cJSON *object)
{
	if (cJSON_GetArraySize(object) > KEYS_MAX)
		return true;
	for (const cJSON *a = object->child; a != NULL; a = a->next)
		for (const cJSON *b = a->next; b != NULL; b = b->next)
			if (a->string[0] == b->string[0] &&
			    strcmp(a->string, b->string) == 0)
				return true;
	return false;
}

/* Depth is bounded by objection(). */
static bool
has_twins(const cJSON *node) /* NOLINT(misc-no-recursion) */
{
	if (cJSON_IsObject(node) && has_twin_keys(node))
		return true;
	for (const cJSON *a = node->child; a != NULL; a = a->next)
		if (a->child != NULL && has_twins(a))
			return true;
	return false;
}

cJSON *
json_parse(const char *text, size_t len, struct err *e)
{
	const char *end = text;
	const char *why = objection(text, len);
	AUTO(json_p) cJSON *j = NULL;
	cJSON *taken;

	if (why != NULL) {
		err_set(e, EX_DATAERR, "not valid JSON: %s", why);
		return NULL;
	}
	j = cJSON_ParseWithLengthOpts(text, len + 1, &end, true);
	if (j == NULL || end != text + len) {
		err_set(
		    e, EX_DATAERR, "not valid JSON near byte %td", end - text);
		return NULL;
	}
	if (has_twins(j)) {
		err_set(e, EX_DATAERR, "not valid JSON: a key stands twice");
		return NULL;
	}
	taken = j;
	j = NULL;
	return taken;
}

cJSON *
json_read(
    int dfd, const char *name, size_t max, const char *schema, struct err *e)
{
	AUTO(buf_release) struct buf b = BUF_INIT(max);
	const char *got;
	cJSON *j;

	if (at_read(dfd, name, &b, e) < 0)
		return NULL;
	j = json_parse(b.data, b.len, e);
	got = j != NULL ? json_str(j, "_schema", e) : NULL;
	if (got != NULL && strcmp(got, schema) == 0)
		return j;
	if (got != NULL)
		err_set(e, EX_DATAERR, "\"_schema\" is \"%.40s\", not \"%s\"",
		    got, schema);
	err_wrap(e, "%s", name);
	cJSON_Delete(j);
	return NULL;
}

const char *
json_str(const cJSON *obj, const char *key, struct err *e)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	if (cJSON_IsString(v))
		return v->valuestring;
	err_set(e, EX_DATAERR, "\"%s\": %s", key,
	    v == NULL ? "missing" : "not a string");
	return NULL;
}

int
json_int(const cJSON *obj, const char *key, int64_t min, int64_t max,
    int64_t *out, struct err *e)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);
	double d;

	if (!cJSON_IsNumber(v))
		return err_set(e, EX_DATAERR, "\"%s\": %s", key,
		    v == NULL ? "missing" : "not a number");
	d = v->valuedouble;
	if (!(d >= (double)min && d <= (double)max) ||
	    d > (double)JSON_INT_MAX || d != (double)(int64_t)d)
		return err_set(e, EX_DATAERR,
		    "\"%s\": %g is not an integer from %lld to %lld", key, d,
		    (long long)min, (long long)max);
	*out = (int64_t)d;
	return 0;
}

const cJSON *
json_at(const cJSON *j, const char *path)
{
	char key[64];

	while (j != NULL && *path != '\0') {
		size_t n = strcspn(path, ".");

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		j = cJSON_GetObjectItemCaseSensitive(j, key);
		path += n + (path[n] == '.');
	}
	return j;
}

const char *
json_at_str(const cJSON *j, const char *path)
{
	return cJSON_GetStringValue(json_at(j, path));
}

int64_t
json_at_int(const cJSON *j, const char *path)
{
	const cJSON *v = json_at(j, path);
	double d = cJSON_IsNumber(v) ? v->valuedouble : -1;

	if (!(d >= 0 && d <= (double)JSON_INT_MAX) || d != (double)(int64_t)d)
		return -1;
	return (int64_t)d;
}

bool
json_at_true(const cJSON *j, const char *path)
{
	return cJSON_IsTrue(json_at(j, path));
}

cJSON *
json_put_obj(cJSON *obj, const char *key, bool *ok)
{
	cJSON *child = *ok ? cJSON_AddObjectToObject(obj, key) : NULL;

	*ok = child != NULL;
	return child;
}

cJSON *
json_put_arr(cJSON *obj, const char *key, bool *ok)
{
	cJSON *child = *ok ? cJSON_AddArrayToObject(obj, key) : NULL;

	*ok = child != NULL;
	return child;
}

void
json_put_str(cJSON *obj, const char *key, const char *val, bool *ok)
{
	*ok = *ok && cJSON_AddStringToObject(obj, key, val) != NULL;
}

void
json_put_int(cJSON *obj, const char *key, int64_t val, bool *ok)
{
	*ok = *ok && val >= -JSON_INT_MAX && val <= JSON_INT_MAX &&
	    cJSON_AddNumberToObject(obj, key, (double)val) != NULL;
}

void
json_put_bool(cJSON *obj, const char *key, bool val, bool *ok)
{
	*ok = *ok && cJSON_AddBoolToObject(obj, key, val) != NULL;
}

void
json_put_null(cJSON *obj, const char *key, bool *ok)
{
	*ok = *ok && cJSON_AddNullToObject(obj, key) != NULL;
}

void
json_put_known(cJSON *obj, const char *key, int64_t val, bool *ok)
{
	if (val < 0)
		json_put_null(obj, key, ok);
	else
		json_put_int(obj, key, val, ok);
}

void
json_put_str_or_null(cJSON *obj, const char *key, const char *val, bool *ok)
{
	if (val == NULL)
		json_put_null(obj, key, ok);
	else
		json_put_str(obj, key, val, ok);
}

static void
add(cJSON *arr, cJSON *item, bool *ok)
{
	*ok = *ok && item != NULL && cJSON_AddItemToArray(arr, item);
	if (!*ok)
		cJSON_Delete(item);
}

void
json_add_str(cJSON *arr, const char *val, bool *ok)
{
	if (*ok)
		add(arr, cJSON_CreateString(val), ok);
}

cJSON *
json_add_obj(cJSON *arr, bool *ok)
{
	cJSON *item = *ok ? cJSON_CreateObject() : NULL;

	add(arr, item, ok);
	return *ok ? item : NULL;
}

int
json_write(int dfd, const char *name, const cJSON *j, struct err *e)
{
	AUTO(buf_release) struct buf b = BUF_INIT(1 << 24);
	char *text = cJSON_PrintUnformatted(j);
	bool ok = text != NULL && buf_add(&b, text, strlen(text)) == 0 &&
	    buf_add(&b, "\n", 1) == 0;

	cJSON_free(text);
	if (!ok)
		return err_set(e, EX_OSERR, "%s: out of memory", name);
	return at_write(dfd, name, b.data, b.len, AT_REPLACE, e);
}
