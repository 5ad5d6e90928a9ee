/* SPDX-License-Identifier: MIT */
/* What a campaign is made of, and how that differs from what it was. */
#include "inputs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "err.h"
#include "json.h"
#include "text.h"

#define LOWER	"abcdefghijklmnopqrstuvwxyz"
#define DIGITS	"0123456789"
#define HASHKEY "_sha256"

static bool
is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = strlen(s);

	while (n > 0) {
		size_t len = text_utf8(p, n);

		if (len == 0)
			return false;
		p += len;
		n -= len;
	}
	return true;
}

static const struct input *
find(const struct inputs *in, const char *key)
{
	for (size_t i = 0; i < in->n; i++)
		if (strcmp(in->item[i].key, key) == 0)
			return &in->item[i];
	return NULL;
}

int
inputs_add(
    struct inputs *in, enum input_kind kind, const char *arg, struct err *e)
{
	struct input *i = &in->item[in->n];
	size_t n = strspn(arg, LOWER DIGITS "_");

	if (in->n == INPUTS_MAX)
		return err_set(e, EX_USAGE, "more than %d inputs", INPUTS_MAX);
	if (n == 0 || n >= sizeof(i->name) || arg[n] != '=')
		return err_set(
		    e, EX_USAGE, "\"%.100s\": not of the form name=value", arg);
	if (!is_utf8(arg))
		return err_set(
		    e, EX_USAGE, "%.*s: the value is not UTF-8", (int)n, arg);
	*i = (struct input){ .kind = kind, .value = arg + n + 1 };
	memcpy(i->name, arg, n);
	(void)snprintf(i->key, sizeof(i->key), "%.*s%s", (int)n, arg,
	    kind == INPUT_FILE ? HASHKEY : "");
	if (find(in, i->key) != NULL)
		return err_set(e, EX_USAGE, "%s: given twice", i->name);
	in->n++;
	return 0;
}

void
input_variable(const struct input *i, char out[INPUT_NAME])
{
	size_t n = 0;

	for (; i->name[n] != '\0'; n++)
		out[n] = (char)toupper((unsigned char)i->name[n]);
	out[n] = '\0';
}

static const char *
stored_value(const struct input *i)
{
	return i->kind == INPUT_FILE ? i->hash : i->value;
}

void
inputs_put(const struct inputs *in, cJSON *obj, bool *ok)
{
	for (size_t i = 0; i < in->n; i++)
		json_put_str(
		    obj, in->item[i].key, stored_value(&in->item[i]), ok);
}

static int
add(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

/* A value as it is to be typed: make and the shell read it as it was. */
static int
add_word(struct buf *b, const char *s)
{
	static const char plain[] =
	    LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-._/:,+=@%";
	int rc;

	if (s[0] != '\0' && s[strspn(s, plain)] == '\0')
		return add(b, s);
	rc = add(b, "'");
	while (rc == 0 && *s != '\0') {
		size_t n = strcspn(s, "'$");

		rc = text_clean(b, s, n, false);
		s += n;
		if (rc == 0 && *s != '\0')
			rc = add(b, *s++ == '$' ? "$$" : "'\\''");
	}
	return rc < 0 ? rc : add(b, "'");
}

static int
refuse(struct buf *b, const struct input *i, const char *was)
{
	char var[INPUT_NAME];

	input_variable(i, var);
	if (add(b, var) < 0 || add(b, " is ") < 0 ||
	    add_word(b, i->value) < 0 ||
	    add(b, ", but this campaign was begun with ") < 0 ||
	    add_word(b, was) < 0 || add(b, ": type \"make ") < 0 ||
	    add(b, var) < 0 || add(b, "=") < 0 || add_word(b, was) < 0 ||
	    add(b, " campaign\" to go on, or \"make RUNDIR=DIR ") < 0 ||
	    add(b, var) < 0 || add(b, "=") < 0 || add_word(b, i->value) < 0)
		return -1;
	return add(b, " campaign\" for a new one");
}

/* "timeout (900 -> 600)"; of a file, whose hash says nothing, the name. */
static int
note(struct buf *b, const char *key, const char *was, const char *is)
{
	const size_t tail = sizeof(HASHKEY) - 1;
	size_t n = strlen(key);

	if (b->len > 0 && add(b, ", ") < 0)
		return -1;
	if (n > tail && strcmp(key + n - tail, HASHKEY) == 0)
		return text_clean(b, key, n - tail, false);
	if (text_clean(b, key, n, false) < 0 || add(b, " (") < 0 ||
	    (was != NULL ? add_word(b, was) : add(b, "none")) < 0 ||
	    add(b, " -> ") < 0 ||
	    (is != NULL ? add_word(b, is) : add(b, "none")) < 0)
		return -1;
	return add(b, ")");
}

static int
compare(const struct input *i, const char *was, struct buf *refused,
    struct buf *changed)
{
	if (was != NULL && strcmp(was, stored_value(i)) == 0)
		return 0;
	if (was == NULL || i->kind != INPUT_FIXED)
		return note(changed, i->key, was, stored_value(i));
	/* One thing to put right at a time. */
	return refused->len > 0 ? 0 : refuse(refused, i, was);
}

int
inputs_compare(const struct inputs *in, const cJSON *stored,
    struct buf *refused, struct buf *changed, struct err *e)
{
	const cJSON *was;

	cJSON_ArrayForEach(was, stored)
	{
		if (!cJSON_IsString(was))
			return err_set(e, EX_DATAERR,
			    "\"inputs\": \"%.40s\": not a string", was->string);
		if (find(in, was->string) == NULL &&
		    note(changed, was->string, was->valuestring, NULL) < 0)
			return err_sys(e, EX_OSERR, "compare inputs");
	}
	for (size_t i = 0; i < in->n; i++) {
		const struct input *now = &in->item[i];

		was = cJSON_GetObjectItemCaseSensitive(stored, now->key);
		if (compare(now, was != NULL ? was->valuestring : NULL, refused,
			changed) < 0)
			return err_sys(e, EX_OSERR, "compare inputs");
	}
	return 0;
}
