/* SPDX-License-Identifier: MIT */
/* Writes values from runs so that they can do no harm where they land. */
#include "put.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sysexits.h>

#include "buf.h"
#include "err.h"
#include "text.h"

/* One "\x1b" is four bytes for one. */
#define CLEAN_MAX ((size_t)4 << 20)

/* The character at p, whose length text_utf8() gave; U+FFFD for 0. */
static uint32_t
decode(const unsigned char *p, size_t len)
{
	uint32_t c = len <= 1 ? p[0] : p[0] & (0x7fU >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3fU);
	return len == 0 ? 0xfffd : c;
}

/* Wide scripts begin at U+1100; counting a few others as wide is safe. */
static size_t
columns_of(uint32_t c)
{
	return c >= 0x1100 ? 2 : 1;
}

static size_t
columns(const struct buf *b)
{
	const unsigned char *p = (const unsigned char *)b->data;
	size_t cols = 0;

	for (size_t i = 0, len; i < b->len; i += len) {
		len = text_utf8(p + i, b->len - i); /* cleaned: never 0 */
		cols += columns_of(decode(p + i, len));
	}
	return cols;
}

static void
to_ascii(struct buf *b)
{
	size_t to = 0, len;

	for (size_t i = 0; i < b->len; i += len) {
		len = text_utf8((const unsigned char *)b->data + i, b->len - i);
		if (len > 1)
			b->data[i] = '?';
		b->data[to++] = b->data[i];
	}
	b->len = to;
}

/* Prints what fits into width columns; returns the columns used. */
static size_t
put_columns(FILE *f, const struct buf *b, size_t width)
{
	const unsigned char *p = (const unsigned char *)b->data;
	size_t i = 0, cols = 0;

	while (i < b->len) {
		size_t len = text_utf8(p + i, b->len - i);
		size_t wide = columns_of(decode(p + i, len));

		if (cols + wide > width)
			break;
		cols += wide;
		i += len;
	}
	(void)fwrite(p, 1, i, f);
	return cols;
}

size_t
put_text(FILE *f, const char *s, size_t width)
{
	AUTO(buf_release) struct buf b = BUF_INIT(CLEAN_MAX);
	size_t used;

	if (s[0] == '\0' || text_clean(&b, s, strlen(s), false) < 0)
		return 0;
	if (!text_locale_is_utf8())
		to_ascii(&b);
	if (width < 3 || columns(&b) <= width)
		return put_columns(f, &b, width);
	used = put_columns(f, &b, width - 3);
	(void)fputs("...", f);
	return used + 3;
}

void
put_field(FILE *f, const char *s)
{
	AUTO(buf_release) struct buf b = BUF_INIT(CLEAN_MAX);

	if (text_clean(&b, s, strlen(s), false) == 0 && b.len > 0)
		(void)fwrite(b.data, 1, b.len, f);
}

static void
put_escaped(FILE *f, uint32_t c)
{
	if (c > 0xffff) {
		c -= 0x10000;
		(void)fprintf(f, "\\u%04x", 0xd800 | c >> 10);
		c = 0xdc00 | (c & 0x3ff);
	}
	(void)fprintf(f, "\\u%04x", c);
}

int
put_json(FILE *f, const cJSON *j, struct err *e)
{
	char *text = cJSON_PrintUnformatted(j);
	const unsigned char *p = (const unsigned char *)text;
	size_t left = text != NULL ? strlen(text) : 0;

	if (text == NULL)
		return err_set(e, EX_OSERR, "out of memory");
	while (left > 0) {
		size_t len = text_utf8(p, left);
		uint32_t c = decode(p, len);

		if (c < 0x7f)
			(void)fputc((int)c, f);
		else
			put_escaped(f, c);
		len += len == 0;
		p += len;
		left -= len;
	}
	(void)fputc('\n', f);
	cJSON_free(text);
	return 0;
}

void
put_duration(int64_t ms, char out[PUT_DURATION])
{
	long long s = ms / 1000;

	if (ms < 0)
		(void)snprintf(out, PUT_DURATION, "-");
	else if (s < 60)
		(void)snprintf(out, PUT_DURATION, "%lld.%llds", s,
		    (long long)ms % 1000 / 100);
	else if (s < 3600)
		(void)snprintf(
		    out, PUT_DURATION, "%lldm%02llds", s / 60, s % 60);
	else
		(void)snprintf(
		    out, PUT_DURATION, "%lldh%02lldm", s / 3600, s % 3600 / 60);
}
