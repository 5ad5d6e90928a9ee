/* SPDX-License-Identifier: MIT */
/* What is a host name, and which ones a pattern means. */
#include "name.h"

#include <string.h>

enum { LABEL_MAX = 63 };

static char
lower(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_hex(char c)
{
	c = lower(c);
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool
is_ldh(char c)
{
	c = lower(c);
	return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-';
}

static bool
all_of(const char *s, size_t n, bool (*is)(char))
{
	for (size_t i = 0; i < n; i++)
		if (!is(s[i]))
			return false;
	return n > 0;
}

/* "1", "0177", "0x7f", "0x" */
static bool
is_number(const char *s, size_t n)
{
	if (n >= 2 && s[0] == '0' && lower(s[1]) == 'x')
		return n == 2 || all_of(s + 2, n - 2, is_hex);
	return all_of(s, n, is_digit);
}

bool
name_is_address(const char *s, size_t n)
{
	size_t last;

	if (memchr(s, ':', n) != NULL || (n > 0 && s[0] == '['))
		return true;
	if (n > 0 && s[n - 1] == '.')
		n--;
	for (last = n; last > 0 && s[last - 1] != '.'; last--)
		;
	return is_number(s + last, n - last);
}

static const char *
check_label(const char *s, size_t n)
{
	if (n == 0)
		return "has an empty label";
	if (n > LABEL_MAX)
		return "has a label of more than 63 characters";
	if (!all_of(s, n, is_ldh))
		return "is not made of letters, digits, hyphens and dots";
	if (s[0] == '-' || s[n - 1] == '-')
		return "has a label that begins or ends with a hyphen";
	return NULL;
}

const char *
name_parse(const char *s, size_t n, char out[NAME_SIZE])
{
	size_t from = 0;

	if (n == 0)
		return "is empty";
	if (n > NAME_MAX_LEN)
		return "is longer than 253 characters";
	if (name_is_address(s, n))
		return "is an IP address, not a name";
	if (s[n - 1] == '.')
		return "ends with a dot; leave it out";
	for (size_t i = 0; i <= n; i++) {
		const char *why;

		if (i < n && s[i] != '.')
			continue;
		why = check_label(s + from, i - from);
		if (why != NULL)
			return why;
		from = i + 1;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = lower(s[i]);
	out[n] = '\0';
	return NULL;
}

const char *
name_parse_remote(const char *s, size_t n, char out[NAME_SIZE])
{
	const char *why = name_parse(s, n, out);

	if (why == NULL && memchr(s, '.', n) == NULL)
		return "has no dot; a host needs its full name";
	return why;
}

/* Second levels under which countries register names for everybody. */
static const char *const second_levels[] = { "ac", "asso", "biz", "co", "com",
	"edu", "firm", "gen", "go", "gob", "gouv", "gov", "gv", "id", "idf",
	"ind", "info", "k12", "ltd", "me", "mil", "ne", "net", "nhs", "nom",
	"or", "org", "plc", "sch", "web" };

/* Domains whose owner lets anybody have a name below them. */
static const char *const hosting[] = { "amazonaws.com", "appspot.com",
	"azurewebsites.net", "blogspot.com", "cloudfront.net",
	"firebaseapp.com", "fly.dev", "github.io", "gitlab.io", "herokuapp.com",
	"netlify.app", "ngrok.io", "onrender.com", "pages.dev", "r2.dev",
	"run.app", "trycloudflare.com", "vercel.app", "web.app",
	"workers.dev" };

static bool
is_second_level(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(second_levels); i++)
		if (strlen(second_levels[i]) == n &&
		    memcmp(second_levels[i], s, n) == 0)
			return true;
	return false;
}

static bool
is_public_suffix(const char *name)
{
	const char *dot = strchr(name, '.');

	for (size_t i = 0; i < ARRAY_LEN(hosting); i++)
		if (strcmp(hosting[i], name) == 0)
			return true;
	return strchr(dot + 1, '.') == NULL && strlen(dot + 1) == 2 &&
	    is_second_level(name, (size_t)(dot - name));
}

const char *
name_parse_pattern(const char *s, size_t n, char out[NAME_SIZE])
{
	char plain[NAME_SIZE];
	const char *why;

	if (n == 0 || s[0] != '.')
		return name_parse_remote(s, n, out);
	if (n > NAME_MAX_LEN)
		return "is longer than 253 characters";
	why = name_parse(s + 1, n - 1, plain);
	if (why != NULL)
		return why;
	if (strchr(plain, '.') == NULL)
		return "would allow a whole top-level domain";
	if (is_public_suffix(plain))
		return "would allow names that anybody can register";
	out[0] = '.';
	memcpy(out + 1, plain, n); /* with its NUL */
	return NULL;
}

bool
name_matches(const char *pattern, const char *name)
{
	size_t p = strlen(pattern), n = strlen(name);

	if (pattern[0] != '.')
		return strcmp(pattern, name) == 0;
	if (n + 1 == p)
		return strcmp(pattern + 1, name) == 0;
	return n > p && strcmp(name + (n - p), pattern) == 0;
}
