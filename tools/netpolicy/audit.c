/* SPDX-License-Identifier: MIT */
/* Who asked the proxy for what: its log, counted by run and request. */
#include "audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "cleanup.h"
#include "decide.h"
#include "err.h"
#include "spans.h"
#include "squidlog.h"

static const struct audit_format *const formats[] = { &audit_json, &audit_text,
	&audit_tsv };

const struct audit_format *
audit_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

/* Hostile text becomes printable ASCII that fits; "~" shows what did not. */
static void
put_clean(char *out, size_t size, struct squidlog_word w)
{
	size_t n = w.n < size - 1 ? w.n : size - 1;

	for (size_t i = 0; i < n; i++) {
		out[i] = w.p[i];
		if (out[i] <= 0x20 || out[i] >= 0x7f)
			out[i] = '?';
	}
	out[n] = '\0';
	if (n < w.n)
		out[n - 1] = '~';
}

/* Whether the policy alone decided: not a token, a name inside TLS, or an
 * address. */
static bool
is_of_policy(const struct audit_row *r)
{
	static const char *const rules[] = { "api-host", "ip-literal",
		"method-path", "name", "port" };

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (strcmp(rules[i], r->rule) == 0)
			return true;
	return !r->denied;
}

/* What a policy says of that row's host today. */
static const char *
ask_now(const struct policy *p, const struct audit_row *r)
{
	struct decide_question q = { .port = 0 };
	const char *host = strstr(r->target, "://"), *path;
	char text[AUDIT_TEXT];
	struct err ignored;

	host = host == NULL ? r->target : host + 3;
	path = host + strcspn(host, "/?#");
	(void)snprintf(text, sizeof(text), "%.*s", (int)(path - host), host);
	if (decide_parse(text, &q, &ignored) < 0)
		return "deny";
	if (strcmp(r->method, "CONNECT") != 0) {
		q.method = r->method;
		q.path = path;
	}
	return decide(p, &q).allow ? "allow" : "deny";
}

static int
compare(const struct audit_row *a, const struct audit_row *b)
{
	int c = strcmp(a->run, b->run);

	if (c == 0)
		c = (a->attempt > b->attempt) - (a->attempt < b->attempt);
	if (c == 0)
		c = strcmp(a->client, b->client);
	if (c == 0)
		c = b->denied - a->denied;
	if (c == 0)
		c = strcmp(a->rule, b->rule);
	if (c == 0)
		c = strcmp(a->target, b->target);
	if (c == 0)
		c = strcmp(a->method, b->method);
	if (c == 0)
		c = strcmp(a->sni, b->sni);
	return c != 0 ? c : (a->status > b->status) - (a->status < b->status);
}

