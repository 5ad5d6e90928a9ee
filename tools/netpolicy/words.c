/* SPDX-License-Identifier: MIT */
/* The words of a policy's line, and what each kind looks like. */
#include "words.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "err.h"
#include "num.h"

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* A comment is text too: what it looks like must be what it is. */
static const char *
check_bytes(const char *line, size_t n)
{
	static char why[64];

	if (n > POLICY_LINE)
		return "the line is longer than 1024 bytes";
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)line[i];

		if (c == '\t' || (c >= 0x20 && c < 0x7f))
			continue;
		(void)snprintf(why, sizeof(why),
		    "byte %zu is 0x%02x, which is not plain ASCII text", i + 1,
		    c);
		return why;
	}
	return NULL;
}

const char *
words_split(const char *line, size_t n, struct words *w)
{
	const char *why = check_bytes(line, n);
	bool inside = false;

	w->n = w->next = 0;
	if (why != NULL)
		return why;
	memcpy(w->text, line, n);
	w->text[n] = '\0';
	w->text[strcspn(w->text, "#")] = '\0';
	for (char *p = w->text; *p != '\0'; p++) {
		bool blank = *p == ' ' || *p == '\t';

		if (!blank && !inside)
			w->v[w->n++] = p;
		if (blank)
			*p = '\0';
		inside = !blank;
	}
	return NULL;
}

const char *
words_take(struct words *w)
{
	return w->next < w->n ? w->v[w->next++] : NULL;
}

bool
words_number(const char *s, int min, int max, int *out)
{
	struct err ignored;
	int64_t v;

	if (s[0] == '0' || num_parse(s, min, max, &v, &ignored) < 0)
		return false;
	*out = (int)v;
	return true;
}

bool
words_is_method(const char *s)
{
	static const char *const methods[] = { "DELETE", "GET", "HEAD", "PATCH",
		"POST", "PUT" };

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (strcmp(methods[i], s) == 0)
			return true;
	return false;
}

/* Nothing that a server or a proxy might read in another way. */
bool
words_is_path(const char *s)
{
	size_t n = strlen(s);

	if (s[0] != '/' || n >= POLICY_PATH)
		return false;
	if (strstr(s, "//") != NULL || strstr(s, "/.") != NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strchr(letters, s[i]) == NULL &&
		    strchr("/._-", s[i]) == NULL)
			return false;
	return true;
}

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n > k && strcmp(s + (n - k), end) == 0;
}

bool
words_is_variable(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n < 64 && s[n] == '\0' && s[0] >= 'A' && s[0] <= 'Z' &&
	    (ends_with(s, "_KEY") || ends_with(s, "_TOKEN"));
}

static bool
is_socket(const char *path)
{
	struct sockaddr_un un;
	size_t n = strlen(path);

	if (path[0] != '/' || n >= sizeof(un.sun_path) || path[n - 1] == '/')
		return false;
	if (strstr(path, "/../") != NULL || strstr(path, "//") != NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strchr(letters, path[i]) == NULL &&
		    strchr("/._-+@", path[i]) == NULL)
			return false;
	return true;
}

bool
words_is_target(const char *s)
{
	const char *colon = strchr(s, ':');
	char host[INET_ADDRSTRLEN];
	struct in_addr a;
	int port;

	if (strncmp(s, "unix:", 5) == 0)
		return is_socket(s + 5);
	if (colon == NULL || (size_t)(colon - s) >= sizeof(host))
		return false;
	(void)snprintf(host, sizeof(host), "%.*s", (int)(colon - s), s);
	return inet_pton(AF_INET, host, &a) == 1 &&
	    ntohl(a.s_addr) >> 24 == 127 &&
	    words_number(colon + 1, 1, 65535, &port);
}
