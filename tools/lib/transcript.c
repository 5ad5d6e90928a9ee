/* SPDX-License-Identifier: MIT */
/* Reads what an agent said of itself, line by line, believing nothing. */
#include "transcript.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "json.h"

#define DEPTH_MAX 64  /* more than json_parse() takes */
#define KEYS_MAX  256 /* of one object */
#define COST_MAX  1e9 /* more dollars than anybody has for one session */

static int
end_line(struct lines *l, lines_fn *fn, void *ctx)
{
	bool too_long = l->too_long;
	size_t len = l->b.len;

	l->too_long = false;
	l->b.len = 0;
	if (too_long)
		return fn(ctx, NULL, 0);
	if (len == 0)
		return 0;
	l->b.data[len] = '\0';
	return fn(ctx, l->b.data, len);
}

/* What does not fit is let go at once, so that memory stays bounded. */
static void
add_part(struct lines *l, const char *p, size_t n)
{
	if (!l->too_long && buf_add(&l->b, p, n) < 0)
		l->too_long = true;
}

int
lines_feed(struct lines *l, const char *p, size_t n, lines_fn *fn, void *ctx)
{
	while (n > 0) {
		const char *nl = memchr(p, '\n', n);
		size_t part = nl != NULL ? (size_t)(nl - p) : n;

		if (part > 0)
			add_part(l, p, part);
		if (nl != NULL && end_line(l, fn, ctx) < 0)
			return -1;
		part += nl != NULL;
		p += part;
		n -= part;
	}
	return 0;
}

int
lines_end(struct lines *l, lines_fn *fn, void *ctx)
{
	return l->b.len > 0 || l->too_long ? end_line(l, fn, ctx) : 0;
}

void
lines_release(struct lines *l)
{
	buf_release(&l->b);
	l->too_long = false;
}

/* The value of "\uXXXX" at p, or -1. */
static long
escape_at(const char *p, const char *end)
{
	char hex[5];
	char *stop;
	long v;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	memcpy(hex, p + 2, 4);
	hex[4] = '\0';
	if (hex[0] == '+' || hex[0] == '-' || hex[0] == ' ')
		return -1;
	v = strtol(hex, &stop, 16);
	return *stop == '\0' ? v : -1;
}

static bool
is_between(long v, long low, long high)
{
	return v >= low && v <= high;
}

static void
tame(char *line, size_t len)
{
	static const char unknown[] = { 'f', 'f', 'f', 'd' };
	const char *end = line + len;

	for (char *p = line; p < end; p++) {
		long v;

		if (*p != '\\')
			continue;
		v = escape_at(p, end);
		if (v < 0) {
			p++; /* what is escaped begins no escape */
			continue;
		}
		if (is_between(v, 0xd800, 0xdbff) &&
		    is_between(escape_at(p + 6, end), 0xdc00, 0xdfff))
			p += 6;
		else if (v == 0 || is_between(v, 0xd800, 0xdfff))
			memcpy(p + 2, unknown, sizeof(unknown));
		p += 5;
	}
}

/*
 * json_parse() compares each key of an object with all others.  Megabytes of
 * large objects would keep it busy for a minute; no agent writes such.
 */
static bool
has_many_keys(const char *line, size_t len)
{
	int keys[DEPTH_MAX] = { 0 };
	bool in_text = false;
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		char c = line[i];

		if (c == '"')
			in_text = !in_text;
		else if (in_text)
			i += c == '\\';
		else if ((c == '{' || c == '[') && ++depth < DEPTH_MAX)
			keys[depth] = 0;
		else if ((c == '}' || c == ']') && depth > 0)
			depth--;
		else if (c == ':' && depth < DEPTH_MAX &&
		    ++keys[depth] > KEYS_MAX)
			return true;
	}
	return false;
}

cJSON *
transcript_parse(char *line, size_t len)
{
	struct err ignored;
	cJSON *j;

	if (len == 0 || line[0] != '{')
		return NULL;
	if (has_many_keys(line, len))
		return NULL;
	tame(line, len);
	j = json_parse(line, len, &ignored);
	if (cJSON_IsObject(j))
		return j;
	cJSON_Delete(j);
	return NULL;
}

bool
transcript_is_answer(const cJSON *line)
{
	const char *model = json_at_str(line, "message.model");

	return !json_at_true(line, "is_api_error_message") && model != NULL &&
	    strcmp(model, "<synthetic>") != 0;
}

void
transcript_init(struct transcript *t)
{
	*t = (struct transcript){
		.api_status = -1,
		.turns = -1,
		.cost_usd = -1,
		.input_tokens = -1,
		.output_tokens = -1,
		.denials = -1,
	};
}

/* Anything but a short word of plain characters is unknown. */
static void
set_word(char out[TRANSCRIPT_WORD], const char *s)
{
	size_t n = s != NULL ? strlen(s) : 0;

	out[0] = '\0';
	if (n >= TRANSCRIPT_WORD)
		return;
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return;
	if (n > 0)
		memcpy(out, s, n + 1);
}