/* Where the row is, or would be. */
static size_t
place(const struct audit_table *t, const struct audit_row *r)
{
	size_t low = 0, high = t->rows;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare(t->row[mid], r) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int
insert(
    struct audit_table *t, size_t at, const struct audit_row *r, struct err *e)
{
	struct audit_row *copy;

	if (t->row == NULL)
		t->row = calloc(AUDIT_ROWS, sizeof(void *));
	copy = malloc(sizeof(*copy));
	if (t->row == NULL || copy == NULL) {
		free(copy);
		return err_sys(e, EX_OSERR, "audit");
	}
	*copy = *r;
	if (t->options->policy != NULL && is_of_policy(copy))
		copy->now = ask_now(t->options->policy, copy);
	for (size_t i = t->rows; i > at; i--)
		t->row[i] = t->row[i - 1];
	t->row[at] = copy;
	t->rows++;
	return 0;
}

static int
count(struct audit_table *t, const struct audit_row *r, struct err *e)
{
	size_t at = place(t, r);
	struct audit_row *have;

	if (at == t->rows || compare(t->row[at], r) != 0) {
		if (t->rows == AUDIT_ROWS) {
			t->left_out++;
			return 0;
		}
		return insert(t, at, r, e);
	}
	have = t->row[at];
	have->count++;
	have->up += r->up;
	have->down += r->down;
	if (r->first_ms < have->first_ms)
		have->first_ms = r->first_ms;
	if (r->last_ms > have->last_ms)
		have->last_ms = r->last_ms;
	return 0;
}

static void
fill(struct audit_row *r, const struct squidlog *l, const struct span *run)
{
	*r = (struct audit_row){
		.attempt = run != NULL ? run->attempt : 0,
		.denied = squidlog_is_denied(l),
		.status = l->status,
		.count = 1,
		.first_ms = l->time_ms,
		.last_ms = l->time_ms,
		.up = l->up,
		.down = l->down,
	};
	(void)snprintf(r->run, sizeof(r->run), "%s", run ? run->run : "-");
	put_clean(r->client, sizeof(r->client), l->client);
	put_clean(r->rule, sizeof(r->rule), l->rule);
	put_clean(r->method, sizeof(r->method), l->method);
	put_clean(r->target, sizeof(r->target), l->target);
	put_clean(r->sni, sizeof(r->sni), l->sni);
}

int
audit_line(struct audit_table *t, const char *line, size_t n,
    const struct span *run, struct err *e)
{
	struct squidlog l;
	struct audit_row r;
	bool denied;

	t->lines++;
	if (squidlog_parse(line, n, &l) < 0) {
		t->malformed++;
		return 0;
	}
	denied = squidlog_is_denied(&l);
	t->requests += squidlog_is_request(&l);
	t->denied += denied;
	/* of a tunnel's two lines the second is of interest when it failed */
	if (!denied && (!t->options->all || !squidlog_is_request(&l)))
		return 0;
	fill(&r, &l, run);
	return count(t, &r, e);
}

void
audit_release(struct audit_table *t)
{
	for (size_t i = 0; i < t->rows; i++)
		free(t->row[i]);
	free(t->row);
	t->row = NULL;
	t->rows = 0;
}

/* Finds the address in a line that may be anything. */
static const struct span *
whose(const struct spans *s, const char *line, size_t n, int64_t offset)
{
	struct squidlog l;

	if (squidlog_parse(line, n, &l) < 0)
		return NULL;
	return spans_find(s, l.client.p, l.client.n, offset);
}

static int
read_log(struct audit_table *t, const struct spans *s, FILE *f, struct err *e)
{
	AUTO(free_p) char *line = malloc(SQUIDLOG_LINE_MAX + 1);
	int64_t offset = 0, begin = 0;
	size_t n = 0;
	int c;

	if (line == NULL)
		return err_sys(e, EX_OSERR, "audit");
	while ((c = getc_unlocked(f)) != EOF) {
		offset++;
		if (c != '\n') {
			/* one byte too many says that it is too long */
			if (n <= SQUIDLOG_LINE_MAX)
				line[n++] = (char)c;
			continue;
		}
		if (audit_line(t, line, n, whose(s, line, n, begin), e) < 0)
			return -1;
		begin = offset;
		n = 0;
	}
	/* an unfinished line is one that squid is still writing */
	return ferror(f) ? err_sys(e, EX_IOERR, "%s", t->options->log) : 0;
}

static FILE *
open_log(const char *path, struct err *e)
{
	AUTO(close_p) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	FILE *f;

	if (fd < 0) {
		err_sys(e, EX_NOINPUT, "%s", path);
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		err_set(e, EX_NOINPUT, "%s: not a regular file", path);
		return NULL;
	}
	f = fdopen(fd, "r");
	if (f == NULL)
		err_sys(e, EX_OSERR, "%s", path);
	else
		(void)take_fd(&fd);
	return f;
}

int
audit(const struct audit_options *o, const struct audit_format *format,
    FILE *out, struct err *e)
{
	AUTO(audit_release) struct audit_table t = { .options = o };
	AUTO(spans_release) struct spans s = { .n = 0 };
	FILE *f = open_log(o->log, e);
	int rc;

	if (f == NULL)
		return -1;
	rc = o->runs != NULL ? spans_read(&s, o->runs, e) : 0;
	if (rc == 0)
		rc = read_log(&t, &s, f, e);
	(void)fclose(f);
	if (rc < 0 || format->write(out, &t, e) < 0)
		return -1;
	return t.malformed > 0 || t.left_out > 0 || s.unreadable > 0;
}
