/* SPDX-License-Identifier: MIT */
/* One readable line for each event of an agent's stream; touches nothing. */
#include "event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "text.h"
#include "transcript.h"

#define PLAIN_WIDTH 1000 /* of a line that is no event */
#define CLEAN_MAX   ((size_t)1 << 16)

/* Where a line for people is put together. */
struct out {
	struct events *ev;
	struct buf *to;
	char time[12]; /* "06:03:22 ", or nothing */
};

/* The first bytes of s that fit width characters, and whether they are all. */
static size_t
fitting(const char *s, size_t len, size_t width)
{
	size_t i = 0;

	for (size_t chars = 0; i < len && chars < width; chars++) {
		size_t n = text_utf8((const unsigned char *)s + i, len - i);

		i += n > 0 ? n : 1;
	}
	return i;
}

/* Hostile text, cleaned first: what it becomes is what takes up room.  more
 * says that something was left out already. */
static int
add_cut(struct buf *to, const char *s, size_t len, size_t width, bool more)
{
	AUTO(buf_release) struct buf b = BUF_INIT(CLEAN_MAX);
	size_t n = fitting(s, len, width);
	bool cut = more || n < len;

	if (n > 0 && text_clean(&b, s, n, true) < 0)
		return -1;
	n = b.len > 0 ? fitting(b.data, b.len, width) : 0;
	if (n == b.len && !cut)
		return n > 0 ? buf_add(to, b.data, n) : 0;
	n = fitting(b.data, b.len, width > 3 ? width - 3 : 0);
	if (n > 0 && buf_add(to, b.data, n) < 0)
		return -1;
	return buf_add(to, "...", 3);
}

/* "06:03:22   3 " in front, then label and text, then the end of the line. */
static int
add_line(const struct out *o, const char *label, const char *text)
{
	char head[64];
	int n = o->ev->turn > 0
	    ? snprintf(head, sizeof(head), "%s%3lld %-6.6s ", o->time,
		  o->ev->turn, label)
	    : snprintf(head, sizeof(head), "%s    %-6.6s ", o->time, label);
	size_t used = n > 0 ? (size_t)n : 0;
	size_t first;

	/* Of many lines the first that says something. */
	text += strspn(text, " \t\r\n");
	first = strcspn(text, "\r\n");
	if (buf_add(o->to, head, used) < 0)
		return -1;
	if (add_cut(o->to, text, first, EVENT_WIDTH - used,
		text[first + strspn(text + first, " \t\r\n")] != '\0') < 0)
		return -1;
	return buf_add(o->to, "\n", 1);
}

static int PRINTF_LIKE(3, 4)
    add_linef(const struct out *o, const char *label, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return add_line(o, label, text);
}

static const char *
str_or(const cJSON *j, const char *path, const char *other)
{
	const char *s = json_at_str(j, path);

	return s != NULL ? s : other;
}

/* A number that may be unknown. */
struct number {
	char text[24];
};

static struct number
number_at(const cJSON *j, const char *path)
{
	int64_t v = json_at_int(j, path);
	struct number n = { "?" };

	if (v >= 0)
		(void)snprintf(n.text, sizeof(n.text), "%" PRId64, v);
	return n;
}

/* The part of a tool's input that tells most. */
static const char *
argument_of(const cJSON *input)
{
	static const char *const telling[] = { "command", "file_path", "path",
		"pattern", "url", "query", "prompt", "description" };

	for (size_t i = 0; i < ARRAY_LEN(telling); i++) {
		const char *s = json_at_str(input, telling[i]);

		if (s != NULL)
			return s;
	}
	return "";
}

/* What a tool gave back: a text, or blocks with texts in them. */
static const char *
content_of(const cJSON *content)
{
	const cJSON *block;

	if (cJSON_IsString(content))
		return content->valuestring;
	cJSON_ArrayForEach(block, content)
	{
		const char *s = json_at_str(block, "text");

		if (s != NULL)
			return s;
	}
	return "";
}

static int
add_block(const struct out *o, const cJSON *block, const char *speaker)
{
	const char *type = str_or(block, "type", "");

	if (strcmp(type, "text") == 0)
		return add_line(o, speaker, str_or(block, "text", ""));
	if (strcmp(type, "thinking") == 0)
		return add_line(o, "think", str_or(block, "thinking", ""));
	if (strcmp(type, "tool_use") == 0)
		return add_linef(o, "tool", "%.40s %.600s",
		    str_or(block, "name", "?"),
		    argument_of(json_at(block, "input")));
	if (strcmp(type, "tool_result") == 0)
		return add_line(o,
		    json_at_true(block, "is_error") ? "failed" : "gave",
		    content_of(json_at(block, "content")));
	return 0;
}

