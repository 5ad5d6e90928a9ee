/* SPDX-License-Identifier: MIT */
/* The session's environment, and which of it is secret. */
#include "env.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cleanup.h"
#include "err.h"
#include "strv.h"

#define SECRET_MIN 12
#define NAME_CHARS                                              \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_" \
	"0123456789"

/* A value of such a name would be seen by everybody who can list processes. */
static bool
looks_secret(const char *name, size_t n)
{
	static const char *const words[] = { "KEY", "TOKEN", "SECRET",
		"PASSWORD", "PASSWD", "CREDENTIAL" };
	char upper[128] = "";

	for (size_t i = 0; i < n && i < sizeof(upper) - 1; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(upper, words[i]) != NULL)
			return true;
	return false;
}

static bool
is_name(const char *s, size_t n)
{
	return n > 0 && n <= 100 && !isdigit((unsigned char)s[0]) &&
	    strspn(s, NAME_CHARS) >= n;
}

/* The place of NAME in the list, or its end. */
static size_t
find(const struct strv *l, const char *name, size_t n)
{
	size_t i = 0;

	while (
	    i < l->n && (strncmp(l->v[i], name, n) != 0 || l->v[i][n] != '='))
		i++;
	return i;
}

bool
env_has(const struct strv *l, const char *name)
{
	return find(l, name, strlen(name)) < l->n;
}

int
env_set(struct strv *l, const char *word)
{
	size_t i = find(l, word, strcspn(word, "="));
	char *copy;

	if (i == l->n)
		return strv_add(l, word);
	copy = strdup(word);
	if (copy == NULL)
		return -1;
	free(l->v[i]);
	l->v[i] = copy;
	return 0;
}

int
env_add(struct strv *l, const char *word, enum env_from from, struct err *e)
{
	size_t n = strcspn(word, "=");

	if (word[n] != '=' || !is_name(word, n))
		return err_set(e, EX_USAGE,
		    "environment \"%.*s\": not NAME=VALUE",
		    (int)(word[n] == '=' ? n : strspn(word, NAME_CHARS)), word);
	if (from == ENV_FROM_LINE && looks_secret(word, n))
		return err_set(e, EX_USAGE,
		    "--env %.*s=...: looks like a secret, and everybody can "
		    "read a command line; use --secret %.*s, or --env-file "
		    "for a test service's password",
		    (int)n, word, (int)n, word);
	if (env_set(l, word) < 0)
		return err_sys(e, EX_OSERR, "environment");
	return 0;
}

int
env_add_file(struct strv *l, const char *path, struct err *e)
{
	AUTO(file_p) FILE *f = fopen(path, "re");
	AUTO(free_p) char *line = NULL;
	size_t cap = 0;

	if (f == NULL)
		return err_sys(e, EX_NOINPUT, "--env-file %s", path);
	while (getline(&line, &cap, f) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0')
			continue;
		if (env_add(l, line, ENV_FROM_FILE, e) < 0)
			return err_wrap(e, "%s", path);
	}
	if (ferror(f))
		return err_sys(e, EX_NOINPUT, "--env-file %s", path);
	return 0;
}

int
env_add_secret(
    struct strv *names, struct strv *values, const char *name, struct err *e)
{
	const char *value = getenv(name);

	if (!is_name(name, strlen(name)))
		return err_set(e, EX_USAGE, "--secret \"%.*s\": not a name",
		    (int)strcspn(name, "="), name);
	if (value == NULL)
		return err_set(e, EX_USAGE,
		    "--secret %s: not set in the environment", name);
	if (strlen(value) < SECRET_MIN)
		return err_set(e, EX_USAGE,
		    "--secret %s: shorter than %d bytes; removing it from the "
		    "output would tear ordinary words apart",
		    name, SECRET_MIN);
	if (strv_add(names, name) < 0 || strv_add(values, value) < 0)
		return err_sys(e, EX_OSERR, "secrets");
	return 0;
}
