/* SPDX-License-Identifier: MIT */
/* Makes text from containers harmless for whoever shows it. */
#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t
text_utf8(const unsigned char *p, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;
	uint32_t c;

	if (n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc0 ? 2 : 0;
	if (len == 0 || len > n || p[0] > 0xf4)
		return 0;
	c = p[0] & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fU);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return len;
}

static uint32_t
decode(const unsigned char *p, size_t len)
{
	uint32_t c = len == 1 ? p[0] : p[0] & (0x7fU >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3fU);
	return c;
}

/* What a terminal, a log viewer or a reader's eye could be fooled by. */
static bool
is_unsafe(uint32_t c, bool multiline)
{
	if (multiline && (c == '\n' || c == '\t'))
		return false;
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c ||
	    (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static int
add_escaped(struct buf *b, uint32_t c)
{
	char esc[16];

	(void)snprintf(
	    esc, sizeof(esc), c < 0x100 ? "\\x%02x" : "\\u{%04x}", c);
	return buf_add(b, esc, strlen(esc));
}

int
text_clean(struct buf *b, const char *s, size_t n, bool multiline)
{
	const unsigned char *p = (const unsigned char *)s;
	int rc = 0;

	while (n > 0 && rc == 0) {
		size_t len = text_utf8(p, n);

		if (len == 0) {
			rc = buf_add(b, "\xef\xbf\xbd", 3);
			len = 1;
		} else if (is_unsafe(decode(p, len), multiline)) {
			rc = add_escaped(b, decode(p, len));
		} else {
			rc = buf_add(b, p, len);
		}
		p += len;
		n -= len;
	}
	return rc;
}

bool
text_locale_is_utf8(void)
{
	static const char *const vars[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_LEN(vars); i++) {
		const char *v = getenv(vars[i]);

		if (v != NULL && v[0] != '\0')
			return strcasestr(v, "utf-8") != NULL ||
			    strcasestr(v, "utf8") != NULL;
	}
	return false;
}