static double
cost_of(const cJSON *j)
{
	const cJSON *v = json_at(j, "total_cost_usd");
	double d = cJSON_IsNumber(v) ? v->valuedouble : -1;

	return d >= 0 && d <= COST_MAX ? d : -1;
}

/* What went in, whether or not the provider had it in a cache. */
static int64_t
input_of(const cJSON *usage)
{
	static const char *const cached[] = { "cache_creation_input_tokens",
		"cache_read_input_tokens" };
	int64_t sum = json_at_int(usage, "input_tokens");

	for (size_t i = 0; sum >= 0 && i < ARRAY_LEN(cached); i++) {
		int64_t n = json_at_int(usage, cached[i]);

		sum += n > 0 ? n : 0; /* three of 10^15 cannot overflow */
	}
	return sum <= JSON_INT_MAX ? sum : -1;
}

static void
take_init(struct transcript *t, const cJSON *j)
{
	set_word(t->model, json_at_str(j, "model"));
	set_word(t->session_id, json_at_str(j, "session_id"));
}

static void
take_system(struct transcript *t, const cJSON *j)
{
	const char *subtype = json_at_str(j, "subtype");

	if (subtype == NULL)
		return;
	if (strcmp(subtype, "init") == 0)
		take_init(t, j);
	else if (strcmp(subtype, "api_retry") == 0)
		t->good = false;
}

static void
take_assistant(struct transcript *t, const cJSON *j)
{
	const char *error = json_at_str(j, "error");
	const char *stop = json_at_str(j, "message.stop_reason");
	const cJSON *block;

	/* A refusal is an answer, too, in the CLI's words. */
	t->good = transcript_is_answer(j) ||
	    (stop != NULL && strcmp(stop, "refusal") == 0);
	t->answered |= t->good;
	t->billing = error != NULL && strcmp(error, "billing_error") == 0;
	cJSON_ArrayForEach(block, json_at(j, "message.content"))
	{
		const char *type = json_at_str(block, "type");

		t->tools += type != NULL && strcmp(type, "tool_use") == 0;
	}
}

/* What was asked and not waited for has a price that nobody told. */
static void
forget_cost(struct transcript *t)
{
	t->cost_usd = -1;
	t->input_tokens = -1;
	t->output_tokens = -1;
}

static void
take_result(struct transcript *t, const cJSON *j)
{
	const cJSON *models = json_at(j, "modelUsage");
	const cJSON *denials = json_at(j, "permission_denials");

	t->has_result = true;
	t->is_error = !cJSON_IsFalse(json_at(j, "is_error"));
	set_word(t->subtype, json_at_str(j, "subtype"));
	set_word(t->terminal_reason, json_at_str(j, "terminal_reason"));
	set_word(t->stop_reason, json_at_str(j, "stop_reason"));
	t->api_status = json_at_int(j, "api_error_status");
	set_word(t->api_type, json_at_str(j, "api_error_type"));
	t->billing |= strcmp(t->api_type, "billing_error") == 0;
	t->turns = json_at_int(j, "num_turns");
	t->cost_usd = cost_of(j);
	t->input_tokens = input_of(json_at(j, "usage"));
	t->output_tokens = json_at_int(j, "usage.output_tokens");
	if (strcmp(t->terminal_reason, "aborted_streaming") == 0)
		forget_cost(t);
	t->denials = cJSON_IsArray(denials) ? cJSON_GetArraySize(denials) : -1;
	if (t->session_id[0] == '\0')
		set_word(t->session_id, json_at_str(j, "session_id"));
	if (t->model[0] == '\0' && cJSON_IsObject(models) &&
	    models->child != NULL)
		set_word(t->model, models->child->string);
}

void
transcript_add(struct transcript *t, char *line, size_t len)
{
	static const struct {
		const char *type;
		void (*take)(struct transcript *, const cJSON *);
	} takers[] = {
		{ "assistant", take_assistant },
		{ "result", take_result },
		{ "system", take_system },
	};
	AUTO(json_p) cJSON *j = transcript_parse(line, len);
	const char *type = json_at_str(j, "type");

	t->lines++;
	t->plain += j == NULL;
	for (size_t i = 0; type != NULL && i < ARRAY_LEN(takers); i++)
		if (strcmp(type, takers[i].type) == 0)
			takers[i].take(t, j);
}

static int
take_line(void *ctx, char *line, size_t len)
{
	struct transcript *t = ctx;

	if (line != NULL) {
		transcript_add(t, line, len);
		return 0;
	}
	t->lines++;
	t->skipped++;
	return 0;
}

int
transcript_read(struct transcript *t, int fd, struct err *e)
{
	AUTO(lines_release) struct lines l = LINES_INIT(TRANSCRIPT_LINE);
	char chunk[65536];
	ssize_t n;

	transcript_init(t);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, EX_IOERR, "read");
		if (lines_feed(&l, chunk, (size_t)n, take_line, t) < 0)
			return -1;
	}
	return lines_end(&l, take_line, t);
}
