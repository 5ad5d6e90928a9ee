/* SPDX-License-Identifier: MIT */
/* Lists of strings. */
#include "strv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* Takes s over on success. */
static int
append(struct strv *l, char *s)
{
	char **v;

	if (s == NULL)
		return -1;
	v = realloc(l->v, (l->n + 2) * sizeof(*v));
	if (v == NULL)
		return -1;
	v[l->n++] = s;
	v[l->n] = NULL;
	l->v = v;
	return 0;
}

int
strv_add(struct strv *l, const char *s)
{
	char *copy = strdup(s);
	int rc = append(l, copy);

	if (rc < 0)
		free(copy);
	return rc;
}

int
strv_addf(struct strv *l, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n, rc;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -1;
	rc = append(l, s);
	if (rc < 0)
		free(s);
	return rc;
}

void
strv_release(struct strv *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = 0;
}