static int
add_message(const struct out *o, const cJSON *j, const char *speaker)
{
	const cJSON *content = json_at(j, "message.content");
	const cJSON *block;

	if (cJSON_IsString(content))
		return add_line(o, speaker, content->valuestring);
	cJSON_ArrayForEach(block, content)
	{
		if (add_block(o, block, speaker) < 0)
			return -1;
	}
	return 0;
}

/* The CLI writes one line for each block: a turn is a message of the API. */
static int
add_assistant(const struct out *o, const cJSON *j)
{
	struct events *ev = o->ev;
	const char *id = str_or(j, "message.id", "");

	if (!transcript_is_answer(j))
		return add_message(o, j, "error");
	if (ev->turn == 0 ||
	    strncmp(id, ev->message, sizeof(ev->message) - 1) != 0)
		ev->turn++;
	(void)snprintf(ev->message, sizeof(ev->message), "%s", id);
	return add_message(o, j, "says");
}

static int
add_user(const struct out *o, const cJSON *j)
{
	return add_message(o, j, "user");
}

static int
add_system(const struct out *o, const cJSON *j)
{
	const char *subtype = str_or(j, "subtype", "");

	if (strcmp(subtype, "init") == 0)
		return add_linef(o, "begin", "model %.60s, session %.60s",
		    str_or(j, "model", "unknown"),
		    str_or(j, "session_id", "unknown"));
	if (strcmp(subtype, "api_retry") == 0)
		return add_linef(o, "retry",
		    "API error %s (%.40s), try %s of %s",
		    number_at(j, "error_status").text, str_or(j, "error", "?"),
		    number_at(j, "attempt").text,
		    number_at(j, "max_retries").text);
	if (strcmp(subtype, "permission_denied") == 0)
		return add_linef(o, "denied", "%.40s %.600s",
		    str_or(j, "tool_name", "?"), str_or(j, "message", ""));
	return add_linef(
	    o, "note", "%.40s %.600s", subtype, str_or(j, "content", ""));
}

static int
add_result(const struct out *o, const cJSON *j)
{
	const cJSON *cost = json_at(j, "total_cost_usd");
	const char *said = str_or(j, "result", "");
	char usd[32] = "unknown cost";

	if (cJSON_IsNumber(cost))
		(void)snprintf(usd, sizeof(usd), "%.4g USD", cost->valuedouble);
	return add_linef(o, "end", "%.40s: %s turns, %s%s%.600s",
	    str_or(j, "terminal_reason", "unknown"),
	    number_at(j, "num_turns").text, usd, said[0] != '\0' ? ": " : "",
	    said);
}

/* Events of these kinds are parts of others, or are in no hurry. */
static int
add_nothing(const struct out *o, const cJSON *j)
{
	(void)o;
	(void)j;
	return 0;
}

static const struct {
	const char *type;
	int (*add)(const struct out *, const cJSON *);
} kinds[] = {
	{ "assistant", add_assistant },
	{ "result", add_result },
	{ "stream_event", add_nothing },
	{ "system", add_system },
	{ "user", add_user },
};

/* "2026-11-18T06:03:22.123Z" has the time of day at its eleventh byte. */
static void
set_time(struct out *o, const cJSON *j)
{
	const char *s = str_or(j, "timestamp", "");

	if (strlen(s) >= 19 && s[10] == 'T' &&
	    strspn(s + 11, "0123456789:") >= 8)
		(void)snprintf(o->time, sizeof(o->time), "%.8s ", s + 11);
	else
		(void)snprintf(o->time, sizeof(o->time), "%9s", "");
}

static int
add_plain(struct buf *to, const char *line, size_t len)
{
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (add_cut(to, line, len, PLAIN_WIDTH, false) < 0)
		return -1;
	return buf_add(to, "\n", 1);
}

int
events_add(struct events *ev, struct buf *to, char *line, size_t len)
{
	AUTO(json_p) cJSON *j = transcript_parse(line, len);
	const char *type = json_at_str(j, "type");
	struct out o = { .ev = ev, .to = to };

	for (size_t i = 0; type != NULL && i < ARRAY_LEN(kinds); i++) {
		if (strcmp(type, kinds[i].type) != 0)
			continue;
		set_time(&o, j);
		return kinds[i].add(&o, j);
	}
	return add_plain(to, line, len);
}

int
events_add_skipped(struct buf *to)
{
	static const char text[] = "(a line too long to show)\n";

	return buf_add(to, text, sizeof(text) - 1);
}
